"""Chat sessions of Gemini CLI.

**Written by** Gemini CLI to ``~/.gemini/tmp/<project>/chats/session-*``: until 0.39 one JSON document, since
0.40 one record a line. Both were checked on real files of 2025 and 2026.

**One record a line.** A record with an id that stood before replaces the earlier one (messages are
written again as their tools finish), ``$set`` changes the header or all messages, and ``$rewindTo``
takes back a message and everything after it. So the file is read whole before anything is reported.
What was taken back is counted as a problem ``rewound``.

**Turn** = a record of type user. **Batch** = ``toolCalls`` of one gemini record; call and result are in one
place. **Sub-agents** have files of their own (``kind: subagent``).

**Failure.** ``status`` error is a flag; cancelled calls are ``denied`` or ``cancelled`` by the
program's words; a call that was still waiting or running has no result. A shell command that
fails has ``status: success``; its exit code is read from the line that the tool writes
below the output. The notice of the program's own loop detection is a ``recorded_guard`` boundary.

**Not carried**: tool schemas, the system prompt, outputs beyond what the program kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import items, malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.gemini import Outcome, exit_code, inside, outcome_of, prose, refusal
from loopaudit.readers.kit.whole import Fresh, guard_notice, records, samples, tokens, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

NOTICES: Final = frozenset({"info", "error", "warning"})
"""Records in which the program speaks to the person."""

UNFINISHED: Final = frozenset({"executing", "awaiting_approval", "scheduled", "validating"})

_INTERRUPTED: Final = regex.lazy(r"\s*request cancelled", re.IGNORECASE)
_COMPRESSED: Final = regex.lazy(r"\bchat history (?:was )?compressed\b", re.IGNORECASE)


def sniff(probe: Probe) -> str | None:
    """Claim a header with sessionId and projectHash, or records of type gemini."""
    for record in samples(probe):
        if "sessionId" in record and "projectHash" in record:
            return "a header with sessionId and projectHash"
        if "$rewindTo" in record or (record.get("type") == "gemini" and "id" in record and "content" in record):
            return "records of type gemini"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Put the chat together and report it in order."""
    chat = _Chat(emit)
    for record in records(source, emit):
        chat.take(record)
    reading = _Reading(emit)
    for record, line in chat.messages():
        emit.at(line, moment(record.get("timestamp")))
        reading.message(record)


class _Chat:
    """The messages as they are after all changes."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self._messages: dict[Any, tuple[dict[str, Any], int]] = {}
        self._nameless = 0

    def messages(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Messages with their lines, in order."""
        return iter(self._messages.values())

    def take(self, record: Mapping[str, Any]) -> None:
        """One record: header, change, or message."""
        if "$set" in record:
            changes = record["$set"]
            if not isinstance(changes, dict):
                malformed(self.emit, "a change that is no object")
            elif "messages" in changes:
                self._messages.clear()
                self._several(changes["messages"])
        elif "$rewindTo" in record:
            self._rewind(record["$rewindTo"])
        elif "messages" in record or ("sessionId" in record and "type" not in record):
            name = string(record.get("sessionId"))
            if name:
                self.emit.session(name)
            if "messages" in record:
                self._several(record["messages"])
        else:
            self._message(dict(record))

    def _several(self, found: Any) -> None:
        if not isinstance(found, list):
            malformed(self.emit, "messages that are no list")
        for message in items(found):
            if isinstance(message, dict):
                self._message(message)
            else:
                malformed(self.emit, "a message that is no object")

    def _message(self, message: dict[str, Any]) -> None:
        name: str | int | None = string(message.get("id"))
        if name in self._messages:
            if _grown(self._messages[name][0], message):
                self._messages[name] = (message, self.emit.line)
                return
            self.emit.problem("reused_id", "a message with the id of another one")
            name = None
        if name is None:
            self._nameless += 1
            name = self._nameless
        self._messages[name] = (message, self.emit.line)

    def _rewind(self, target: Any) -> None:
        if not isinstance(target, str) or target not in self._messages:
            malformed(self.emit, "a rewind to a message that is not in the file")
            return
        names = list(self._messages)
        for name in names[names.index(target) :]:
            _, place = self._messages.pop(name)
            self.emit.problem("rewound", "a message that was taken back later", line=place)


def _grown(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Whether a record can be a later state of another one: it has all calls of that."""
    ids = [{str(mapping(call).get("id")) for call in items(r.get("toolCalls"))} for r in (earlier, later)]
    return earlier.get("type") == later.get("type") and ids[0] <= ids[1]


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.fresh = Fresh()
        self.responses = 0

    def message(self, record: Mapping[str, Any]) -> None:
        """One message by its type."""
        kind = string(record.get("type"))
        text = prose(record.get("content"))
        if kind == "user":
            if record.get("content") in (None, "") or not text:
                malformed(self.emit, "a message of a person without text")
            self.emit.turn(text)
        elif kind == "gemini":
            self._gemini(record, text)
        elif kind in NOTICES:
            self._notice(str(kind), text)
        else:
            unknown_record(self.emit, kind)

    def _notice(self, kind: str, text: str) -> None:
        guard = guard_notice(text)
        if guard is not None:
            self.emit.boundary("recorded_guard", guard)
        elif _INTERRUPTED.match(text):
            self.emit.boundary("interrupt", text.strip())
        elif _COMPRESSED.search(text):
            self.emit.boundary("compaction")
        elif kind == "error":
            self.emit.problem("recorded_error", "the program reported an error")

    def _gemini(self, record: Mapping[str, Any], text: str) -> None:
        self.responses += 1
        key = f"r{self.responses}"
        model = string(record.get("model"))
        if text.strip():
            self.emit.say(text, key=key, model=model)
        calls = record.get("toolCalls", [])
        if not isinstance(calls, list):
            malformed(self.emit, "tool calls that are no list")
        for call in items(calls):
            if isinstance(call, dict):
                self._call(call, key, model)
            else:
                malformed(self.emit, "a tool call that is no object")
        found = mapping(record.get("tokens"))
        usage = tokens(
            found.get("input"),
            found.get("output"),
            thoughts=found.get("thoughts"),
            total=found.get("total"),
            read=found.get("cached"),
        )
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)

    def _call(self, record: Mapping[str, Any], key: str, model: str | None) -> None:
        name = tool_name(self.emit, record.get("name"))
        if not isinstance(record.get("args", {}), dict):
            malformed(self.emit, "a call whose arguments are no object")
        call_id = self.fresh.id(record.get("id"))
        call = self.emit.call(name, record.get("args", {}), id=call_id, key=key, model=model)
        status = string(record.get("status"))
        if call is None or (status in UNFINISHED and not record.get("result")):
            return
        end = self._outcome(name, record, status)
        self.emit.result(
            call.id,
            end.output,
            failed=end.failed,
            status=end.status,
            exit_code=end.exit_code,
            error=end.error,
            at=moment(record.get("timestamp")) or None,
        )

    def _outcome(self, name: str, record: Mapping[str, Any], status: Any) -> Outcome:
        answers = inside(self.emit, record.get("result"), "functionResponse")
        found = [outcome_of(name, answer.get("response")) for answer in answers]
        if found:
            end = found[0]
            if len(found) > 1:
                end.output = "\n".join(content_text(one.output) for one in found)
        else:
            end = Outcome(prose(record.get("result")) or string(record.get("resultDisplay")) or "")
        text = content_text(end.output)
        if status == "success":
            return Outcome(end.output, False, exit_code=exit_code(name, text))
        if status == "error":
            return Outcome(end.output, True, refusal(text), error=end.error)
        if status == "cancelled":
            return Outcome(end.output, True, refusal(text) or "cancelled", error=end.error)
        if status not in UNFINISHED:
            malformed(self.emit, "a tool call without a known status")
        return end


READER: Final = Reader(
    id="gemini-cli",
    title="Gemini CLI chat",
    looked_for="sessionId and projectHash beside messages; lines of type gemini, $set, $rewindTo",
    sniff=sniff,
    read=read,
    carries={
        "results": "beside the call",
        "failure": "status, exit code of the shell tool",
        "tokens": "per response",
        "time": "yes",
        "subagents": "in files of their own",
        "text": "yes",
        "batches": "one gemini record",
    },
    written_by="Gemini CLI",
    where="~/.gemini/tmp/<project>/chats/session-*.json[l]",
)
