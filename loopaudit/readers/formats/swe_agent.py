"""SWE-agent trajectories: one JSON document for each run.

**Written by** SWE-agent 0.x and 1.x as ``trajectories/<user>/<run>/<instance>/<instance>.traj``. Checked on runs and
demonstrations of 0.x (text actions) and 1.0 (function calls); some demonstrations have a ``history`` only.

**Batch** = one step of ``trajectory``, with one call: the step's ``action``. Where the response was a function
call, its name and arguments are taken from ``history``, else the first word names the call if it is a command of
SWE-agent's own shell, and ``bash`` runs all others. A step without an action is a response in which no command
was found; its words are kept.

**Turn** = user messages of ``history`` before the first action; demonstrations (``is_demo``) are no part of the
run. Without ``trajectory`` the history itself is read: later user and tool messages are results.

**Failure.** Only in the words of the observation. ``exit_status`` is the end.

**Not carried**: tokens for each response (only sums), times, sub-agents, tool schemas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from loopaudit.core.events import Call, content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import ToolCall, calls_of
from loopaudit.readers.kit.fields import documents, items, malformed, mapping, not_a_record, string
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.text_calls import command_call
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source


def sniff(probe: Probe) -> str | None:
    """Claim a ``trajectory`` of steps, or a ``history`` of messages with an ``agent``."""
    for root in documents(probe)[:5]:
        if not isinstance(root, dict):
            continue
        steps = [step for step in items(root.get("trajectory"))[:20] if isinstance(step, dict)]
        if steps and all("action" in step and "observation" in step for step in steps[:-1] or steps):
            return "trajectory of steps with action and observation"
        messages = [m for m in items(root.get("history"))[:50] if isinstance(m, dict) and "role" in m]
        if messages and any("agent" in m and ("message_type" in m or "action" in m) for m in messages):
            return "history of messages with agent and message_type"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every run."""
    names = Names()
    for number, root in enumerate(values(source, emit), 1):
        if not isinstance(root, dict) or not ("trajectory" in root or "history" in root):
            not_a_record(emit)
            continue
        name = string(root.get("instance_id"))
        if name is not None or number > 1:
            emit.session(names.unique(name or str(number)))
        _Run(emit).report(root)


class _Run:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.open: Call | None = None
        """The call of the newest step, where that is a command; the calls of functions are the pairing's."""
        self.number = 0
        self.responses = 0

    def report(self, root: dict[str, Any]) -> None:
        """Report the task, the steps, and the end."""
        for name in ("trajectory", "history"):
            if name in root and not isinstance(root[name], list):
                malformed(self.emit, f"a {name} that is no list")
        history = self._history(items(root.get("history")))
        steps = root.get("trajectory")
        if isinstance(steps, list) and steps:
            for message in history:
                if message.get("role") == "assistant":
                    break
                self._person(message)
            actions = _Actions(history)
            for step in steps:
                self._step(step, actions)
        else:
            for message in history:
                self._message(message)
        info = mapping(root.get("info"))
        end = info.get("exit_status")
        if isinstance(end, str) and end:
            self.emit.boundary("end", end)

    def _history(self, messages: list[Any]) -> list[dict[str, Any]]:
        """Those messages of a history that are a part of the run."""
        parts = []
        for message in messages:
            if not isinstance(message, dict) or not isinstance(message.get("role"), str):
                malformed(self.emit, "a message without a role")
            elif not message.get("is_demo"):
                parts.append(message)
        return parts

    def _person(self, message: dict[str, Any]) -> None:
        self.number += 1
        if message["role"] in ("system", "demo"):
            return
        if message["role"] != "user" or not isinstance(message.get("content"), (str, list)):
            malformed(self.emit, "a message before the first response that is no user's text")
            return
        self.emit.turn(content_text(message["content"]), id=f"m{self.number}")

    def _step(self, step: Any, actions: _Actions) -> None:
        self.number += 1
        if not isinstance(step, dict) or not isinstance(step.get("action"), str):
            malformed(self.emit, "a step without an action")
            return
        key = f"s{self.number}"
        action = step["action"].strip()
        thought = step.get("thought")
        thought = thought if isinstance(thought, str) else ""
        if not action:
            self.emit.problem("no_action", "a response without a command")
            self.emit.say(thought or content_text(step.get("response")), key=key)
            return
        listed = actions.of(action)
        if listed:
            if self._functions(listed, key):
                self.open = None
        else:
            self.open = self._command(action, key)
        prose = thought.strip()
        if prose:
            self.emit.say(prose, key=key)
        observation = step.get("observation")
        if not isinstance(observation, (str, list)):
            malformed(self.emit, "a step without an observation")
        elif self.open is not None:
            if self.open.result is None:
                self.emit.result(self.open.id, observation)
        elif self.pairing.is_waiting():
            self.pairing.answer(None, observation)

    def _functions(self, listed: list[ToolCall], key: str) -> bool:
        """Report the functions that a response called. Whether any of the calls is new."""
        is_new = False
        for asked in listed:
            call = self.pairing.call(asked.function.name, asked.function.sent, id=asked.id, key=key)
            is_new = is_new or call is not None
        return is_new

    def _command(self, action: str, key: str) -> Call | None:
        """Report the command of a response without function calls."""
        call = command_call(action)
        return self.emit.call(call.name, call.arguments, key=key)

    def _message(self, message: dict[str, Any]) -> None:
        """One message of a file that has only its history."""
        role = message["role"]
        if role == "assistant":
            self.number += 1
            self.responses += 1
            key = f"s{self.number}"
            action = string(message.get("action")) or ""
            listed = calls_of(message)
            if listed:
                self._functions(listed, key)
            elif action.strip():
                call = self._command(action, key)
                self.pairing.asked([] if call is None else [call])
            else:
                self.emit.problem("no_action", "a response without a command")
            prose = string(message.get("thought")) or content_text(message.get("content"))
            if prose.strip():
                self.emit.say(prose.strip(), key=key)
        elif role == "tool" or self.pairing.is_waiting():
            ids = items(message.get("tool_call_ids")) or [message.get("tool_call_id")]
            self.pairing.answer(ids[0], content_text(message.get("content")))
        elif not self.responses or message.get("message_type") != "observation":
            self._person(message)


class _Actions:
    """The function calls of the history, by the actions that they became, in order."""

    def __init__(self, history: list[dict[str, Any]]) -> None:
        self._left: Iterator[dict[str, Any]] = iter([m for m in history if m["role"] == "assistant"])
        self._next: dict[str, Any] | None = next(self._left, None)

    def of(self, action: str) -> list[ToolCall]:
        """The calls that stand for a stripped action; none where the history does not have that action next."""
        message = self._next
        if message is None:
            return []
        own = message.get("action")
        if own != action and str(own).strip() != action:
            return []
        self._next = next(self._left, None)
        return calls_of(message)


READER: Final = Reader(
    id="swe-agent",
    title="SWE-agent trajectory",
    looked_for="an object with trajectory of action and observation, history with agent and message_type, info",
    members=frozenset({"trajectory", "history"}),
    sniff=sniff,
    read=read,
    carries={
        "results": "in the step of the call",
        "failure": "only in the words",
        "text": "thoughts",
        "batches": "one step",
    },
    evidence="data",
    written_by="SWE-agent",
    where="trajectories/<user>/<run>/<instance>/<instance>.traj",
)
