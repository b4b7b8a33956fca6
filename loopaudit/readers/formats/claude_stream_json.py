"""The event stream of ``claude -p --output-format stream-json`` and of the Claude Agent SDK.

**Written by** Claude Code in print mode, and by agents that imitate its stream, to wherever
standard output was sent: CI logs, harness folders. Seen on real files of writers 1.0 to 2.1.41.
Several runs are often appended to one file, and a run that was killed has no ``result`` record.

**Not carried**: times, tool schemas, and mostly the prompt: without ``--input-format stream-json``
a run has no turns.

**Conversation** = the ``session_id``. A run that goes on under the same one is a ``resume``
boundary; a ``result`` record ends a run, its ``subtype`` says why.

**Batch.** All ``tool_use`` blocks with the same ``message.id``; a record holds one block or more.

**Turn.** A ``user`` record with text that a person wrote: not ``isSynthetic``, not one of
``claude_words.NOT_TYPED``. Text beside a result steers the running turn and begins none.

**Sub-agents** are known by ``parent_tool_use_id``, which is their name; the task they are given is a
turn of theirs.

**Failure.** ``is_error`` on results, failing commands among them; refusals are ``denied``,
interruptions ``cancelled``.

**Tokens.** Of a response's ``usage`` reports the last one counts for input and cache; its output
count is a snapshot from the response's beginning, so output tokens are taken from ``result``
records: the models' totals, which grow while a process lives, else ``usage`` of the run.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from loopaudit.core.events import Usage
from loopaudit.core.text import one_line
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import (
    content_of_blocks,
    emit_answers,
    emit_losses,
    emit_response,
    usage_of_tokens,
)
from loopaudit.readers.kit.claude_words import INTERRUPTED, NOT_TYPED, typed
from loopaudit.readers.kit.copies import Copies
from loopaudit.readers.kit.fields import count, has, malformed, mapping, unknown_record
from loopaudit.readers.kit.fitting import fitting
from loopaudit.readers.kit.typed_blocks import Block, Tokens
from loopaudit.readers.kit.whole import Growing
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset(
    "stream_event control_request control_response control_cancel_request keep_alive tool_progress auth_status"
    " rate_limit_event tool_use_summary prompt_suggestion hook_event".split()
)
"""Record types that carry no message of the conversation."""

_INIT: Final = ("session_id", "tools", "mcp_servers")


class Message(Struct, gc=False):
    """A message of the Messages API. ``content`` is ``None`` where it is absent or unusable."""

    id: str | None = None
    model: str | None = None
    content: str | Block | list[Block] | None = None
    usage: Tokens | None = None


class Details(Struct, gc=False):
    """What is read of ``compact_metadata``."""

    trigger: str | None = None


class Line(Struct, gc=False):
    """One record: only what a replay reads of it."""

    type: str | None = None
    message: Message | None = None
    parent_tool_use_id: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    subtype: str | None = None
    is_synthetic: bool | None = field(default=None, name="isSynthetic")
    compact_metadata: Details | None = None
    usage: Any = None
    model_usage: Any = field(default=None, name="modelUsage")


@cache
def line_decoder() -> msgspec.json.Decoder[Line]:
    """A decoder from the bytes of a line to a :class:`Line`."""
    return msgspec.json.Decoder(Line)


def _line_from(value: Any) -> Line:
    """The general path behind the decoder: fields of a wrong type count as absent."""
    return fitting(Line, value)


def sniff(probe: Probe) -> str | None:
    """Claim an ``init`` record with tools and servers, or messages with ``parent_tool_use_id``."""
    if probe.shape != "records":
        return None
    for record in probe.dicts:
        kind = record.get("type")
        if kind == "system" and record.get("subtype") == "init" and has(record, *_INIT):
            return "a system record of subtype init with session_id, tools and mcp_servers"
        if kind in ("assistant", "user") and has(record, "message", "parent_tool_use_id"):
            if "parentUuid" in record:
                continue
            return "assistant and user records with parent_tool_use_id"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order."""
    emit.knows_success()
    stream = _Stream(emit)
    for number, line in source.decoded(line_decoder().decode, _line_from):
        emit.at(number)
        stream.take(line)
    stream.flush_all()


class _Stream:
    """What has to be remembered between the records of a file."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.session: str | None = None
        self.ended = False
        self.copies = Copies()
        self.growing = Growing()
        self.pending: dict[str, tuple[str, Usage, str | None]] = {}
        """By agent: key, tokens and model of the response that may go on."""

    def take(self, line: Line) -> None:
        """One record, by its type."""
        kind = line.type or None
        if line.session_id and kind in ("system", "assistant", "user", "result"):
            self._session(line.session_id, kind)
        if kind == "assistant" or kind == "user":  # noqa: PLR1714
            message = line.message
            if message is None:
                malformed(self.emit, f"a record of type {kind} without its message")
                return
            if self.copies.seen(line.uuid or None, None, kind):
                self.emit.copied("repeated_record", "this record stood before")
                return
            agent = self.emit.agent = line.parent_tool_use_id or ""
            if kind == "assistant":
                self._assistant(agent, message)
            else:
                self._user(agent, message, is_synthetic=line.is_synthetic is True)
        elif kind == "result":
            self._result(line)
        elif kind == "system":
            if line.subtype == "compact_boundary":
                details = line.compact_metadata
                self.emit.boundary("compaction", "" if details is None else details.trigger or "")
        elif kind not in SILENT:
            unknown_record(self.emit, kind)

    def _session(self, session: str, kind: str) -> None:
        if session != self.session:
            self.flush_all()
            self.session = session
            self.ended = False
            self.growing = Growing()
            self.emit.session(session)
        elif self.ended and kind != "result":
            self.ended = False
            self.emit.boundary("resume", "another run of the session")

    def _assistant(self, agent: str, message: Message) -> None:
        content = content_of_blocks(message.content)
        model = message.model or None
        if model == "<synthetic>" and not content.calls:
            return
        given = message.id or f"line {self.emit.line}"
        pending = self.pending.get(agent)
        if pending is not None and pending[0] != given:
            self._flush(agent)
        reported = emit_response(self.emit, content, key=given)
        if content.calls and not reported:
            return
        usage = usage_of_tokens(message.usage)
        self.pending[agent] = (given, Usage(usage.input, None, usage.cache_read, usage.cache_write), model)

    def _flush(self, agent: str) -> None:
        pending = self.pending.pop(agent, None)
        if pending is not None:
            key, usage, model = pending
            self.emit.usage(usage, agent=agent, key=key, model=model)

    def flush_all(self) -> None:
        """Report the tokens of responses that may not go on any more."""
        for agent in list(self.pending):
            self._flush(agent)

    def _user(self, agent: str, message: Message, *, is_synthetic: bool) -> None:
        content = content_of_blocks(message.content)
        emit_losses(self.emit, content)
        emit_answers(self.emit, content)
        kept = [text for text in map(typed, content.texts) if text]
        first = kept[0] if kept else ""
        if first.startswith(INTERRUPTED):
            self._flush(agent)
            self.emit.boundary("interrupt", one_line(first, 80))
        elif content.answers or is_synthetic or first.startswith(NOT_TYPED):
            return
        elif kept or content.media:
            self._flush(agent)
            self.emit.turn("\n".join(kept), is_own=True)

    def _result(self, line: Line) -> None:
        self.flush_all()
        models = [mapping(value) for value in mapping(line.model_usage).values()]
        if models:
            totals = [count(model.get("outputTokens")) for model in models]
            known = [total for total in totals if total is not None]
            output = self.growing.grown({"output": sum(known) if known else None}).output
        else:
            output = count(mapping(line.usage).get("output_tokens"))
        if output is not None:
            self.emit.usage(Usage(output=output), key="")
        self.ended = True
        self.emit.boundary("end", line.subtype or "")


READER = Reader(
    id="claude-stream-json",
    title="Claude stream-json output",
    looked_for="records of type system, assistant, user, result with session_id and parent_tool_use_id, mcp_servers",
    sniff=sniff,
    read=read,
    carries={
        "results": "tool_result blocks",
        "failure": "is_error, with the exit code of failing commands; refusals and interruptions told apart",
        "tokens": "input and cache per response, output per run",
        "subagents": "parent_tool_use_id",
        "text": "assistant prose",
        "batches": "message.id",
    },
    evidence="data",
    written_by="claude -p --output-format stream-json, Claude Agent SDK",
    where="standard output",
)
