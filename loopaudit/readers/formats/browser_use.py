"""Histories of browser-use: one JSON document of steps.

**Written by** browser-use (``AgentHistoryList.save_to_file``), to ``AgentHistory.json`` or wherever it is told.
**Evidence**: the source of browser-use 0.13; no file of somebody's program was seen.

**Batch** = one step: the actions of its ``model_output``, in order; each is an object with one member, the action's
name. **Results** are the step's ``result`` list, one for each action that ran, in order: later actions of a step do not
run once the page has changed, and have none. ``done`` is a call.

**Turn.** The task is not in the file. **Failure.** ``error`` of a result. **Text** of a step: what the model says of
its last goal, its memory and its next goal.

**Not carried**: the task, ids, tokens of each step, models, tool schemas.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.canonical import compact
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import documents, items, malformed, mapping, moment, not_a_record, string
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

NOT_NAMES: Final = frozenset({"interacted_element"})
"""Members of an action that are not its name."""

_WORDS: Final = ("thinking", "evaluation_previous_goal", "memory", "next_goal")


def sniff(probe: Probe) -> str | None:
    """Claim a history of steps with ``model_output``, ``result`` and ``state``."""
    for root in documents(probe)[:5]:
        steps = [step for step in items(mapping(root).get("history"))[:20] if isinstance(step, dict)]
        if any("model_output" in step and "result" in step and "state" in step for step in steps):
            return "history of steps with model_output, result and state"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every step."""
    emit.knows_success()
    names = Names()
    for number, root in enumerate(values(source, emit), 1):
        steps = mapping(root).get("history")
        if not isinstance(steps, list):
            not_a_record(emit)
            continue
        if number > 1:
            emit.session(names.unique(str(number)))
        for place, step in enumerate(steps, 1):
            if isinstance(step, dict):
                _step(emit, step, f"{number}.{place}")
            else:
                malformed(emit, "a step that is no object")


def _step(emit: Emitter, step: dict[str, Any], key: str) -> None:
    about = mapping(step.get("metadata"))
    at, ended = moment(about.get("step_start_time")), moment(about.get("step_end_time"))
    output = step.get("model_output")
    if output is not None and not isinstance(output, dict):
        malformed(emit, "a model_output that is no object")
    words = {**mapping(mapping(output).get("current_state")), **mapping(output)}  # older versions nest the words
    text = "\n".join(word for name in _WORDS if (word := string(words.get(name))) is not None)
    actions = mapping(output).get("action")
    if isinstance(output, dict) and not isinstance(actions, list):
        malformed(emit, "a step without its actions")
    asked = []
    for action in items(actions):
        found = [name for name in mapping(action) if name not in NOT_NAMES]
        if not found:
            malformed(emit, "an action without a name")
        name = found[0] if found else ""
        asked.append(emit.call(name, mapping(action).get(name) or {}, key=key, at=at))
    if text or not asked:
        emit.say(text, key=key, at=at)
    results = step.get("result")
    if not isinstance(results, list):
        malformed(emit, "a step without results")
    for place, result in enumerate(items(results)):
        if not isinstance(result, dict):
            malformed(emit, "a result that is no object")
        call = asked[place] if place < len(asked) else None
        if call is None:
            # A step may fail before the model has said anything.
            failed = string(mapping(result).get("error")) is not None
            what = "a step that failed without an action" if failed else "a result without its action"
            emit.problem("failed_step" if failed else "result_without_call", what)
            continue
        _result(emit, call.id, mapping(result), ended)


def _result(emit: Emitter, call: str, result: dict[str, Any], at: str | float | None) -> None:
    error = string(result.get("error"))
    shown = [string(result.get(name)) for name in ("extracted_content", "long_term_memory")]
    text = next((word for word in shown if word is not None), None)
    if text is None and error is None and result.get("is_done") is True:
        text = compact({"success": result.get("success")})
    emit.result(call, text or error or "", failed=error is not None, error=error or "", at=at)


READER: Final = Reader(
    id="browser-use",
    title="browser-use history",
    looked_for="history of steps with model_output, result and state",
    sniff=sniff,
    read=read,
    carries={
        "results": "in order of the actions of a step",
        "failure": "error",
        "time": "of each step",
        "text": "thinking, memory and goals",
        "batches": "one step",
    },
    evidence="source",
    written_by="browser-use",
    where="AgentHistory.json, or wherever it is told",
)
