"""Results of tau2-bench: one JSON document with many simulations.

**Written by** tau2-bench as ``data/simulations/<time>_<domain>_<agent>_<user>.json``. Also read are bare lists of
simulations, and one a line. Checked on two results of 2025 (airline, telecom). Results of the first tau-bench
are chat messages, see ``openai-chat``.

**Conversation** = one simulation, named by its task and trial. **Batch** = one message with calls.
**Turn** = a user message of words. The simulated user may call tools too: these are calls of a sub-agent ``user``.
**Results**: messages of role tool (or the ``tool_messages`` of one), by ``id``.

**Failure.** ``error`` of the result. ``termination_reason`` is the end.

Tokens are those of the agent; the simulated user's are not counted.

**Not carried**: tool schemas, sub-agents of the agent. Voice runs (``ticks``) have no messages.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import calls_of, usage_of
from loopaudit.readers.kit.fields import (
    documents,
    flag,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
    unknown_record,
)
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

USER: Final = "user"
"""The sub-agent that the simulated user's calls belong to."""


def sniff(probe: Probe) -> str | None:
    """Claim ``simulations`` beside ``tasks`` and ``info``, and lists of simulations."""
    for root in documents(probe)[:5]:
        if isinstance(root, dict) and _is_simulation((items(root.get("simulations")) or [None])[0]):
            return "simulations with task_id and messages"
        about = mapping(mapping(root).get("info"))
        if "tasks" in mapping(root) and ("user_info" in about or "environment_info" in about):
            return "info with user_info and environment_info"
        for entry in root[:1] if isinstance(root, list) else [root]:
            if _is_simulation(entry):
                return "simulations with task_id and messages"
    return None


def _is_simulation(value: Any) -> bool:
    row = mapping(value)
    if "task_id" not in row:
        return False
    marked = any("turn_idx" in mapping(message) for message in items(row.get("messages"))[:20])
    return marked or ("termination_reason" in row and ("messages" in row or "ticks" in row) and "seed" in row)


def read(source: Source, emit: Emitter) -> None:
    """Report every simulation in file order."""
    names = Names()
    for root in values(source, emit):
        listed = root.get("simulations", [root]) if isinstance(root, dict) else root
        if not isinstance(listed, list):
            malformed(emit, "simulations that are no list")
            continue
        model = string(mapping(mapping(mapping(root).get("info")).get("agent_info")).get("llm"))
        for row in listed:
            if not isinstance(row, dict):
                not_a_record(emit)
            elif "ticks" in row and not row.get("messages"):
                emit.problem("unknown_record", "a voice simulation, which has no messages")
            elif not isinstance(row.get("messages"), list):
                malformed(emit, "a simulation without messages")
            else:
                emit.session(names.unique(_name(row)))
                _Simulation(emit, model).report(row)


def _name(row: dict[str, Any]) -> str:
    task, trial = row.get("task_id"), row.get("trial")
    name = str(task) if isinstance(task, (str, int)) else string(row.get("id")) or "simulation"
    return f"{name}-trial-{trial}" if isinstance(trial, int) and not isinstance(trial, bool) else name


class _Simulation:
    def __init__(self, emit: Emitter, model: str | None) -> None:
        self.emit = emit
        self.model = model
        self.pairing = Pairing(emit)

    def report(self, row: dict[str, Any]) -> None:
        """Report the messages and the end."""
        for number, message in enumerate(row["messages"], 1):
            role = mapping(message).get("role")
            if role == "assistant":
                self._response(message, f"m{number}", "")
            elif role == "user":
                if message.get("tool_calls"):
                    self._response(message, f"m{number}", USER)
                else:
                    self._person(message, number)
            elif role == "tool":
                inner = message.get("tool_messages")
                for result in inner if isinstance(inner, list) else [message]:
                    self._result(result)
            elif role != "system":
                unknown_record(self.emit, role)
        end = row.get("termination_reason")
        if isinstance(end, str) and end:
            self.emit.boundary("end", end, at=moment(row.get("end_time")))

    def _person(self, message: dict[str, Any], number: int) -> None:
        content = message.get("content")
        if not isinstance(content, (str, list)):
            malformed(self.emit, "a user's message without words or calls")
            return
        self.emit.turn(content_text(content), at=moment(message.get("timestamp")), id=f"m{number}")

    def _response(self, message: dict[str, Any], key: str, agent: str) -> None:
        at = moment(message.get("timestamp"))
        model = None if agent else self.model
        calls = calls_of(message)
        if message.get("tool_calls") and not calls:
            malformed(self.emit, "calls that are no list")
        for call in calls:
            self.pairing.call(
                call.function.name,
                call.function.sent,
                id=call.id,
                key=key,
                agent=agent,
                at=at,
                model=model,
            )
        text = content_text(message.get("content"))
        if text or not calls:
            self.emit.say(text, agent=agent, key=key, at=at, model=model)
        usage = usage_of(message.get("usage"))
        if usage is not None and not agent:
            self.emit.usage(usage, agent=agent, key=key, model=model)

    def _result(self, value: Any) -> None:
        result = mapping(value)
        if not result:
            malformed(self.emit, "a result that is no object")
            return
        own = result.get("id", result.get("tool_call_id"))
        error = flag(result.get("error"))
        self.pairing.answer(own, result.get("content"), failed=error, at=moment(result.get("timestamp")))


READER: Final = Reader(
    id="tau2-bench",
    title="tau2-bench results",
    looked_for="an object with simulations, tasks and info; messages with turn_idx and requestor",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "error",
        "tokens": "of the agent's messages",
        "time": "of each message",
        "subagents": "the simulated user's calls",
        "text": "yes",
        "batches": "one message",
    },
    evidence="data",
    written_by="tau2-bench",
    where="data/simulations/*.json",
)
