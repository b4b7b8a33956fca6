"""Results as bytes and back. What would not come back exactly as it was is not kept.

A result has the same bytes wherever its input lies: the input's name is left out (what follows
it names a part of the input), and put in again for the input that it is taken for.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import Final

import msgspec
from msgspec.structs import replace

from loopaudit.audit.session import FileAudit
from loopaudit.core.report import TranscriptResult

LEVEL: Final = 1
"""Results are a fifth as long then; a higher level takes longer than it saves."""


class CachedAudit(msgspec.Struct, array_like=True):
    """One result as it is written: what is not a transcript, and each transcript by itself.

    By itself, because a result may hold ten thousand, and making sure of each takes several times its room.
    """

    audit: FileAudit
    parts: list[msgspec.Raw]


def pack(audit: FileAudit, name: str) -> bytes | None:
    """The result of an input of this name as bytes, or ``None`` where something in it cannot be kept."""
    parts: list[msgspec.Raw] = []
    try:
        for result in audit.transcripts:
            if not result.path.startswith(name):
                return None
            parts.append(msgspec.Raw(_checked(msgspec.structs.replace(result, path=result.path[len(name) :]))))
        entry = CachedAudit(replace(audit, transcripts=[]), parts)
        data = msgspec.msgpack.encode(entry)
        if repr(_decoder().decode(data).audit) != repr(entry.audit):
            return None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None  # lone surrogates, huge numbers, objects of other kinds
    return zlib.compress(data, LEVEL)


def _checked(part: TranscriptResult) -> bytes:
    """A transcript as bytes.

    Raises:
        ValueError: it would not come back exactly as it was; details of policies may be anything, and
            a tuple would come back as a list.
    """
    data = msgspec.msgpack.encode(part)
    if repr(_part_decoder().decode(data)) != repr(part):
        raise ValueError("not the same")
    return data


def unpack(data: bytes, name: str) -> FileAudit | None:
    """The result for an input of this name, or ``None`` where the bytes are none of a result."""
    try:
        entry = _decoder().decode(zlib.decompress(data))
        for raw in entry.parts:
            result = _part_decoder().decode(raw)
            result.path = name + result.path
            entry.audit.transcripts.append(result)
    except (zlib.error, ValueError):
        return None
    return entry.audit


@cache
def _decoder() -> msgspec.msgpack.Decoder[CachedAudit]:
    return msgspec.msgpack.Decoder(CachedAudit)


@cache
def _part_decoder() -> msgspec.msgpack.Decoder[TranscriptResult]:
    return msgspec.msgpack.Decoder(TranscriptResult)
