"""Checks a transcript strictly and says, line by line, what is wrong with it.

A file in the native format is checked against its schema, line by line, and for what no single
line shows: results without calls, ids in use twice, responses torn apart. A file in another
format is read as a replay reads it, and everything the reader stumbled over is listed.

An issue is an error where something in the file is lost to a replay or is against the schema;
everything else is a warning. Memory and the number of issues kept are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from msgspec import Raw

from loopaudit.core.bounded import forget_oldest
from loopaudit.core.canonical import call_key, parse
from loopaudit.core.errors import InputError
from loopaudit.core.events import Batch, Event, seconds
from loopaudit.core.findings import Problems
from loopaudit.core.json import tolerant_loads
from loopaudit.core.text import one_line
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import MAX_IDS, Emitter
from loopaudit.readers.formats.native.reader import READER as NATIVE
from loopaudit.readers.formats.native.reader import Reading
from loopaudit.readers.formats.native.records import (
    AnyLine,
    Assistant,
    Extension,
    Header,
    ToolCall,
    ToolResult,
    line_from,
)
from loopaudit.readers.formats.native.schema import mismatches, strictly
from loopaudit.readers.source import Source, same_line

LIMIT: Final = 200
"""Issues of one code that are kept; further ones are only counted."""


@dataclass(frozen=True, slots=True)
class Issue:
    """Something wrong at a 1-based line (0: the format has no lines).

    ``code`` is its kind, a word of a closed set. ``pointer`` is an RFC 6901 pointer into the line, ``expected`` and
    ``found`` say what belongs there and what stands there, where that is the matter.
    """

    code: str
    message: str
    line: int = 0
    is_error: bool = True
    pointer: str = ""
    expected: str = ""
    found: str = ""


@dataclass(slots=True)
class Validation:
    """What was found in a transcript; ``counts`` has all issues by code, kept or not.

    ``lines`` are those that are not blank; ``None`` where the reader does not tell.
    """

    path: str
    format: str
    lines: int | None = None
    sessions: int = 0
    calls: int = 0
    issues: list[Issue] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    errors: int = 0
    warnings: int = 0

    @property
    def ok(self) -> bool:
        """Whether there is no error; there may be warnings."""
        return not self.errors

    @property
    def dropped(self) -> int:
        """Issues that are counted but not kept."""
        return self.errors + self.warnings - len(self.issues)

    def add(self, issue: Issue) -> None:
        """Count an issue, and keep it if it is among the first :data:`LIMIT` of its code."""
        count = self.counts[issue.code] = self.counts.get(issue.code, 0) + 1
        if issue.is_error:
            self.errors += 1
        else:
            self.warnings += 1
        if count <= LIMIT:
            self.issues.append(issue)


class _Mismatches(Problems):
    """Problems that become issues at once."""

    def __init__(self, result: Validation) -> None:
        super().__init__()
        self._result = result

    def add(self, kind: str, message: str, *, line: int = 0, damage: bool = False) -> None:
        """Count a problem, and make an issue of it."""
        super().add(kind, message, line=line, damage=damage)
        self._result.add(Issue(kind, message, line, damage))


def validate(source: Source, reader: Reader, *, thorough: bool = False) -> Validation:
    """Check a transcript. With ``thorough``, every native line is checked by the JSON Schema itself.

    Raises:
        InputError: a transcript in another format cannot be read at all.
    """
    result = Validation(source.name, reader.id)
    earlier = source.problems
    source.problems = problems = _Mismatches(result)
    for problem in earlier.kept:
        problems.add(problem.kind, problem.message, line=problem.line, damage=problem.damage)

    def sink(event: Event) -> None:
        if isinstance(event, Batch):
            result.calls += len(event.calls)
            for call in event.calls:
                if call.result is None:
                    result.add(Issue("unanswered_call", "a call without a result", call.line, is_error=False))

    emit = Emitter(sink, problems)
    if reader.id == NATIVE.id:
        _native(source, emit, result, thorough=thorough)
    else:
        reader.report(source, emit)
    emit.finish()
    result.sessions = emit.sessions
    if not emit.sessions:
        result.add(Issue("no_conversation", "nobody says or does anything in it"))
    result.issues.sort(key=lambda issue: issue.line)
    return result


# -- the native format ---------------------------------------------------------------------


def _native(source: Source, emit: Emitter, result: Validation, *, thorough: bool) -> None:
    reading = Reading(source.name, emit)
    links = _Links()
    before = b""
    lines = 0
    for number, raw in source.lines():
        result.lines = lines = lines + 1
        is_equal = same_line(raw, before)
        before = raw
        line: AnyLine | Extension | None = None if thorough else strictly(raw)
        if line is None:
            line = _checked(source, result, raw, number)
        if line is None:
            continue
        if not isinstance(line, Extension):
            for issue in links.check(line, number):
                result.add(issue)
        try:
            reading.line(line, number, is_equal=is_equal)
        except InputError as error:
            result.add(Issue("later_version", f"{error.message}; nothing behind it is checked", number))
            return


def _checked(source: Source, result: Validation, raw: bytes, number: int) -> AnyLine | Extension | None:
    """A line that is not plainly good: every way in which it does not fit, and what is left of it."""
    try:
        value = tolerant_loads(raw)
    except ValueError as error:
        source.bad_line(number, raw, error)
        return None
    try:
        orjson.loads(raw)
    except ValueError as error:
        reason = one_line(str(error), 160)
        result.add(Issue("loose_json", f"only a tolerant decoder takes this line: {reason}", number, is_error=False))
    for wrong in mismatches(value):
        code = "schema" if wrong.is_error else "unknown_member"
        where = wrong.pointer or "the line"
        message = f"{where}: expected {wrong.expected}, found {wrong.found}"
        if not wrong.is_error:
            message = f"{where}: skipped; {wrong.expected}"
        result.add(Issue(code, message, number, wrong.is_error, wrong.pointer, wrong.expected, wrong.found))
    try:
        return line_from(value)
    except (ValueError, RecursionError):
        return None


class _Links:
    """What only several lines together show. Forgets what is older than :data:`MAX_IDS` ids."""

    def __init__(self) -> None:
        self._session: str | int | None = None
        self._begin()

    def _begin(self) -> None:
        self._open: dict[str, tuple[int, bytes]] = {}
        """Calls without a result by id: line and key."""
        self._orphans: dict[str, int] = {}
        """Lines of results by the id of a call that has not come yet."""
        self._batch: dict[str, str] = {}
        self._left: dict[tuple[str, str], int] = {}
        """Lines at which an agent's responses ended, by agent and batch."""

    def check(self, line: AnyLine, number: int) -> Iterator[Issue]:
        """Issues of a line in view of those before it."""
        if isinstance(line, Header) or (line.session is not None and line.session != self._session):
            self._begin()
            self._session = line.session
        if isinstance(line.at, (str, int, float)) and seconds(line.at) is None:
            yield Issue("unknown_time", f"/at: {one_line(repr(line.at), 40)} is no time", number, False, "/at")
        if isinstance(line, ToolCall):
            yield from self._call(line, number)
        elif isinstance(line, ToolResult):
            yield from self._result(line, number)
        if isinstance(line, (ToolCall, Assistant)) and line.batch is not None:
            yield from self._response(line.agent, str(line.batch), number)

    def _call(self, line: ToolCall, number: int) -> Iterator[Issue]:
        if line.id is None:
            return
        id_ = str(line.id)
        key = _key(line)
        early = self._orphans.pop(id_, None)
        if early is not None:
            message = f"the result of this call stands before it, at line {early}"
            yield Issue("result_before_call", message, number, pointer="/id")
        earlier = self._open.get(id_)
        if earlier is not None and earlier[1] != key:
            message = f"the call of line {earlier[0]} has this id and waits for its result"
            yield Issue("id_in_use", message, number, pointer="/id")
        self._open[id_] = (number, key)
        _forget(self._open)

    def _result(self, line: ToolResult, number: int) -> Iterator[Issue]:
        if line.id is not None:
            id_ = str(line.id)
            if self._open.pop(id_, None) is None:
                self._orphans[id_] = number
                _forget(self._orphans)
        is_failed_status = line.status is not None and line.status != "ok"
        if line.is_error is not None and line.status is not None and line.is_error != is_failed_status:
            message = f"/is_error and /status say different things: {line.is_error} and {line.status}"
            yield Issue("contradiction", message, number, False, "/status")

    def _response(self, agent: str, batch: str, number: int) -> Iterator[Issue]:
        current = self._batch.get(agent)
        if batch == current:
            return
        if current is not None:
            self._left[agent, current] = number
            _forget(self._left)
        self._batch[agent] = batch
        ended = self._left.pop((agent, batch), None)
        if ended is not None:
            message = f"this response ended at line {ended}, where another one of the same agent began"
            yield Issue("torn_batch", message, number, False, "/batch")


def _key(line: ToolCall) -> bytes:
    sent: Any = line.arguments
    return call_key(line.name, parse(bytes(sent)) if isinstance(sent, Raw) else sent)


def _forget(known: dict[Any, Any]) -> None:
    """Keep a dictionary within bounds by dropping its oldest entries."""
    if len(known) > MAX_IDS:
        forget_oldest(known, MAX_IDS // 4)
