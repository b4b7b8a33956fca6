"""What one agent's waiting commands look at, whatever their spelling, and what of it was seen to have ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from loopaudit.core import regex
from loopaudit.hindsight.calls.effects import effect_of_command
from loopaudit.hindsight.calls.outputs import Held, differences, tail_of
from loopaudit.hindsight.calls.wordings import shows_exit
from loopaudit.hindsight.shell.programs import EFFECT_LOOKS

MAX_ANSWER: Final = 300
"""Longest answer in characters or bytes of a wait that is compared with one in another spelling."""

MAX_COMMAND: Final = 1000
"""Longest command in characters that is looked at."""

MAX_ENDED: Final = 256
"""Marks of what has ended that are remembered."""

_TAIL: Final = 100
"""Characters or bytes at the end of an answer that may hold an exit code."""

RARE: Final = 4
"""Answers for each that ends with an exit code, so that it tells the end of a log."""

_PLACE: Final = regex.lazy(r"[\w.:/@~+-]*[/.][\w.:/@~+-]*|\b\d{6,20}\b")
_COMMON: Final = frozenset(
    """
    log logs out output result results status done tmp temp test tests data main index app err error stdout stderr
    null dev home localhost com org json txt
    """.split()
)
"""Names that many things have."""


def names_wait(command: str) -> bool:
    """Whether one of the words stands in a command without which none waits."""
    return "sleep" in command or "wait" in command or "until" in command or "watch" in command or "tail -" in command


def marks_of(command: str) -> frozenset[str]:
    """The names of what a command looks at: of files and addresses without folder and suffix, and long numbers."""
    found = set()
    for word in _PLACE.findall(command[:MAX_COMMAND]):
        name = word.rstrip("/").rpartition("/")[2].partition(".")[0] or word
        if len(name) >= 3 and name.lower() not in _COMMON:
            found.add(name)
    return frozenset(found)


class _Look(msgspec.Struct, frozen=True, gc=False):
    command: str
    held: Held
    failed: bool
    number: int
    batch: int
    again: int


class Waits:
    """The last command and the last wait of one agent.

    ``first`` is the call that had the answer of the last wait first. What a command does is found out only
    when a wait comes behind it.
    """

    __slots__ = ("_answers", "_ended", "_exits", "_look", "_wait", "first")

    def __init__(self) -> None:
        self._ended: dict[str, int] = {}
        """The calls that have shown the end of something, by its mark."""
        self._answers = self._exits = 0
        """Answers of commands so far, and those of which an exit code is the last line."""
        self._look: _Look | None = None
        self._wait: _Look | None = None
        self.first = 0

    def clear(self) -> None:
        """A person asked for something new."""
        self._ended.clear()
        self._look = self._wait = None

    def looked(self, command: str, held: Held, number: int, batch: int, *, failed: bool) -> None:
        """A command may have looked at something, with or without a pause."""
        if isinstance(held, tuple):
            return
        self._answers += 1
        if _may_show_exit(held) and shows_exit(tail_of(held)):
            self._exits += 1
            # Some harnesses put an exit code behind the output of every command, or of each that fails; that tells
            # of no log that it ends.
            if not failed and RARE * self._exits <= self._answers and _looks(command):
                self.ended(marks_of(command), number)
        if len(held) <= MAX_ANSWER:
            self._look = _Look(command, held, failed, number, batch, 0)

    def ended(self, marks: Iterable[str], number: int) -> None:
        """A call has shown that something is over."""
        if len(self._ended) >= MAX_ENDED:
            self._ended.clear()
        self._ended.update(dict.fromkeys(marks, number))

    def end_of(self, command: str) -> int:
        """The call that has shown the end of what a command looks at; 0 for none."""
        if not self._ended:
            return 0
        return max((self._ended.get(mark, 0) for mark in marks_of(command)), default=0)

    def again(self, command: str, held: Held, number: int, batch: int, *, failed: bool) -> int:
        """How many waits in a row, of different responses, had the answer of this one about the same thing.

        However they are spelled; a look right before the first of them counts as one without a pause.
        """
        if isinstance(held, tuple) or len(held) > MAX_ANSWER:
            self._wait = None
            return 0
        now = _Look(command, held, failed, number, batch, 0)
        for before in (self._wait, self._look):
            if before is None or before.number == number or not _same(before, now):
                continue
            again = before.again + (before.batch != batch)
            self.first = before.number
            self._wait = _Look(command, held, failed, before.number, batch, again)
            return again
        self._wait = now
        return 0


def _may_show_exit(held: str | bytes) -> bool:
    """Whether an exit code may be the last line of an answer; spares decoding most."""
    if isinstance(held, bytes):
        if held.find(b"xit", -_TAIL) < 0 and held.find(b"XIT", -_TAIL) < 0:
            return False
        tail = held[-_TAIL:].lower()
        at = tail.rfind(b"xit") + 3
        return tail[at : at + 1] not in (b"_", b"(")  # a member of a document, or a call in a program
    return held.find("xit", -_TAIL) >= 0 or held.find("XIT", -_TAIL) >= 0


def _same(before: _Look, now: _Look) -> bool:
    """Whether two looks at the same thing have the same answer."""
    if before.failed != now.failed or differences(before.held, now.held) is None or not _looks(before.command):
        return False
    return before.command == now.command or not marks_of(before.command).isdisjoint(marks_of(now.command))


def _looks(command: str) -> bool:
    return effect_of_command(command).effect is EFFECT_LOOKS
