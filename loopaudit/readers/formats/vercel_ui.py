"""Messages of the Vercel AI SDK: UI messages, those of version 4, and model messages.

**Written by** programs that store their chats. A bare list, ``messages`` of an object, lists of such objects, one
message or one chat a line. Read as the SDK's source writes them; no real file was seen.

**Batch** = the tool parts between two ``step-start`` parts of a UI message, as one message may hold many steps; one
assistant message in the other two kinds. **Turn** = a user message with text or a file.
**Results** stand in the tool part (UI messages), or in messages of role tool, by ``toolCallId``.

**Failure.** State ``output-error``, output types ``error-text`` and ``error-json``, ``isError``. ``output-denied`` and
``execution-denied`` are refusals. Parts that are still streaming, called or wait for approval have no result.

**Not carried**: tokens and times, unless a program puts them into ``metadata`` or ``createdAt``; tool schemas,
sub-agents.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.events import Status, content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import usage_of
from loopaudit.readers.kit.chat.rows import id_of, is_message, rows_of
from loopaudit.readers.kit.chat.sniff import sample
from loopaudit.readers.kit.fields import malformed, mapping, moment, not_a_record, string, unknown_record
from loopaudit.readers.kit.pairing import Pairing, value_text
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_UI_PARTS: Final = frozenset({"text", "reasoning", "step-start", "dynamic-tool", "file", "tool-invocation", "source"})
_MODEL_PARTS: Final = frozenset({"tool-call", "tool-result"})
_FOREIGN: Final = frozenset({"info", "message", "sessionId", "uuid"})
_OPEN: Final = frozenset({"input-streaming", "input-available", "approval-requested", "approval-responded"})
_OPEN_V4: Final = frozenset({"partial-call", "call"})
_SILENT: Final = ("reasoning", "step-start", "source", "data-", "tool-approval-", "redacted-reasoning", "custom")


def sniff(probe: Probe) -> str | None:
    """Claim messages with typed parts, toolInvocations, or content of tool-call and tool-result."""
    messages, _ = sample(probe)
    for message in map(mapping, messages[:200]):
        if not _FOREIGN.isdisjoint(message) or message.get("role") not in (
            "user",
            "assistant",
            "system",
            "tool",
            "data",
        ):
            continue
        parts = message.get("parts")
        if isinstance(parts, list) and any(_is_ui(mapping(part).get("type")) for part in parts):
            return "messages with parts of type text, step-start, tool-name"
        if isinstance(message.get("toolInvocations"), list):
            return "messages with toolInvocations"
        content = message.get("content")
        if isinstance(content, list):
            inner = [mapping(part) for part in content]
            if any(string(part.get("type")) in _MODEL_PARTS and "toolCallId" in part for part in inner):
                return "messages with content of type tool-call and tool-result"
    return None


def _is_ui(kind: Any) -> bool:
    return isinstance(kind, str) and (kind in _UI_PARTS or kind.startswith(("tool-", "data-", "source-")))


def read(source: Source, emit: Emitter) -> None:
    """Report every chat in file order."""
    names = Names()
    chat = _Chat(emit)
    reported = 0
    for value in values(source, emit):
        if is_message(value):
            chat.report(value)
            continue
        rows = rows_of(value)
        if rows is None:
            not_a_record(emit)
            continue
        for row in rows:
            reported += 1
            name = id_of(row.facts)
            if name is not None or reported > 1:
                chat.begin(names.unique(name or str(reported)))
            if not row.messages:
                malformed(emit, "an entry that is no chat")
            for message in row.messages:
                chat.report(message)


class _Chat:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.messages = 0
        self.steps = 0

    def begin(self, session: str) -> None:
        """Begin another chat."""
        self.pairing.begin(session)
        self.messages = 0

    def report(self, message: Any) -> None:
        """Report one message."""
        self.messages += 1
        role = mapping(message).get("role")
        if role == "user":
            self._person(message)
        elif role == "assistant":
            self._response(message)
        elif role == "tool":
            content = message.get("content")
            if not isinstance(content, list):
                malformed(self.emit, "results of tools that are no list")
            for part in content if isinstance(content, list) else ():
                self._part(part, None)
        elif role not in ("system", "data"):
            if role is None:
                malformed(self.emit, "a message without a role")
            else:
                unknown_record(self.emit, role)

    def _person(self, message: dict[str, Any]) -> None:
        parts = message.get("parts", message.get("content"))
        text = parts if isinstance(parts, str) else "\n".join(filter(None, map(_typed, _list(parts))))
        if not text and not _list(parts):
            malformed(self.emit, "a user's message without parts")
            return
        self.emit.turn(text, at=_at(message), id=f"m{self.messages}")

    def _response(self, message: dict[str, Any]) -> None:
        self.steps += 1
        at = _at(message)
        parts = message.get("parts")
        calls_apart = message.get("toolInvocations")
        if parts is None:
            parts = message.get("content")
        if isinstance(parts, str) and "parts" not in message:
            parts = [{"type": "text", "text": parts}] if parts else []
        if not isinstance(parts, list):
            malformed(self.emit, "a message without parts")
            parts = []
        first = self.steps
        for number, part in enumerate(parts):
            if mapping(part).get("type") == "step-start":
                self.steps += bool(number)
            else:
                self._part(part, at)
        if "parts" not in message and calls_apart is not None:
            if not isinstance(calls_apart, list):
                malformed(self.emit, "toolInvocations that are no list")
            for invocation in _list(calls_apart):
                self._invocation(invocation, at)
        usage = usage_of(_usage(message))
        if usage is not None:
            self.emit.usage(usage, key=f"s{first}")

    def _part(self, value: Any, at: str | float | None) -> None:
        part = mapping(value)
        kind = part.get("type")
        if not isinstance(kind, str):
            malformed(self.emit, "a part without a type")
        elif kind == "text":
            text = part.get("text")
            if not isinstance(text, str):
                malformed(self.emit, "a part of text without text")
            elif text:
                self.emit.say(text, key=f"s{self.steps}", at=at)
        elif kind == "tool-invocation":
            self._invocation(part.get("toolInvocation"), at)
        elif kind == "tool-call":
            self._call(part, part.get("toolName"), part.get("input", part.get("args")), at)
        elif kind == "tool-result":
            self._result(part)
        elif kind == "dynamic-tool" or (kind.startswith("tool-") and not kind.startswith("tool-approval-")):
            self._tool(part, part.get("toolName") if kind == "dynamic-tool" else kind[len("tool-") :], at)
        elif kind not in ("file", "image") and not kind.startswith(_SILENT):
            unknown_record(self.emit, kind)

    def _call(self, part: dict[str, Any], name: Any, arguments: Any, at: str | float | None) -> bool:
        """Report a call; false where it is a copy."""
        key = f"s{self.steps}"
        own = part.get("toolCallId")
        if arguments is None and "rawInput" in part:
            arguments = part["rawInput"]
        return self.pairing.call(name, arguments, id=own, key=key, at=at) is not None

    def _tool(self, part: dict[str, Any], name: Any, at: str | float | None) -> None:
        """A UI message's tool part: the call, and its result if its state tells one."""
        if not self._call(part, name, part.get("input"), at):
            return
        state, own = string(part.get("state")), part.get("toolCallId")
        if state == "output-available":
            if part.get("preliminary") is not True:
                self.pairing.answer(own, value_text(part.get("output")), name=name, failed=False)
        elif state == "output-error":
            self.pairing.answer(own, content_text(part.get("errorText")), name=name, failed=True)
        elif state == "output-denied":
            reason = string(mapping(part.get("approval")).get("reason")) or ""
            self.pairing.answer(own, reason, name=name, failed=True, status="denied")
        elif state not in _OPEN:
            malformed(self.emit, "a tool part without a known state")

    def _invocation(self, value: Any, at: str | float | None) -> None:
        """A tool invocation of version 4."""
        part = mapping(value)
        if not part:
            malformed(self.emit, "a tool invocation that is no object")
            return
        if isinstance(part.get("step"), int):
            self.steps += 1 if part["step"] != getattr(self, "_step", part["step"]) else 0
            self._step = part["step"]
        if not self._call(part, part.get("toolName"), part.get("args"), at):
            return
        if part.get("state") == "result" or "result" in part:
            self.pairing.answer(part.get("toolCallId"), value_text(part.get("result")), name=part.get("toolName"))
        elif string(part.get("state")) not in _OPEN_V4:
            malformed(self.emit, "a tool invocation without a known state")

    def _result(self, part: dict[str, Any]) -> None:
        """A result of a model message; up to version 4 ``result`` and ``isError`` stand in the place of ``output``."""
        output = part.get("output", part.get("result"))
        failed: bool | None = part["isError"] if isinstance(part.get("isError"), bool) else None
        status: Status | None = None
        if "output" not in part and "result" not in part:
            malformed(self.emit, "a result without its output")
        if "output" in part and isinstance(output, dict) and "type" in output:
            kind = output["type"]
            failed = kind in ("error-text", "error-json", "execution-denied")
            status = "denied" if kind == "execution-denied" else None
            output = output.get("value", output.get("reason"))
        self.pairing.answer(
            part.get("toolCallId"),
            value_text(output),
            name=part.get("toolName"),
            failed=failed,
            status=status,
        )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _typed(value: Any) -> str:
    """What a part of a person's message is to them: text, or a mark for a file, whose data may be large."""
    part = mapping(value)
    kind = part.get("type")
    if kind in ("file", "image"):
        return f"[{kind} {string(part.get('mediaType')) or string(part.get('filename')) or ''}]"
    return content_text(part.get("text")) if kind == "text" else ""


def _at(message: dict[str, Any]) -> str | float | None:
    return moment(message.get("createdAt")) or moment(mapping(message.get("metadata")).get("createdAt"))


def _usage(message: dict[str, Any]) -> Any:
    """Tokens that a program put beside a message, under the names of either API."""
    found = message.get("usage") or mapping(message.get("metadata")).get("usage")
    used = mapping(found)
    names = {
        "inputTokens": "input_tokens",
        "outputTokens": "output_tokens",
        "promptTokens": "input_tokens",
        "completionTokens": "output_tokens",
    }
    return {**used, **{names[name]: used[name] for name in names if name in used}}


READER: Final = Reader(
    id="vercel-ui",
    title="Vercel AI SDK messages",
    looked_for="messages with role and parts of type step-start, tool-name, dynamic-tool; toolInvocations; "
    "content of type tool-call",
    sniff=sniff,
    read=read,
    carries={
        "results": "in the tool part, or by toolCallId",
        "failure": "state and output type; refusals told apart",
        "tokens": "where a program puts them into metadata",
        "time": "createdAt, where a program keeps it",
        "text": "yes",
        "batches": "parts between step-start, else one message",
    },
    evidence="source",
    written_by="programs on the Vercel AI SDK",
    where="where the program keeps its chats",
)
