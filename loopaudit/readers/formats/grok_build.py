"""Sessions of Grok Build, xAI's agent for the terminal: one JSON record a line.

**Written by** ``grok`` to ``~/.grok/sessions/<folder>/<session>/chat_history.jsonl``. Known from recordings that a
public project made with the program's own types. Older versions write messages of the Chat Completions API there.

**Turn** = a ``user`` record without a ``synthetic_reason``, and one of an interjection. **Batch** = one ``assistant``
record. **Results** are ``tool_result`` records, by ``tool_call_id``. Tools that the provider ran are calls of their
own (``backend_tool_call``); no output is recorded for them, only whether they completed.

**Not carried**: failures of the program's own tools, exit codes, times, tokens, tool schemas, sub-agents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import items, malformed, mapping, objects, string, unknown_record
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

TYPED: Final = "interjection"
"""The reason of a message that a person typed while the agent worked."""


def sniff(probe: Probe) -> str | None:
    """Claim ``assistant`` and ``tool_result`` records with their content beside the type."""
    if probe.shape != "records":
        return None
    found = False
    for record in probe.dicts:
        kind = record.get("type")
        if "content" not in record or "message" in record or "role" in record or "uuid" in record:
            continue
        if kind == "tool_result" and string(record.get("tool_call_id")):
            return "tool_result records with tool_call_id and content"
        found = found or (kind == "assistant" and ("model_id" in record or isinstance(record.get("tool_calls"), list)))
    return "assistant records with content and model_id" if found else None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order."""
    reading = _Reading(emit)
    for record in objects(source, emit):
        reading.record(record)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.responses = 0

    def record(self, record: Mapping[str, Any]) -> None:
        """Report a record by its type."""
        kind = string(record.get("type"))
        if kind in ("user", "assistant", "tool_result") and not isinstance(record.get("content"), (str, list)):
            malformed(self.emit, f"a record of type {kind} without content")
        if kind == "user":
            reason = record.get("synthetic_reason")
            if reason is not None and not isinstance(reason, str):
                malformed(self.emit, "a reason that is no text")
            if reason is None or reason == TYPED:
                self.emit.turn(content_text(record.get("content")), is_own=True)
        elif kind == "assistant":
            self._response(record)
        elif kind == "tool_result":
            if string(record.get("tool_call_id")) is None:
                malformed(self.emit, "a result without the id of its call")
            self.pairing.answer(record.get("tool_call_id"), record.get("content"))
        elif kind == "backend_tool_call":
            self._provider(mapping(record.get("kind")))
        elif kind not in ("system", "reasoning"):
            unknown_record(self.emit, kind)

    def _response(self, record: Mapping[str, Any]) -> None:
        self.responses += 1
        key = f"r{self.responses}"
        model = string(record.get("model_id"))
        text = content_text(record.get("content"))
        if text.strip():
            self.emit.say(text, key=key, model=model)
        calls = record.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            malformed(self.emit, "calls that are no list")
        for value in items(calls):
            call = mapping(value)
            if "arguments" not in call:
                malformed(self.emit, "a call without arguments")
            self.pairing.call(call.get("name"), call.get("arguments", {}), id=call.get("id"), key=key, model=model)

    def _provider(self, call: Mapping[str, Any]) -> None:
        """A tool that the provider ran before the response was written."""
        own = call.get("id")
        arguments = call.get("action", call.get("input"))
        if arguments is None:
            malformed(self.emit, "a call without arguments")
        self.pairing.call(call.get("tool_type"), arguments or {}, id=own, key=f"r{self.responses + 1}")
        status = string(call.get("status"))
        if status in ("completed", "failed"):
            self.pairing.answer(own, "", failed=status == "failed")
        elif status not in ("in_progress", "searching", "incomplete"):
            malformed(self.emit, "a call without a known status")


READER: Final = Reader(
    id="grok-build",
    title="Grok Build session",
    looked_for="lines of type user, assistant with tool_calls and model_id, and tool_result with tool_call_id, each "
    "with content",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "text": "yes",
        "batches": "one assistant record",
    },
    evidence="data",
    written_by="Grok Build",
    where="~/.grok/sessions/<folder>/<session>/chat_history.jsonl",
)
