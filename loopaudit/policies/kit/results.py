"""How often in a row a call returned the same, for each call apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from loopaudit.core.bounded import Recent
from loopaudit.core.events import Result

K = TypeVar("K")

CAP: Final = 512
"""Calls per generation whose newest result is remembered with its output; see :class:`Recent`."""


class Outcomes(Generic[K]):
    """Runs of equal results by key. Results are equal if success and output are.

    ``normal`` gives the spelling in which outputs are compared where they are not the same
    text. Outputs over the limit of :attr:`Result.token` are compared by length and hash only.
    Of a new key nothing but the result is kept; its output is looked at when the key comes again.
    """

    __slots__ = ("_known", "_normal")

    def __init__(self, normal: Callable[[str], str] | None = None) -> None:
        self._normal = normal
        self._known: Recent[K, tuple[int, Result]] = Recent(CAP)

    def count(self, key: K) -> int:
        """How many results of a key in a row equal its newest one; 0 without any."""
        known = self._known.get(key)
        return 0 if known is None else known[0]

    def push(self, key: K, result: Result) -> int:
        """Take the next result of a key; returns the length of its run."""
        known = self._known.get(key)
        count = known[0] + 1 if known is not None and self._same(known[1], result) else 1
        self._known.put(key, (count, result))
        return count

    def _same(self, known: Result, result: Result) -> bool:
        if known.failed != result.failed:
            return False
        ours, theirs = known.token, result.token
        if ours == theirs:
            return True
        if self._normal is None or not isinstance(ours, str) or not isinstance(theirs, str):
            return False
        return self._normal(ours) == self._normal(theirs)

    def drop(self, key: K) -> None:
        """Forget a key."""
        self._known.drop(key)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()

    def __bool__(self) -> bool:
        return bool(self._known)
