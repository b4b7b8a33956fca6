"""Events of the OpenHands SDK (version 1).

**Written by** the SDK to a conversation directory (``events/event-NNNNN-<id>.json`` beside ``base_state.json``), and
by its server and exports as a list or one event a line. Checked on a small real directory and a stream of
2026. In a directory the place of a finding is the number of the event file, from 1.

**Turn** = a ``MessageEvent`` of the user. **Calls** are ``ActionEvent``: the tool's name and the arguments as the
model sent them. **Batch** = ``llm_response_id``. **Results** are ``ObservationEvent``, ``AgentErrorEvent``,
``UserRejectObservation``, paired by ``tool_call_id``.

**Failure.** ``is_error`` and ``AgentErrorEvent`` are flags, ``exit_code`` stands beside (-1: still running); a
refused action is ``denied``. **Boundaries**: ``Condensation``, ``PauseEvent``, ``ConversationErrorEvent``; a state or
an error by which the stuck detection or the limit of iterations stopped the agent is a ``recorded_guard``.

**Not carried**: tokens of single responses, the schemas of tools in most versions, sub-agents.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.errors import InputError
from loopaudit.core.events import Status, content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import flag, items, malformed, mapping, moment, not_a_record, string, unknown_record
from loopaudit.readers.kit.openhands import exit_code, stuck
from loopaudit.readers.kit.whole import Fresh, records, samples, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset(
    "SystemPromptUpdateEvent TokenEvent CondensationRequest CondensationSummaryEvent LLMCompletionLogEvent "
    "HookExecutionEvent StreamingDeltaEvent".split()
)
FOLDER: Final = "events"
STATE: Final = "base_state.json"

_FILE: Final = regex.lazy(r"event-\d+-.+\.json")


def sniff(probe: Probe) -> str | None:
    """Claim events whose ``kind`` ends with Event, or a directory with ``events`` and ``base_state.json``."""
    if probe.shape == "directory":
        return "events beside base_state.json" if FOLDER in probe.names and STATE in probe.names else None
    for record in samples(probe):
        kind = string(record.get("kind"))
        if isinstance(kind, str) and kind.endswith("Event") and ("source" in record or "llm_message" in record):
            return "events with kind and source"
        if kind == "UserRejectObservation" and "tool_call_id" in record:
            return "events with kind and tool_call_id"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every event in order."""
    reading = _Reading(emit)
    probe = source.probe()
    state: Mapping[str, Any] = {}
    if probe.shape == "directory":
        folder = Path(probe.path)
        state = _state(folder, source)
        reading.begin(state)
        found = _files(folder / FOLDER, source, emit)
    else:
        found = records(source, emit)
    for record in found:
        reading.take(record)
    emit.at(0)
    reading.status(state.get("execution_status"))


def _state(folder: Path, source: Source) -> dict[str, Any]:
    return mapping(_document(folder / STATE, source, 0)) if (folder / STATE).is_file() else {}


def _files(folder: Path, source: Source, emit: Emitter) -> Iterator[dict[str, Any]]:
    """The events of a directory in the order of their numbers; the emitter's line is the place of each, from 1."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    except OSError as error:
        raise InputError(f"{source.name}: {FOLDER} cannot be read: {error.strerror}") from None
    for place, name in enumerate((name for name in names if _FILE.fullmatch(name)), start=1):
        value = _document(folder / name, source, place)
        emit.at(place)
        if isinstance(value, dict):
            yield value
        elif value is not None:
            not_a_record(emit)


def _document(path: Path, source: Source, place: int) -> Any:
    """The value in a file of the directory; what is wrong with it is reported as a problem at its place."""
    try:
        with Source(path) as file:
            value = file.document()
            for problem in file.problems.kept:
                source.problems.add(problem.kind, problem.message, line=place, damage=problem.damage)
            return value
    except InputError as error:
        source.problems.add("bad_file", f"an event file that is no JSON: {error}", line=place, damage=True)
        return None


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.fresh = Fresh()
        self.open: dict[str, str] = {}
        """Ids of calls by the ids of their events."""
        self.responses = 0
        self.model: str | None = None
        self.stopped = False

    def begin(self, state: Mapping[str, Any]) -> None:
        """What the state of a conversation directory tells of it."""
        name = string(state.get("id"))
        if name is not None:
            self.emit.session(name)
        self.model = string(mapping(mapping(state.get("agent")).get("llm")).get("model"))

    def status(self, value: Any) -> None:
        """A status of the run; ``stuck`` is the stuck detection's."""
        if value == "stuck" and not self.stopped:
            self.stopped = True
            self.emit.boundary("recorded_guard", "stuck")

    def take(self, event: Mapping[str, Any]) -> None:
        """One event by its kind."""
        kind = string(event.get("kind"))
        self.emit.at(time=moment(event.get("timestamp")))
        match kind:
            case "MessageEvent":
                self._message(event)
            case "ActionEvent":
                self._action(event)
            case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation":
                self._result(str(kind), event)
            case "SystemPromptEvent":
                tools = declared_schemas(items(event.get("tools")))
                if tools:
                    self.emit.tools(tools)
            case "Condensation":
                self.emit.boundary("compaction")
            case "PauseEvent" | "InterruptEvent":
                self.emit.boundary("interrupt", str(kind))
            case "ConversationErrorEvent":
                self._error(event)
            case "ConversationStateUpdateEvent":
                value = event.get("value")
                full = mapping(value).get("execution_status")
                self.status(value if event.get("key") == "execution_status" else full)
            case _ if kind not in SILENT:
                unknown_record(self.emit, kind)

    def _message(self, event: Mapping[str, Any]) -> None:
        content = mapping(event.get("llm_message")).get("content")
        if not isinstance(content, (str, list)):
            malformed(self.emit, "a message without its content")
        text = content_text(content)
        if event.get("source") == "user":
            self.emit.turn(text)
        elif event.get("source") == "agent":
            if text.strip():
                self.emit.say(text, key=self._key(event), model=self.model)
        elif event.get("source") != "environment":
            malformed(self.emit, "a message without a known source")

    def _key(self, event: Mapping[str, Any]) -> str:
        self.responses += 1
        return string(event.get("llm_response_id")) or f"r{self.responses}"

    def _action(self, event: Mapping[str, Any]) -> None:
        key = self._key(event)
        thought = content_text(event.get("thought"))
        if thought.strip():
            self.emit.say(thought, key=key, model=self.model)
        sent = mapping(event.get("tool_call"))
        name = tool_name(self.emit, string(event.get("tool_name")) or sent.get("name"))
        arguments = sent.get("arguments", mapping(sent.get("function")).get("arguments"))
        if not isinstance(arguments, (str, dict)):
            action = event.get("action")
            if not isinstance(action, dict):
                malformed(self.emit, "a call without its arguments")
            arguments = {name: value for name, value in mapping(action).items() if name != "kind"}
        given = self.fresh.id(event.get("tool_call_id"))
        call = self.emit.call(name, arguments, id=given, key=key, model=self.model)
        event_id = string(event.get("id"))
        if call is not None and event_id is not None:
            self.open[event_id] = call.id

    def _result(self, kind: str, event: Mapping[str, Any]) -> None:
        target = self.open.pop(string(event.get("action_id")) or "", None) or string(event.get("tool_call_id"))
        name = string(event.get("tool_name"))
        if target is None and name is None:
            malformed(self.emit, "a result without the id of its call")
        if kind == "ObservationEvent":
            observation = event.get("observation")
            if not isinstance(observation, dict):
                malformed(self.emit, "an observation event without its observation")
            found = mapping(observation)
            content = found.get("content", found.get("output"))
            failed = flag(found.get("is_error"))
            code = exit_code(found)
            self.emit.result(target, content, failed=failed, exit_code=code, name=name)
        else:
            rejected = kind == "UserRejectObservation"
            message = event.get("rejection_reason" if rejected else "error")
            refused: Status | None = "denied" if rejected else None
            self.emit.result(target, message, failed=True, status=refused, name=name)

    def _error(self, event: Mapping[str, Any]) -> None:
        words = [string(event.get("code")), string(event.get("detail"))]
        reason = ": ".join(word for word in words if word)
        guard = stuck(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", reason))
        if guard is not None:
            self.stopped = True
        self.emit.boundary("end" if guard is None else "recorded_guard", reason[:200])


READER: Final = Reader(
    id="openhands-v1",
    title="OpenHands SDK events",
    looked_for="kind ActionEvent, ObservationEvent, MessageEvent with source; a folder with events and base_state.json",
    members=frozenset({"kind"}),
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "flag and exit code",
        "time": "yes",
        "schemas": "in some versions",
        "text": "yes",
        "batches": "one response",
    },
    written_by="OpenHands SDK, OpenHands 1.x",
    where="~/.openhands/conversations/<id>",
)
