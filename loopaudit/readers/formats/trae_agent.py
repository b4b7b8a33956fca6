"""Trajectories of trae-agent: one JSON document.

**Written by** trae-agent, to ``trajectory_<time>.json`` or the file that ``--trajectory-file`` names.
**Evidence**: a public converter of such files (Harbor 0.26) and the field names of the program's source; no file of
somebody's program was seen.

**Batch** = the ``tool_calls`` of one response of ``llm_interactions``; without these, of one of ``agent_steps``.
**Results** stand in ``agent_steps``, by ``call_id``. **Turn** = ``task``.

**Failure.** ``success`` and ``error`` of a result.

**Not carried**: tool schemas (their names only), exit codes.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import documents, flag, items, malformed, mapping, moment, not_a_record, string
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source


def sniff(probe: Probe) -> str | None:
    """Claim a document with ``llm_interactions`` and ``agent_steps``."""
    for root in documents(probe)[:5]:
        found = mapping(root)
        if isinstance(found.get("llm_interactions"), list) and ("agent_steps" in found or "task" in found):
            return "llm_interactions beside agent_steps"
        steps = items(found.get("agent_steps"))[:5]
        if any("step_number" in mapping(step) and "state" in mapping(step) for step in steps):
            return "agent_steps with step_number and state"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every trajectory."""
    emit.knows_success()
    names = Names()
    for number, root in enumerate(values(source, emit), 1):
        if not isinstance(root, dict) or not ("llm_interactions" in root or "agent_steps" in root):
            not_a_record(emit)
            continue
        if number > 1:
            emit.session(names.unique(str(number)))
        _Run(emit).report(root)


class _Run:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.responses = 0
        self.results: dict[str, list[dict[str, Any]]] = {}
        """Results that are not reported yet, by the ids of their calls."""

    def report(self, root: dict[str, Any]) -> None:
        """Report the task, the responses with their results, and the end."""
        started = moment(root.get("start_time"))
        task = root.get("task")
        if isinstance(task, str):
            self.emit.turn(task, at=started, id="task")
        elif "task" in root:
            malformed(self.emit, "a task that is no text")
        interactions, steps = root.get("llm_interactions"), root.get("agent_steps")
        for name, listed in (("llm_interactions", interactions), ("agent_steps", steps)):
            if name in root and not isinstance(listed, list):
                malformed(self.emit, f"{name} that are no list")
        for step in items(steps):
            self.collect(step)
        if items(interactions):
            for interaction in items(interactions):
                found = mapping(interaction)
                model = string(found.get("model")) or string(root.get("model"))
                self.response(found.get("response"), moment(found.get("timestamp")), model)
        else:
            for step in items(steps):
                self.step(mapping(step), string(root.get("model")))
        for left in self.results.values():
            for result in left:
                self.result(result)
        self.end(root)

    def collect(self, step: Any) -> None:
        """Keep the results of a step."""
        if not isinstance(step, dict):
            malformed(self.emit, "a step that is no object")
            return
        listed = step.get("tool_results")
        if not isinstance(listed, (list, type(None))):
            malformed(self.emit, "results that are no list")
        for entry in items(listed):
            own = string(mapping(entry).get("call_id"))
            if own is None:
                malformed(self.emit, "a result without the id of its call")
            self.results.setdefault(own or "", []).append(mapping(entry))

    def step(self, step: dict[str, Any], model: str | None) -> None:
        """Report a step of a file that has no interactions."""
        response = step.get("llm_response")
        if isinstance(response, dict):
            listed = response.get("tool_calls") or step.get("tool_calls")
            response = {**response, "tool_calls": listed}
        elif step.get("tool_calls"):
            response = {"content": "", "tool_calls": step["tool_calls"]}
        else:
            return
        self.response(response, moment(step.get("timestamp")), model)

    def response(self, value: Any, at: str | float | None, model: str | None) -> None:
        """Report a response, and the results of its calls."""
        if not isinstance(value, dict):
            malformed(self.emit, "an interaction without its response")
            return
        self.responses += 1
        key = f"r{self.responses}"
        model = string(value.get("model")) or model
        listed = value.get("tool_calls")
        if not isinstance(listed, (list, type(None))):
            malformed(self.emit, "calls that are no list")
        asked = []
        for entry in items(listed):
            call = mapping(entry)
            if "arguments" not in call:
                malformed(self.emit, "a call without arguments")
            own = call.get("call_id", call.get("id"))
            arguments = call.get("arguments")
            self.pairing.call(
                call.get("name"),
                {} if arguments is None else arguments,
                id=own,
                key=key,
                at=at,
                model=model,
            )
            asked.append(own)
        text = content_text(value.get("content"))
        if text or not asked:
            self.emit.say(text, key=key, at=at, model=model)
        counts = mapping(value.get("usage"))
        usage = tokens(
            counts.get("input_tokens"),
            counts.get("output_tokens"),
            read=counts.get("cache_read_input_tokens"),
            written=counts.get("cache_creation_input_tokens"),
        )
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)
        for own in asked:
            waiting = self.results.get(own, []) if isinstance(own, str) else []
            if waiting:
                self.result(waiting.pop(0))

    def result(self, result: dict[str, Any]) -> None:
        """Report a result."""
        error = string(result.get("error"))
        success = flag(result.get("success"))
        text = content_text(result.get("result"))
        self.pairing.answer(
            string(result.get("call_id")) or "no call",
            text or error or "",
            name=result.get("name"),
            failed=not success if success is not None else True if error else None,
            error=error or "",
        )

    def end(self, root: dict[str, Any]) -> None:
        """Report how the run ended, where it says so."""
        success = flag(root.get("success"))
        if success is not None:
            self.emit.boundary("end", "success" if success else "no success", at=moment(root.get("end_time")))


READER: Final = Reader(
    id="trae-agent",
    title="trae-agent trajectory",
    looked_for="llm_interactions with response and tool_calls, agent_steps with tool_results, task",
    sniff=sniff,
    read=read,
    carries={
        "results": "by call_id",
        "failure": "success and error",
        "tokens": "usage of each response",
        "time": "of each response",
        "text": "yes",
        "batches": "one response",
    },
    evidence="source",
    written_by="trae-agent",
    where="trajectory_*.json",
)
