"""Refuses the fifth equal call in a row, and one tool too often in a turn without a change in between.

The tool-call loop guard of gsd-pi, which looks before each call.

Watches
    * The call and the one before it: tool name and arguments, keys in any order.
    * How often each tool was called in this turn since something last changed, whatever the arguments.

Acts
    * ``identical_args``: the fifth equal call in a row, and every further one; of ``ask_user_questions`` the second.
    * ``repeated_tool``: the seventh call of a tool since the last change, and every further one; the sixteenth of
      tools that are used often (``bash``, ``edit``, ``write``, ``fetch_page``, ``search-the-web``, ``todo_write`` and
      the like). Looking around (``read``, ``grep``, ``glob``, ``find``, ``ls``, ``search_and_read``, readers of
      the host's own notes) and ``browser_`` tools have no limit.

    A refusal asks the model to call no tool any more and to answer in words; it ends nothing. Refused calls count.

Resets
    A person's message. A different call ends the row. A successful edit (``edit``, ``write``, ``multi_edit``,
    ``notebook_edit``) or command (``bash``, ``bg_shell``, ``shell``, ``powershell``, ``gsd_exec``, ``gsd_uat_exec``)
    lets all tools count from 0.

Blind to
    Results. Two calls in turn, as long as there are changes, or only looks. Background commands that report failure in
    a successful result, and the host's own saved requirements, which count as changes there. All calls of a
    response are checked before any of them runs.

Complaints
    open-gsd/gsd-pi #1067, #1093 (many files read are no loop), #1206 (commands that bring a debugging forward are
    none): the exemptions and resets above came of them.

Examples
    ls(a)=x x6 | . . . . block block
    ls(a)=x x4 cat(b)=y ls(a)=x | . . . . . .
    fetch(1)!no fetch(2)!no fetch(3)!no fetch(4)!no fetch(5)!no fetch(6)!no gsd_plan(7)=x | . . . . . . .
    note(1)=a note(2)=a note(3)=a note(4)=a note(5)=a note(6)=a note(7)=a | . . . . . . block
    note(1)=a note(2)=a note(3)=a edit(f)=ok note(4)=a note(5)=a note(6)=a note(7)=a | . . . . . . . .
    ask_user_questions(a)=x x2 | . block

Source
    open-gsd/gsd-pi, ``src/resources/extensions/gsd/bootstrap/tool-call-loop-guard.ts`` at f53df84, read, not run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from loopaudit.core.bounded import Tally
from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.tools import Vocabulary
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import js_sorted_key
from loopaudit.policies.kit.cycles import Streak
from loopaudit.policies.kit.names import listed_names

STRICT: Final = "ask_user_questions"
"""The tool of which one equal call in a row is one too many."""

OFTEN: Final = frozenset(
    "bash bg_shell edit find glob grep fetch_page search-the-web ls read write gsd_exec multi_edit todo_write "
    "notebook_edit search_and_read".split()
)
"""Tools with the higher limit."""

FREE: Final = frozenset(
    "find glob grep ls read search_and_read gsd_decision_get gsd_decision_list gsd_requirement_get "
    "gsd_requirement_list gsd_project_snapshot gsd_milestone_status gsd_journal_query gsd_exec_search gsd_resume "
    "memory_query gsd_memory_query gsd_graph gsd_memory_graph".split()
)
"""Tools without a limit of their own."""

CHANGING: Final = frozenset(
    "edit write multi_edit notebook_edit bash bg_shell shell powershell gsd_exec gsd_uat_exec".split()
)


class GsdPiParams(Params):
    """The settings ``tool_call_loop_guard``."""

    max_consecutive_calls: Annotated[int, param("equal calls in a row that are allowed", 1, 100_000)] = 4
    default_cap: Annotated[int, param("calls of a tool that are allowed without a change", 1, 100_000)] = 6
    repeatable_cap: Annotated[int, param("the same for tools that are used often", 1, 100_000)] = 15
    exempt_tools: Annotated[str, param("further tools without such a limit, separated by commas")] = ""


class GsdPiGuard(Guard):
    """The row of equal calls, and the calls of each tool since the last change."""

    calls_only = True

    def __init__(self, params: GsdPiParams, context: Context) -> None:
        self._params = params
        self._tool = context.tool
        self._enforced = context.enforced
        self._free = FREE | listed_names(params.exempt_tools)
        self._row: Streak[bytes] = Streak()
        self._uses: Tally[str] = Tally()

    def turn(self, turn: Turn) -> None:
        self._row.clear()
        self._uses.clear()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        decisions: list[Decision] = []
        has_changed = False
        for position, call in enumerate(batch.calls):
            tool = self._tool(call)
            refusal = self._check(call, tool, position)
            if refusal is not None:
                decisions.append(refusal)
                if self._enforced:
                    continue  # it did not run, and so changed nothing
            has_changed = has_changed or (call.ok and tool in CHANGING)
        # Only now: when the calls of a response are checked, none of them has run.
        if has_changed:
            self._uses.clear()
        return decisions or NOTHING

    def _check(self, call: Call, tool: str, position: int) -> Decision | None:
        # A refused call stays in the row and in the count: asking once more is refused again.
        row = self._row.push(js_sorted_key(call))
        if row > (1 if tool == STRICT else self._params.max_consecutive_calls):
            return _block("identical_args", row, call, position)
        plain = without_server(tool)
        if tool in self._free or plain in self._free or plain.startswith("browser_"):
            return None
        # Under the name it was called by: two servers' tools of one name are two tools.
        uses = self._uses.add(call.name)
        if uses <= (self._params.repeatable_cap if tool in OFTEN else self._params.default_cap):
            return None
        return _block("repeated_tool", uses, call, position)


def without_server(name: str) -> str:
    """A tool's name without the prefix of its MCP server."""
    if not name.startswith("mcp__"):
        return name
    server, _, tool = name[5:].partition("__")
    return tool if server and tool else name


def _block(rule: str, count: int, call: Call, position: int) -> Decision:
    return Decision(Action.BLOCK, rule, position, count=count, own_word="block", tool=call.name)


def message(decision: Decision) -> str:
    """What the model is told, in our words."""
    what = "times in a row with the same arguments" if decision.rule == "identical_args" else "times in this turn"
    return f"Not run: {decision.tool} was called {decision.count} {what}. Call no more tools, and answer in words."


POLICY = Policy(
    id="gsd-pi",
    title="gsd-pi",
    origin=Origin("open-gsd/gsd-pi", "f53df84", "https://github.com/open-gsd/gsd-pi"),
    params=GsdPiParams,
    start=GsdPiGuard,
    rules={
        "identical_args": "the same call was made more than four times in a row",
        "repeated_tool": "a tool was called more than six times, or fifteen, without a change in between",
    },
    message=message,
    actions=("block",),
    ideas=("identical call, consecutive", "same tool, any arguments"),
    needs={
        "results": "changes are not seen, and tools reach their limits sooner",
        "success": "failed edits and commands count as changes",
    },
    vocabulary=Vocabulary(
        {
            "read": "read",
            "list": "ls",
            "search": "grep",
            "edit": "edit",
            "write": "write",
            "create": "write",
            "shell": "bash",
            "web_fetch": "fetch_page",
            "web_search": "search-the-web",
            "plan": "todo_write",
            "ask": STRICT,
            "agent": "subagent",
        },
        OFTEN | FREE | CHANGING,
    ),
)
