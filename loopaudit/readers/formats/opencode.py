"""Sessions that ``opencode export`` writes, and the events of ``opencode run --format json``.

**Written by** ``opencode export`` to standard output: one JSON document with ``info`` and ``messages``. Checked
on real exports of 1.2 to 1.17. ``run`` writes the same parts one a line, without the prompt and the
model's name; that is known from its documentation only. The session store, ``~/.local/share/opencode/storage`` with
one file for each message (``message/<session>/<message>.json``) and part (``part/<message>/<part>.json``), is read as
a directory; its layout is known from public programs that read it. The later store in SQLite
(``~/.local/share/opencode/opencode.db``) has the same values in tables ``session``, ``message`` and ``part``, as the
program's source says; it is opened read-only, as it lies. Each session in a store is a conversation, and the place of
a finding is the number of its message. Newer versions keep messages in a table ``session_message``, each with its
parts as ``content``; a session that stands in both is read from the older ones.

**Turn** = a user message with a text part that is not ``synthetic``, or with a file; messages
that ask for a compaction or a sub-task have role user too. **Batch** = the tool parts after one
``step-start``. Call and result are one part. **Sub-agents** are sessions, thus exports, of their own
(``info.parentID``). Publishers blank ``callID``: an id that stood before is not used.

**Failure.** ``state.status`` error is a flag. A command that fails is ``completed``; its exit code is
``state.metadata.exit``. Refused permissions are ``denied``, aborted calls ``cancelled``, by the words
of the error; parts that are still pending or running have no result. A refused permission
``doom_loop`` is a ``recorded_guard`` boundary, an aborted message an ``interrupt``.

**Not carried**: tool schemas, the system prompt.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.errors import InputError
from loopaudit.core.events import Call, Status, content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import items, malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.sqlite import Columns, columns_of, count_log, decoded, rows
from loopaudit.readers.kit.whole import Fresh, records, samples, tokens, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset({"reasoning", "snapshot", "patch", "agent", "retry", "subtask", "file"})
"""Parts that are neither prose nor calls. A user's files and a sub-task are looked at elsewhere."""

STORE: Final = {"message", "part"}
"""Folders of a session store."""

EVENTS: Final = {
    "step_start": "step-start",
    "step_finish": "step-finish",
    "text": "text",
    "tool_use": "tool",
    "reasoning": "reasoning",
}
"""Events of a run, with the types of their parts."""

LATER_SILENT: Final = frozenset("synthetic system shell skill agent-switched model-switched".split())
"""Messages of later versions that are neither a person's nor the model's, or a command that a person ran."""

UNFINISHED: Final = frozenset({"pending", "running"})

_DENIED: Final = regex.lazy(
    r"\brejected permission\b|\bpermission (?:was )?(?:denied|rejected)\b|\bspecified a rule which prevents\b"
    r"|\buser (?:has )?(?:dismissed|rejected|denied|declined)\b",
    re.IGNORECASE,
)
_CANCELLED: Final = regex.lazy(
    r"\s*(?:error: )?(?:tool execution )?(?:was )?(?:aborted|cancell?ed|interrupted)\b", re.IGNORECASE
)


def sniff(probe: Probe) -> str | None:
    """Claim an object with a session's info and messages made of info and parts, or the session store."""
    if probe.shape == "directory":
        return "the folders message and part of a session store" if set(probe.names) >= STORE else None
    if _is_database(columns_of(probe)):
        return "a store with tables session, message and part"
    for root in samples(probe):
        info = mapping(root.get("info"))
        messages = [m for m in items(root.get("messages"))[:20] if isinstance(m, dict)]
        if any("info" in m and "parts" in m for m in messages):
            return "messages with info and parts"
        if str(info.get("id")).startswith("ses_") and "messages" in root:
            return "info with a session id, beside messages"
        if string(root.get("type")) in EVENTS and "sessionID" in root and isinstance(root.get("part"), dict):
            return "events with sessionID and part"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every session in order."""
    run = _Reading(emit)
    if source.probe().shape == "directory":
        _store(Path(source.probe().path), source, emit)
        return
    columns = columns_of(source.probe()) if source.path is not None else {}
    if source.path is not None and _is_database(columns):
        _database(source.path, columns, emit)
        return
    for root in records(source, emit):
        messages = root.get("messages")
        if "messages" not in root and "info" not in root:
            if string(root.get("sessionID")) is not None:
                emit.session(root["sessionID"])
            run.event(root)
            continue
        if not isinstance(messages, list):
            malformed(emit, "a session without messages")
            continue
        name = string(mapping(root.get("info")).get("id"))
        if name is not None:
            emit.session(name)
        reading = _Reading(emit)
        for message in messages:
            reading.message(message)


def _store(folder: Path, source: Source, emit: Emitter) -> None:
    """Report the sessions of a store in the order in which they began; ids of OpenCode are in the order of time."""
    for session in _names(folder / "message", folders=True):
        emit.session(session)
        reading = _Reading(emit)
        for place, name in enumerate(_names(folder / "message" / session), 1):
            emit.at(place)
            info = _document(folder / "message" / session / name, source, place)
            if info is None:
                continue
            inner = folder / "part" / name.removesuffix(".json")
            if not inner.is_dir():
                inner = folder / "part" / session / name.removesuffix(".json")  # an older layout
            parts = [_document(inner / part, source, place) for part in _names(inner)]
            reading.message({"info": info, "parts": [part for part in parts if part is not None]})


def _is_database(columns: Columns) -> bool:
    """Whether the tables of a store are OpenCode's."""
    return (
        {"id", "session_id", "time_created", "data"} <= columns.get("message", frozenset())
        and {"id", "message_id", "data"} <= columns.get("part", frozenset())
        and {"id", "directory", "time_created"} <= columns.get("session", frozenset())
    )


def _database(path: Path, columns: Columns, emit: Emitter) -> None:
    """Report the sessions of a database in the order in which they began."""
    count_log(path, emit)
    query = (
        "SELECT m.session_id, m.id, m.data, p.data FROM message m LEFT JOIN part p ON p.message_id = m.id "
        "LEFT JOIN session s ON s.id = m.session_id "
        "ORDER BY s.time_created, m.session_id, m.time_created, m.id, p.id"
    )
    open_session: Any = None
    reading = _Reading(emit)
    for (session, _), found in groupby(rows(path, query, emit), key=itemgetter(0, 1)):
        if session != open_session:
            open_session = session
            emit.session(str(session))
            reading = _Reading(emit)
            number = 0
        number += 1
        emit.at(number)
        parts: list[Any] = []
        info: Any = None
        for _, _, data, part in found:
            info = decoded(data)
            if part is not None:
                parts.append(decoded(part))
        reading.message({"info": info, "parts": parts})
    later = columns.get("session_message", frozenset())
    if {"session_id", "type", "data"} <= later:
        _later_messages(path, next((f"m.{name}" for name in ("seq", "time_created") if name in later), "m.id"), emit)


def _later_messages(path: Path, order: str, emit: Emitter) -> None:
    """Report the sessions that stand only in the table of messages that later versions write."""
    query = (
        "SELECT m.session_id, m.type, m.data FROM session_message m LEFT JOIN session s ON s.id = m.session_id "
        "WHERE m.session_id NOT IN (SELECT session_id FROM message) "
        f"ORDER BY s.time_created, m.session_id, {order}, m.id"
    )
    for session, found in groupby(rows(path, query, emit), key=itemgetter(0)):
        emit.session(str(session))
        reading = _Reading(emit)
        for place, (_, kind, data) in enumerate(found, 1):
            emit.at(place)
            reading.later(string(kind), mapping(decoded(data)))


def _names(folder: Path, *, folders: bool = False) -> list[str]:
    """The names of the JSON files in a folder, or of the folders in it, in order; links are not followed."""
    try:
        with os.scandir(folder) as entries:
            if folders:
                return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
            return sorted(e.name for e in entries if e.name.endswith(".json") and e.is_file(follow_symlinks=False))
    except OSError:
        return []


def _document(path: Path, source: Source, place: int) -> Any:
    """The value in a file of the store; what is wrong with it is a problem at its place."""
    try:
        with Source(path) as file:
            value = file.document()
            for problem in file.problems.kept:
                source.problems.add(problem.kind, problem.message, line=place, damage=problem.damage)
            return value
    except InputError as error:
        source.problems.add("bad_file", f"a file of the store that is no JSON: {error}", line=place, damage=True)
        return None


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.fresh = Fresh()
        self.step = 0
        self.compacting = False
        self.guarded = False
        """Whether the doom-loop check refused a call of the message."""
        self.streams = False
        self.begun: dict[str, Call] = {}
        """Calls of a stream that are told again when they have ended, by their recorded ids."""

    def message(self, message: Any) -> None:
        """One message by its role."""
        info = mapping(mapping(message).get("info"))
        found = mapping(message).get("parts")
        if not isinstance(found, list):
            malformed(self.emit, "a message without parts")
        parts = [part for part in items(found) if isinstance(part, dict)]
        if len(parts) < len(items(found)):
            malformed(self.emit, "a part that is no object")
        at = moment(mapping(info.get("time")).get("created"))
        role = string(info.get("role"))
        if role == "user":
            self._user(parts, at)
        elif role == "assistant":
            self._assistant(info, parts, at)
        else:
            unknown_record(self.emit, role)

    def _user(self, parts: list[dict[str, Any]], at: Any) -> None:
        texts = []
        for part in parts:
            kind = string(part.get("type"))
            if kind == "text" and part.get("synthetic") is not True and part.get("ignored") is not True:
                texts.append(self._text(part))
            elif kind == "file":
                texts.append(f"[file {string(part.get('filename')) or ''}]")
            elif kind == "compaction":
                self.emit.boundary("compaction", at=at)
                self.compacting = True
            elif kind not in SILENT and kind != "text":
                unknown_record(self.emit, kind)
        if texts:
            self.emit.turn("\n".join(texts), at=at)

    def later(self, kind: str | None, data: Mapping[str, Any]) -> None:
        """One message as later versions keep them: its type beside it, its parts as ``content``."""
        at = moment(mapping(data.get("time")).get("created"))
        if kind == "user":
            self.emit.turn(self._text(data), at=at)
        elif kind == "assistant":
            content = data.get("content")
            if not isinstance(content, list):
                malformed(self.emit, "a message without content")
            self.step += 1
            model = mapping(data.get("model"))
            name = string(model.get("id")) or string(model.get("modelID"))
            for part in items(content):
                found = mapping(part)
                self._part(_older(found) if found.get("type") == "tool" else found, string(found.get("type")), at, name)
            self._tokens(data.get("tokens"), f"s{self.step}", name)
            self._error(data.get("error"), at)
        elif kind == "compaction":
            self.emit.boundary("compaction", string(data.get("reason")) or "", at=at)
        elif kind not in LATER_SILENT:
            unknown_record(self.emit, kind)

    def _text(self, part: Mapping[str, Any]) -> str:
        text = part.get("text")
        if not isinstance(text, str):
            malformed(self.emit, "a text part without its text")
            return ""
        return text

    def _assistant(self, info: Mapping[str, Any], parts: list[dict[str, Any]], at: Any) -> None:
        if info.get("summary") is True and not self.compacting:
            self.emit.boundary("compaction", at=at)
        self.compacting = False
        self.step += 1
        model = string(info.get("modelID"))
        counted = [self._part(part, string(part.get("type")), at, model) for part in parts]
        if not any(counted):
            self._tokens(info.get("tokens"), f"s{self.step}", model)
        self._guard(at)
        self._error(info.get("error"), at)

    def _part(self, part: Mapping[str, Any], kind: str | None, at: Any, model: str | None) -> bool:
        """One part of a response; whether it told the tokens of its step."""
        key = f"s{self.step}"
        if kind == "step-start":
            self.step += 1
        elif kind == "text":
            text = self._text(part)
            if text.strip():
                self.emit.say(text, key=key, at=at, model=model)
        elif kind == "tool":
            self._tool(part, key, at, model)
        elif kind == "step-finish":
            return self._tokens(part.get("tokens"), key, model)
        elif kind == "compaction":
            self.emit.boundary("compaction", at=at)
        elif kind not in SILENT:
            unknown_record(self.emit, kind)
        return False

    def event(self, record: Mapping[str, Any]) -> None:
        """One event of a run's output."""
        self.streams = True
        kind = string(record.get("type"))
        at = moment(record.get("timestamp"))
        part = record.get("part")
        if kind == "error":
            self._error(record.get("error"), at)
        elif kind not in EVENTS:
            unknown_record(self.emit, kind)
        elif not isinstance(part, dict):
            malformed(self.emit, "an event without its part")
        else:
            self._part(part, EVENTS[kind], at, None)
            if kind != "tool_use":
                self._guard(at)

    def _guard(self, at: Any) -> None:
        if self.guarded:
            self.guarded = False
            self.emit.boundary("recorded_guard", "doom_loop", at=at)

    def _tokens(self, value: Any, key: str, model: str | None) -> bool:
        found = mapping(value)
        cache = mapping(found.get("cache"))
        usage = tokens(
            found.get("input"),
            found.get("output"),
            thoughts=found.get("reasoning"),
            total=found.get("total"),
            read=cache.get("read"),
            written=cache.get("write"),
        )
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)
        return usage is not None

    def _error(self, value: Any, at: Any) -> None:
        name = string(mapping(value).get("name"))
        if name == "MessageAbortedError":
            self.emit.boundary("interrupt", name, at=at)
        elif name is not None:
            self.emit.problem("recorded_error", "a response ended in an error")

    def _tool(self, part: Mapping[str, Any], key: str, at: Any, model: str | None) -> None:
        name = tool_name(self.emit, part.get("tool"))
        state = mapping(part.get("state"))
        if not isinstance(state.get("input"), (dict, str)):
            malformed(self.emit, "a call without its input")
        times = mapping(state.get("time"))
        status = string(state.get("status"))
        recorded = string(part.get("callID"))
        call = self.begun.pop(recorded, None) if recorded is not None else None
        call = call or self.emit.call(
            name,
            state.get("input", {}),
            id=self.fresh.id(recorded),
            key=key,
            at=moment(times.get("start")) or at,
            model=model,
        )
        if call is None:
            return
        if status in UNFINISHED:
            if self.streams and recorded is not None:
                self.begun[recorded] = call
            return
        ended = moment(times.get("end"))
        if status == "completed":
            metadata = mapping(state.get("metadata"))
            code = metadata.get("exit")
            known = isinstance(code, int) and not isinstance(code, bool)
            self.emit.result(
                call.id,
                state.get("output"),
                failed=False,
                status="cancelled" if metadata.get("interrupted") is True else None,
                exit_code=code if known else None,
                at=ended,
            )
        elif status == "error":
            error = string(state.get("error")) or ""
            self.emit.result(call.id, error, failed=True, status=_refusal(error), at=ended)
            self.guarded |= "doom_loop" in error
        else:
            malformed(self.emit, "a tool part without a known status")


def _older(part: Mapping[str, Any]) -> dict[str, Any]:
    """A call of a later version in the form of the earlier ones."""
    state = mapping(part.get("state"))
    times = mapping(part.get("time"))
    error = state.get("error")
    output = state.get("output", content_text(state.get("content")))
    return {
        "tool": part.get("name"),
        "callID": part.get("id", part.get("callID")),
        "state": {
            **state,
            "output": output,
            "error": string(mapping(error).get("message")) or error or output,
            "metadata": state.get("metadata", state.get("structured")),
            "time": {"start": times.get("ran", times.get("created")), "end": times.get("completed")},
        },
    }


def _refusal(error: str) -> Status | None:
    head = error[:400]
    if _DENIED.search(head):
        return "denied"
    return "cancelled" if _CANCELLED.match(head) else None


READER: Final = Reader(
    id="opencode",
    title="OpenCode export",
    looked_for="info with an id ses_..., messages with info and parts; events with sessionID and part; a folder with "
    "message and part; a SQLite store with tables session, message and part",
    sniff=sniff,
    read=read,
    carries={
        "results": "beside the call",
        "failure": "status, exit code of commands",
        "tokens": "per step",
        "time": "yes",
        "subagents": "in exports of their own",
        "text": "yes",
        "batches": "one step",
    },
    written_by="opencode export, opencode run --format json",
    where="standard output, ~/.local/share/opencode/storage, ~/.local/share/opencode/opencode.db",
)
