"""Hindsight as data: what a finished judgement rests on, to be written down and taken up again.

A :class:`~loopaudit.core.report.Ledger` has functions that judge further firings. They rest on one
:class:`~loopaudit.hindsight.observer.HindsightResult`, which is arrays of numbers and the
episodes of the transcript; it is made anew from them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec

from loopaudit.core.findings import Episode
from loopaudit.core.report import Ledger
from loopaudit.hindsight.observer import HindsightResult
from loopaudit.hindsight.record import Lane, Record


class Kept(msgspec.Struct, array_like=True, frozen=True):
    """The record of a conversation, its arrays as bytes of this machine.

    ``lanes`` has numbers and turns of each agent. ``fixes`` are the calls that ended an
    episode, each with the episode's place from 0.
    """

    classes: bytes
    flags: bytes
    evidence: bytes
    noise: dict[int, tuple[str, ...]]
    lanes: dict[str, tuple[bytes, bytes]]
    fixes: dict[int, int]


def kept(ledger: Ledger) -> Kept | None:
    """What the functions of a ledger rest on; ``None`` where that is not hindsight."""
    judge = getattr(ledger.grade, "__self__", None)
    if not isinstance(judge, HindsightResult):
        return None
    record = judge._record
    places = {id(episode): place for place, episode in enumerate(judge.episodes)}
    return Kept(
        classes=bytes(record.classes),
        flags=bytes(record._flags),
        evidence=record._evidence.tobytes(),
        noise=dict(record.noise),
        lanes={name: (lane.numbers.tobytes(), lane.turns.tobytes()) for name, lane in record.lanes.items()},
        fixes={call: places[id(episode)] for call, episode in judge._grader._fixes.items()},
    )


def restore(ledger: Ledger, data: Kept, episodes: Sequence[Episode]) -> None:
    """Give a ledger its functions back. ``episodes`` are those of its transcript, in order."""
    record = Record()
    record.classes = bytearray(data.classes)
    record._flags = bytearray(data.flags)
    record._evidence = _numbers(data.evidence)
    record.noise = dict(data.noise)
    for name, (numbers, turns) in data.lanes.items():
        lane = record.lanes[name] = Lane()
        lane.numbers = _numbers(numbers)
        lane.turns = _numbers(turns)
    ended = {place: call for call, place in data.fixes.items()}
    judge = HindsightResult(record, [(episode, ended.get(place, 0)) for place, episode in enumerate(episodes)])
    ledger.grade = judge.grade
    ledger.why = judge._why


def _numbers(data: bytes) -> array[int]:
    found = array("I")
    found.frombytes(data)
    return found
