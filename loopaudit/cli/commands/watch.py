"""``loopaudit watch``: firings as they happen, while agents write their transcripts."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from loopaudit.cli import options
from loopaudit.cli.exit_code import end_with
from loopaudit.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from queue import SimpleQueue
    from types import FrameType

    from loopaudit.audit.watch.notices import Firing, Notice
    from loopaudit.policies.contract import Mode


def command(
    *,
    context: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH...",
            help="Growing transcripts: files, directories with what comes into them, quoted globs, or - for standard "
            "input.",
            show_default=False,
        ),
    ] = None,
    policy: options.Policies = None,
    settings: options.Settings = None,
    policy_file: options.PolicyFiles = None,
    report: Annotated[
        str,
        typer.Option(
            "--report",
            "-r",
            metavar="text|jsonl",
            help="text: a line for people. jsonl: a line of JSON for each firing.",
        ),
    ] = "text",
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Print also what fired in the records that are there already.")
    ] = False,
    recent: Annotated[
        float,
        typer.Option(
            "--recent",
            metavar="HOURS",
            min=0,
            help="Of the files in directories, read at once those that changed in the last HOURS; others are read "
            "when they grow.",
        ),
    ] = 1.0,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", min=0.01, max=3600, help="Look for growth this often.")
    ] = 1.0,
    until_idle: Annotated[
        float | None,
        typer.Option(
            "--until-idle",
            metavar="SECONDS",
            min=0,
            help="End when nothing has grown for so long. Default: watch until Ctrl-C.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="ACTION",
            help="Exit 1 at the end if a policy did this or something stronger in what was printed (observe, warn, "
            "nudge, ask, reject, block, strip-tools, stop). Repeatable.",
            show_default=False,
        ),
    ] = None,
    replay: options.ReplayOptions,
    configuration: options.ConfigOptions,
) -> None:
    """Follow growing transcripts and print firings as they happen.

    What is in a file already is replayed silently, because guards need their state; then each firing is printed when
    the agent's next response begins. There are no grades: hindsight needs what comes after. Ctrl-C ends the watch.
    """
    from loopaudit.audit.watch.watch import STOP, Plan, Watch
    from loopaudit.cli.watch_lines import summary_line
    from loopaudit.config.actions import lowest_action

    selection = options.SelectionOptions(paths=paths, policy=policy, settings=settings, policy_file=policy_file)
    run = options.Run(context, selection, configuration, replay, options.InputOptions(max_expanded=0))
    chosen = run.options()
    lowest, loops = lowest_action(fail_on or ())
    if loops:
        raise UsageError(
            "--fail-on loop: a watch finds no loops, hindsight needs a finished transcript",
            hint="name an action, or run `loopaudit replay --fail-on loop` afterwards",
        )
    kind = options.choice(report, ("text", "jsonl"), "--report")
    plan = Plan(interval=interval, from_start=from_start, recent=recent * 3600, idle=until_idle)
    begin = time.monotonic()
    with Watch(run.paths(), chosen, plan, _printer(kind, chosen.mode)) as watch:
        _stop_on_signals(watch.wake, STOP)
        if sys.stderr.isatty():
            sys.stderr.write("loopaudit: watching; Ctrl-C ends it\n")
        code = watch.run()
    sys.stderr.write(summary_line(watch.summary, time.monotonic() - begin))
    found = lowest is not None and watch.strongest >= lowest
    end_with(ExitCode.worst([code, ExitCode.FINDING if found else ExitCode.OK]))


def _stop_on_signals(wake: SimpleQueue[str], stop: str) -> None:
    """Let the first Ctrl-C (or SIGTERM) end the watch in order; a second one ends the program at once."""

    def ends(number: int, frame: FrameType | None) -> None:
        wake.put(stop)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, ends)
    signal.signal(signal.SIGTERM, ends)


def _printer(kind: str, mode: Mode) -> Callable[[Firing | Notice], None]:
    """Prints firings to standard output, each at once, and notices to standard error.

    What looks like a secret is masked where the output is no terminal.
    """
    from msgspec.structs import replace

    from loopaudit.audit.watch.notices import Notice
    from loopaudit.cli.watch_lines import firing_json, notice_lines
    from loopaudit.core.secrets import mask
    from loopaudit.reports.kit.private import Privacy, protected_finding

    line = _text_line() if kind == "text" else None
    privacy = Privacy.SHOWN if sys.stdout.isatty() else Privacy.MASKED

    def emit(reported: Firing | Notice) -> None:
        if isinstance(reported, Notice):
            lines = notice_lines(reported)
            sys.stderr.write(lines if sys.stderr.isatty() else mask(lines))
            return
        reported = replace(reported, finding=protected_finding(reported.finding, privacy))
        if line is None:
            sys.stdout.buffer.write(firing_json(reported, mode))
            sys.stdout.buffer.flush()
        else:
            line(reported)
            sys.stdout.flush()

    return emit


def _text_line() -> Callable[[Firing], None]:
    """Prints a firing for people: coloured and cut to the width of a terminal, plain and uncut anywhere else."""
    from loopaudit.cli.watch_lines import firing_line
    from loopaudit.reports.kit.console.output import Uncut, console_for, plain, print_page

    encoding = sys.stdout.encoding or "utf-8"
    terminal = sys.stdout.isatty()
    if terminal or os.environ.get("FORCE_COLOR"):
        console = console_for(sys.stdout)

        def styled(firing: Firing) -> None:
            width = console.width if terminal else UNCUT
            print_page(lambda _: [Uncut(firing_line(firing, width))], console, encoding)

        return styled

    def bare(firing: Firing) -> None:
        sys.stdout.write(plain(lambda _: [Uncut(firing_line(firing, UNCUT))], encoding=encoding))

    return bare


UNCUT = 1000
"""Cells of a line that nobody's terminal cuts: more than all its parts may have."""
