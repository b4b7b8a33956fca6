"""Ends the run on twenty equal calls, ten laps of two calls in turn, or two hundred steps.

The loop condition of the PyPI package exoclaw-loop-detection, which takes over openclaw's limits.
It is asked after each model response, also one without calls.

Watches
    The last 30 calls of the turn: tool name and arguments as Python writes them with sorted keys
    (``1``, ``1.0`` and ``true`` differ). The number of responses of the turn.

Acts
    * ``pattern``: the last 20 calls are equal; or the newest two differ and stand ten times or more in
      turn at the end; or 200 responses were given. The run ends (``halt``). The three are
      not distinguished.

Resets
    A person's message. Any other call ends the repetition.

Blind to
    Results. Cycles of three and more calls, changing arguments, everything below twenty calls.
    The package has a setting ``warning_threshold`` of 10 that is never used. A call without
    result counts like any other.

Complaints
    None found in public.

Examples
    read(a)=x x19 | . . . . . . . . . . . . . . . . . . .
    read(a)=x x20 | . . . . . . . . . . . . . . . . . . . . /halt
    read(a)=x x19 user read(a)=x | . . . . . . . . . . . . . . . . . . . .

Source
    PyPI ``exoclaw-loop-detection`` 0.1.0, run from the wheel.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from loopaudit.core.events import Batch, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import py_dump_key
from loopaudit.policies.kit.cycles import Cycles


class ExoclawParams(Params):
    """The package's defaults."""

    history_size: Annotated[int, param("how many calls of the turn are remembered", 1, 100_000)] = 30
    critical_threshold: Annotated[int, param("how many equal calls in a row end the run", 1, 100_000)] = 20
    ping_pong_laps: Annotated[int, param("how many laps of two calls in turn end the run", 1, 100_000)] = 10
    max_iterations: Annotated[int, param("how many responses of a turn end the run", 1, 1_000_000)] = 200


class ExoclawGuard(Guard):
    """What stands at the end of the calls, and the number of responses."""

    def __init__(self, params: ExoclawParams, context: Context) -> None:
        self._critical = params.critical_threshold
        self._laps = params.ping_pong_laps
        self._most = params.max_iterations
        self._calls: Cycles[bytes] = Cycles(2, params.history_size)
        self._iterations = 0

    def turn(self, turn: Turn) -> None:
        self._calls.clear()
        self._iterations = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = self._calls
        for call in batch.calls:
            calls.push(py_dump_key(call))
        self._iterations += 1
        if self._iterations < self._most and not (calls.repeating and self._repeats()):
            return NOTHING
        return (Decision(Action.STOP, "pattern", own_word="halt"),)

    def _repeats(self) -> bool:
        equal = self._calls.tail(1)
        return equal >= self._critical or (equal == 1 and self._calls.laps(2) >= self._laps)


def message(decision: Decision) -> str:
    """The message for the user, in our own words."""
    return "The calls repeat, or the turn took too many responses; the run ends."


POLICY = Policy(
    id="exoclaw",
    title="exoclaw-loop-detection",
    origin=Origin("exoclaw-loop-detection", "0.1.0", "https://pypi.org/project/exoclaw-loop-detection/"),
    params=ExoclawParams,
    start=ExoclawGuard,
    rules={"pattern": "20 equal calls, or ten laps of two calls, at the end of the turn; or 200 responses"},
    message=message,
    actions=("stop",),
    ideas=("identical call, consecutive", "alternation A-B-A-B", "caps"),
)
