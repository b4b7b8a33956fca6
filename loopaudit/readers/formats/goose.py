"""Sessions of goose: its older session files, its exports, and ``goose run --output-format``.

**Written by** goose before 1.10 to ``~/.local/share/goose/sessions/<name>.jsonl`` (a header line, then messages), and
by ``goose session export --format json`` and ``goose run --output-format json|stream-json`` of later versions, which
keep all sessions in ``~/.local/share/goose/sessions/sessions.db`` (SQLite, schema 1 to 5). That store is opened
read-only, as it lies; each session in it is a conversation, and the place of a finding is the number of its message.
Known from the program's source; no real file was seen.

**Turn** = a user message without ``toolResponse`` that the person can see. **Batch** = the ``toolRequest`` blocks of
one message; pieces of a stream with one message id are one. **Results** are ``toolResponse`` blocks in user messages.

**Failure.** ``toolResult.status`` error and ``isError`` are flags. A request with ``status: error`` is a call
that the model wrote wrongly: it has no name, and its error stands as argument and as result. A call that the
person declined is known by the program's words. A call refused for repetition, or a run that reached its
number of actions, is a ``recorded_guard`` boundary.

**Not carried**: exit codes, tokens of single responses, tool schemas, sub-agents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.foreign import is_header
from loopaudit.readers.kit.fields import flag, items, malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.sqlite import Columns, columns_of, count_log, decoded, rows
from loopaudit.readers.kit.whole import Fresh, guard_notice, records, samples, tokens
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

LISTS: Final = ("conversation", "messages")
CALLS: Final = frozenset({"toolRequest", "frontendToolRequest"})
SILENT: Final = frozenset(
    "thinking redactedThinking reasoning image toolConfirmationRequest actionRequired systemNotification "
    "summarizationRequested contextLengthExceeded".split()
)
_DECLINED: Final = regex.lazy(r"\s*the user has declined to run this tool", re.IGNORECASE)
_REPEATED: Final = regex.lazy(r"\brepetition|\brepeated too often\b", re.IGNORECASE)


def sniff(probe: Probe) -> str | None:
    """Claim a header with working_dir and message_count, blocks toolRequest and toolResponse, or its own store."""
    if is_store(columns_of(probe)):
        return "a store with tables sessions and messages that has content_json"
    for record in samples(probe):
        if is_header(record):
            return "a header with working_dir and message_count"
        inner = next((record[name] for name in LISTS if isinstance(record.get(name), list)), [record])
        for message in inner[:50]:
            found = _unwrapped(mapping(message))
            blocks = [mapping(block) for block in items(found.get("content"))]
            if any(block.get("type") in ("toolRequest", "toolResponse") for block in blocks):
                return "messages with toolRequest and toolResponse blocks"
            if "created" in found and "role" in found and found is not message and blocks:
                return "stream messages with role, created and content"
    return None


def _unwrapped(record: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = record.get("message")
    return inner if record.get("type") == "message" and isinstance(inner, dict) else record


def read(source: Source, emit: Emitter) -> None:
    """Report every message in order."""
    reading = _Reading(emit)
    if source.path is not None and is_store(columns_of(source.probe())):
        _store(source.path, emit)
        return
    for record in records(source, emit):
        reading.take(record)


def is_store(columns: Columns) -> bool:
    """Whether the tables of a store are goose's."""
    return {"session_id", "role", "content_json", "created_timestamp"} <= columns.get(
        "messages", frozenset()
    ) and "working_dir" in columns.get("sessions", frozenset())


def _store(path: Path, emit: Emitter) -> None:
    """Report the sessions of a store in the order in which they began."""
    count_log(path, emit)
    query = "SELECT session_id, id, role, content_json, created_timestamp FROM messages ORDER BY session_id, id"
    open_session: str | None = None
    reading = _Reading(emit)
    for session, number, role, content, created in rows(path, query, emit):
        if session != open_session:
            open_session = session
            emit.session(str(session))
            reading = _Reading(emit)
        emit.at(number if isinstance(number, int) else 0)
        reading.take({"role": role, "content": decoded(content), "created": created})


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.fresh = Fresh()
        self.ids: dict[str, str] = {}
        """Ids of open calls by the recorded ones."""
        self.responses = 0
        self.message_id: str | None = None

    def take(self, record: Mapping[str, Any]) -> None:
        """A header, a session, a message, or an event of a stream."""
        inner = next((record[name] for name in LISTS if name in record), None)
        if inner is not None:
            name = string(record.get("id"))
            if name is not None:
                self.emit.session(name)
            if not isinstance(inner, list):
                malformed(self.emit, "a session without messages")
            for message in items(inner):
                self._message(mapping(message))
        elif "role" in record or "content" in record:
            self._message(record)
        elif "working_dir" in record:
            pass
        elif record.get("type") == "message":
            self._message(mapping(record.get("message")))
        elif record.get("type") == "complete":
            self._tokens(record)
        elif record.get("type") == "error":
            self.emit.boundary("end", (string(record.get("error")) or "error")[:200])
        elif record.get("type") != "notification":
            unknown_record(self.emit, record.get("type"))

    def _tokens(self, record: Mapping[str, Any]) -> None:
        usage = tokens(record.get("input_tokens"), record.get("output_tokens"))
        if usage is not None:
            self.emit.usage(usage, key="")

    def _message(self, message: Mapping[str, Any]) -> None:
        role = string(message.get("role"))
        self.emit.at(time=moment(message.get("created")))
        if role not in ("user", "assistant"):
            unknown_record(self.emit, role)
            return
        content = message.get("content")
        blocks = [block for block in items(content) if isinstance(block, dict)]
        if not isinstance(content, list) or len(blocks) < len(content):
            malformed(self.emit, "a message whose content is no list of blocks")
        if role == "assistant":
            self._assistant(message, blocks)
        else:
            self._user(message, blocks)

    def _assistant(self, message: Mapping[str, Any], blocks: list[dict[str, Any]]) -> None:
        name = string(message.get("id"))
        if name is None or name != self.message_id:
            self.responses += 1
        self.message_id = name
        key = f"r{self.responses}"
        for block in blocks:
            kind = string(block.get("type"))
            if kind == "text":
                text = string(block.get("text")) or ""
                if not isinstance(block.get("text"), str):
                    malformed(self.emit, "a text block without its text")
                if text.strip():
                    self.emit.say(text, key=key)
                guard = guard_notice(text) if len(blocks) == 1 and text.startswith("I've reached the max") else None
                if guard is not None:
                    self.emit.boundary("recorded_guard", guard)
            elif kind in CALLS:
                self._call(block, key)
            else:
                self._other(block)

    def _other(self, block: Mapping[str, Any]) -> None:
        kind = string(block.get("type"))
        if kind == "conversationCompacted":
            self.emit.boundary("compaction")
        elif kind not in SILENT:
            unknown_record(self.emit, kind)

    def _call(self, block: Mapping[str, Any], key: str) -> None:
        wrapped = mapping(block.get("toolCall"))
        value = mapping(wrapped.get("value"))
        name = string(value.get("name"))
        wrong = "error" in wrapped and wrapped.get("status") == "error"
        if name is None and not wrong:
            malformed(self.emit, "a call without the name of its tool")
        arguments = {"error": wrapped["error"]} if wrong else value.get("arguments", {})
        if arguments is not None and not isinstance(arguments, dict):
            malformed(self.emit, "a call whose arguments are no object")
        recorded = string(block.get("id"))
        given = self.fresh.id(recorded)
        call = self.emit.call(name or "", {} if arguments is None else arguments, id=given, key=key)
        if call is not None and recorded is not None:
            self.ids[recorded] = call.id

    def _user(self, message: Mapping[str, Any], blocks: list[dict[str, Any]]) -> None:
        texts = []
        answers = 0
        for block in blocks:
            kind = string(block.get("type"))
            if kind == "toolResponse":
                answers += 1
                self._result(block)
            elif kind == "text":
                texts.append(string(block.get("text")) or "")
            else:
                self._other(block)
        if answers or mapping(message.get("metadata")).get("userVisible") is False:
            return
        if not any(texts):
            if not blocks or texts:
                malformed(self.emit, "a message of a person without text")
            return
        self.emit.turn("\n".join(texts))

    def _result(self, block: Mapping[str, Any]) -> None:
        wrapped = mapping(block.get("toolResult"))
        recorded = string(block.get("id"))
        value = wrapped.get("value")
        output = mapping(value).get("content", value)
        failed: bool | None = None
        if wrapped.get("status") == "error" or "error" in wrapped:
            error = wrapped.get("error")
            output = error if isinstance(error, str) else content_text(error)
            failed = True
        elif wrapped.get("status") == "success":
            failed = flag(mapping(value).get("isError")) or False
        else:
            malformed(self.emit, "a result without a known status")
        text = content_text(output)
        denied = _DECLINED.match(text) is not None
        self.emit.result(
            None if recorded is None else self.ids.pop(recorded, recorded),
            output,
            failed=True if denied else failed,
            status="denied" if denied else None,
        )
        if failed and _REPEATED.search(text[:400]):
            self.emit.boundary("recorded_guard", text.strip().split("\n", 1)[0][:200])


READER: Final = Reader(
    id="goose",
    title="goose session",
    looked_for="a header with working_dir and message_count; content blocks toolRequest and toolResponse; a store "
    "with the tables sessions and messages",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "flag",
        "tokens": "of the whole run, in streams",
        "time": "yes",
        "text": "yes",
        "batches": "one message",
    },
    evidence="source",
    written_by="goose",
    where="~/.local/share/goose/sessions/*.jsonl and sessions.db, goose session export",
)
