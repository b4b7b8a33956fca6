"""Three detectors over the last successes: equal calls, two tools in turn, one result for different calls.

The loop detector of the zeroclaw runtime. A call is judged when it has run, so even ``block``
refuses nothing: it is a stronger message than ``warn``.

Watches
    The last 20 *successful* calls of the turn: tool name, arguments (parsed; ``1`` and
    ``1.0`` differ) and output. Failed calls are not recorded and interrupt nothing.

Acts
    The first of these that holds:

    * ``exact_repeat``: the call and its arguments stand k times in a row at the end, whatever
      was returned. k = 3 warns, 4 blocks, 5 ends the turn.
    * ``ping_pong``: the last eight calls or more alternate between two tools, **by name only**,
      in c whole pairs. c = 4 warns, 5 blocks, 6 ends the turn.
    * ``no_progress``: m calls of this tool in the window gave this output, for at least two
      different arguments. m = 5 warns, 6 blocks, 7 ends the turn; in the variant ``later`` it goes on blocking.

    Warn and block add a system message for the model. The end of the turn drops the later
    calls of the batch.

Resets
    A person's message. A different call ends a run, a third tool ends the alternation.

Blind to
    Failures of every kind: errors in a row are never counted. Cycles of three and more
    tools. The same result spread wider than 20 successes. A call without a recorded result
    counts as not run.

    It takes for loops what is none: read and edit in turn on ever new files, and small
    look-ups that all return the same nothing.

Complaints
    zeroclaw-labs/zeroclaw #7143, PR #7681 (43 nearly equal calls slipped through, so the third
    rule counts over the window now), PR #10503 (seven checks with empty results cost a
    turn, so the third rule ends no turn since), #10287 (polling a status), PR #8213 (equal rate-limit errors).

Examples
    read(a)=x read(a)=y read(a)=z read(a)=x read(a)=y | . . warn block halt
    read(a)=x x2 read(a)!boom read(a)=x | . . . warn
    r(1)=1 e(2)=2 r(3)=3 e(4)=4 r(5)=5 e(6)=6 r(7)=7 e(8)=8 r(9)=9 e(10)=10 | . . . . . . . warn warn block
    look(1)=no look(2)=no look(3)=no look(4)=no look(5)=no look(6)=no look(7)=no | . . . . warn block halt
    read(a)=x x2 user read(a)=x | . . .
    read(a)!boom x9 | . . . . . . . . .

Source
    zeroclaw-labs/zeroclaw, ``crates/zeroclaw-runtime/src/agent/loop_detector.rs`` at 15d2866,
    compiled and run. Variant ``later``: pull request 10503, as its description has it, not run. It also makes
    the first threshold of the third rule a setting (``loop_detection_no_progress_min_calls``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Annotated, Final

from loopaudit.core.events import Batch, Call, Result, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.cycles import Cycles, Streak
from loopaudit.policies.kit.results import head

LADDER: Final = ((Action.WARN, "warn"), (Action.NUDGE, "block"), (Action.STOP, "halt"))
"""What a rule does at its threshold, one above it, and two and more above it."""


class ZeroclawParams(Params):
    """``window`` and ``max_repeats`` are settings of the original, the others constants."""

    window: Annotated[int, param("how many successful calls of the turn are remembered", 1, 100_000)] = 20
    max_repeats: Annotated[int, param("how many equal calls in a row are warned of", 1, 100_000)] = 3
    ping_pong_cycles: Annotated[int, param("how many pairs of two tools in turn are warned of", 1, 100_000)] = 4
    no_progress: Annotated[int, param("how many calls of one tool with the same result are warned of", 1, 100_000)] = 5
    no_progress_ends: Annotated[bool, param("whether calls with the same result can end the turn")] = True


class ZeroclawGuard(Guard):
    """The window of successes, and what stands at its end."""

    calls_only = True

    def __init__(self, params: ZeroclawParams, context: Context) -> None:
        self._params = params
        self._repeats = params.max_repeats
        self._cycles = params.ping_pong_cycles
        self._same = params.no_progress
        self._ends = params.no_progress_ends
        self._enforced = context.enforced
        self._run: Streak[bytes] = Streak()
        self._names: Cycles[str] = Cycles(2, params.window)
        self._window: deque[Call] = deque(maxlen=params.window)
        self._heads: deque[str] = deque(maxlen=params.window)
        """Of the outputs: most are distinguished by these, and need not be decoded."""

    def turn(self, turn: Turn) -> None:
        self._run.clear()
        self._names.clear()
        self._window.clear()
        self._heads.clear()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        decisions: list[Decision] = []
        for position, call in enumerate(calls):
            result = call.result
            decision = None if result is None or result.failed else self._succeeded(call, result, position)
            if decision is None:
                continue
            decisions.append(decision)
            if decision.action == Action.STOP and self._enforced:
                decision.skipped = len(calls) - position - 1
                break
        return decisions

    def _succeeded(self, call: Call, result: Result, position: int) -> Decision | None:
        """Record a success and judge it."""
        self._window.append(call)
        beginning = head(result)
        self._heads.append(beginning)
        names = self._names
        names.push(call.name)
        run = self._run.push(call.key)
        if run >= self._repeats:
            run = min(run, self._params.window)
            if run >= self._repeats:
                return _decide("exact_repeat", run, self._repeats, call, position)
        if names.repeating:
            pairs = names.laps(2)
            if pairs >= self._cycles and names.tail(1) == 1:
                return _decide("ping_pong", pairs, self._cycles, call, position)
        if self._heads.count(beginning) >= self._same:
            token = result.token
            same = [
                entry.key
                for entry, known in zip(self._window, self._heads, strict=True)
                if known == beginning
                and entry.name == call.name
                and entry.result is not None
                and entry.result.token == token
            ]
            if len(same) >= self._same and len(set(same)) > 1:
                return _decide("no_progress", len(same), self._same, call, position, most=2 if self._ends else 1)
        return None


def _decide(rule: str, count: int, threshold: int, call: Call, position: int, most: int = 2) -> Decision:
    """The decision of a rule whose ladder ends at the step ``most``."""
    action, word = LADDER[min(count - threshold, most)]
    return Decision(action, rule, position, count=count, own_word=word, tool=call.name)


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    count = decision.count
    if decision.rule == "exact_repeat":
        what = f"This call was made {count} times in a row with the same arguments."
    elif decision.rule == "ping_pong":
        what = f"Two tools were used in turn, {count} pairs long."
    else:
        what = f"This tool gave the same result {count} times for different arguments."
    if decision.action == Action.WARN:
        return f"{what} Try something else."
    if decision.action == Action.NUDGE:
        return f"{what} Do not go on like this; change the approach."
    return f"{what} The turn ends here."


POLICY = Policy(
    id="zeroclaw",
    title="zeroclaw",
    origin=Origin("zeroclaw-labs/zeroclaw", "15d2866", "https://github.com/zeroclaw-labs/zeroclaw"),
    params=ZeroclawParams,
    start=ZeroclawGuard,
    rules={
        "exact_repeat": "the same call stands three or more times in a row among the successes",
        "ping_pong": "the last eight or more successes alternate between two tools",
        "no_progress": "five or more of the last 20 successes are of one tool with one output and different arguments",
    },
    message=message,
    actions=("warn", "nudge", "stop"),
    ideas=("identical call, consecutive", "alternation A-B-A-B", "same result, different arguments"),
    needs={
        "results": "the guard judges only calls that succeeded",
        "success": "failed calls are counted as if they had succeeded",
    },
    essential=frozenset({"results"}),
    variants={"later": {"no_progress_ends": False}},
)
