"""``loopaudit replay``: transcripts through policies, and what each would have done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from loopaudit.cli import _options as options
from loopaudit.cli._options import report_error
from loopaudit.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from loopaudit.discover import Found
    from loopaudit.report import Report


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
    max_expanded: options.MaxExpanded = 4096,
    jobs: options.Jobs = None,
    config_file: options.ConfigFile = None,
    no_config: options.NoConfig = False,
) -> None:
    """Replay recorded transcripts through loop guards.

    Shows where each guard would have blocked, warned, nudged or stopped, which policy caught
    what, and what hindsight says of every firing.
    """
    if summary and full:
        raise UsageError("--summary and --full exclude each other")
    from loopaudit.audit import audit
    from loopaudit.output import gate, outputs, write_step_summary

    config = options.load_config(config_file, no_config, policy_file)
    paths = paths or list(config.paths if config is not None else ())
    if not paths:
        raise UsageError("no transcript given", hint="name files or directories, or - for standard input")
    chosen = options.replay_options(
        policy=policy,
        settings=settings,
        mode=mode,
        tool_names=tool_names,
        failure=failure,
        format_id=format_id,
        tools=tools,
        max_expanded=max_expanded,
        policy_files=policy_file,
        config=config,
        said=options.given(context),
    )
    targets = outputs(report or ["terminal"])
    threshold = gate(fail_on or ())
    with _Progress() as progress:
        # Workers cannot import a policy that came from a file.
        workers = 1 if policy_file else jobs
        result = audit(paths, chosen, on_found=progress.found, on_file=progress.finished, jobs=workers)
    detail = "summary" if summary else "full" if full else "normal"
    for target in targets:
        if target.id == "terminal" and target.file is None:
            _terminal(result, detail, width)
        else:
            shown = {"detail": detail, "width": str(width)} if width else {"detail": detail}
            options.write_output(target.render(result, shown), target.file)
    write_step_summary(result, targets)
    if not any(target.id == "terminal" and target.file is None for target in targets):
        for problem in result.failures:
            report_error(problem.message, problem.hint)
    code = exit_code(result, strict=strict, failed=threshold(result))
    if code:
        raise typer.Exit(code)


def exit_code(report: Report, *, strict: bool, failed: bool) -> int:
    """The exit code of a finished report: own failure, then input, then findings."""
    crashed = any(p.status == "crashed" for t in report.transcripts for p in t.policies)
    codes = {failure.exit_code for failure in report.failures}
    if crashed or ExitCode.INTERNAL in codes:
        return ExitCode.INTERNAL
    if codes or (strict and any(t.damaged for t in report.transcripts)):
        return ExitCode.INPUT
    return ExitCode.FINDING if failed else ExitCode.OK


def _terminal(report: Report, detail: str, width: int | None) -> None:
    from loopaudit.reportkit.level import Detail
    from loopaudit.reports.terminal import write_terminal

    write_terminal(report, sys.stdout, Detail(detail), width=width)


class _Progress:
    """A bar on standard error for long work at a terminal; otherwise nothing."""

    MIN_BYTES = 16 << 20

    def __init__(self) -> None:
        self._bar: object | None = None
        self._done = 0
        self._advance: Callable[[int], None] | None = None

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *exc: object) -> None:
        from contextlib import AbstractContextManager

        if isinstance(self._bar, AbstractContextManager):
            self._bar.__exit__(None, None, None)

    def found(self, found: Found) -> Callable[[int], None] | None:
        """Start the bar if there is much to read."""
        total = sum(item.size for item in found.inputs)
        if total < self.MIN_BYTES or not sys.stderr.isatty():
            return None
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("reading"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.__enter__()
        task = bar.add_task("reading", total=total)
        self._bar = bar

        def advance(read: int) -> None:
            bar.update(task, completed=self._done + read)

        self._advance = advance
        return advance

    def finished(self, item: object, result: object) -> None:
        """One more input is done."""
        from loopaudit.discover import Input

        if isinstance(item, Input):
            self._done += item.size
            if self._advance is not None:
                self._advance(0)
