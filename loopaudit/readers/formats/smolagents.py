"""Steps of a smolagents agent's memory.

**Written by** programs that keep ``agent.memory.get_full_steps()``, ``get_succinct_steps()`` or the steps of a
``RunResult``: a list of steps, or an object with ``steps``.
**Evidence**: the source of smolagents 1.26; no file of somebody's program was seen.

**Batch** = one action step: its ``tool_calls``. A code agent has one call, ``python_interpreter``, with its code; where
only ``code_action`` is kept, that is the call. **Results** are the step's ``observations``, which are of the step as a
whole: they belong to its last call. **Turn** = a step with ``task``. A plan is a reply. ``final_answer`` is a call.

**Failure.** ``error`` of a step: then its call failed.

**Not carried**: which of several calls of a step a result belongs to; models, tool schemas, exit codes.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.canonical import compact
from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import documents, items, malformed, mapping, moment, not_a_record, string
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

INTERPRETER: Final = "python_interpreter"
"""The tool that a code agent's code is sent to."""

_ACTION: Final = ("step_number", "tool_calls")
_MAX_DEPTH: Final = 8
_SILENT: Final = frozenset({"system_prompt", "output"})
"""Members of steps that are neither a task, a plan nor an action: the system prompt and the final answer."""


def sniff(probe: Probe) -> str | None:
    """Claim action steps with ``step_number``, ``tool_calls`` and ``observations``."""
    for root in documents(probe)[:20]:
        for steps in _lists(root) or ([[root]] if isinstance(root, dict) else []):
            if any(_is_action(step) for step in steps[:20]):
                return "steps with step_number, tool_calls and observations"
    return None


def _is_action(step: Any) -> bool:
    return (
        isinstance(step, dict)
        and "step_number" in step
        and "observations" in step
        and ("tool_calls" in step or "code_action" in step or "model_output" in step)
    )


def _lists(root: Any, depth: int = 0) -> list[list[Any]]:
    """The lists of steps in a value: itself, or those of the runs in it.

    Runs lie a few levels deep. A list below :data:`_MAX_DEPTH` is one of steps, which reading finds to be none.
    """
    if isinstance(root, list):
        if depth > _MAX_DEPTH:
            return [root]
        inner = [found for entry in root if isinstance(entry, (dict, list)) for found in _lists(entry, depth + 1)]
        return inner or [root]
    for name in ("steps", "memory", "agent_memory"):
        listed = mapping(root).get(name)
        if isinstance(listed, list):
            return [listed]
        if isinstance(listed, dict):
            return _lists(listed, depth + 1) if depth <= _MAX_DEPTH else []
    return []


def read(source: Source, emit: Emitter) -> None:
    """Report every run."""
    reading = _Reading(emit)
    runs = 0
    names = Names()
    for root in values(source, emit):
        found = _lists(root)
        if not found:
            if isinstance(root, dict):
                reading.step(root)
            else:
                not_a_record(emit)
        for steps in found:
            runs += 1
            if runs > 1 or len(found) > 1:
                reading.pairing.begin(names.unique(str(runs)))
            for step in steps:
                reading.step(step)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.steps = 0

    def step(self, step: Any) -> None:
        """Report a step by what it has."""
        self.steps += 1
        if not isinstance(step, dict):
            malformed(self.emit, "a step that is no object")
        elif "task" in step:
            task = step["task"]
            if not isinstance(task, str):
                malformed(self.emit, "a task that is no text")
            self.emit.turn(content_text(task), id=f"step {self.steps}")
        elif "plan" in step:
            self.emit.say(content_text(step["plan"]), key=f"s{self.steps}")
        elif any(name in step for name in _ACTION):
            self.action(step)
        elif not _SILENT.issuperset(step):
            self.emit.problem("unknown_record", "a step that is neither a task, a plan nor an action")

    def action(self, step: dict[str, Any]) -> None:
        """Report an action step."""
        key = f"s{self.steps}"
        timing = mapping(step.get("timing"))
        at, ended = moment(timing.get("start_time")), moment(timing.get("end_time"))
        listed = step.get("tool_calls")
        if not isinstance(listed, (list, type(None))):
            malformed(self.emit, "calls that are no list")
        calls = [self.call(entry, key, at) for entry in items(listed)]
        code = string(step.get("code_action"))
        if not calls and code is not None:
            calls = [self.pairing.call(INTERPRETER, code, key=key, at=at)]
        text = content_text(step.get("model_output"))
        if text or not calls:
            self.emit.say(text, key=key, at=at)
        counts = mapping(step.get("token_usage"))
        usage = tokens(counts.get("input_tokens"), counts.get("output_tokens"))
        if usage is not None:
            self.emit.usage(usage, key=key)
        self.outcome(step, [call for call in calls if call is not None], ended)

    def call(self, entry: Any, key: str, at: str | float | None) -> Any:
        """Report a call, nested under ``function`` or not."""
        call = mapping(entry)
        function = mapping(call.get("function")) or call
        if "arguments" not in function:
            malformed(self.emit, "a call without arguments")
        arguments = function.get("arguments")
        return self.pairing.call(
            function.get("name"),
            {} if arguments is None else arguments,
            id=call.get("id"),
            key=key,
            at=at,
        )

    def outcome(self, step: dict[str, Any], calls: list[Any], at: str | float | None) -> None:
        """Report what a step showed, and whether it failed."""
        error = step.get("error")
        observed = step.get("observations")
        if not isinstance(observed, (str, type(None))):
            malformed(self.emit, "observations that are no text")
        if not calls:
            if error:
                self.emit.problem("failed_step", "a step that failed without a call")
            return
        if observed is None and not error and step.get("action_output") is None:
            if "observations" not in step:
                malformed(self.emit, "a step without observations")
            return
        words = string(mapping(error).get("message")) or (content_text(error) if error else "")
        shown = content_text(observed) if observed is not None else ""
        if not shown and not words and step.get("action_output") is not None:
            output = step["action_output"]
            shown = output if isinstance(output, str) else compact(output)
        self.emit.result(calls[-1].id, shown or words, failed=bool(error), error=words, at=at)


READER: Final = Reader(
    id="smolagents",
    title="smolagents steps",
    looked_for="steps with step_number, tool_calls, observations, error and code_action",
    sniff=sniff,
    read=read,
    carries={
        "results": "of a step as a whole",
        "failure": "error of a step",
        "tokens": "token_usage of each step",
        "time": "timing of each step",
        "text": "model_output and plans",
        "batches": "one step",
    },
    evidence="source",
    written_by="smolagents",
    where="anywhere",
)
