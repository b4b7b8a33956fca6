"""Events of OpenHands before its rewrite as an SDK (versions 0.x, and OpenDevin before).

**Written by** the trajectory export (a JSON list), the server (``trajectory`` in an object), and the evaluation:
``output.jsonl`` with one run a line, its events in ``history``. Checked on real files of 2024 and 2025.
Three ages: events with ``id`` and ``cause``; flattened events without either (2024); lists of pairs of
action and observation (early 2024).

**Turn** = a message of the user; events without a source: a message before the agent did anything.
**Calls** are actions of the agent. Where the event repeats the model's response (``tool_call_metadata``)
the tool's name and arguments are those of the model, else the action and its ``args`` without what the
program adds; of ``call_tool_mcp`` those of the server's tool. **Batch** = one response
(``model_response.id``), else one action.
**Results** are paired by ``cause``; without, with the action before them.

**Failure.** An observation ``error`` is a flag, ``user_rejected`` is ``denied``; exit codes stand in
``extras`` or beside it, -1 is a command still running; else ``success``. Older outputs say it in words only.
An error without a cause, which answers a call that could not be parsed, is an orphan.

**Boundaries**: ``condensation``; an error ``AgentStuckInLoopError`` (or the limit of iterations) of an event
or a row is a ``recorded_guard``; another error of a row is its ``end``.

**Not carried**: which of the events a delegated agent wrote; tool schemas only in newer system actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core.text import one_line
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import usage_of
from loopaudit.readers.kit.fields import items, malformed, mapping, moment, not_a_record, string
from loopaudit.readers.kit.openhands import (
    exit_code,
    is_event,
    is_pair,
    made_by_action,
    records_exit,
    sent_by_model,
    stuck,
)
from loopaudit.readers.kit.whole import Fresh, Names, samples, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

LISTS: Final = ("history", "trajectory")
"""Members of a row that may be its list of events."""

NOT_CALLS: Final = frozenset(
    "system recall change_agent_state null condensation condensation_request initialize start stop pause resume".split()
)
KNOWN_CALLS: Final = frozenset(
    "run run_ipython read write edit browse browse_interactive think finish delegate reject call_tool_mcp "
    "task_tracking add_task modify_task push send_pr".split()
)
NOT_RESULTS: Final = frozenset({"agent_state_changed", "null", "recall", "condense", "chat"})


_ENVELOPE: Final = frozenset("id timestamp source message action cause args tool_call_metadata llm_metrics".split())


def sniff(probe: Probe) -> str | None:
    """Claim events with an action or an observation, in lines, in a list, or in rows with history."""
    roots = [probe.document] if probe.shape == "document" else probe.records[:20]
    for root in roots:
        found = items(root)[:50] if isinstance(root, list) else []
        if any(is_event(v) or is_pair(v) for v in found):
            return "a list of events with action or observation"
        for row in [root, *found]:
            if any(is_event(v) or is_pair(v) for name in LISTS for v in items(mapping(row).get(name))[:50]):
                return "a row with a history of events"
    if any(is_event(record) for record in samples(probe)):
        return "events with action or observation"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every run in file order."""
    reading = _Reading(emit)
    for value in values(source, emit):
        reading.root(value)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.names = Names()
        self.run: _Run | None = None

    def root(self, value: Any) -> None:
        """A line or the document: an event, a list of events or rows, or a row."""
        row = mapping(value)
        events = next((row[name] for name in LISTS if isinstance(row.get(name), list)), None)
        if events is not None:
            self._row(row, events)
        elif is_pair(value) or not isinstance(value, list) or (not value and self.emit.line):
            self._event(value)
        else:
            for entry in value:
                if any(name in mapping(entry) for name in LISTS):
                    self.root(entry)
                else:
                    self._event(entry)

    def _event(self, value: Any) -> None:
        if self.run is None:
            self.run = _Run(self.emit)
        if isinstance(value, dict):
            self.run.take(value)
        elif not isinstance(value, list) or not value:
            not_a_record(self.emit)
        else:
            for event in value:
                if isinstance(event, dict):
                    self.run.take(event)
                else:
                    not_a_record(self.emit)

    def _row(self, row: Mapping[str, Any], events: list[Any]) -> None:
        self.emit.session(self.names.unique(_name(row)))
        run = self.run = _Run(self.emit)
        take = run.take
        for event in events:
            if type(event) is dict:
                take(event)
            else:
                self._event(event)
        self.run = None
        error = string(row.get("error")) or ""
        self.emit.at()
        run.stopped(error)
        if error and stuck(error) is None:
            self.emit.boundary("end", error[:200])


def _name(row: Mapping[str, Any]) -> str:
    issue = mapping(row.get("issue"))
    for name in (row.get("instance_id"), row.get("id"), row.get("session_id")):
        if isinstance(name, (str, int)) and name != "":
            return str(name)
    return f"{issue.get('owner')}/{issue.get('repo')}#{issue['number']}" if "number" in issue else "run"


class _Run:
    """One run's events."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.fresh = Fresh()
        self.calls: dict[Any, str] = {}
        """Ids of open calls by the ids of their actions."""
        self.last: str | None = None
        """The newest call, while it is open."""
        self.skipped: set[Any] = set()
        """Ids of actions that are no calls of the agent."""
        self.actions = 0
        self.guarded = False

    def stopped(self, reason: str) -> None:
        """Report that a guard stopped the agent, if the reason says so; once only."""
        guard = stuck(reason)
        if guard is not None and not self.guarded:
            self.guarded = True
            self.emit.boundary("recorded_guard", guard)

    def take(self, event: Mapping[str, Any]) -> None:
        """One event."""
        emit = self.emit
        # As :meth:`Emitter.at` does, without a call of it.
        at = event.get("timestamp")
        emit.time = at if type(at) is str else moment(at)
        emit.agent = ""
        action, observation = event.get("action"), event.get("observation")
        if isinstance(action, str) and observation is None:
            self._action(action, event)
        elif isinstance(observation, str) and action is None:
            self._observation(observation, event)
        elif "action" not in event and "observation" not in event:
            emit.problem("unknown_record", "neither an action nor an observation")
        elif _is_acknowledgement(event):
            return
        else:
            malformed(emit, "an event without a readable action or observation")

    # -- actions ---------------------------------------------------------------------------

    def _action(self, kind: str, event: Mapping[str, Any]) -> None:
        args = event.get("args")
        if args is None:
            args = {name: value for name, value in event.items() if name not in _ENVELOPE and value is not None}
            args.update(mapping(event.get("extras")))  # feedback rows keep the arguments there
        elif not isinstance(args, dict):
            malformed(self.emit, "an action whose args are no object")
            args = {}
        source = event.get("source")
        if kind in KNOWN_CALLS and source != "user":
            self._call(kind, args, event)
            return
        if kind == "message":
            self._message(source, args)
        elif kind == "condensation":
            self.emit.boundary("compaction")
        elif kind == "system":
            tools = declared_schemas(items(args.get("tools")))
            if tools:
                self.emit.tools(tools)
        elif kind in NOT_CALLS:
            pass
        elif source == "user":
            self.emit.problem("not_a_call", "an action of the person, not of the agent")
        else:
            message = f"actions of kind {one_line(kind, 40)} are not known; taken for calls"
            self.emit.problem("unknown_record", message)
            self._call(kind, args, event)
            return
        self.skipped.add(_plain(event.get("id")))

    def _message(self, source: Any, args: Mapping[str, Any]) -> None:
        content = args.get("content")
        if not isinstance(content, str):
            malformed(self.emit, "a message without its content")
            content = ""
        if source == "user" or (source is None and not self.actions):
            self.emit.turn(content)
        elif source in (None, "agent"):
            self.actions += 1
            if content.strip():
                self.emit.say(content, key=f"a{self.actions}")
        elif source != "environment":
            malformed(self.emit, "a message without a known source")

    def _call(self, kind: str, args: Mapping[str, Any], event: Mapping[str, Any]) -> None:
        emit = self.emit
        self.actions += 1
        metadata = mapping(event.get("tool_call_metadata"))
        response: Mapping[str, Any] = mapping(metadata.get("model_response")) if metadata else metadata
        key, model, usage = None, None, None
        if response:
            key, model = string(response.get("id")), string(response.get("model"))
            usage = usage_of(response.get("usage"))
        key = key or f"a{self.actions}"
        thought = args.get("thought")
        if isinstance(thought, str) and kind != "think" and thought.strip():
            emit.say(thought, key=key, model=model)
        given = metadata.get("tool_call_id")
        name, arguments = sent_by_model(given, response) or made_by_action(kind, args)
        call = emit.call(name, arguments, id=self.fresh.id(given), key=key, model=model)
        if usage is not None:
            emit.usage(usage, key=key, model=model)
        if call is not None:
            self.last = call.id
            own = event.get("id")
            if own is not None:
                self.calls[str(own)] = call.id

    # -- observations ----------------------------------------------------------------------

    def _observation(self, kind: str, event: Mapping[str, Any]) -> None:
        extras = mapping(event.get("extras"))
        if kind == "agent_state_changed":
            self.stopped(string(extras.get("reason")) or "")
            return
        cause = _plain(event.get("cause"))
        if kind in NOT_RESULTS or (cause is not None and cause in self.skipped):
            return
        if kind in ("message", "user_message") and event.get("source") == "user":
            self.emit.turn(string(event.get("content")) or "")
            return
        content = event.get("content")
        if not isinstance(content, (str, list, dict)):
            malformed(self.emit, "an observation without content")
        target = self._target(cause, kind, event)
        code = exit_code(extras, event)
        failed = None
        if kind in ("error", "user_rejected"):
            failed = True
        elif code is not None:
            failed = False
        else:
            success = event.get("success")
            if isinstance(success, bool) and not records_exit(extras, event):
                failed = not success
        self.emit.result(
            target,
            content,
            failed=failed,
            status="denied" if kind == "user_rejected" else None,
            exit_code=code,
        )

    def _target(self, cause: Any, kind: str, event: Mapping[str, Any]) -> str:
        """The id of the call that an observation answers; one that nobody has for an orphan."""
        if cause is not None:
            target = self.calls.pop(cause, f"cause {cause}")
        elif self.last is not None and (kind != "error" or "id" not in event):
            target = self.last
        else:
            target = "no cause"
        if target == self.last:
            self.last = None
        return target


def _plain(value: Any) -> Any:
    """An id that can be looked up; the same number and text are the same."""
    return None if value is None else str(value)


def _is_acknowledgement(event: Mapping[str, Any]) -> bool:
    """Whether an event only says that the one before it was taken: it has neither half, and nothing else in it."""
    is_empty = event.get("action", 0) is None and event.get("observation", 0) is None
    return is_empty and isinstance(event.get("content"), str) and not event.get("extras") and not event.get("args")


READER: Final = Reader(
    id="openhands-v0",
    title="OpenHands events (0.x)",
    looked_for="events with action or observation, source, args, extras, cause; rows with instance_id and history",
    members=frozenset({"action", "observation", *LISTS}),
    sniff=sniff,
    read=read,
    carries={
        "results": "by cause, else by order",
        "failure": "flag and exit code; older files: words only",
        "tokens": "where the model's response is repeated",
        "time": "except in old rows",
        "schemas": "in newer system actions",
        "text": "yes",
        "batches": "one response",
    },
    written_by="OpenHands 0.x, OpenDevin",
    where="trajectory exports, evaluation output.jsonl",
)
