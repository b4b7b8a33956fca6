"""Chat records of Qwen Code: the envelope of Claude Code around contents of the Gemini API.

**Written by** Qwen Code to ``~/.qwen/projects/<project>/chats/<session>.jsonl``. Checked on one real file of
which a publisher had blanked nearly every value, and on what the format's readers say.

**Turn** = a user record. **Batch** = one assistant record. **Results** are tool_result records, paired by
id, else by name and order. ``system`` records of subtype ``rewind`` take back everything after their
target, so the file is read whole before anything is reported; what was taken back is a problem ``rewound``.
``chat_compression`` is a compaction. Records with ``isSidechain`` are of the agent ``agentId``.

**Failure.** ``toolCallResult.status``, else ``error`` in the response, is a flag; the exit code of a
shell command stands on a line of its output. Telemetry of the loop detection is a ``recorded_guard``.

**Not carried**: tool schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.copies import Copies
from loopaudit.readers.kit.fields import malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.gemini import Outcome, Pairs, has_parts, inside, outcome_of, prose, refusal, usage_of
from loopaudit.readers.kit.whole import guard_notice, records, samples
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

KINDS: Final = frozenset({"user", "assistant", "tool_result", "system"})


def sniff(probe: Probe) -> str | None:
    """Claim records with sessionId and message.parts, or system records with systemPayload."""
    for record in samples(probe):
        if "sessionId" not in record or "uuid" not in record:
            continue
        if has_parts(record.get("message")) or (record.get("type") == "system" and "systemPayload" in record):
            return "records with sessionId, uuid and message.parts"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Take back what was rewound, then report everything in file order."""
    kept: list[tuple[dict[str, Any], int]] = []
    copies = Copies()
    for record in records(source, emit):
        name = string(record.get("uuid"))
        if copies.seen(name, str(record.get("timestamp")), repr(record)):
            emit.copied("repeated_record", "the record stood before")
        elif record.get("subtype") == "rewind":
            _rewind(emit, kept, record)
        else:
            kept.append((record, emit.line))
    reading = _Reading(emit)
    for record, line in kept:
        emit.at(line, moment(record.get("timestamp")), _agent_of(record))
        reading.take(record)


def _rewind(emit: Emitter, kept: list[tuple[dict[str, Any], int]], record: Mapping[str, Any]) -> None:
    target = string(mapping(record.get("systemPayload")).get("targetUuid")) or string(record.get("targetUuid"))
    places = [n for n, (r, _) in enumerate(kept) if target is not None and r.get("uuid") == target]
    if len(places) != 1:
        malformed(emit, "a rewind to a record that is not in the file")
        return
    while len(kept) > places[0] + 1:
        emit.problem("rewound", "a record that was taken back later", line=kept.pop()[1])


def _agent_of(record: Mapping[str, Any]) -> str:
    return (string(record.get("agentId")) or "sidechain") if record.get("isSidechain") is True else ""


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairs = Pairs(emit)
        self.responses = 0
        self.session: str | None = None

    def take(self, record: Mapping[str, Any]) -> None:
        """One record by its type."""
        session = string(record.get("sessionId"))
        if session is not None and session != self.session:
            self.session = session
            self.emit.session(session)
        kind = string(record.get("type"))
        if kind == "system":
            self._system(record)
            return
        if kind not in KINDS:
            unknown_record(self.emit, kind)
            return
        content = mapping(record.get("message")).get("parts")
        if not isinstance(content, list):
            malformed(self.emit, "a message without parts")
            return
        if kind == "assistant":
            self._assistant(record, content)
        elif kind == "tool_result":
            self._results(record, content)
        else:
            text = prose(content)
            if not text:
                malformed(self.emit, "a message of a person without text")
            self.emit.turn(text)

    def _system(self, record: Mapping[str, Any]) -> None:
        subtype = string(record.get("subtype"))
        if subtype == "chat_compression":
            self.emit.boundary("compaction")
        elif subtype == "ui_telemetry":
            event = mapping(mapping(record.get("systemPayload")).get("uiEvent"))
            guard = guard_notice(string(event.get("event.name")) or "")
            if guard is not None:
                self.emit.boundary("recorded_guard", guard)

    def _assistant(self, record: Mapping[str, Any], content: list[Any]) -> None:
        self.responses += 1
        key = f"r{self.responses}"
        model = string(record.get("model"))
        text = prose(content)
        if text.strip():
            self.emit.say(text, key=key, model=model)
        for function in inside(self.emit, content, "functionCall"):
            self.pairs.call(function, key=key, model=model)
        usage = usage_of(record.get("usageMetadata"))
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)

    def _results(self, record: Mapping[str, Any], content: list[Any]) -> None:
        ended = mapping(record.get("toolCallResult"))
        found = list(inside(self.emit, content, "functionResponse"))
        if not found:
            malformed(self.emit, "a tool_result record without a result")
        for function in found:
            end = outcome_of(string(function.get("name")) or "", function.get("response"))
            if len(found) == 1:
                end = _flagged(end, ended)
            self.pairs.result(function, end)


def _flagged(end: Outcome, ended: Mapping[str, Any]) -> Outcome:
    """The outcome with the status that the record tells beside it."""
    error = string(ended.get("error")) or string(mapping(ended.get("error")).get("message")) or end.error
    match ended.get("status"):
        case "success":
            return Outcome(end.output, False, exit_code=end.exit_code)
        case "error":
            return Outcome(end.output, True, refusal(error), error=error)
        case "cancelled":
            return Outcome(end.output, True, refusal(error) or "cancelled", error=error)
    return end


READER: Final = Reader(
    id="qwen-code",
    title="Qwen Code chat",
    looked_for="records with sessionId, uuid and message with parts; type tool_result; systemPayload",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id, else by name and order",
        "failure": "status, exit code of the shell tool",
        "tokens": "per response",
        "time": "yes",
        "subagents": "isSidechain",
        "text": "yes",
        "batches": "one assistant record",
    },
    written_by="Qwen Code",
    where="~/.qwen/projects/<project>/chats/*.jsonl",
)
