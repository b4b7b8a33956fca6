"""Messages of Amazon Bedrock's Converse API, as Strands Agents and others that call it keep them.

**Written by** Strands Agents (``agent.messages``), and programs that log what they sent to the API. A bare list,
``{"messages": [...]}``, one message or one conversation a line. Known from test files of public programs and from
the API's description.

**Turn** = a user's message with text and without results. **Batch** = one assistant message. **Results** are
``toolResult`` blocks of user messages, by ``toolUseId``.

**Failure.** ``status: error``; a result without a status succeeded.

**Not carried**: exit codes, sub-agents; times, tokens and tool schemas only where the writer added them.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import Function, Message, ToolCall, decoded
from loopaudit.readers.kit.chat.read import read_chat
from loopaudit.readers.kit.chat.sniff import sample
from loopaudit.readers.kit.fields import malformed, mapping, string, unknown_record
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset(
    "reasoningContent cachePoint guardContent image document video citationsContent audio searchResult".split()
)
"""Members that make a block of something that is neither prose nor a call nor a result."""


def sniff(probe: Probe) -> str | None:
    """Claim messages whose content has blocks with a ``toolUse`` or a ``toolResult``."""
    messages, _ = sample(probe)
    for message in messages:
        for block in _blocks(mapping(message).get("content")):
            if "toolUseId" in mapping(block.get("toolUse")) or "toolUseId" in mapping(block.get("toolResult")):
                return "messages with toolUse and toolResult blocks"
    return None


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def read(source: Source, emit: Emitter) -> None:
    """Report every conversation in file order."""
    emit.knows_success()
    read_chat(source, emit, _Parts(emit).of)


class _Parts:
    """Makes of each message those of the chat that it stands for."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit

    def of(self, message: Message) -> list[Message]:
        """A message for each result, and one for the rest."""
        content = decoded(message.content)
        if isinstance(content, str):
            return [message]
        blocks = _blocks(content)
        if not isinstance(content, list) or len(blocks) < len(content):
            malformed(self.emit, "a message whose content is no list of blocks")
        texts: list[str] = []
        calls: list[ToolCall] = []
        parts: list[Message] = []
        for block in blocks:
            if isinstance(block.get("text"), str):
                texts.append(block["text"])
            elif "toolUse" in block:
                calls.append(self._call(mapping(block["toolUse"])))
            elif "toolResult" in block:
                parts.append(self._result(message, mapping(block["toolResult"])))
            elif SILENT.isdisjoint(block):
                unknown_record(self.emit, next(iter(block), None))
        text = "\n".join(texts)
        if text or calls or (not parts and (blocks or message.role != "assistant")):
            parts.append(replace(message, content=text, tool_calls=calls or None))
        return parts

    def _call(self, block: dict[str, Any]) -> ToolCall:
        if "input" not in block:
            malformed(self.emit, "a call without its input")
        return ToolCall(Function(string(block.get("name")), block.get("input", {})), id=string(block.get("toolUseId")))

    def _result(self, message: Message, block: dict[str, Any]) -> Message:
        if string(block.get("toolUseId")) is None:
            malformed(self.emit, "a result without the id of its call")
        return replace(
            message,
            role="tool",
            content=_output(block.get("content")),
            tool_call_id=string(block.get("toolUseId")),
            is_error=block.get("status") == "error",
        )


def _output(content: Any) -> Any:
    """What a tool returned: the texts of its blocks, else what the blocks hold."""
    if not isinstance(content, list):
        return "" if content is None else content
    if all(isinstance(mapping(block).get("text"), str) for block in content):
        return "\n".join(block["text"] for block in content)
    values = [block.get("json", block.get("text", block)) if isinstance(block, dict) else block for block in content]
    return values[0] if len(values) == 1 else values


READER: Final = Reader(
    id="bedrock-converse",
    title="Amazon Bedrock Converse messages",
    looked_for="objects with role and content, whose blocks have a toolUse or toolResult with toolUseId",
    sniff=sniff,
    read=read,
    carries={
        "results": "toolResult blocks",
        "failure": "status",
        "tokens": "where usage stands on messages or responses",
        "time": "where messages have a timestamp",
        "schemas": "where tools stand beside the messages",
        "text": "yes",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="Strands Agents, programs that call the Converse API",
    where="anywhere",
)
