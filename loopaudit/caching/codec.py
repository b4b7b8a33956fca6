"""Results as bytes and back. What would not come back exactly as it was is not kept.

A result has the same bytes wherever its input lies: the input's name is left out (what follows
it names a part of the input), and put in again for the input that it is taken for.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import cache
from typing import Final

import msgspec

from loopaudit.fileaudit import FileAudit
from loopaudit.hindsight.kept import Kept, kept, restore
from loopaudit.report import TranscriptResult

LEVEL: Final = 1
"""Results are a fifth as long then; a higher level takes longer than it saves."""


class Entry(msgspec.Struct, array_like=True):
    """One result as it is written. ``minds`` has hindsight for each transcript with a ledger, else nothing."""

    audit: FileAudit
    minds: list[Kept | None]


def pack(audit: FileAudit, name: str) -> bytes | None:
    """The result of an input of this name as bytes, or ``None`` where something in it cannot be kept."""
    minds: list[Kept | None] = []
    bare: list[TranscriptResult] = []
    for result in audit.transcripts:
        if not result.path.startswith(name):
            return None
        ledger, mind = result.ledger, None
        if ledger is not None:
            if ledger.grade is not None and (mind := kept(ledger)) is None:
                return None
            ledger = msgspec.structs.replace(ledger, grade=None, why=None)
        bare.append(msgspec.structs.replace(result, path=result.path[len(name) :], ledger=ledger))
        minds.append(mind)
    entry = Entry(replace(audit, transcripts=bare), minds)
    try:
        data = msgspec.msgpack.encode(entry)
        # Details of policies may be anything: a tuple would come back as a list.
        if repr(_decoder().decode(data)) != repr(entry):
            return None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None  # lone surrogates, huge numbers, objects of other kinds
    return zlib.compress(data, LEVEL)


def unpack(data: bytes, name: str) -> FileAudit | None:
    """The result for an input of this name, or ``None`` where the bytes are none of a result."""
    try:
        entry = _decoder().decode(zlib.decompress(data))
        for result, mind in zip(entry.audit.transcripts, entry.minds, strict=True):
            result.path = name + result.path
            if result.ledger is not None and mind is not None:
                restore(result.ledger, mind, result.episodes)
    except (zlib.error, ValueError):
        return None
    return entry.audit


@cache
def _decoder() -> msgspec.msgpack.Decoder[Entry]:
    return msgspec.msgpack.Decoder(Entry)
