"""Finds compactions that follow each other with nothing done between."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from loopaudit.core.events import Boundary, seconds
from loopaudit.core.findings import Episode

NEED: Final = 3
"""Compactions in a row, beyond the first, that make a loop."""


class _Row(Struct):
    """Compactions with nothing done between. All but ``count`` and ``last_line`` are of the second and the last one."""

    count: int = 0
    line: int = 0
    last_line: int = 0
    turn: int = 0
    reason: str = ""
    at_start: float | None = None
    at_end: float | None = None


class Compactions:
    """One agent's compactions since the last call that brought something, or since a person wrote."""

    __slots__ = ("_row", "open")

    def __init__(self) -> None:
        self._row: _Row | None = None
        self.open = False
        """Whether nothing was done since the last compaction."""

    def compacted(self, boundary: Boundary, turn: int) -> None:
        """The context was compacted."""
        row = self._row
        if row is None:
            row = self._row = _Row()
            self.open = True
        row.count += 1
        if row.count == 2:
            row.line, row.turn = boundary.line, turn
            row.reason = boundary.reason
            row.at_start = seconds(boundary.at)
        row.last_line = boundary.line
        row.at_end = seconds(boundary.at)

    def close(self, ended: str, session: str, agent: str) -> Episode | None:
        """Something was done, or a person wrote. Gives the compactions as an episode if they are a loop."""
        row, self._row = self._row, None
        self.open = False
        if row is None or row.count <= NEED:
            return None
        times = row.at_start, row.at_end
        return Episode(
            kind="compaction_loop",
            session=session,
            agent=agent,
            first_call=0,
            last_call=0,
            unit=[f"compaction {row.reason}".rstrip()],
            laps=row.count - 1,
            calls=0,
            ended=ended,
            line=row.line,
            last_line=row.last_line,
            seconds=None if times[0] is None or times[1] is None else max(times[1] - times[0], 0.0),
            turn=row.turn,
        )
