"""The argument check of the moltis agent: required fields and top-level types, nothing else.

It is no JSON Schema validator. A schema that is no object, or has neither required fields
nor properties, accepts everything; nothing nested is looked at.

Two versions. The *base* checks a ``type`` only if it is a string. The *latest* also takes a
list of names, of which any may match, and first turns strings into the booleans and
numbers they spell (:func:`coerce`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from msgspec import Struct

from loopaudit.core import regex

_I64_MIN: Final = -(2**63)
_U64_MAX: Final = 2**64 - 1

# Unicode's White_Space, which Rust trims; Python's strip() takes U+001C to U+001F as well.
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_INTEGER = regex.lazy(r"[+-]?[0-9]+")
_NUMBER = regex.lazy(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Rejection(Struct, frozen=True):
    """Why arguments were refused.

    ``missing`` are required fields in the schema's order; ``mismatches`` are triples of field,
    expected type and actual type, in the order of the fields' names.
    """

    missing: tuple[str, ...]
    mismatches: tuple[tuple[str, str, str], ...]

    @property
    def kind(self) -> str:
        """``missing_required``, ``type_mismatch`` or ``missing_and_type``."""
        if not self.mismatches:
            return "missing_required"
        return "missing_and_type" if self.missing else "type_mismatch"


def check(schema: Any, arguments: Any, *, unions: bool = False) -> Rejection | None:
    """Why a schema refuses arguments, or ``None`` where it does not.

    ``unions`` is the later rule: a list of types is checked too. Arguments that are no JSON
    are for the caller to replace by an empty object.
    """
    if not isinstance(schema, dict):
        return None
    listed = schema.get("required")
    required = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    properties = schema.get("properties")
    if not isinstance(arguments, dict):
        return Rejection(tuple(required), ()) if required else None
    missing = [name for name in required if arguments.get(name) is None]
    wrong = []
    if isinstance(properties, dict):
        for name, declared in properties.items():
            value = arguments.get(name)
            if value is None or not isinstance(declared, dict):
                continue
            named = declared.get("type")
            if named == _OWN_NAMES.get(type(value)):
                continue  # nearly all, and not worth a closer look
            types = _types(named, unions=unions)
            if types is not None and not any(_matches(kind, value) for kind in types):
                wrong.append((name, " | ".join(types) or "unknown", type_name(value)))
    if not missing and not wrong:
        return None
    return Rejection(tuple(missing), tuple(sorted(wrong)))


def coerce(schema: Any, arguments: Any) -> Any:
    """Arguments with the scalars that strings spell, as the latest version reads them.

    Only a top-level string is touched, and only where ``string`` is not among its declared
    types: it becomes the first declared type it can be read as. The arguments given stay as they are.
    """
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not isinstance(arguments, dict):
        return arguments
    changed: dict[str, Any] = {}
    for name, declared in properties.items():
        value = arguments.get(name)
        if isinstance(value, str) and isinstance(declared, dict):
            types = _types(declared.get("type"), unions=True)
            if types and "string" not in types:
                scalar = _scalar(value.strip(_SPACE), types)
                if scalar is not None:
                    changed[name] = scalar
    return {**arguments, **changed} if changed else arguments


def type_name(value: Any) -> str:
    """The JSON name of a value's type; integers are ``number``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, Mapping) else "number"


def _types(declared: Any, *, unions: bool) -> list[str] | None:
    """The names of a declared ``type``, or ``None`` where there is nothing to check."""
    if isinstance(declared, str):
        return [declared]
    if unions and isinstance(declared, list):
        return [name for name in declared if isinstance(name, str)]
    return None


_OWN_NAMES: Final[Mapping[type, str]] = {str: "string", int: "integer", bool: "boolean", list: "array", dict: "object"}
_KNOWN: Final = frozenset({"string", "number", "boolean", "object", "array", "null"})


def _matches(kind: str, value: Any) -> bool:
    actual = type_name(value)
    if kind == "integer":
        return actual == "number" and (isinstance(value, int) or value.is_integer())
    return kind == actual or kind not in _KNOWN


def _scalar(text: str, types: list[str]) -> bool | int | float | None:
    """What a trimmed text spells as the first type that it can be read as, or ``None``."""
    for kind in types:
        if kind == "boolean":
            lowered = text.lower()
            if lowered in ("true", "false") and text.isascii():
                return lowered == "true"
        elif kind == "integer":
            # int() refuses thousands of digits; no 64-bit number has more than 20.
            if _INTEGER.fullmatch(text) and len(text.lstrip("+-").lstrip("0")) <= 20:
                number = int(text.lstrip("+-").lstrip("0") or "0") * (-1 if text[0] == "-" else 1)
                if _I64_MIN <= number <= _U64_MAX:
                    return number
        elif kind == "number" and _NUMBER.fullmatch(text):
            double = float(text)
            if isfinite(double):
                return double
    return None
