"""Regular expressions that are compiled when they are first used, or first could match.

A small replay loads three hundred patterns and uses a fifth of them; compiling all of them at import
was a sixth of its time. Most of those that are used match nothing: a :class:`Phrase` names the words
without which it cannot match, and is compiled when a text holds one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any, AnyStr, Final, Generic, TypeVar, cast

T = TypeVar("T")

_METHODS = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer")


class _Lazy:
    """Stands for a pattern. After its first use the pattern's own methods stand in its place."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._given = (pattern, flags)
        self.pattern = pattern

    def __getattr__(self, name: str) -> Any:
        # Dunder names are asked for by copying and pickling, which must not compile anything.
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


_FOLDED: Final = {0x17F: "s", 0x130: "i", 0x131: "i"}
"""Letters that match ``s`` and ``i`` where case does not matter, but whose lower case is another."""


def folded(text: str) -> str:
    """The lower case of a text, as long as that. ASCII letters stand in it where they match without regard to case."""
    return (text if text.isascii() else text.translate(_FOLDED)).lower()


class Caseless:
    """A pattern in lower case that shall not mind case. It is looked for in the lower case of a text.

    Without regard to case it would take three times as long to compile and to search for. Other letters than
    ASCII in it match their upper case only. What stands in the groups of a match is in lower case.
    """

    __slots__ = ("pattern",)

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = lazy(pattern, flags)

    def search(self, text: str) -> re.Match[str] | None:
        """As :meth:`re.Pattern.search`."""
        return self.pattern.search(folded(text))

    def match(self, text: str) -> re.Match[str] | None:
        """As :meth:`re.Pattern.match`."""
        return self.pattern.match(folded(text))

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """As :meth:`re.Pattern.fullmatch`."""
        return self.pattern.fullmatch(folded(text))


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern as of :func:`re.compile`, which is compiled no earlier than it is needed.

    It has the methods and attributes of a pattern, but is none: do not hand it to functions of :mod:`re`.
    """
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))


class Phrase:
    """A pattern that is compiled and looked for only where a text holds one of its words.

    It means what the pattern means: every text that matches has to hold one of the words, letter by letter. So
    one that shall not mind case is written in lower case, for texts in lower case.
    """

    __slots__ = ("_ascii", "_other", "pattern", "words")

    def __init__(self, words: str, pattern: str) -> None:
        """``words`` are divided by ``|``; blanks in them count."""
        self.words = tuple(words.split("|"))
        self._ascii = tuple(word for word in self.words if word.isascii())
        self._other = tuple(word for word in self.words if not word.isascii())
        self.pattern = lazy(pattern)

    def may_match(self, low: str) -> bool:
        """Whether a text holds one of the words."""
        for word in self._ascii:  # a generator would cost as much again, and many words are looked for in every text
            if word in low:
                return True
        return bool(self._other) and self._holds_other(low)

    def _holds_other(self, low: str) -> bool:
        return not low.isascii() and any(word in low for word in self._other)

    # The loop stands in each of these: a call would take longer than it does.

    def search(self, low: str) -> re.Match[str] | None:
        """As :meth:`re.Pattern.search`."""
        for word in self._ascii:
            if word in low:
                return self.pattern.search(low)
        return self.pattern.search(low) if self._other and self._holds_other(low) else None

    def match(self, low: str) -> re.Match[str] | None:
        """As :meth:`re.Pattern.match`."""
        for word in self._ascii:
            if word in low:
                return self.pattern.match(low)
        return self.pattern.match(low) if self._other and self._holds_other(low) else None

    def fullmatch(self, low: str) -> re.Match[str] | None:
        """As :meth:`re.Pattern.fullmatch`."""
        for word in self._ascii:
            if word in low:
                return self.pattern.fullmatch(low)
        return self.pattern.fullmatch(low) if self._other and self._holds_other(low) else None


_PIECE: Final = 4
"""Bytes of a piece: it is a number to ``memoryview``, which takes a text apart much faster than slices do."""


def pieces(text: str) -> set[int]:
    """Every four bytes in a row of a text in UTF-8, as numbers."""
    data = memoryview(text.encode("utf-8", "surrogatepass"))
    found: set[int] = set()
    for begin in range(min(_PIECE, len(data))):
        end = len(data) - (len(data) - begin) % _PIECE
        found.update(data[begin:end].cast("I"))
    return found


class Index(Generic[T]):
    """Many phrases that are looked for in one text, and what each stands for.

    Nearly all of them are of no account for a text: no word of theirs begins with four bytes that stand in it. Two
    sets tell that of all of them at once. A word that is shorter tells nothing.
    """

    __slots__ = ("_by_piece", "_items", "_short")

    def __init__(self, phrases: Iterable[tuple[Phrase, T]]) -> None:
        self._items: list[T] = []
        self._short: set[int] = set()
        self._by_piece: dict[int, list[int]] = {}
        for place, (phrase, item) in enumerate(phrases):
            self._items.append(item)
            heads = {word.encode()[:_PIECE] for word in phrase.words}
            if min(map(len, heads)) < _PIECE:
                self._short.add(place)
                continue
            for head in heads:
                self._by_piece.setdefault(int.from_bytes(head, sys.byteorder), []).append(place)

    def possible(self, text: set[int]) -> list[T]:
        """What the phrases stand for that may match a text of these :func:`pieces`, in no order."""
        found = self._short.copy()
        for piece in text.intersection(self._by_piece):
            found.update(self._by_piece[piece])
        return [self._items[place] for place in found]
