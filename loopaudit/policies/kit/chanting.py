"""Finds text that repeats itself, as gemini-cli and qwen-code do; both have the same ancestor.

Text comes in chunks and is worked on in UTF-16 code units. A chunk with Markdown structure starts
the history anew, code is passed over. Each position of the history with a whole piece of 50 units
behind it is noted under that piece, and the noted positions of a piece show whether the text
chants; how, is the dialect's own rule (:meth:`Chanting.chants`).

Noting every position is slow, and nearly no text repeats. So positions are noted only from when
that can matter: a piece of 50 units holds one whole block of 25 units that starts at a multiple
of 25, and where a piece comes again, so does that block. While no such block comes again often
enough (:meth:`Chanting.suspicious`), no piece can. The outcome is the same as with every
position noted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Final

from loopaudit.core import regex
from loopaudit.policies.kit.utf16 import SPACE, units

PIECE: Final = 50
"""Units of text that are looked for."""

BLOCK: Final = PIECE // 2
"""Units of the aligned blocks that stand for the pieces over them."""

FENCE: Final = "```"

_AFTER_BREAK: Final = regex.lazy(f"(?:\\A|\n)[{SPACE}]*+")
_TABLE: Final = regex.lazy("\\|[^\n\r\u2028\u2029]*\\||[|+-]{3}")
_NUMBERED: Final = regex.lazy(f"[0-9]++\\.[{SPACE}]")
_HEADING_OR_QUOTE: Final = regex.lazy(f"(?:\\A|\n)(?:#++|>)[{SPACE}]")


class Markdown:
    """What a dialect takes for structure. ``bullets`` and ``rules`` are insides of character classes."""

    __slots__ = ("_bullet", "_rule")

    def __init__(self, bullets: str, rules: str) -> None:
        self._bullet = regex.lazy(f"[{bullets}][{SPACE}]")
        self._rule = regex.lazy(f"[{rules}]+")

    def is_rule(self, chunk: str) -> bool:
        """Whether a chunk is a horizontal rule and nothing else."""
        return self._rule.fullmatch(chunk) is not None

    def is_structured(self, chunk: str) -> bool:
        """Whether a table row, a list item, a heading or a quote stands anywhere in a chunk."""
        for found in _AFTER_BREAK.finditer(chunk):
            start = found.end()
            if _TABLE.match(chunk, start) or self._bullet.match(chunk, start) or _NUMBERED.match(chunk, start):
                return True
        return _HEADING_OR_QUOTE.search(chunk) is not None


_GEMINI: Final = Markdown("*-+", "+-_=*\u2500-\u257f")
_QWEN: Final = Markdown("-*+", "-+_=*\u2500-\u257f")


class Chanting(ABC):
    """The history of a stream of text, and whether it chants.

    ``most`` is the length over which the history is cut, ``kept`` what is left of it then, ``reach`` how
    far back equal pieces are looked for at most. Text chants no earlier than some piece has come
    again within ``near`` positions. Positions are counted from the last clearing.
    """

    def __init__(self, markdown: Markdown, most: int, kept: int, reach: int, near: int) -> None:
        self._markdown = markdown
        self._reach = reach
        self._near = near
        self._most = most
        self._kept = kept
        self._in_code = False
        self.history = ""
        self.start = 0
        """The position of the history's first unit."""
        self._next = 0
        """The position that is judged next."""
        self._block = 0
        """The position of the next aligned block."""
        self._came_again = False
        """Whether an aligned block has come again nearby."""
        self._noting = False
        self._notes: dict[str, list[int]] = {}

    @abstractmethod
    def suspicious(self, block: int) -> bool:
        """Whether the aligned block at this position came so often before that a piece over it may chant."""

    @abstractmethod
    def chants(self, positions: list[int]) -> bool:
        """Whether the text chants, by the positions of one piece, the newest last. May shorten the list."""

    @property
    def end(self) -> int:
        """The position behind the history's last unit."""
        return self.start + len(self.history)

    def between(self, start: int, end: int) -> str:
        """The text from one position to another, both inside the history."""
        return self.history[start - self.start : end - self.start]

    def clear(self) -> None:
        """Forget the history and all positions, but not whether the text is inside code."""
        if self.history:
            self.history = ""
            self.start = self._next = self._block = 0
            self._came_again = self._noting = False
            self._notes = {}

    def feed(self, chunk: str) -> bool:
        """Take the next chunk; whether it makes the text chant.

        After it did, the position that showed it is looked at again with the next chunk.
        """
        fences = chunk.count(FENCE)
        markdown = self._markdown
        is_rule = markdown.is_rule(chunk)
        if self.history and (fences or is_rule or markdown.is_structured(chunk)):
            self.clear()
        was_in_code = self._in_code
        if fences % 2:
            self._in_code = not was_in_code
        if was_in_code or self._in_code or is_rule:
            return False
        self.history += units(chunk)
        over = len(self.history) - self._most
        if over > 0:
            self.history = self.history[-self._kept :]
            self.start += over + self._most - self._kept
            self._next = max(self._next, self.start)
        if not self._noting and self._may_chant():
            self._noting = True
            self._catch_up()
        if self._noting:
            return self._judge()
        self._next = max(self._next, self.end - PIECE + 1)
        return False

    def _may_chant(self) -> bool:
        """Whether some new aligned block is suspicious."""
        history = self.history
        find = history.find
        # Before the first that came again nearby, no block needs a look farther back.
        reach = self._reach if self._came_again else self._near
        start = self.start
        first = max(self._block, -(-start // BLOCK) * BLOCK)
        for place in range(first - start, len(history) - BLOCK + 1, BLOCK):
            oldest = place - reach if place > reach else 0
            if find(history[place : place + BLOCK], oldest, place + BLOCK - 1) < 0:
                continue
            self._came_again = True
            reach = self._reach
            if self.suspicious(start + place):
                return True
        self._block = max(first, (self.end - BLOCK) // BLOCK * BLOCK + BLOCK)
        return False

    def came_before(self, block: int, within: int, times: int) -> bool:
        """Whether an aligned block also starts at so many of the ``within`` positions before it."""
        history = self.history
        place = block - self.start
        sought = history[place : place + BLOCK]
        found = place - within - 1 if place > within else -1
        for _ in range(times):
            found = history.find(sought, found + 1, place + BLOCK - 1)
            if found < 0:
                return False
        return True

    def _catch_up(self) -> None:
        """Note the positions that were passed over before."""
        history = self.history
        start = self.start
        for position in range(start, self._next):
            place = position - start
            self._notes.setdefault(history[place : place + PIECE], []).append(position)

    def _judge(self) -> bool:
        """Note all positions that have a whole piece by now; whether one of them shows chanting."""
        notes = self._notes
        history = self.history
        start = self.start
        if len(notes) > 4 * self._most:
            self._notes = notes = {piece: places for piece, places in notes.items() if places[-1] >= start}
        for position in range(self._next, self.end - PIECE + 1):
            place = position - start
            piece = history[place : place + PIECE]
            positions = notes.get(piece)
            if positions is None:
                notes[piece] = [position]
                continue
            positions.append(position)
            if self.chants(positions):
                self._next = position
                return True
        self._next = max(self._next, self.end - PIECE + 1)
        return False


class GeminiChanting(Chanting):
    """Chanting by gemini-cli's rule: ten close positions with few different stretches between them.

    Two slips of the original are kept: in two of its character classes a hyphen makes a range. So an item
    that starts with a hyphen is no list item, and digits, capitals and most punctuation make a rule.
    """

    POSITIONS: Final = 10
    AVERAGE: Final = 5 * PIECE
    STRETCHES: Final = POSITIONS // 2

    def __init__(self) -> None:
        reach = self.AVERAGE * (self.POSITIONS - 1)
        # Ten positions within that reach cannot all be farther apart than the average.
        super().__init__(_GEMINI, most=5000, kept=5000, reach=reach, near=self.AVERAGE)

    def suspicious(self, block: int) -> bool:
        """Whether an aligned block came nine times before, no farther away than ten positions may be."""
        others = self.POSITIONS - 1
        return self.came_before(block, others * self.AVERAGE, others)

    def chants(self, positions: list[int]) -> bool:
        """Whether the last ten positions are close and the text between them varies little."""
        del positions[: -self.POSITIONS]
        if len(positions) < self.POSITIONS or positions[0] < self.start:
            return False
        if positions[-1] - positions[0] > self.AVERAGE * (self.POSITIONS - 1):
            return False
        stretches = {self.between(a, b) for a, b in pairwise(positions)}
        return len(stretches) <= self.STRETCHES


class QwenChanting(Chanting):
    """Chanting by qwen-code's rules: ten clustered positions, or a long exactly periodic text."""

    CLUSTER: Final = 10
    AVERAGE: Final = PIECE * 3 // 2
    WINDOW: Final = 4000
    SOME_LAPS: Final = 5
    SOME_TEXT: Final = 1000
    FEW_LAPS: Final = 3

    def __init__(self) -> None:
        window = self.WINDOW
        super().__init__(_QWEN, most=5000, kept=window, reach=window, near=window)

    def suspicious(self, block: int) -> bool:
        """Whether an aligned block came as often before as one of the rules asks for at least."""
        size = len(self.history)
        if self.came_before(block, (self.CLUSTER - 1) * self.AVERAGE, self.CLUSTER - 1):
            return True
        if size >= self.SOME_TEXT and self.came_before(block, self.WINDOW, self.SOME_LAPS - 1):
            return True
        return size >= self.WINDOW and self.came_before(block, self.WINDOW, self.FEW_LAPS - 1)

    def chants(self, positions: list[int]) -> bool:
        """Whether the positions in the window are clustered or periodic."""
        window = max(self.start, self.end - self.WINDOW)
        while positions[0] < window and len(positions) > 1:
            del positions[0]
        return self._is_cluster(positions) or self._is_periodic(positions, window)

    def _is_cluster(self, positions: list[int]) -> bool:
        if len(positions) < self.CLUSTER:
            return False
        return positions[-1] - positions[-self.CLUSTER] <= self.AVERAGE * (self.CLUSTER - 1)

    def _is_periodic(self, positions: list[int], window: int) -> bool:
        """Whether the text up to the end of the newest piece repeats with the newest distance.

        Five equally spaced positions vouch for the text from the first of them; three, where the
        history is full, only for the whole window.
        """
        if len(positions) < self.FEW_LAPS:
            return False
        distance = positions[-1] - positions[-2]
        first = len(positions) - 2
        while first and positions[first] - positions[first - 1] == distance:
            first -= 1
        run = len(positions) - first
        if run >= self.SOME_LAPS:
            return self._repeats(positions[first], positions[-1] + PIECE, distance)
        if run >= self.FEW_LAPS and len(self.history) >= self.WINDOW:
            return self._repeats(window, positions[-1] + PIECE, distance)
        return False

    def _repeats(self, start: int, end: int, distance: int) -> bool:
        """Whether a stretch of text is long enough and equals itself a distance later."""
        if end - start < self.SOME_TEXT:
            return False
        return self.between(start + distance, end) == self.between(start, end - distance)
