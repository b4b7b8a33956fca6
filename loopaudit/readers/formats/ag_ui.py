"""Events of the AG-UI protocol, by which agents report to the interface of their user.

**Written by** servers of CopilotKit, LangGraph, CrewAI, Agent Framework, Pydantic AI and others as server-sent events,
and by programs that keep them: one event a line, or a list. Seen on recordings that the protocol's own project keeps
for its tests.

**Conversation** = one ``threadId``. **Turn** = a user's message: in the input of a run, in a snapshot of the messages,
or streamed. **Batch** = the calls of one ``parentMessageId``, else those up to the next result. A call is put
together from ``TOOL_CALL_START``, ``_ARGS`` and ``_END``, or from ``_CHUNK``; what a snapshot repeats is a copy.

**Boundaries**: ``RUN_ERROR`` ends the run.

**Not carried**: failures, tokens, sub-agents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.core.text import one_line
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import entries, items, malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.whole import records, samples
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset(
    "RUN_FINISHED STEP_STARTED STEP_FINISHED STATE_SNAPSHOT STATE_DELTA ACTIVITY_SNAPSHOT ACTIVITY_DELTA RAW "
    "CUSTOM".split()
)
"""Events that bring nothing new, as those do whose type begins with one of :data:`THOUGHTS`."""

THOUGHTS: Final = ("THINKING_", "REASONING_")

QUIET: Final = frozenset({"assistant", "system", "developer", "activity", "reasoning"})
"""Roles of messages of which nothing but calls is read where they have no text, or at all."""


def sniff(probe: Probe) -> str | None:
    """Claim the beginning of a call with ``toolCallName``, or of a run with its thread."""
    for record in samples(probe):
        kind = string(record.get("type"))
        if kind in ("TOOL_CALL_START", "TOOL_CALL_CHUNK") and _of(record, "toolCallName", "tool_call_name"):
            return f"{kind} events with toolCallName"
        if kind == "RUN_STARTED" and _of(record, "threadId", "thread_id") and _of(record, "runId", "run_id"):
            return "RUN_STARTED events with threadId and runId"
    return None


def _of(record: Mapping[str, Any], *names: str) -> str | None:
    """The first text under one of some names: some programs write them in snake case."""
    return next((found for name in names if (found := string(record.get(name))) is not None), None)


def read(source: Source, emit: Emitter) -> None:
    """Report every event in order."""
    reading = _Reading(emit)
    for record in records(source, emit):
        reading.event(record)
    reading.finish()


class _Open:
    """A call or a message that is being streamed: its pieces, and where it began."""

    __slots__ = ("at", "key", "line", "name", "pieces")

    def __init__(self, name: str, key: str | None, line: int, at: Any) -> None:
        self.name = name
        """The tool, or the role of a message."""
        self.key = key
        self.line = line
        self.at = at
        self.pieces: list[str] = []


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.thread: str | None = None
        self.calls: dict[str, _Open] = {}
        self.messages: dict[str, _Open] = {}
        self.known: set[str] = set()
        """Ids of messages, calls and results that were reported."""
        self.chunk: str | None = None
        """The call whose chunks may go on without its id."""

    def event(self, record: Mapping[str, Any]) -> None:
        """Report an event by its type."""
        kind = string(record.get("type"))
        self.emit.at(time=moment(record.get("timestamp")))
        if kind == "RUN_STARTED":
            self._run(record)
        elif kind is not None and kind.startswith("TEXT_MESSAGE_"):
            self._text(record, kind)
        elif kind == "TOOL_CALL_RESULT":
            self._end_chunk()
            self._result(record)
        elif kind is not None and kind.startswith("TOOL_CALL_"):
            self._call(record, kind)
        elif kind == "MESSAGES_SNAPSHOT":
            self.finish()
            self._snapshot(items(record.get("messages")))
        elif kind == "RUN_ERROR":
            self.finish()
            self.emit.boundary("end", one_line(string(record.get("message")) or "error", 80))
        elif kind is None or not (kind in SILENT or kind.startswith(THOUGHTS)):
            unknown_record(self.emit, kind)

    def finish(self) -> None:
        """Report what was begun and not ended."""
        for own in list(self.calls):
            self._end_call(own)
        for own in list(self.messages):
            self._end_text(own)
        self.chunk = None

    def _run(self, record: Mapping[str, Any]) -> None:
        self.finish()
        thread = _of(record, "threadId", "thread_id")
        if thread is not None and thread != self.thread:
            self.thread = thread
            self.known = set()
            self.emit.session(thread)
        given = mapping(record.get("input"))
        if "input" in record and not isinstance(given.get("messages"), list):
            malformed(self.emit, "the input of a run without its messages")
        tools = declared_schemas(items(given.get("tools")))
        if tools:
            self.emit.tools(tools)
        self._snapshot(items(given.get("messages")))

    # -- prose -----------------------------------------------------------------------------

    def _text(self, record: Mapping[str, Any], kind: str) -> None:
        own = _of(record, "messageId", "message_id") or next(reversed(self.messages), "")
        if kind == "TEXT_MESSAGE_END":
            self._end_text(own)
            return
        found = self.messages.get(own)
        if found is None:
            found = self.messages[own] = _Open(
                string(record.get("role")) or "assistant", own or None, self.emit.line, self.emit.time
            )
        if kind in ("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK"):
            if not isinstance(record.get("delta"), str):
                malformed(self.emit, "a piece of a message without its text")
            found.pieces.append(string(record.get("delta")) or "")
        elif kind != "TEXT_MESSAGE_START":
            unknown_record(self.emit, kind)

    def _end_text(self, own: str) -> None:
        found = self.messages.pop(own, None)
        if found is not None and any(found.pieces):
            self._say(own, found.name, "".join(found.pieces), found.line, found.at)

    def _say(self, own: str | None, role: str, text: str, line: int, at: Any) -> None:
        if own and own in self.known:
            return
        if own:
            self.known.add(own)
        if role == "user":
            self.emit.turn(text, line=line, at=at)
        elif role == "assistant":
            self.emit.say(text, key=own, line=line, at=at)

    # -- calls -----------------------------------------------------------------------------

    def _call(self, record: Mapping[str, Any], kind: str) -> None:
        own = _of(record, "toolCallId", "tool_call_id")
        if kind == "TOOL_CALL_CHUNK":
            if own is not None and own != self.chunk:
                self._end_chunk()
                self.chunk = own
            own = self.chunk
        if own is None:
            malformed(self.emit, "a piece of a call without its id")
            return
        if kind == "TOOL_CALL_END":
            self._end_call(own)
            return
        found = self.calls.get(own)
        if found is None:
            name = _of(record, "toolCallName", "tool_call_name")
            if name is None:
                malformed(self.emit, "a call without the name of its tool")
            parent = _of(record, "parentMessageId", "parent_message_id")
            found = self.calls[own] = _Open(name or "", parent, self.emit.line, self.emit.time)
        if kind in ("TOOL_CALL_ARGS", "TOOL_CALL_CHUNK"):
            found.pieces.append(string(record.get("delta")) or "")
        elif kind != "TOOL_CALL_START":
            unknown_record(self.emit, kind)

    def _end_chunk(self) -> None:
        if self.chunk is not None:
            self._end_call(self.chunk)
            self.chunk = None

    def _end_call(self, own: str) -> None:
        found = self.calls.pop(own, None)
        if found is None:
            return
        if found.key is not None:
            self._end_text(found.key)
        self._ask(own, found.name, "".join(found.pieces) or {}, found.key, found.line, found.at)

    def _ask(self, own: str | None, name: str, arguments: Any, key: str | None, line: int, at: Any) -> None:
        if own is not None:
            if f"call {own}" in self.known:
                return
            self.known.add(f"call {own}")
        self.emit.call(name, arguments, id=own, key=key, line=line, at=at)

    def _result(self, record: Mapping[str, Any]) -> None:
        own = _of(record, "toolCallId", "tool_call_id")
        if own is None:
            malformed(self.emit, "a result without the id of its call")
        elif own in self.calls:
            self._end_call(own)
        if own is not None:
            if f"result {own}" in self.known:
                return
            self.known.add(f"result {own}")
        error = string(record.get("error"))
        self.emit.result(own, record.get("content"), failed=True if error else None, error=error or "")

    # -- snapshots -------------------------------------------------------------------------

    def _snapshot(self, messages: list[Any]) -> None:
        """Report those messages of a snapshot that were not streamed."""
        for message in entries(messages, self.emit):
            role = string(message.get("role"))
            own = string(message.get("id"))
            text = content_text(message.get("content"))
            if role in ("user", "assistant") and text:
                self._say(own, role, text, self.emit.line, self.emit.time)
            elif role == "tool":
                self._result(message)
            elif role == "user":
                malformed(self.emit, "a message of a person without text")
            elif role not in QUIET:
                unknown_record(self.emit, role)
            listed = items(message.get("toolCalls")) or items(message.get("tool_calls"))
            for entry in map(mapping, listed):
                function = mapping(entry.get("function"))
                name = string(function.get("name")) or ""
                self._ask(
                    string(entry.get("id")), name, function.get("arguments", {}), own, self.emit.line, self.emit.time
                )


READER: Final = Reader(
    id="ag-ui",
    title="AG-UI events",
    looked_for="RUN_STARTED with threadId and runId, TOOL_CALL_START with toolCallId and toolCallName",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "time": "where events have one",
        "schemas": "where the input of a run stands beside it",
        "text": "yes",
        "batches": "parentMessageId",
    },
    evidence="data",
    written_by="servers that speak AG-UI",
    where="what they stream",
)
