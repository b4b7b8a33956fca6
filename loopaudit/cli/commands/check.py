"""``loopaudit check``: the gate for CI over expectations, baseline and thresholds."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopaudit.cli import options
from loopaudit.cli import options as caching
from loopaudit.cli import options as tables
from loopaudit.cli.writing import write_output
from loopaudit.core.errors import UsageError

if TYPE_CHECKING:
    from loopaudit.config.file import Config
    from loopaudit.config.gate import GateSettings

_GATE = "fail_on max_firings max_wrong max_loops max_redundant max_damaged allow_empty allow_unevaluated".split()


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
            help="Write a report as well, to standard output or to a file, also when the check fails. Repeatable.",
            show_default=False,
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", "-b", metavar="FILE", help="Compare with this baseline.", show_default=False),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="ACTION",
            help="Fail if a policy did this or something stronger and neither an expectation nor the baseline names "
            "it, or, with 'loop', if hindsight found a loop. Repeatable.",
            show_default=False,
        ),
    ] = None,
    max_firings: Annotated[
        int | None, typer.Option("--max-firings", metavar="N", min=0, help="Most firings in all.", show_default=False)
    ] = None,
    max_wrong: Annotated[
        int | None,
        typer.Option(
            "--max-wrong", metavar="N", min=0, help="Most firings that hindsight calls wrong.", show_default=False
        ),
    ] = None,
    max_loops: Annotated[
        int | None, typer.Option("--max-loops", metavar="N", min=0, help="Most loops.", show_default=False)
    ] = None,
    max_redundant: Annotated[
        int | None,
        typer.Option("--max-redundant", metavar="N", min=0, help="Most redundant calls in loops.", show_default=False),
    ] = None,
    max_damaged: Annotated[
        float | None,
        typer.Option(
            "--max-damaged",
            metavar="SHARE",
            min=0,
            max=1,
            help="Largest share of damaged records, 0 to 1. Default: 0 for files with expectations, else no limit.",
            show_default=False,
        ),
    ] = None,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Pass though nothing was audited.")] = False,
    allow_unevaluated: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-unevaluated",
            metavar="POLICY",
            help="Pass though this policy could not evaluate a transcript. Repeatable.",
            show_default=False,
        ),
    ] = None,
    today: Annotated[
        str | None,
        typer.Option(
            "--today",
            metavar="YYYY-MM-DD",
            help="The day against which expiry dates in the baseline count. Default: the current day.",
            show_default=False,
        ),
    ] = None,
    mode: options.ModeOption = "enforced",
    tool_names: options.ToolNames = "mapped",
    failure: options.Failure = "exit-code",
    format_id: options.Format = None,
    tools: options.ToolsFile = None,
    width: Annotated[
        int | None, typer.Option("--width", metavar="COLUMNS", help="Width of the page.", show_default=False)
    ] = None,
    column: tables.Column = None,
    id_column: tables.IdColumn = None,
    group_by: tables.GroupBy = None,
    max_expanded: options.MaxExpanded = 4096,
    jobs: options.Jobs = None,
    cache: caching.CachingIfAsked = None,
    cache_dir: caching.CacheFolder = None,
    config_file: options.ConfigFile = None,
    no_config: options.NoConfig = False,
) -> None:
    """Check transcripts against expectations, a baseline and thresholds.

    Without paths it checks what the configuration names. Prints what failed, why, and the
    command that accepts it. Never asks and changes nothing.
    """
    from loopaudit.audit.workers import Workers
    from loopaudit.cli.outputs import outputs, write_step_summary
    from loopaudit.cli.progress import Progress
    from loopaudit.config.actions import lowest_action
    from loopaudit.config.file import NONE
    from loopaudit.gate.baseline_file import read
    from loopaudit.gate.check import check
    from loopaudit.gate.inputs import Inputs
    from loopaudit.reports.kit.check_page import check_page
    from loopaudit.reports.kit.page.show import show

    config = options.load_config(config_file, no_config, policy_file) or NONE
    chosen_paths = paths or list(config.paths)
    if not chosen_paths and not config.expect:
        raise UsageError("no transcript given", hint="name files or folders, or set `paths` in a configuration")
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
    limits = _limits(context, config)
    lowest_action(limits.fail_on)
    targets = outputs(report if report is not None else config.reports)
    kept = caching.cache_of(cache, cache_dir, config, usual=False)
    file = baseline or config.baseline
    given = Inputs(
        limits,
        read(file) if file is not None else None,
        day(today),
        whole=not paths,
        all_policies=not policy,
        given={
            p.name: text for p in context.command.params if p.name and (text := options.repeated(context, [p.name]))
        },
        replay=options.repeated(context, options.REPLAY_NAMES),
    )
    with Progress() as progress:
        workers = Workers(jobs, cache=kept, progress=progress, alone=bool(policy_file))
        result = check(chosen_paths, chosen, config, given, workers)
    caching.tell(kept)
    taken = any(target.file is None for target in targets)
    show(lambda columns: check_page(result, columns), sys.stderr if taken else sys.stdout, width=width)
    for target in targets:
        write_output(target.render(result, {"width": str(width)} if width else {}), target.file)
    write_step_summary(result, targets)
    assert result.gate is not None
    if result.gate.exit_code:
        raise typer.Exit(result.gate.exit_code)


def day(text: str | None) -> date:
    """A day as written on the command line, or the current one.

    Raises:
        UsageError: it is no date.
    """
    if text is None:
        return date.today()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no date", hint="write YYYY-MM-DD") from None


def _limits(context: typer.Context, config: Config) -> GateSettings:
    """The gate's settings: the configuration's, and those on the command line over them."""
    from msgspec.structs import replace

    changed = {name: context.params[name] for name in _GATE if name in options.given(context)}
    changed = {name: tuple(v) if isinstance(v, (list, tuple)) else v for name, v in changed.items()}
    return replace(config.gate, **changed)
