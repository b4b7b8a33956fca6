"""``loopaudit label``: a label file with hindsight's opinion, for a person to correct."""

from __future__ import annotations

from typing import Annotated

import typer

from loopaudit.cli import _options as options
from loopaudit.cli._writing import report_failures, write_output
from loopaudit.errors import InputError, UsageError


def command(
    context: typer.Context,
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
    jobs: options.Jobs = None,
    config_file: options.ConfigFile = None,
    no_config: options.NoConfig = False,
) -> None:
    """Write labels for transcripts, prefilled with hindsight.

    Correct the file by hand and give it to `loopaudit compare --labels` or `loopaudit tune --labels`.
    """
    from dataclasses import replace
    from pathlib import Path

    from loopaudit.audit import audit
    from loopaudit.cli._progress import Progress
    from loopaudit.labels import label_document

    if output not in (None, "-") and not force and Path(str(output)).exists():
        raise UsageError(f"{output} exists already", hint="a person's labels may be in it; --force overwrites it")
    config = options.load_config(config_file, no_config)
    paths = options.paths_of(paths, config)
    chosen = options.replay_options(
        policy=None,
        settings=None,
        mode="enforced",
        tool_names="mapped",
        failure=failure,
        format_id=format_id,
        tools=None,
        max_expanded=max_expanded,
        config=config,
        said=options.given(context),
    )
    with Progress() as progress:
        # No policy is replayed: hindsight alone fills in the labels.
        watched = replace(chosen, policies=(), ledger=True)
        result = audit(paths, watched, on_found=progress.found, on_file=progress.finished, jobs=jobs)
    report_failures(result)
    if result.transcripts:
        write_output(label_document(result.transcripts), output)
    elif not result.failures:
        raise InputError("no transcript was found, nothing was written")
    if result.failures:
        raise typer.Exit(max(problem.exit_code for problem in result.failures))
