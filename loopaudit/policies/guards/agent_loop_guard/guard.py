"""Four strategies vote on each call: equal, similar, cycling by name, or the same output; hits in a row decide.

The PyPI package agent-loop-guard with its defaults. A call is judged when its output is known.

Watches
    The last ten calls of the turn, this one among them: tool name, arguments as Python's ``==`` compares
    them, and output (of a failed call the error text). Similar texts are those with a similarity
    of 0.85: half shared words, half edit distance; over 2,000 characters the words alone.
    Arguments are compared as one text, ``key=value`` in the order of the keys.

Acts
    Each strategy gives a confidence, and the largest names the rule (the first on a tie):

    * ``exact_repeat``: n equal calls in a row at the end, n/10 from the second on.
    * ``fuzzy_repeat``: earlier calls of this tool with similar arguments, a ninth each.
    * ``cycle_detection``: the tool *names* end in whole laps of two to five, not all the same name:
      a quarter per lap from the second on, at most 1.
    * ``output_stagnation``: the share of this tool's earlier outputs that are similar to the new one.

    A confidence above 0.3 is a hit. The second and third hit in a row warn, the fourth ends the turn
    (``halt``), and the rest of its batch does not run. In shadow mode the sixth and
    later ones read ``escalate``, which nothing reaches where the fourth is obeyed.

Resets
    A person's message. A call without a hit sets the hits to 0, but not the windows.

Blind to
    Loops with a different output and different arguments each time. Cycles of six and more tools.
    A call without a recorded result has no output to compare. An output or an argument text over 65,536
    characters is only compared for equality here.

    It takes for a loop what is none: one equal output is a share of 1, so **two calls of one
    tool with the same short answer are a hit already**, and three a warning; equal names in turn
    are a cycle, whatever they were called with.

Complaints
    None found in public. The exact strategy alone speaks from the fourth equal call on;
    stagnation is always there first.

Examples
    ls(a)=x x5 | . . warn warn halt
    read(alpha)=one edit(beta)=two read(gamma)=three edit(delta)=four read(eps)=five | . . . . warn
    read(one)=abc read(two)=def read(three)=ghi read(four)=jkl | . . . .
    ls(a)=x x2 user ls(a)=x x2 | . . . .

Source
    PyPI ``agent-loop-guard`` 0.1.1 (QuartzUnit/agent-loop-guard), run from the wheel.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from loopaudit.core.events import Batch, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.guards.agent_loop_guard.votes import HIT, Entry, Votes

DEFERRED: Final = 8
"""Calls in a row of which it is not asked at once whether they are hits."""


class AgentLoopGuardParams(Params):
    """The package's defaults."""

    window: Annotated[int, param("how many calls are looked at, the new one among them", 2, 1000)] = 10
    similarity: Annotated[
        float, param("the similarity of two texts from which on they count as alike, 0 to 1", 0, 1)
    ] = 0.85
    warn_at: Annotated[int, param("the hit in a row from which on the guard warns", 1, 100_000)] = 2
    stop_at: Annotated[int, param("the hit in a row from which on the turn ends", 1, 100_000)] = 4
    escalate_at: Annotated[int, param("the hit in a row from which on a person is asked for", 1, 100_000)] = 6


class AgentLoopGuardGuard(Guard):
    """What the strategies say, and the hits in a row.

    Only hits in a row have an effect, and to compare texts is costly. So calls wait until they could
    make enough hits in a row. Then one of them is asked about: if it was no hit, nobody needs to know about
    those before it.
    """

    calls_only = True

    def __init__(self, params: AgentLoopGuardParams, context: Context) -> None:
        self._params = params
        self._enforced = context.enforced
        self._first = min(params.warn_at, params.stop_at, params.escalate_at)
        late = min(DEFERRED, self._first)
        self._votes = Votes(params.window, params.similarity, late)
        self._waiting: list[Entry] = []
        self._hits = 0
        """Hits in a row before the first call that waits."""

    def turn(self, turn: Turn) -> None:
        self._votes.clear()
        self._waiting.clear()
        self._hits = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        decisions: list[Decision] = []
        for position, call in enumerate(calls):
            entry = self._votes.take(call)
            waiting = self._waiting
            waiting.append(entry)
            if self._hits + len(waiting) < self._first and len(waiting) <= DEFERRED:
                continue
            self._settle()
            action, word = self._ladder()
            if action == Action.ALLOW:
                continue
            rule, confidence = self._votes.answer(entry)
            decision = Decision(action, rule, position, count=self._hits, own_word=word, tool=call.name)
            decision.details = {"confidence": round(confidence, 6)}
            decisions.append(decision)
            if action == Action.STOP and self._enforced:
                decision.skipped = len(calls) - position - 1
                break
        return decisions

    def _ladder(self) -> tuple[Action, str]:
        hits, params = self._hits, self._params
        if hits < self._first:
            return Action.ALLOW, "allow"
        if hits >= params.escalate_at:
            return Action.STOP, "escalate"
        if hits >= params.stop_at:
            return Action.STOP, "halt"
        return Action.WARN, "warn"

    # -- which calls were hits -----------------------------------------------------------------

    def _settle(self) -> None:
        """Ask about calls that wait until they cannot make enough hits, or are all known to be hits."""
        waiting = self._waiting
        if len(waiting) > DEFERRED:
            self._hits = self._hits + 1 if self._is_hit(waiting[0]) else 0
            self._drop(1)
        while waiting and self._hits + len(waiting) >= self._first:
            place = self._next()
            if place < 0:
                self._hits += len(waiting)
                self._drop(len(waiting))
            elif not self._is_hit(waiting[place]):
                self._drop(place + 1)
                self._hits = 0

    def _drop(self, count: int) -> None:
        """Let the first calls wait no more. Their questions would keep all earlier calls in memory."""
        for entry in self._waiting[:count]:
            entry.question = None
        del self._waiting[:count]

    def _next(self) -> int:
        """The place of the call to ask about next, or -1 where all that wait are known hits.

        That is the newest one, which settles most, unless another can be told to be no hit without its texts.
        """
        waiting = self._waiting
        found = -1
        for place in range(len(waiting) - 1, -1, -1):
            entry = waiting[place]
            if entry.answer is not None and entry.answer[1] > HIT:
                continue
            question = self._votes.ask(entry)
            if question.confidence > HIT or question.cycle > HIT:
                continue
            if not question.arguments and not question.outputs:
                return place
            if found < 0:
                found = place
        return found

    def _is_hit(self, entry: Entry) -> bool:
        if entry.answer is None:
            question = self._votes.ask(entry)
            if question.confidence > HIT or question.cycle > HIT:
                return True
        return self._votes.answer(entry)[1] > HIT


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    what = {
        "exact_repeat": "the same call is repeated",
        "fuzzy_repeat": "nearly the same call is repeated",
        "cycle_detection": "the same tools are used in turn",
        "output_stagnation": "this tool keeps returning the same",
    }.get(decision.rule, "the calls repeat")
    if decision.action == Action.STOP:
        return f"The turn ends: {what}, {decision.count} calls in a row."
    return f"It looks like a loop: {what}. Try a different approach."


POLICY = Policy(
    id="agent-loop-guard",
    title="agent-loop-guard",
    origin=Origin("QuartzUnit/agent-loop-guard", "0.1.1", "https://github.com/QuartzUnit/agent-loop-guard"),
    params=AgentLoopGuardParams,
    start=AgentLoopGuardGuard,
    rules={
        "exact_repeat": "equal calls in a row have the largest confidence",
        "fuzzy_repeat": "similar calls of the tool have the largest confidence",
        "cycle_detection": "a cycle of tool names has the largest confidence",
        "output_stagnation": "similar outputs of the tool have the largest confidence",
    },
    reads_text="how similar arguments and outputs are",
    message=message,
    actions=("warn", "stop"),
    ideas=("similar, not identical", "cycles", "identical call, consecutive"),
    needs={"results": "unchanged outputs, its most frequent reason, cannot be seen"},
)
