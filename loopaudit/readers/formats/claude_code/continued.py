"""Tells the records of a session that was continued in another file.

A session that is resumed or forked may go on in a file of its own, which begins with copies of the records before:
with their ids, times and contents, under the session id of either. The files of a run are looked at for that before
they are read (:mod:`loopaudit.audit.inputs.continued`); the reader then leaves out what it was handed as copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec.json import encode

from loopaudit.core.digests import blake2b
from loopaudit.readers.formats.claude_code.records import Line, line_decoder, line_from
from loopaudit.readers.kit.claude_words import blanked
from loopaudit.readers.kit.typed_blocks import Block
from loopaudit.readers.source import Source

CONTENT: Final = 16
"""Bytes at the end of a record's id that stand for the whole of it.

So many that no transcript can make another one's records look like copies of its own.
"""

_NAME: Final = 64
"""Bytes of its uuid before those, at most, by which most records are seen to be no copies."""

_MARK: Final = b'"parentUuid"'


def mark_of(content: str | list[Block]) -> str | int | None:
    """What stands for the content of a record when it is compared with its copies."""
    if isinstance(content, str):
        return len(content)
    if not content:
        return None
    block = content[0]
    return block.tool_use_id or block.id or (block.text and len(block.text))


def record_id(line: Line) -> bytes | None:
    """What a message has in common with its copies and with nothing else, the same in every process.

    ``None`` for a record without a message, and for one whose id was blanked.
    """
    message, uuid = line.message, line.uuid
    if uuid is None or message is None or message.content is None or blanked(uuid):
        return None
    content = message.content
    # All that a replay reads of a message: equal ids alone would let one record hide another.
    parts: list[Any] = [uuid, line.timestamp]
    if isinstance(content, str):
        parts.append(content)
    else:
        for block in content:
            parts += block.type, block.id, block.tool_use_id, block.name, block.text, block.input, block.content
    return name_of(uuid) + blake2b(_written(parts), digest_size=CONTENT).digest()


def name_of(uuid: str) -> bytes:
    """What stands before the last :data:`CONTENT` bytes in the ids of all records of a uuid."""
    return uuid.encode("utf-8", "surrogatepass")[:_NAME]


def _written(parts: list[Any]) -> bytes:
    """Texts and slices so that different ones are never written alike: as a list, in which a slice is its own JSON."""
    try:
        return encode(parts)
    except UnicodeEncodeError:  # a lone surrogate; the mark behind such texts sets them apart from texts in base64
        lasting = [part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts]
        return encode([*lasting, True])


def first_record(prefix: bytes) -> bytes | None:
    """The id of the first message of the main agent in the first bytes of a file, if it is there."""
    if _MARK not in prefix:
        return None
    decode = line_decoder().decode
    start = 0
    while (end := prefix.find(b"\n", start)) >= 0:
        text, start = prefix[start:end], end + 1
        try:
            line = decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if line.type in ("user", "assistant") and not line.is_sidechain and line.agent_id is None:
            found = record_id(line)
            if found is not None:
                return found
    return None


def all_records(source: Source) -> Iterator[tuple[bytes, str]]:
    """The ids of all messages of a file, with their times as recorded (empty where there is none)."""
    for _, line in source.decoded(line_decoder().decode, line_from):
        if line.type in ("user", "assistant"):
            found = record_id(line)
            if found is not None:
                yield found, line.timestamp or ""
