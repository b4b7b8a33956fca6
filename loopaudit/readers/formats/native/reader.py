"""loopaudit JSONL v1: this program's own format, one record a line, distinguished by ``type``.

**Written by** ``loopaudit convert``, which makes it of any other format, and by harnesses that
want their runs audited without imitating somebody's log. ``docs/transcript-format.md`` is the
specification, ``loopaudit/readers/formats/native/transcript-v1.json`` the schema of a line.

**Turn** = a ``user`` line. **Batch** = the ``tool_call`` and ``assistant`` lines with one ``batch``;
without it, calls up to the next result. A ``header`` begins a conversation. A line equal to the
line before it is a copy, unless it is a call or a result, which ids tell apart.

**Failure** is known by ``is_error``, ``exit_code`` and ``status``, each as far as it was recorded.

**Not carried**: nothing of the neutral stream is left out; a converted transcript replays as
its original. Files of a later version of the format are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, Raw

from loopaudit.core.errors import InputError
from loopaudit.core.events import Usage
from loopaudit.core.json import exact_loads
from loopaudit.core.text import one_line
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.formats.native.records import (
    FORMAT,
    TYPES,
    VERSION,
    AnyLine,
    Assistant,
    BoundaryLine,
    Declare,
    Extension,
    Header,
    Id,
    MarksLine,
    ToolCall,
    ToolResult,
    UsageLine,
    User,
    line_decoder,
    line_from,
)
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source, same_line

_DISTINCTIVE = {
    "user": ("text",),
    "tool_call": ("name",),
    "boundary": ("kind",),
}
"""Fields that a line of a type must have to be recognised without a header."""

_FOREIGN = frozenset(
    "message payload data sessionId session_id uuid parentUuid item part content role timestamp subtype tool_name "
    "tool_id toolCallId call_id tool_call".split()
)
"""Fields of records of other formats whose types are called alike."""


def sniff(probe: Probe) -> str | None:
    """Claim a header of this format, or lines of its types that have its fields and no others'."""
    if probe.shape != "records":
        return None
    records = probe.dicts
    if (found := sniff_head(records)) is not None:
        return found
    lines = [r for r in records if isinstance(r.get("type"), str) and not r["type"].startswith("x_")]
    if not lines or any(r["type"] not in TYPES or not _FOREIGN.isdisjoint(r) for r in lines):
        return None
    if any(r["type"] in _DISTINCTIVE and all(name in r for name in _DISTINCTIVE[r["type"]]) for r in lines):
        return "lines of type user, assistant, tool_call or tool_result"
    return None


def sniff_head(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Claim a header of this format."""
    if any(r.get("type") == "header" and r.get("format") == FORMAT for r in records):
        return "a header of the format loopaudit"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every line, in file order.

    Raises:
        InputError: the file is of a later version of the format.
    """
    reading = Reading(source.name, emit)
    decode = line_decoder().decode
    before = b""
    for number, raw in source.lines():
        is_equal = same_line(raw, before)
        before = raw
        line: AnyLine | Extension
        try:
            line = decode(raw)
        except (ValueError, RecursionError):
            try:
                value = exact_loads(raw)
            except ValueError as error:
                source.bad_line(number, raw, error)
                continue
            try:
                line = line_from(value)
            except (ValueError, RecursionError) as error:
                reason = one_line(str(error), 160)
                emit.problem("not_a_record", f"no line of the format: {reason}", line=number, damage=True)
                continue
        reading.line(line, number, is_equal=is_equal)


class Reading:
    """What has to be remembered between lines: the conversations there were."""

    def __init__(self, name: str, emit: Emitter) -> None:
        self.name = name
        self.emit = emit
        self._open: str | None = None
        self._closed: set[str] = set()
        self._headers = 0
        self._empty = True
        """Whether nothing but headers stands in the open conversation."""

    def line(self, line: AnyLine | Extension, number: int, *, is_equal: bool) -> None:
        """Report one line; ``is_equal`` says that the line before it had the same bytes."""
        if isinstance(line, Extension):
            return
        if line.session is not None or isinstance(line, Header):
            self._session(line, number)
        if isinstance(line, ToolCall):
            arguments: Any = line.arguments
            self.emit.call(
                line.name,
                bytes(arguments) if isinstance(arguments, Raw) else arguments,
                id=_text(line.id),
                key=_text(line.batch),
                agent=line.agent,
                line=number,
                at=line.at,
                model=line.model,
            )
        elif isinstance(line, ToolResult):
            output: Any = line.output
            self.emit.result(
                _text(line.id),
                bytes(output) if isinstance(output, Raw) else output,
                failed=line.is_error,
                status=line.status,
                exit_code=line.exit_code,
                error="" if line.error is UNSET else line.error,
                apart=line.error is not UNSET,
                agent=line.agent,
                name=line.name,
                line=number,
                at=line.at,
            )
        elif isinstance(line, (Header, Declare)):
            if line.tools:
                self.emit.tools(line.tools)
            if line.knows_success:
                self.emit.knows_success()
            return
        elif isinstance(line, MarksLine):
            self.emit.marks(line.marks())
            return
        elif is_equal:
            self.emit.copied("repeated_record", "the line stands twice in a row", line=number)
        else:
            self._message(line, number)
        self._empty = False

    def _message(self, line: Assistant | User | UsageLine | BoundaryLine, number: int) -> None:
        emit = self.emit
        if isinstance(line, Assistant):
            key = _text(line.batch)
            emit.say(line.text, agent=line.agent, key=key, line=number, at=line.at, model=line.model)
            if line.usage is not None:
                emit.usage(line.usage, agent=line.agent, key=key)
        elif isinstance(line, User):
            emit.turn(line.text, agent=line.agent, line=number, at=line.at, id=_text(line.id))
        elif isinstance(line, UsageLine):
            usage = Usage(line.input, line.output, line.cache_read, line.cache_write)
            emit.usage(usage, agent=line.agent, key=_text(line.batch), model=line.model)
        else:
            emit.boundary(line.kind, line.reason, agent=line.agent, line=number, at=line.at)

    def _session(self, line: AnyLine, number: int) -> None:
        """Begin the conversation that a line names; every header begins one."""
        name = _text(line.session)
        if isinstance(line, Header):
            if line.format != FORMAT or line.version > VERSION:
                raise InputError(
                    f"{self.name}: line {number}: version {line.version} of the format {line.format!r}",
                    hint=f"this program reads version {VERSION} of {FORMAT!r}",
                )
            self._headers += not self._empty or not self._headers
            if name is None and not self._empty:
                name = str(self._headers)
        if name is None or name == self._open:
            return
        if name in self._closed:
            self.emit.problem("split_session", "the lines of this conversation do not stand together", line=number)
        if self._open is not None:
            self._closed.add(self._open)
        self._open = name
        self._empty = True
        self.emit.session(name)


def _text(value: Id | None) -> str | None:
    return str(value) if isinstance(value, int) else value


READER = Reader(
    id="native",
    title="loopaudit JSONL",
    looked_for="lines with type header, user, assistant, tool_call, tool_result or boundary",
    members=frozenset({"type"}),
    sniff=sniff,
    sniff_head=sniff_head,
    read=read,
    carries={
        "results": "by id, else by order",
        "failure": "flag, exit code and kind of refusal",
        "tokens": "yes",
        "time": "yes",
        "subagents": "yes",
        "schemas": "yes",
        "text": "yes",
        "batches": "yes",
    },
    evidence="data",
    written_by="loopaudit convert, and harnesses that log for it",
    where="anywhere",
)
