"""``loopaudit fixture``: a stretch of a bad session as a transcript to keep, with what is expected of it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopaudit.cli import options
from loopaudit.cli.exit_code import end_with, exit_code
from loopaudit.cli.writing import report_error, report_failures, report_warning, write_output
from loopaudit.core.errors import ExitCode, UsageError, reason_of

if TYPE_CHECKING:
    from loopaudit.core.report import Report


def command(
    *,
    context: typer.Context,
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="The transcript.", exists=False)],
    calls: Annotated[
        str, typer.Option("--calls", metavar="FIRST-LAST", help="The calls to keep, counted from 1: 5-30.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    show_content: Annotated[
        bool, typer.Option("--show-content", help="Keep what looks like a secret. Default: it is masked.")
    ] = False,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", "-p", metavar="NAME", help="Policies to expect something of.", show_default=False),
    ] = None,
    replay: options.ReplayOptions,
    max_expanded: options.MaxExpanded = 4096,
    configuration: options.ConfigOptions,
) -> None:
    """Cut calls out of a session and keep them as a test.

    Writes the calls as a transcript of its own, with known shapes of secrets masked, and what the
    policies do on it as expectations beside it. It must still fire: where no policy that acted
    in these calls acts on the cut, nothing is kept, and the exit code is 3.
    """
    from msgspec.structs import replace

    from loopaudit.audit.cut import cut
    from loopaudit.audit.run import audit
    from loopaudit.audit.workers import Workers
    from loopaudit.gate.expectations import SUFFIX
    from loopaudit.gate.expectations_write import written
    from loopaudit.readers.recognise import recognise
    from loopaudit.readers.source import Source

    first, last = _range(calls)
    selection = options.SelectionOptions(policy=policy)
    run = options.Run(context, selection, configuration, replay, options.InputOptions(max_expanded=max_expanded))
    chosen = run.options()
    target = output / f"{session.name.partition('.')[0]}-calls-{first}-{last}.jsonl"
    expected = target.with_name(target.name.removesuffix(".jsonl") + SUFFIX)
    there = [file for file in (target, expected) if file.exists()]
    if there and not force:
        raise UsageError(f"{there[0]} is there already", hint="--force overwrites it")
    before = audit([str(session)], chosen)
    report_failures(before)
    end_with(exit_code(before))
    with Source(str(session), max_expanded=max_expanded << 20) as source:
        data = cut(source, recognise(source, chosen.format_id), first, last, masked=not show_content)
    after = audit(["-"], replace(chosen, format_id=None), Workers(stream=BytesIO(data)))
    report_failures(after)
    end_with(exit_code(after))
    was, now = _acts(before, first, last), _acts(after, 1, 1 << 60)
    if not was & now:
        text = "no policy acts on these calls" if not was else f"none of these acts on the cut: {_listed(was)}"
        report_error(f"{text}; nothing was written", "take more calls before the loop, or another -p")
        end_with(ExitCode.REGRESSION)
    if was - now:
        report_warning(f"not on the cut, which has fewer calls before: {_listed(was - now)}")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {reason_of(error)}") from None
    write_output(data, str(target))
    write_output(written(after, target.name).encode(), str(expected))
    typer.echo(f"wrote {target}")
    typer.echo(f"wrote {expected}: {_listed(now)}")


def _range(text: str) -> tuple[int, int]:
    """The first and last call of a range as written.

    Raises:
        UsageError: it is none.
    """
    first, dash, last = text.partition("-")
    numbers = [first.strip(), last.strip() if dash else first.strip()]
    if not all(number.isascii() and number.isdigit() and len(number) < 10 for number in numbers):
        raise UsageError(f"--calls {text!r}: no range of calls", hint="write --calls 5-30")
    low, high = map(int, numbers)
    if not 1 <= low <= high:
        raise UsageError(f"--calls {text!r}: no range of calls", hint="write the smaller number first, from 1")
    return low, high


def _acts(report: Report, first: int, last: int) -> set[tuple[str, str, str]]:
    """Policy, action and rule of everything that fired at these calls."""
    return {
        (policy.label, finding.action.word, finding.rule)
        for transcript in report.transcripts
        for policy in transcript.policies
        for finding in policy.findings
        if first <= finding.call <= last
    }


def _listed(acts: set[tuple[str, str, str]]) -> str:
    return ", ".join(f"{policy} {action} by {rule}" for policy, action, rule in sorted(acts))
