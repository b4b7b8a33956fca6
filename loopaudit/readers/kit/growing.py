"""Totals that a recording repeats while they grow: what they grew by counts."""

from __future__ import annotations

from collections.abc import Mapping

from loopaudit.core.events import Usage

NAMES = ("input", "output", "cache_read", "cache_write")


class Growing:
    """Token totals of a running process. A total that shrank belongs to a process begun anew."""

    __slots__ = ("_before",)

    def __init__(self) -> None:
        self._before: dict[str, int] = {}

    def grown(self, totals: Mapping[str, int | None]) -> Usage:
        """What the totals grew by since the last report. Names as in :data:`NAMES`."""
        known = {name: value for name, value in totals.items() if value is not None}
        before = self._before
        if any(value < before.get(name, 0) for name, value in known.items()):
            before = {}
        self._before = {**before, **known}
        return Usage(*(known[name] - before.get(name, 0) if name in known else None for name in NAMES))
