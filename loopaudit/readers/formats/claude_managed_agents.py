"""Session events of Claude managed agents: one event a line, plain or in a wrapper.

**Written by** the events API of managed agents and whatever keeps its answers. Seen on real files
of 2026: lines ``{role, kind, time, raw: event}``, and captures of an SDK's calls
``["client.beta.sessions.events.stream", event]``. Of captures the stream counts; what was sent
(``events.send``) stands in the stream again.

**Not carried**: the model of a response, the schemas of built-in tools.

**Conversation.** One file is one session, named by the ``sessions.create`` call where there is one.
An event whose id stood before is a copy.

**Batch.** The calls between a ``span.model_request_start`` and the next one. Calls are
``agent.tool_use``, ``agent.mcp_tool_use`` and ``agent.custom_tool_use``.

**Turn** = ``user.message`` and ``user.define_outcome``, the task that a grader checks.

**Sub-agents** are threads: events with a ``session_thread_id`` that is not the first one that ran.

**Failure.** ``is_error``. A call that a person denied (``user.tool_confirmation``) is ``denied``.

**Boundaries**: ``user.interrupt``, compaction of a thread's context, the end of the session.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.events import Status, content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import answer_of, content_of, usage_from
from loopaudit.readers.kit.copies import Copies
from loopaudit.readers.kit.fields import items, malformed, mapping, moment, not_a_record, string, unknown_record
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

CALLS: Final = frozenset({"agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"})
RESULTS: Final = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
"""Result events, and the member that names the call."""

COMPACTED: Final = frozenset({"agent.thread_context_compacted", "agent.context_compacted"})
ENDS: Final = frozenset({"session.status_terminated", "session.deleted"})
FAMILIES: Final = ("session.", "span.", "agent.thinking", "agent.thread_", "user.tool_")
"""Beginnings of the types of events that carry no message of the conversation."""

_CALL_PREFIX: Final = "client."
_STREAM: Final = ".events.stream"
_LIST: Final = ".events.list"
_CREATE: Final = ".sessions.create"


def event_of(value: Any) -> dict[str, Any] | None:
    """The event in a line, whatever is around it; ``None`` where there is none."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        if not value[0].endswith((_STREAM, _LIST)):
            return None
        value = value[1]
    if isinstance(value, dict) and isinstance(value.get("raw"), dict):
        value = value["raw"]
    return value if isinstance(value, dict) else None


def sniff(probe: Probe) -> str | None:
    """Claim events whose ids begin with ``sevt_``."""
    if probe.shape != "records":
        return None
    for record in probe.records:
        event = event_of(record)
        if event is None:
            continue
        kind, name = event.get("type"), event.get("id")
        if isinstance(kind, str) and isinstance(name, str) and name.startswith("sevt_") and "." in kind:
            return "events with ids sevt_ and types agent., session., span."
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order."""
    emit.knows_success()
    session = _Session(emit)
    for value, number in source.records():
        emit.at(number)
        if isinstance(value, list) and value and isinstance(value[0], str) and value[0].startswith(_CALL_PREFIX):
            session.sdk_call(value[0], value[1] if len(value) > 1 else None)
            if not value[0].endswith((_STREAM, _LIST)):
                continue
        event = event_of(value)
        if event is None:
            not_a_record(emit)
        else:
            session.take(event)


class _Session:
    """What has to be remembered between events."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.copies = Copies()
        self.main: str | None = None
        self.denied: set[str] = set()
        self.responses: dict[str, str] = {}
        """By agent: the key of its response that is being read."""

    def sdk_call(self, name: str, value: Any) -> None:
        """What a captured call tells of the session: its name and the agent's own tools."""
        if name.endswith(_CREATE):
            created = mapping(value)
            if string(created.get("id")):
                self.emit.session(created["id"])
            tools = declared_schemas(items(mapping(created.get("agent")).get("tools")))
            if tools:
                self.emit.tools(tools)

    def take(self, event: dict[str, Any]) -> None:
        """One event, by its type."""
        kind = event.get("type")
        name = string(event.get("id"))
        if not isinstance(kind, str):
            unknown_record(self.emit, kind)
            return
        if self.copies.seen(name, None, kind):
            self.emit.copied("repeated_record", "an event of this id stood before")
            return
        self.emit.at(time=moment(event.get("processed_at")))
        thread = string(event.get("session_thread_id"))
        if kind == "session.thread_status_running" and self.main is None:
            self.main = thread
        agent = thread if thread and thread != self.main and self.main else ""
        if kind in CALLS:
            self._call(kind, event, agent)
        elif kind in RESULTS:
            self._result(kind, event, agent)
        elif kind in ("user.message", "user.define_outcome"):
            self._turn(kind, event, agent)
        elif kind == "agent.message":
            content = content_of(event.get("content"))
            if content.lost:
                malformed(self.emit, "a message without its content")
            if content.text.strip():
                self.emit.say(content.text, agent=agent, key=self._key(agent))
        elif kind == "span.model_request_start":
            self.responses[agent] = name or f"line {self.emit.line}"
        elif kind == "span.model_request_end":
            usage = usage_from(event.get("model_usage"))
            if usage is not None:
                self.emit.usage(usage, agent=agent, key=self._key(agent))
        else:
            self._other(kind, event, agent)

    def _other(self, kind: str, event: dict[str, Any], agent: str) -> None:
        if kind == "user.tool_confirmation":
            call = string(event.get("tool_use_id"))
            if call is None:
                malformed(self.emit, "a confirmation without the id of its call")
            elif event.get("result") == "deny":
                self.denied.add(call)
        elif kind == "user.interrupt":
            self.emit.boundary("interrupt", "user.interrupt", agent=agent)
        elif kind in COMPACTED:
            self.emit.boundary("compaction", kind, agent=agent)
        elif kind in ENDS:
            self.emit.boundary("end", kind)
        elif kind == "session.error":
            self.emit.problem("recorded_error", "the session reported an error")
        elif not kind.startswith(FAMILIES):
            unknown_record(self.emit, kind)

    def _key(self, agent: str) -> str:
        return self.responses.get(agent, "before the first request")

    def _call(self, kind: str, event: dict[str, Any], agent: str) -> None:
        name = string(event.get("name"))
        server = string(event.get("mcp_server_name"))
        if name is None or "input" not in event:
            malformed(self.emit, "a call without the name of its tool or its arguments")
        if kind == "agent.mcp_tool_use" and server:
            name = f"mcp__{server}__{name or ''}"
        call = string(event.get("id"))
        if call is None:
            malformed(self.emit, "a call without an id")
        self.emit.call(name or "", event.get("input"), id=call, key=self._key(agent), agent=agent)

    def _result(self, kind: str, event: dict[str, Any], agent: str) -> None:
        call = string(event.get(RESULTS[kind])) or string(event.get("tool_use_id"))
        if call is None:
            malformed(self.emit, "a result without the id of its call")
        answer = answer_of(event)
        status: Status | None = "denied" if call in self.denied else answer.status
        self.emit.result(
            call,
            answer.output,
            failed=answer.failed,
            status=status,
            exit_code=answer.exit_code,
            agent=agent,
        )

    def _turn(self, kind: str, event: dict[str, Any], agent: str) -> None:
        content = event.get("content" if kind == "user.message" else "description")
        if not isinstance(content, (str, list)):
            malformed(self.emit, "a message without its content")
            return
        self.emit.turn(content_text(content), agent=agent, is_own=True)


READER = Reader(
    id="claude-managed-agents",
    title="Claude managed agents events",
    looked_for="events of type agent.tool_use, session.status_running, span.model_request_start with ids sevt_",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "is_error; denied calls told apart",
        "tokens": "per model request",
        "time": "per event",
        "subagents": "session_thread_id",
        "schemas": "of custom tools, in captures that show the session's creation",
        "text": "agent.message",
        "batches": "model request spans",
    },
    evidence="data",
    written_by="Claude managed agents (API of 2026)",
    where="anywhere: answers of the events API that somebody kept",
)
