"""``loopaudit label``: a label file with hindsight's opinion, for a person to correct."""

from __future__ import annotations

from typing import Annotated

import typer

from loopaudit.cli import options
from loopaudit.cli import options as caching
from loopaudit.cli import options as engines
from loopaudit.cli import options as tables
from loopaudit.cli.writing import report_failures, write_output
from loopaudit.core.errors import InputError, UsageError


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
    column: tables.Column = None,
    id_column: tables.IdColumn = None,
    group_by: tables.GroupBy = None,
    max_expanded: options.MaxExpanded = 4096,
    jobs: options.Jobs = None,
    engine: engines.EngineName = "local",
    ray_address: engines.RayAddress = None,
    cache: caching.Caching = None,
    cache_dir: caching.CacheFolder = None,
    config_file: options.ConfigFile = None,
    no_config: options.NoConfig = False,
) -> None:
    """Write labels for transcripts, prefilled with hindsight.

    Correct the file by hand and give it to `loopaudit compare --labels` or `loopaudit tune --labels`.
    """
    from dataclasses import replace
    from pathlib import Path

    from loopaudit.audit.run import audit
    from loopaudit.audit.workers import Workers
    from loopaudit.cli.progress import Progress
    from loopaudit.hindsight.labels import label_document

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
        column=column,
        id_column=id_column,
        group_by=group_by,
        config=config,
        said=options.given(context),
    )
    kept = caching.cache_of(cache, cache_dir, config)
    workers = engines.engine_of(engine, ray_address, jobs)
    with Progress() as progress:
        # No policy is replayed: hindsight alone fills in the labels.
        watched = replace(chosen, policies=(), ledger=True)
        result = audit(paths, watched, Workers(jobs, workers, kept, progress))
    caching.tell(kept)
    report_failures(result)
    if result.transcripts:
        write_output(label_document(result.transcripts), output)
    elif not result.failures:
        raise InputError("no transcript was found, nothing was written")
    if result.failures:
        raise typer.Exit(max(problem.exit_code for problem in result.failures))
