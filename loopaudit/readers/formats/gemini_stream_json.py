"""The event stream of ``gemini --output-format stream-json``, one JSON event a line.

**Written by** Gemini CLI without a terminal, to wherever standard output was sent. Checked on real streams
of 2026, of which some were wrapped by a harness that adds its own prompt before ``init``.

**Conversation** = one ``init``; a second one of the same session is a ``resume`` boundary.
**Turn** = a message of role user. One right before ``init``, where another follows it, was added by a
harness around the program: problem ``foreign_record``. **Prose** comes in pieces (``delta``) and is
put together.

**Batch.** The stream does not mark responses: calls before the first result are one batch.

**Failure.** ``status: error`` is a flag; denied and cancelled calls are known by the program's words, a
shell command's exit code by the line below its output. An ``error`` event of the program's loop
detection or turn limit is a ``recorded_guard`` boundary, ``result`` an ``end``.

**Tokens** are known only for the whole run. **Not carried**: tool schemas, sub-agents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.gemini import exit_code, prose, refusal
from loopaudit.readers.kit.whole import guard_notice, records, samples, tokens, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source


def sniff(probe: Probe) -> str | None:
    """Claim ``init`` with a session and a model, or calls and results with ``tool_id``."""
    for record in samples(probe):
        kind = string(record.get("type"))
        if kind == "init" and "session_id" in record and "model" in record:
            return "init with session_id and model"
        if kind in ("tool_use", "tool_result") and "tool_id" in record:
            return "tool_use and tool_result with tool_id"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every event in file order."""
    stream = _Stream(emit)
    for record in records(source, emit):
        emit.at(time=moment(record.get("timestamp")))
        stream.take(record)
    stream.settle()


class _Stream:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.session: str | None = None
        self.begun = False
        self.ended = False
        self.before = ""
        self.model: str | None = None
        self.asked: tuple[str, int, Any] | None = None
        """A person's message that waits for what follows it."""
        self.prose: list[str] = []
        self.prose_at: tuple[int, Any] = (0, None)
        self.names: dict[str, str] = {}

    def take(self, record: Mapping[str, Any]) -> None:
        """One event by its type."""
        kind = string(record.get("type"))
        if kind == "message" and record.get("role") in ("assistant", "model"):
            self._piece(record)
            self.before = "message"
            return
        self._speak()
        match kind:
            case "init":
                self._init(record)
            case "message":
                self._user(record)
            case "tool_use":
                self._call(record)
            case "tool_result":
                self._result(record)
            case "error":
                self._error(record)
            case "result":
                self._end(record)
            case _:
                unknown_record(self.emit, kind)
        self.before = str(kind)

    def settle(self) -> None:
        """Report what waits."""
        self._speak()
        self._ask()

    # -- messages --------------------------------------------------------------------------

    def _init(self, record: Mapping[str, Any]) -> None:
        session = string(record.get("session_id")) or ""
        self.model = string(record.get("model"))
        self.ended = False
        if self.session is None or session != self.session:
            self.emit.session(session)
        elif self.begun:
            self.emit.boundary("resume", "init")
        self.session = session
        self.begun = False

    def _user(self, record: Mapping[str, Any]) -> None:
        if record.get("role") != "user":
            malformed(self.emit, "a message without a known role")
            return
        if self.before == "init" and self.asked is not None:
            self.emit.problem("foreign_record", "a prompt that a harness wrote around the stream", line=self.asked[1])
            self.asked = None
        self._ask()
        text = prose(record.get("content"))
        if not text:
            malformed(self.emit, "a message of a person without text")
        self.asked = (text, self.emit.line, self.emit.time)

    def _ask(self) -> None:
        if self.asked is not None:
            text, line, time = self.asked
            self.asked = None
            self.begun = True
            now = self.emit.line, self.emit.time
            self.emit.at(line, time)
            self.emit.turn(text)
            self.emit.at(*now)

    def _piece(self, record: Mapping[str, Any]) -> None:
        self._ask()
        text = prose(record.get("content"))
        if not self.prose:
            self.prose_at = (self.emit.line, self.emit.time)
        if record.get("delta") is not True and self.prose:
            self._speak()
            self.prose_at = (self.emit.line, self.emit.time)
        self.prose.append(text)

    def _speak(self) -> None:
        text = "".join(self.prose)
        self.prose = []
        if text.strip():
            self.begun = True
            now = self.emit.line, self.emit.time
            self.emit.at(*self.prose_at)
            self.emit.say(text, model=self.model)
            self.emit.at(*now)

    # -- calls -----------------------------------------------------------------------------

    def _call(self, record: Mapping[str, Any]) -> None:
        self._ask()
        self.begun = True
        name = tool_name(self.emit, record.get("tool_name"))
        call_id = string(record.get("tool_id"))
        if not isinstance(record.get("parameters", {}), dict):
            malformed(self.emit, "a call whose parameters are no object")
        call = self.emit.call(name, record.get("parameters", {}), id=call_id, model=self.model)
        if call is not None:
            self.names[call.id] = name

    def _result(self, record: Mapping[str, Any]) -> None:
        self._ask()
        call_id = string(record.get("tool_id"))
        name = self.names.pop(call_id, "") if call_id is not None else ""
        error = mapping(record.get("error"))
        message = string(error.get("message")) or ""
        output = record.get("output")
        text = content_text(output)
        status = string(record.get("status"))
        if call_id is None:
            malformed(self.emit, "a result without the id of its call")
        if status not in ("success", "error", "cancelled"):
            malformed(self.emit, "a result without a known status")
        refused = refusal(message) or refusal(text)
        self.emit.result(
            call_id,
            output if text else message,
            failed={"success": False, "error": True, "cancelled": True}.get(str(status)),
            status=(refused or "cancelled") if status == "cancelled" else refused if status == "error" else None,
            exit_code=exit_code(name, text) if status == "success" else None,
            error=message,
        )

    # -- the run ---------------------------------------------------------------------------

    def _error(self, record: Mapping[str, Any]) -> None:
        self._ask()
        message = string(record.get("message")) or string(mapping(record.get("error")).get("message")) or ""
        guard = guard_notice(message)
        if guard is not None:
            self.emit.boundary("recorded_guard", guard)
        else:
            self.emit.problem("recorded_error", "the run reported an error")

    def _end(self, record: Mapping[str, Any]) -> None:
        self._ask()
        if self.ended:
            self.emit.copied("repeated_record", "the end of the run is told again")
            return
        self.ended = self.begun = True
        stats = mapping(record.get("stats"))
        usage = tokens(stats.get("input_tokens"), stats.get("output_tokens"), read=stats.get("cached"))
        if usage is not None:
            self.emit.usage(usage, key="")
        status = string(record.get("status")) or "result"
        error = mapping(record.get("error"))
        reason = ": ".join(w for w in (status, string(error.get("type")), string(error.get("message"))) if w)
        self.emit.boundary("end", reason[:200])


READER: Final = Reader(
    id="gemini-stream-json",
    title="gemini -o stream-json",
    looked_for="init with session_id and model; tool_use and tool_result with tool_id",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "status, exit code of the shell tool",
        "tokens": "of the whole run",
        "time": "yes",
        "text": "yes",
    },
    written_by="gemini --output-format stream-json",
    where="standard output",
)
