"""Refuses calls by three counters: equal calls in a row, one error again and again, one file read again and again.

The tool monitor of goose, in a later version that keeps its state. **The released versions keep
none**: each call is judged by a fresh copy of a state that nothing updates, so no limit ever fires.
The variant ``released`` shows that.

Watches
    Batches before they run, and the outcomes of the calls that ran: tool name, arguments (parsed; what
    is no object counts as none), error text, and the argument ``path``.

Acts
    The first of these that holds refuses the call:

    * ``REP-001``, only with ``max_tool_repetitions``: the call equals the one before and is the
      n-th in a row, n over the limit. Refused calls stay in the row.
    * ``REP-002``: the last three failures or more were of this tool with the same first 100 characters of
      error, without a success of any tool between. All calls of the tool in this batch are refused,
      then the row counts from 0 again.
    * ``REP-003``: this tool was called with this ``path`` eight times or more in earlier batches
      (refused ones too) since another tool wrote or edited it (``write``, ``edit``).

Resets
    A person's message resets nothing. A success of any tool ends the row of errors. A write
    or an edit of the path by another tool ends its count, another call the row of equal calls.

Blind to
    With the default, equal successful calls without a ``path``. Cycles. Errors of two tools in
    turn, and errors that differ early. Paths under another argument name: ``file_path`` and
    ``filePath`` are read only while tool names are mapped. A call without a recorded
    result neither fails nor succeeds.

    Memory is bounded here: a path that 16,384 other ones followed starts anew.

Complaints
    aaif-goose/goose #9758, #9136, #12150, PR #9813 (the limit never fires), PR #8994 (refused calls
    keep the guard shut).

Examples
    shell(a)!boom shell(b)!boom shell(c)!boom shell(d)=x shell(e)=x | . . . block .
    shell(a)!boom shell(b)!boom read(c)=x shell(c)!boom shell(d)=x | . . . . .
    read({"path":"f"})=x x9 | . . . . . . . . block
    read({"path":"f"})=x x8 write({"path":"f"})=x read({"path":"f"})=x | . . . . . . . . . .
    shell(a)=x x9 | . . . . . . . . .

Source
    aaif-goose/goose (formerly block/goose), ``crates/goose/src/tool_monitor.rs``, a later version than
    37c043b9, compiled with stub types. No limit of equal calls is the default of its command line
    (``max_tool_repetitions`` is ``None`` where no option gives it).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from loopaudit.core.bounded import Recent
from loopaudit.core.canonical import call_key
from loopaudit.core.events import TEXT, TOKEN_LIMIT, Batch, Call, Result
from loopaudit.core.findings import Action, Decision
from loopaudit.core.tools import Vocabulary, literal
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.cycles import Streak

WRITES: Final = ("write", "edit")
"""Tools after which a file may be read again."""

MAX_PATHS: Final = 16_384
"""Paths whose uses are counted, per generation."""

MAX_TOOLS: Final = 64
"""Tools that are counted for one path, those used last; a bound on memory, not a rule."""

Refused = dict[int, tuple[str, int]]
"""What a batch's calls are refused for: rule and count by position, the first rule that held."""

ERROR_PREFIX: Final = 100
"""Characters of an error text that are compared."""


class GooseParams(Params):
    """``max_tool_repetitions`` is a setting of the original, off by default; the others are constants."""

    max_tool_repetitions: (
        Annotated[int, param("how many equal calls in a row are let through; none: no limit", 0, 100_000)] | None
    ) = None
    error_repetitions: Annotated[int, param("after how many equal errors in a row the tool is refused", 1, 100_000)] = 3
    path_repetitions: Annotated[
        int, param("after how many calls of a tool with one path it is refused", 1, 100_000)
    ] = 8
    keeps_state: Annotated[
        bool, param("whether anything is remembered between calls, which the released versions do not do")
    ] = True


class GooseGuard(Guard):
    """The row of equal calls, the row of equal errors, and counts by path and tool."""

    calls_only = True

    def __init__(self, params: GooseParams, context: Context) -> None:
        self._params = params
        self._limit = params.max_tool_repetitions
        self._tool = context.tool
        self._paths_under = ("path",) if context.tool is literal else ("path", "file_path", "filePath")
        self._enforced = context.enforced
        self._run: Streak[bytes] = Streak()
        self._failed: Call | None = None
        """The first call of the row of equal errors."""
        self._text: str | None = None
        """How its error begins, once that had to be known."""
        self._errors = 0
        self._used: Recent[str, dict[str, int]] = Recent(MAX_PATHS)

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not self._params.keeps_state:
            return NOTHING
        refused: Refused = {}
        if self._limit is not None:
            self._repeated(calls, self._limit, refused)
        if self._errors >= self._params.error_repetitions:
            self._failing(calls, refused)
        self._overused(calls, refused)
        decisions: list[Decision] = []
        for position, call in enumerate(calls):
            if refused and position in refused:
                rule, count = refused[position]
                decisions.append(Decision(Action.BLOCK, rule, position, count=count, own_word="block", tool=call.name))
                if self._enforced:
                    continue
            self._outcome(call)
        return decisions

    # -- the three passes over a batch before it runs ------------------------------------------

    def _repeated(self, calls: list[Call], limit: int, refused: Refused) -> None:
        for position, call in enumerate(calls):
            key = call.key if isinstance(call.arguments, dict) else call_key(call.name, None)
            count = self._run.push(key)
            if count > limit:
                refused[position] = ("REP-001", count)

    def _failing(self, calls: list[Call], refused: Refused) -> None:
        assert self._failed is not None  # the row is not empty
        tool = self._failed.name
        of_tool = [position for position, call in enumerate(calls) if call.name == tool]
        for position in of_tool:
            refused.setdefault(position, ("REP-002", self._errors))
        if of_tool:
            self._errors = 0

    def _overused(self, calls: list[Call], refused: Refused) -> None:
        """Refuse by the counts of earlier batches, then count this one."""
        by_path: dict[str, list[str]] | None = None
        for position, call in enumerate(calls):
            path = self._path(call)
            if path is None:
                continue
            tool = self._tool(call)
            known = self._used.get(path)
            if known is not None and known.get(tool, 0) >= self._params.path_repetitions:
                refused.setdefault(position, ("REP-003", known[tool]))
            if by_path is None:
                by_path = {path: [tool]}
            else:
                by_path.setdefault(path, []).append(tool)
        if by_path is not None:
            for path, tools in by_path.items():
                self._used.put(path, _counted(self._used.get(path), tools))

    # -- what calls say ----------------------------------------------------------------------

    def _path(self, call: Call) -> str | None:
        if call.form == TEXT and 'ath"' not in call.source and "\\u" not in call.source:
            return None  # no name that ends like those of a path, so the text need not be parsed
        arguments = call.arguments
        if isinstance(arguments, dict):
            for name in self._paths_under:
                path = arguments.get(name)
                if isinstance(path, str):
                    return path
        return None

    def _outcome(self, call: Call) -> None:
        result = call.result
        if result is None:
            return
        if not result.failed:
            self._errors = 0
        elif self._errors and self._is_same_error(call, result):
            self._errors += 1
        else:
            self._failed = call
            # A large output is cut later on.
            self._text = _beginning(result) if len(result.source) > TOKEN_LIMIT else None
            self._errors = 1

    def _is_same_error(self, call: Call, result: Result) -> bool:
        """Whether a failed call is of the row's tool and its error begins like that of the row."""
        failed = self._failed
        if failed is None or failed.result is None or call.name != failed.name:
            return False
        if self._text is None:
            self._text = _beginning(failed.result)
        return _beginning(result) == self._text


def _beginning(result: Result) -> str:
    return (result.error or "")[:ERROR_PREFIX]


def _counted(known: dict[str, int] | None, tools: list[str]) -> dict[str, int]:
    """Uses of one path by tool, after a batch that used it with these tools, in order.

    The original counts back from the newest batch, but through a batch from its first call to
    its last, until another tool's write. So what stands behind a write in its batch is not
    counted, and what stands before it is.
    """
    if known is None:
        if len(tools) == 1:
            return {tools[0]: 1}
        known = {}
    counts: dict[str, int] = {}
    for tool in dict.fromkeys((*tools, *known)):
        if len(counts) == MAX_TOOLS:
            break
        count = 0
        for other in tools:
            if other == tool:
                count += 1
            elif other in WRITES:
                break
        else:
            count += known.get(tool, 0)
        if count:
            counts[tool] = count
    return counts


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    if decision.rule == "REP-001":
        return f"Refused: the same call {decision.count} times in a row. Try something else."
    if decision.rule == "REP-002":
        return f"Refused: this tool gave the same error {decision.count} times in a row. Change the approach first."
    return f"Refused: this path was used with this tool {decision.count} times without a change to it."


POLICY = Policy(
    id="goose",
    title="goose",
    origin=Origin("aaif-goose/goose", "later than 37c043b9", "https://github.com/aaif-goose/goose"),
    params=GooseParams,
    start=GooseGuard,
    rules={
        "REP-001": "the same call came more often in a row than the limit that was set",
        "REP-002": "the tool's last three failures or more have the same error",
        "REP-003": "the tool was called with this path eight times or more since another tool wrote it",
    },
    message=message,
    actions=("block",),
    ideas=("identical call, consecutive", "same error", "read-only stretch"),
    needs={
        "results": "errors cannot be seen",
        "success": "errors cannot be seen",
        "error_text": "errors of a tool cannot be told apart",
    },
    vocabulary=Vocabulary({"edit": "edit", "write": "write", "create": "write"}),
    variants={"released": {"keeps_state": False}, "limit-3": {"max_tool_repetitions": 3}},
)
