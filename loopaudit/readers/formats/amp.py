"""Threads of Amp: one JSON document.

**Written by** Amp, to ``~/.local/share/amp/threads/T-*.json`` and, in older versions, the editor's global storage;
``amp threads export`` writes the same.
**Evidence**: public programs that read such files; no file of somebody's was seen.

**Conversation** = one thread. **Batch** = one assistant message. **Turn** = a user message with text. **Results** are
``tool_result`` blocks with ``toolUseID`` and a ``run``, or those of the Messages API.

**Failure.** ``run.status``: ``error``; ``rejected-by-user`` and ``rejected-by-policy`` are denied, ``cancelled`` is
cancelled; a run that is ``in-progress`` or ``queued`` has no result. ``run.result.exitCode`` of a command.

**Not carried**: tool schemas, times of messages in most files.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.canonical import compact
from loopaudit.core.events import Status, content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import answer_of
from loopaudit.readers.kit.fields import (
    documents,
    entries,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
    unknown_record,
)
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

BLOCKS: Final = frozenset({"text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "summary"})
"""Types of the blocks of messages."""

_STATUS: Final[dict[str, Status | None]] = {
    "done": None,
    "error": "error",
    "rejected-by-user": "denied",
    "rejected-by-policy": "denied",
    "cancelled": "cancelled",
}
_OPEN: Final = frozenset({"in-progress", "queued", "blocked-on-user", "pending", "running"})


def sniff(probe: Probe) -> str | None:
    """Claim a thread: messages with ``messageId``, or results with ``toolUseID`` and a ``run``."""
    for root in documents(probe)[:5]:
        found = mapping(root)
        messages = [m for m in items(found.get("messages"))[:50] if isinstance(m, dict)]
        if any("messageId" in m and "role" in m for m in messages) and ("v" in found or "agentMode" in found):
            return "a thread whose messages have messageId"
        if any("toolUseID" in mapping(block) for m in messages for block in items(m.get("content"))):
            return "results with toolUseID and a run"
        if string(found.get("id")) and str(found["id"]).startswith("T-") and "messages" in found and "v" in found:
            return "a thread whose id begins with T-"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every message."""
    names = Names()
    emit.knows_success()
    for root in values(source, emit):
        messages = mapping(root).get("messages")
        if not isinstance(messages, list):
            not_a_record(emit)
            continue
        thread = _Thread(emit)
        thread.pairing.begin(names.unique(string(root.get("id")) or "thread"))
        for message in entries(messages, emit):
            thread.message(message)


class _Thread:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.messages = 0

    def message(self, message: dict[str, Any]) -> None:
        """Report a message by its role."""
        self.messages += 1
        role = message.get("role")
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(content, list):
            malformed(self.emit, "a message without content")
        self.emit.at(time=moment(mapping(message.get("meta")).get("sentAt")))
        blocks = []
        for block in items(content):
            kind = mapping(block).get("type")
            if not isinstance(kind, str) or (kind == "text" and not isinstance(block.get("text"), str)):
                malformed(self.emit, "a block without its type or text")
                continue
            if kind not in BLOCKS:
                unknown_record(self.emit, kind)
            blocks.append(block)
        if role == "assistant":
            self.response(message, blocks)
        elif role == "user":
            self.person(blocks)
        elif role == "info":
            for block in blocks:
                if block["type"] == "summary":
                    self.emit.boundary("compaction")
        else:
            malformed(self.emit, "a message without the role of a user or an assistant")

    def response(self, message: dict[str, Any], blocks: list[dict[str, Any]]) -> None:
        """Report a response."""
        key = f"m{self.messages}"
        usage = mapping(message.get("usage"))
        model = string(usage.get("model"))
        asked = [block for block in blocks if block["type"] == "tool_use"]
        for block in asked:
            if not isinstance(block.get("input"), dict):
                malformed(self.emit, "a call without arguments")
            self.pairing.call(
                block.get("name"),
                block.get("input", {}),
                id=block.get("id"),
                key=key,
                model=model,
            )
        text = "\n".join(content_text(block) for block in blocks if block["type"] == "text")
        if text or not asked:
            self.emit.say(text, key=key, model=model)
        counts = tokens(
            usage.get("inputTokens"),
            usage.get("outputTokens"),
            read=usage.get("cacheReadInputTokens"),
            written=usage.get("cacheCreationInputTokens"),
        )
        if counts is not None:
            self.emit.usage(counts, key=key, model=model)
        if mapping(message.get("state")).get("type") == "cancelled":
            self.emit.boundary("interrupt")

    def person(self, blocks: list[dict[str, Any]]) -> None:
        """Report results, and what a person says besides."""
        for block in blocks:
            if block["type"] == "tool_result":
                self.result(block)
        texts = [content_text(block) for block in blocks if block["type"] == "text"]
        media = any(block["type"] == "image" for block in blocks)
        if any(texts) or (media and not any(block["type"] == "tool_result" for block in blocks)):
            self.emit.turn("\n".join(texts), id=f"m{self.messages}")
        elif not blocks or any(block["type"] not in ("tool_result", "text", "image") for block in blocks):
            malformed(self.emit, "a user's message without text or results")

    def result(self, block: dict[str, Any]) -> None:
        """Report a result block of Amp's or of the Messages API."""
        if "run" not in block and "tool_use_id" in block:
            self.pairing.answer_block(answer_of(block))
            return
        own = string(block.get("toolUseID"))
        run = block.get("run")
        if own is None or not isinstance(run, dict):
            malformed(self.emit, "a result without its call or its run")
        run = mapping(run)
        status = run.get("status")
        if isinstance(status, str) and status in _OPEN:
            return
        if not isinstance(status, str) or status not in _STATUS:
            malformed(self.emit, "a result whose status is not known")
        result = run.get("result")
        code = mapping(result).get("exitCode")
        error = run.get("error")
        words = string(error) or string(mapping(error).get("message")) or string(run.get("reason")) or ""
        ended = _STATUS.get(status) if isinstance(status, str) else None
        output = mapping(result).get("output", result)
        shown = output if isinstance(output, str) else "" if output is None else compact(output)
        self.pairing.answer(
            own,
            shown or words,
            failed=ended is not None if isinstance(status, str) and status in _STATUS else None,
            status=ended,
            exit_code=code if isinstance(code, int) and not isinstance(code, bool) else None,
            error=words,
        )


READER: Final = Reader(
    id="amp",
    title="Amp thread",
    looked_for="a thread with v, agentMode and messages of role, messageId and content, tool_result with toolUseID "
    "and run",
    sniff=sniff,
    read=read,
    carries={
        "results": "by toolUseID",
        "failure": "status of the run, and exit code",
        "tokens": "usage of each response",
        "text": "yes",
        "batches": "one assistant message",
    },
    evidence="source",
    written_by="Amp",
    where="~/.local/share/amp/threads/T-*.json",
)
