"""``loopaudit replay``: transcripts through policies, and what each would have done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from loopaudit.cli import options
from loopaudit.cli import options as caching
from loopaudit.cli import options as engines
from loopaudit.cli import options as tables
from loopaudit.cli.writing import report_failures, write_output
from loopaudit.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from loopaudit.core.report import Report


def command(
    context: typer.Context,
    paths: options.Paths = None,
    policy: options.Policies = None,
    settings: options.Settings = None,
    policy_file: options.PolicyFiles = None,
    report: Annotated[
        list[str] | None,
        typer.Option(
            "--report",
            "-r",
            metavar="NAME[=FILE]",
            help="Write a report (terminal, json, jsonl, ...) to standard output or to a file. Repeatable.",
            show_default=False,
        ),
    ] = None,
    mode: options.ModeOption = "enforced",
    tool_names: options.ToolNames = "mapped",
    failure: options.Failure = "exit-code",
    format_id: options.Format = None,
    tools: options.ToolsFile = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="ACTION",
            help="Exit 1 if a policy did this or something stronger (observe, warn, nudge, ask, reject, block, "
            "strip-tools, stop), or, with 'loop', if hindsight found a loop. Repeatable.",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 4 if any input was damaged and only partly read.")
    ] = False,
    summary: Annotated[bool, typer.Option("--summary", help="Only the summary, no transcript in detail.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Every firing, uncut.")] = False,
    width: Annotated[
        int | None, typer.Option("--width", metavar="COLUMNS", help="Width of the terminal report.", show_default=False)
    ] = None,
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
    """Replay recorded transcripts through loop guards.

    Shows where each guard would have blocked, warned, nudged or stopped, which policy caught
    what, and what hindsight says of every firing.
    """
    if summary and full:
        raise UsageError("--summary and --full exclude each other")
    from loopaudit.audit.run import audit
    from loopaudit.audit.workers import Workers
    from loopaudit.cli.outputs import gate, outputs, write_step_summary
    from loopaudit.cli.progress import Progress

    config = options.load_config(config_file, no_config, policy_file)
    paths = options.paths_of(paths, config)
    chosen = options.replay_options(
        policy=policy,
        settings=settings,
        mode=mode,
        tool_names=tool_names,
        failure=failure,
        format_id=format_id,
        tools=tools,
        max_expanded=max_expanded,
        column=column,
        id_column=id_column,
        group_by=group_by,
        policy_files=policy_file,
        config=config,
        said=options.given(context),
    )
    targets = outputs(report or ["terminal"])
    threshold = gate(fail_on or ())
    kept = caching.cache_of(cache, cache_dir, config)
    workers = engines.engine_of(engine, ray_address, jobs, policy_file)
    with Progress() as progress:
        result = audit(paths, chosen, Workers(jobs, workers, kept, progress, alone=bool(policy_file)))
    caching.tell(kept)
    detail = "summary" if summary else "full" if full else "normal"
    for target in targets:
        if target.id == "terminal" and target.file is None:
            _terminal(result, detail, width)
        else:
            shown = {"detail": detail, "width": str(width)} if width else {"detail": detail}
            write_output(target.render(result, shown), target.file)
    write_step_summary(result, targets)
    if not any(target.id == "terminal" and target.file is None for target in targets):
        report_failures(result, strict=strict)
    code = exit_code(result, strict=strict, failed=threshold(result))
    if code:
        raise typer.Exit(code)


def exit_code(report: Report, *, strict: bool, failed: bool) -> int:
    """The exit code of a finished report: own failure, then input, then findings."""
    codes = {failure.exit_code for failure in report.failures}
    if report.crashed or ExitCode.INTERNAL in codes:
        return ExitCode.INTERNAL
    if codes or (strict and any(t.damaged for t in report.transcripts)):
        return ExitCode.INPUT
    return ExitCode.FINDING if failed else ExitCode.OK


def _terminal(report: Report, detail: str, width: int | None) -> None:
    from loopaudit.reports.formats.terminal import write_terminal
    from loopaudit.reports.kit.terminal.level import Detail

    write_terminal(report, sys.stdout, Detail(detail), width=width)
