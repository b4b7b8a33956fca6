"""Rewrites the prompt when a batch ends in three equal calls, and stops at the next batch that does.

The doom-loop gate of QwenPaw. It looks once after each batch with calls.

Watches
    The last three calls of the turn: tool name and the first 2,048 characters of the argument text
    as the model wrote it.

Acts
    * ``doom_loop``: the last three calls are equal. The first batch that ends so is three
      hits, and the prompt is rewritten (``nudge``); each further one in a row adds a hit, and
      from four hits on the turn stops (``halt``).

Resets
    A person's message. A batch that does not end in three equal calls sets the hits to 0.

Blind to
    Results. Two calls in turn and longer cycles. The same arguments in another spelling, and
    differences behind the first 2,048 characters: two long files with one beginning are equal
    to it. Calls without result count like any other. Where a recording keeps arguments as a value,
    they are written compactly in their recorded order.

Complaints
    agentscope-ai/QwenPaw #5906 (reading its memory again), PR #6041 (tools that are left out).

Examples
    read(a)=x x4 | . . . /nudge . /halt
    read(a)=x x3 read(b)=x read(a)=x x3 | . . . /nudge . . . . /nudge
    [read(a)=x x5] | . . . . . /nudge
    [read(a)=x x3 read(b)=x] | . . . .
    read(a)=x x2 user read(a)=x | . . .

Source
    PyPI ``qwenpaw`` 2.2.2.post1, ``qwenpaw/loop/gates/doom_loop.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

from loopaudit.core.events import TEXT, Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param

EARLY: Final = 100
"""Characters of a name or a string that are compared without writing the arguments."""

SURELY_SEEN: Final = 2 * 6 * (EARLY + 1) + 8
"""Characters that two strings of that length take at most in JSON, with all of them escaped."""


class QwenpawParams(Params):
    """The original's defaults."""

    window: Annotated[
        int, param("how many equal calls in a row are a hit; the first hit counts as that many", 1, 100_000)
    ] = 3
    nudge_at: Annotated[int, param("the hits from which on the prompt is rewritten", 1, 100_000)] = 3
    halt_at: Annotated[int, param("the hits from which on the turn stops", 1, 100_000)] = 4
    prefix: Annotated[int, param("how many characters of the argument text are compared", 1, 1_000_000)] = 2048


class QwenpawGuard(Guard):
    """The run of equal calls, and the batches in a row that ended in a long one."""

    calls_only = True

    def __init__(self, params: QwenpawParams, context: Context) -> None:
        self._params = params
        self._prefix = params.prefix
        self._last: Call | None = None
        self._run = 0
        self._hits = 0

    def turn(self, turn: Turn) -> None:
        self._last = None
        self._run = 0
        self._hits = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not calls:
            return NOTHING
        for call in calls:
            last = self._last
            same = last is not None and call.name == last.name and same_beginning(call, last, self._prefix)
            self._run = self._run + 1 if same else 1
            self._last = call
        params = self._params
        if self._run < params.window:
            self._hits = 0
            return NOTHING
        self._hits = self._hits + 1 if self._hits else params.window
        if self._hits >= params.halt_at:
            return (Decision(Action.STOP, "doom_loop", count=self._hits, own_word="halt"),)
        if self._hits >= params.nudge_at:
            return (Decision(Action.NUDGE, "doom_loop", count=self._hits, own_word="nudge"),)
        return NOTHING


def same_beginning(call: Call, other: Call, size: int) -> bool:
    """Whether the argument texts of two calls agree in their first ``size`` characters.

    Where values were recorded, their first entries mostly tell, and no text is written.
    """
    if call.form == TEXT and other.form == TEXT:
        return bool(call.source[:size] == other.source[:size])
    if call.key != other.key and size >= SURELY_SEEN and _differ_early(call.arguments, other.arguments):
        return False
    return call.raw_arguments[:size] == other.raw_arguments[:size]


def _differ_early(one: Any, other: Any) -> bool:
    """Whether the first entries of two objects differ within :data:`SURELY_SEEN` characters of text."""
    if not isinstance(one, dict) or not isinstance(other, dict) or not one or not other:
        return False
    name, value = next(iter(one.items()))
    other_name, other_value = next(iter(other.items()))
    if len(name) > EARLY or len(other_name) > EARLY:
        return False
    if name != other_name:
        return True
    return isinstance(value, str) and isinstance(other_value, str) and value[:EARLY] != other_value[:EARLY]


def message(decision: Decision) -> str:
    """The message for the model or the user, in our own words."""
    if decision.action == Action.STOP:
        return "The same call is still repeated; the turn stops."
    return "The last three calls are the same. Stop repeating it; review what is known and take another way."


POLICY = Policy(
    id="qwenpaw",
    title="QwenPaw",
    origin=Origin("agentscope-ai/QwenPaw", "2.2.2.post1", "https://pypi.org/project/qwenpaw/"),
    params=QwenpawParams,
    start=QwenpawGuard,
    rules={"doom_loop": "a batch ends in three equal calls"},
    message=message,
    actions=("nudge", "stop"),
    ideas=("identical call, consecutive",),
)
