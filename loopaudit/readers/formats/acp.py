"""Messages of the Agent Client Protocol (ACP), by which editors talk to agents: one JSON-RPC message a line.

**Written by** programs that log what an editor (Zed, JetBrains, Neovim) and an agent (Gemini CLI, Claude Code, Codex,
goose, Kimi) say to each other, and by agents that keep their updates so. A message may stand inside an object of the
logger. Known from the protocol's description; no file of somebody's was seen.

**Conversation** = one ``sessionId``. **Turn** = a ``session/prompt``, or a user's message that is replayed. **Batch**
= the calls up to the first result, and the prose before them. A call is its ``tool_call`` with what its
``tool_call_update`` adds; its tool is known by ``_meta``, else by the ``kind``, else by the title.

**Failure.** ``status: failed``; a call whose permission was refused is ``denied``. **Boundaries**: a prompt that ended
otherwise than by ``end_turn``.

**Not carried**: exit codes, tokens, tool schemas, sub-agents, times unless the logger adds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core.events import Call, content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import items, malformed, mapping, moment, objects, string, unknown_record
from loopaudit.readers.kit.pairing import value_text
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

UPDATE: Final = "session/update"
AROUND: Final = ("message", "msg", "payload", "data", "json")
"""Members of a logger's object that may hold the message."""

OTHER: Final = ("initialize", "authenticate", "session/", "fs/", "terminal/", "$/", "_")
"""How the methods begin that bring nothing new."""

STATES: Final = ("pending", "in_progress", "completed", "failed", None)

SILENT: Final = frozenset(
    "agent_thought_chunk plan available_commands_update current_mode_update config_option_update usage_update "
    "session_info_update".split()
)
"""Updates that are neither prose nor calls."""


def sniff(probe: Probe) -> str | None:
    """Claim ``session/update`` notifications, or ``session/prompt`` requests."""
    if probe.shape != "records":
        return None
    for record in probe.dicts:
        message = _message(record)
        params = mapping(message.get("params"))
        if message.get("method") == UPDATE and "sessionUpdate" in mapping(params.get("update")):
            return "session/update with a sessionUpdate"
        if message.get("method") == "session/prompt" and isinstance(params.get("prompt"), list):
            return "session/prompt with a prompt"
    return None


def _message(record: Mapping[str, Any]) -> Mapping[str, Any]:
    if "method" in record or "jsonrpc" in record:
        return record
    # Loggers put the message under a member of their own; the first that looks like one is taken, no deeper.
    inner = (mapping(record.get(name)) for name in AROUND)
    return next((one for one in inner if "method" in one or "jsonrpc" in one), record)


def read(source: Source, emit: Emitter) -> None:
    """Report every message in order."""
    emit.knows_success()
    reading = _Reading(emit)
    for record in objects(source, emit):
        message = _message(record)
        emit.at(time=moment(record.get("timestamp", record.get("ts", record.get("time")))))
        reading.message(message)
    reading.flush()


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.session: str | None = None
        self.calls: dict[str, Call] = {}
        """Calls that were begun, by the recorded id."""
        self.waiting: dict[str, tuple[dict[str, Any], int, Any]] = {}
        """Calls whose arguments are not there yet: what is known of each, its line and time."""
        self.prompts: set[str] = set()
        """Ids of requests that are prompts."""
        self.asked: dict[str, str] = {}
        """The call for which a request asks permission."""
        self.refused: set[str] = set()
        self.speaker: str | None = None
        self.prose: list[str] = []
        self.place: tuple[int, Any] = (0, None)

    def message(self, message: Mapping[str, Any]) -> None:
        """Report a message by its method; a response by the request that it answers."""
        method = string(message.get("method"))
        params = mapping(message.get("params"))
        own = str(message.get("id"))
        if method == UPDATE:
            self._begin(params)
            self._update(mapping(params.get("update")))
        elif method == "session/prompt":
            self._begin(params)
            self.flush()
            self.prompts.add(own)
            prompt = params.get("prompt")
            if not isinstance(prompt, list):
                malformed(self.emit, "a prompt that is no list")
            self.emit.turn(content_text(prompt), is_own=True)
        elif method == "session/request_permission":
            call = string(mapping(params.get("toolCall")).get("toolCallId"))
            if call is None:
                malformed(self.emit, "a request for permission without its call")
            else:
                self.asked[own] = call
        elif method == "session/cancel":
            self.flush()
            self.emit.boundary("interrupt")
        elif own in self.prompts or own in self.asked:
            self._response(message, own)
        elif method is None and "jsonrpc" not in message:
            unknown_record(self.emit, message.get("type"))
        elif method is None and ("result" in message or "error" in message):
            pass  # the answer to a request that brings nothing new
        elif method is None:
            malformed(self.emit, "a message without its method")
        elif not method.startswith(OTHER):
            unknown_record(self.emit, method)

    def _begin(self, params: Mapping[str, Any]) -> None:
        name = string(params.get("sessionId"))
        if name is not None and name != self.session:
            self.flush()
            self.session = name
            self.calls = {}
            self.emit.session(name)

    def _response(self, message: Mapping[str, Any], own: str) -> None:
        result = mapping(message.get("result"))
        # Both sides number their requests, and may use the same numbers.
        if own in self.asked and ("outcome" in result or own not in self.prompts):
            call = self.asked.pop(own)
            outcome = mapping(result.get("outcome"))
            chosen = string(outcome.get("optionId")) or ""
            if outcome.get("outcome") == "cancelled" or chosen.startswith(("reject", "deny")):
                self.refused.add(call)
        elif own in self.prompts:
            self.prompts.discard(own)
            self.flush()
            reason = string(result.get("stopReason")) or ("error" if "error" in message else None)
            if reason == "cancelled":
                self.emit.boundary("interrupt")
            elif reason is not None and reason != "end_turn":
                self.emit.boundary("end", reason)

    # -- updates ---------------------------------------------------------------------------

    def _update(self, update: Mapping[str, Any]) -> None:
        kind = string(update.get("sessionUpdate"))
        if kind in ("agent_message_chunk", "user_message_chunk"):
            speaker = kind.partition("_")[0]
            if speaker != self.speaker:
                self.flush()
                self.speaker, self.place = speaker, (self.emit.line, self.emit.time)
            if not isinstance(update.get("content"), dict):
                malformed(self.emit, "a piece of a message without content")
            self.prose.append(content_text(update.get("content")))
        elif kind in ("tool_call", "tool_call_update"):
            self._say()
            self._call(update, kind)
        elif kind not in SILENT:
            unknown_record(self.emit, kind)

    def _say(self) -> None:
        """Report the message whose pieces came."""
        text, speaker = "".join(self.prose), self.speaker
        self.prose, self.speaker = [], None
        line, at = self.place
        if speaker == "user" and text:
            self.emit.turn(text, line=line, at=at, is_own=True)
        elif text.strip():
            self.emit.say(text, line=line, at=at)

    def flush(self) -> None:
        """Report what waits."""
        self._say()
        for own in list(self.waiting):
            self._ask(own)

    def _call(self, update: Mapping[str, Any], kind: str) -> None:
        own = string(update.get("toolCallId"))
        if own is None:
            malformed(self.emit, "a call without its id")
            return
        # Many agents announce a call before its arguments are there: it is held until an update brings them, or it
        # runs without any, so that guards never see the half of a call.
        if kind == "tool_call" and own not in self.calls and own not in self.waiting:
            self.waiting[own] = ({}, self.emit.line, self.emit.time)
        if own in self.waiting:
            known = self.waiting[own][0]
            known.update({name: value for name, value in update.items() if value is not None})
            if known.get("rawInput") or known.get("status") not in (None, "pending"):
                self._ask(own)
        status = update.get("status")
        if isinstance(status, (dict, list)):
            status = ""  # damage; it could not be looked up among the states
        if status not in STATES:
            malformed(self.emit, "a call in an unknown state")
        elif status in ("completed", "failed"):
            self._result(own, update, status == "failed")

    def _ask(self, own: str) -> None:
        known, line, at = self.waiting.pop(own)
        meta = [mapping(value).get("toolName") for value in mapping(known.get("_meta")).values()]
        name = next((string(one) for one in meta if string(one)), None)
        kind = string(known.get("kind"))
        name = name or (kind if kind != "other" else None) or string(known.get("title"))
        if name is None:
            malformed(self.emit, "a call of which no tool is known", line)
        arguments = known.get("rawInput")
        if arguments is None:
            # Without its input two calls can be told apart only by what the editor shows of them.
            arguments = {name: known[name] for name in ("title", "locations") if name in known}
        call = self.emit.call(name or "", arguments, id=own, line=line, at=at)
        if call is not None:
            self.calls[own] = call

    def _result(self, own: str, update: Mapping[str, Any], failed: bool) -> None:
        inner = [mapping(entry).get("content", entry) for entry in items(update.get("content"))]
        text = "\n".join(filter(None, map(_text, inner)))
        output = update.get("rawOutput")
        self.emit.result(
            own,
            text or value_text(output),
            failed=failed,
            status="denied" if failed and own in self.refused else None,
        )
        self.refused.discard(own)


def _text(block: Any) -> str:
    """The text of a block of a result; a change of a file is its path and new text."""
    found = mapping(block)
    if found.get("type") == "diff":
        return f"{string(found.get('path')) or ''}\n{string(found.get('newText')) or ''}"
    return content_text(block)


READER: Final = Reader(
    id="acp",
    title="Agent Client Protocol messages",
    looked_for="lines of JSON-RPC with method session/update and a sessionUpdate, or session/prompt with a prompt",
    sniff=sniff,
    read=read,
    carries={
        "results": "tool_call_update",
        "failure": "status",
        "time": "where the logger adds it",
        "text": "yes",
        "batches": "up to the first result",
    },
    evidence="unseen",
    written_by="loggers between editors and agents",
    where="anywhere",
)
