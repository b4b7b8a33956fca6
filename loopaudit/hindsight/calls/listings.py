"""Listings by their rows: whether a page shows anything that was not listed before.

Pages are compared by what they list. Which page it is, its cursor, the way to the next one and the time
it took stand in most answers, and are no part of that; so is the order of what a search found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from json import JSONDecoder
from typing import Any, Final

import msgspec
import orjson

from loopaudit.core import regex
from loopaudit.hindsight.calls.noise import remove_all
from loopaudit.hindsight.calls.outputs import Held, text_of

MAX_LISTINGS: Final = 64
"""Listings remembered per agent."""

MAX_ROWS: Final = 8192
"""Rows remembered of one listing; with more it begins anew."""

LEAST_LINES: Final = 3
"""Lines that make a text a listing; fewer are compared as they are."""

MAX_TAIL: Final = 200
"""Longest text behind a JSON document in characters that is a remark of the harness."""

MAX_HEADING: Final = 120
"""Longest line in characters before a JSON document that tells which page it is."""

MAX_REST: Final = 2000
"""Longest JSON of all but the rows in characters from which noise is removed."""

_DEPTH: Final = 3
"""Members inside one another in which the rows of a document are looked for."""

_OF_PAGE: Final = frozenset(
    """
    page pages offset cursor cursors next prev previous token marker continuation skip start request trace took elapsed
    duration latency time timestamp generated served ms more
    """.split()
)
"""Words in the names of members that tell which page it is, or how it came to be, and not what is listed."""

_WORD: Final = regex.lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HEADING: Final = regex.lazy(
    r"[^\w\n]*(?:page|cursor|next|prev(?:ious)?|offset|showing|results? \d|seite|página|pagina|token)\b"
    r"|.{0,40}\b(?:page|seite|página|pagina) \d{1,6}\b|\W*\Z|[(\[].{0,80}[)\]]\Z",
    re.IGNORECASE,
)
"""A line of a text that tells which page it is, that divides, or that a harness put there."""


def _keeps(name: str, value: Any) -> bool:
    """Whether a member beside the rows is part of what is listed."""
    if isinstance(value, (dict, list)):
        return True
    return _OF_PAGE.isdisjoint(word.lower() for word in _WORD.findall(name))


def _pruned(value: Any, depth: int = 0) -> Any:
    """A document without the members that tell which page it is."""
    if isinstance(value, dict) and depth <= _DEPTH:
        return {name: _pruned(inner, depth + 1) for name, inner in value.items() if _keeps(name, inner)}
    return value


def _longest(value: Any, depth: int = 0) -> list[Any] | None:
    """The longest list in a document: its rows."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or depth >= _DEPTH:
        return None
    found = [inner for inner in (_longest(member, depth + 1) for member in value.values()) if inner is not None]
    return max(found, key=len, default=None)


def _without(value: Any, rows: list[Any], depth: int = 0) -> Any:
    """A document without its rows."""
    if value is rows:
        return None
    if isinstance(value, dict) and depth < _DEPTH:
        return {name: _without(inner, rows, depth + 1) for name, inner in value.items()}
    return value


def _document(text: str) -> Any:
    """The JSON document that a text is, but for a heading and a short remark behind it; ``None`` where it is none."""
    if text[:1] not in "{[":
        heading, _, behind = text[: MAX_HEADING + 2].partition("\n")
        if not behind or behind[:1] not in "{[" or _HEADING.match(heading) is None:
            return None
        text = text[len(heading) + 1 :]
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    try:
        value, end = JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if len(text) - end <= MAX_TAIL else None


_NAMING: Final = frozenset({"id", "key", "uuid", "number", "no", "name", "title", "url", "sku", "code", "ref"})
"""Members by which rows are distinguished from all others."""


def _distinct(rows: list[Any]) -> bool:
    """Whether the rows of a listing are such that they can be known again: objects, texts or several ids."""
    if len(rows) == 1:
        return isinstance(rows[0], dict) and not _NAMING.isdisjoint(rows[0])
    if all(type(row) is int for row in rows):
        return len(rows) >= LEAST_LINES
    return len(rows) > 1 and not any(isinstance(row, (int, float)) or row is None for row in rows)


def rows_of(text: str) -> frozenset[int] | None:
    """Hashes that stand for what a page lists, and for what it says beside; ``None`` where it lists nothing apart.

    That is so where two of its rows are equal: whoever turns pages of equal rows gets others, though
    nobody sees it.
    """
    text = text.strip()
    value = _document(text)
    found: Iterable[str | bytes]
    if value is None:
        lines = [line for line in map(str.strip, text.splitlines()) if _HEADING.match(line) is None]
        if len(lines) < LEAST_LINES:
            return None
        count, found = len(lines), lines
    else:
        rows = _longest(value)
        if rows is None or not _distinct(rows):
            return None
        count = len(rows)
        try:
            found = [orjson.dumps(row, option=orjson.OPT_SORT_KEYS) for row in rows]
            rest = orjson.dumps(_pruned(_without(value, rows)), option=orjson.OPT_SORT_KEYS).decode()
        except (TypeError, ValueError):  # numbers that JSON of the standard library alone reads
            return None
    hashes = set(map(hash, found))
    if len(hashes) < count:
        return None
    if value is not None:
        hashes.add(hash(remove_all(rest) if len(rest) <= MAX_REST else rest))
    return frozenset(hashes)


def same_rows(before: Held, held: Held) -> bool:
    """Whether two answers list the same, in whatever order."""
    one, other = text_of(before), text_of(held)
    if one is None or other is None or abs(len(one) - len(other)) > MAX_TAIL:
        return False
    rows = rows_of(one)
    return rows is not None and rows == rows_of(other)


_RANKS: Final = frozenset("score scores rank ranking relevance similarity distance confidence certainty".split())
"""Words in the names of members that tell how well something fits the question, and not what it is."""

MAX_LINES: Final = 100
"""Lines of two answers that are compared in whatever order."""

MAX_LISTED: Final = 4096
"""Longest such answer in characters or bytes."""


BEGINNING: Final = 4
"""Characters with which an answer in another order begins as some line of the other does."""

_NO_DIGITS: Final = {ord(digit): None for digit in "0123456789"}


def same_lines(before: Held, held: Held) -> bool:
    """Whether two short answers have the same lines but for noise, in another order."""
    if isinstance(before, tuple) or isinstance(held, tuple) or len(held) > MAX_LISTED:
        return False
    if abs(len(before) - len(held)) > MAX_LINES:
        return False  # noise has about the same length each time
    one, other = text_of(before), text_of(held)
    if one is None or other is None or not 1 < one.count("\n") + 1 <= MAX_LINES or one.count("\n") != other.count("\n"):
        return False
    # Most answers that differ do so in their first letters, or in their lines without digits; noise has its price.
    if other[:BEGINNING].rstrip("0123456789") not in one:
        return False
    without = sorted(one.translate(_NO_DIGITS).split("\n")), sorted(other.translate(_NO_DIGITS).split("\n"))
    return without[0] == without[1] and sorted(remove_all(one).split("\n")) == sorted(remove_all(other).split("\n"))


RANKED_IN: Final = 2000
"""Characters at the beginning of what a search found in which a first rank is looked for."""

_RANK: Final = regex.lazy(
    r"\b(?:score|rank|relevance|similarity|distance|confidence|certainty)\b[\"']?[^\w\n]{0,4}\d{1,3}(?:\.\d{1,12})? ?%?"
    r"|[(\[] ?[01]?\.\d{1,12} ?[)\]]"
)
"""The same in a line of a text in lower case."""

_RANKED_BY: Final = "score rank relevance similarity distance confidence certainty".split()


def _may_be_ranked(low: str) -> bool:
    """Whether a text in lower case holds the beginning of a rank: one of the words, or a bracket before a fraction."""
    for word in _RANKED_BY:
        if word in low:
            return True
    # In one spelling of twelve: looking for each of them would be most of what a search costs.
    low = low.replace("[", "(").replace("( ", "(").replace("(1", "(0")
    return "(." in low or "(0." in low


def ranked_of(text: str) -> frozenset[int] | None:
    """Hashes that stand for what a search found and ranked, without the ranks; ``None`` where nothing is ranked."""
    text = text.strip()
    value = _document(text)
    if value is None:
        if not _may_be_ranked(text[:RANKED_IN].lower()):
            return None  # what is ranked has a rank near its beginning
        plain, times = _RANK.subn("", text.lower())
        if not times:
            return None
        return frozenset(hash(line) for line in map(str.strip, plain.splitlines()) if _HEADING.match(line) is None)
    rows = _longest(value)
    if not rows or not all(isinstance(row, dict) for row in rows):
        return None
    found = []
    for row in rows:
        kept = {name: inner for name, inner in row.items() if _RANKS.isdisjoint(_words_of(name))}
        if len(kept) == len(row):
            return None
        try:
            found.append(hash(orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)))
        except (TypeError, ValueError):
            return None
    return frozenset(found)


def _words_of(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))


class _Listing(msgspec.Struct):
    """One listing: its rows with the calls that showed them, and how many pages in a row had no other ones."""

    rows: dict[int, int]
    batch: int
    again: int = 0


class Listings:
    """What one agent's listings have shown. ``first`` is the call that showed a row of the last page first.

    ``rows`` takes the rows out of an answer: :func:`rows_of` of a page, :func:`ranked_of` of what a search found.
    """

    __slots__ = ("_by_name", "_rows", "first")

    def __init__(self, rows: Callable[[str], frozenset[int] | None] = rows_of) -> None:
        self._rows = rows
        self._by_name: dict[str, _Listing] = {}
        self.first = 0

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def clear(self) -> None:
        """A person asked for something new."""
        self._by_name.clear()

    def forget(self, name: str) -> None:
        """What a listing showed may hold no more."""
        self._by_name.pop(name, None)

    def shown(self, name: str, held: Held, number: int, batch: int) -> int | None:
        """How many pages in a row, of different responses, hold no row that was not shown before.

        ``None`` where the answer of this call is no listing.
        """
        text = text_of(held)
        rows = None if text is None else self._rows(text)
        if not rows:
            return None
        listing = self._by_name.get(name)
        if listing is None or len(listing.rows) > MAX_ROWS:
            if len(self._by_name) >= MAX_LISTINGS:
                self._by_name.clear()
            self._by_name[name] = _Listing(dict.fromkeys(rows, number), batch)
            return 0
        known = listing.rows
        numbers = [known.get(row, 0) for row in rows]
        if not all(numbers):
            listing.again = 0
            for row in rows:
                known.setdefault(row, number)
        elif listing.batch != batch:
            listing.again += 1
            self.first = min(numbers)
        listing.batch = batch
        return listing.again

    def knows(self, name: str, held: Held) -> bool:
        """Whether all rows of an answer were shown before."""
        listing = self._by_name.get(name)
        text = None if listing is None else text_of(held)
        rows = None if text is None else self._rows(text)
        return bool(rows) and rows is not None and listing is not None and rows <= listing.rows.keys()
