"""Message lists of Anthropic's Messages API, in every container they are kept in.

Written by
    Everything that logs what it sent to the API, and exporters of other formats.

Where
    Anywhere; the format has no home. One message a line, one conversation a line, a bare list,
    ``{"messages": [...]}`` and the like, request and response logs, lists of rows.

Read as
    A batch is one assistant message. Results are ``tool_result`` blocks of user messages; text
    beside them is an interjection, and a turn unless it is a block that a harness adds. A user
    message of text is a turn. Conversations of one file are sessions, named by the ids of their
    rows, else 1, 2, 3; a row that only continues the one before it goes on with its session.
    Exports that put each block on a line of its own have lost which calls belong together:
    there, each call is a batch.

Failure
    ``is_error``, absent on success; failing commands of Claude Code begin with their exit code,
    refusals and interruptions are known by their words.

Not carried
    No sub-agents; times, tokens and models only where the writer added them.

Seen
    A stripped export of a Claude Code session (2026).
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Answer, Content, content_of, emit_losses
from loopaudit.readers.kit.chat.message import Function, Message, ToolCall, decoded
from loopaudit.readers.kit.chat.read import read_chat
from loopaudit.readers.kit.chat.rows import is_message
from loopaudit.readers.kit.chat.sniff import sample
from loopaudit.readers.kit.chat.strays import strays_of
from loopaudit.readers.kit.claude_words import NOT_TYPED, SKILL, typed
from loopaudit.readers.kit.cline import is_history
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

ROLES: Final = frozenset({"user", "assistant", "system"})

BLOCKS: Final = frozenset({"tool_use", "tool_result"})

_FOREIGN: Final = frozenset({"sessionId", "parts", "parentUuid", "message", "projectHash", "schema_version"})
"""Members of records of other formats that hold such messages."""


def sniff(probe: Probe) -> str | None:
    """Claim messages with ``tool_use`` or ``tool_result`` blocks that are no other format's."""
    messages, roots = sample(probe)
    if any("agentMode" in root for root in roots) or any(isinstance(m, dict) and "messageId" in m for m in messages):
        return None
    if any(not _FOREIGN.isdisjoint(root) for root in (*roots, *(m for m in messages if isinstance(m, dict)))):
        return None
    if isinstance(probe.document, list) and is_history(messages):
        return None
    found = False
    if strays_of([str(m.get("role")) for m in messages if isinstance(m, dict)], ROLES) is None:
        return None
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            return None
        content = message.get("content")
        if isinstance(content, list):
            if any(isinstance(b, dict) and "toolUseID" in b for b in content):
                return None  # Amp's, whose results say otherwise how they ended
            kinds = {str(b.get("type")) for b in content if isinstance(b, dict)}
            found = found or not BLOCKS.isdisjoint(kinds)
        if message.get("tool_calls"):
            return None
    return "messages with blocks of type tool_use or tool_result" if found else None


def read(source: Source, emit: Emitter) -> None:
    """Report every conversation in file order."""
    emit.knows_success()
    parts = _Parts(emit, joins=is_message((*source.probe().records, None)[0]))
    read_chat(source, emit, parts.of)
    if parts.held:
        emit.at(0)
        emit.say(parts.held, key="last")


class _Parts:
    """Makes of each message those of the chat that it stands for.

    In logs of one message a line (``joins``), an assistant's prose belongs to the response of the
    assistant's next line, as the API has no two responses in a row: it is ``held`` until then.
    """

    def __init__(self, emit: Emitter, *, joins: bool) -> None:
        self.emit = emit
        self.joins = joins
        self.held = ""

    def of(self, message: Message) -> list[Message]:
        """The messages for one recorded message, after the prose that was held before it."""
        content = content_of(decoded(message.content))
        emit_losses(self.emit, content)
        if message.role == "assistant":
            return self._response(message, content)
        parts = [_result(message, answer) for answer in content.answers]
        text = _text(content.texts) if message.role == "user" else content.text
        if text or (not parts and (content.media or message.role != "user")):
            parts.append(replace(message, content=text))
        if self.held and parts:
            parts.insert(0, replace(message, role="assistant", content=self.held))
            self.held = ""
        return parts

    def _response(self, message: Message, content: Content) -> list[Message]:
        text = f"{self.held}\n{content.text}" if self.held else content.text
        if not content.calls and (self.joins or not text):
            self.held = text if self.joins else ""
            return []
        self.held = ""
        calls = [ToolCall(Function(call.name, call.arguments), id=call.id) for call in content.calls]
        return [replace(message, content=text, tool_calls=calls or None)]


def _text(texts: list[str]) -> str:
    """What a person wrote, without what Claude Code's harness puts in their place."""
    kept = [text for text in map(typed, texts) if text and not text.startswith(NOT_TYPED[1:])]
    return "" if kept and kept[0].startswith(SKILL) else "\n".join(kept)


def _result(message: Message, answer: Answer) -> Message:
    return replace(
        message,
        role="tool",
        content=answer.output,
        tool_call_id=answer.call,
        name=answer.name,
        is_error=answer.failed,
        status=answer.status,
        exit_code=answer.exit_code,
    )


READER = Reader(
    id="anthropic-messages",
    title="Anthropic messages",
    looked_for="objects with role and content, whose blocks are of type tool_use and tool_result",
    sniff=sniff,
    read=read,
    carries={
        "results": "tool_result blocks",
        "failure": "is_error",
        "tokens": "where usage stands on messages or responses",
        "time": "where messages have a timestamp",
        "schemas": "where tools stand beside the messages",
        "text": "yes",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="agent frameworks, proxies, exporters",
    where="anywhere",
)
