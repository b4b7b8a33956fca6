"""Messages of Microsoft's Agent Framework and of Microsoft.Extensions.AI, whose contents are a list of typed objects.

**Written by** both when a thread or a history is made JSON: ``contents`` with ``$type`` (``functionCall``,
``functionResult``) by .NET, with ``type`` (``function_call``, ``function_result``) by Python. A bare list,
``{"messages": [...]}``, one message or one conversation a line. Seen on recordings that a public project keeps for
its tests.

**Turn** = a user's message with text. **Batch** = one assistant message; the pieces of a response that was streamed,
which have one ``messageId``, are one. **Results** are blocks of messages of role ``tool``, by ``callId``.

**Failure.** An ``exception`` beside a result. A call that waits for a person's approval is a call; where the
approval was refused it is ``denied``.

**Not carried**: exit codes, sub-agents, tool schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import (
    entries,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
    unknown_record,
)
from loopaudit.readers.kit.pairing import value_text
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

CALLS: Final = frozenset({"functionCall", "function_call"})
RESULTS: Final = frozenset({"functionResult", "function_result"})
APPROVALS: Final = {
    "toolApprovalRequest": "toolCall",
    "functionApprovalRequest": "functionCall",
    "function_approval_request": "function_call",
}
"""Calls that wait for a person, and the member that holds the call."""

ANSWERS: Final = {
    "toolApprovalResponse": "toolCall",
    "functionApprovalResponse": "functionCall",
    "function_approval_response": "function_call",
}
SILENT: Final = frozenset(
    "reasoning text_reasoning data uri error hosted_file hostedFile hosted_vector_store hostedVectorStore".split()
)
LISTS: Final = ("messages", "chatMessages", "conversation", "history")


def sniff(probe: Probe) -> str | None:
    """Claim messages whose ``contents`` have a ``$type``, or calls and results of functions."""
    for root in [probe.document] if probe.document is not None else probe.records:
        for message in _messages(root)[:200]:
            for block in items(mapping(message).get("contents"))[:20]:
                kind = _kind(mapping(block))
                if "role" in message and ("$type" in mapping(block) or kind in CALLS or kind in RESULTS):
                    return "messages with role and contents, whose entries have a $type or are function calls"
    return None


def _messages(root: Any) -> list[Any]:
    """The messages of a root value: a list, a list inside an object, or one alone."""
    if isinstance(root, list):
        return root
    found = mapping(root)
    if "contents" in found:
        return [found]
    return next((found[name] for name in LISTS if isinstance(found.get(name), list)), [])


def _kind(block: Mapping[str, Any]) -> str | None:
    return string(block.get("$type")) or string(block.get("type"))


def read(source: Source, emit: Emitter) -> None:
    """Report every message in order."""
    emit.knows_success()
    reading = _Reading(emit)
    for root in values(source, emit):
        found = _messages(root)
        if not found:
            not_a_record(emit)
        if isinstance(root, dict) and "contents" not in root:
            name = next((string(root[n]) for n in ("threadId", "thread_id", "id") if string(root.get(n))), None)
            reading.begin(name)
        for message in entries(found, emit):
            reading.message(message)
        reading.flush()


def _role(message: Mapping[str, Any]) -> str | None:
    """The role, which some versions wrap in an object."""
    role = message.get("role")
    return string(role) or string(mapping(role).get("value")) or string(mapping(role).get("Label"))


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.names = Names()
        self.responses = 0
        self.message_id: str | None = None
        self.prose: list[str] = []
        """Pieces of the prose of the response."""
        self.place: tuple[int, Any, str | None] = (0, None, None)
        """Line, time and model of the first of them."""

    def flush(self) -> None:
        """Report the prose of the response that is over."""
        if any(self.prose):
            line, at, model = self.place
            self.emit.say("".join(self.prose), key=f"r{self.responses}", line=line, at=at, model=model)
        self.prose = []

    def begin(self, name: str | None) -> None:
        """Begin another conversation, if it is named or others stand before it."""
        if name is not None or self.responses:
            self.emit.session(self.names.unique(name or "conversation"))
        self.message_id = None

    def message(self, message: Mapping[str, Any]) -> None:
        """Report one message, or a piece of one."""
        role = _role(message)
        self.emit.at(time=moment(message.get("createdAt", message.get("created_at"))))
        contents = message.get("contents")
        if not isinstance(contents, list):
            malformed(self.emit, "a message without contents")
        blocks = list(entries(items(contents), self.emit))
        if role == "user":
            self.flush()
            self._user(blocks)
        elif role in ("assistant", "tool") or "role" not in message:  # a piece of a stream may lack it
            self._answer(message, blocks)
        elif role not in ("system", "developer"):
            unknown_record(self.emit, role)

    def _user(self, blocks: list[dict[str, Any]]) -> None:
        texts = []
        for block in blocks:
            kind = _kind(block)
            if kind == "text":
                texts.append(self._words(block))
            elif kind in ANSWERS:
                if not isinstance(block.get("approved"), bool):
                    malformed(self.emit, "the answer of a person without whether it approves")
                elif block["approved"] is False:
                    call = mapping(block.get(ANSWERS[str(kind)]))
                    self._result(call, "", denied=True)
            else:
                self._other(block, kind)
        if any(texts):
            self.emit.turn("\n".join(texts))

    def _answer(self, message: Mapping[str, Any], blocks: list[dict[str, Any]]) -> None:
        own = string(message.get("messageId")) or string(message.get("message_id"))
        if own is None or own != self.message_id:
            self.flush()
            self.responses += 1
        self.message_id = own
        key = f"r{self.responses}"
        model = string(message.get("modelId")) or string(message.get("model_id"))
        for block in blocks:
            kind = _kind(block)
            if kind == "text":
                self.place = self.place if self.prose else (self.emit.line, self.emit.time, model)
                self.prose.append(self._words(block))
            elif kind in CALLS:
                self._call(block, key, model)
            elif kind in APPROVALS:
                self._call(mapping(block.get(APPROVALS[str(kind)])), key, model)
            elif kind == "usage":
                self._usage(mapping(block.get("details")), key, model)
            else:
                self._other(block, kind)

    def _words(self, block: Mapping[str, Any]) -> str:
        text = block.get("text")
        if not isinstance(text, str):
            malformed(self.emit, "a text without its words")
            return ""
        return text

    def _other(self, block: Mapping[str, Any], kind: str | None) -> None:
        if kind in RESULTS:
            self._result(block, block.get("result"))
        elif kind not in SILENT and kind != "usage":
            unknown_record(self.emit, kind)

    def _call(self, block: Mapping[str, Any], key: str, model: str | None) -> None:
        if "arguments" not in block:
            malformed(self.emit, "a call without arguments")
        name = string(block.get("name"))
        own = string(block.get("callId")) or string(block.get("call_id"))
        if name is None or own is None:
            malformed(self.emit, "a call without the name of its tool or without an id")
        arguments = block.get("arguments")
        # What was approved stands there again, under the same id: a copy.
        self.emit.call(name or "", {} if arguments is None else arguments, id=own, key=key, model=model)

    def _result(self, block: Mapping[str, Any], output: Any, *, denied: bool = False) -> None:
        error = block.get("exception")
        words = string(error) or string(mapping(error).get("message")) or (content_text(error) if error else "")
        own = string(block.get("callId")) or string(block.get("call_id"))
        if own is None:
            malformed(self.emit, "a result without the id of its call")
        self.emit.result(
            own or self.emit.nameless(""),
            value_text(output) or words,
            failed=denied or bool(error),
            status="denied" if denied else None,
            error=words,
        )

    def _usage(self, details: Mapping[str, Any], key: str, model: str | None) -> None:
        usage = tokens(
            details.get("inputTokenCount", details.get("input_token_count")),
            details.get("outputTokenCount", details.get("output_token_count")),
            read=details.get("cachedInputTokenCount"),
        )
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)


READER: Final = Reader(
    id="agent-framework",
    title="Microsoft Agent Framework messages",
    looked_for="objects with role and contents, whose entries have $type functionCall and functionResult or type "
    "function_call and function_result",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "exception",
        "tokens": "where usage stands in the contents",
        "time": "where messages have one",
        "text": "yes",
        "batches": "one message id",
    },
    evidence="data",
    written_by="Agent Framework, Microsoft.Extensions.AI",
    where="anywhere",
)
