"""Writes any readable transcript in the native format, so that it replays as the original.

:class:`Transcriber` is an emitter that writes a line for everything it accepts, at the moment
it accepts it: copies that the emitter drops are not written, a message that waits for what
follows is written when it is decided upon. Reading the lines therefore repeats the same steps
in the same order, with the same events, numbers and pairings under every failure level. Memory
does not grow with the transcript, and equal transcripts give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final

import orjson

from loopaudit.core.canonical import compact
from loopaudit.core.errors import InputError
from loopaudit.core.events import TEXT, BoundaryKind, Call, Status, Turn, Usage, content_text, decode_text
from loopaudit.core.findings import Problems
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter, _Agent
from loopaudit.readers.formats.native.records import FORMAT, VERSION
from loopaudit.readers.source import Source

Record = dict[str, Any]
Transform = Callable[[Record], Record | None]
"""Changes a line before it is written (to redact it), or leaves it out by ``None``."""

_MAY_REPEAT: Final = frozenset({"tool_call", "tool_result", "user"})
"""Types whose lines have an identity; others are copies where they equal the line before."""


@dataclass(slots=True)
class Converted:
    """What was written: lines by type, conversations, and how many bytes."""

    lines: dict[str, int] = field(default_factory=dict)
    sessions: int = 0
    bytes: int = 0


def convert(source: Source, reader: Reader, out: IO[bytes], transform: Transform | None = None) -> Converted:
    """Write everything that ``reader`` finds in ``source`` to ``out``. Problems stay in the source.

    Raises:
        InputError: there is no conversation in it.
    """
    writer = Writer(out, transform)
    emit = Transcriber(writer, source.problems, reader.id)
    reader.read(source, emit)
    emit.finish()
    if not emit.sessions:
        raise InputError(f"{source.name}: read as {reader.id}, but it holds no conversation")
    writer.done.sessions = emit.sessions
    return writer.done


class Writer:
    """Writes records as lines and counts them."""

    def __init__(self, out: IO[bytes], transform: Transform | None = None) -> None:
        self.done = Converted()
        self._out = out
        self._transform = transform
        self._before = b""
        self._equal = 0

    def write(self, record: Record) -> None:
        """Write a record, marked if it would pass for a copy of the line before it."""
        changed = record if self._transform is None else self._transform(record)
        if changed is None:
            return
        line = encode(changed)
        kind = changed["type"]
        if line == self._before and kind not in _MAY_REPEAT:
            self._equal += 1
            line = encode({**changed, "x_again": self._equal})
        else:
            self._before = line
            self._equal = 0
        self._out.write(line)
        self.done.bytes += len(line)
        self.done.lines[kind] = self.done.lines.get(kind, 0) + 1


def encode(record: Record) -> bytes:
    """One line: compact JSON in the order of the members, lone surrogates as escapes."""
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        text = json.dumps(record, separators=(",", ":"), ensure_ascii=True)
    except RecursionError:
        text = compact(record)
    return text.encode() + b"\n"


class Transcriber(Emitter):
    """An emitter that writes what it accepts, and hands its events to nobody."""

    def __init__(self, writer: Writer, problems: Problems, format: str) -> None:
        self._writer = writer
        self._origin = {"format": format}
        self._settling = False
        self._held: dict[str, list[tuple[str, int, str | float | None, Record]]] = {}
        """Lines by agent that wait for the decision on a message that may be a copy."""
        super().__init__(lambda event: None, problems, failure_level="flag")

    # -- conversations ---------------------------------------------------------------------

    def _begin(self, session: str) -> None:
        super()._begin(session)
        self._facts: Record = {}
        self._has_header = False
        self._messages = 0

    def session(self, session: str) -> None:
        """Begin another conversation: the next line gets a header before it."""
        before = self.session_id
        super().session(session)
        if self.session_id != before:
            self._has_header = False

    def tools(self, schemas: Mapping[str, Any]) -> None:
        """Declare tools, in the header while it is not written."""
        super().tools(schemas)
        known = self._facts.get("tools", {})
        fresh = {name: schema for name, schema in schemas.items() if name not in known or known[name] != schema}
        if fresh:
            self._declare("tools", fresh)

    def knows_success(self) -> None:
        """Say that the format tells failures, once for each conversation."""
        super().knows_success()
        if "knows_success" not in self._facts:
            self._declare("knows_success", True)

    def _declare(self, name: str, value: Any) -> None:
        if self._has_header:
            self._writer.write({"type": "declare", name: value})
        known = self._facts.get(name)
        self._facts[name] = {**known, **value} if isinstance(known, dict) else value

    def _write(self, kind: str, line: int, at: str | float | None, agent: str, members: Record) -> None:
        if not self._has_header:
            self._has_header = True
            header: Record = {"type": "header", "format": FORMAT, "version": VERSION}
            if self.session_id or self.sessions:
                header["session"] = self.session_id
            self._writer.write({**header, "source": self._origin, **self._facts})
        if kind == "user":
            self._messages += 1
            members = {**members, "id": f"u{self._messages}"}
        self._writer.write({"type": kind, **members, **_members(agent=agent or None, at=at, line=line or None)})

    # -- what a reader reports -------------------------------------------------------------

    def turn(
        self, text: str, *, agent: str = "", line: int = 0, at: str | float | None = None, id: str | None = None
    ) -> None:
        """A person's message; one that may be a copy is written when it is decided upon."""
        stream = self._agent(agent)
        waiting = len(stream.tentative)
        super().turn(text, agent=agent, line=line, at=at, id=id)
        if len(stream.tentative) > waiting:
            self._hold(agent, "user", line, at, {"text": text})

    def _deliver_turn(self, stream: _Agent, event: Turn) -> None:
        super()._deliver_turn(stream, event)
        if not self._settling:
            self._write("user", event.line, event.at, event.agent, {"text": event.text})

    def _hold(self, agent: str, kind: str, line: int, at: str | float | None, members: Record) -> None:
        self._held.setdefault(agent, []).append((kind, line, at, members))

    def _settle(self, stream: _Agent, *, keep: bool) -> None:
        self._settling = True
        super()._settle(stream, keep=keep)
        self._settling = False
        for kind, line, at, members in self._held.pop(stream.name, ()):
            if keep:
                self._write(kind, line, at, stream.name, members)

    def say(
        self,
        text: str,
        *,
        agent: str = "",
        key: str | None = None,
        line: int = 0,
        at: str | float | None = None,
        model: str | None = None,
    ) -> None:
        """Prose of the assistant; behind a message that may be a copy it waits with it."""
        waits = self._waits(self._agent(agent), key)
        super().say(text, agent=agent, key=key, line=line, at=at, model=model)
        members = _members(text=text, batch=key, model=model)
        if waits:
            self._hold(agent, "assistant", line, at, members)
        else:
            self._write("assistant", line, at, agent, members)

    def usage(self, usage: Usage, *, agent: str = "", key: str | None = None, model: str | None = None) -> None:
        """Tokens of a model response."""
        super().usage(usage, agent=agent, key=key, model=model)
        members = _members(
            batch=key,
            model=model,
            input=usage.input,
            output=usage.output,
            cache_read=usage.cache_read,
            cache_write=usage.cache_write,
        )
        self._write("usage", 0, None, agent, members)

    def call(
        self,
        name: str,
        arguments: Any,
        *,
        id: str | None = None,
        key: str | None = None,
        agent: str = "",
        line: int = 0,
        at: str | float | None = None,
        model: str | None = None,
    ) -> Call | None:
        """A tool call; a copy is not written."""
        call = super().call(name, arguments, id=id, key=key, agent=agent, line=line, at=at, model=model)
        if call is not None:
            sent = call.source if call.form == TEXT else call.arguments
            members: Record = {"id": call.id, "name": name, "arguments": sent, **_members(batch=key, model=model)}
            self._write("tool_call", line, at, agent, members)
        return call

    def result(
        self,
        id: str | None,
        output: Any,
        *,
        failed: bool | None = None,
        status: Status | None = None,
        exit_code: int | None = None,
        error: str | None = "",
        agent: str = "",
        name: str | None = None,
        line: int = 0,
        at: str | float | None = None,
    ) -> Call | None:
        """A result; one without a call is written as such, a repeated one is not."""
        entry = self._open.get(id) if id else self._oldest(agent, name)
        answered = agent if entry is None else entry[2].name
        orphans = self.totals.orphan_results
        call = super().result(
            id,
            output,
            failed=failed,
            status=status,
            exit_code=exit_code,
            error=error,
            agent=agent,
            name=name,
            line=line,
            at=at,
        )
        if call is None:
            if self.totals.orphan_results == orphans:
                return None
            text = decode_text(output) if isinstance(output, bytes) else content_text(output)
            members = _members(id=id, name=None if id else name, output=text)
        else:
            assert call.result is not None
            members = {"id": call.id, "output": call.result.output}
        if error != "":
            members["error"] = error
        members |= _members(is_error=failed, exit_code=exit_code, status=status)
        self._write("tool_result", line, at, answered, members)
        return call

    def boundary(
        self,
        kind: BoundaryKind,
        reason: str = "",
        *,
        agent: str = "",
        line: int = 0,
        at: str | float | None = None,
    ) -> None:
        """A compaction, a resumption, an interruption, or the recorded end of the run."""
        super().boundary(kind, reason, agent=agent, line=line, at=at)
        self._write("boundary", line, at, agent, {"kind": kind, **_members(reason=reason or None)})


def _members(**values: Any) -> Record:
    """Members of a line; ``None`` is not written."""
    return {name: value for name, value in values.items() if value is not None}
