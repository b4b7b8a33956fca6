"""Trajectories in the Agent Trajectory Interchange Format (ATIF): one JSON document.

**Written by** Harbor's converters (``agent/trajectory.json`` of a trial), terminus-2, NeMo and other exporters.
Checked on 1.5 and 1.7 files; 1.0 to 1.8 differ only in members that are optional here.

**Batch** = one agent step: its ``tool_calls``, or, where no step of the trajectory has any, the calls that stand in
its message (lists of ``commands``, as terminus writes them, elements, ReAct). **Turn** = a step of source ``user``.
Steps with ``is_copied_context`` repeat an earlier file and are left out.
**Results** stand in the step's ``observation``, by ``source_call_id``; without one they belong to the step as a whole,
and are given to its open calls in order, the last one where there are fewer results than calls. An observation of
a step without calls is counted as ``result_without_call``. Ids that stand twice are no ids.

**Sub-agents**: ``subagent_trajectories`` of the document. Those in other files are not opened.

**Failure.** None in the format; only in the words.

**Not carried**: failure, exit codes.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from loopaudit.core.events import Call, content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.messages import is_compaction
from loopaudit.readers.kit.fields import (
    documents,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
    unknown_record,
)
from loopaudit.readers.kit.pairing import OpenCalls, Pairing
from loopaudit.readers.kit.text_dialects import FENCED, dialect_of
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

MAX_DEPTH: Final = 8
"""Levels of sub-agents that are read."""


def sniff(probe: Probe) -> str | None:
    """Claim an object whose ``schema_version`` is of ATIF."""
    for root in documents(probe)[:5]:
        if isinstance(root, dict) and str(root.get("schema_version")).startswith("ATIF-"):
            return "schema_version ATIF"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every trajectory."""
    names = Names()
    for number, root in enumerate(values(source, emit), 1):
        if not isinstance(root, dict) or not isinstance(root.get("steps"), list):
            not_a_record(emit)
            continue
        name = string(root.get("session_id")) or string(root.get("trajectory_id"))
        if name is not None or number > 1:
            emit.session(names.unique(name or str(number)))
        _Trajectory(emit).report(root, "", 0)


class _Trajectory:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.native = True
        """Whether any step has calls: else a scaffold without tool APIs kept them in the messages."""

    def report(self, root: dict[str, Any], agent: str, depth: int) -> None:
        """Report the steps, then the sub-agents."""
        about = mapping(root.get("agent"))
        self.emit.tools(declared_schemas(items(about.get("tool_definitions"))))
        model = string(about.get("model_name"))
        self.native = any(mapping(step).get("tool_calls") for step in root["steps"])
        for number, step in enumerate(root["steps"], 1):
            if not isinstance(step, dict):
                malformed(self.emit, "a step that is no object")
            elif step.get("is_copied_context") is not True:
                self._step(step, agent, f"{agent}.{number}", model)
        subagents = root.get("subagent_trajectories")
        if subagents is not None and not isinstance(subagents, list):
            malformed(self.emit, "trajectories of sub-agents that are no list")
        for number, inner in enumerate(items(subagents), 1):
            if not isinstance(inner, dict) or not isinstance(inner.get("steps"), list) or depth == MAX_DEPTH:
                malformed(self.emit, "a trajectory of a sub-agent without steps")
                continue
            name = string(inner.get("trajectory_id")) or string(mapping(inner.get("agent")).get("name")) or "agent"
            self.report(inner, f"{agent}/{name}#{number}" if agent else f"{name}#{number}", depth + 1)

    def _step(self, step: dict[str, Any], agent: str, key: str, model: str | None) -> None:
        source = step.get("source")
        self.emit.at(time=moment(step.get("timestamp")), agent=agent)
        text = content_text(step.get("message"))
        if source == "user":
            if not text and step.get("message") != "":
                malformed(self.emit, "a user's step without a message")
            self.emit.turn(text, id=f"step {key}")
        elif source == "system":
            if is_compaction(text) or "context summarization" in text[:200].lower():
                self.emit.boundary("compaction")
        elif source != "agent":
            unknown_record(self.emit, source)
        model = string(step.get("model_name")) or model
        listed = step.get("tool_calls") or []
        if not isinstance(listed, list):
            malformed(self.emit, "calls that are no list")
            listed = []
        if source == "agent" and not self.native:
            text, listed = self._written(text)
        calls = self._calls(listed, key, model)
        if source == "agent":
            if text.strip() or not calls:
                self.emit.say(text, key=key, model=model)
            metrics = mapping(step.get("metrics"))
            usage = tokens(
                metrics.get("prompt_tokens"), metrics.get("completion_tokens"), read=metrics.get("cached_tokens")
            )
            if usage is not None:
                self.emit.usage(usage, key=key, model=model)
        self._observation(step.get("observation"), calls)

    def _written(self, text: str) -> tuple[str, list[Any]]:
        """The prose of a message, and the calls that stand in it, in the form of ``tool_calls``."""
        dialect = dialect_of([text])
        if dialect is None or dialect is FENCED:
            return text, []
        prose, calls = dialect.parse(text)
        return prose, [{"function_name": call.name or "?", "arguments": call.arguments} for call in calls]

    def _calls(self, listed: list[Any], key: str, model: str | None) -> dict[str, list[Call]]:
        """Report the calls of a step. Returns them by their recorded ids (those without under an empty one)."""
        reported: dict[str, list[Call]] = {}
        ids = [mapping(entry).get("tool_call_id") for entry in listed]
        times = Counter(own for own in ids if isinstance(own, (str, int)))
        for entry, own in zip(listed, ids, strict=True):
            value = mapping(entry)
            if "arguments" not in value:
                malformed(self.emit, "a call without arguments")
            call = self.pairing.call(
                value.get("function_name"),
                value.get("arguments"),
                id=None if isinstance(own, (str, int)) and times[own] > 1 else own,
                key=key,
                model=model,
            )
            if call is not None:
                reported.setdefault(own if isinstance(own, str) else "", []).append(call)
        return reported

    def _observation(self, observation: Any, calls: dict[str, list[Call]]) -> None:
        if observation is None:
            return
        results = mapping(observation).get("results")
        if not isinstance(results, list):
            malformed(self.emit, "an observation without results")
            return
        by_id = {given: OpenCalls(group) for given, group in calls.items()}
        every = OpenCalls(sorted((c for group in calls.values() for c in group), key=lambda call: call.number))
        for number, entry in enumerate(results):
            result = mapping(entry)
            if not result:
                malformed(self.emit, "a result that is no object")
                continue
            given = result.get("source_call_id")
            own = by_id[given].first() if isinstance(given, str) and given in by_id else None
            if own is not None:
                self._result(own.id, result)
                continue
            if isinstance(given, str) and given:
                self.pairing.answer(given, result.get("content"))
                continue
            is_last = number == len(results) - 1
            waiting = [*every][-1] if is_last and every.first() is not None else every.first()
            if waiting is not None:
                self._result(waiting.id, result)
            elif result.get("content") is not None:
                self.emit.problem("result_without_call", "an observation of a step without calls")

    def _result(self, id: str, result: dict[str, Any]) -> None:
        if result.get("content") is None and "subagent_trajectory_ref" not in result:
            malformed(self.emit, "a result without content")
        self.emit.result(id, result.get("content"))


READER: Final = Reader(
    id="atif",
    title="ATIF trajectory",
    looked_for="an object with schema_version ATIF, agent and steps",
    sniff=sniff,
    read=read,
    carries={
        "results": "by source_call_id, else in order inside the step",
        "failure": "only in the words",
        "tokens": "metrics of each step",
        "time": "of each step",
        "subagents": "trajectories inside the document",
        "schemas": "tool_definitions of the agent",
        "text": "yes",
        "batches": "one step",
    },
    evidence="data",
    written_by="Harbor, terminus-2, exporters",
    where="agent/trajectory.json of a trial",
)
