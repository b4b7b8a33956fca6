"""Refuses the third equal attempt of a turn; warns, then ends the turn, when one tool keeps failing.

The loop guard of DeepSeek-TUI, from which zagens' guard descends. The two differ in what a refused
call counts for, and in that nothing here makes the guard forget but a new turn.

Watches
    *Attempts*: how often each call (tool name and parsed arguments, ``1`` is not ``1.0``) was tried
    in this turn, whatever stood between. *Failures*: how often in a row each tool failed.

Acts
    All attempts of a batch are counted before any outcome of it.

    * ``identical_call``: the third attempt and every later one is refused; the model is told how
      often it ran and to change arguments or tool.
    * ``consecutive_failures``: **a refused call counts as a failure of its tool.** The third
      failure in a row is a warning. From the eighth on the turn ends when the batch is
      recorded; the batch shows its first such call.

Resets
    A person's message. A success of a tool ends its row of failures. No edit and no
    write makes an attempt count anew: reading a file for the third time is refused even if it was
    changed twice in between.

Blind to
    Cycles longer than the attempts show, changing arguments, and results. A call without a
    recorded result is neither a failure nor a success; in shadow mode refused calls count by
    their recorded outcome.

    Memory is bounded here: a call that 16,384 other ones followed in the same turn starts anew.

Complaints
    None found in public about this guard.

Examples
    read(a)=x x4 | . . block block
    read(a)=x read(b)=x read(a)=x read(b)=x read(a)=x | . . . . block
    read(a)=x edit(b)=x read(a)=x edit(c)=x read(a)=x | . . . . block
    run(a)!1 run(b)!2 run(c)!3 run(d)=ok run(e)!1 | . . warn . .
    run(1)!e run(2)!e run(3)!e run(4)!e run(5)!e run(6)!e run(7)!e run(8)!e | . . warn . . . . . /halt
    read(a)=x x2 user read(a)=x | . . .

Source
    Hmbown/DeepSeek-TUI, ``crates/tui/src/core/engine/loop_guard.rs`` at 1ca495f, compiled and run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from loopaudit.core.bounded import Tally
from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param


class DeepseekTuiParams(Params):
    """Constants of the original."""

    block_at: Annotated[int, param("the equal attempt of a turn from which on a call is refused", 1, 100_000)] = 3
    warn_at: Annotated[int, param("the failure in a row of one tool that is a warning", 1, 100_000)] = 3
    halt_at: Annotated[int, param("the failure in a row of one tool from which on the turn ends", 1, 100_000)] = 8


class DeepseekTuiGuard(Guard):
    """Attempts by call, failures in a row by tool name."""

    calls_only = True

    def __init__(self, params: DeepseekTuiParams, context: Context) -> None:
        self._block_at = params.block_at
        self._warn_at = params.warn_at
        self._halt_at = params.halt_at
        self._enforced = context.enforced
        self._attempts: Tally[bytes] = Tally()
        self._failures: Tally[str] = Tally()

    def turn(self, turn: Turn) -> None:
        self._attempts.clear()
        self._failures.clear()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if len(calls) == 1 and calls[0].ok:
            count = self._attempts.add(calls[0].key)
            if count < self._block_at:
                self._failures.drop(calls[0].name)
                return NOTHING
            attempts = [count]
        else:
            attempts = [self._attempts.add(call.key) for call in calls]
        decisions: list[Decision] = []
        halt: Decision | None = None
        for position, (call, count) in enumerate(zip(calls, attempts, strict=True)):
            blocked = count >= self._block_at
            outcome = self._outcome(call, position, refused=blocked and self._enforced)
            # A warning is distinguished from what was decided about the call itself.
            if outcome is not None and outcome.action == Action.WARN:
                decisions.append(outcome)
            elif halt is None:
                halt = outcome
            if blocked:
                decisions.append(
                    Decision(Action.BLOCK, "identical_call", position, count=count, own_word="block", tool=call.name)
                )
                if outcome is not None:
                    decisions[-1].details = {"outcome": _row(outcome)}
        if halt is not None:
            decisions.append(Decision(Action.STOP, halt.rule, count=halt.count, own_word=halt.own_word, tool=halt.tool))
        return decisions

    def _outcome(self, call: Call, position: int, *, refused: bool) -> Decision | None:
        """Record what a call came to; the decision about its tool's failures, if there is one."""
        if not refused:
            if call.result is None:
                return None
            if not call.result.failed:
                self._failures.drop(call.name)
                return None
        count = self._failures.add(call.name)
        if count >= self._halt_at:
            return Decision(Action.STOP, "consecutive_failures", position, count=count, own_word="halt", tool=call.name)
        if count == self._warn_at:
            return Decision(Action.WARN, "consecutive_failures", position, count=count, own_word="warn", tool=call.name)
        return None


def _row(decision: Decision) -> dict[str, object]:
    return {"action": decision.own_word, "rule": decision.rule, "count": decision.count}


def message(decision: Decision) -> str:
    """What the guard says, in our words."""
    if decision.rule == "identical_call":
        return (
            f"Attempt {decision.count} of exactly this call in this turn is refused. "
            "Change the arguments or take another tool."
        )
    row = f"This tool failed {decision.count} times in a row (refused calls included)."
    return f"{row} The turn ends here." if decision.action == Action.STOP else row


POLICY = Policy(
    id="deepseek-tui",
    title="DeepSeek-TUI",
    origin=Origin("Hmbown/DeepSeek-TUI", "1ca495f", "https://github.com/Hmbown/DeepSeek-TUI"),
    params=DeepseekTuiParams,
    start=DeepseekTuiGuard,
    rules={
        "identical_call": "the same call was tried for the third time, or a later one, in this turn",
        "consecutive_failures": "the same tool failed three (a warning), or eight or more times (the end) in a row",
    },
    message=message,
    actions=("block", "warn", "stop"),
    ideas=("identical call, anywhere in a turn or window", "failures of one tool, any error"),
    needs={
        "results": "rows of failures cannot be seen, except those of refused calls",
        "success": "rows of failures cannot be seen, except those of refused calls",
    },
)
