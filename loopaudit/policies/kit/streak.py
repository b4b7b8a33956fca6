"""How often the newest thing came in a row."""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")


class Streak(Generic[K]):
    """The newest key and the number of times it stands at the end, without a break.

    ``count`` is 0 and ``key`` is ``None`` before anything was pushed.
    """

    __slots__ = ("count", "key")

    def __init__(self) -> None:
        self.key: K | None = None
        self.count = 0

    def push(self, key: K) -> int:
        """Take the next key; returns the length of its run, which is at least 1."""
        if self.count and key == self.key:
            self.count += 1
        else:
            self.key = key
            self.count = 1
        return self.count

    def clear(self) -> None:
        """Forget the run."""
        self.key = None
        self.count = 0
