"""Notes the third equal call in a row, stops at the fifth, and stops after six failing responses.

The loop detection and the mistake tracker of the cline SDK. Both live as long as the session.

Watches
    Before a call runs: how often it came in a row, by tool name and arguments with sorted
    keys (numbers as JavaScript has them, ``1`` is ``1.0``). Arguments that are no object are compared as
    text: the number ``5`` is the text ``"5"``. After a response with calls: whether all
    of them failed.

Acts
    * ``consecutive_identical``: at exactly the third equal call in a row a note for the model
      (``nudge``). From the fifth on the mistake count is set to its limit and the limit's
      decision applies, which is to stop by default (an interactive host asks the user). The
      call does not run, and neither does the rest of its batch.
    * ``consecutive_mistakes``: every response in which all calls failed is a mistake; six in
      a row stop the run.

Resets
    A person's message resets **nothing**: the same call after a stop is stopped again at once.
    Another call ends the run of equal calls. One success in a response ends the run of
    mistakes. In shadow mode an equal call does not set the mistakes to their limit, because
    nothing was stopped.

Blind to
    Results of equal calls. Two calls in turn, cycles, changing arguments. Failures next to one
    success in the same response. A call without result neither fails nor succeeds.

Complaints
    A comment in the source says that leaving the option out disables the detection; the code
    enables it unless it is ``false``. The older VS Code version compares without the
    ``task_progress`` argument (cline/cline PR #9933).

Examples
    read(a)=x x5 | . . nudge . halt
    read(a)=1 read(a)=2 read(a)=3 | . . nudge
    read(a)=x x2 user read(a)=x | . . nudge
    [read(a)=x x6] | . . nudge . halt .
    a(1)!e b(2)!e c(3)!e d(4)!e e(5)!e f(6)!e | . . . . . . /halt
    a(1)!e b(2)!e c(3)!e [d(4)!e e(5)=ok] f(6)!e g(7)!e h(8)!e | . . . . . . . .

Source
    cline/cline, ``sdk/packages/core/src/runtime/safety`` at 21cb8d25, run on Node 24.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from loopaudit.core.events import Batch
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import js_signature_key
from loopaudit.policies.kit.cycles import Streak

RULE: Final = "consecutive_identical"


class ClineParams(Params):
    """The original's defaults."""

    soft_threshold: Annotated[int, param("the equal call in a row that gets a note", 1, 100_000)] = 3
    hard_threshold: Annotated[int, param("the equal call in a row from which on the run stops", 1, 100_000)] = 5
    max_consecutive_mistakes: Annotated[int, param("how many failing responses in a row stop the run", 1, 100_000)] = 6


class ClineGuard(Guard):
    """The run of equal calls, and the run of failing responses."""

    calls_only = True

    def __init__(self, params: ClineParams, context: Context) -> None:
        self._soft = params.soft_threshold
        self._hard = params.hard_threshold
        self._limit = params.max_consecutive_mistakes
        self._enforced = context.enforced
        self._run: Streak[bytes] = Streak()
        self._mistakes = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        decisions: list[Decision] = []
        failed = 0
        for position, call in enumerate(calls):
            count = self._run.push(js_signature_key(call))
            if count >= self._hard:
                skipped = len(calls) - position - 1 if self._enforced else 0
                halt = Decision(Action.STOP, RULE, position, count=count, own_word="halt", tool=call.name)
                halt.skipped = skipped
                decisions.append(halt)
                if self._enforced:
                    self._mistakes = self._limit
                    return decisions
            elif count == self._soft:
                note = Decision(Action.NUDGE, RULE, position, count=count, own_word="nudge", tool=call.name)
                decisions.append(note)
            result = call.result
            if result is not None:
                if result.failed:
                    failed += 1
                else:
                    self._mistakes = 0
        if failed and failed == len(calls):
            self._mistakes += 1
            if self._mistakes >= self._limit:
                decisions.append(Decision(Action.STOP, "consecutive_mistakes", count=self._mistakes, own_word="halt"))
        return decisions


def message(decision: Decision) -> str:
    """The message for the model or the user, in our own words."""
    if decision.rule == "consecutive_mistakes":
        return f"All calls failed in {decision.count} responses in a row; the run stops."
    row = f"The same call was made {decision.count} times in a row"
    if decision.action == Action.NUDGE:
        return f"{row}. If it does not bring you further, try something else."
    return f"{row}; the run stops."


POLICY = Policy(
    id="cline",
    title="Cline",
    origin=Origin("cline/cline", "21cb8d2", "https://github.com/cline/cline"),
    params=ClineParams,
    start=ClineGuard,
    rules={
        "consecutive_identical": "the same call came three times in a row, or five times and more",
        "consecutive_mistakes": "all calls failed in six responses in a row",
    },
    message=message,
    actions=("nudge", "stop"),
    ideas=("identical call, consecutive", "failing turns in a row"),
    needs={
        "results": "failing responses cannot be seen",
        "success": "failing responses cannot be seen",
    },
)
