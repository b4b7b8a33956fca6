"""Finds cycles of one to five calls that were made five times over, and text that chants.

The loop detection service of Gemini CLI, without its third check, which asks a model. It sees the stream
of a response event by event: a first detection cuts the stream and tells the model, a second one in the
same turn ends the turn.

Watches
    Calls before they run: tool and arguments as JavaScript writes them, so that key order matters and
    spacing does not; the last 25 of the turn. Text of the response, as one chunk before its calls (the live
    stream has smaller ones), in UTF-16 code units. Results are not looked at, and calls without
    one count like others.

Acts
    * ``consecutive_identical_tool_calls``: for some k from 1 to 5 the last 5k calls are one block of k
      calls five times over. With k = 1 these are five equal calls.
    * ``chanting_identical_sentences``: some piece of 50 units came ten times, on average at most 250 units
      apart, with at most five different texts in the nine gaps between. A fence, table row, list item, heading,
      quote or rule in a chunk starts the text anew, as does a call; code is passed over; 5,000 units are kept.

    The first detection of a turn is a ``nudge``, every further one a ``halt``. Both drop the later calls of
    the response. The counters stay, so that the very next repeat is the second detection.

Resets
    A person's message clears everything but whether the text is inside code.

Blind to
    Cycles of six calls or more, and any change in the arguments. Two slips of the original are kept:
    items that start with a hyphen are no list items, and chunks of digits, capitals and punctuation alone
    are taken for a rule.

Complaints
    google-gemini/gemini-cli #8232, #8234, #8237, #5873, #19953 (runs cut for nothing), #9276 (the same debugger command
    over and over is legitimate); PR #18008 gave it an off switch.

Examples
    read(a)=x x5 | . . . . nudge
    read(a)=x x7 | . . . . nudge halt .
    ls(a)=1 ls(b)=2 ls(a)=1 ls(b)=2 ls(a)=1 ls(b)=2 ls(a)=1 ls(b)=2 ls(a)=1 ls(b)=2 | . . . . . . . . . nudge
    read({"a":1,"b":2})=x x2 read({"b":2,"a":1})=x read({"a":1,"b":2})=x x2 | . . . . .
    read(a)=x x4 user read(a)=x | . . . . .
    [read(a)=x read(a)=x read(a)=x read(a)=x read(a)=x ls(b)=x] | . . . . nudge .

Source
    google-gemini/gemini-cli, ``packages/core/src/services/loopDetectionService.ts`` at 5411f113; run from
    @google/gemini-cli-core 0.61.0.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Final

from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import js_key, js_sorted_key
from loopaudit.policies.kit.chanting import GeminiChanting
from loopaudit.policies.kit.cycles import Cycles

CALLS: Final = "consecutive_identical_tool_calls"
TEXT: Final = "chanting_identical_sentences"


class GeminiCliParams(Params):
    """Constants of the original."""

    laps: Annotated[int, param("how often a block of calls is made before it is taken for a loop", 2, 1000)] = 5
    longest_cycle: Annotated[int, param("calls in the longest block that is looked for", 1, 100)] = 5


class GeminiCliGuard(Guard):
    """The cycles at the end of the turn's calls, the text since the last call, and the strikes so far."""

    def __init__(self, params: GeminiCliParams, context: Context) -> None:
        self._params = params
        self._enforced = context.enforced
        window = params.laps * params.longest_cycle
        self._cycles: Cycles[bytes] = Cycles(params.longest_cycle, window)
        """Cycles of calls whose arguments differ in key order at most."""
        self._calls: deque[Call] = deque(maxlen=window)
        self._chanting = GeminiChanting()
        self._strikes = 0

    def turn(self, turn: Turn) -> None:
        self._cycles.clear()
        self._calls.clear()
        self._chanting.clear()
        self._strikes = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        decisions: list[Decision] = []
        if batch.text and self._chanting.feed(batch.text):
            decisions.append(self._strike(TEXT, -1, "", len(calls)))
            if self._enforced:
                return decisions
        cycles = self._cycles
        for position, call in enumerate(calls):
            self._chanting.clear()
            self._calls.append(call)
            cycles.push(js_sorted_key(call))
            if cycles.repeating and self._is_cycle():
                decisions.append(self._strike(CALLS, position, call.name, len(calls) - position - 1))
                if self._enforced:
                    break
        return decisions or NOTHING

    def _is_cycle(self) -> bool:
        """Whether the calls end in a cycle, key order included; that is looked at only where it can matter."""
        laps = self._params.laps
        for period in self._cycles.periods(laps):
            keys = [js_key(call) for call in islice(reversed(self._calls), laps * period)]
            if keys[period:] == keys[:-period]:
                return True
        return False

    def _strike(self, rule: str, position: int, tool: str, skipped: int) -> Decision:
        self._strikes += 1
        action, word = (Action.NUDGE, "nudge") if self._strikes == 1 else (Action.STOP, "halt")
        skipped = skipped if self._enforced else 0
        return Decision(action, rule, position, count=self._strikes, own_word=word, tool=tool, skipped=skipped)


def message(decision: Decision) -> str:
    """The message for the model or the user, in our own words."""
    seen = "The same calls" if decision.rule == CALLS else "The same sentences"
    if decision.action == Action.STOP:
        return f"{seen} came again after a warning; the turn ends."
    return f"{seen} seem to repeat. Check whether this gets anywhere; if not, change the approach."


POLICY = Policy(
    id="gemini-cli",
    title="Gemini CLI",
    origin=Origin("google-gemini/gemini-cli", "0.61.0", "https://github.com/google-gemini/gemini-cli"),
    params=GeminiCliParams,
    start=GeminiCliGuard,
    rules={
        CALLS: "a block of one to five calls was made five times over",
        TEXT: "a piece of text came ten times, close together",
    },
    reads_text="prose, for repeated sentences",
    message=message,
    actions=("nudge", "stop"),
    ideas=("identical call, consecutive", "cycles", "repeated text"),
    needs={"text": "chanting is not seen"},
)
