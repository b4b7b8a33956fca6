"""What is kept of every call until the end: a class, a few flags, the call it rests on.

About eight bytes a call, so that a recording of a million calls fits.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Final

from loopaudit.core.report import CallRecord
from loopaudit.hindsight.words import CLASSES, CallClass

FAILED: Final = 1
PROGRESS: Final = 2
"""The call brought news without failing."""

WAITED: Final = 4
"""The call brought no news, but it waited for some."""

FAILED_ANEW: Final = 8
"""The call failed, and what it failed with was worth knowing: a check that found something new."""

FAILURE_UNKNOWN: Final = 16
"""Nothing in the whole recording shows failures: no flag, no exit code, and no result that reads like one."""

MAX_NOTED: Final = 10_000


_WORDS: Final = [(int(found), found.word) for found in CLASSES]
"""Each class with its word, looked up once: properties of an enumeration take longer than to count."""


_CLASSES: Final = {int(found): found for found in CallClass}
"""The classes by their numbers, for the same reason."""

_UNKNOWN: Final = bytes(flags | FAILURE_UNKNOWN for flags in range(256))
"""Translates flags to those of a call of which nothing shows whether it failed."""


class Lane:
    """The calls of one agent: their numbers in order, and where its turns begin."""

    __slots__ = ("_news", "numbers", "turns")

    def __init__(self) -> None:
        self.numbers = array("I")
        self.turns = array("I")
        """For each turn after the first, how many calls of the agent stood before it."""
        self._news: array[int] | None = None

    def after(self, number: int) -> tuple[int, int]:
        """The places of the agent's calls behind ``number`` in its turn: first and one past the last."""
        first = bisect_right(self.numbers, number)
        turn = bisect_left(self.turns, first)
        last = self.turns[turn] if turn < len(self.turns) else len(self.numbers)
        return first, last

    def news_between(self, first: int, last: int, flags: bytearray) -> int:
        """How many of the calls at these places made progress."""
        if self._news is None:
            self._news = array("I", accumulate((bool(flags[n - 1] & PROGRESS) for n in self.numbers), initial=0))
        return self._news[last] - self._news[first]


class Record:
    """Classes, flags and evidence of all calls of one conversation, by call number."""

    __slots__ = ("_evidence", "classes", "flags", "lanes", "noise")

    def __init__(self) -> None:
        self.classes = bytearray()
        self.flags = bytearray()
        self._evidence = array("I")
        self.noise: dict[int, tuple[str, ...]] = {}
        self.lanes: dict[str, Lane] = {}

    @classmethod
    def unpack(cls, data: CallRecord) -> Record:
        """The record that :meth:`pack` made the data from."""
        made = cls()
        made.classes = bytearray(data.classes)
        made.flags = bytearray(data.flags)
        made._evidence.frombytes(data.evidence)
        made.noise = dict(data.noise)
        for agent, (numbers, turns) in data.lanes.items():
            lane = made.lane(agent)
            lane.numbers.frombytes(numbers)
            lane.turns.frombytes(turns)
        return made

    def pack(self, fixes: dict[int, int]) -> CallRecord:
        """The record as plain data, with the calls that ended an episode."""
        return CallRecord(
            classes=bytes(self.classes),
            flags=bytes(self.flags),
            evidence=self._evidence.tobytes(),
            noise=dict(self.noise),
            lanes={name: (lane.numbers.tobytes(), lane.turns.tobytes()) for name, lane in self.lanes.items()},
            fixes=fixes,
        )

    def lane(self, agent: str) -> Lane:
        """The calls of one agent."""
        lane = self.lanes.get(agent)
        if lane is None:
            lane = self.lanes[agent] = Lane()
        return lane

    def add(self, number: int, found: CallClass, flags: int) -> None:
        """Record a call; numbers of several agents may come in any order."""
        classes = self.classes
        missing = number - len(classes)
        if missing == 1:
            classes.append(found)
            self.flags.append(flags)
            return
        if missing > 0:
            classes.extend(bytes(missing))
            self.flags.extend(bytes(missing))
        classes[number - 1] = found
        self.flags[number - 1] = flags

    def explain(self, number: int, evidence: int, noise: tuple[str, ...]) -> None:
        """Record what the class of a call rests on."""
        missing = number - len(self._evidence)
        if missing > 0:
            self._evidence.extend([0] * missing)
        self._evidence[number - 1] = evidence
        if noise and len(self.noise) < MAX_NOTED:
            self.noise[number] = noise

    def wait(self, numbers: list[int]) -> None:
        """Record that calls without news were a wait or a retry."""
        for number in numbers:
            if number <= len(self.flags):
                self.flags[number - 1] |= WAITED

    def waited(self, number: int) -> bool:
        """Whether a call without news was part of a wait or a retry."""
        return 0 < number <= len(self.flags) and bool(self.flags[number - 1] & WAITED)

    def class_of(self, number: int) -> CallClass:
        """The class of a call; unknown for a number that does not exist."""
        return _CLASSES[self.classes[number - 1]] if 0 < number <= len(self.classes) else CallClass.UNKNOWN

    def failed(self, number: int) -> bool:
        """Whether a call failed."""
        return 0 < number <= len(self.flags) and bool(self.flags[number - 1] & FAILED)

    def mark_failures_unknown(self) -> None:
        """Record of all calls that nothing shows whether they failed."""
        self.flags = self.flags.translate(_UNKNOWN)

    def failure_unknown(self, number: int) -> bool:
        """Whether nothing in the recording shows whether a call failed."""
        return 0 < number <= len(self.flags) and bool(self.flags[number - 1] & FAILURE_UNKNOWN)

    def failed_anew(self, number: int) -> bool:
        """Whether a failing check found something new."""
        return 0 < number <= len(self.flags) and bool(self.flags[number - 1] & FAILED_ANEW)

    def brought(self, number: int) -> bool | None:
        """Whether a call succeeded and brought something; ``None`` where the recording does not show it."""
        if self.class_of(number) == CallClass.UNKNOWN:
            return None
        return bool(self.flags[number - 1] & PROGRESS)

    def evidence_of(self, number: int) -> tuple[int, ...]:
        """The earlier call that the class of a call rests on, if there is one."""
        earlier = self._evidence[number - 1] if 0 < number <= len(self._evidence) else 0
        return (earlier,) if earlier else ()

    def rest_of_turn(self, agent: str, number: int) -> tuple[int, int, tuple[int, ...]]:
        """How many calls the agent made after ``number`` in its turn, how many of them made
        progress, and the numbers of the first few that did.
        """
        lane = self.lanes.get(agent)
        if lane is None:
            return 0, 0, ()
        first, last = lane.after(number)
        if last <= first:
            return 0, 0, ()
        news = lane.news_between(first, last, self.flags)
        shown: list[int] = []
        if news:
            for n in lane.numbers[first : min(last, first + 1000)]:
                if self.flags[n - 1] & PROGRESS:
                    shown.append(n)
                    if len(shown) == 3:
                        break
        return last - first, news, tuple(shown)

    def progress(self) -> array[int]:
        """How many of the first ``n`` calls of all agents made progress, for each ``n`` from 0."""
        return array("I", accumulate((bool(flags & PROGRESS) for flags in self.flags), initial=0))

    def progress_of(self, agent: str, first: int, last: int) -> int:
        """How many calls of an agent between two call numbers made progress."""
        lane = self.lanes.get(agent)
        if lane is None:
            return 0
        begin, end = bisect_right(lane.numbers, first), bisect_left(lane.numbers, last)
        return lane.news_between(begin, end, self.flags) if begin < end else 0

    def made_progress(self, number: int) -> bool:
        """Whether a call brought news without failing."""
        return 0 < number <= len(self.flags) and bool(self.flags[number - 1] & PROGRESS)

    def idle_after(self, agent: str, number: int) -> bool:
        """Whether one of the agent's next calls in its turn, up to a thousand, brought nothing new."""
        lane = self.lanes.get(agent)
        if lane is None:
            return False
        first, last = lane.after(number)
        return any(self.class_of(n).idle for n in lane.numbers[first : min(last, first + 1000)])

    def counts(self) -> dict[str, int]:
        """How many calls have each class, in the order of :data:`CLASSES`, without zeros."""
        classes = self.classes
        if not classes:
            return {}
        present = set(classes)
        return {word: classes.count(value) for value, word in _WORDS if value in present}
