"""Whether two texts are similar: half shared words, half edit distance.

The measure of agent-loop-guard. Equal texts have similarity 1. Else it is half the Jaccard index
of the texts' sets of words (split at white space) plus half of one minus the Levenshtein
distance over the longer length; if a text is longer than :data:`EDIT_LIMIT` characters, the
Jaccard index alone.

Guards only ask whether a threshold is reached, so the distance is worked out last and
seldom: cheap bounds decide most pairs, and all comparisons use the original's own
floating-point expression, so that a bound never decides otherwise than the distance would.
What is left is done by Myers' bit vectors in Hyyrö's form on Python's long integers: a text of
2,000 characters is one integer, a pair of them costs a few milliseconds, and it ends early
where the limit cannot be kept any more. That is fast enough to need no compiled dependency, and one
way for all installations is easier to trust than two.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from operator import attrgetter, ne
from typing import Any, Final

from loopaudit.core.bounded import Recent
from loopaudit.core.prefix import common_prefix

EDIT_LIMIT: Final = 2000
"""Characters up to which the edit distance counts."""

WORDS_LIMIT: Final = 65_536
"""Characters up to which texts are compared by words; longer ones only for equality."""


SHORT: Final = 400
"""Characters up to which all words of a text are made at once."""

_LEFT: Final = attrgetter("left")

FREQUENT: Final = " etaonirslhdcupmfgy\n/_.-0123456789"
"""Characters that are counted before the edit distance is worked out; any would do."""

ANCHOR: Final = 12
"""Characters of a piece of one text that is looked for in the other."""

HALVINGS: Final = 6
"""How often texts are divided at such a piece."""

STRIDE: Final = 60
"""Characters of a text that are gone through at once for its edit distance: their bits are small numbers."""

PAIRS_KEPT: Final = 256
"""Pairs of texts whose comparison is remembered, per generation."""


class Text:
    """A text with its set of words, of which no more is made than is needed.

    ``known`` are the words made so far, ``left`` the characters that have not been looked at.
    """

    __slots__ = ("known", "left", "size", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = self.left = len(text)
        self.known: set[str] = set()

    @property
    def words(self) -> set[str]:
        """The different words of the text."""
        if self.left:
            self.known.update(self.text[-self.left :].split())
            self.left = 0
        return self.known

    def split(self, more: int) -> None:
        """Make the words of about so many further characters, up to a space."""
        start = self.size - self.left
        end = self.text.find(" ", start + more)
        if end < 0:
            end = self.size
        self.known.update(self.text[start:end].split())
        self.left = self.size - end


class Similarity:
    """Decides whether two texts reach a threshold, and remembers the costly answers."""

    __slots__ = ("_known", "_least", "_threshold")

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        # Where only 1 - n/m of the longer length m can be common, no words help below this.
        # A little less than exact, so that rounding cannot matter.
        self._least = 2.0 * threshold - 1.0 - 1e-9
        self._known: Recent[tuple[str, str], bool] = Recent(PAIRS_KEPT)

    def __call__(self, a: Text, b: Text) -> bool:
        """Whether the similarity of two texts reaches the threshold."""
        if a.text == b.text:
            return self._threshold <= 1.0
        shorter, longer = a.size, b.size
        if shorter > longer:
            shorter, longer = longer, shorter
        if longer > EDIT_LIMIT:
            if longer > WORDS_LIMIT or not may_share(a, b, self._threshold - 1e-9):
                return False
            return jaccard(a.words, b.words) >= self._threshold
        if shorter < longer * self._least:
            return False
        if (a.left or b.left) and longer > SHORT:
            # What the words must have in common if the rest is as near as the lengths allow.
            needed = self._least + (longer - shorter) / longer
            if needed > 1.0 or not may_share(a, b, needed):
                return False
        return self._by_both(a, b, shorter, longer)

    def count(self, others: list[Text], text: Text, most: float) -> int:
        """How many of the others are similar to a text.

        Ends early, with any number up to ``most``, where there cannot be more than that.
        """
        others = self._possible(others, text)
        left = len(others)
        if left <= most:
            return 0
        alike = 0
        # The costly ones last: they may not be needed.
        if left > most + 1 and left > 1:
            others.sort(key=_LEFT)
        for other in others:
            if alike + left <= most:
                break
            left -= 1
            if self(other, text):
                alike += 1
        return alike

    def _possible(self, others: list[Text], text: Text) -> list[Text]:
        """Those that can be similar to a text by their lengths."""
        size = text.size
        least = size * self._least
        most = size / self._least if self._least > 0 else inf
        if size > EDIT_LIMIT:
            if size > WORDS_LIMIT:
                return [other for other in others if other.size == size]
            return [other for other in others if other.size <= WORDS_LIMIT]
        return [
            other
            for other in others
            if (least <= other.size <= most if other.size <= EDIT_LIMIT else other.size <= WORDS_LIMIT)
        ]

    def _by_both(self, a: Text, b: Text, shorter: int, longer: int) -> bool:
        threshold = self._threshold
        shared = jaccard(a.words, b.words)
        if not shorter:
            return _mean(shared, longer, longer) >= threshold
        if _mean(shared, longer - shorter, longer) < threshold:
            return False
        # Without insertions inside, the distance is at most the number of places that differ.
        if _mean(shared, places_that_differ(a.text, b.text) + longer - shorter, longer) >= threshold:
            return True
        pair = (a.text, b.text)
        known = self._known.get(pair)
        if known is None:
            one, other = without_ends(a.text, b.text)
            if _mean(shared, may_differ(one, other), longer) >= threshold:
                known = True
            else:
                limit = int(longer * (1.0 + shared - 2.0 * threshold)) + 1
                distance = None if must_differ(one, other) > limit else levenshtein(one, other, limit)
                known = distance is not None and _mean(shared, distance, longer) >= threshold
            self._known.put(pair, known)
        return known


def may_share(a: Text, b: Text, needed: float) -> bool:
    """Whether the Jaccard index of two texts' words may reach a number; false is certain.

    The words of one text bound what the other can have in common with it: as soon as too many others
    have been seen, the rest of a large text need not be split.
    """
    if needed <= 1e-6:
        return True
    if b.left < a.left or (not a.left and b.size < a.size and not b.left):
        a, b = b, a
    words = a.words
    size = len(words)
    most = size / needed
    others = b.known
    # Of what has not been divided, every other character may be a word.
    if len(others) > most or len(others) + (b.left + 1) // 2 < size * needed:
        return False
    step = 2 * size + 16
    while size + len(others - words) <= most:
        if not b.left:
            return len(others) >= size * needed
        b.split(step)
        step *= 2
    return False


def jaccard(a: set[str], b: set[str]) -> float:
    """Common elements over all elements; 1 for two empty sets."""
    common = len(a & b)
    every = len(a) + len(b) - common
    return common / every if every else 1.0


def _mean(shared: float, distance: int, longer: int) -> float:
    """The similarity by its two halves, in the original's expression."""
    return 0.5 * shared + 0.5 * (1.0 - distance / longer)


def places_that_differ(a: str, b: str) -> int:
    """At how many of the places that both texts have they differ."""
    size = min(len(a), len(b))
    try:
        ours, theirs = a[:size].encode("latin-1"), b[:size].encode("latin-1")
    except UnicodeEncodeError:
        return sum(map(ne, a, b))
    # One long number each: where they are equal, a byte of the difference is 0.
    differing = int.from_bytes(ours, "little") ^ int.from_bytes(theirs, "little")
    return size - differing.to_bytes(size, "little").count(0)


def without_ends(a: str, b: str) -> tuple[str, str]:
    """Two texts without their common beginning and their common end; their edit distance stays the same."""
    start = common_prefix(a, b)
    a, b = a[start:], b[start:]
    behind = common_prefix(a[::-1], b[::-1])
    return a[: len(a) - behind], b[: len(b) - behind]


def must_differ(a: str, b: str) -> int:
    """A number that the edit distance of two texts is not below, found a hundred times faster.

    A replacement or a removal takes at most one character away of those that one text has more often than the other.
    """
    more = less = 0
    for char in FREQUENT:
        by = a.count(char) - b.count(char)
        if by > 0:
            more += by
        else:
            less -= by
    return max(more, less)


def may_differ(a: str, b: str, halvings: int = HALVINGS) -> int:
    """A number that the edit distance of two texts is not above, which settles most that are similar.

    All that lies between their common ends can be replaced. If a piece of one stands in the other, it can stay, and
    what is before it and behind it is changed by itself.
    """
    a, b = without_ends(a, b)
    most = max(len(a), len(b))
    if not halvings or min(len(a), len(b)) < 2 * ANCHOR:
        return most
    more = len(b) - len(a)
    for quarter in (2, 1, 3):
        start = (len(a) - ANCHOR) * quarter // 4
        piece = a[start : start + ANCHOR]
        # A piece may stand in several places. The one about as far from an end as here leaves least to change.
        place = b.find(piece, max(start + min(more, 0) - ANCHOR, 0), start + max(more, 0) + 2 * ANCHOR)
        if place < 0:
            place = b.find(piece)
        if place >= 0:
            before = may_differ(a[:start], b[:place], halvings - 1)
            behind = may_differ(a[start + ANCHOR :], b[place + ANCHOR :], halvings - 1)
            return min(most, before + behind)
    return most


def levenshtein(a: str, b: str, limit: int) -> int | None:
    """The edit distance of two texts, or ``None`` where it is over ``limit``."""
    a, b = without_ends(a, b)
    if len(a) < len(b):
        a, b = b, a  # a step for each character of the shorter one, on numbers as long as the other
    if len(a) - len(b) > limit:
        return None
    if not b:
        return len(a)
    places: dict[str, int] = {}
    for start in range(0, len(a), STRIDE):
        near: dict[str, int] = {}
        bit = 1
        for char in a[start : start + STRIDE]:
            near[char] = near.get(char, 0) | bit
            bit <<= 1
        for char, bits in near.items():
            places[char] = places.get(char, 0) | bits << start
    mask = (1 << len(a)) - 1
    plus, minus = mask, 0  # where a column of the distance table rises and falls
    for start in range(0, len(b), STRIDE):
        piece = b[start : start + STRIDE]
        for char in piece:
            match = places.get(char, 0)
            # Carries beyond the mask are cut off with the new column: to do so here as well would cost as much again.
            diagonal = (((match & plus) + plus) ^ plus) | match | minus
            rise = (minus | mask ^ (diagonal | plus)) << 1 | 1
            plus = ((diagonal & plus) << 1 | mask ^ (diagonal | rise)) & mask
            minus = rise & diagonal & mask
        done = start + len(piece)
        distance = done + plus.bit_count() - minus.bit_count()
        if distance - (len(b) - done) > limit:
            return None
    return distance


def keyed_text(arguments: Any) -> str:
    """Arguments as one text: ``key=value`` by key, with Python's spelling of the values."""
    if isinstance(arguments, str):
        return arguments
    if arguments is None:
        return ""
    if isinstance(arguments, Mapping):
        return " ".join([f"{key}={arguments[key]}" for key in sorted(arguments)])
    return str(arguments)
