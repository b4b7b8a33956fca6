"""What recognising a format needs of a large JSON value: all members of its objects, the first entries of its lists.

The order of an object's members then decides nothing. A value is given decoded (:func:`outline`),
or as text that is too long to be decoded for it (:func:`outline_of`).
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec
import orjson

from loopaudit.core import regex
from loopaudit.core.json import tolerant_loads
from loopaudit.readers.partial_json import complete_prefix

ROOM: Final = 1 << 18
"""Bytes of a list's entries that are looked at; its first entry is there whatever its size."""

MAX_DEPTH: Final = 8
"""Levels to which large values are cut; what is nested deeper stays whole."""

_SPACE: Final = regex.lazy(r"[ \t\r\n,]*", re.ASCII)


def outline(value: Any, depth: int = 0) -> Any:
    """A value in which every list ends where its entries fill :data:`ROOM`; it shares its parts with the value."""
    if depth >= MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {key: outline(member, depth + 1) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) == 1:
        return [outline(value[0], depth + 1)]  # of what is small, this is a copy: no size is needed
    kept: list[Any] = []
    left = ROOM
    for entry in value:
        size = _size(entry)
        kept.append(outline(entry, depth + 1) if size > ROOM else entry)
        left -= size
        if left <= 0:
            break
    return kept


def _size(value: Any) -> int:
    """The bytes of a value as JSON; of one that is unusual at least as much as there is room for."""
    try:
        return len(orjson.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return ROOM + 1


def outline_of(data: bytes) -> Any:
    """The same of an object's text, or of the beginning of a list's; ``None`` where it is neither.

    Of a member that is longer than :data:`ROOM` the beginning is decoded, as far as it is complete.
    """
    start = data[:ROOM].lstrip()[:1]
    if start == b"[":
        return _first_entries(data)
    if start != b"{":
        return None
    try:
        members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        return complete_prefix(data[:ROOM])
    found = {}
    for key, raw in members.items():
        text = bytes(raw)
        try:
            found[key] = tolerant_loads(text) if len(text) <= ROOM else outline_of(text)
        except ValueError:
            found[key] = None
    return found


def _first_entries(data: bytes) -> Any:
    """The first entries of a list of which only the beginning need be there."""
    text = data.decode("utf-8", "replace")
    decode = json.JSONDecoder(strict=False).raw_decode
    at = text.index("[") + 1
    kept: list[Any] = []
    left = ROOM
    while left > 0:
        begin = _SPACE.match(text, at).end()  # type: ignore[union-attr] # it matches everything
        try:
            value, at = decode(text, begin)
        except (ValueError, RecursionError):
            break
        kept.append(outline(value))
        left -= at - begin
    return kept if kept else complete_prefix(data[:ROOM])
