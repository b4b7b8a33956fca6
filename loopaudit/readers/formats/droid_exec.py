"""The stream of ``droid exec --output-format stream-json`` (or ``debug``) of Factory: one JSON event a line.

**Written by** droid to its standard output, where a program keeps it.
**Evidence**: public programs and type declarations that read the stream; no file of somebody's was seen.

**Conversation** = one run, from its ``system`` record on. **Turn** = a user's ``message``. **Batch** = the calls of
one ``messageId``, else those up to the next result. **Results** by ``id`` or ``toolCallId``; versions that left it out
answer the calls in order.

**Failure.** ``isError``. **Boundaries**: ``completion`` and ``turn.failed`` end the run.

**Not carried**: tokens, exit codes, tool schemas (their names only).
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.core.text import one_line
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import flag, malformed, mapping, moment, objects, string, unknown_record
from loopaudit.readers.kit.pairing import Pairing, value_text
from loopaudit.readers.kit.whole import Names
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset({"reasoning", "thinking", "result"})
"""Records that bring nothing new."""


def sniff(probe: Probe) -> str | None:
    """Claim ``tool_call`` records with ``toolName`` and ``parameters``, or messages with ``text`` and a session."""
    if probe.shape != "records":
        return None
    began = False
    for record in probe.dicts:
        kind = record.get("type")
        if kind == "tool_call" and "toolName" in record and "parameters" in record:
            return "tool_call records with toolName and parameters"
        began = began or (kind == "system" and "session_id" in record and "reasoning_effort" in record)
        if kind == "message" and "text" in record and string(record.get("role")) and ("session_id" in record or began):
            return "message records with role, text and session_id"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order."""
    emit.knows_success()
    reading = _Reading(emit)
    for record in objects(source, emit):
        reading.record(record)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.names = Names()
        self.model: str | None = None
        self.messages: set[str] = set()

    def record(self, record: dict[str, Any]) -> None:
        """Report a record by its type."""
        kind = string(record.get("type"))
        self.emit.at(time=moment(record.get("timestamp")))
        if kind == "system":
            name = string(record.get("session_id"))
            self.model = string(record.get("model"))
            self.pairing.begin(self.names.unique(name or "run"))
            self.messages = set()
        elif kind == "message":
            self.message(record)
        elif kind == "tool_call":
            if not isinstance(record.get("parameters"), dict):
                malformed(self.emit, "a call without arguments")
            self.pairing.call(
                record.get("toolName"),
                record.get("parameters", {}),
                id=record.get("toolCallId", record.get("id")),
                key=string(record.get("messageId")),
                model=self.model,
            )
        elif kind == "tool_result":
            self.result(record)
        elif kind == "completion":
            self.emit.boundary("end", "completed")
        elif kind in ("turn.failed", "error"):
            words = string(mapping(record.get("error")).get("message")) or string(record.get("message")) or kind
            self.emit.boundary("end", one_line(words, 80))
        elif kind not in SILENT:
            unknown_record(self.emit, kind)

    def message(self, record: dict[str, Any]) -> None:
        """Report a message; one that stands twice counts once."""
        text = record.get("text")
        role = record.get("role")
        if not isinstance(text, str):
            malformed(self.emit, "a message without text")
            text = content_text(text)
        own = string(record.get("id"))
        if own is not None:
            if own in self.messages:
                self.emit.copied("repeated_message", "a message of this id stood before")
                return
            self.messages.add(own)
        if role == "user":
            self.emit.turn(text, is_own=True)
        elif role == "assistant":
            self.emit.say(text, key=own, model=self.model)
        else:
            malformed(self.emit, "a message without the role of a user or an assistant")

    def result(self, record: dict[str, Any]) -> None:
        """Report a result."""
        failed = flag(record.get("isError"))
        error = record.get("error")
        if "value" not in record and error is None:
            malformed(self.emit, "a result without a value")
        words = string(error) or string(mapping(error).get("message")) or ""
        self.pairing.answer(
            record.get("toolCallId", record.get("id")),
            value_text(record.get("value")) or words,
            name=record.get("toolName"),
            failed=bool(error) if failed is None else failed,
            error=words,
        )


READER: Final = Reader(
    id="droid-exec",
    title="droid exec stream",
    looked_for="tool_call records with toolName and parameters, tool_result with isError and value, completion",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id, else in order",
        "failure": "isError",
        "time": "per record",
        "text": "assistant prose",
        "batches": "calls of one messageId",
    },
    evidence="source",
    written_by="Factory droid exec",
    where="standard output of droid exec",
)
