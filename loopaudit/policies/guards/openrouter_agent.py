"""Counts how many rounds in a row a tool was given the same call: observe at 2, block at 3, stop at 6.

The doom-loop monitor of OpenRouter's TypeScript agent. A round is one response of the model; equal
calls of one round count once. It also looks for repeated text.

Watches
    Calls before they run: tool and arguments as JavaScript writes them with sorted keys. For each
    tool it remembers the calls of the last round that used the tool; rounds without
    the tool do not matter. Text of the response, white space squeezed: its end, and whether it is
    the same as the text before.

Acts
    * ``tool-fingerprint``: a call stood in the last round of its tool, and in those before it without
      a gap. The second round is observed, from the third on the call is refused
      (``block``), at the sixth the run ends (``stop``). A refused call counts as asked for. (The original
      also counts rounds with an equal *set* of calls; that count is never the larger one.)
    * ``text-repetition``: the text ends in a block of 1 to 16 words that stands there four times
      or more and covers at least 12 words: ``observe``, from six times on ``stop``. Of several
      blocks the one that covers most counts, then the shortest. Looked at are the last
      400 words, within the last 25,600 UTF-16 code units.
    * ``text-streak``: the same text in two responses in a row: ``observe``, six: ``stop``. Responses without
      text are stepped over. Of two findings in a text the stronger one is told.

    A stop lets the rest of the response be judged.

Resets
    Nothing; not even a person's message. A call that is missing from one round of its tool starts anew.

Blind to
    It is off unless asked for. Results are not compared, so polling is blocked. Changing
    arguments, and alternation of two calls of the *same* tool, pass; so does paraphrased text.

Complaints
    None found in public; the rule was new (PR #73) and not yet released.

Examples
    read(a)=x x7 | . observe block block block stop .
    read(a)=x ls(b)=x read(a)=x ls(b)=x read(a)=x | . . observe observe block
    read(a)=x read(b)=x read(a)=x | . . .
    [read(a)=x read(a)=x] read(a)=x | . . observe
    read(a)=x user read(a)=x | . observe
    say(still_working) say(still_working) | /. /observe

Source
    OpenRouterTeam/typescript-agent, ``packages/agent/src/lib/doom-loop.ts`` at 5a7ed03e.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from loopaudit.core.bounded import Recent
from loopaudit.core.events import Batch, Call
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import js_sorted_key
from loopaudit.policies.kit.utf16 import last_words, units, words

LONGEST_BLOCK: Final = 16
LEAST_REPEATS: Final = 4
LEAST_COVERED: Final = 12
WINDOW_WORDS: Final = 400
WINDOW_UNITS: Final = 64 * WINDOW_WORDS

TOOLS_KEPT: Final = 4096
"""Tools per generation whose last round is remembered."""


class OpenrouterAgentParams(Params):
    """The ladder of the original; its rung ``steer`` is off there and left out."""

    observe: Annotated[int, param("rounds, or repetitions of text, from which it is reported", 1, 1000)] = 2
    block: Annotated[int, param("rounds from which the call is refused", 1, 1000)] = 3
    stop: Annotated[int, param("rounds, or repetitions of text, from which the run ends", 1, 1000)] = 6


class OpenrouterAgentGuard(Guard):
    """Per tool the calls of its last round with their runs; the last text with its run."""

    def __init__(self, params: OpenrouterAgentParams, context: Context) -> None:
        self._params = params
        self._least = min(params.observe, params.stop)
        self._tools: Recent[str, dict[bytes, int]] = Recent(TOOLS_KEPT)
        self._text = ""
        """The last text that was not blank."""
        self._tail: list[str] = []
        self._text_run = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        decisions: list[Decision] = []
        if batch.text:
            decision = self._judge_text(batch.text)
            if decision is not None:
                decisions.append(decision)
        used: dict[str, dict[bytes, int]] = {}
        for position, call in enumerate(batch.calls):
            key = js_sorted_key(call)
            calls = used.get(call.name)
            if calls is None:
                calls = used[call.name] = {}
            count = calls.get(key)
            if count is None:
                before = self._tools.get(call.name)
                count = calls[key] = 1 if before is None else before.get(key, 0) + 1
            if count >= self._params.observe:
                decisions.append(self._judge_call(call, position, count))
        for name, calls in used.items():
            self._tools.put(name, calls)
        return decisions or NOTHING

    def _judge_call(self, call: Call, position: int, count: int) -> Decision:
        rule = "tool-fingerprint"
        if count >= self._params.stop:
            return Decision(Action.STOP, rule, position, count=count, own_word="stop", tool=call.name)
        if count >= self._params.block:
            return Decision(Action.BLOCK, rule, position, count=count, own_word="block", tool=call.name)
        return Decision(Action.OBSERVE, rule, position, count=count, own_word="observe", tool=call.name)

    def _judge_text(self, text: str) -> Decision | None:
        """The stronger finding about a text, the repetition inside it on a tie."""
        tail = last_words(text, LONGEST_BLOCK + 1)
        if not tail:
            return None
        # Most texts end otherwise than the one before, and in a word that is new; only of others all words are made.
        is_same = tail == self._tail and words(text) == words(self._text)
        self._text_run = self._text_run + 1 if is_same else 1
        self._text, self._tail = text, tail
        may_repeat = tail[-1] in tail[:-1] or 2 * len(text) > WINDOW_UNITS
        if not may_repeat and self._text_run < self._least:
            return None
        repeats = repeats_at_end(tail_words(words(text), len(text))) if may_repeat else 0
        inside = self._rung("text-repetition", repeats)
        across = self._rung("text-streak", self._text_run)
        if inside is None or (across is not None and across.action > inside.action):
            return across
        return inside

    def _rung(self, rule: str, count: int) -> Decision | None:
        if count >= self._params.stop:
            return Decision(Action.STOP, rule, count=count, own_word="stop")
        if count >= self._params.observe:
            return Decision(Action.OBSERVE, rule, count=count, own_word="observe")
        return None


def tail_words(tokens: Sequence[str], size: int) -> Sequence[str]:
    """The words that are looked at for repetition: those of the text's last code units.

    The first one may be cut. ``size`` is how many characters the text has at most that the words make.
    """
    if 2 * size > WINDOW_UNITS:
        text = units(" ".join(tokens))
        if len(text) > WINDOW_UNITS:
            tokens = words(text[-WINDOW_UNITS:])
    return tokens[-WINDOW_WORDS:]


def repeats_at_end(tokens: Sequence[str]) -> int:
    """How often the block stands at the end that covers most words there; 0 for no repetition."""
    total = len(tokens)
    if total < LEAST_COVERED:
        return 0
    covered = found = 0
    last = tokens[-1]
    if last not in tokens[-1 - LONGEST_BLOCK : -1]:
        return 0
    for length in range(1, min(LONGEST_BLOCK, total // 2) + 1):
        if tokens[-1 - length] != last:
            continue
        block = tokens[-length:]
        repeats = 1
        start = total - 2 * length
        while start >= 0 and tokens[start : start + length] == block:
            repeats += 1
            start -= length
        if repeats >= LEAST_REPEATS and repeats * length >= max(LEAST_COVERED, covered + 1):
            covered = repeats * length
            found = repeats
    return found


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    if decision.rule == "text-repetition":
        sentence = f"The response ends in the same words {decision.count} times in a row."
    elif decision.rule == "text-streak":
        sentence = f"The last {decision.count} responses said the same."
    else:
        sentence = f"{decision.tool} was asked for the same call in {decision.count} rounds in a row."
    if decision.action == Action.STOP:
        return sentence + " The run ends."
    if decision.action == Action.BLOCK:
        return sentence + " It was not run again; its result would not change. Do something else."
    return sentence


POLICY = Policy(
    id="openrouter-agent",
    title="OpenRouter agent",
    origin=Origin("OpenRouterTeam/typescript-agent", "5a7ed03e", "https://github.com/OpenRouterTeam/typescript-agent"),
    params=OpenrouterAgentParams,
    start=OpenrouterAgentGuard,
    rules={
        "tool-fingerprint": "a tool was given the same call in several of its rounds in a row",
        "text-repetition": "the text ends in the same few words four times or more",
        "text-streak": "several responses in a row said the same",
    },
    reads_text="prose, for repeated blocks of words",
    message=message,
    actions=("observe", "block", "stop"),
    ideas=("identical call, consecutive", "repeated text"),
    needs={"text": "repeated text is not seen"},
)
