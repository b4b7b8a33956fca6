"""Warns at the third equal call in a row with equal results, and refuses further equal reads after the fifth.

The tool loop guard of oh-my-opencode-slim, a plug-in of OpenCode with a hook before and one behind each tool.

Watches
    * The newest call that succeeded: tool (without regard to case), arguments (keys in any order) and output.
    * Of ``task_status`` and ``task_result``: which task is asked about, and the state that the output names.
    * How often a tool that waits (``wait_for_user``, ``wait_for_background_tasks``) has returned in this turn.

Acts
    * ``repeated_call``: the third call in a row with the same arguments and output, and every further one: a warning
      behind the output.
    * ``repeated_read``: five such calls stand in a row, and the tool only reads (``read``, ``grep``, ``glob``): the
      next equal one is refused.
    * ``repeated_status``: the third time that the same task is in the same state: a warning.
    * ``repeated_wait``: a second wait in a turn brings a warning (``warn``), the third is refused (``block``).

Resets
    Another call or another output ends a row. A person's message, or a reply without calls, ends the counts of waits
    and of states, any other call ends that of states; neither ends a row of equal calls.

Blind to
    Failures: the hook behind a tool does not run for them, so that they neither count nor end a row. Two calls in turn.
    ``task``, ``task_cancel``, ``task_message`` and ``task_revive`` are not looked at. All calls of a response are
    looked at before any of them has run. Here the first 4,096 characters of an output name a task and its state.

Complaints
    alvinunreal/oh-my-opencode-slim #1071 (equal reads without end: why it is there), #1139 (waits without end), review
    of pull request 1074 (an output that changed was refused, parallel calls counted too much).

Examples
    read(a)=x x7 | . . warn warn warn block block
    bash(a)=x x7 | . . warn warn warn warn warn
    read(a)=x x2 read(a)=y read(a)=y read(a)=y | . . . . warn
    read(a)=x x2 read(a)!no read(a)=x | . . . warn
    read(a)=x x2 user read(a)=x | . . warn
    wait_for_user(a)=1 wait_for_user(b)=2 wait_for_user(c)=3 user wait_for_user(a)=1 | . warn block .
    task(a)=x x9 | . . . . . . . . .

Source
    alvinunreal/oh-my-opencode-slim, ``src/hooks/tool-loop-guard/index.ts`` as of pull request 1140, read, not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Final

from loopaudit.core import regex
from loopaudit.core.bounded import Recent
from loopaudit.core.canonical import text_key
from loopaudit.core.events import TEXT, Batch, Call, Result, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.tools import Vocabulary
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import js_sorted_key, js_sorted_value_key, py_value

EXEMPT: Final = frozenset({"task", "task_cancel", "task_message", "task_revive"})
READERS: Final = frozenset({"read", "grep", "glob"})
STATUS: Final = frozenset({"task_status", "task_result"})
WAITS: Final = frozenset({"wait_for_user", "wait_for_background_tasks"})

MARKERS: Final = ("[REPEATED TOOL CALLS - STOP]", "[REPEATED WAIT TOOL - END TURN]")
"""How the original's warnings begin. An output that has one gets no other."""

_TASK = regex.lazy(r"(?:(?:task_id|sessionID):\s*|Task\s+[^\n(]*\()([^\s)]+)", re.IGNORECASE)
_STATE = regex.lazy(r"^state:\s*([\w-]+)", re.IGNORECASE | re.MULTILINE)
_UNSURE = regex.lazy(r"state:\s*[^\n]*\(unconfirmed\)|^status_uncertain:\s*true$", re.IGNORECASE | re.MULTILINE)

HEAD: Final = 4096
"""Characters of an output in which a task and its state are looked for. The patterns above take the square of it."""


class OhMyOpencodeSlimParams(Params):
    """The original's constants."""

    warn_at: Annotated[int, param("how many equal calls with equal results in a row are warned of", 1, 10_000)] = 3
    block_at: Annotated[int, param("after how many of them a reading call is refused", 1, 10_000)] = 5
    waits: Annotated[int, param("how many waits of a turn are allowed; the last one is warned of", 1, 10_000)] = 2


class OhMyOpencodeSlimGuard(Guard):
    """The newest success and its run, and the two counts of a turn."""

    from_first_call = True

    def __init__(self, params: OhMyOpencodeSlimParams, context: Context) -> None:
        self._params = params
        self._tool = context.tool
        self._enforced = context.enforced
        self._last: Call | None = None
        self._result: Result | None = None
        self._run = 0
        self._states: Recent[str, tuple[str, int]] = Recent(64)
        self._waits = 0

    def turn(self, turn: Turn) -> None:
        self._states.clear()
        self._waits = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not calls:
            self._states.clear()
            self._waits = 0
            return NOTHING
        tools = [self._tool(call).lower() for call in calls]
        decisions: list[Decision] = []
        refused = set()
        for position, (call, tool) in enumerate(zip(calls, tools, strict=True)):
            if tool not in STATUS:
                self._states.clear()
            refusal = self._before(call, tool, position)
            if refusal is not None:
                decisions.append(refusal)
                refused.add(position)
        for position, (call, tool) in enumerate(zip(calls, tools, strict=True)):
            if call.result is None or call.result.failed or tool in EXEMPT or (position in refused and self._enforced):
                continue
            warning = self._after(call, call.result, tool, position)
            if warning is not None:
                decisions.append(warning)
        return decisions or NOTHING

    def _before(self, call: Call, tool: str, position: int) -> Decision | None:
        if tool in WAITS:
            rule, count, limit = "repeated_wait", self._waits, self._params.waits
        elif tool in READERS and self._last is not None and is_same(call, self._last):
            rule, count, limit = "repeated_read", self._run, self._params.block_at
        else:
            return None
        if count < limit:
            return None
        return Decision(Action.BLOCK, rule, position, count=count, own_word="block", tool=call.name)

    def _after(self, call: Call, result: Result, tool: str, position: int) -> Decision | None:
        if tool in WAITS:
            self._waits += 1
            rule, count, least = "repeated_wait", self._waits, self._params.waits
        elif tool in STATUS:
            rule, count, least = "repeated_status", self._status(call, result), self._params.warn_at
        else:
            last, before = self._last, self._result
            equal = last is not None and before is not None and is_same(call, last) and before.token == result.token
            self._run = self._run + 1 if equal else 1
            self._last, self._result = call, result
            rule, count, least = "repeated_call", self._run, self._params.warn_at
        if count < least or MARKERS[rule == "repeated_wait"] in result.output:
            return None
        return Decision(Action.WARN, rule, position, count=count, own_word="warn", tool=call.name)

    def _status(self, call: Call, result: Result) -> int:
        """How often in a row the task that a call asks about was in its state; 0 where that is not told."""
        output = result.output[:HEAD]
        named = _TASK.search(output)
        task = named[1] if named else _task_asked_for(call)
        found = _STATE.search(output)
        if not task or not found:
            return 0
        state = found[1].lower()
        state = "running" if state == "busy" else state
        state = f"{state}:uncertain" if _UNSURE.search(output) else state
        before = self._states.get(task)
        count = before[1] + 1 if before is not None and before[0] == state else 1
        self._states.put(task, (state, count))
        return count


def _task_asked_for(call: Call) -> str:
    arguments = py_value(call)
    if not isinstance(arguments, dict):
        return ""
    given = arguments.get("sessionID")
    task = arguments.get("task_id") if given is None else given
    return task.strip() if isinstance(task, str) else ""


def is_same(call: Call, other: Call) -> bool:
    """Whether two calls have the same :func:`lower_key`; most have other names or arguments, which is known already."""
    if call.name == other.name and call.is_json and other.is_json:
        return js_sorted_key(call) == js_sorted_key(other)
    return call.name.lower() == other.name.lower() and lower_key(call) == lower_key(other)


def lower_key(call: Call) -> bytes:
    """Name in lower case and arguments, with the keys of objects in any order."""
    name = call.name.lower()
    if name == call.name:
        return js_sorted_key(call)
    if call.form == TEXT and not call.is_json:
        return text_key(name, call.source)
    return js_sorted_value_key(name, call.arguments)


def message(decision: Decision) -> str:
    """What the model is told, in our words."""
    count, tool = decision.count, decision.tool
    if decision.rule == "repeated_wait":
        return f"A tool that waits has returned {count} times in this turn. Call nothing more, and end the turn."
    if decision.rule == "repeated_status":
        return f"The task was in the same state {count} times in a row. Stop asking, and do something else."
    refused = "Not run: " if decision.action == Action.BLOCK else ""
    return f"{refused}this call of {tool} returned the same {count} times in a row. Do something else, or answer."


POLICY = Policy(
    id="oh-my-opencode-slim",
    title="oh-my-opencode-slim",
    origin=Origin(
        "alvinunreal/oh-my-opencode-slim", "pull request 1140", "https://github.com/alvinunreal/oh-my-opencode-slim"
    ),
    params=OhMyOpencodeSlimParams,
    start=OhMyOpencodeSlimGuard,
    rules={
        "repeated_call": "the same call returned the same three times in a row, or more often",
        "repeated_read": "a reading call already returned the same five times in a row",
        "repeated_status": "a task was in the same state three times in a row, or more often",
        "repeated_wait": "a tool that waits returned twice in a turn, and a third wait is refused",
    },
    reads_text="what the results of task_status and task_result say of a task and its state",
    message=message,
    actions=("warn", "block"),
    ideas=("identical call and identical result", "identical call, consecutive"),
    needs={
        "results": "the guard counts only calls that returned",
        "success": "failed calls are counted as if they had succeeded",
    },
    essential=frozenset({"results"}),
    vocabulary=Vocabulary({"read": "read", "search": "grep", "agent": "task"}, EXEMPT | READERS | STATUS | WAITS),
)
