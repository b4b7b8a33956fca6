"""Asks for permission at the third equal call, but only within one response: a loop over steps never trips it.

The ``doom_loop`` check of opencode (and of Kilo 7, which is built on it). It looks at each call before
it runs.

Watches
    The last three calls of **one response**: tool name and arguments as JavaScript writes them,
    in their given key order (so ``{"a":1,"b":2}`` and ``{"b":2,"a":1}`` differ).

Acts
    * ``doom_loop``: the call and the two before it in the same response are equal. The host
      asks for permission ``doom_loop``; here the call counts as refused (``ask``).

Resets
    Every response starts anew, and with it every message of a person.

Blind to
    Whatever spans two responses. An agent that makes one call per response, as most do, can
    repeat it without end: **the guard cannot fire**. Also results, cycles, and arguments in
    another key order.

    The variant ``across-steps`` shows the intended behaviour: calls are counted over all responses
    of a turn.

Complaints
    sst/opencode #43800, #28596, #12716, #23531, PR #47845 (cycles); Kilo #13772 (a run of
    626 dollars), #6421, #11474.

Examples
    [read(a)=x x4] | . . ask ask
    read(a)=x x9 | . . . . . . . . .
    [read(a)=x x2] [read(a)=x x2] | . . . .
    [read(a)=x x2 ls(a)=x read(a)=x] | . . . .

Source
    sst/opencode, the predicate as text from the binary of npm ``opencode-linux-x64`` 1.18.33.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from loopaudit.core.events import Batch, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import js_key
from loopaudit.policies.kit.cycles import Streak


class OpencodeParams(Params):
    """A constant of the original, and what its name promises."""

    threshold: Annotated[int, param("the equal call in a row that needs permission", 1, 100_000)] = 3
    across_steps: Annotated[
        bool, param("whether calls are counted over the responses of a turn, which the original does not do")
    ] = False


class OpencodeGuard(Guard):
    """The run of equal calls of a response, or of a turn."""

    calls_only = True

    def __init__(self, params: OpencodeParams, context: Context) -> None:
        self._threshold = params.threshold
        self._across = params.across_steps
        self._run: Streak[bytes] = Streak()

    def turn(self, turn: Turn) -> None:
        self._run.clear()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not self._across:
            if len(calls) < self._threshold:
                return NOTHING
            self._run.clear()
        decisions: list[Decision] = []
        for position, call in enumerate(calls):
            if self._run.push(js_key(call)) >= self._threshold:
                ask = Decision(Action.ASK, "doom_loop", position, count=self._threshold, own_word="ask", tool=call.name)
                decisions.append(ask)
        return decisions


def message(decision: Decision) -> str:
    """What the user is asked, in our words."""
    return f"The agent made the same call {decision.count} times in a row. Go on?"


POLICY = Policy(
    id="opencode",
    title="opencode",
    origin=Origin("sst/opencode", "1.18.33", "https://github.com/sst/opencode"),
    params=OpencodeParams,
    start=OpencodeGuard,
    rules={"doom_loop": "the same call stands three times in a row in one response"},
    message=message,
    actions=("ask",),
    ideas=("identical call, consecutive", "duplicate inside one batch"),
    variants={"across-steps": {"across_steps": True}},
)
