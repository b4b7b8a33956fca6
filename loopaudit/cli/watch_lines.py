"""A firing as a line for people, and as a line of JSON for programs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from loopaudit.audit.watch.notices import Firing, Notice, Summary
from loopaudit.core.events import seconds
from loopaudit.core.json import dumps
from loopaudit.policies.contract import Mode
from loopaudit.reports.json_v1.report import line_head, watch_line
from loopaudit.reports.kit import wording
from loopaudit.reports.kit.page import cells
from loopaudit.reports.kit.page.page import Page, Span

FILE_CELLS: Final = 44
"""Cells of a file's name, whose end says more than its beginning. A narrow terminal gives it a fifth of a line."""

NARROW: Final = 120
"""Narrower lines have the time of day alone."""

MESSAGE_CELLS: Final = 160


def firing_line(firing: Firing, width: int) -> Page:
    """One line: time, place, policy, action, rule, count, tool, and what the model would have been told."""
    finding = firing.finding
    page = Page(width)
    place = cells.fit(firing.shown, min(FILE_CELLS, width // 5), "tail") + (f":{finding.line}" if finding.line else "")
    line = [Span(place, "strong")]
    if firing.at is not None:
        line.insert(0, Span(f"{time_of(firing.at, is_short=width < NARROW)}  ", "dim"))
    if finding.agent:
        line.append(Span(f" [{cells.fit(finding.agent, 24)}]", "dim"))
    line += [Span(f"  {finding.policy}  "), Span(wording.action_of(finding), finding.action.slug)]
    line.append(Span(f"  {finding.rule}"))
    if finding.count:
        line.append(Span(f" {finding.count:,}×", "dim"))
    if finding.tool:
        line.append(Span(f"  {cells.fit(finding.tool, 32)}"))
    about = finding.message or finding.arguments
    if about:
        quoted = f"“{cells.fit(about, MESSAGE_CELLS)}”" if finding.message else cells.fit(about, MESSAGE_CELLS)
        line.append(Span(f"  {quoted}", "quote"))
    page.add(*line)
    return page


def time_of(at: str | float | None, *, is_short: bool = False) -> str:
    """A recorded time in UTC to the second; as it is recorded where it is no time."""
    moment = seconds(at)
    if moment is None:
        return cells.fit(str(at), 24)
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%H:%M:%SZ" if is_short else "%Y-%m-%d %H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return cells.fit(str(at), 24)


def firing_json(firing: Firing, mode: Mode) -> bytes:
    """The line that ``replay --report jsonl`` writes for this finding, and ``at``: its recorded time."""
    session = firing.finding.session
    head = line_head(firing.path, firing.format, session, mode, recorded=firing.recorded)
    return dumps(watch_line(head, firing.finding, firing.at))


def notice_lines(notice: Notice) -> str:
    """A notice and its hint, as lines for standard error."""
    place = cells.fit(notice.path, 120, "tail")
    if notice.line:
        place += f":{notice.line}"
    kind = {"note": "", "damage": "damaged: ", "failure": "error: ", "crash": "error: "}[notice.kind]
    message = cells.clean(notice.message)
    # Errors of inputs name their file themselves.
    shown = message if not place or message.startswith(f"{notice.path}:") else f"{place}: {message}"
    hint = f"  hint: {cells.clean(notice.hint)}\n" if notice.hint else ""
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
