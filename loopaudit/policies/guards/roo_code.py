"""Refuses the fourth equal call in a row, asks the user, and forgets the call.

The repetition detector of Roo Code (and of Kilo Code's older versions). It looks at each call
before it runs.

Watches
    The run of equal calls: tool name and arguments, in which the order of the outermost keys
    does not matter, that of inner objects does (numbers as JavaScript has them, ``1`` is ``1.0``).

Acts
    * ``consecutive_identical``: the call repeats the one before for the third time, so it is
      the fourth in a row. It is refused with an error, the user is asked how to go on, and
      the detector **forgets** the call: of four equal calls three always get through.

Resets
    Another call, and the refusal. A person's message resets nothing.

Blind to
    Results. Two calls in turn, cycles, changing arguments. Calls of MCP tools take another path
    in the host and are not looked at; names that begin with ``mcp__`` or ``mcp--`` are taken
    for such, unless ``check_mcp`` is set.

Complaints
    RooCodeInc/Roo-Code #9502 (polling through MCP, before it was left out), #6834 (a limit of 1),
    PR #5503 (cycles, not merged), PR #3240.

Examples
    read(a)=x x8 | . . . block . . . block
    read(a)=x x3 read(b)=x read(a)=x | . . . . .
    read(a)=x x2 user read(a)=x x2 | . . . block
    [read(a)=x x4] | . . . block
    mcp__build__status(a)=x x5 | . . . . .

Source
    RooCodeInc/Roo-Code, ``src/core/tools/ToolRepetitionDetector.ts`` at cb83656 (3.52.1), run on Node 24.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

from loopaudit.core.events import Batch, Call
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import js_sorted_key, js_value
from loopaudit.policies.kit.json_dialects import js_text

MCP: Final = ("mcp__", "mcp--")
"""How names of tools begin that an MCP server offers."""


class RooCodeParams(Params):
    """The default of the original's setting."""

    consecutive_mistake_limit: Annotated[
        int, param("how many repeats of a call are refused; 0 switches the guard off", 0, 100_000)
    ] = 3
    check_mcp: Annotated[
        bool, param("whether calls of MCP tools are looked at too, which the original does not do")
    ] = False


class RooCodeGuard(Guard):
    """The last call and how often it was repeated."""

    calls_only = True

    def __init__(self, params: RooCodeParams, context: Context) -> None:
        self._limit = params.consecutive_mistake_limit
        self._skip_mcp = not params.check_mcp
        self._last: Call | None = None
        self._repeats = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        decisions: list[Decision] = []
        for position, call in enumerate(batch.calls):
            if self._skip_mcp and call.name.startswith(MCP):
                continue
            last = self._last
            repeated = last is not None and js_sorted_key(call) == js_sorted_key(last) and _same_inside(call, last)
            self._repeats = self._repeats + 1 if repeated else 0
            self._last = call
            if self._limit and self._repeats >= self._limit:
                block = Decision(Action.BLOCK, "consecutive_identical", position, own_word="block", tool=call.name)
                block.count = self._repeats
                decisions.append(block)
                self._last = None
                self._repeats = 0
        return decisions


def _same_inside(call: Call, other: Call) -> bool:
    """Whether calls with equal sorted arguments also have the same key order in inner objects."""
    return _inner_texts(js_value(call)) == _inner_texts(js_value(other))


def _inner_texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {key: js_text(inner) for key, inner in value.items() if isinstance(inner, (dict, list))}


def message(decision: Decision) -> str:
    """The message for the model and the user, in our own words."""
    return f"The same call was made {decision.count + 1} times in a row. It is refused, and the user is asked."


POLICY = Policy(
    id="roo-code",
    title="Roo Code",
    origin=Origin("RooCodeInc/Roo-Code", "cb83656", "https://github.com/RooCodeInc/Roo-Code"),
    params=RooCodeParams,
    start=RooCodeGuard,
    rules={"consecutive_identical": "the same call came for the fourth time in a row"},
    message=message,
    actions=("block",),
    ideas=("identical call, consecutive",),
    variants={"with-mcp": {"check_mcp": True}},
)
