"""Refuses a call that equals the last successful one.

The repeated-usage check of crewAI. It looks at each call before it runs.

Watches
    The last call that *succeeded*: tool name and arguments as Python's ``==`` compares them
    (``1``, ``1.0`` and ``true`` are equal).

Acts
    * ``repeated_usage``: the call equals it. It is refused; the model is told that the same
      input must not be used again and gets its list of tools.

Resets
    The next success of another call. A person's message resets nothing. Refused and failed
    calls do not move the memory, so a call that failed may be repeated without end, and a
    repeat is refused even behind any number of failures of other calls.

Blind to
    Failures. Two successful calls in turn, and every longer cycle. It is only on the text path
    (ReAct): **native function calling, today's default, never asks it.** A call without a
    recorded result counts as not successful.

    It takes for a loop what may be none: asking for the state of a job again.

Complaints
    crewAIInc/crewAI #518, #6414, #2881.

Examples
    read(a)=x x3 | . block block
    read(a)!boom x5 | . . . . .
    read(a)=x read(b)!no read(a)=x | . . block
    read(a)=x read(b)=x read(a)=x | . . .
    read(a)=x user read(a)=x | . block

Source
    crewAIInc/crewAI, ``lib/crewai/src/crewai/tools/tool_usage.py`` at f4731f50; executed from crewai 1.15.30.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopaudit.core.events import Batch
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import Context, Guard, Origin, Params, Policy
from loopaudit.policies.kit.arguments import py_equal_key


class CrewaiParams(Params):
    """The original has no settings."""


class CrewaiGuard(Guard):
    """The last successful call."""

    calls_only = True

    def __init__(self, params: CrewaiParams, context: Context) -> None:
        self._last: bytes | None = None

    def judge(self, batch: Batch) -> Iterable[Decision]:
        decisions: list[Decision] = []
        for position, call in enumerate(batch.calls):
            key = py_equal_key(call)
            if key == self._last:
                decisions.append(
                    Decision(Action.BLOCK, "repeated_usage", position, count=2, own_word="block", tool=call.name)
                )
            result = call.result
            if result is not None and not result.failed:
                # For a refused call this changes nothing: it equals the last success.
                self._last = key
        return decisions


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    return "The last successful call had the same input; do not use it again, take another one."


POLICY = Policy(
    id="crewai",
    title="crewAI",
    origin=Origin("crewAIInc/crewAI", "1.15.30", "https://github.com/crewAIInc/crewAI"),
    params=CrewaiParams,
    start=CrewaiGuard,
    rules={"repeated_usage": "the call equals the last successful one"},
    message=message,
    actions=("block",),
    ideas=("identical call, consecutive",),
    needs={
        "results": "which call was the last successful one cannot be seen",
        "success": "failed calls are taken for successful ones",
    },
    essential=frozenset({"results"}),
)
