"""Decodes JSON as tolerantly as Python can, and writes it so that any program can read it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import orjson

from loopaudit.core import regex, text
from loopaudit.core.canonical import depth, has_negative_zero

MAX_NESTING: Final = 1024
"""Levels of nesting that are decoded: as many as orjson does. Of the standard library each version has its own."""


def tolerant_loads(data: bytes) -> Any:
    """Decode JSON as tolerantly as Python can.

    Raises:
        ValueError: the data is no JSON in any reading, or nested too deeply.
    """
    try:
        value = orjson.loads(data)
        if not has_negative_zero(data):
            return value
    except ValueError:
        pass
    return exact_loads(data)


def exact_loads(data: bytes) -> Any:
    """The same at a third of the speed, with exact integers of any size; ``-0`` is a double.

    Raises:
        ValueError: the data is no JSON in any reading, or nested too deeply.
    """
    try:
        try:
            value = json.loads(data, strict=False, parse_int=_integer)
        except UnicodeDecodeError:
            value = json.loads(data.decode("utf-8", "replace"), strict=False, parse_int=_integer)
    except RecursionError:
        try:
            return orjson.loads(data)  # goes a little deeper
        except ValueError:
            raise ValueError("nested too deeply") from None
    if data.count(b"[") + data.count(b"{") > MAX_NESTING and depth(value) > MAX_NESTING:
        raise ValueError("nested too deeply")
    return value


def _integer(literal: str) -> int | float:
    # Python makes no integers of texts of more than 4,300 digits.
    return -0.0 if literal == "-0" else int(literal) if len(literal) < 4000 else float(literal)


_SURROGATE: Final = regex.lazy("[\ud800-\udfff]")


MAX_DEPTH: Final = 32
"""Levels of a policy's free-form details that are kept; deeper ones become text."""


def dumps(value: Any, *, indent: bool = False) -> bytes:
    """A value as UTF-8 JSON, one line feed at its end; structs are objects of their fields, in order.

    Characters that act on a terminal are written as escapes; what JSON cannot hold (lone
    surrogates, infinities, values of other types) is replaced.
    """
    option = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        document = orjson.dumps(value, default=_fields, option=option)
    except (TypeError, ValueError, RecursionError):
        document = orjson.dumps(plain(value), option=option)
    if document.isascii() and b"\x7f" not in document and b"##[" not in document:
        return document
    return text.json_document(document.decode()).encode()


def _fields(value: object) -> dict[str, Any]:
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    raise TypeError(type(value).__name__)


def plain(value: Any, depth: int = 0) -> Any:
    """A value that JSON can hold, as near to the given one as possible."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, msgspec.Struct):
        value = _fields(value)
    if depth < MAX_DEPTH and isinstance(value, Mapping):
        return {str(plain(str(key))): plain(item, depth + 1) for key, item in value.items()}
    if depth < MAX_DEPTH and isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(str(plain(str(item))) for item in value)
    return plain(text.one_line(str(value), 400))
