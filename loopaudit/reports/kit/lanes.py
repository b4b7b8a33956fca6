"""Draws a transcript as lanes: one character for each call, or for each few calls.

A :class:`Scale` puts the calls 1 to n into columns. A policy's lane shows in each column the
strongest action that fell there; the lane of hindsight shows where loops ran. Every action
has a character of its own, so that lanes can be read without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from loopaudit.core.findings import Action, Episode, Finding
from loopaudit.core.report import TranscriptResult

Line = list[tuple[str, str]]
"""Pieces of a line, each with the name of its style."""

MARKS: Final[Mapping[Action, str]] = {
    Action.OBSERVE: "o",
    Action.WARN: "!",
    Action.NUDGE: "~",
    Action.ASK: "?",
    Action.REJECT: "x",
    Action.BLOCK: "#",
    Action.STRIP_TOOLS: "%",
    Action.STOP: "■",
}
QUIET: Final = "·"
LOOP: Final = "━"
WAITING: Final = "─"
TICK: Final = "╷"
_NICE: Final = (1, 2, 5)


class Scale(Struct, frozen=True):
    """``calls`` calls, ``per_column`` of them in each of ``columns`` columns."""

    calls: int
    per_column: int
    columns: int

    def column(self, call: int) -> int:
        """The 0-based column of a 1-based call number."""
        return (call - 1) // self.per_column

    def stretch(self, first: int, last: int) -> range:
        """The columns of the calls ``first`` to ``last``, inside the scale."""
        return range(max(self.column(first), 0), min(self.column(last) + 1, self.columns))


def scale(calls: int, width: int) -> Scale:
    """The finest scale on which ``calls`` calls fit into ``width`` columns."""
    per_column = max(-(-calls // max(width, 1)), 1)
    return Scale(calls, per_column, -(-calls // per_column))


def calls_of(result: TranscriptResult) -> int:
    """The largest call number that the lanes of a transcript must reach."""
    numbers = [result.counts.calls]
    numbers += [f.calls[1] for policy in result.policies for f in policy.findings]
    numbers += [f.calls[1] for f in result.recorded]
    numbers += [episode.last_call for episode in result.episodes]
    return max(numbers)


def ruler(on: Scale) -> tuple[str, str]:
    """Call numbers, and ticks below them, at round numbers that leave room between them."""
    step = _step(on)
    numbers = [" "] * on.columns
    ticks = [" "] * on.columns
    free = 0
    for call in [1, *range(step, on.calls + 1, step)]:
        column = on.column(call)
        label = f"{call:,}"
        start = min(column, on.columns - len(label))
        if start < free:
            continue
        numbers[start : start + len(label)] = label
        ticks[column] = TICK
        free = start + len(label) + 1
    return "".join(numbers).rstrip(), "".join(ticks).rstrip()


def _step(on: Scale) -> int:
    """The smallest round number of calls between two labels."""
    need = (len(f"{on.calls:,}") + 3) * on.per_column
    least = 10 if on.calls > 20 else 5
    power = 1
    while True:
        for nice in _NICE:
            if nice * power >= max(need, least):
                return nice * power
        power *= 10


def strongest(on: Scale, findings: Iterable[Finding]) -> list[Action]:
    """The strongest action in each column. A decision about a batch counts for all its calls."""
    marks = [Action.ALLOW] * on.columns
    for finding in findings:
        first, last = finding.calls if finding.whole_batch else (finding.call, finding.call)
        if first < 1:
            continue
        for column in on.stretch(first, last):
            marks[column] = max(marks[column], finding.action)
    return marks


def policy_lane(on: Scale, findings: Iterable[Finding]) -> Line:
    """The lane of a policy."""
    marks = strongest(on, findings)
    return _runs([(MARKS.get(m, QUIET), m.slug if m else "dim") for m in marks])


def loop_lane(on: Scale, episodes: Iterable[Episode]) -> Line:
    """The lane of hindsight: loops, each beginning with its number in the list, and waiting."""
    lane = [(QUIET, "dim")] * on.columns
    numbered = [(number, episode) for number, episode in enumerate(episodes, 1) if episode.first_call > 0]
    for _, episode in numbered:
        mark, style = (LOOP, "loop") if episode.is_loop else (WAITING, "dim")
        for column in on.stretch(episode.first_call, episode.last_call):
            if lane[column][0] != LOOP:
                lane[column] = (mark, style)
    for number, episode in numbered:
        label = str(number)
        columns = on.stretch(episode.first_call, episode.last_call)
        if len(columns) > len(label) and episode.is_loop:
            for column, digit in zip(columns, label, strict=False):
                lane[column] = (digit, "loop")
    return _runs(lane)


def _runs(lane: Iterable[tuple[str, str]]) -> Line:
    """Neighbouring characters of one style as one span."""
    line: Line = []
    for mark, style in lane:
        if line and line[-1][1] == style:
            line[-1] = (line[-1][0] + mark, style)
        else:
            line.append((mark, style))
    return line


def legend(actions: Iterable[Action], on: Scale, episodes: Iterable[Episode]) -> list[Line]:
    """The meaning of each character that was used, and of a column where it is not one call."""
    shown = list(episodes)
    parts: list[Line] = []
    if any(episode.is_loop for episode in shown):
        parts.append([(LOOP, "loop"), (" calls of a loop that brought nothing new", "dim")])
    if not all(episode.is_loop for episode in shown):
        parts.append([(WAITING, "dim"), (" waiting", "dim")])
    for action in sorted(set(actions) - {Action.ALLOW}):
        parts.append([(MARKS[action], action.slug), (f" {action.word}", "dim")])
    if on.per_column > 1:
        parts.append([(f"a column is {on.per_column:,} calls, the strongest action shows", "dim")])
    return parts
