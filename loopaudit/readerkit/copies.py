"""Two memories of bounded size for files that name their records: copies, and chains.

Both keep the last :data:`MAX_SEEN` to twice as many entries, in two generations.
"""

from __future__ import annotations

from typing import Final

MAX_SEEN: Final = 1 << 14
"""Entries of a generation."""


class Copies:
    """Tells records that stand in a file again.

    A copy has the name, the time and the content of an earlier record. Two different records
    in a row with one name show that somebody blanked the names: that one is no name then.
    """

    __slots__ = ("_blank", "_last", "_old", "_young")

    def __init__(self) -> None:
        self._young: set[int] = set()
        self._old: set[int] = set()
        self._last: str | None = None
        self._blank: str | None = None

    def seen(self, name: str | None, at: str | None, mark: str | int | None) -> bool:
        """Whether this is a copy; remembers it if not. ``mark`` stands for the content."""
        if name is None or name == self._blank:
            return False
        item = hash((name, at, mark))
        young = self._young
        if item in young or item in self._old:
            return True
        if name == self._last:
            self._blank = name
            return False
        self._last = name
        if len(young) >= MAX_SEEN:
            self._old, self._young = young, {item}
        else:
            young.add(item)
        return False

    def trusts(self, name: str | None) -> bool:
        """Whether a name tells records apart."""
        return name is not None and name != self._blank


class Chains:
    """Names chains of records that each point to the one before."""

    __slots__ = ("_old", "_young")

    def __init__(self) -> None:
        self._young: dict[str, str] = {}
        self._old: dict[str, str] = {}

    def join(self, name: str | None, parent: str | None, *, begins: bool) -> str:
        """The chain of a record, which is remembered for those that point to it.

        A chain is called by its first record. One that continues a record which is not in the
        file is called by that record, unless it plainly ``begins`` a chain.
        """
        chain = None
        if parent is not None:
            chain = self._young.get(parent) or self._old.get(parent)
            if chain is None and not begins:
                chain = parent
        chain = chain or name or "?"
        if name is not None:
            if len(self._young) >= MAX_SEEN:
                self._old, self._young = self._young, {}
            self._young[name] = chain
        return chain
