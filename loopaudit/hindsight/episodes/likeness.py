"""Whether two texts that a model wrote say the same, though not letter by letter."""

from __future__ import annotations

from typing import Final

from loopaudit.core import regex

MAX_TEXT: Final = 2048
"""Characters of a text whose words are compared; of longer ones the length must agree as well."""

LEAST_WORDS: Final = 8
"""Shorter texts are alike only if they hold the same words in the same order."""

SAME_WORDS: Final = 0.8
"""Share of the words of two texts that both hold, from which on they are alike."""

SAME_LENGTH: Final = 0.75
"""Share of the longer one's characters that the shorter of two texts that are alike has, but for
:data:`SLACK`: spares looking for the words of most."""

SLACK: Final = 40

_WORD: Final = regex.lazy(r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A word, or a single character of a script that is written without spaces."""

_SPACED: Final = regex.lazy(r"\w+")

_NOT_ASCII: Final = regex.lazy(r"[^\x00-\x7f]")


def _is_letter(character: str) -> bool:
    """Whether a character that is no ASCII one is part of a word."""
    return character.isalnum() or _is_unspaced(character)


def _is_unspaced(character: str) -> bool:
    """Whether a character is of a script that is written without spaces."""
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af"


def _spaced(text: str, letters: set[str]) -> str:
    """A text with blanks around some letters."""
    return text.translate({ord(letter): f" {letter} " for letter in letters}) if letters else text


_BLANKS: Final = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(128)).ljust(256)
"""Puts a blank in the place of every ASCII character that is part of no word."""


class Text:
    """A text, whose words are looked for when they are first needed: of most texts they never are."""

    __slots__ = ("_different", "_words", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._words: tuple[str, ...] | None = None
        self._different: frozenset[str] | None = None

    @property
    def empty(self) -> bool:
        """Whether it holds no word."""
        return not any(map(str.isalnum, self.text))

    @property
    def in_order(self) -> tuple[str, ...]:
        """Its words in lower case, as far as they are compared."""
        words = self._words
        if words is None:
            low = self.text[:MAX_TEXT].lower()
            # Of ASCII the same words are found by splitting, in a fraction of the time; and most of what else
            # English texts hold are dashes, quotes and pictures, which are part of no word.
            others = () if low.isascii() else set(_NOT_ASCII.findall(low))
            if not any(map(_is_letter, others)):
                found = low.encode("ascii", "replace").translate(_BLANKS).decode().split()
            else:
                # With blanks around the letters of such scripts; the classes of the other take milliseconds to compile.
                unspaced = set(filter(_is_unspaced, others))
                plain = all(map(str.isalnum, unspaced))
                found = _SPACED.findall(_spaced(low, unspaced)) if plain else _WORD.findall(low)
            self._words = words = tuple(found)
        return words

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers among its words."""
        return tuple(word for word in self.in_order if word[0].isdecimal())

    @property
    def words(self) -> frozenset[str]:
        """Its different words."""
        words = self._different
        if words is None:
            self._different = words = frozenset(self.in_order)
        return words


def same_words(one: Text, other: Text) -> bool:
    """Whether two texts hold the same words in the same order."""
    if one.text == other.text:
        return True
    if max(len(one.text), len(other.text)) > MAX_TEXT and len(one.text) != len(other.text):
        return False
    return one.in_order == other.in_order


def alike(one: Text, other: Text) -> bool:
    """Whether two texts say the same: the same words, or nearly the same with the same numbers.

    Numbers count, because ``batch 3 of 12 is done`` and ``batch 4 of 12 is done`` say different things.
    """
    if one.text == other.text:
        return True
    shorter, longer = len(one.text), len(other.text)
    if shorter > longer:
        shorter, longer = longer, shorter
    if shorter + SLACK < SAME_LENGTH * longer:
        return False
    if same_words(one, other):
        return True
    if longer > MAX_TEXT and 10 * shorter < 9 * longer:
        return False
    ours, theirs = one.words, other.words
    if min(len(ours), len(theirs)) < LEAST_WORDS:
        return False
    both = len(ours & theirs)
    if both < SAME_WORDS * (len(ours) + len(theirs) - both):
        return False
    return one.numbers == other.numbers


def holds(whole: Text, part: Text) -> bool:
    """Whether nearly all words of a text stand in another one, as where a heading was put before it."""
    words = part.words
    return len(words) >= LEAST_WORDS and len(whole.words & words) >= 0.9 * len(words)
