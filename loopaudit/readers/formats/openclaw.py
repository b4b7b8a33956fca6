"""The telemetry stream of OpenClaw: events of its hooks, one a line.

**Written by** OpenClaw's telemetry plug-in to a file of its own. Its session files are another format (``pi``).
Checked on one real file of 2026.

**Turn** = ``message.in``, a person's message in a channel. **Agents**: a ``sessionKey`` with ``:subagent:`` is a
sub-agent of its own, all other keys are the main agent. **Calls** are ``tool.start``, **results**
``tool.end``; both have no ids and are paired by agent, name and order. **Batch**: the stream does not mark
responses; calls before the first result are one. **Prose** is what was sent out (``message.out``).

**Failure.** ``success`` is a flag.

**Not carried**: what the tools returned (every output is empty, so guards that compare results see
equal ones), times of calls, tokens, models, tool schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import flag, malformed, moment, string, unknown_record
from loopaudit.readers.kit.pairing import Waiting
from loopaudit.readers.kit.whole import records, samples, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset({"agent.start", "agent.end", "message.sending", "session.start", "session.end"})
"""Events that are neither calls nor messages, or announce one that follows."""


def sniff(probe: Probe) -> str | None:
    """Claim tool events with a toolName and a sessionKey, or messages of a channel."""
    for record in samples(probe):
        kind = string(record.get("type"))
        if kind in ("tool.start", "tool.end") and "toolName" in record:
            return "tool.start and tool.end with toolName"
        if kind in ("message.in", "message.out") and "channel" in record:
            return "message.in with channel"
        if kind == "agent.start" and "sessionKey" in record:
            return "agent.start with sessionKey"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every event in file order."""
    waiting = Waiting()
    for record in records(source, emit):
        _take(emit, waiting, record)


def _take(emit: Emitter, waiting: Waiting, record: Mapping[str, Any]) -> None:
    kind = string(record.get("type"))
    session = string(record.get("sessionKey")) or ""
    agent = session if ":subagent:" in session else ""
    emit.at(time=moment(record.get("timestamp")))
    match kind:
        case "message.in" | "message.out":
            text = record.get("content")
            if not isinstance(text, str):
                malformed(emit, "a message without its text")
                text = ""
            if kind == "message.in":
                emit.turn(text)
            elif text.strip():
                emit.say(text)
        case "tool.start":
            if "params" in record and not isinstance(record["params"], dict):
                malformed(emit, "a call whose params are no object")
            name = tool_name(emit, record.get("toolName"))
            call = emit.call(name, record.get("params", {}), agent=agent)
            if call is not None:
                waiting.add(call.id, (agent, name))
        case "tool.end":
            success = flag(record.get("success"))
            error = string(record.get("error")) or ""
            if success is None:
                malformed(emit, "a result without success")
            output = record.get("result") if "result" in record else error
            name = tool_name(emit, record.get("toolName"))
            failed = None if success is None else not success
            words = error or None if "result" not in record else ""
            answered = waiting.take((agent, name)) or "no call"
            emit.result(answered, output, failed=failed, error=words, agent=agent)
        case _ if kind not in SILENT:
            unknown_record(emit, kind)


READER: Final = Reader(
    id="openclaw",
    title="OpenClaw telemetry",
    looked_for="tool.start and tool.end with toolName and sessionKey; message.in with channel",
    sniff=sniff,
    read=read,
    carries={
        "results": "that there was one, without output; by name and order",
        "failure": "flag",
        "time": "of messages",
        "subagents": "by sessionKey",
        "text": "what was sent",
    },
    written_by="OpenClaw telemetry",
    where="a file of the telemetry plug-in",
)
