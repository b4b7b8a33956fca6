"""The general path behind a typed decoder: a record made of a decoded value, member by member.

A typed decoder refuses a whole line for one member of an unexpected type. :func:`fitting` makes
the same record of the decoded value, where only such a member counts as absent. It reads the
names and types off the record itself, so that a field is declared once, and both paths know it.
"""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Any, Final, Protocol, TypeVar, get_args, get_origin, runtime_checkable

from msgspec import Raw, Struct
from msgspec.structs import FieldInfo, fields

from loopaudit.core.canonical import unsigned_zero, written

S = TypeVar("S", bound=Struct)

NOTHING: Final = Raw(b"")
"""A field that is not there; every recorded JSON value has at least one byte."""

_ABSENT: Final = object()
"""Stands for a value that does not fit its field; ``None`` is a value that may fit."""


@runtime_checkable
class Lenient(Protocol):
    """A record that can also be made of a value that is no object."""

    @classmethod
    def from_other(cls, value: Any) -> Any:
        """The record that such an entry of a list stands for."""


def fitting(kind: type[S], value: Any) -> S:
    """Make a record of a decoded object; members that do not fit their fields count as absent.

    A field is ``Any``, :class:`msgspec.Raw`, a record, a list of these, a plain type, or a union
    of such types, of which the first that fits is taken. An entry of a list of records that does
    not fit becomes an empty record, or what :meth:`Lenient.from_other` makes of it.

    Raises:
        TypeError: the value is no object.
        RecursionError: records are nested too deeply in it.
    """
    if not isinstance(value, dict):
        raise TypeError("a record is an object")
    members = {f.name: _fit(f.type, value[f.encode_name]) for f in _fields(kind) if f.encode_name in value}
    return kind(**{name: member for name, member in members.items() if member is not _ABSENT})


def fitting_list(kind: type[S], value: Any) -> list[S]:
    """Make a record of every entry of a decoded list, as in a field that is a list of records.

    Raises:
        TypeError: the value is no list.
    """
    if not isinstance(value, list):
        raise TypeError("records are in a list")
    return [_entry(kind, entry) for entry in value]


@cache
def _fields(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    return fields(kind)


def _fit(kind: Any, value: Any) -> Any:
    """The value as a typed decoder gives it to a field of this type, or :data:`_ABSENT`."""
    if kind is Any:
        return value
    if kind is Raw:
        return Raw(written(value))
    if isinstance(kind, UnionType):
        fits = (_fit(member, value) for member in get_args(kind))
        return next((fit for fit in fits if fit is not _ABSENT), _ABSENT)
    plain = get_origin(kind) or kind
    if plain is list:
        return [_entry(get_args(kind)[0], entry) for entry in value] if isinstance(value, list) else _ABSENT
    if issubclass(plain, Struct):
        return fitting(plain, value) if isinstance(value, dict) and _is_of(plain, value) else _ABSENT
    if plain in (int, float):
        value = unsigned_zero(value)
        if plain is float and type(value) is int:
            try:
                return float(value)
            except OverflowError:  # an integer beyond every double
                return _ABSENT
    # The exact type: True is no integer here, as it is none in JSON.
    return value if type(value) is plain else _ABSENT


def _is_of(kind: type[Struct], value: dict[str, Any]) -> bool:
    """Whether an object has the tag of a record, where that has one."""
    config = kind.__struct_config__
    return config.tag_field is None or value.get(config.tag_field) == config.tag


def _entry(kind: Any, value: Any) -> Any:
    fit = _fit(kind, value)
    if fit is not _ABSENT:
        return fit
    return kind.from_other(value) if isinstance(kind, Lenient) else kind()
