"""Maps of bounded size, cheap for what is new: for ids that were seen, and for guards that count.

A transcript can hold any number of calls, and so can one turn. These maps forget by age, and whatever
was among the last ``cap`` different keys is remembered exactly; older keys start anew. :class:`Recent`
keeps two generations: the young one takes what is touched, and when it is full the old one is dropped.
:class:`Latest` is one table of hashes, for what is put once and seldom asked for again.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

CAP: Final = 16_384
"""Keys per generation, so that at most twice as many are held."""


class Recent(Generic[K, V]):
    """A map of the keys that were put last. Values are never ``None``. ``cap`` is the size of a generation."""

    __slots__ = ("_cap", "_old", "_young")

    def __init__(self, cap: int = CAP) -> None:
        self._cap = cap
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The value of a key, or ``None`` where it is unknown or forgotten."""
        value = self._young.get(key)
        if value is None and self._old:
            value = self._old.get(key)
        return value

    def put(self, key: K, value: V) -> None:
        """Set a key's value, which also makes it the youngest."""
        young = self._young
        if len(young) >= self._cap and key not in young:
            self._old = young
            self._young = young = {}
        young[key] = value

    def drop(self, key: K) -> None:
        """Forget one key, if it is known."""
        self._young.pop(key, None)
        if self._old:
            self._old.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        if self._young:
            self._young.clear()
        if self._old:
            self._old = {}

    def __bool__(self) -> bool:
        return bool(self._young) or bool(self._old)

    def __len__(self) -> int:
        return len(self._young) + sum(key not in self._young for key in self._old)


class Tally(Recent[K, int]):
    """How often each key was counted."""

    __slots__ = ()

    def add(self, key: K) -> int:
        """Count a key once more. Returns its count, 1 for a new key."""
        young = self._young
        count = young.get(key)
        if count is None:
            count = self._old.get(key, 0)
            if len(young) >= self._cap:
                self._old = young
                self._young = young = {}
        young[key] = count = count + 1
        return count


class Latest(Generic[V]):
    """A map of the last ``cap`` keys that were put, or up to a quarter more. Values are never ``None``.

    A key is kept as its hash of 64 bits, so that it costs the same however long it is. A key is
    mistaken for another of ``n`` remembered ones with a probability of ``n`` in 2 to the 64th; a
    transcript cannot bring that about, since Python's hashes of text hang on a secret of the process.
    """

    __slots__ = ("_cap", "_full", "_known")

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._full = cap + cap // 4
        self._known: dict[int, V] = {}

    def get(self, key: Hashable) -> V | None:
        """The value of a key, or ``None`` where it is unknown or forgotten."""
        return self._known.get(hash(key))

    def add(self, key: Hashable, value: V) -> bool:
        """Put a key that is unknown or forgotten. Returns whether it was."""
        known = self._known
        mark = hash(key)
        if mark in known:
            return False
        if len(known) >= self._full:
            forget_oldest(known, len(known) - self._cap + 1)
        known[mark] = value
        return True

    def put(self, key: Hashable, value: V) -> None:
        """Set a key's value, which also makes it the youngest."""
        known = self._known
        mark = hash(key)
        if mark in known:
            del known[mark]
        elif len(known) >= self._full:
            forget_oldest(known, len(known) - self._cap + 1)
        known[mark] = value

    def __len__(self) -> int:
        return len(self._known)


def forget_oldest(known: dict[Any, Any], count: int) -> None:
    """Delete the ``count`` keys of a dictionary that were put first; worth it for many at once only."""
    for key in list(islice(known, count)):
        del known[key]
