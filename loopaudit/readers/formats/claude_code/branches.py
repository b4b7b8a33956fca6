"""Finds the branches of a session that were abandoned: where a person went back to an earlier record and on from there.

A session file is appended in the order in which things happened, and a record points to the one it follows. Which
branch survives is known only at the end of the file, so a file is looked at before it is read: first for a turn that
follows a record from before the latest turn, by the bytes of the lines; only where there is one, for the whole tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from loopaudit.core import regex
from loopaudit.core.bounded import forget_oldest
from loopaudit.readers.formats.claude_code.records import Line, line_decoder, line_from
from loopaudit.readers.source import Source

MAX_RECORDS: Final = 1 << 16
"""Records of which it is remembered to which turn they belong, at most; a return to one further back is not seen."""

NEAR: Final = 32
"""Lines before a turn among which the record that it follows is looked for before the whole tree is looked at."""

_UUID = regex.lazy(rb'"uuid"\s*:\s*"([^"\\]+)"')
_KEY: Final = b'"uuid"'
_PERSON: Final = b'"user"'
_RESULT: Final = b'"tool_result"'
_PERSONS: Final = ("user", None)
"""Types of records that may be a person's."""

_ID: Final = attrgetter("uuid")
_DATA: Final = attrgetter("data")

BLOCK: Final = 1 << 20
"""Bytes that are searched at once."""

IsTurn = Callable[[Line], bool]
"""Whether a record is a message of a person to the main agent."""

Numbered = Iterable[tuple[int, Line]]


class Tree(NamedTuple):
    """What a look at a file before it is read found out about its records."""

    branches: Mapping[int, int] = MappingProxyType({})
    """The turns of branches that were abandoned: the number of the branch, from 1, by the line where each turn begins.

    Turns that follow each other are one branch."""
    is_plain: bool = False
    """Whether it is known that no id stands twice and that no turn goes back behind the one before it.

    Then no record is a copy of an earlier one, and nothing need be remembered to find that out."""


def look_ahead(source: Source, is_turn: IsTurn) -> Tree:
    """Look at the records of a file before it is read. Nothing is found in what can be read only once."""
    ahead = source.decode_ahead(line_decoder().decode)
    if ahead is not None:
        numbers, lines = ahead
        ids = list(map(_ID, lines))
        if _returns_among(lines, ids, is_turn):
            return Tree(_branches(zip(numbers, lines, strict=True), is_turn))
        return Tree(is_plain=_has_unique_ids(lines, ids))
    again = source.again()
    if again is None:
        return Tree()
    with again:
        if not _returns(again, is_turn):
            return Tree()
    again = source.again()
    assert again is not None  # it was there a moment ago
    with again:
        return Tree(_branches(again.decoded(line_decoder().decode, line_from), is_turn))


def _has_unique_ids(lines: Sequence[Line], ids: Sequence[str | None]) -> bool:
    """Whether no id is that of two records, among them those that are nested in others."""
    nested = [data.message for data in map(_DATA, lines) if data is not None]
    named = [*ids, *[line.uuid for line in nested if isinstance(line, Line)]]
    nameless = named.count(None)
    return len(set(named)) == len(named) - nameless + (nameless > 0)


def _returns_among(lines: Sequence[Line], ids: Sequence[str | None], is_turn: IsTurn) -> bool:
    """Whether a turn may follow a record that stands before the turn that was the latest; ``ids`` are the lines'.

    One that follows none of the lines before it may; nearly all turns follow one of the last few.
    """
    before: int | None = None
    """The place of the latest turn."""
    for place, line in enumerate(lines):
        if line.type in _PERSONS and line.message is not None and is_turn(line):
            if before is not None and line.parent_uuid is not None:
                near = ids[max(before, place - NEAR) : place]
                if line.parent_uuid not in near:
                    return True
            before = place
    return False


def _returns(source: Source, is_turn: IsTurn) -> bool:
    """The same of lines that are not decoded: most are none of a person, which is seen by a search in many at once."""
    decode = line_decoder().decode
    recent: list[bytearray] = []
    """The latest lines of earlier blocks since the latest turn, at most :data:`NEAR`."""
    begun = False
    for block, size in source.blocks(BLOCK):
        since = 0
        """Where the lines since the latest turn begin."""
        end = 0
        while (found := block.find(_PERSON, end, size)) >= 0:
            start = block.rfind(b"\n", end, found) + 1 or end
            end = block.find(b"\n", found, size) + 1 or size
            if block.find(_RESULT, start, end) >= 0:
                continue
            try:
                line = decode(block[start:end])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if not is_turn(line):
                continue
            if begun and line.parent_uuid is not None:
                near = _latest(block, since, start)
                if not _is_among([*recent[len(near) :], *near], line.parent_uuid.encode()):
                    return True
            recent.clear()
            since = start
            begun = True
        near = _latest(block, since, size)
        recent = [*recent[len(near) :], *near]
    return False


def _latest(block: bytearray, start: int, end: int) -> list[bytearray]:
    """The last lines of a part of a block, at most :data:`NEAR`, in their order."""
    found: list[bytearray] = []
    while end > start and len(found) < NEAR:
        begin = block.rfind(b"\n", start, end - 1) + 1 or start
        found.append(block[begin:end])
        end = begin
    found.reverse()
    return found


def _is_among(recent: Sequence[bytearray], uuid: bytes) -> bool:
    """Whether one of some lines is the record of an id."""
    for text in reversed(recent):
        # The record's own stands near the end of a line; where another one does, the tree is looked at for nothing.
        found = _UUID.match(text, text.rfind(_KEY))
        if found is not None and found[1] == uuid:
            return True
    return False


class _Turn:
    """One turn in the tree. ``root`` is the first turn that it goes back to, ``last`` the latest one of that tree."""

    __slots__ = ("last", "line", "parent", "root", "survives")

    def __init__(self, line: int, parent: _Turn | None) -> None:
        self.line = line
        self.parent = parent
        self.root: _Turn = self if parent is None else parent.root
        self.last = self
        self.survives = False


def _branches(lines: Numbered, is_turn: IsTurn) -> dict[int, int]:
    """The branches of a :class:`Tree`."""
    turns: list[_Turn] = []
    owners: dict[str, _Turn | None] = {}
    for number, line in lines:
        if line.uuid is None or line.is_sidechain or line.agent_id is not None:
            continue
        owner = owners.get(line.parent_uuid or "")
        if line.uuid in owners:
            continue  # a copy, or a placeholder
        if is_turn(line):
            owner = _Turn(number, owner)
            turns.append(owner)
        if len(owners) >= MAX_RECORDS:
            forget_oldest(owners, MAX_RECORDS // 2)
        owners[line.uuid] = owner
        if owner is not None and line.type in ("user", "assistant"):
            owner.root.last = owner
    for turn in turns:
        if turn.root is turn:
            on: _Turn | None = turn.last
            while on is not None:
                on.survives = True
                on = on.parent
    found: dict[int, int] = {}
    count = 0
    before: _Turn | None = None
    for turn in turns:
        if not turn.survives:
            if before is None or turn.parent is not before:
                count += 1
            found[turn.line] = count
        before = None if turn.survives else turn
    return found
