"""Counts exact failures, failures of a tool, and unchanged results of read-only tools, apart from each other.

The guardrail of hermes-agent. It warns by default; only with ``hard_stop_enabled`` does it
refuse calls and end turns.

Watches
    Calls one by one, with success and output. A call is its tool and its arguments as Python
    writes them with sorted keys (what is no object counts as an empty one). Three counters:

    * exact failures of a call, until that call succeeds;
    * failures of a tool with any arguments, until that tool succeeds;
    * equal results in a row of a call of a read-only tool (``read_file``, ``search_files``,
      ``web_search``, ``web_extract``, ``session_search``, ``browser_snapshot``,
      ``browser_console``, ``browser_get_images`` and the readers ``mcp_filesystem_...``), until it fails.
      Results that are JSON are compared by value.

Acts
    * ``repeated_exact_failure_warning``: the second failure of a call, and every further one.
    * ``same_tool_failure_warning``: the third failure of a tool, where the rule above is silent.
    * ``idempotent_no_progress_warning``: the second equal result, and every further one.
    * ``repeated_exact_failure_block``, hard stop only: five exact failures; the call is refused.
    * ``idempotent_no_progress_block``, hard stop only: five equal results; the call is refused.
    * ``same_tool_failure_halt``, hard stop only: the eighth failure of a tool.

    Warnings are added to the result. After a refusal or a halt the batch is finished, then the
    turn ends with an answer of the guard's own (``halt`` for the batch, with the last rule).

    Only in the variants ``later`` and ``later-hard-stop``, of calls of any tool:

    * ``identical_call_streak``: the third call in a row with the same arguments and result, and every further
      one, unless it is a poll. ``identical_call_streak_halt``, hard stop only: the fifth.
    * ``identical_cycle``: two to four calls went round three times or more with the same arguments and results,
      unless all are polls; where the rule above is silent. ``identical_cycle_halt``, hard stop only: five times.
    * ``loop_web_search_cap``, ``loop_subagent_cap``: 50 searches of the web, 50 sub-agents in this turn; the next
      one is refused, with or without hard stop.

Resets
    A person's message clears everything. A success of a tool clears its failures, but exact
    failures of its other calls stay. In the variants ``later`` a success of a tool that changes something clears all
    failures, and failures of tools that often fail in honest work (``terminal``) end no turn.

Blind to
    By default it stops nothing. Results of tools that are not read-only, above all of
    ``terminal``, are never compared, and cycles are not seen, but in the variants ``later``. Changing arguments
    with the same result. A call without result is not counted as run. Here results are
    remembered for the last 512 to 1,024 read-only calls of a turn; outputs over 64 KiB are not read as JSON.
    How many sub-agents a call really started is not recorded: it is taken to be all that it asked for.

Complaints
    NousResearch/hermes-agent #112535 (500 equal calls with hard stop off), #67889 (the terminal
    is not covered by the result rule), #60084 (arguments vary, the result does not), #25823, #34610,
    PR #69695 (cycles).

Examples
    read_file(a)=x x3 | . warn warn
    terminal(a)!boom x2 | . warn
    terminal(a)!boom terminal(b)!boom terminal(c)!boom | . . warn
    terminal(a)!boom terminal(b)=ok terminal(a)!boom | . . warn
    terminal(a)=x x9 | . . . . . . . . .
    read_file(a)=x user read_file(a)=x | . .

Source
    NousResearch/hermes-agent, ``agent/tool_guardrails.py``; run from hermes-agent 0.19.0. Variants ``later``: the
    same file at 06c25ac, read, not run. There hard stops are on for gateways and scheduled runs, off where a person
    watches; notices come with ``agent.stall_guards``, which is on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Annotated, Final

from loopaudit.core.bounded import Tally
from loopaudit.core.canonical import NOT_JSON, call_key, digest
from loopaudit.core.events import SLICE, TEXT, Batch, Call, Result, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.tools import Vocabulary
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import py_dump_key, py_value
from loopaudit.policies.kit.cycles import Cycles, Streak
from loopaudit.policies.kit.json_dialects import parse_py, py_text
from loopaudit.policies.kit.results import Outcomes, result_text

READ_ONLY: Final = frozenset(
    {
        "read_file",
        "search_files",
        "web_search",
        "web_extract",
        "session_search",
        "browser_snapshot",
        "browser_console",
        "browser_get_images",
    }
    | {
        f"mcp_filesystem_{reader}"
        for reader in (
            "read_file",
            "read_text_file",
            "read_multiple_files",
            "list_directory",
            "list_directory_with_sizes",
            "directory_tree",
            "get_file_info",
            "search_files",
        )
    }
)

MUTATING: Final = frozenset(
    {
        "terminal",
        "execute_code",
        "write_file",
        "patch",
        "todo",
        "memory",
        "send_message",
        "process",
        "browser_click",
        "browser_type",
        "browser_press",
        "browser_scroll",
        "browser_navigate",
    }
)
"""Tools that the original lists as changing something: their results are never compared."""

POLLS: Final = frozenset({"process", "process_manage"})
POLL_ENDINGS: Final = ("_get_result", "_poll")

LATER_READ_ONLY: Final = READ_ONLY | {"skill_view", "skills_list"}

TOLERANT: Final = POLLS | {"terminal", "execute_code", "browser_navigate", "web_extract"}
"""Tools whose failures are everyday work: in later versions no number of them ends the turn."""

PROGRESS: Final = frozenset(
    {
        "write_file",
        "patch",
        "terminal",
        "execute_code",
        "browser_click",
        "browser_type",
        "browser_press",
        "browser_navigate",
        "process_manage",
        "process",
        "delegate_task",
        "send_message",
        "cronjob",
        "cronjob_manage",
        "todo",
        "todo_list",
        "memory",
        "skill_manage",
    }
)
"""Tools after whose success, in later versions, a call that failed before is a new attempt."""

CYCLE_HISTORY: Final = 64
"""Calls in which later versions look for cycles."""


class HermesAgentParams(Params):
    """The section ``tool_loop_guardrails`` of the original's configuration."""

    hard_stop_enabled: Annotated[
        bool, param("whether calls are refused and turns ended; without it the guard only warns")
    ] = False
    exact_failure_warn: Annotated[int, param("failures of one call from which it warns", 1, 1000)] = 2
    same_tool_failure_warn: Annotated[int, param("failures of one tool from which it warns", 1, 1000)] = 3
    no_progress_warn: Annotated[int, param("equal results of a read-only call from which it warns", 1, 1000)] = 2
    exact_failure_block: Annotated[int, param("failures of one call after which it is refused", 1, 1000)] = 5
    same_tool_failure_halt: Annotated[int, param("failures of one tool at which the turn ends", 1, 1000)] = 8
    no_progress_block: Annotated[int, param("equal results of a read-only call after which it is refused", 1, 1000)] = 5
    identical_notice: Annotated[
        int, param("laps of equal calls with equal results that are noticed; 0 looks for none", 0, 1000)
    ] = 0
    longest_cycle: Annotated[int, param("how many calls such a cycle has at most", 1, 16)] = 4
    progress_resets: Annotated[bool, param("whether the success of a tool that changes something clears failures")] = (
        False
    )
    web_search_cap: Annotated[int, param("searches of the web in a turn; 0 is no limit", 0, 100_000)] = 0
    subagent_cap: Annotated[int, param("sub-agents in a turn; 0 is no limit", 0, 100_000)] = 0


class HermesAgentGuard(Guard):
    """The three counters of a turn. All are empty as long as every call brings something new."""

    calls_only = True

    def __init__(self, params: HermesAgentParams, context: Context) -> None:
        self._params = params
        self._tool = context.tool
        self._enforced = context.enforced
        self._failures: Tally[bytes] = Tally()
        self._tool_failures: Tally[str] = Tally()
        self._results: Outcomes[bytes] = Outcomes(_by_value)
        self._read_only = LATER_READ_ONLY if params.progress_resets else READ_ONLY
        self._streak: Streak[bytes] = Streak()
        """Calls with their results, where equal ones are looked for."""
        self._calls: Cycles[bytes] = Cycles(params.longest_cycle, CYCLE_HISTORY)
        self._polls: deque[bool] = deque(maxlen=params.longest_cycle)
        self._searches = self._subagents = 0

    def turn(self, turn: Turn) -> None:
        self._failures.clear()
        self._tool_failures.clear()
        self._results.clear()
        self._streak.clear()
        self._calls.clear()
        self._polls.clear()
        self._searches = self._subagents = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        decisions: list[Decision] = []
        final: Decision | None = None
        for position, call in enumerate(batch.calls):
            decision = refusal = self._refusal(call, position)
            noticed: Iterable[Decision] = NOTHING
            if call.result is not None and not (refusal is not None and self._enforced):
                after = self._after(call, call.result, position)
                decision = refusal or after
                if self._params.identical_notice:
                    noticed = self._observed(call, call.result, position)
            if decision is not None:
                decisions.append(decision)
                if decision.action >= Action.BLOCK:
                    final = decision
            for notice in noticed:
                # What is said of equal calls ends no turn that ends already.
                if notice.action < Action.BLOCK:
                    decisions.append(notice)
                elif final is None:
                    final = notice
                    decisions.append(notice)
        if final is not None:
            decisions.append(Decision(Action.STOP, final.rule, count=final.count, own_word="halt", tool=final.tool))
        return decisions or NOTHING

    def _refusal(self, call: Call, position: int) -> Decision | None:
        """The refusal of a call, or ``None``."""
        refusal = self._over_cap(call, position) if self._params.web_search_cap or self._params.subagent_cap else None
        return refusal or (self._before(call, position) if self._params.hard_stop_enabled else None)

    def _over_cap(self, call: Call, position: int) -> Decision | None:
        """Count a search of the web or sub-agents, or refuse them."""
        tool = self._tool(call)
        params = self._params
        if tool == "web_search" and params.web_search_cap:
            if self._searches < params.web_search_cap:
                self._searches += 1
                return None
            rule, count = "loop_web_search_cap", self._searches
        elif tool == "delegate_task" and params.subagent_cap and (wanted := subagents(call)):
            if self._subagents < params.subagent_cap:
                if call.ok:
                    self._subagents = min(self._subagents + wanted, params.subagent_cap)
                return None
            rule, count = "loop_subagent_cap", self._subagents
        else:
            return None
        return Decision(Action.BLOCK, rule, position, count=count, own_word="block", tool=call.name)

    def _observed(self, call: Call, result: Result, position: int) -> Iterable[Decision]:
        """What later versions say of equal calls with equal results, one call or a few in turn."""
        tool = self._tool(call)
        key = with_result(call, result, tool)
        is_poll = tool in POLLS or tool.endswith(POLL_ENDINGS)
        self._calls.push(key)
        self._polls.append(is_poll)
        least = self._params.identical_notice
        rule, count = "identical_call_streak", self._streak.push(key)
        if is_poll or count < least:
            rule, count = "identical_cycle", self._laps(least)
            if not count:
                return NOTHING
        notice = Decision(Action.WARN, rule, position, count=count, own_word="notice", tool=call.name)
        if not self._params.hard_stop_enabled or count < self._params.no_progress_block:
            return (notice,)
        return notice, Decision(Action.STOP, f"{rule}_halt", position, count=count, own_word="halt", tool=call.name)

    def _laps(self, least: int) -> int:
        """How often the shortest cycle that is not only polls went round; 0 for less than ``least`` times."""
        polls = list(self._polls)
        for period in self._calls.periods(max(least, 2)):
            if period > 1 and not all(polls[-period:]):
                return self._calls.laps(period)
        return 0

    def _before(self, call: Call, position: int) -> Decision | None:
        """The refusal of a call that keeps failing, or keeps bringing the same."""
        key = identity(call)
        failures = self._failures.get(key) or 0
        if failures >= self._params.exact_failure_block:
            return Decision(
                Action.BLOCK, "repeated_exact_failure_block", position, count=failures, own_word="block", tool=call.name
            )
        equal = self._results.count(key) if self._is_read_only(call) else 0
        if equal >= self._params.no_progress_block:
            return Decision(
                Action.BLOCK, "idempotent_no_progress_block", position, count=equal, own_word="block", tool=call.name
            )
        return None

    def _after(self, call: Call, result: Result, position: int) -> Decision | None:
        """What the guard says about an executed call; ``None`` for nothing."""
        if result.failed:
            return self._failed(call, position)
        if self._tool_failures:
            self._tool_failures.drop(call.name)
        if self._failures:
            self._failures.drop(identity(call))
        if self._params.progress_resets and self._tool(call) in PROGRESS:
            self._failures.clear()
            self._tool_failures.clear()
        count = 0
        if self._is_read_only(call):
            count = self._results.push(identity(call), result)
            if count >= self._params.no_progress_warn:
                rule = "idempotent_no_progress_warning"
                return Decision(Action.WARN, rule, position, count=count, own_word="warn", tool=call.name)
        return None

    def _failed(self, call: Call, position: int) -> Decision | None:
        params = self._params
        key = identity(call)
        exact = self._failures.add(key)
        by_tool = self._tool_failures.add(call.name)
        if self._results:
            self._results.drop(key)
        is_tolerant = params.progress_resets and self._tool(call) in TOLERANT
        if params.hard_stop_enabled and not is_tolerant and by_tool >= params.same_tool_failure_halt:
            return Decision(
                Action.STOP, "same_tool_failure_halt", position, count=by_tool, own_word="halt", tool=call.name
            )
        if exact >= params.exact_failure_warn:
            return Decision(
                Action.WARN, "repeated_exact_failure_warning", position, count=exact, own_word="warn", tool=call.name
            )
        if by_tool >= params.same_tool_failure_warn:
            return Decision(
                Action.WARN, "same_tool_failure_warning", position, count=by_tool, own_word="warn", tool=call.name
            )
        return None

    def _is_read_only(self, call: Call) -> bool:
        return self._tool(call) in self._read_only


def identity(call: Call) -> bytes:
    """The tool and its arguments, which count as an empty object where they are none."""
    if _is_object(call) if call.is_json else isinstance(py_value(call), dict):
        return py_dump_key(call)
    return call_key(call.name, {})


def _is_object(call: Call) -> bool:
    """Whether the arguments, known to be JSON, are an object; told without parsing them."""
    if call.form == TEXT:
        return str(call.source).lstrip(" \t\r\n").startswith("{")
    if call.form == SLICE:
        return bytes(call.source).lstrip(b" \t\r\n").startswith(b"{")
    return isinstance(call.source, dict)


def subagents(call: Call) -> int:
    """How many sub-agents a call asks for; 0 where it only steers those that there are."""
    arguments = py_value(call)
    if not isinstance(arguments, dict):
        return 1
    if str(arguments.get("action") or "").strip().lower() in ("list", "steer", "stop"):
        return 0
    tasks = arguments.get("tasks")
    return len(tasks) if isinstance(tasks, list) and tasks else 1


def with_result(call: Call, result: Result, tool: str) -> bytes:
    """Stands for a call with its result, of ``execute_code`` without its clock and its counter of runs."""
    text = result_text(result)
    if not isinstance(text, str):
        spelling = f"{text[0]} {text[1]}"
    elif tool == "execute_code" and isinstance(value := parse_py(text), dict):
        kept = {name: inner for name, inner in value.items() if name != "duration_seconds"}
        if isinstance(kept.get("kernel"), dict):
            kept["kernel"] = {name: inner for name, inner in kept["kernel"].items() if name != "execution_count"}
        spelling = py_text(kept)
    else:
        spelling = _by_value(text)
    return digest(identity(call) + spelling.encode("utf-8", "surrogatepass"))


def _by_value(output: str) -> str:
    """The spelling in which outputs are compared: JSON with sorted keys, other text as it is."""
    value = parse_py(output)
    return output if value is NOT_JSON else py_text(value)


def message(decision: Decision) -> str:
    """What the model is told, in our words."""
    tool, count = decision.tool, decision.count
    if decision.rule.startswith("repeated_exact_failure"):
        sentence = f"This call of {tool} failed {count} times with the same arguments."
    elif decision.rule.startswith("same_tool_failure"):
        sentence = f"{tool} failed {count} times in this turn, with whatever arguments."
    elif decision.rule.startswith("identical_call_streak"):
        sentence = f"This call of {tool} was made {count} times in a row with the same arguments and result."
    elif decision.rule.startswith("identical_cycle"):
        sentence = f"The same few calls, the last one of {tool}, went round {count} times with the same results."
    elif decision.rule.startswith("loop_"):
        what = "searches of the web" if decision.rule == "loop_web_search_cap" else "sub-agents"
        return f"The limit of {count} {what} in a turn is reached. It was not run; work with what there is."
    else:
        sentence = f"This call of {tool} only reads, and returned the same {count} times. Use what it returned."
    if decision.action == Action.STOP:
        return sentence + " The turn ends here."
    refused = " It was not run." if decision.action == Action.BLOCK else ""
    return sentence + refused + " Find the cause or change the approach before trying again."


LATER: Final = {"identical_notice": 3, "progress_resets": True, "web_search_cap": 50, "subagent_cap": 50}

POLICY = Policy(
    id="hermes-agent",
    title="hermes-agent",
    origin=Origin("NousResearch/hermes-agent", "0.19.0", "https://github.com/NousResearch/hermes-agent"),
    params=HermesAgentParams,
    start=HermesAgentGuard,
    rules={
        "repeated_exact_failure_warning": "a call failed at least twice with the same arguments",
        "same_tool_failure_warning": "a tool failed at least three times with any arguments",
        "idempotent_no_progress_warning": "a read-only call returned the same at least twice in a row",
        "repeated_exact_failure_block": "a call already failed five times with the same arguments",
        "idempotent_no_progress_block": "a read-only call already returned the same five times in a row",
        "same_tool_failure_halt": "a tool failed eight times in the turn with any arguments",
        "identical_call_streak": "a call was made at least three times in a row with the same result",
        "identical_call_streak_halt": "a call was made at least five times in a row with the same result",
        "identical_cycle": "a few calls went round at least three times with the same results",
        "identical_cycle_halt": "a few calls went round at least five times with the same results",
        "loop_web_search_cap": "the turn has searched the web as often as it may",
        "loop_subagent_cap": "the turn has started as many sub-agents as it may",
    },
    reads_text="results, compared as JSON",
    message=message,
    actions=("warn", "block", "stop"),
    ideas=("identical call and identical result", "failures of one tool, any error", "cycles", "caps"),
    needs={
        "results": "neither failures nor unchanged results can be seen",
        "success": "failures are not seen, only unchanged results of read-only tools",
    },
    essential=frozenset({"results"}),
    vocabulary=Vocabulary(
        {
            "read": "read_file",
            "search": "search_files",
            "web_search": "web_search",
            "web_fetch": "web_extract",
            "shell": "terminal",
            "edit": "patch",
            "write": "write_file",
            "plan": "todo",
            "poll": "process",
            "shell_input": "process",
            "agent": "delegate_task",
        },
        LATER_READ_ONLY | MUTATING | PROGRESS,
    ),
    variants={
        "hard-stop": {"hard_stop_enabled": True},
        "later": LATER,
        "later-hard-stop": {**LATER, "hard_stop_enabled": True},
    },
)
