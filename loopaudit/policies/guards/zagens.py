"""Blocks the third identical attempt of a turn; warns, then ends the turn, when one tool keeps failing.

The guard of the zagens coding agent: two counters that know nothing of each other.

Watches
    *Attempts*: how often each call (tool name and canonical arguments) was tried in this
    turn, whatever came of it and whatever stood between. Text that is no JSON counts as
    ``{}``; the original first looks for JSON inside it.
    *Failures*: how often in a row each tool failed, whatever its arguments.

Acts
    All attempts of a batch are counted before any outcome of it.

    * ``identical_call``: a call tried for the third time is blocked, and so is every later
      attempt, because blocked attempts count too. The model gets a text in place of the
      result, and **that counts as a success**: it ends the tool's row of failures.
    * ``consecutive_failures``: the third failure in a row of one tool is a warning, shown to
      the user but not to the model. From the eighth on it is a halt: the rest of the batch is
      still recorded, then the turn ends. The host shows the first halt of a batch only, and
      that is the one stop reported here, at its call.

    With ``continuations`` above 0 the host does not end the turn but asks the model for
    another approach and forgets all failures, that many times per turn. The original does
    so, twice, for unfinished long-running tasks only.

Resets
    A person's message forgets both. A success of a tool that changes state forgets all
    attempts, and so does a *blocked* call of such a tool, its own attempts included. Such
    tools are ``write_file``, ``edit_file``, ``apply_patch``, ``create_dirs``,
    ``batch_edit``, ``refactor_imports``, ``restore_file``, ``draft_skill``, ``exec_shell``
    (also ``_wait`` and ``_interact``), and every tool with *write*, *edit*, *patch* or
    *delete* in its name. A success, or a block, forgets the failures of that tool.

    In shadow mode nothing is blocked: a repeated call's recorded outcome counts. A call
    without a result is an attempt, but neither a success nor a failure.

    Failures are counted per tool name as recorded; only for the question whether a tool
    changes state is the name put into the guard's own words. At least the last 16,384
    different calls of a turn are remembered.

Blind to
    A failing call that is repeated unchanged never reaches warning or halt: its third
    attempt is blocked, which is a success. A shell command that succeeds is never blocked
    across batches. ``dispatch_job`` and ``credit_lookup`` count as edits because of their
    names. Calls that the host refuses before planning (an unknown tool) are no attempts in
    the original; a recording does not distinguish them.

Complaints
    None found in public about this guard. Of its kind two are known: polling for a long job
    is taken for a loop, and a reset on any write lets edit-and-test loops through.

Examples
    read(a)=x read(a)=y read(a)=x read(a)=x | . . block block
    read(a)=x ls(b)=y read(a)=x ls(c)=y read(a)=x | . . . . block
    [read(a)=x read(a)=x read(a)=x] | . . block
    read(a)=x read(a)=x edit_file(b)=ok read(a)=x | . . . .
    [read(a)=x read(a)=x edit_file(b)=ok read(a)=x] | . . . block
    read(a)=x read(a)=x user read(a)=x | . . .
    grep(a)!no grep(b)!no grep(c)!no grep(d)!no grep(e)!no grep(f)!no grep(g)!no grep(h)!no | . . warn . . . . halt
    grep(a)!no x8 | . . block block block block block block
    exec_shell(t)!no x6 | . . block . . block

Source
    didclawapp-ai/zagens at f7c0736 (loop guard, tool effects, tool phase). Older versions:
    variant ``older`` knows the first six names only, ``oldest`` has no reset on a change.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Final, Literal

from loopaudit.core.bounded import Tally
from loopaudit.core.canonical import call_key
from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.tools import Vocabulary
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param

LISTED: Final = frozenset({"write_file", "edit_file", "apply_patch", "create_dirs", "batch_edit", "refactor_imports"})
"""The names of the first version."""

WRITERS: Final = LISTED | {"restore_file", "draft_skill"}
SHELLS: Final = frozenset({b"exec_shell", b"exec_shell_wait", b"exec_shell_interact"})
PARTS: Final = (b"write", b"edit", b"patch", b"delete")

StateChanges = Literal["by_name", "listed", "never"]

MAX_NAMES: Final = 4096
"""Tool names for which it is kept whether the tool changes state."""

MAX_NAME: Final = 256
"""Characters of the longest name for which it is."""


def writes_state(name: str) -> bool:
    """Whether the guard takes a tool for one that changes state. Case counts for ASCII only."""
    if name in WRITERS:
        return True
    lowered = name.encode("utf-8", "surrogatepass").lower()
    return lowered in SHELLS or any(part in lowered for part in PARTS)


class ZagensParams(Params):
    """Thresholds of the seed version."""

    identical_call_block_threshold: Annotated[
        int, param("the identical attempt of a turn from which on a call is blocked", 1, 100_000)
    ] = 3
    failure_warn_threshold: Annotated[int, param("the failure in a row of one tool that is a warning", 1, 100_000)] = 3
    failure_halt_threshold: Annotated[
        int, param("the failure in a row of one tool from which on the turn ends", 1, 100_000)
    ] = 8
    state_changes: Annotated[
        StateChanges, param("which successes forget the attempts: by_name, listed (six names only) or never")
    ] = "by_name"
    continuations: Annotated[
        int, param("how many halts per turn become a request for another approach instead", 0, 1000)
    ] = 0


@cache
def _answers(rule: StateChanges) -> dict[str, bool]:
    """Which tools change state by a rule, by name, as far as somebody asked; the same in all transcripts."""
    return {}


class ZagensGuard(Guard):
    """Attempts by call, failures in a row by tool name."""

    calls_only = True

    def __init__(self, params: ZagensParams, context: Context) -> None:
        self._params = params
        self._block_at = params.identical_call_block_threshold
        self._tool = context.tool
        self._enforced = context.enforced
        self._attempts: Tally[bytes] = Tally()
        self._failures: Tally[str] = Tally()
        self._failing = False
        self._granted = 0
        self._writes = _answers(params.state_changes)

    def turn(self, turn: Turn) -> None:
        self._attempts.clear()
        self._failures.clear()
        self._failing = False
        self._granted = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not calls:
            return NOTHING
        attempt = self._attempts.add
        if len(calls) == 1:
            call = calls[0]
            count = attempt(call.key if call.is_json else _without(call))
            result = call.result
            if count < self._block_at and result is not None and not result.failed:
                self._succeeded(call)
                return NOTHING
            attempts = [count]
        else:
            attempts = [attempt(call.key if call.is_json else _without(call)) for call in calls]
        decisions: list[Decision] = []
        halt: Decision | None = None
        for position, (call, count) in enumerate(zip(calls, attempts, strict=True)):
            if count >= self._block_at:
                decisions.append(
                    Decision(Action.BLOCK, "identical_call", position, count=count, own_word="block", tool=call.name)
                )
                if self._enforced:
                    self._succeeded(call)
                    continue
            outcome = self._outcome(call, position)
            if outcome is None:
                continue
            if outcome.action == Action.WARN:
                decisions.append(outcome)
            elif halt is None:
                decisions.append(outcome)
                halt = outcome
        if halt is not None:
            self._halted(halt)
        return decisions

    def _outcome(self, call: Call, position: int) -> Decision | None:
        """Record what a call that ran came to; the decision, if there is one."""
        result = call.result
        if result is None:
            return None
        if not result.failed:
            self._succeeded(call)
            return None
        failures = self._failures.add(call.name)
        self._failing = True
        if failures >= self._params.failure_halt_threshold:
            return Decision(
                Action.STOP, "consecutive_failures", position, count=failures, own_word="halt", tool=call.name
            )
        if failures == self._params.failure_warn_threshold:
            return Decision(
                Action.WARN, "consecutive_failures", position, count=failures, own_word="warn", tool=call.name
            )
        return None

    def _succeeded(self, call: Call) -> None:
        if self._failing:
            self._failures.drop(call.name)
            self._failing = bool(self._failures)
        name = self._tool(call)
        writes = self._writes.get(name)
        if writes is None:
            writes = self._changes_state(name)
        if writes:
            self._attempts.clear()

    def _changes_state(self, name: str) -> bool:
        rule = self._params.state_changes
        writes = name in LISTED if rule == "listed" else rule == "by_name" and writes_state(name)
        if len(name) <= MAX_NAME:
            if len(self._writes) >= MAX_NAMES:
                self._writes.clear()
            self._writes[name] = writes
        return writes

    def _halted(self, halt: Decision) -> None:
        """The end of a batch with a halt: the turn ends, or the model gets another chance."""
        if self._granted < self._params.continuations:
            self._granted += 1
            self._failures.clear()
            self._failing = False
            halt.action = Action.NUDGE
            halt.own_word = "continuation"


def _without(call: Call) -> bytes:
    """The key of a call whose arguments are no JSON: the host runs it with an empty object."""
    return call_key(call.name, {})


def message(decision: Decision) -> str:
    """What the guard says, in our words."""
    if decision.rule == "identical_call":
        return (
            f"Blocked: attempt {decision.count} of exactly this call in this turn. "
            "Change the arguments or take another tool."
        )
    row = f"This tool failed {decision.count} times in a row."
    if decision.action == Action.WARN:
        return f"{row} (Shown to the user only.)"
    if decision.action == Action.NUDGE:
        return f"{row} Change the approach; the turn goes on."
    return f"{row} The turn ends here; another approach is needed."


POLICY = Policy(
    id="zagens",
    title="zagens",
    origin=Origin("didclawapp-ai/zagens", "f7c0736", "https://github.com/didclawapp-ai/zagens"),
    params=ZagensParams,
    start=ZagensGuard,
    rules={
        "identical_call": "the same call was tried for the third time, or a later one, in this turn",
        "consecutive_failures": "the same tool failed three (a warning), or eight or more times (the end) in a row",
    },
    message=message,
    actions=("block", "warn", "stop"),
    ideas=("identical call, anywhere in a turn or window", "failures of one tool, any error"),
    needs={
        "results": "failures and changes of state cannot be seen, attempts are never forgotten",
        "success": "rows of failures cannot be seen, and every change counts as successful",
    },
    vocabulary=Vocabulary(
        {
            "read": "read_file",
            "edit": "edit_file",
            "write": "write_file",
            "create": "write_file",
            "shell": "exec_shell",
            "shell_input": "exec_shell_interact",
            "poll": "exec_shell_wait",
        },
        # Its own tools that would pass for something else by their kind.
        WRITERS | {"wait", "send_input"},
    ),
    variants={
        "older": {"state_changes": "listed"},
        "oldest": {"state_changes": "never"},
        "long-running": {"continuations": 2},
    },
)
