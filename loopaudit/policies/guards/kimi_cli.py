"""Answers repeats inside a step with the first result, and reminds, then stops, on a run across steps.

The guard of the kimi-cli coding agent. One model answer is a *step*. Calls are compared before
they run; what they return plays no part.

Watches
    The run of equal calls over all steps: tool name and arguments as Python writes them with
    sorted keys (``1``, ``1.0`` and ``true`` differ). Arguments are parsed leniently: raw
    control characters in strings are allowed and an empty text is an empty object. A call
    whose arguments are no JSON fails elsewhere and is not counted in any way.

Acts
    * ``same_step``: the call stands earlier in the same step. It is not run again but gets
      the first one's result (``dedup``). It still makes the run longer.
    * ``r1``, ``r2``, ``r3``: the call is the third or fourth, the fifth to seventh, the eighth
      to eleventh of a run. It runs, and a reminder in three strengths is added to its result.
    * ``stop``: the call is the twelfth of a run or a later one. It still runs and the step is
      finished, then the turn ends.

    Only the first call of a key in its step is reminded or stopped.

Resets
    A person's message, and a step in which no call was counted, clear everything. Any other
    call ends the run.

Blind to
    Results, whatever they say. Two calls in turn, longer cycles, arguments that change a
    little. A run is forgotten when the agent answers with text alone in between. A call
    without a recorded result counts like any other.

Complaints
    MoonshotAI/kimi-cli #2142 (697 steps; the reminders were ignored until the stop came with
    them), #2651, #2637.

Examples
    read(a)=x x3 | . . nudge
    read(a)=x x12 | . . nudge nudge nudge nudge nudge nudge nudge nudge nudge halt
    [read(a)=x x3] read(a)=x | . dedup dedup nudge
    read(a)=x x2 say(hm) read(a)=x | . . .
    read(a)=x x2 user read(a)=x | . . .
    read(a)=x read(b)=x read(a)=x read(b)=x | . . . .

Source
    MoonshotAI/kimi-cli, ``src/kimi_cli/soul/toolset.py`` at 4a550eff; executed from kimi-cli
    1.52.0. Its TypeScript successor has the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from loopaudit.core.canonical import NOT_JSON, call_key
from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import py_dump_key
from loopaudit.policies.kit.cycles import Streak
from loopaudit.policies.kit.json_dialects import parse_py


class KimiCliParams(Params):
    """The ladder; constants in the original."""

    first: Annotated[int, param("the call of a run from which on the first reminder is given", 2, 100_000)] = 3
    second: Annotated[int, param("the call of a run from which on the second reminder is given", 2, 100_000)] = 5
    third: Annotated[int, param("the call of a run from which on the third reminder is given", 2, 100_000)] = 8
    stop: Annotated[int, param("the call of a run from which on the turn ends", 2, 100_000)] = 12


class KimiCliGuard(Guard):
    """The run of equal calls.

    The original keeps the keys of earlier steps as well. A call that continues a run and is the first of its key in
    this step has always occurred in an earlier step, so decisions do not need them.
    """

    from_first_call = True

    def __init__(self, params: KimiCliParams, context: Context) -> None:
        self._params = params
        self._first = params.first
        self._run: Streak[bytes] = Streak()

    def turn(self, turn: Turn) -> None:
        self._run.clear()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if len(calls) == 1 and calls[0].is_json:
            count = self._run.push(py_dump_key(calls[0]))
            return NOTHING if count < self._first else [self._remind(calls[0], 0, count)]
        decisions: list[Decision] = []
        step: set[bytes] = set()
        for position, call in enumerate(calls):
            key = lenient_key(call)
            if key is None:
                continue
            count = self._run.push(key)
            if key in step:
                decisions.append(Decision(Action.BLOCK, "same_step", position, own_word="dedup", tool=call.name))
                continue
            step.add(key)
            if count >= self._first:
                decisions.append(self._remind(call, position, count))
        if not step:
            self._run.clear()
        return decisions

    def _remind(self, call: Call, position: int, count: int) -> Decision:
        params = self._params
        if count >= params.stop:
            return Decision(Action.STOP, "stop", position, count=count, own_word="halt", tool=call.name)
        rule = "r3" if count >= params.third else "r2" if count >= params.second else "r1"
        return Decision(Action.NUDGE, rule, position, count=count, own_word="nudge", tool=call.name)


def lenient_key(call: Call) -> bytes | None:
    """The key of a call as the lenient parser reads it, or ``None`` where it reads nothing."""
    if call.is_json:
        return py_dump_key(call)
    text = call.raw_arguments
    value = parse_py(text, lenient=True) if text else {}
    if value is NOT_JSON:
        return None
    if parse_py(text) is not NOT_JSON:
        return py_dump_key(call)
    return call_key(call.name, value)


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    if decision.rule == "same_step":
        return "The same call stands earlier in this step; its result is repeated here."
    times = f"{decision.count} times in a row"
    if decision.rule == "r1":
        return f"This call was made {times}. Check whether it still brings anything new."
    if decision.rule == "r2":
        return f"This call was made {times} with the same arguments. Take another approach."
    if decision.rule == "r3":
        return f"This call was made {times}: a dead end. Say what blocks you, or do something else."
    return f"This call was made {times} in spite of the reminders; the turn ends after this step."


POLICY = Policy(
    id="kimi-cli",
    title="kimi-cli",
    origin=Origin("MoonshotAI/kimi-cli", "1.52.0", "https://github.com/MoonshotAI/kimi-cli"),
    params=KimiCliParams,
    start=KimiCliGuard,
    rules={
        "same_step": "the same call stands earlier in the same step",
        "r1": "the third or fourth equal call in a row",
        "r2": "the fifth to seventh equal call in a row",
        "r3": "the eighth to eleventh equal call in a row",
        "stop": "the twelfth equal call in a row, or a later one",
    },
    message=message,
    actions=("block", "nudge", "stop"),
    ideas=("identical call, consecutive", "duplicate inside one batch"),
)
