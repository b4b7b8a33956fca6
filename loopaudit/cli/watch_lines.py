"""A firing as a line for people, and as a line of JSON for programs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from loopaudit.audit.watch.notices import Firing, Notice, Summary
from loopaudit.core.events import seconds
from loopaudit.core.json import dumps
from loopaudit.core.text import ELLIPSIS, flat, one_line
from loopaudit.policies.contract import Mode
from loopaudit.reports.json_v1.lines import watch_line
from loopaudit.reports.json_v1.report import line_head
from loopaudit.reports.kit import wording

if TYPE_CHECKING:
    from rich.text import Text

FILE_CELLS: Final = 44
"""Cells of a file's name, whose end says more than its beginning. A narrow terminal gives it a fifth of a line."""

NARROW: Final = 120
"""Narrower lines have the time of day alone."""

PATH: Final = 120
"""Characters of the path of a notice, whose end says more than its beginning."""

MESSAGE: Final = 160
"""Characters of what the model would have been told."""


def firing_line(firing: Firing, width: int) -> Text:
    """One line: time, place, policy, action, rule, count, tool, and what the model would have been told."""
    from loopaudit.reports.kit.console.columns import tail
    from loopaudit.reports.kit.console.style import flat, joined

    finding = firing.finding
    file = tail(flat(firing.shown, "strong"), min(FILE_CELLS, width // 5))
    line = joined(file, (f":{finding.line}" if finding.line else "", "strong"))
    if firing.at is not None:
        line = joined((f"{time_of(firing.at, is_short=width < NARROW)}  ", "dim"), line)
    if finding.agent:
        line = joined(line, (f" [{one_line(finding.agent, 24)}]", "dim"))
    action = flat(wording.action_of(finding), finding.action.slug)
    line = joined(line, "  ", flat(finding.policy), "  ", action, "  ", flat(finding.rule))
    if finding.count:
        line = joined(line, (f" {finding.count:,}×", "dim"))
    if finding.tool:
        line = joined(line, f"  {one_line(finding.tool, 32)}")
    about = one_line(finding.message or finding.arguments, MESSAGE)
    if about:
        line = joined(line, (f"  “{about}”" if finding.message else f"  {about}", "quote"))
    line.truncate(width, overflow="ellipsis")
    return line


def time_of(at: str | float | None, *, is_short: bool = False) -> str:
    """A recorded time in UTC to the second; as it is recorded where it is no time."""
    moment = seconds(at)
    if moment is None:
        return one_line(str(at), 24)
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%H:%M:%SZ" if is_short else "%Y-%m-%d %H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return one_line(str(at), 24)


def firing_json(firing: Firing, mode: Mode) -> bytes:
    """The line that ``replay --report jsonl`` writes for this finding, and ``at``: its recorded time."""
    session = firing.finding.session
    head = line_head(firing.path, firing.format, session, mode, recorded=firing.recorded)
    return dumps(watch_line(head, firing.finding, firing.at))


def notice_lines(notice: Notice) -> str:
    """A notice and its hint, as lines for standard error."""
    shown_path = flat(notice.path)
    place = shown_path if len(shown_path) <= PATH else ELLIPSIS + shown_path[1 - PATH :]
    if notice.line:
        place += f":{notice.line}"
    kind = {"note": "", "damage": "damaged: ", "failure": "error: ", "crash": "error: "}[notice.kind]
    message = flat(notice.message)
    # Errors of inputs name their file themselves.
    shown = message if not place or message.startswith(f"{notice.path}:") else f"{place}: {message}"
    hint = f"  hint: {flat(notice.hint)}\n" if notice.hint else ""
    return f"loopaudit: {kind}{shown}\n{hint}"


def summary_line(summary: Summary, seconds_watched: float) -> str:
    """What the watch did, in one line."""
    fired = sum(summary.by_action.values())
    parts = [
        f"watched {wording.some(summary.files, 'file')} for {wording.duration(seconds_watched)}, "
        f"read {summary.followed:,} of them",
        f"{wording.some(fired, 'firing')}" + (f" ({wording.actions(summary.by_action)})" if fired else ""),
    ]
    for count, what in (
        (summary.recorded, "by guards of the harness"),
        (summary.damaged, "damaged records"),
        (summary.unrecognised, "no transcripts"),
        (summary.unread, "not read to the end"),
    ):
        if count:
            parts.append(f"{what}: {count:,}")
    return f"loopaudit: {'; '.join(parts)}\n"
