"""Small tolerant looks at decoded records: a field of a wrong type counts as absent.

Readers whose records are few enough to be decoded as a whole share these, and the loops around
them: what is no object, has no type, or is of an unknown kind becomes a located problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loopaudit.core.text import one_line
from loopaudit.readers.emit import Emitter
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source


def string(value: Any) -> str | None:
    """A text that is not empty, else ``None``."""
    return value if isinstance(value, str) and value else None


def identifier(value: Any) -> str | None:
    """An id: text, or an integer written as text, else ``None``."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def count(value: Any) -> int | None:
    """A number of things: an integer of at least 0, else ``None``."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def flag(value: Any) -> bool | None:
    """A truth value, else ``None``."""
    return value if isinstance(value, bool) else None


def moment(value: Any) -> str | int | float | None:
    """A recorded time, as it was recorded, else ``None``."""
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def mapping(value: Any) -> dict[str, Any]:
    """An object; anything else counts as an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A list; anything else counts as an empty one."""
    return value if isinstance(value, list) else []


def objects(source: Source, emit: Emitter) -> Iterator[dict[str, Any]]:
    """Every line that is an object; other JSON becomes a ``not_a_record`` problem. The emitter stands at its line."""
    for record in source.records():
        emit.at(record.line)
        if isinstance(record.value, dict):
            yield record.value
        else:
            not_a_record(emit)


def entries(values: list[Any], emit: Emitter) -> Iterator[dict[str, Any]]:
    """Every entry of a document's list that is an object; others become problems."""
    for value in values:
        if isinstance(value, dict):
            yield value
        else:
            not_a_record(emit)


def not_a_record(emit: Emitter, line: int | None = None) -> None:
    """Count JSON that cannot be a record of the format."""
    emit.problem("not_a_record", "the line is JSON, but no record of this format", line=line, damage=True)


def unknown_record(emit: Emitter, kind: Any, line: int | None = None) -> None:
    """Count a record of a kind that the reader does not know; without a kind it is damaged."""
    if isinstance(kind, str):
        emit.problem("unknown_record", f"records of type {one_line(kind, 40)} are not known", line=line)
    else:
        emit.problem("no_type", "a record without a type", line=line, damage=True)


def malformed(emit: Emitter, what: str, line: int | None = None) -> None:
    """Count a record of a known kind that lacks what it is about (``"a result without its call"``)."""
    emit.problem("malformed_record", what, line=line, damage=True)


def documents(probe: Probe) -> list[Any]:
    """The root values that a probe holds: its one document, or its first lines."""
    return [probe.document] if probe.document is not None else probe.records


def has(record: Mapping[str, Any], *names: str) -> bool:
    """Whether a record has all of some members."""
    return all(name in record for name in names)
