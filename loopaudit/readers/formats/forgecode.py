"""Conversations that ForgeCode dumps.

**Written by** ``/dump`` of ForgeCode to a JSON document in the working directory. Checked on one real dump of 2025.

**Turn** = a user message with ``raw_content``, the text as the person typed it; user messages without are
files and reminders that the program adds. In a dump where no message has it, user messages that are
not ``droppable`` count. **Batch** = one assistant message. **Results** are entries ``tool``, paired by
``call_id``, else by name and order.

**Failure.** ``output.is_error`` is a flag. A reminder of the program's own check for doom loops is a
``recorded_guard`` boundary.

**Not carried**: times, tokens of single responses, exit codes, sub-agents (they have conversations of their own).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import flag, items, malformed, mapping, string, unknown_record
from loopaudit.readers.kit.whole import Fresh, guard_notice, records, samples, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source


def sniff(probe: Probe) -> str | None:
    """Claim a context with messages that are objects with one member ``text`` or ``tool``."""
    for root in samples(probe):
        context = mapping(root.get("context", mapping(root.get("conversation")).get("context")))
        for entry in items(context.get("messages"))[:20]:
            text, tool = mapping(entry).get("text"), mapping(entry).get("tool")
            if (isinstance(text, dict) and "role" in text) or (isinstance(tool, dict) and "output" in tool):
                return "context.messages with text and tool entries"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every conversation in order."""
    for root in records(source, emit):
        body = mapping(root.get("conversation")) or root
        context = mapping(body.get("context"))
        if not isinstance(context.get("messages"), list):
            malformed(emit, "a conversation without messages")
            continue
        name = string(body.get("id"))
        if name is not None:
            emit.session(name)
        tools = declared_schemas(items(context.get("tools")))
        if tools:
            emit.tools(tools)
        _Reading(emit).report(context["messages"])


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.fresh = Fresh()
        self.ids: dict[str, str] = {}
        """Ids of open calls by the recorded ones."""
        self.responses = 0
        self.marked = False

    def report(self, messages: list[Any]) -> None:
        """All entries of one conversation."""
        self.marked = any("raw_content" in mapping(mapping(entry).get("text")) for entry in messages)
        for entry in messages:
            self._entry(mapping(entry))

    def _entry(self, entry: Mapping[str, Any]) -> None:
        text, tool = entry.get("text"), entry.get("tool")
        if isinstance(text, dict):
            self._text(text)
        elif isinstance(tool, dict):
            self._result(tool)
        elif "text" in entry or "tool" in entry or len(entry) != 1:
            malformed(self.emit, "an entry that is neither text nor tool")
        elif "image" not in entry:
            unknown_record(self.emit, next(iter(entry)))

    def _text(self, message: Mapping[str, Any]) -> None:
        role = string(message.get("role"))
        match role.lower() if isinstance(role, str) else role:
            case "user":
                self._user(message)
            case "assistant":
                self._assistant(message)
            case "system":
                pass
            case other:
                unknown_record(self.emit, other)

    def _user(self, message: Mapping[str, Any]) -> None:
        content = string(message.get("content")) or ""
        raw = message.get("raw_content")
        typed = string(mapping(raw).get("Text")) or string(raw)
        if raw is not None and typed is None:
            typed = content
            malformed(self.emit, "a message of a person whose text cannot be read")
        if typed is not None or (not self.marked and message.get("droppable") is not True):
            if not typed and not content:
                malformed(self.emit, "a message of a person without text")
            self.emit.turn(content if typed is None else typed)
            return
        guard = guard_notice(content) if "<system_reminder" in content[:200] else None
        if guard is not None:
            self.emit.boundary("recorded_guard", "doom_loop")

    def _assistant(self, message: Mapping[str, Any]) -> None:
        self.responses += 1
        key = f"r{self.responses}"
        model = string(message.get("model"))
        text = string(message.get("content")) or ""
        if text.strip():
            self.emit.say(text, key=key, model=model)
        calls = message.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            malformed(self.emit, "tool calls that are no list")
        for call in items(calls):
            found = mapping(call)
            name = tool_name(self.emit, found.get("name"))
            if not isinstance(found.get("arguments"), (dict, str)):
                malformed(self.emit, "a call without its arguments")
            recorded = string(found.get("call_id"))
            reported = self.emit.call(name, found.get("arguments"), id=self.fresh.id(recorded), key=key, model=model)
            if reported is not None and recorded is not None:
                self.ids[recorded] = reported.id

    def _result(self, tool: Mapping[str, Any]) -> None:
        recorded = string(tool.get("call_id"))
        output = mapping(tool.get("output"))
        failed = flag(output.get("is_error"))
        if failed is None:
            malformed(self.emit, "a result without is_error")
        values = items(output.get("values"))
        self.emit.result(
            None if recorded is None else self.ids.pop(recorded, recorded),
            "\n".join(content_text(value) for value in values),
            failed=failed,
            name=string(tool.get("name")),
        )


READER: Final = Reader(
    id="forgecode",
    title="ForgeCode dump",
    looked_for="context with messages that have text (role, content, tool_calls) or tool (call_id, output)",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "flag",
        "schemas": "where the dump has tools",
        "text": "yes",
        "batches": "one assistant message",
    },
    written_by="ForgeCode /dump",
    where="<time>-dump.json in the working directory",
)
