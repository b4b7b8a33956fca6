"""``loopaudit label``: a label file with hindsight's opinion, for a person to correct."""

from __future__ import annotations

from typing import Annotated

import typer

from loopaudit.cli import _options as options
from loopaudit.cli._options import report_error, write_output
from loopaudit.errors import UsageError


def command(
    paths: options.Paths = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write to a file that does not exist yet.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    failure: options.Failure = "exit-code",
    format_id: options.Format = None,
    max_expanded: options.MaxExpanded = 4096,
) -> None:
    """Write labels for transcripts, prefilled with hindsight.

    Correct the file by hand and give it to `loopaudit compare --labels` or `loopaudit tune --labels`.
    """
    if not paths:
        raise UsageError("no transcript given", hint="name files or directories, or - for standard input")
    from pathlib import Path

    from loopaudit.audit import Options, audit
    from loopaudit.labels import label_document
    from loopaudit.registry import readers

    if output not in (None, "-") and not force and Path(str(output)).exists():
        raise UsageError(f"{output} exists already", hint="a person's labels may be in it; --force overwrites it")
    if format_id is not None:
        readers().get(format_id)
    level = options.choice(failure, ("flag", "exit-code", "text"), "--failure").replace("-", "_")
    chosen = Options(
        policies=(),
        failure_level=level,  # type: ignore[arg-type]
        format_id=format_id,
        max_expanded=max_expanded << 20,
        ledger=True,
    )
    result = audit(paths, chosen)
    write_output(label_document(result.transcripts), output)
    for problem in result.failures:
        report_error(problem.message, problem.hint)
    if result.failures:
        raise typer.Exit(max(problem.exit_code for problem in result.failures))
