"""Reminds the model when all calls of the conversation end in a pattern that stands there three times.

The doom-loop hook of forgecode. Before each request it looks at every call since the conversation
began, for a pattern of any length; it never does more than remind.

Watches
    All calls in order, whatever the batches: tool and arguments as a parsed value, whose key order
    does not matter. Results are not looked at, and calls without one count like others.

Acts
    * ``repeating_pattern``, nudge: the calls end in a block of L calls that stands there three times
      or more (the count). L is tried from 1 upward. What is left over when the number of *all* calls is
      divided by L is taken for a last repetition that has only begun: if it equals the start of the block
      before it, it counts as one; if not, L is passed over.
      If it was needed to make three and there is no room for so many whole blocks, **nothing**
      is said and longer blocks are not tried, a slip of the original.

    The reminder is repeated after every response while the pattern stands.

Resets
    Nothing: a person's message does not, and another call only ends the pattern.

Blind to
    Everything but exact repetition; whether results change, so polling is reminded of. Whether a cycle
    is seen at once depends on how many calls came before it. Kept here are the newest 8,192 to
    16,384 calls, so that cycles longer than 2,730 calls may be missed.

Complaints
    tailcallhq/forgecode PR #2368, #3312, #3266.

Examples
    read(a)=x x4 | . . . /nudge . /nudge
    read(a)=x read(b)=x read(a)=x read(b)=x read(a)=x read(b)=x | . . . . . . /nudge
    read(a)=x read(b)=x read(a)=x read(b)=x read(a)=x | . . . . .
    read(a)=1 read(a)=2 user read(a)=3 | . . . /nudge
    [read(a)=x read(a)=x read(a)=x] | . . . /nudge

Source
    tailcallhq/forgecode, ``crates/forge_app/src/hooks/doom_loop.rs`` at 6ed5d37b.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopaudit.core.events import Batch
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy
from loopaudit.policies.guards.forgecode.repeats import Repetitions, repeated


class ForgecodeParams(Params):
    """None: three repetitions are fixed."""


class ForgecodeGuard(Guard):
    """The calls of the conversation."""

    from_first_call = True

    def __init__(self, params: ForgecodeParams, context: Context) -> None:
        self._calls = Repetitions()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        for call in batch.calls:
            self._calls.push(call.key)
        decision = self._check()
        return NOTHING if decision is None else (decision,)

    def _check(self) -> Decision | None:
        found = self._calls.least()
        if found is None:
            return None
        period, stretch = found
        count = repeated(self._calls.total, period, stretch)
        if count * period > self._calls.total:
            return None
        return Decision(Action.NUDGE, "repeating_pattern", count=count, own_word="nudge")


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    return (
        f"Your calls repeat the same pattern, {decision.count} times by now. "
        "Look at what it brought, and do something else if it brought nothing."
    )


POLICY = Policy(
    id="forgecode",
    title="forgecode",
    origin=Origin("tailcallhq/forgecode", "6ed5d37b", "https://github.com/tailcallhq/forgecode"),
    params=ForgecodeParams,
    start=ForgecodeGuard,
    rules={"repeating_pattern": "the calls end in a block that stands there three times or more"},
    message=message,
    actions=("nudge",),
    ideas=("cycles",),
)
