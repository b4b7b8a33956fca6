"""Wire logs of Kimi Code: one record a line, appended while the session runs.

**Written by** Kimi Code, to ``~/.kimi-code/sessions/<folder>/<session>/agents/<id>/wire.jsonl``. Seen
on real files of protocol 1.4; record types of 1.5 are known from the writer's source.

**Conversation.** One file is one agent of one session and does not name the session. A sub-agent
has a file of its own, known by its first prompt (``origin.kind: system_trigger``): it is read as
the agent ``subagent``, so that it has no turns of the main agent. Records that carry an
``agentId`` other than ``main`` belong to that agent.

**Batch.** The ``tool.call`` events of one ``stepUuid``. **Turn.** ``turn.prompt`` of a user; steering
a running turn begins none, and ``context.append_message`` repeats the prompt.

**Failure.** ``isError``, with the exit code that a failing command's output ends in. Calls that were
not approved are ``denied``.

**Boundaries**: ``context.apply_compaction``, ``context.clear``, ``turn.cancel``. Turns that were taken
back (``context.undo``) stay in: they were lived.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import Status, Usage, content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import count, flag, items, malformed, mapping, moment, objects, string, unknown_record
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SUBAGENT: Final = "subagent"
"""How a sub-agent is called whose file does not name it."""

SILENT: Final = (
    "metadata",
    "config.",
    "profile.",
    "tools.",
    "llm.request",
    "usage.",
    "permission.",
    "plan_mode.",
    "swarm_mode.",
    "full_compaction.",
    "micro_compaction.",
    "context.append_message",
    "context.undo",
    "turn.",
    "goal.",
    "mcp.",
    "cron.",
    "file_history.",
    "skill.",
    "task.",
)
"""Beginnings of record types that carry no message, or repeat one."""

SILENT_EVENTS: Final = frozenset({"step.begin", "step.interrupted", "step.retrying", "tool.progress"})
_PARTS: Final = frozenset({"text", "think", "image", "image_url", "audio", "audio_url", "video", "video_url"})

_REFUSED: Final[dict[str, Status]] = {
    "rejected": "denied",
    "denied": "denied",
    "reject": "denied",
    "deny": "denied",
    "cancelled": "cancelled",
}
_EXIT: Final = regex.lazy(r"exit code:? (\d{1,10})\.?\s*\Z")


def sniff(probe: Probe) -> str | None:
    """Claim a ``metadata`` record with ``protocol_version``, or loop events."""
    if probe.shape != "records":
        return None
    for record in probe.dicts:
        kind = record.get("type")
        if kind == "metadata" and "protocol_version" in record:
            return "a metadata record with protocol_version"
        if kind == "context.append_loop_event" and "event" in record:
            return "records of type context.append_loop_event"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order."""
    emit.knows_success()
    wire = _Wire(emit)
    for record in objects(source, emit):
        wire.take(record)


class _Wire:
    """What has to be remembered between records."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.own: str | None = None
        """The agent whose file this is, once the first prompt has told it."""
        self.refused: dict[str, Status] = {}

    def take(self, record: dict[str, Any]) -> None:
        """One record, by its type."""
        kind = record.get("type")
        self.emit.at(time=moment(record.get("time")))
        named = string(record.get("agentId"))
        agent = named if named is not None and named != "main" else self.own or ""
        if kind == "context.append_loop_event":
            self._event(record.get("event"), agent)
        elif kind == "turn.prompt":
            self._prompt(record, agent)
        elif kind == "llm.tools_snapshot":
            self.emit.tools(declared_schemas(items(record.get("tools"))))
        elif kind == "permission.record_approval_result":
            call = string(record.get("toolCallId"))
            decision = mapping(record.get("result")).get("decision")
            if call is not None and isinstance(decision, str) and decision in _REFUSED:
                self.refused[call] = _REFUSED[decision]
        elif kind == "context.apply_compaction":
            self.emit.boundary("compaction", agent=agent)
        elif kind == "context.clear":
            self.emit.boundary("clear", agent=agent)
        elif kind == "turn.cancel":
            self.emit.boundary("interrupt", "turn.cancel", agent=agent)
        elif not isinstance(kind, str) or not kind.startswith(SILENT):
            unknown_record(self.emit, kind)

    def _prompt(self, record: dict[str, Any], agent: str) -> None:
        origin = mapping(record.get("origin"))
        content = record.get("input")
        if not isinstance(content, (str, list)) or not isinstance(origin.get("kind"), str):
            malformed(self.emit, "a prompt without its content or its origin")
        by_person = origin.get("kind") != "system_trigger"
        if self.own is None:
            self.own = agent = agent or ("" if by_person else string(origin.get("name")) or SUBAGENT)
        if by_person or agent:
            self.emit.turn(content_text(content), agent=agent, is_own=True)

    def _event(self, event: Any, agent: str) -> None:
        if not isinstance(event, dict):
            malformed(self.emit, "a loop event without its content")
            return
        kind = string(event.get("type"))
        key = string(event.get("stepUuid")) or "?"
        if kind == "tool.call":
            name, call = string(event.get("name")), string(event.get("toolCallId"))
            if name is None or call is None or "args" not in event or key == "?":
                malformed(self.emit, "a call without its name, id, arguments or step")
            self.emit.call(name or "", event.get("args"), id=call, key=key, agent=agent)
        elif kind == "tool.result":
            self._result(event, agent)
        elif kind == "content.part":
            part = mapping(event.get("part"))
            sort = string(part.get("type"))
            if sort not in _PARTS or (sort == "text" and not isinstance(part.get("text"), str)):
                malformed(self.emit, "a part of a message without its content")
            elif sort == "text":
                self.emit.say(part["text"], agent=agent, key=key)
        elif kind == "step.end":
            usage = mapping(event.get("usage"))
            tokens = Usage(
                count(usage.get("inputOther")),
                count(usage.get("output")),
                count(usage.get("inputCacheRead")),
                count(usage.get("inputCacheCreation")),
            )
            if tokens != Usage():
                self.emit.usage(tokens, agent=agent, key=string(event.get("uuid")) or key)
        elif kind not in SILENT_EVENTS:
            unknown_record(self.emit, kind)

    def _result(self, event: dict[str, Any], agent: str) -> None:
        call = string(event.get("toolCallId"))
        result = event.get("result")
        if call is None or result is None:
            malformed(self.emit, "a result without the id of its call or its content")
        output = result.get("output") if isinstance(result, dict) else result
        failed = bool(flag(mapping(result).get("isError")))
        code = _EXIT.search(content_text(output)[-200:]) if failed else None
        status = self.refused.pop(call, None) if call is not None else None
        self.emit.result(
            call,
            output,
            failed=failed,
            status=status,
            exit_code=int(code[1]) if code else None,
            agent=agent,
        )


READER = Reader(
    id="kimi-wire",
    title="Kimi Code wire log",
    looked_for="a metadata record with protocol_version, then turn.prompt and context.append_loop_event",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "isError, with the exit code of failing commands; denied calls told apart",
        "tokens": "per step",
        "time": "per record",
        "subagents": "in files of their own",
        "schemas": "tools snapshots",
        "text": "content parts",
        "batches": "steps",
    },
    evidence="data",
    written_by="Kimi Code (protocol 1.4 seen)",
    where="~/.kimi-code/sessions/<folder>/<session>/agents/<id>/wire.jsonl",
)
