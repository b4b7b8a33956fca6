"""Agent threads of Zed: its SQLite store, and the threads in it as JSON.

**Written by** Zed to ``threads/threads.db`` in its data folder (``~/.local/share/zed``, on macOS
``~/Library/Application Support/Zed``), a thread a row, as JSON that is compressed with zstd. The store is opened
read-only, as it lies; each thread is a conversation, named by its id. A shared thread is the same JSON. Known from the
program's source (versions 0.1 to 0.3 of its threads); no real file was seen.

**Turn** = a user's message; mentioned files are not its text. **Batch** = one message of the agent. **Results** stand
beside the calls, by id. **Sub-agents** are threads of their own.

**Failure.** ``is_error`` is a flag. Calls that the person denied or cancelled are known by the program's words.

**Boundaries**: a thread that went on after a limit has a ``resume`` there.

**Not carried**: exit codes, tool schemas, times, tokens of single responses.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.errors import InputError
from loopaudit.core.events import Status
from loopaudit.core.text import one_line
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import entries, items, malformed, mapping, string, unknown_record
from loopaudit.readers.kit.pairing import value_text
from loopaudit.readers.kit.sqlite import Columns, columns_of, count_log, rows
from loopaudit.readers.kit.whole import Fresh, Names, records, samples, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

COLUMNS: Final = frozenset({"id", "summary", "updated_at", "data_type", "data"})
"""Columns of the table of threads."""

KINDS: Final = frozenset({"User", "Agent"})
"""Members by which a message is told; ``Resume`` is a text in the place of one."""

SILENT: Final = frozenset({"Thinking", "RedactedThinking", "Image", "Mention", "Compaction"})

_DENIED: Final = regex.lazy(r"\s*(?:permission to run tool denied|blocked by)\b", re.IGNORECASE)
_CANCELLED: Final = regex.lazy(r"\s*tool (?:call )?cancell?ed\b", re.IGNORECASE)


def sniff(probe: Probe) -> str | None:
    """Claim a table of threads with its kind of data, or messages that are a ``User`` or an ``Agent``."""
    if is_store(columns_of(probe)):
        return "a store with a table threads that has data_type and data"
    for root in samples(probe):
        for message in items(root.get("messages"))[:50]:
            found = mapping(message)
            if any("content" in mapping(found.get(kind)) for kind in KINDS):
                return "messages that are an object User or Agent with content"
            if "segments" in found and ("tool_uses" in found or "tool_results" in found):
                return "messages with segments, tool_uses and tool_results"
    return None


def is_store(columns: Columns) -> bool:
    """Whether the tables of a store are Zed's."""
    return columns.get("threads", frozenset()) >= COLUMNS


def read(source: Source, emit: Emitter) -> None:
    """Report every thread in order."""
    emit.knows_success()
    columns = columns_of(source.probe()) if source.path is not None else {}
    if source.path is not None and is_store(columns):
        _store(source.path, columns, emit)
        return
    names = Names()
    several = False
    for root in records(source, emit):
        name = string(root.get("id"))
        if name is not None or several:
            emit.session(names.unique(name or "thread"))
        several = True
        _thread(root, emit)


def _store(path: Path, columns: Columns, emit: Emitter) -> None:
    """Report the threads of a store in the order in which they began, as far as that is known."""
    count_log(path, emit)
    order = "created_at, updated_at, id" if "created_at" in columns["threads"] else "updated_at, id"
    for place, (name, data) in enumerate(rows(path, f"SELECT id, data FROM threads ORDER BY {order}", emit), 1):
        emit.at(place)
        emit.session(str(name))
        root = _decoded(data, emit)
        if isinstance(root, dict):
            _thread(root, emit)
        else:
            malformed(emit, "a thread that is no object")


def _decoded(data: Any, emit: Emitter) -> Any:
    """The JSON of a thread, which is compressed or not; a thread that is neither is a problem."""
    content = data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")
    try:
        with Source(None, stream=io.BytesIO(content), name="a thread") as source:
            value = source.document()
            for problem in source.problems.kept:
                emit.problem(problem.kind, problem.message, damage=problem.damage)
            return value
    except InputError as error:
        emit.problem("bad_file", f"a thread of the store that is no JSON: {one_line(error.message, 120)}")
        return None


def _thread(root: Mapping[str, Any], emit: Emitter) -> None:
    found = root.get("messages")
    if not isinstance(found, list):
        malformed(emit, "a thread without messages")
    reading = _Reading(emit, string(mapping(root.get("model")).get("model")))
    for message in items(found):
        reading.message(message)


class _Reading:
    """One thread."""

    def __init__(self, emit: Emitter, model: str | None) -> None:
        self.emit = emit
        self.model = model
        self.responses = 0
        self.fresh = Fresh()

    def message(self, message: Any) -> None:
        """Report one message."""
        found = mapping(message)
        if message == "Resume":
            self.emit.boundary("resume")
        elif "User" in found:
            self._user(mapping(found["User"]))
        elif "Agent" in found:
            self._agent(mapping(found["Agent"]))
        elif "segments" in found or "role" in found:
            self._old(found)
        else:
            unknown_record(self.emit, next(iter(found), None))

    def _user(self, message: Mapping[str, Any]) -> None:
        texts = [value for kind, value in self._blocks(message) if kind == "Text" and isinstance(value, str)]
        content = items(message.get("content"))
        if any(texts) or content:
            # A message of images alone has no text; its place keeps the next one from being taken for its copy.
            self.emit.turn("\n".join(texts), id=None if texts else f"message {self.responses}")

    def _blocks(self, message: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The blocks of a message, each an object with one member that tells its kind."""
        content = message.get("content")
        if not isinstance(content, list):
            malformed(self.emit, "a message without content")
        for block in entries(items(content), self.emit):
            kind, value = next(iter(block.items()), (None, None))
            if kind == "Text" and not isinstance(value, str):
                malformed(self.emit, "a text that is none")
            elif kind in ("Text", "ToolUse"):
                yield str(kind), value
            elif kind not in SILENT:
                unknown_record(self.emit, kind)

    def _agent(self, message: Mapping[str, Any]) -> None:
        self.responses += 1
        # Ids are reused in some threads, so that a result goes to the call of its own message first.
        asked: dict[str, str] = {}
        for kind, value in self._blocks(message):
            if kind == "Text":
                self._say(value)
            else:
                self._call(mapping(value), asked)
        results = message.get("tool_results", {})
        if not isinstance(results, dict):
            malformed(self.emit, "results that are no object")
        for name, result in mapping(results).items():
            self._result(name, mapping(result), asked)

    def _old(self, message: Mapping[str, Any]) -> None:
        """A message of the threads before version 0.3."""
        segments = message.get("segments")
        if not isinstance(segments, list):
            malformed(self.emit, "a message without segments")
        texts = []
        for segment in entries(items(segments), self.emit):
            if segment.get("type") == "text":
                if not isinstance(segment.get("text"), str):
                    malformed(self.emit, "a text that is none")
                texts.append(string(segment.get("text")) or "")
            elif segment.get("type") not in ("thinking", "redacted_thinking"):
                unknown_record(self.emit, segment.get("type"))
        role = message.get("role")
        if role == "user":
            if any(texts):
                self.emit.turn("\n".join(texts))
        elif role == "assistant":
            self.responses += 1
            asked: dict[str, str] = {}
            self._say("\n".join(texts))
            for value in entries(items(message.get("tool_uses")), self.emit):
                self._call(value, asked)
            for result in entries(items(message.get("tool_results")), self.emit):
                self._result(string(result.get("tool_use_id")), result, asked)
        elif role != "system":
            unknown_record(self.emit, role)

    def _say(self, text: str) -> None:
        if text.strip():
            self.emit.say(text, key=f"r{self.responses}", model=self.model)

    def _call(self, value: Mapping[str, Any], asked: dict[str, str]) -> None:
        if "input" not in value:
            malformed(self.emit, "a call without its input")
        own = string(value.get("id"))
        if own is None:
            malformed(self.emit, "a call without an id")
        name = tool_name(self.emit, value.get("name"))
        call = self.emit.call(
            name,
            value.get("input", {}),
            id=self.fresh.id(own),
            key=f"r{self.responses}",
            model=self.model,
        )
        if call is not None and own is not None:
            asked[own] = call.id

    def _result(self, own: str | None, result: Mapping[str, Any], asked: Mapping[str, str]) -> None:
        if "content" not in result and "output" not in result:
            malformed(self.emit, "a result without content")
        failed = result.get("is_error")
        if not isinstance(failed, bool):
            malformed(self.emit, "a result that does not say whether it failed")
            failed = None  # unknown, which is not the same as a success
        text = _text(result.get("content")) or value_text(result.get("output"))
        self.emit.result(
            None if own is None else asked.get(own, own),
            text,
            failed=failed,
            status=_status(text) if failed else None,
        )


def _text(content: Any) -> str:
    """The text of what a tool gave to the model: text, an object ``Text``, or a list of those."""
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text, content)))
    found = mapping(content)
    return content if isinstance(content, str) else string(found.get("Text")) or string(found.get("text")) or ""


def _status(text: str) -> Status | None:
    if _DENIED.match(text):
        return "denied"
    # Both are flagged as errors; only the program's words keep them apart from a tool that failed.
    return "cancelled" if _CANCELLED.match(text) else None


READER: Final = Reader(
    id="zed",
    title="Zed agent threads",
    looked_for="a SQLite store with a table threads that has data_type and data; messages that are an object User or "
    "Agent with content",
    sniff=sniff,
    read=read,
    carries={
        "results": "beside the call",
        "failure": "flag; denials by the program's words",
        "subagents": "in threads of their own",
        "text": "yes",
        "batches": "one message",
    },
    evidence="source",
    written_by="Zed",
    where="threads/threads.db in Zed's data folder",
)
