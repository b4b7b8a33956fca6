"""Session files of the pi coding agent, and of OpenClaw, which is built on it.

**Written by** pi to ``~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`` and OpenClaw to
``~/.openclaw/agents/<agent>/sessions/<id>.jsonl``: a ``session`` header, then entries. Checked on real files without
ids (version 1) and of version 3. Branches of the tree stand in the order of writing and are
told in it.

**Turn** = a message of role user; ``custom_message`` is context that an extension adds, ``bashExecution`` a
command the person ran. **Batch** = one assistant message. A response that was ``aborted``, or ended
in an error, may hold calls that never ran: they stay unanswered. ``aborted`` is an ``interrupt``
boundary, ``compaction`` a compaction, ``branch_summary`` a ``resume``.

**Failure.** ``isError`` is a flag, also for commands that end with another exit code than 0; the
code is read from the last line of such an output. What the person aborted is ``cancelled``.

**Not carried**: tool schemas, the system prompt, sub-agents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from loopaudit.core import regex
from loopaudit.core.canonical import is_plain
from loopaudit.core.events import Usage, content_text, decode_text
from loopaudit.core.json import exact_loads, tolerant_loads
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import flag, malformed, mapping, string, unknown_record
from loopaudit.readers.kit.fitting import NOTHING, fitting
from loopaudit.readers.kit.whole import samples, tokens, tool_name, typed_records
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset(
    {"model_change", "thinking_level_change", "custom", "custom_message", "label", "session_info", "leaf"}
)
SILENT_ROLES: Final = frozenset({"bashExecution", "custom", "hookMessage", "system"})
SUMMARIES: Final = frozenset({"compactionSummary", "branchSummary"})

_EXIT: Final = regex.Phrase("command exited", r"\bcommand exited with code (-?\d{1,10})\s*$")
_ABORTED: Final = regex.Phrase(
    "aborted", r"(?:^|\n)\s*(?:operation|command|tool execution|request)(?: was)? aborted\W*$"
)


def sniff(probe: Probe) -> str | None:
    """Claim a ``session`` header with a cwd, or messages with toolCall blocks or role toolResult."""
    for record in samples(probe):
        if (found := sniff_head([record])) is not None:
            return found
        message = record.get("message")
        if record.get("type") != "message" or not isinstance(message, dict) or "uuid" in record:
            continue
        if message.get("role") == "toolResult" and "toolCallId" in message:
            return "messages of role toolResult"
        content = message.get("content")
        if isinstance(content, list) and any(mapping(block).get("type") == "toolCall" for block in content):
            return "messages with toolCall blocks"
    return None


def sniff_head(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Claim what begins with a ``session`` header with a cwd."""
    first = records[0]
    return (
        "a session header with cwd" if first.get("type") == "session" and first.keys() >= {"cwd", "timestamp"} else None
    )


# -- records -------------------------------------------------------------------------------


class Tokens(Struct, gc=False, rename="camel"):
    """``usage`` of a response."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


class Block(Struct, gc=False):
    """One content block of a response."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = NOTHING


class Message(Struct, gc=False, rename="camel", tag_field="role"):
    """A message of a role."""


class Response(Message, gc=False, rename="camel", tag="assistant"):
    """A response of the model."""

    content: list[Block] | str | None = None
    model: str | None = None
    usage: Tokens | None = None
    stop_reason: str | None = None


class Outcome(Message, gc=False, rename="camel", tag="toolResult"):
    """What a call gave. Its content is a slice of the line."""

    tool_call_id: str | None = None
    tool_name: str | None = None
    content: Raw = NOTHING
    is_error: Any = NOTHING


class Request(Message, gc=False, tag="user"):
    """What a person said."""

    content: Raw = NOTHING


class Entry(Struct, gc=False):
    """One line."""

    type: str | None = None
    id: str | None = None
    timestamp: str | int | float | None = None
    message: Response | Outcome | Request | None = None


class Other(Entry, gc=False):
    """An entry with a message of another role, or of none."""

    role: str | None = None


@cache
def line_decoder() -> msgspec.json.Decoder[Entry]:
    """A decoder from the bytes of a line to an :class:`Entry`; it refuses one with a message of another role."""
    return msgspec.json.Decoder(Entry)


def entry_from(value: Any) -> Entry:
    """The :class:`Entry` of a decoded object; members of a wrong type count as absent.

    Raises:
        TypeError: the value is no object.
    """
    entry = fitting(Entry, value)
    message = value.get("message")
    if entry.message is None and isinstance(message, dict):
        return Other(entry.type, entry.id, entry.timestamp, role=string(message.get("role")))
    return entry


def _usage(found: Tokens) -> Usage | None:
    """The counts of a response, as :func:`tokens` tells them of any values: these are integers already."""
    sent, made, read, written = found.input, found.output, found.cache_read, found.cache_write
    if sent is None or made is None or read is None or written is None or min(sent, made, read, written) < 0:
        return tokens(sent, made, read=read, written=written)
    return Usage(sent, made, read, written)


# -- reading -------------------------------------------------------------------------------


def read(source: Source, emit: Emitter) -> None:
    """Report every entry in file order."""
    reading = _Reading(source, emit)
    take = reading.take
    for entry in typed_records(source, emit, line_decoder().decode, entry_from):
        emit.time = entry.timestamp  # the line is begun already
        take(entry)


class _Reading:
    def __init__(self, source: Source, emit: Emitter) -> None:
        self.source = source
        self.emit = emit
        self.responses = 0

    def take(self, entry: Entry) -> None:
        """One entry by its type."""
        kind = entry.type
        if kind == "message":
            message = entry.message
            if isinstance(message, Outcome):
                self._result(message)
            elif isinstance(message, Response):
                self._response(message)
            elif isinstance(message, Request):
                content = tolerant_loads(bytes(message.content)) if message.content else None
                if not isinstance(content, (str, list)) or not content:
                    malformed(self.emit, "a message of a person without content")
                self.emit.turn(content_text(content))
            elif isinstance(entry, Other):
                self._other(entry.role)
            else:
                malformed(self.emit, "an entry without its message")
        elif kind == "session":
            if entry.id:
                self.emit.session(entry.id)
        elif kind == "compaction":
            self.emit.boundary("compaction")
        elif kind == "branch_summary":
            self.emit.boundary("resume", "branch_summary")
        elif kind not in SILENT:
            unknown_record(self.emit, kind or None)

    def _other(self, role: str | None) -> None:
        if role in SUMMARIES:
            self.emit.boundary("compaction" if role == "compactionSummary" else "resume", role)
        elif role not in SILENT_ROLES:
            unknown_record(self.emit, role)

    def _response(self, message: Response) -> None:
        emit = self.emit
        self.responses += 1
        key = f"r{self.responses}"
        model = message.model or None
        blocks = message.content
        if not isinstance(blocks, list):
            malformed(emit, "a response whose content is no list of blocks")
            blocks = [] if blocks is None else [Block("text", blocks)]
        for place, block in enumerate(blocks):
            kind = block.type
            if kind == "toolCall":
                name = block.name or tool_name(emit, None)
                arguments = block.arguments
                if not is_plain(arguments):
                    arguments = self._exact(place, arguments)
                emit.call(name, arguments, id=block.id or None, key=key, model=model)
            elif kind == "text" and block.text is not None:
                if block.text.strip():
                    emit.say(block.text, key=key, model=model)
            elif kind not in ("thinking", "image"):
                malformed(emit, "a block of a response that cannot be used")
        found = message.usage
        if found is not None:
            usage = _usage(found)
            if usage is not None:
                emit.usage(usage, key=key, model=model)
        if message.stop_reason == "aborted":
            emit.boundary("interrupt", "aborted")
        elif message.stop_reason == "error":
            emit.problem("recorded_error", "a response ended in an error")

    def _exact(self, place: int, arguments: Any) -> Any:
        """Arguments with numbers in them that the decoder of a line may have read otherwise, or that are no object."""
        if arguments is NOTHING:
            return {}
        if not isinstance(arguments, str):
            with suppress(ValueError, LookupError, TypeError):  # a document, or a list of entries: those are exact
                arguments = exact_loads(self.source.current)["message"]["content"][place]["arguments"]
            if not isinstance(arguments, dict):
                malformed(self.emit, "a call whose arguments are no object")
        return arguments

    def _result(self, message: Outcome) -> None:
        given = message.tool_call_id or None
        failed = flag(message.is_error)
        if given is None or (failed is None and message.is_error is not NOTHING):
            malformed(self.emit, "a result without the id of its call, or with a flag that is none")
        content: Any = bytes(message.content)
        if content[:1] not in (b'"', b"["):
            content = tolerant_loads(content) if content else ""
        code = aborted = None
        if failed:
            tail = (decode_text(content) if isinstance(content, bytes) else content_text(content))[-400:]
            low = regex.folded(tail)
            aborted = _ABORTED.search(low)
            code = _EXIT.search(low)
        self.emit.result(
            given,
            content,
            failed=failed,
            status="cancelled" if aborted else None,
            exit_code=int(code[1]) if code else None,
            name=message.tool_name or None,
        )


READER: Final = Reader(
    id="pi",
    title="pi and OpenClaw session",
    looked_for="type session with cwd, then type message with roles user, assistant, toolResult; toolCall blocks",
    members=frozenset({"type"}),
    sniff=sniff,
    sniff_head=sniff_head,
    read=read,
    carries={
        "results": "by id",
        "failure": "flag, exit code of commands",
        "tokens": "per response",
        "time": "yes",
        "text": "yes",
        "batches": "one assistant message",
    },
    written_by="pi, OpenClaw",
    where="~/.pi/agent/sessions, ~/.openclaw/agents/<agent>/sessions",
)
