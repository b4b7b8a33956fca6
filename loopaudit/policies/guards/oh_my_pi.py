"""Steers the model away at the fifth response in a row that asks for the same calls, and at every further one.

The tool-call loop guard of oh-my-pi, which looks at each response after its calls have run.

Watches
    The set of calls of a response, in any order: tool names and arguments. Members named ``i`` or ``__intent``, in
    which that host has the model say what it wants, are left out of the arguments wherever they stand.

Acts
    * ``repeated_tool_call``: the same set of calls five times in a row, or more often. A hidden message tells the
      model so (``redirect``). It refuses nothing and ends nothing.

Resets
    A response without calls. A person's message does not.

Blind to
    Results: polling and running tests again look the same. Two sets in turn. Arguments that differ in one word.
    Responses in which all calls are of exempt tools are passed over, as if they were not there.

Complaints
    can1357/oh-my-pi #10895 (303 calls that differ in one field: noticed once), #10876 (tools that do not exist),
    pull request 10521 (responses with several calls were not looked at before), pull request 11874 (a poll between
    calls reset the count before).

Examples
    ls(a)=x x6 | . . . . . /redirect . /redirect
    [ls(a)=x b(b)=y] [b(b)=y ls(a)=x] [ls(a)=x b(b)=y] [ls(a)=x b(b)=y] [b(b)=y ls(a)=x] | . . . . . . . . . . /redirect
    ls(a)=x x4 say(done) ls(a)=x | . . . . .
    ls(a)=x x4 user ls(a)=x | . . . . . /redirect
    ls(a)=x x2 hub(w)=y ls(a)=x x3 | . . . . . . /redirect
    ls(a)=x cat(b)=y ls(a)=x cat(b)=y ls(a)=x cat(b)=y | . . . . . .

Source
    can1357/oh-my-pi, ``packages/ai/src/utils/tool-call-loop-guard.ts`` at 14047da, read, not run. Defaults from its
    documentation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

from loopaudit.core.events import TEXT, Batch, Call
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import js_sorted_key, js_sorted_value_key
from loopaudit.policies.kit.cycles import Streak
from loopaudit.policies.kit.names import listed_names

INTENTS: Final = frozenset({"i", "__intent"})
"""Members of arguments that only say why."""

_CONTAINERS: Final[frozenset[type]] = frozenset({dict, list})


class OhMyPiParams(Params):
    """The settings ``model.toolCallLoopGuard``."""

    threshold: Annotated[int, param("how many responses in a row with the same calls are a loop", 1, 100_000)] = 5
    exempt_tools: Annotated[str, param("tools that may be called again and again, separated by commas")] = "hub"


class OhMyPiGuard(Guard):
    """The run of responses with the same calls."""

    from_first_call = True

    def __init__(self, params: OhMyPiParams, context: Context) -> None:
        self._threshold = params.threshold
        self._exempt = listed_names(params.exempt_tools)
        self._run: Streak[bytes | tuple[bytes, ...]] = Streak()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not calls:
            self._run.clear()
            return NOTHING
        exempt = self._exempt
        counted = next((call for call in calls if call.name not in exempt), None)
        if counted is None:
            return NOTHING
        count = self._run.push(call_key(calls[0]) if len(calls) == 1 else tuple(sorted(map(call_key, calls))))
        if count < self._threshold:
            return NOTHING
        return (Decision(Action.NUDGE, "repeated_tool_call", count=count, own_word="redirect", tool=counted.name),)


def call_key(call: Call) -> bytes:
    """Name and arguments without what only says why."""
    if call.form == TEXT:
        text = call.source
        # A member's name stands in the text as it is, unless it is written with escapes.
        if not call.is_json or not ('"i"' in text or '"__intent"' in text or "\\u" in text):
            return js_sorted_key(call)
    arguments = call.arguments
    kept = without_intents(arguments)
    return js_sorted_key(call) if kept is arguments else js_sorted_value_key(call.name, kept)


def without_intents(value: Any) -> Any:
    """The value itself where it has no such members, else a copy without them."""
    if isinstance(value, dict):
        if INTENTS.isdisjoint(value) and _CONTAINERS.isdisjoint(map(type, value.values())):
            return value
        kept = {name: without_intents(inner) for name, inner in value.items() if name not in INTENTS}
        return kept if len(kept) < len(value) or any(kept[name] is not value[name] for name in kept) else value
    if isinstance(value, list):
        items = [without_intents(inner) for inner in value]
        return items if any(ours is not theirs for ours, theirs in zip(items, value, strict=True)) else value
    return value


def message(decision: Decision) -> str:
    """What the model is told, in our words."""
    return f"{decision.tool} was called {decision.count} times in a row with the same arguments. Do something else."


POLICY = Policy(
    id="oh-my-pi",
    title="oh-my-pi",
    origin=Origin("can1357/oh-my-pi", "14047da", "https://github.com/can1357/oh-my-pi"),
    params=OhMyPiParams,
    start=OhMyPiGuard,
    rules={"repeated_tool_call": "five responses or more in a row ask for the same calls"},
    message=message,
    actions=("nudge",),
    ideas=("identical call, consecutive",),
)
