"""Records of formats that are written now as one document, now one record a line, and their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct

from loopaudit.core.errors import InputError
from loopaudit.core.events import Usage
from loopaudit.core.regex import Caseless
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import count, malformed, not_a_record, string
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

S = TypeVar("S", bound=Struct)


def values(source: Source, emit: Emitter) -> Iterator[Any]:
    """Every root value: the document, or one for each line. The emitter stands at the line of what is yielded.

    Raises:
        InputError: the source is a directory.
    """
    shape = source.probe().shape
    if shape == "directory":
        raise InputError(f"{source.name}: a directory, but this format is a file")
    if shape == "document":
        emit.at(0)
        yield source.document()
    else:
        for record in source.records():
            emit.at(record.line)
            yield record.value


def records(source: Source, emit: Emitter) -> Iterator[dict[str, Any]]:
    """Every object: lines, or the entries of a list. What is no object becomes a problem.

    The emitter stands at the line of what is yielded.
    """
    for value in values(source, emit):
        line = emit.line
        if value == [] and line:
            not_a_record(emit)
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict):
                emit.at(line)  # who read the entry before may have stood elsewhere
                yield entry
            else:
                not_a_record(emit)


def typed_records(
    source: Source, emit: Emitter, decode: Callable[[bytes], S], convert: Callable[[Any], S]
) -> Iterator[S]:
    """The objects of :func:`records` as structs; ``decode`` takes a line in its usual spelling.

    Every other line, and a document, is decoded as a whole first, for ``convert`` to make a struct of an object.
    """
    if source.glance().shape != "records":
        yield from map(convert, records(source, emit))
        return

    def converted(value: Any) -> S | list[Any]:
        return value if isinstance(value, list) else convert(value)

    lines: Iterator[tuple[int, S | list[Any]]] = source.decoded(decode, converted)
    for line, item in lines:
        # As :meth:`Emitter.at` does, without a call of it.
        emit.line, emit.time, emit.agent = line, None, ""
        if not isinstance(item, list):
            yield item
            continue
        for entry in item or [None]:
            if isinstance(entry, dict):
                emit.at(line)
                yield convert(entry)
            else:
                not_a_record(emit)


MAX_SAMPLES: Final = 50


def samples(probe: Probe) -> list[dict[str, Any]]:
    """The first objects that :func:`records` would give, as far as a probe holds them."""
    return probe.once(_samples)


def _samples(probe: Probe) -> list[dict[str, Any]]:
    roots = [probe.document] if probe.shape == "document" else probe.records
    found: list[dict[str, Any]] = []
    for root in roots[:MAX_SAMPLES]:
        found += [e for e in (root[:MAX_SAMPLES] if isinstance(root, list) else [root]) if isinstance(e, dict)]
    return found[:MAX_SAMPLES]


class Fresh:
    """Passes each id once. A second use shows that somebody blanked the ids, or reuses them."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def id(self, value: Any) -> str | None:
        """The id, or ``None`` where there is none or it was given before."""
        if not isinstance(value, str) or not value or value in self._seen:
            return None
        self._seen.add(value)
        return value


class Names:
    """Names for the conversations of a file: a second one of a name becomes ``name~2``."""

    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """The name, made different from those before it."""
        times = self._times[name] = self._times.get(name, 0) + 1
        return name if times == 1 else self.unique(f"{name}~{times}")


def tool_name(emit: Emitter, value: Any, line: int | None = None) -> str:
    """The name of a called tool; a call without one is kept, and is a problem."""
    name = string(value)
    if name is None:
        malformed(emit, "a call without the name of its tool", line)
    return name or ""


_NOTHING: Final = Usage()


def tokens(
    input: Any, output: Any, *, thoughts: Any = None, total: Any = None, read: Any = None, written: Any = None
) -> Usage | None:
    """Recorded token counts; ``None`` where nothing is recorded.

    Some APIs count thoughts inside the output, others beside it: they are added where the recorded
    ``total`` shows that they stand beside it.
    """
    usage = Usage(count(input), count(output), count(read), count(written))
    beside, whole = count(thoughts), count(total)
    if usage.output is not None and beside and whole is not None:
        parts = (usage.input or 0) + usage.output + beside
        if whole in (parts, parts + (usage.cache_read or 0) + (usage.cache_write or 0)):
            usage.output += beside
    return None if usage == _NOTHING else usage


_LOOP: Final = Caseless(
    r"\bloop\b[^.\n]{0,40}\bdetected\b|\bdetected\b[^.\n]{0,40}\bloop\b|\bloop[ _]detect|\bdoom[ _-]?loop"
    r"|stuck ?in ?(?:a )?loop|\bmax(?:imum)?\b[^.\n]{0,20}\b(?:iterations?|repetitions?|turns)\b"
    r"|\bmaximum number of (?:turns|actions)\b",
)


def guard_notice(text: str) -> str | None:
    """The first line of a harness's notice by which one of its guards stopped the agent.

    Give it only what the harness itself wrote; prose and outputs may say the same of other things.
    """
    return text.strip().split("\n", 1)[0][:200] if _LOOP.search(text[:2000]) else None


NAMES = ("input", "output", "cache_read", "cache_write")


class Growing:
    """Token totals of a running process. A total that shrank belongs to a process begun anew."""

    __slots__ = ("_before",)

    def __init__(self) -> None:
        self._before: dict[str, int] = {}

    def grown(self, totals: Mapping[str, int | None]) -> Usage:
        """What the totals grew by since the last report. Names as in :data:`NAMES`."""
        known = {name: value for name, value in totals.items() if value is not None}
        before = self._before
        if any(value < before.get(name, 0) for name, value in known.items()):
            before = {}
        self._before = {**before, **known}
        return Usage(*(known[name] - before.get(name, 0) if name in known else None for name in NAMES))
