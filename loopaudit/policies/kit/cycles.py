"""Cycles at the end of a sequence: A A A, A B A B, A B C A B C.

A sequence ends in a cycle of period k if its newest entries equal those k before them. For
each period only the length of that stretch is kept, so that a push costs one comparison per
period, whatever the history.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import eq
from typing import Any, Generic, TypeVar

K = TypeVar("K")


class Cycles(Generic[K]):
    """The cycles of period 1 to ``longest`` at the end of a sequence of keys.

    A sequence with a single lap of every period is the start. With a ``window`` no more of
    the past is seen than that many newest keys, as by a guard that keeps a bounded history.
    ``repeating`` is false where no period has more than its first lap, so that nothing else
    needs to be asked while all keys are new.
    """

    __slots__ = ("_longest", "_recent", "_stretch", "_window", "repeating")

    def __init__(self, longest: int, window: int | None = None) -> None:
        self._longest = longest
        self._window = window
        self._recent: list[K] = []
        """The newest keys, newest first."""
        self._stretch = [0] * longest
        """By period - 1: how many newest keys equal the one a period before them."""
        self.repeating = False

    def push(self, key: K) -> None:
        """Take the next key."""
        recent = self._recent
        if key in recent:
            stretch = self._stretch
            for index, earlier in enumerate(recent):
                stretch[index] = stretch[index] + 1 if earlier == key else 0
            self.repeating = True
        elif self.repeating:
            self._stretch = [0] * self._longest
            self.repeating = False
        recent.insert(0, key)
        if len(recent) > self._longest:
            del recent[-1]

    def tail(self, period: int) -> int:
        """How many keys at the end have this period; at least the period itself, once seen.

        A tail that is shorter than the period is the whole sequence.
        """
        length = self._stretch[period - 1] + min(period, len(self._recent))
        return length if self._window is None else min(length, self._window)

    def laps(self, period: int) -> int:
        """How many whole repetitions of a block of this length stand at the end."""
        return self.tail(period) // period

    def periods(self, laps: int) -> list[int]:
        """The periods with at least so many laps (two or more) at the end, the least first."""
        if not self.repeating:
            return []
        return [
            period
            for period, stretch in enumerate(self._stretch, 1)
            if stretch >= period * (laps - 1) and self.laps(period) >= laps
        ]

    def clear(self) -> None:
        """Forget the sequence."""
        self._recent.clear()
        self._stretch = [0] * self._longest
        self.repeating = False


class Streak(Generic[K]):
    """The newest key and the number of times it stands at the end, without a break.

    ``count`` is 0 and ``key`` is ``None`` before anything was pushed.
    """

    __slots__ = ("_equal", "count", "key")

    def __init__(self, equal: Callable[[Any, Any], bool] = eq) -> None:
        """``equal`` is asked whether a key equals the one before it."""
        self._equal = equal
        self.key: K | None = None
        self.count = 0

    def push(self, key: K) -> int:
        """Take the next key; returns the length of its run, which is at least 1."""
        if self.count and self._equal(key, self.key):
            self.count += 1
        else:
            self.key = key
            self.count = 1
        return self.count

    def clear(self) -> None:
        """Forget the run."""
        self.key = None
        self.count = 0
