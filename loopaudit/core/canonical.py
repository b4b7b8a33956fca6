"""When two calls, or two results, are the same: canonical arguments and the keys made of them.

Arguments are compared as the Rust guards compare them: parsed by a strict RFC 8259 reader
with serde_json's rules, then written again with sorted keys.

* An integer literal from -2**63 to 2**64-1 stays an integer, a larger one becomes a
  double; ``1`` and ``1.0`` differ; ``-0`` is the double ``-0.0``; ``1e400`` is no JSON.
* The last of duplicate keys wins, key order and white space do not matter, escapes are
  decoded, nothing is normalised.
* More than :data:`MAX_DEPTH` nested containers, a lone surrogate escape, ``NaN`` and a
  byte-order mark are no JSON.

Text that is no JSON is compared as it stands. A key is 16 bytes of BLAKE2b, equal in every
process and run, so that its hex prefix may be shown and compared across files.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

import orjson

from loopaudit.core import regex
from loopaudit.core.digests import blake2b

MAX_DEPTH: Final = 127
"""serde_json refuses documents nested deeper than this many arrays and objects."""

KEY_BYTES: Final = 16

_NEGATIVE_ZERO = regex.lazy(rb"-0[,\]}\s]")
_TEXTS: Final = frozenset({str})
_LEVELS: Final = 2
"""Levels of objects in objects of which all members are looked at."""
_BEFORE_VALUE: Final = (b"", b":", b",", b"[")
_I64_MIN: Final = -(2**63)
_U64_MAX: Final = 2**64 - 1
_TOO_LARGE: Final = 2**1024 - 2**970
"""The smallest integer that rounds to no double."""


class NotJson:
    """The type of :data:`NOT_JSON`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NOT_JSON"

    def __bool__(self) -> bool:
        return False


NOT_JSON: Final = NotJson()
"""Returned instead of a value where a text is not strict JSON (``None`` is JSON's null)."""


def parse(text: str | bytes) -> Any:
    """Parse strict JSON as serde_json does, or return :data:`NOT_JSON`. Never raises."""
    try:
        value = orjson.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON
    if is_plain(value):
        return value
    if isinstance(text, str):
        if len(text) <= 2 * MAX_DEPTH and "-0" not in text:
            return value
        text = text.encode()  # orjson accepts no lone surrogates, so that this cannot fail
    if has_negative_zero(text):
        value = _parse_slowly(text)
    deep = len(text) > 2 * MAX_DEPTH and text.count(b"[") + text.count(b"{") > MAX_DEPTH
    return NOT_JSON if deep and depth(value) > MAX_DEPTH else value


def is_plain(value: Any, levels: int = _LEVELS) -> bool:
    """Whether a decoded value is an object of texts, whole numbers but 0, and lists and objects of these, as most are.

    However its JSON was decoded it is the same: no ``-0`` can have become a 0, no number is beyond 64 bits, and
    it is not nested too deeply. A look at a few members spares looks at every character.
    """
    if type(value) is not dict:
        return False
    for member in value.values():
        kind = type(member)
        if kind is str:
            continue
        if kind is int:
            if not 0 < member < 1 << 63:
                return False
        elif kind is list:
            if not _TEXTS.issuperset(map(type, member)) and not (
                levels and all(is_plain(item, levels - 1) for item in member)
            ):
                return False
        elif kind is float or (kind is dict and not (levels and is_plain(member, levels - 1))):
            return False
    return True


def has_negative_zero(data: bytes) -> bool:
    """Whether JSON text may hold the literal ``-0``, which orjson reads as the integer 0."""
    # Looking for the bytes first takes longer than the pattern, whose beginning they are.
    # The literal stands where a value may stand. Dates, identifiers (1f-0a) and heads of diffs (@@ -0,0) do not.
    for found in _NEGATIVE_ZERO.finditer(data):
        at = found.start()
        if data[max(0, at - 200) : at].rstrip()[-1:] in _BEFORE_VALUE:
            return True
    return data.endswith(b"-0")


def unsigned_zero(value: Any) -> Any:
    """Any value as it is; only ``-0.0`` becomes 0, as where a typed decoder reads ``-0`` for an integer."""
    return 0 if isinstance(value, float) and value == 0 and math.copysign(1, value) < 0 else value


def _parse_slowly(data: bytes) -> Any:
    """Parse text that orjson accepted, keeping ``-0`` a double as serde_json does."""

    def integer(literal: str) -> int | float:
        number = int(literal) if len(literal) <= 21 else float(literal)
        if literal.startswith("-0"):
            return -0.0
        return number if _I64_MIN <= number <= _U64_MAX else float(literal)

    return json.loads(data, parse_int=integer)


def depth(value: Any) -> int:
    """Number of nested containers, counted level by level so that nothing recurses."""
    levels = 0
    level = [value]
    while level:
        containers = [v for v in level if isinstance(v, (dict, list))]
        if not containers:
            return levels
        levels += 1
        level = []
        for container in containers:
            level.extend(container.values() if isinstance(container, dict) else container)
    return levels


def dump(value: Any) -> bytes:
    """Write a JSON value compactly with sorted keys: the canonical spelling."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError, RecursionError):
        return _dump_slowly(value)


def _dump_slowly(value: Any) -> bytes:
    """Write what orjson refuses: lone surrogates, huge integers, odd keys, deep nesting."""
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = _write_deep(value)
    return text.encode("utf-8", "surrogatepass")


def compact(value: Any) -> str:
    """Write a JSON value compactly in its recorded key order, non-ASCII kept as it is."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError, RecursionError):
        try:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return _write_deep(value)


def written(value: Any) -> bytes:
    """The JSON of a decoded value as most writers spell it; lone surrogates and ``NaN`` stay what they are."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def _write_deep(value: Any) -> str:
    """Write a value nested deeper than the interpreter recurses; keys sorted, no white space."""
    parts: list[str] = []
    todo: list[tuple[bool, Any]] = [(False, value)]
    while todo:
        is_text, item = todo.pop()
        if is_text:
            parts.append(item)
        elif isinstance(item, dict):
            parts.append("{")
            todo.append((True, "}"))
            for place, key in reversed(list(enumerate(sorted(item, key=str)))):
                todo += [(False, item[key]), (True, f"{',' if place else ''}{json.dumps(str(key))}:")]
        elif isinstance(item, list):
            parts.append("[")
            todo.append((True, "]"))
            for place, element in reversed(list(enumerate(item))):
                todo += [(False, element), (True, "," if place else "")]
        else:
            parts.append(json.dumps(item, default=repr))
    return "".join(parts)


def digest(data: bytes) -> bytes:
    """The 16-byte BLAKE2b digest that all keys are made of."""
    return blake2b(data, digest_size=KEY_BYTES).digest()


def call_key(name: str, arguments: Any) -> bytes:
    """Key of a call whose arguments are a JSON value."""
    try:
        return blake2b(orjson.dumps((name, arguments), option=orjson.OPT_SORT_KEYS), digest_size=KEY_BYTES).digest()
    except (TypeError, ValueError, RecursionError):
        return digest(_dump_slowly([name, arguments]))


def text_key(name: str, text: str) -> bytes:
    """Key of a call whose arguments are text that is no JSON; equals no :func:`call_key`."""
    return digest(f"text\0{name}\0{text}".encode("utf-8", "surrogatepass"))


def keep_decoded(value: Any) -> Any:
    """A value from an already decoded document, as a strict reader would have it.

    Documents read by the tolerant reader keep exact big integers, which become doubles, and
    ``NaN`` and infinities, which become null as in the key. A value nested too deeply to be
    walked stays as it is.
    """
    try:
        return _kept(value)
    except RecursionError:
        return value


def _kept(value: Any) -> Any:
    if isinstance(value, dict):
        # Most arguments are texts in one object.
        return {k: v if type(v) is str else _kept(v) for k, v in value.items()}
    if isinstance(value, list):
        return [v if type(v) is str else _kept(v) for v in value]
    if isinstance(value, int) and not isinstance(value, bool) and not _I64_MIN <= value <= _U64_MAX:
        value = float(value) if abs(value) < _TOO_LARGE else math.inf
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
