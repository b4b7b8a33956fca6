"""How JavaScript, Python and Go read and write JSON, where they differ from strict serde.

Readers return :data:`~loopaudit.core.canonical.NOT_JSON` for what the host's reader refuses, and
for what is nested deeper than :data:`MAX_NESTING`. They never raise.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isfinite
from typing import Any, Final

import orjson

from loopaudit.core import regex
from loopaudit.core.canonical import NOT_JSON, NotJson, depth

EXACT: Final = 2**53
"""Whole numbers up to this size are the same as integer and as double."""

ODD: Final = 1
"""A trait of values: some number is a float, or an integer over :data:`EXACT`."""

BOOL: Final = 2
"""A trait of values: some value is a boolean."""

MAX_NESTING: Final = 200
"""Texts nested deeper than this many arrays and objects are taken for no JSON, in every way."""

_LAST_INDEX: Final = 2**32 - 2
"""The largest array index of JavaScript; such keys come first in every object."""

_SURROGATE = regex.lazy("[\ud800-\udfff]")

# -- readers ---------------------------------------------------------------------------------


def parse_js(text: str) -> Any:
    """Parse as JavaScript does: any depth, lone surrogates, all numbers doubles."""

    def refuse(constant: str) -> float:
        raise ValueError(constant)

    return _parse(text, parse_int=_short_int, parse_constant=refuse)


def parse_go(text: str) -> Any:
    """Parse as Go does: lone surrogates become U+FFFD, a number over the double range is refused."""

    def integer(literal: str) -> float:
        return _finite(_short_int(literal))

    def real(literal: str) -> float:
        return _finite(float(literal))

    def refuse(constant: str) -> float:
        raise ValueError(constant)

    value = _parse(text, parse_int=integer, parse_float=real, parse_constant=refuse)
    return _without_surrogates(value) if value is not NOT_JSON and "\\ud" in text.lower() else value


def parse_py(text: str, *, lenient: bool = False) -> Any:
    """Parse as Python does: exact integers, ``NaN`` and ``Infinity``, lone surrogates.

    ``lenient`` allows raw control characters in strings.
    """
    # Without options, Python's own decoder serves, which need not be made.
    return _parse(text, strict=False) if lenient else _parse(text)


_BEGINNINGS: Final = ("{", "[", '"', "-", *"0123456789", "true", "false", "null", "NaN", "Infinity")
"""How values begin that one of the readers takes."""


def _parse(text: str, **options: Any) -> Any | NotJson:
    # Arguments that are no JSON are mostly scripts and patches, and to refuse them by an exception takes long.
    if not text.lstrip(" \t\n\r").startswith(_BEGINNINGS):
        return NOT_JSON
    try:
        value = json.loads(text, **options)
    except (ValueError, RecursionError):
        return NOT_JSON
    if text.count("[") + text.count("{") > MAX_NESTING and depth(value) > MAX_NESTING:
        return NOT_JSON
    return value


def _short_int(literal: str) -> float:
    """An integer literal: exact while it is short, else a double (``-0`` keeps its sign)."""
    return int(literal) if len(literal) < 17 and literal != "-0" else float(literal)


def _finite(number: float) -> float:
    if not isfinite(number):
        raise ValueError("over the range of a double")
    return number


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value


# -- writers --------------------------------------------------------------------------------


def js_text(value: Any, *, ordered: bool = False, negative_zero: str = "0") -> str:
    """A parsed value in JavaScript's compact JSON; ``ordered`` sorts the keys."""
    if not ordered and not traits_of(value) & ODD and not _has_index(value):
        try:
            return orjson.dumps(value).decode()
        except TypeError:
            pass  # a lone surrogate, or nested deeper than orjson writes
    parts: list[str] = []
    _write(value, ordered, negative_zero, parts.append)
    return "".join(parts)


def py_text(value: Any) -> str:
    """A parsed value in Python's compact JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def js_number(number: float) -> str:
    """A number as JavaScript prints it: as a double, with an exponent only from 1e21 or below 1e-6."""
    number = as_double(number)
    if number == 0:
        return "0"
    if not isfinite(number):
        return "null"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def _write(value: Any, ordered: bool, negative_zero: str, put: Callable[[str], None]) -> None:
    if value is None:
        put("null")
    elif value is True or value is False:
        put("true" if value else "false")
    elif isinstance(value, str):
        put(_quoted(value))
    elif isinstance(value, (int, float)):
        put(negative_zero if str(value) == "-0.0" else js_number(value))
    elif isinstance(value, list):
        put("[")
        for place, item in enumerate(value):
            if place:
                put(",")
            _write(item, ordered, negative_zero, put)
        put("]")
    elif isinstance(value, dict):
        put("{")
        for place, key in enumerate(_sorted_keys(value) if ordered else js_keys(value)):
            if place:
                put(",")
            put(_quoted(key))
            put(":")
            _write(value[key], ordered, negative_zero, put)
        put("}")
    else:
        put(repr(value))


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)


def _is_index(key: str) -> bool:
    if not key.isdigit() or not key.isascii() or len(key) > 10:
        return False
    return (key == "0" or key[0] != "0") and int(key) <= _LAST_INDEX


def _has_index(value: Any) -> bool:
    """Whether some object has a key that JavaScript moves to the front."""
    stack = [value]
    while stack:
        item = stack.pop()
        if type(item) is dict:
            for key, inner in item.items():
                if key[:1].isdigit() and _is_index(key):
                    return True
                if type(inner) is dict or type(inner) is list:
                    stack.append(inner)
        elif type(item) is list:
            stack.extend(item)
    return False


def js_keys(value: dict[str, Any]) -> list[str]:
    """The keys of an object in JavaScript's order: array indices first, then as given."""
    indices = [key for key in value if _is_index(key)]
    if not indices:
        return list(value)
    return sorted(indices, key=int) + [key for key in value if not _is_index(key)]


def _sorted_keys(value: dict[str, Any]) -> list[str]:
    return sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))


def traits_of(value: Any) -> int:
    """Which kinds of values occur on which the ways differ: :data:`ODD`, :data:`BOOL`, or both."""
    traits = 0
    stack = None
    items = value.values() if type(value) is dict else (value,)
    while True:
        for item in items:
            kind = type(item)
            if kind is str or item is None:
                continue
            if kind is int:
                if not -EXACT <= item <= EXACT:
                    traits |= ODD
            elif kind is bool:
                traits |= BOOL
            elif kind is float:
                traits |= ODD
            elif stack is None:
                stack = [item]
            else:
                stack.append(item)
        if not stack:
            return traits
        items = stack.pop()
        if type(items) is dict:
            items = items.values()


def as_double(number: float) -> float:
    """The nearest double; infinity where an integer is over the range."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def all_finite(value: Any) -> bool:
    """Whether no number in the value is infinite or NaN."""
    stack = [value]
    while stack:
        item = stack.pop()
        if type(item) is dict:
            stack.extend(item.values())
        elif type(item) is list:
            stack.extend(item)
        elif type(item) is float and not isfinite(item):
            return False
    return True
