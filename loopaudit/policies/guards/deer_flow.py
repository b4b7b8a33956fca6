"""Warns at the third and ends the run at the fifth response with the same calls among the last twenty.

The loop detection of DeerFlow, a middleware after the model and before the tools. It also counts how
often each tool is used, whatever its arguments.

Watches
    * The set of calls of a response, in any order, each by name and what matters of its arguments: of
      ``read_file`` the path and the blocks of 200 lines that are asked for; of ``write_file`` and
      ``str_replace`` everything; of all others ``path``, ``url``, ``query``, ``command``, ``pattern``, ``glob``
      and ``cmd``, if they have one, else everything. The last 20 responses with calls.
    * The names of the last calls, as many as the larger of window and limit.

Acts
    * ``identical_calls``: the set stands ``warn_threshold`` times in the window: a notice (``warn``), once
      until it has left the window. ``hard_limit`` times: the calls are taken out of the response, which so
      becomes the last one (``halt``).
    * ``tool_frequency``: the same for the name of a tool, of ``tool_freq_warn`` and ``tool_freq_hard_limit``
      calls. Looked at only where the first rule is silent, call by call; what follows a call that it speaks
      about is not counted.

Resets
    Never: it counts over all messages of a conversation. So a run that was ended ends again at once if it is
    continued with the same calls.

Blind to
    Results. Changing arguments, where they are among those that matter. Arguments that do not matter: searches
    in another folder with the same ``query`` are the same. Two calls in turn before they have come three times
    each.

Complaints
    Reading a long file in pieces, or polling, ends the run. Frequencies stopped honest work on many files, so
    the limits were raised and the count made to decay.

Examples
    ls(a)=x x5 | . . . /warn . . /halt
    [ls(a)=x cat(b)=y] [cat(b)=y ls(a)=x] [ls(a)=x cat(b)=y] | . . . . . . /warn
    ls(a)=x user ls(a)=x user ls(a)=x | . . . /warn
    ls(a)=x cat(b)=y ls(a)=x cat(b)=y | . . . .

Source
    bytedance/deer-flow at f1f4af9, ``loop_detection_middleware.py``, run with Python. Limits of single tools
    that a user may set are not parameters here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Annotated, Any, Final

from loopaudit.core.canonical import digest
from loopaudit.core.events import TEXT, Batch, Call
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import py_dump_key, py_dump_value_key, py_value
from loopaudit.policies.kit.json_dialects import py_text

SALIENT: Final = ("path", "url", "query", "command", "pattern", "glob", "cmd")
"""Arguments that stand for all of them."""

WHOLE: Final = frozenset({"write_file", "str_replace"})
"""Tools of which all arguments matter."""

BLOCK_OF_LINES: Final = 200
"""Lines of a file that count as one place."""


class DeerFlowParams(Params):
    """The original's defaults."""

    warn_threshold: Annotated[int, param("how often a set of calls in the window brings a notice", 1, 1000)] = 3
    hard_limit: Annotated[int, param("how often it ends the run", 1, 1000)] = 5
    window_size: Annotated[int, param("how many responses with calls are remembered", 1, 1000)] = 20
    tool_freq_warn: Annotated[int, param("how many calls of a tool bring a notice", 1, 10_000)] = 30
    tool_freq_hard_limit: Annotated[int, param("how many calls of a tool end the run", 1, 10_000)] = 50


class DeerFlowGuard(Guard):
    """The last sets of calls, and the names of the last calls."""

    calls_only = True

    def __init__(self, params: DeerFlowParams, context: Context) -> None:
        self._params = params
        self._enforced = context.enforced
        self._sets: deque[tuple[bytes, ...]] = deque(maxlen=params.window_size)
        self._warned: set[tuple[bytes, ...]] = set()
        self._names: deque[str] = deque()
        self._reach = max(params.window_size, params.tool_freq_hard_limit)
        self._used: dict[str, int] = {}
        self._warned_names: set[str] = set()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not calls:
            return NOTHING
        wanted = tuple(sorted(map(stable_key, calls)))
        self._sets.append(wanted)
        if self._warned:
            self._warned.intersection_update(self._sets)
        count = self._sets.count(wanted)
        tool = calls[0].name
        if count >= self._params.hard_limit:
            return (self._halt("identical_calls", count, tool, batch),)
        if count >= self._params.warn_threshold and wanted not in self._warned:
            self._warned.add(wanted)
            return (Decision(Action.WARN, "identical_calls", count=count, own_word="warn", tool=tool),)
        return self._by_frequency(batch)

    def _by_frequency(self, batch: Batch) -> Iterable[Decision]:
        for call in batch.calls:
            name = call.name
            if not name:
                continue
            self._names.append(name)
            self._used[name] = self._used.get(name, 0) + 1
            while len(self._names) > self._reach:
                gone = self._names.popleft()
                self._used[gone] -= 1
                if not self._used[gone]:
                    del self._used[gone]
            count = self._used[name]
            if count >= self._params.tool_freq_hard_limit:
                return (self._halt("tool_frequency", count, name, batch),)
            if count < self._params.tool_freq_warn:
                self._warned_names.discard(name)
            elif name not in self._warned_names:
                self._warned_names.add(name)
                return (Decision(Action.WARN, "tool_frequency", count=count, own_word="warn", tool=name),)
        return NOTHING

    def _halt(self, rule: str, count: int, tool: str, batch: Batch) -> Decision:
        """The end of the run; the calls of the response do not run."""
        stop = Decision(Action.STOP, rule, count=count, own_word="halt", tool=tool)
        stop.skipped = len(batch.calls) if self._enforced else 0
        return stop


def stable_key(call: Call) -> bytes:
    """Equal for calls whose name and what matters of the arguments are."""
    name = call.name
    # Of these everything matters, which needs no look at the arguments. What is no object needs one, see below.
    if name in WHOLE and call.form == TEXT and call.is_json and call.source.lstrip()[:1] == "{":
        return py_dump_key(call)
    value = py_value(call)
    if not isinstance(value, dict):
        # Text that is no JSON stands for itself; no argument of what is no object matters more than others.
        return _digest(name, value if isinstance(value, str) and not call.is_json else py_text(value))
    if name == "read_file":
        start = _line(value.get("start_line"), 1)
        first, last = sorted((start, _line(value.get("end_line"), start)))
        return _digest(name, f"{value.get('path') or ''}:{_block(first)}-{_block(last)}")
    if name not in WHOLE:
        salient = {field: value[field] for field in SALIENT if value.get(field) is not None}
        if salient and len(salient) < len(value):
            return py_dump_value_key(name, salient)
    return py_dump_key(call)


def _digest(name: str, text: str) -> bytes:
    return digest(f"{name}:{text}".encode("utf-8", "surrogatepass"))


def _line(value: Any, otherwise: int) -> int:
    """A line as Python's ``int`` reads it."""
    try:
        return otherwise if value is None else int(value)
    except (TypeError, ValueError, OverflowError):
        return otherwise


def _block(line: int) -> int:
    return (max(line, 1) - 1) // BLOCK_OF_LINES


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    if decision.rule == "identical_calls":
        what = f"The same calls were made {decision.count} times within the last responses"
    else:
        what = f"{decision.tool} was called {decision.count} times without a final answer"
    if decision.action == Action.STOP:
        return f"{what}. The run ends with what there is so far."
    return f"{what}. Call no more tools, and answer now with what you have."


POLICY = Policy(
    id="deer-flow",
    title="DeerFlow",
    origin=Origin("bytedance/deer-flow", "f1f4af9", "https://github.com/bytedance/deer-flow"),
    params=DeerFlowParams,
    start=DeerFlowGuard,
    rules={
        "identical_calls": "the same set of calls stands three times in the last 20 responses; at five the run ends",
        "tool_frequency": "one tool was called 30 times among the last 50 calls; at 50 the run ends",
    },
    message=message,
    actions=("warn", "stop"),
    reads_text="numbers of lines, in blocks of 200",
    ideas=("identical call, anywhere in a turn or window", "same tool, any arguments"),
)
