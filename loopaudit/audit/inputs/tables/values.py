"""What a transcript looks like that is a value: text, or lists and objects of any library.

Decoded values are written as JSON again, so that the readers see what they would see in a file.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from math import isnan
from typing import Any, Final

import orjson

from loopaudit.core.errors import InputError
from loopaudit.readers.recognise import claim
from loopaudit.readers.source import Source

_TRANSPOSED: Final = ("role", "from", "type")
"""Members that every message has; lists of them are the columns of a list of messages."""

_ABSENT: Final = ("NAType", "NaTType")
"""The types of what pandas has for an absent value or time."""


def claimed(value: object) -> bool:
    """Whether a reader recognises the value as a transcript."""
    try:
        return any(_claims(data) for data in layouts("", value))
    except InputError:
        return False


def _claims(data: bytes) -> bool:
    with Source(None, stream=io.BytesIO(data)) as source:
        return claim(source.probe()) is not None


def layouts(name: str, value: object) -> Iterable[bytes]:
    """The bytes that a value may stand for, the likeliest first: as it is, then one record a line.

    Raises:
        InputError: there is nothing in it, it holds what JSON cannot, or it is itself the error why there is no value.
    """
    if isinstance(value, InputError):
        raise value
    if value is None:
        raise InputError(f"{name}: there is nothing in the row")
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
    elif isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
    else:
        try:
            plain = _messages(_plain(value, True))
        except RecursionError:
            raise InputError(f"{name}: nested too deeply") from None
        except TypeError as error:
            hint = "give text, bytes, or lists and mappings of them"
            raise InputError(f"{name}: {error}", hint=hint) from None
        if not isinstance(plain, (list, dict)):
            raise InputError(f"{name}: no transcript, but a value of the type {type(value).__name__}")
        if isinstance(plain, list) and plain and all(isinstance(entry, str) for entry in plain):
            yield "\n".join(plain).encode("utf-8", "surrogatepass")
            return
        yield _json(plain)
        yield from _lines(plain)
        return
    yield data
    if data[:64].lstrip()[:1] == b"[":
        try:
            decoded = orjson.loads(data)
        except ValueError:
            return
        yield from _lines(decoded)


def _lines(value: Any) -> Iterable[bytes]:
    """A list of records, one a line: as most harnesses write them."""
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        yield b"\n".join(map(_json, value))


def _messages(value: Any) -> Any:
    """A list of messages that was kept as an object of lists, put together again; any other value as it is."""
    if not isinstance(value, dict) or not any(isinstance(value.get(name), list) for name in _TRANSPOSED):
        return value
    columns = list(value.values())
    if not all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
        return value
    return [
        {name: cell for name, cell in zip(value, cells, strict=True) if cell is not None}
        for cells in zip(*columns, strict=True)
    ]


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError):  # lone surrogates, integers of more than 64 bits
        return json.dumps(value, separators=(",", ":")).encode()


def _plain(value: Any, columnar: bool) -> Any:
    """A value as JSON has it.

    Arrow gives every object of a list the same members, and null where one was absent. While
    ``columnar``, that may be so, and nulls are left out. Where two objects of a list differ
    in their members, no table made them: nulls in them are the transcript's own, and stay.

    Raises:
        TypeError: JSON has no such value.
    """
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is dict or isinstance(value, Mapping):
        members = {}
        for key, entry in value.items():
            plain = _plain(entry, columnar)
            if plain is not None or not columnar:
                members[key if type(key) is str else str(key)] = plain
        return members
    if kind is list or isinstance(value, (tuple, set, frozenset)):
        if columnar:
            objects = [entry for entry in value if isinstance(entry, Mapping)]
            columnar = all(entry.keys() == objects[0].keys() for entry in objects[1:])
        return [_plain(entry, columnar) for entry in value]
    return _scalar(value, columnar)


def _scalar(value: Any, columnar: bool) -> Any:
    """What JSON has instead of one of the values that libraries of tables give."""
    if isinstance(value, float):
        return None if isnan(value) else float(value)  # pandas has NaN for what is absent
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return _plain(value.tolist(), columnar)
    if type(value).__name__ in _ABSENT:
        return None
    if hasattr(value, "isoformat"):  # dates and times
        return value.isoformat()
    from datetime import timedelta
    from decimal import Decimal
    from uuid import UUID

    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"a value of the type {type(value).__name__}, which JSON cannot hold")
