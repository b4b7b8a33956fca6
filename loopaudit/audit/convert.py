"""Writes any readable transcript in the native format, so that it replays as the original.

:class:`Transcriber` is notified of everything that an emitter accepts, at the moment of it, and
writes a line for it: copies that the emitter drops are not written, a message that waits for what
follows is written when it is decided upon. Reading the lines therefore repeats the same steps
in the same order, with the same events, numbers and pairings under every failure level. Equal
transcripts give equal bytes, and memory grows by some bytes a line and no more.

A transformation that takes the words out (:attr:`~loopaudit.audit.redact.Redactor.hides_words`)
takes with them what hindsight judges by. Hindsight therefore watches the conversation while it is
read, and its opinion follows as a line of marks at the end of each conversation.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final

import orjson
from msgspec import to_builtins

from loopaudit.core.canonical import compact
from loopaudit.core.counts import Totals
from loopaudit.core.errors import InputError
from loopaudit.core.events import TEXT, Call, Event, Level, Usage, content_text, decode_text
from loopaudit.core.marks import Marks
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Accepted, Emitter
from loopaudit.readers.formats.native.records import FORMAT, VERSION
from loopaudit.readers.source import Source

Record = dict[str, Any]
Transform = Callable[[Record], Record | None]
"""Changes a line before it is written (to redact it), or leaves it out by ``None``."""

_MAY_REPEAT: Final = frozenset({"tool_call", "tool_result", "user"})
"""Types whose lines have an identity; others are copies where they equal the line before."""


LEVEL: Final[Level] = "exit_code"
"""What counts as a failure for the hindsight that is marked: what a replay takes for one by default."""


@dataclass(slots=True)
class Converted:
    """What was written: lines by type, conversations, and how many bytes."""

    lines: dict[str, int] = field(default_factory=dict)
    sessions: int = 0
    bytes: int = 0


def convert(source: Source, reader: Reader, out: IO[bytes], transform: Transform | None = None) -> Converted:
    """Write everything that ``reader`` finds in ``source`` to ``out``. Problems stay in the source.

    Raises:
        InputError: there is no conversation in it.
    """
    writer = Writer(out, transform)
    scribe = Transcriber(writer, reader.id)
    if getattr(transform, "hides_words", False):
        from loopaudit.audit.opinion import OpinionWriter  # brings in hindsight, which nothing else here needs

        judge = OpinionWriter(scribe.marks, LEVEL)
        emit = Emitter(judge.event, source.problems, failure_level=LEVEL, on_session=judge.finished, tap=scribe)
        judge.knows_success = lambda: emit.totals.success_known
    else:
        emit = Emitter(_nobody, source.problems, failure_level=LEVEL, on_session=scribe.finished, tap=scribe)
    reader.report(source, emit)
    emit.finish()
    if not emit.sessions:
        raise InputError(f"{source.name}: read as {reader.id}, but it holds no conversation")
    writer.done.sessions = emit.sessions
    return writer.done


class Writer:
    """Writes records as lines and counts them. ``number`` is that of the last line, from 1."""

    def __init__(self, out: IO[bytes], transform: Transform | None = None) -> None:
        self.done = Converted()
        self.number = 0
        self._out = out
        self._transform = transform
        self._before = b""
        self._equal = 0

    def write(self, record: Record) -> None:
        """Write a record, marked if it would pass for a copy of the line before it."""
        changed = record if self._transform is None else self._transform(record)
        if changed is None:
            return
        line = encode(changed)
        kind = changed["type"]
        if line == self._before and kind not in _MAY_REPEAT:
            self._equal += 1
            line = encode({**changed, "x_again": self._equal})
        else:
            self._before = line
            self._equal = 0
        self._out.write(line)
        self.number += 1
        self.done.bytes += len(line)
        self.done.lines[kind] = self.done.lines.get(kind, 0) + 1


def encode(record: Record) -> bytes:
    """One line: compact JSON in the order of the members, lone surrogates as escapes."""
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        text = json.dumps(record, separators=(",", ":"), ensure_ascii=True)
    except RecursionError:
        text = compact(record)
    return text.encode() + b"\n"


class Transcriber:
    """The tap of an emitter: writes a line for everything that the emitter accepts."""

    def __init__(self, writer: Writer, format: str) -> None:
        self._writer = writer
        self._origin = {"format": format}
        self._session = ""
        self._begun_as = ""
        """The name that the conversation had when it began."""
        self._before: str | None = None
        """The name of the conversation before, ``None`` for the first."""
        self._begin()

    def _begin(self) -> None:
        self._facts: Record = {}
        self._has_header = False
        self._messages = 0
        self._calls = array("I")
        """For each call, the number of its line."""
        self._first = self._writer.number
        self._sources = array("I")
        """For each line from ``_first`` on, that of the original that it was made of; never a lower one than before."""

    def __call__(self, accepted: Accepted) -> None:
        """Write one thing that was accepted."""
        given = accepted.arguments
        match accepted.kind:
            case "session":
                self._enter(given["session"], begins=given["begins"])
            case "tools":
                known = self._facts.get("tools", {})
                schemas = given["schemas"].items()
                fresh = {name: schema for name, schema in schemas if name not in known or known[name] != schema}
                if fresh:
                    self._declare("tools", fresh)
            case "knows_success":
                if "knows_success" not in self._facts:
                    self._declare("knows_success", True)
            case "turn":
                self._write("user", accepted, {"text": given["text"]})
            case "say":
                self._write("assistant", accepted, {"text": given["text"], **_of_response(given)})
            case "usage":
                self._write("usage", accepted, {**_of_response(given), **_members(**_counts(given["usage"]))})
            case "call":
                call: Call = given["call"]
                sent = call.source if call.form == TEXT else call.arguments
                members = {"id": call.id, "name": call.name, "arguments": sent, **_of_response(given)}
                self._write("tool_call", accepted, members)
                self._calls.append(self._writer.number)
            case "result":
                self._write("tool_result", accepted, _result(given))
            case "boundary":
                members = {"kind": given["kind"], **_members(reason=given["reason"] or None)}
                self._write("boundary", accepted, members)

    def _enter(self, session: str, *, begins: bool) -> None:
        """Go to another conversation, or learn the name of this one: the next line gets a header before it."""
        if begins:
            self._before = self._session
            self._begun_as = session
            self._begin()
        self._session = session
        self._has_header = False

    def _declare(self, name: str, value: Any) -> None:
        """Declare a fact of the conversation, in the header while that is not written."""
        if self._has_header:
            self._writer.write({"type": "declare", name: value})
        known = self._facts.get(name)
        self._facts[name] = {**known, **value} if isinstance(known, dict) else value

    def _write(self, kind: str, accepted: Accepted, members: Record) -> None:
        if not self._has_header:
            self._has_header = True
            header: Record = {"type": "header", "format": FORMAT, "version": VERSION}
            if self._before == self._session != self._begun_as:
                # Only a conversation in which nothing happened stands between this one and one of the same name.
                self._writer.write({**header, "session": self._begun_as})
            if self._session or self._before is not None:
                header["session"] = self._session
            # By name: the order in which a reader meets facts must not tell a copy from a copy of it.
            facts = dict(sorted(self._facts.items()))
            self._writer.write({**header, "source": self._origin, **facts})
        if kind == "user":
            self._messages += 1
            members = {**members, "id": f"u{self._messages}"}
        place = _members(agent=accepted.agent or None, at=accepted.at, line=accepted.line or None)
        self._writer.write({"type": kind, **members, **place})
        before = self._sources[-1] if self._sources else 0
        behind = self._writer.number - self._first - len(self._sources)
        self._sources.extend([max(accepted.line, before)] * behind)

    def finished(self, session: str, totals: Totals) -> None:
        """The conversation has ended; it keeps the marks that it came with."""
        if totals.marks is not None:
            self.marks(totals.marks)

    def marks(self, marks: Marks) -> None:
        """Write what hindsight found in the conversation, with the lines that its episodes have here."""
        record = to_builtins(marks, str_keys=True)
        for episode in record.get("episodes", ()):
            self._place(episode)
        self._writer.write({"type": "hindsight", **record})

    def _place(self, episode: Record) -> None:
        """Give an episode the lines of the file that is written."""
        first = episode.get("first_call", 0)
        sources = self._sources
        if 0 < first <= len(self._calls):
            episode["line"] = self._calls[first - 1]
        elif "line" in episode:
            episode["line"] = self._first + min(bisect_left(sources, episode["line"]) + 1, len(sources))
        if "last_line" in episode:
            episode["last_line"] = self._first + max(bisect_right(sources, episode["last_line"]), 1)


def _nobody(event: Event) -> None:
    """Sees the events of a conversion that needs only what the emitter accepted."""


def _of_response(given: Mapping[str, Any]) -> Record:
    return _members(batch=given["key"], model=given["model"])


def _counts(usage: Usage) -> Record:
    return {name: getattr(usage, name) for name in ("input", "output", "cache_read", "cache_write")}


def _result(given: Mapping[str, Any]) -> Record:
    """The members of a result; one without a call keeps the id or the name that it was recorded with."""
    call: Call | None = given.get("call")
    if call is None:
        recorded, output = given["id"], given["output"]
        text = decode_text(output) if isinstance(output, bytes) else content_text(output)
        members = _members(id=recorded, name=None if recorded else given["name"], output=text)
    else:
        assert call.result is not None
        members = {"id": call.id, "output": call.result.output}
    if given["error"] != "" or given["apart"]:
        members["error"] = given["error"]
    return members | _members(is_error=given["failed"], exit_code=given["exit_code"], status=given["status"])


def _members(**values: Any) -> Record:
    """Members of a line; ``None`` is not written."""
    return {name: value for name, value in values.items() if value is not None}
