"""The two logs of AtomCode: requests to the model, and finished turns.

**Written by** AtomCode. *Request log*: one request a line, ``messages`` with the whole conversation so far. Checked on
real logs. *Turn log*: ``<session>.jsonl``, one turn a line with its ``tools``; known from the program's source only.

**Request log.** Each line repeats the one before it: only what is new is reported. What a later line has in
other words (old outputs cut short) is a problem ``rewritten_message``. A line with fewer messages than the one before
is a ``compaction``. A line that shares nothing with the
one before it begins another conversation. **Turn** = a user message, **batch** = one assistant message; results are
paired by ``call_id``. The text of the last response is not in the log.

**Turn log.** **Turn** = one line. Order is kept, batches are lost: each call is one.

**Failure.** ``success: false`` and ``is_error`` are flags. A command's header ``[elapsed: 1.7s, exit: 101]`` is its
exit code; such a result may still be marked as a success.

**Not carried**: times and tokens in request logs, sub-agents, tool schemas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.canonical import digest, dump
from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import usage_of
from loopaudit.readers.kit.fields import flag, items, malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.whole import Fresh, Names, records, samples, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

CALLS: Final = "AssistantWithToolCalls"
RESULT: Final = "ToolResult"

_HEADER: Final = regex.lazy(r"\[elapsed: [\d.]+m?s, exit: (-?\d{1,10})\]")


def sniff(probe: Probe) -> str | None:
    """Claim messages whose content is one named variant, or turns with turn_id and tools."""
    for record in samples(probe):
        for message in items(record.get("messages"))[:50]:
            content = mapping(mapping(message).get("content"))
            if len(content) == 1 and not {CALLS, RESULT, "Text"}.isdisjoint(content):
                return "messages whose content is Text, AssistantWithToolCalls or ToolResult"
        if "turn_id" in record and "tools" in record and "user" in record and "session_id" in record:
            return "turns with session_id, turn_id, user and tools"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every request or turn in file order."""
    requests = _Requests(emit)
    turns = _Turns(emit)
    for record in records(source, emit):
        if "messages" in record:
            requests.take(record)
        elif "turn_id" in record or "tools" in record:
            turns.take(record)
        else:
            emit.problem("unknown_record", "neither a request nor a turn")


def exit_code(output: str) -> int | None:
    """The exit code in the header that the program puts before a command's output."""
    found = _HEADER.match(output)
    return int(found[1]) if found else None


class _Requests:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.names = Names()
        self.before: list[bytes] = []
        """Marks of the messages of the request before."""
        self.fresh = Fresh()
        self.ids: dict[str, str] = {}
        self.responses = 0

    def take(self, record: Mapping[str, Any]) -> None:
        """One request: tell what the one before it did not have."""
        messages = record["messages"]
        if not isinstance(messages, list):
            malformed(self.emit, "a request whose messages are no list")
            return
        marks = [digest(dump(message)) for message in messages]
        model = string(record.get("model"))
        known = Counter(self.before)
        shared = sum((Counter(marks) & known).values())
        systems = sum(mapping(message).get("role") == "System" for message in messages)
        if self.before and shared <= systems:
            self.fresh = Fresh()
            self.ids = {}
            self.emit.session(self.names.unique("request log"))
        elif len(marks) < len(self.before):
            self.emit.boundary("compaction", "the history was shortened")
        for place, (message, mark) in enumerate(zip(messages, marks, strict=True)):
            if known[mark]:
                known[mark] -= 1
            elif place < len(self.before) <= len(marks):
                self.emit.copied("rewritten_message", "a message that the request before has in other words")
            else:
                self._message(mapping(message), model)
        self.before = marks

    def _message(self, message: Mapping[str, Any], model: str | None) -> None:
        role = string(message.get("role"))
        content = message.get("content")
        if isinstance(content, str):
            content = {"Text": content}
        variant = next(iter(content)) if isinstance(content, dict) and len(content) == 1 else None
        if variant is None:
            malformed(self.emit, "a message without content")
            return
        body = mapping(content)[variant]
        if variant == CALLS:
            self._calls(body, model)
        elif variant == RESULT:
            self._result(body)
        elif variant != "Text" or not isinstance(role, str):
            unknown_record(self.emit, variant if isinstance(role, str) else role)
        elif not isinstance(body, str):
            malformed(self.emit, "a message without its text")
        elif role.lower() == "user":
            self.emit.turn(body)
        elif role.lower() == "assistant":
            self.responses += 1
            if body.strip():
                self.emit.say(body, key=f"r{self.responses}", model=model)
        elif role.lower() != "system":
            unknown_record(self.emit, role)

    def _calls(self, body: Any, model: str | None) -> None:
        self.responses += 1
        key = f"r{self.responses}"
        text = string(mapping(body).get("text")) or ""
        if text.strip():
            self.emit.say(text, key=key, model=model)
        calls = mapping(body).get("tool_calls")
        if not isinstance(calls, list):
            malformed(self.emit, "a response without its calls")
        for call in items(calls):
            found = mapping(call)
            name = tool_name(self.emit, found.get("name"))
            if not isinstance(found.get("arguments"), (str, dict)):
                malformed(self.emit, "a call without its arguments")
            recorded = string(found.get("id"))
            given = self.fresh.id(recorded) or recorded
            reported = self.emit.call(name, found.get("arguments"), id=given, key=key, model=model)
            if reported is not None and recorded is not None:
                self.ids[recorded] = reported.id

    def _result(self, body: Any) -> None:
        found = mapping(body)
        recorded = string(found.get("call_id"))
        if recorded is None:
            malformed(self.emit, "a result without the id of its call")
        output = found.get("output")
        success = flag(found.get("success"))
        self.emit.result(
            None if recorded is None else self.ids.get(recorded, recorded),
            output,
            failed=None if success is None else not success,
            exit_code=exit_code(content_text(output)),
        )


class _Turns:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.fresh = Fresh()

    def take(self, record: Mapping[str, Any]) -> None:
        """One finished turn."""
        session = string(record.get("session_id"))
        if session is not None:
            self.emit.session(session)
        self.emit.at(time=moment(record.get("iso")) or moment(record.get("ts")))
        user = record.get("user")
        if not isinstance(user, str):
            malformed(self.emit, "a turn without the person's message")
        self.emit.turn(string(user) or "")
        tools = record.get("tools")
        if not isinstance(tools, list):
            malformed(self.emit, "a turn without its calls")
        for tool in items(tools):
            self._tool(mapping(tool))
        text = string(record.get("assistant")) or ""
        if text.strip():
            self.emit.say(text)
        usage = usage_of(record.get("usage"))
        if usage is not None:
            self.emit.usage(usage, key="")

    def _tool(self, tool: Mapping[str, Any]) -> None:
        name = tool_name(self.emit, tool.get("name"))
        arguments = tool.get("args", tool.get("arguments"))
        if not isinstance(arguments, (str, dict)):
            malformed(self.emit, "a call without its arguments")
        call = self.emit.call(name, arguments, id=self.fresh.id(tool.get("id")))
        failed = flag(tool.get("is_error"))
        if call is None or ("result" not in tool and failed is None):
            return
        output = tool.get("result")
        self.emit.result(call.id, output, failed=failed, exit_code=exit_code(content_text(output)))


READER: Final = Reader(
    id="atomcode",
    title="AtomCode logs",
    looked_for="messages whose content is Text, AssistantWithToolCalls, ToolResult; turns with turn_id, user, tools",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "flag, exit code of commands",
        "tokens": "per turn, in turn logs",
        "time": "in turn logs",
        "text": "yes",
        "batches": "one assistant message; lost in turn logs",
    },
    written_by="AtomCode",
    where="its log folder",
)
