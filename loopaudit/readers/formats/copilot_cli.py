"""Session events of the Copilot command line: one event a line.

**Written by** Copilot CLI, to ``~/.copilot/session-state/<id>/events.jsonl`` (older: ``<id>.jsonl``).
Seen on real files of versions 1.0.20 to 1.0.64.

**Not carried**: tool schemas.

**Conversation.** One file is one, named by ``session.start``; ``session.resume`` is a boundary.

**Batch.** The ``toolRequests`` of one ``assistant.message``; messages that share an ``apiCallId`` are
chunks of one response. ``tool.execution_start`` repeats each request and counts only where no
message asked for it. Tools that the person ran (``tool.user_requested``) are no calls.

**Turn.** A ``user.message`` without a ``source``; those with one were put in by a skill or a hook.

**Sub-agents** are known by ``parentToolCallId``, else ``agentId``, which is their name.

**Failure.** ``success: false`` with an ``error``, whose ``code`` distinguishes refusals and interruptions. A
failing command is a success whose text ends in its exit code.

**Tokens.** Output per message; input and cache per response where ``assistant.usage`` is kept, else
from the totals of ``session.shutdown``.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import Status, Usage, content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.copies import Copies
from loopaudit.readers.kit.fields import (
    count,
    flag,
    has,
    items,
    malformed,
    mapping,
    moment,
    objects,
    string,
    unknown_record,
)
from loopaudit.readers.kit.whole import NAMES, Growing
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

FAMILIES: Final = (
    "session.",
    "hook.",
    "permission.",
    "assistant.",
    "subagent.",
    "system.",
    "skill.",
    "user_input.",
    "elicitation.",
    "external_tool.",
    "command.",
    "commands.",
    "exit_plan_mode.",
    "mcp.",
    "sampling.",
    "pending_messages.",
    "capabilities.",
    "tool.execution_p",
)
"""Beginnings of the types of events that carry no message of the conversation."""

_SUBJECTS: Final = frozenset({"session", "user", "assistant", "tool", "hook", "system"})
_EXIT: Final = regex.lazy(
    r"<(?:exited with exit code|command with exit code|exit code:?) (\d{1,10})[^<>\n]{0,80}>\s*\Z"
)
_DENIED: Final = frozenset({"rejected", "denied", "permission_denied", "user_rejected", "user_denied"})
_CANCELLED: Final = frozenset({"cancelled", "canceled", "aborted", "abort", "interrupted"})


def sniff(probe: Probe) -> str | None:
    """Claim events with a dotted type and an object as ``data``."""
    if probe.shape != "records":
        return None
    for record in probe.dicts:
        kind = record.get("type")
        if not isinstance(kind, str) or not isinstance(record.get("data"), dict):
            continue
        if kind.partition(".")[0] in _SUBJECTS and "." in kind and has(record, "timestamp", "parentId"):
            return "events of a dotted type with data and parentId"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order."""
    emit.knows_success()
    session = _Session(emit)
    for record in objects(source, emit):
        session.take(record)


class _Session:
    """What has to be remembered between events."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.copies = Copies()
        self.asked: set[str] = set()
        """Ids of calls that a message asked for and whose execution has not begun."""
        self.by_person: set[str] = set()
        self.keys: dict[str, str] = {}
        """The newest response of each agent."""
        self.growing = Growing()
        self.has_usage = False

    def take(self, record: dict[str, Any]) -> None:
        """One event, by its type."""
        kind = record.get("type")
        data = record.get("data")
        if not isinstance(kind, str):
            unknown_record(self.emit, kind)
            return
        if self.copies.seen(string(record.get("id")), None, kind):
            self.emit.copied("repeated_record", "an event of this id stood before")
            return
        self.emit.at(time=moment(record.get("timestamp")))
        if not isinstance(data, dict):
            known = kind == "abort" or kind.startswith(FAMILIES)
            malformed(self.emit, "an event without its data" if known else "a message or a call without its data")
            return
        agent = string(data.get("parentToolCallId")) or string(record.get("agentId")) or ""
        match kind:
            case "user.message":
                self._person(data, agent)
            case "assistant.message":
                self._message(record, data, agent)
            case "tool.execution_start":
                self._started(data, agent)
            case "tool.execution_complete":
                self._completed(data, agent)
            case "tool.user_requested":
                self.by_person.add(str(data.get("toolCallId")))
            case "assistant.usage":
                self._usage(data, agent)
            case "session.start":
                self.emit.session(string(data.get("sessionId")) or "")
            case "session.resume":
                self.emit.boundary("resume", "session.resume")
            case "session.compaction_complete":
                self.emit.boundary("compaction", agent=agent)
            case "session.error":
                self.emit.problem("recorded_error", "the session reported an error")
            case "session.shutdown":
                self._shutdown(data)
            case "abort":
                self.emit.boundary("interrupt", string(data.get("reason")) or "", agent=agent)
            case _ if not kind.startswith(FAMILIES):
                unknown_record(self.emit, kind)

    def _person(self, data: dict[str, Any], agent: str) -> None:
        content = data.get("content")
        if not isinstance(content, str):
            malformed(self.emit, "a person's message without its text")
        elif string(data.get("source")) in (None, "user"):
            self.emit.turn(content, agent=agent, is_own=True)

    def _message(self, record: dict[str, Any], data: dict[str, Any], agent: str) -> None:
        names = (data.get("apiCallId"), data.get("messageId"), record.get("id"))
        key = next((name for name in names if isinstance(name, str) and name), f"line {self.emit.line}")
        self.keys[agent] = key
        model = string(data.get("model"))
        requests = data.get("toolRequests")
        if requests is not None and not isinstance(requests, list):
            malformed(self.emit, "calls that are no list")
        for request in map(mapping, items(requests)):
            call, name = string(request.get("toolCallId")), string(request.get("name"))
            if call is None or name is None or "arguments" not in request:
                malformed(self.emit, "a call without its id, name or arguments")
            if call is not None:
                self.asked.add(call)
            self.emit.call(name or "", request.get("arguments"), id=call, key=key, agent=agent, model=model)
        content = data.get("content")
        if isinstance(content, str):
            if content.strip():
                self.emit.say(content, agent=agent, key=key, model=model)
        elif content is not None:
            malformed(self.emit, "a message without its text")
        output = count(data.get("outputTokens"))
        if output is not None and not self.has_usage:
            self.emit.usage(Usage(output=output), agent=agent, key=key, model=model)

    def _started(self, data: dict[str, Any], agent: str) -> None:
        call = string(data.get("toolCallId"))
        if call is None:
            malformed(self.emit, "the start of a call without its id")
        elif call in self.asked:
            self.asked.discard(call)
        elif call not in self.by_person:
            name = string(data.get("toolName"))
            if name is None:
                malformed(self.emit, "a call without the name of its tool")
            self.emit.call(name or "", data.get("arguments"), id=call, agent=agent)

    def _completed(self, data: dict[str, Any], agent: str) -> None:
        call, success = string(data.get("toolCallId")), flag(data.get("success"))
        if call is None or success is None:
            malformed(self.emit, "a result without the id of its call or its success")
        if call is not None and call in self.by_person:
            return
        result, error = data.get("result"), data.get("error")
        output = result.get("content") if isinstance(result, dict) else result
        status: Status | None = None
        if success is False:
            code = str(mapping(error).get("code"))
            status = "denied" if code in _DENIED else "cancelled" if code in _CANCELLED else None
            message = string(mapping(error).get("message")) or string(error)
            output = message if output is None else output
        exit_code = _EXIT.search(content_text(output)[-200:]) if success else None
        self.emit.result(
            call,
            output,
            failed=None if success is None else not success,
            status=status,
            exit_code=int(exit_code[1]) if exit_code else None,
            agent=agent,
        )

    # -- tokens ----------------------------------------------------------------------------

    def _usage(self, data: dict[str, Any], agent: str) -> None:
        usage = Usage(*(count(data.get(name)) for name in _TOKENS))
        if usage != Usage():
            self.has_usage = True
            self.emit.usage(usage, agent=agent, key=self.keys.get(agent, ""), model=string(data.get("model")))

    def _shutdown(self, data: dict[str, Any]) -> None:
        models = [mapping(mapping(m).get("usage")) for m in mapping(data.get("modelMetrics")).values()]
        totals: dict[str, int | None] = {}
        for name, recorded in zip(NAMES, _TOKENS, strict=True):
            counts = [n for n in (count(model.get(recorded)) for model in models) if n is not None]
            totals[name] = sum(counts) if counts and name != "output" else None
        if not self.has_usage:
            self.emit.usage(self.growing.grown(totals), key="")
        self.emit.boundary("end", string(data.get("shutdownType")) or "")


_TOKENS: Final = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
"""Recorded names of the counts, in the order of :class:`Usage`."""

READER = Reader(
    id="copilot-cli",
    title="Copilot CLI session events",
    looked_for="events of type session.start, user.message, tool.execution_start with data, id, parentId, timestamp",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "success flag and error code; exit code in the text",
        "tokens": "output per response, the rest per session",
        "time": "per event",
        "subagents": "parentToolCallId or agentId",
        "text": "assistant prose",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="Copilot CLI (1.0.20 to 1.0.64 seen)",
    where="~/.copilot/session-state/<id>/events.jsonl",
)
