"""Blocks a call that has already been run with the same result, one call at a time.

The guard of the atomcode coding agent. It looks before each call at the last 32 calls that
were really run in this turn, and blocks a repeat whose outcome is known.

Watches
    Executed calls of the turn: tool name, canonical arguments, output text and success
    flag, in a window of 32 over all tools. Blocked calls never enter it.

Acts
    * ``in_batch_duplicate``: a call equal to an earlier one of the same batch is not run;
      the model gets a placeholder that counts as a success. Marked before anything else.
    * ``hard_cap``: five equal calls stand in the window: blocked, whatever they returned.
    * ``identical_output``: two or more equal calls stand in the window and *all* of them
      had the same output and the same success: blocked.

    A block never grows into more: it is repeated for every further attempt, the turn goes on.

Resets
    A person's message empties the window. So does a successful edit (``edit_file``,
    ``write_file``, ``create_file``, ``search_replace``) that is not in the window already.
    The window's end makes it forget: 32 calls later a blocked call is allowed again.

Blind to
    Alternating successful edits (each empties the window for the other), changes made
    through a shell, repeats further apart than the window, the same work in other words.

Complaints
    None found in public; the reset by any new edit is known to let edit loops through.

Examples
    read(a)=x read(a)=x read(a)=x | . . block
    read(a)=x read(a)=y read(a)=x read(a)=y read(a)=x read(a)=x | . . . . . block
    read(a)=x read(a)=x edit_file(b)=ok read(a)=x | . . . .
    read(a)=x read(a)=x user read(a)=x | . . .
    [read(a)=x read(a)=x] | . block

Source
    lvyuan1688/atomcode v4.25.9 (runner and guard); the same guard in later forks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated

from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.tools import Vocabulary
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param


class AtomcodeParams(Params):
    """Thresholds of the seed version."""

    threshold: Annotated[
        int, param("the attempt that is blocked when all earlier ones had the same outcome", 2, 1000)
    ] = 3
    hard_threshold: Annotated[int, param("the attempt that is blocked whatever the earlier ones returned", 2, 1000)] = 6
    window: Annotated[int, param("how many executed calls of the turn are remembered", 1, 100_000)] = 32
    state_changing_tools: Annotated[
        str, param("the tools that clear the window when they succeed, separated by commas, as the host may set them")
    ] = "create_file,edit_file,search_replace,write_file"


@lru_cache(maxsize=16)
def _names(listed: str) -> frozenset[str]:
    """The names in a list with commas; the same for each agent of each transcript."""
    return frozenset(name.strip() for name in listed.split(","))


class AtomcodeGuard(Guard):
    """The window of executed calls. ``_counts`` mirrors it, so that most calls are one look-up."""

    calls_only = True

    def __init__(self, params: AtomcodeParams, context: Context) -> None:
        self._soft = params.threshold - 1
        self._hard = params.hard_threshold - 1
        self._size = params.window
        self._edits = _names(params.state_changing_tools)
        self._tool = context.tool
        self._enforced = context.enforced
        self._window: deque[Call] = deque()
        self._counts: dict[bytes, int] = {}

    def turn(self, turn: Turn) -> None:
        self._window.clear()
        self._counts.clear()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        counts = self._counts
        if len(calls) == 1 and calls[0].key not in counts:
            self._record(calls[0], 0)
            return NOTHING
        decisions: list[Decision] = []
        seen: dict[bytes, int] = {}
        for position, call in enumerate(calls):
            earlier = seen.get(call.key, 0)
            seen[call.key] = earlier + 1
            if earlier:
                decisions.append(self._block("in_batch_duplicate", position, earlier, call))
                if not self._enforced:
                    self._record(call, counts.get(call.key, 0))
                continue
            known = counts.get(call.key, 0)
            if known >= self._hard:
                decisions.append(self._block("hard_cap", position, known, call))
            elif known >= self._soft and self._all_alike(call.key):
                decisions.append(self._block("identical_output", position, known, call))
            else:
                self._record(call, known)
                continue
            if not self._enforced:
                self._record(call, known)
        return decisions

    @staticmethod
    def _block(rule: str, position: int, count: int, call: Call) -> Decision:
        return Decision(Action.BLOCK, rule, position, count=count, own_word="block", tool=call.name)

    def _all_alike(self, key: bytes) -> bool:
        """Whether all entries of a key share output and success with the oldest of them."""
        first = None
        for entry in self._window:
            if entry.key == key:
                result = entry.result
                assert result is not None  # only answered calls are recorded
                if first is None:
                    first = result
                elif result.failed != first.failed or result.token != first.token:
                    return False
        return True

    def _record(self, call: Call, known: int) -> None:
        """Remember a call that ran. One without a result was interrupted before it could."""
        if call.result is None:
            return
        counts = self._counts
        window = self._window
        if not known and not call.result.failed and self._tool(call) in self._edits:
            window.clear()
            counts.clear()
        window.append(call)
        counts[call.key] = counts.get(call.key, 0) + 1
        if len(window) > self._size:
            gone = window.popleft().key
            left = counts[gone] - 1
            if left:
                counts[gone] = left
            else:
                del counts[gone]


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    if decision.rule == "in_batch_duplicate":
        return "This call repeats one of the same response; its result stands above."
    times = f"{decision.count} time{'s' if decision.count != 1 else ''}"
    if decision.rule == "hard_cap":
        return (
            f"You ran exactly this call {times} this turn. The output varies a little, but it is still a loop; "
            "further repeats stay blocked."
        )
    return (
        f"You ran exactly this call {times} this turn with the same output, and nothing changed in between. "
        "Change the command, read something else, make an edit, or stop and ask."
    )


POLICY = Policy(
    id="atomcode",
    title="atomcode",
    origin=Origin("lvyuan1688/atomcode", "v4.25.9", "https://github.com/lvyuan1688/atomcode"),
    params=AtomcodeParams,
    start=AtomcodeGuard,
    rules={
        "in_batch_duplicate": "the same call stands earlier in the same response",
        "hard_cap": "the same call was run five times within the last 32 calls of the turn",
        "identical_output": "the same call was run at least twice, always with the same outcome",
    },
    message=message,
    actions=("block",),
    ideas=(
        "identical call and identical result",
        "identical call, anywhere in a turn or window",
        "duplicate inside one batch",
    ),
    needs={
        "results": "whether the outcome was the same cannot be seen",
        "success": "failed edits cannot be told from successful ones, which reset the window",
    },
    essential=frozenset({"results"}),
    vocabulary=Vocabulary(
        {"edit": "edit_file", "write": "write_file", "create": "create_file"}, frozenset({"search_replace"})
    ),
)
