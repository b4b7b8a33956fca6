"""Ends the run when one interaction, calls and results together, fills more than half of the last ten steps.

The loop detection of the crush coding agent. It looks once after each step, which is one model
answer with the results of its calls.

Watches
    The last ten steps of the turn. A step's signature is the list of its calls: tool name,
    argument text as the model wrote it, and output (of a failed call the error text). A step
    without calls has no signature but takes a place.

Acts
    * ``repeated_interaction``: with ten steps or more, one signature stands more than five
      times among the last ten. The run ends (``halt``), without a warning and without a word
      to the model.

Resets
    Every message of a person starts a new run.

Blind to
    The first nine steps of a turn, whatever happens in them. Outputs that differ by a time, a
    counter or a process number. The same work with other arguments, or the same arguments
    in another spelling. Cycles of two and more different steps, of which none is more than half.

    A step with a call that has no recorded result gets no signature here: it cannot be known
    to be the same.

Complaints
    charmbracelet/crush #2856 (a loop of errors with changing input is not seen), #3108, #1283.

Examples
    a(1)=x x6 b(1)=x b(2)=x b(3)=x b(4)=x | . . . . . . . . . . /halt
    a(1)=x x9 | . . . . . . . . .
    a(1)=x x5 b(1)=x b(2)=x b(3)=x b(4)=x b(5)=x | . . . . . . . . . .
    a(1)=1 a(1)=2 a(1)=3 a(1)=4 a(1)=5 a(1)=6 a(1)=7 a(1)=8 a(1)=9 a(1)=10 | . . . . . . . . . .
    a(1)=x x6 user b(1)=x x3 | . . . . . . . . .

Source
    charmbracelet/crush, ``internal/agent/loop_detection.go`` at 37f36e9, run with Go.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Annotated

from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.results import result_text

Mark = bytes | tuple[bytes, ...] | None
"""Equal for steps with equal calls; ``None`` for a step without a signature."""


class CrushParams(Params):
    """Constants of the original."""

    window: Annotated[int, param("how many steps are looked at, and must have been made", 1, 100_000)] = 10
    max_repeats: Annotated[int, param("how often one interaction may stand among them", 0, 100_000)] = 5


class CrushGuard(Guard):
    """The last steps, counted by their calls alone; results are read only if those repeat."""

    def __init__(self, params: CrushParams, context: Context) -> None:
        self._max = params.max_repeats
        self._window = params.window
        self._marks: deque[Mark] = deque(maxlen=params.window)
        self._steps: deque[list[Call]] = deque(maxlen=params.window)

    def turn(self, turn: Turn) -> None:
        self._marks.clear()
        self._steps.clear()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        marks = self._marks
        marks.append(_mark(calls))
        self._steps.append(calls)
        # One that stands more than n times leaves no room for so many different ones.
        looping = len(marks) == self._window and len(set(marks)) <= self._window - self._max and self._looping()
        return (Decision(Action.STOP, "repeated_interaction", own_word="halt"),) if looping else NOTHING

    def _looping(self) -> bool:
        for mark, count in Counter(self._marks).items():
            if mark is not None and count > self._max:
                signatures = [_signature(step) for step in self._steps if _mark(step) == mark]
                if any(signatures.count(signature) > self._max for signature in signatures):
                    return True
        return False


def _mark(calls: list[Call]) -> Mark:
    if len(calls) == 1:
        return None if calls[0].result is None else calls[0].key
    if not calls or any(call.result is None for call in calls):
        return None
    return tuple(call.key for call in calls)


def _signature(calls: list[Call]) -> list[tuple[str, object]]:
    return [(call.raw_arguments, result_text(call.result)) for call in calls if call.result is not None]


def message(decision: Decision) -> str:
    """The guard tells the model nothing; this is what a reader of the report may know."""
    return "The same calls with the same results fill more than half of the last ten steps; the run ends."


POLICY = Policy(
    id="crush",
    title="Crush",
    origin=Origin("charmbracelet/crush", "37f36e9", "https://github.com/charmbracelet/crush"),
    params=CrushParams,
    start=CrushGuard,
    rules={"repeated_interaction": "the same calls with the same results make up more than five of the last ten steps"},
    message=message,
    actions=("stop",),
    ideas=("identical call and identical result",),
    needs={
        "results": "whether an interaction was the same cannot be seen",
        "error_text": "failures of a call cannot be told apart",
    },
    essential=frozenset({"results"}),
)
