"""What is wrong with a value that is not of its declared type, in a user's words.

A type is declared once, as :mod:`msgspec` understands it, and ``msgspec.convert`` decides whether a
value fits. That reports the first mistake and speaks of ``int`` and ``array``; for a file that a
person wrote, :func:`mistakes` looks at each key on its own and reports all of them.
``Meta(title=...)`` says what is expected where the type alone does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, inspect, structs

from loopaudit.core.errors import did_you_mean

Path = tuple[str | int, ...]
"""The way to a value: names of keys, and 0-based places in lists."""


Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]
Number = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Mistake(Struct, frozen=True):
    """One thing that is wrong: the way to it, a sentence, and what may have been meant."""

    path: Path
    message: str
    hint: str | None


def mistakes(value: Any, kind: Any, path: Path = ()) -> list[Mistake]:
    """All that keeps a value from being of a type, in the order of the document; nothing if it is."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        # A check of several keys together fails though each of them is right.
        return list(_inside(value, kind, path)) or [Mistake(path, str(error), None)]
    return []


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type."""
    return not mistakes(value, kind)


def _inside(value: Any, kind: Any, path: Path) -> Iterator[Mistake]:
    bare = _bare(kind)
    arguments = get_args(bare)
    if isinstance(value, dict) and isinstance(bare, type) and issubclass(bare, msgspec.Struct):
        fields = {field.encode_name: field for field in structs.fields(bare)}
        for name, field in fields.items():
            if field.required and name not in value:
                yield Mistake(path, f"the key {name!r} is missing", None)
        for name, member in value.items():
            if name in fields:
                yield from mistakes(member, fields[name].type, (*path, name))
            else:
                yield Mistake((*path, name), "unknown key", did_you_mean(name, fields))
    elif isinstance(value, dict) and get_origin(bare) is dict:
        for name, member in value.items():
            yield from mistakes(member, arguments[1], (*path, name))
    elif isinstance(value, list) and get_origin(bare) in (list, tuple) and value:
        for index, member in enumerate(value):
            yield from mistakes(member, arguments[0], (*path, index))
    else:
        yield Mistake(path, *mismatch(value, kind))


def _bare(kind: Any) -> Any:
    """The type without its annotations, and without ``None`` beside it."""
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    rest = [argument for argument in get_args(kind) if argument is not NoneType]
    return _bare(rest[0]) if len(rest) == 1 and NoneType in get_args(kind) else kind


def mismatch(value: Any, kind: Any) -> tuple[str, str | None]:
    """A sentence on a single value that is not of a type, and a hint: ``'on' is none of ...``."""
    node = inspect.type_info(kind)
    choices = getattr(_plain(node), "values", None)
    if choices is None:
        return f"{_shown(value)} is not {_wanted(node)}", None
    hint = did_you_mean(value, map(str, choices)) if isinstance(value, str) else None
    return f"{_shown(value)} is none of {', '.join(map(_shown, choices))}", hint


def _plain(node: inspect.Type) -> inspect.Type:
    if isinstance(node, inspect.Metadata):
        return _plain(node.type)
    if isinstance(node, inspect.UnionType):
        rest = [one for one in node.types if not isinstance(one, inspect.NoneType)]
        return _plain(rest[0]) if len(rest) == 1 else node
    return node


_WORDS: Final[dict[type[inspect.Type], str]] = {
    inspect.StructType: "a table",
    inspect.DictType: "a table",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
    inspect.StrType: "a text in quotes",
    inspect.BoolType: "true or false",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.DateType: "a date like 2030-12-31",
}


def _wanted(node: inspect.Type) -> str:
    """What a type asks for: ``a whole number from 2 to 1000``."""
    if isinstance(node, inspect.Metadata):
        return (node.extra_json_schema or {}).get("title") or _wanted(node.type)
    if isinstance(node, inspect.UnionType):
        return " or ".join(_wanted(one) for one in node.types if not isinstance(one, inspect.NoneType))
    words = _WORDS.get(type(node), "as expected")
    least, most = getattr(node, "ge", None), getattr(node, "le", None)
    if least is not None:
        words += f" from {least:g}" if isinstance(least, float) else f" from {least}"
    if most is not None:
        words += f" to {most:g}" if isinstance(most, float) else f" to {most}"
    if getattr(node, "min_length", None):
        words += " that is not empty"
    return words


def _shown(value: Any) -> str:
    """A value as TOML has it, cut short."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
