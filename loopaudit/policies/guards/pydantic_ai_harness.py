"""Nudges on repeats in the last ten calls, on a result that comes three times, on two calls in turn, and on monologues.

The loop detection of the harness of Pydantic AI. Each rule starts anew once it has spoken.

Watches
    Tool name and arguments (JSON by value, keys in any order) of the last ten calls; the result of each call and of
    the one before it; the beginning of the text of responses without calls.

Acts
    The first of these that holds for a call of a response, before anything of it runs; its later calls are then
    not looked at:

    * ``exact_repetition``: five of the last ten calls are this one.
    * ``alternation``: the last six calls are two that alternate, A B A B A B.

    For each result:

    * ``error_cycle``: the same call came to the same result three times in a row, an error or not.

    For a response without calls:

    * ``monologue``: the third in a row with the same first 200 characters, blanks and case aside.

    The model gets a notice (``nudge``). With ``on_loop`` ``error`` the run ends instead; before they run, if the
    calls are at fault.

Resets
    A person's message clears everything. Calls end a row of monologues, a different call or result ends a row of
    results. A rule that spoke forgets what it counted; exact repetition clears the alternation, too.

Blind to
    Cycles of three calls. Results where calls differ. An original tool that raises is not looked at; a recording does
    not say how an error came about, so every recorded result is taken for a returned one. Results of parallel
    calls are taken in the order of the calls.

Complaints
    None found in public.

Examples
    ls(a)=1 ls(a)=2 ls(a)=3 ls(a)=4 ls(a)=5 ls(a)=6 | . . . . . /nudge .
    ls(a)=x x3 | . . nudge
    ls(a)!no x3 | . . nudge
    ls(a)=x cat(b)=y ls(a)=x cat(b)=y ls(a)=x cat(b)=y | . . . . . . /nudge
    ls(a)=x x2 user ls(a)=x | . . .
    say(now) say(now) say(now) | /. /. /nudge

Source
    pydantic/pydantic-ai-harness, ``pydantic_ai_harness/loop_detection/_capability.py`` at f62e67e, read, not run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Annotated, Literal

from loopaudit.core.events import Batch, Call, Result, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import py_dump_key
from loopaudit.policies.kit.cycles import Cycles, Streak
from loopaudit.policies.kit.results import result_text

OnLoop = Literal["nudge", "error"]


class PydanticAiHarnessParams(Params):
    """The original's defaults."""

    repeat_threshold: Annotated[int, param("how often a call in the window is a loop", 1, 100_000)] = 5
    window: Annotated[int, param("how many calls are remembered", 1, 100_000)] = 10
    error_cycle_threshold: Annotated[int, param("how often in a row the same result is a loop", 1, 10_000)] = 3
    alternation_cycles: Annotated[int, param("how many pairs of two calls in turn are a loop", 1, 10_000)] = 3
    monologue_threshold: Annotated[int, param("how many equal responses without calls are a loop", 1, 10_000)] = 3
    monologue_prefix_chars: Annotated[int, param("characters of such responses that are compared", 1, 100_000)] = 200
    on_loop: Annotated[OnLoop, param("what happens: a nudge, or an error that ends the run")] = "nudge"


def _same_answer(one: tuple[bytes, Result], other: tuple[bytes, Result]) -> bool:
    """Whether two calls and their results are equal. Most calls differ, so that most results need not be decoded."""
    return one[0] == other[0] and result_text(one[1]) == result_text(other[1])


def _same_reply(size: int, one: str, other: str) -> bool:
    """Whether two texts begin alike, in lower case and with one blank between the words, over ``size`` characters."""
    most = size // 2 + 1  # words that reach as far with the blanks between them, whatever follows
    first, second = (" ".join(text.split(None, most)[:most]).lower()[:size] for text in (one, other))
    return first == second


class PydanticAiHarnessGuard(Guard):
    """The window of calls, and three rows."""

    def __init__(self, params: PydanticAiHarnessParams, context: Context) -> None:
        self._params = params
        self._ends = params.on_loop == "error"
        self._enforced = context.enforced
        self._calls: deque[bytes] = deque(maxlen=params.window)
        self._pairs: Cycles[bytes] = Cycles(2, 2 * params.alternation_cycles)
        self._results: Streak[tuple[bytes, Result]] = Streak(_same_answer)
        self._words: Streak[str] = Streak(partial(_same_reply, params.monologue_prefix_chars))

    def turn(self, turn: Turn) -> None:
        self._calls.clear()
        self._pairs.clear()
        self._results.clear()
        self._words.clear()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not calls:
            return self._spoken(batch.text)
        self._words.clear()
        found = self._asked(calls)
        if found is not None and found.action == Action.STOP and self._enforced:
            found.skipped = len(calls)
            return (found,)
        decisions = [] if found is None else [found]
        for position, call in enumerate(calls):
            repeated = None if call.result is None else self._answered(call, call.result, position)
            if repeated is not None:
                decisions.append(repeated)
                if repeated.action == Action.STOP and self._enforced:
                    break
        return decisions or NOTHING

    def _asked(self, calls: list[Call]) -> Decision | None:
        """Take the calls of a response, up to the one that makes a loop."""
        params = self._params
        for call in calls:
            key = py_dump_key(call)
            self._calls.append(key)
            self._pairs.push(key)
            count = self._calls.count(key)
            if count >= params.repeat_threshold:
                self._calls.clear()
                self._pairs.clear()
                return self._loop("exact_repetition", count, call.name)
            # Two equal calls in a row are a cycle of one.
            if self._pairs.laps(2) >= params.alternation_cycles and self._pairs.tail(1) == 1:
                self._pairs.clear()
                return self._loop("alternation", params.alternation_cycles, call.name)
        return None

    def _answered(self, call: Call, result: Result, position: int) -> Decision | None:
        count = self._results.push((py_dump_key(call), result))
        if count < self._params.error_cycle_threshold:
            return None
        self._results.clear()
        return self._loop("error_cycle", count, call.name, position)

    def _spoken(self, text: str) -> Iterable[Decision]:
        if not text or text.isspace():
            return NOTHING
        count = self._words.push(text)
        if count < self._params.monologue_threshold:
            return NOTHING
        self._words.clear()
        return (self._loop("monologue", count, ""),)

    def _loop(self, rule: str, count: int, tool: str, position: int = -1) -> Decision:
        action, word = (Action.STOP, "error") if self._ends else (Action.NUDGE, "nudge")
        return Decision(action, rule, position, count=count, own_word=word, tool=tool)


def message(decision: Decision) -> str:
    """What the model is told, in our words."""
    count, tool = decision.count, decision.tool
    what = {
        "exact_repetition": f"{tool} was called {count} times with the same arguments",
        "alternation": f"Two calls, one of them of {tool}, were made in turn, {count} times each",
        "error_cycle": f"This call of {tool} came to the same result {count} times in a row",
        "monologue": f"{count} responses in a row said nearly the same and did nothing",
    }[decision.rule]
    if decision.action == Action.STOP:
        return f"{what}; the run ends."
    return f"{what}. Try another way, or say what stands in the way."


POLICY = Policy(
    id="pydantic-ai-harness",
    title="Pydantic AI harness",
    origin=Origin("pydantic/pydantic-ai-harness", "f62e67e", "https://github.com/pydantic/pydantic-ai-harness"),
    params=PydanticAiHarnessParams,
    start=PydanticAiHarnessGuard,
    rules={
        "exact_repetition": "five of the last ten calls are the same",
        "alternation": "two calls were made in turn, three times each",
        "error_cycle": "a call came to the same result three times in a row",
        "monologue": "three responses in a row without calls said nearly the same",
    },
    message=message,
    actions=("nudge", "stop"),
    ideas=(
        "identical call, anywhere in a turn or window",
        "identical call and identical result",
        "alternation A-B-A-B",
        "text without tools",
    ),
    needs={
        "results": "results that come again are not seen",
        "text": "monologues are not seen",
    },
    variants={"error": {"on_loop": "error"}},
)
