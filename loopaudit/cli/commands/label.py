"""``loopaudit label``: a label file with hindsight's opinion, for a person to correct."""

from __future__ import annotations

from typing import Annotated

import typer

from loopaudit.cli import options
from loopaudit.cli.exit_code import end_with, exit_code
from loopaudit.cli.writing import report_failures, write_output
from loopaudit.core.errors import InputError, UsageError


def command(
    *,
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
    inputs: options.InputOptions,
    work: options.EngineOptions,
    caching: options.CacheOptions,
    configuration: options.ConfigOptions,
) -> None:
    """Write labels for transcripts, prefilled with hindsight.

    Correct the file by hand and give it to `loopaudit compare --labels` or `loopaudit tune --labels`.
    """
    from pathlib import Path

    from msgspec.structs import replace

    from loopaudit.audit.run import audit
    from loopaudit.hindsight.labels import label_document

    if output not in (None, "-") and not force and Path(str(output)).exists():
        raise UsageError(f"{output} exists already", hint="a person's labels may be in it; --force overwrites it")
    selection = options.SelectionOptions(paths=paths)
    replay = options.ReplayOptions(failure=failure, format_id=format_id)
    run = options.Run(context, selection, configuration, replay, inputs, work, caching)
    paths = run.paths()
    chosen = run.options()
    with run.workers() as workers:
        # No policy is replayed: hindsight alone fills in the labels.
        watched = replace(chosen, policies=(), ledger=True)
        result = audit(paths, watched, workers)
    report_failures(result)
    if result.transcripts:
        write_output(label_document(result.transcripts), output)
    elif not result.failures:
        raise InputError("no transcript was found, nothing was written")
    end_with(exit_code(result))
