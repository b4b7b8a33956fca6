"""Checks values against the few words of JSON Schema that this program's own files need.

:func:`accepts` is a check of its own, because importing a full validator takes longer than
replaying a small transcript. Only for a value that it refuses is ``jsonschema`` imported, to
say what is wrong and where. Schemas may use :data:`WORDS` and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Final, NamedTuple

from loopaudit.core.errors import did_you_mean

Schema = Mapping[str, Any]

WORDS: Final = frozenset(
    "type properties additionalProperties required items enum minimum maximum pattern minItems anyOf description "
    "minLength".split()
)
"""The words of JSON Schema that are understood (``description`` says what is wanted)."""

_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


class Wrong(NamedTuple):
    """One thing that is wrong: the way to it, a sentence, and what may have been meant."""

    path: tuple[str | int, ...]
    message: str
    hint: str | None


def jsonlike(value: Any) -> Any:
    """The value with dates as text (``2027-01-31``), as a schema can check it."""
    if isinstance(value, dict):
        return {k: jsonlike(v) for k, v in value.items()}
    if isinstance(value, list):
        return [jsonlike(v) for v in value]
    if isinstance(value, date):
        return value.isoformat()
    return value


def accepts(schema: Schema, value: Any) -> bool:
    """Whether a value is as the schema wants it."""
    alternatives = schema.get("anyOf")
    if alternatives is not None and not any(accepts(one, value) for one in alternatives):
        return False
    wanted = schema.get("type")
    if wanted is not None:
        if not isinstance(value, _TYPES[wanted]):
            return False
        if isinstance(value, bool) and wanted != "boolean":
            return False
    if "enum" in schema and not any(value == e and type(value) is type(e) for e in schema["enum"]):
        return False
    if isinstance(value, str):
        pattern = schema.get("pattern")
        return len(value) >= schema.get("minLength", 0) and (pattern is None or re.search(pattern, value) is not None)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    if isinstance(value, list):
        items = schema.get("items", {})
        return len(value) >= schema.get("minItems", 0) and all(accepts(items, item) for item in value)
    if isinstance(value, dict):
        return _accepts_members(schema, value)
    return True


def _accepts_members(schema: Schema, value: Mapping[str, Any]) -> bool:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    if any(name not in value for name in schema.get("required", ())):
        return False
    for name, member in value.items():
        if name in known:
            if not accepts(known[name], member):
                return False
        elif others is False or (others is not True and not accepts(others, member)):
            return False
    return True


def explain(schema: Schema, value: Any) -> list[Wrong]:
    """What is wrong with a value that :func:`accepts` refuses, in the order of the document."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # For JSON Schema 2.0 is a whole number; for TOML and for a policy's parameters it is none.
    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, v: type(v) is int)
    validator = extend(Draft202012Validator, type_checker=types)  # type: ignore[no-untyped-call]
    found: list[Wrong] = []
    errors = list(validator(dict(schema)).iter_errors(value))
    # What is of another type is wrong by most other words as well.
    other_type = {tuple(e.path) for e in errors if e.validator == "type" and "enum" not in e.schema}
    # A wrong type is told by the list of values, unless that takes 1.0 for the 1 in it.
    not_listed = {tuple(e.path) for e in errors if e.validator == "enum"}
    for error in errors:
        of_type = error.validator == "type"
        if tuple(error.path) in (not_listed if of_type else other_type):
            continue
        found.extend(_told(error.validator, error.validator_value, error.instance, error.schema, tuple(error.path)))
    return found or [Wrong((), "it is not as expected", None)]


def _told(word: str, wanted: Any, instance: Any, schema: Schema, path: tuple[str | int, ...]) -> Iterable[Wrong]:
    shown = _shown(instance)
    what = schema.get("description")
    if word == "additionalProperties":
        known = list(schema.get("properties", {}))
        for name in instance:
            if name not in known:
                yield Wrong((*path, name), "unknown key", did_you_mean(name, known))
    elif word == "required":
        for name in wanted:
            if name not in instance:
                yield Wrong(path, f"the key {name!r} is missing", None)
    elif word == "enum":
        hint = did_you_mean(instance, map(str, wanted)) if isinstance(instance, str) else None
        yield Wrong(path, f"{shown} is none of {', '.join(map(_shown, wanted))}", hint)
    elif word in ("minimum", "maximum"):
        least, most = schema.get("minimum"), schema.get("maximum")
        hint = f"{least} to {most}" if least is not None and most is not None else None
        side = f"below {wanted}" if word == "minimum" else f"above {wanted}"
        yield Wrong(path, f"{shown} is {side}", hint)
    elif word in ("minItems", "minLength"):
        yield Wrong(path, f"{what or 'something'} is expected, not nothing", None)
    elif word == "type":
        yield Wrong(path, f"{shown} is not {what or _ARTICLES[wanted]}", None)
    else:
        choices = [c for one in schema.get("anyOf", ()) for c in one.get("enum", ())]
        hint = did_you_mean(instance, map(str, choices)) if choices and isinstance(instance, str) else None
        yield Wrong(path, f"{shown} is not {what or 'as expected'}", hint)


_ARTICLES: Final[Mapping[str, str]] = {
    "object": "a table",
    "array": "a list",
    "string": "a text in quotes",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}


def _shown(value: Any) -> str:
    """A value as TOML would have it, cut short."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
