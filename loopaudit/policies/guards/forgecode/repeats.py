"""Repetition at the end of a long sequence, for blocks of any length.

The sequence ends in a repetition of period L if its newest ``stretch`` keys equal the keys L before
them. Looking at every L after every key would cost the square of the length. Here only periods
are looked at whose stretch is longer than L itself, which is what three repetitions, the last one
perhaps begun only, take. The newest L + 1 keys then all occurred before, so that most keys end
the search at once; and for the periods between two powers of two it is a search for the newest keys
in a piece of text, with one character for each distinct key.
"""

from __future__ import annotations

from typing import Final

KEPT: Final = 1 << 13
"""Keys that are kept at least; twice as many are kept at most."""

_SHORT: Final = 256
"""Pieces up to this length are put together anew; longer ones are cut from a kept text."""

_RARE: Final = 4
"""From this period on a search of everything kept is worth it, as it may end the search."""


class Repetitions:
    """The keys of a conversation, and the period of the repetition at their end.

    ``total`` counts all keys ever pushed. Periods up to a third of :data:`KEPT` are found.
    """

    __slots__ = ("_chars", "_known", "_seen_before", "_stretches", "_text", "kept", "total")

    def __init__(self, kept: int = KEPT) -> None:
        self.kept = kept
        self.total = 0
        self._chars: list[str] = []
        self._text = ""
        """What of ``_chars`` was put together, from its start."""
        self._known: dict[bytes, tuple[str, int]] = {}
        """By key its character, and the number of the newest key that was it."""
        self._seen_before = 0
        """How many keys at the end occurred earlier, without a gap."""
        self._stretches: dict[int, int] = {}
        """Periods found before whose repetition has not ended, with their stretches."""

    def push(self, key: bytes) -> None:
        """Take the next key."""
        if len(self._chars) >= 2 * self.kept:
            self._compact()
        chars = self._chars
        known = self._known.get(key)
        self.total += 1
        if known is None:
            char = chr(len(self._known))
            self._seen_before = 0
        else:
            char = known[0]
            self._seen_before += 1
        self._known[key] = (char, self.total)
        if self._stretches:
            self._stretches = {
                period: stretch + 1 for period, stretch in self._stretches.items() if chars[-period] == char
            }
        chars.append(char)

    def _compact(self) -> None:
        """Forget all but the newest keys, and give them new characters."""
        oldest = self.total - self.kept
        renamed: dict[str, str] = {}
        known: dict[bytes, tuple[str, int]] = {}
        for key, (char, newest) in self._known.items():
            if newest > oldest:
                renamed[char] = chr(len(known))
                known[key] = (renamed[char], newest)
        self._known = known
        self._chars = [renamed[char] for char in self._chars[-self.kept :]]
        self._text = ""

    def least(self) -> tuple[int, int] | None:
        """The least period that is repeated three times, with its stretch; ``None`` for none.

        What remains when the total is divided by the period is a last repetition that has only
        begun: it counts as one where it equals the start of the block before it, and otherwise
        the period does not count.
        """
        longest = min(self._seen_before - 1, (len(self._chars) - 1) // 2)
        shortest = 1
        while shortest <= longest:
            found = self._least_of(shortest, min(2 * shortest - 1, longest))
            if found:
                stretch = self._stretches.get(found)
                if stretch is None:
                    stretch = self._stretches[found] = self._measure(found)
                return found, stretch
            if shortest >= _RARE and not self._occurred(shortest + 1):
                return None  # nor does anything longer
            shortest *= 2
        return None

    def _occurred(self, length: int) -> bool:
        """Whether the newest so many keys stand somewhere before, in this order."""
        text = self._tail(len(self._chars))
        return text.rfind(text[-length:], 0, len(text) - 1) >= 0

    def _least_of(self, shortest: int, longest: int) -> int:
        """The least period in a range that is repeated three times, or 0."""
        text = self._tail(3 * longest)
        size = len(text)
        newest = text[-1 - shortest :]
        end = size - shortest
        while (start := text.rfind(newest, 0, end)) >= 0:
            end = start + len(newest)
            period = size - end
            begun = self.total % period
            needed = period + (begun or period)
            if needed + period <= size and text.endswith(text[size - needed - period : end], 0, size):
                return period
            end -= 1
        return 0

    def _tail(self, length: int) -> str:
        if length <= _SHORT:
            return "".join(self._chars[-length:])
        if len(self._text) < len(self._chars):
            self._text += "".join(self._chars[len(self._text) :])
        return self._text if length >= len(self._text) else self._text[-length:]

    def _measure(self, period: int) -> int:
        """How many newest keys equal the one a period before them."""
        text = self._tail(len(self._chars))
        end = len(text)
        stretch = 0
        step = period
        while step:
            upper = end - stretch
            if (
                upper - step - period >= 0
                and text[upper - step : upper] == text[upper - step - period : upper - period]
            ):
                stretch += step
                step *= 2
            else:
                step //= 2
        return stretch


def repeated(total: int, period: int, stretch: int) -> int:
    """How often a block stands at the end of ``total`` keys, a repetition begun counted as one."""
    begun = total % period
    return (2 if begun else 1) + (stretch - begun) // period
