"""Nudges at every step as long as one action stands five times among the last twenty.

The action loop detector of browser-use. It never refuses anything: each step begins with a friendly remark,
which grows stronger at 8 and 12.

Watches
    The last 20 actions by name and what makes them alike: of ``search`` the engine and the set of words of the
    query in lower case; of ``click`` the element's index; of ``input`` index and trimmed text in lower case; of
    ``navigate`` the address; of ``scroll`` direction and index; of any other all arguments that are not null.
    ``wait``, ``done`` and ``go_back`` are not looked at.

Acts
    * ``repeated_action``: after a step, the action that stands most often in the window stands there
      ``nudge_at`` times or more (``nudge``). It speaks again after each step, also of another action, until the
      window has moved on.

Resets
    Never, not by a person's message either.

Blind to
    What the actions changed. Its second rule, five steps on an unchanged page, needs the page before each step,
    which transcripts do not hold: it is not imitated. Actions in turn before each came five times.

Complaints
    None found in public that are about the present design; an older one took ``wait`` for a loop.

Examples
    click(1)=x x5 | . . . . . /nudge
    click(1)=x x4 scroll(1)=x click(1)=x scroll(2)=x | . . . . . . /nudge . /nudge
    wait(1)=x x9 | . . . . . . . . .

Source
    browser-use/browser-use at 85ddbfe, ``ActionLoopDetector`` and its use in ``service.py``, run with Python.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import Annotated, Any, Final

from loopaudit.core.canonical import digest
from loopaudit.core.events import TEXT, Batch, Call
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import py_dump_key, py_dump_value_key, py_value

EXEMPT: Final = frozenset({"wait", "done", "go_back"})
"""Actions that are not counted."""

NORMALIZED: Final = frozenset({"search", "click", "input", "navigate", "scroll"})
"""Actions of which not everything counts."""

_NO_WORD: Final = re.compile(r"[^\w\s]")


class BrowserUseParams(Params):
    """The original's defaults."""

    loop_detection_window: Annotated[int, param("how many actions are remembered", 1, 1000)] = 20
    nudge_at: Annotated[int, param("how often one of them is there when the agent is nudged", 1, 1000)] = 5


class BrowserUseGuard(Guard):
    """The last actions, and how often each is among them."""

    calls_only = True

    def __init__(self, params: BrowserUseParams, context: Context) -> None:
        self._params = params
        self._window: deque[bytes] = deque()
        self._counts: dict[bytes, int] = {}

    def judge(self, batch: Batch) -> Iterable[Decision]:
        if not batch.calls:
            return NOTHING
        for call in batch.calls:
            if call.name not in EXEMPT:
                self._record(action_key(call))
        counts = self._counts
        # Where no action comes twice, none has to be looked for.
        most = max(counts.values(), default=0) if len(counts) < len(self._window) else min(len(counts), 1)
        if most < self._params.nudge_at:
            return NOTHING
        tool = batch.calls[-1].name
        return (Decision(Action.NUDGE, "repeated_action", count=most, own_word="nudge", tool=tool),)

    def _record(self, action: bytes) -> None:
        self._window.append(action)
        self._counts[action] = self._counts.get(action, 0) + 1
        if len(self._window) > self._params.loop_detection_window:
            gone = self._window.popleft()
            self._counts[gone] -= 1
            if not self._counts[gone]:
                del self._counts[gone]


def action_key(call: Call) -> bytes:
    """Equal for actions that are alike."""
    name = call.name
    if name in NORMALIZED:
        return digest(_normalized(name, _given(call)).encode("utf-8", "replace"))
    # Without a null in it an action is compared as a whole, which needs no look at its arguments.
    if call.form == TEXT and call.is_json and "null" not in call.source and call.source.lstrip()[:1] == "{":
        return py_dump_key(call)
    given = _given(call)
    if given and None not in given.values():
        return py_dump_key(call)
    return py_dump_value_key(name, {key: inner for key, inner in given.items() if inner is not None})


def _given(call: Call) -> dict[str, Any]:
    value = py_value(call)
    return value if isinstance(value, dict) else {}


def _normalized(name: str, given: dict[str, Any]) -> str:
    """What makes actions alike of which not everything counts, as text."""
    if name == "search":
        words = sorted(set(_NO_WORD.sub(" ", str(given.get("query", "")).lower()).split()))
        return f"search|{given.get('engine', 'google')}|{'|'.join(words)}"
    if name == "click":
        return f"click|{given.get('index')}"
    if name == "input":
        return f"input|{given.get('index')}|{str(given.get('text', '')).strip().lower()}"
    if name == "navigate":
        return f"navigate|{given.get('url', '')}"
    return f"scroll|{'down' if given.get('down', True) else 'up'}|{given.get('index')}"


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    row = f"A similar action was repeated {decision.count} times among the last ones."
    if decision.count >= 12:
        return f"{row} Go on only if each time brought you further; another approach may be quicker."
    if decision.count >= 8:
        return f"{row} Is each attempt still bringing you further? If not, try another approach."
    return f"{row} That is fine if it is meant so; if not, think about another approach."


POLICY = Policy(
    id="browser-use",
    title="browser-use",
    origin=Origin("browser-use/browser-use", "85ddbfe", "https://github.com/browser-use/browser-use"),
    params=BrowserUseParams,
    start=BrowserUseGuard,
    rules={"repeated_action": "one action stands at least five times among the last 20"},
    message=message,
    actions=("nudge",),
    ideas=("identical call, anywhere in a turn or window", "similar, not identical"),
)
