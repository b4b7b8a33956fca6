"""Judges a whole response before it runs, by calls whose results show no progress, and refuses it as a whole.

The tool loop detection of OpenClaw with its admission of batches. It knows what a result means for some of its
tools, and refuses where the same outcome has come twenty times.

Watches
    The last 30 calls, of which only those since a person's last message are looked at: tool and arguments as
    JavaScript writes them with sorted keys, and an identity of the outcome. For ``exec`` that is exit code and
    trimmed output, and for a failure also its output without times, durations, attempts and process ids. Sends of
    ``message`` are all alike; a failure is its error text; a ``write`` that changed nothing is just that.
    Failures and unchanged writes are *no progress*. A call that was refused is remembered as a veto.

Acts
    Before a response runs, each call is judged, and taken for a veto by the calls after it. A warning
    lets the call run; it is given once for each ten of its count. What is critical refuses the whole response
    (``block``, the other calls with the rule ``batch``); the second time in a run it ends the run (``halt``).

    * ``unknown_tool_repeat``, critical: ten failures of a tool in a row that name the same unknown tool.
    * ``global_circuit_breaker``, critical: 30 equal outcomes.
    * ``known_poll_no_progress``: ``command_status``, or ``process`` with ``poll`` or ``log``, had the same outcome 10
      times (``warn``), 20 times (critical).
    * ``ping_pong``: two calls take turns for 10 calls (``warn``); for 20 calls with all outcomes the same (critical).
    * ``generic_repeat``: another call had the same outcome 20 times (critical), or stands in the window
      10 times, whatever came of it (``warn``). For ``exec`` similar failures of different commands in a row count too.
    * ``argument_churn``, ``warn``: ten calls of a tool without progress go round between two arguments or more, each at
      least three times, all with the same outcome.

Resets
    A person's message begins a run: older calls are not looked at, but keep their place in the window.

Blind to
    It is off by default (``tools.loopDetection.enabled``). The circuit breaker of 30 cannot be reached, since 20
    is critical before. Cycles of three or more, and any change in results that is not blanked. What the tools
    tell apart from their text is guessed from the text here: whether a write changed something, by its words.
    Outputs over 64 KiB are compared by length and hash. A call without result counts as a repeat, but shows
    nothing. A separate guard after compactions is left out.

Complaints
    openclaw/openclaw #64500, #79252 (the pair evades the breaker), #109435, #127701 (refused calls were not recorded),
    #70546 (it only warned), #52680, #62775 and #120448 (off by default), PR #80668, PR #75924.

Examples
    exec(a)=x x11 | . . . . . . . . . . warn
    exec(a)=x x20 | . . . . . . . . . . warn . . . . . . . . .
    exec(a)=x x22 | . . . . . . . . . . warn . . . . . . . . . block halt
    exec(a)=x x10 user exec(a)=x x10 | . . . . . . . . . . . . . . . . . . . .
    ls(a)=1 ls(b)=2 ls(a)=1 ls(b)=2 ls(a)=1 ls(b)=2 ls(a)=1 ls(b)=2 ls(a)=1 ls(b)=2 | . . . . . . . . . warn

Source
    openclaw/openclaw, ``src/agents/tool-loop-detection.ts`` and the admission of batches; run from openclaw 2026.9.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from msgspec import Struct

from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.tools import Vocabulary
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.guards.openclaw.counts import (
    STABLE,
    Ahead,
    argument_churn,
    no_progress,
    ping_pong,
    unknown_run,
)
from loopaudit.policies.guards.openclaw.records import SENDERS, Record, Window, is_poll
from loopaudit.policies.kit.arguments import js_sorted_key

WARNING_STEP: Final = 10
WARNINGS_KEPT: Final = 256
"""Subjects of warnings that the original remembers, the oldest forgotten first."""


class OpenclawParams(Params):
    """Numbers of the newest version, which has them as constants; older ones let them be set."""

    history_size: Annotated[int, param("how many calls are remembered", 1, 1000)] = 30
    warning_threshold: Annotated[int, param("the count from which a warning is given", 2, 1000)] = 10
    critical_threshold: Annotated[
        int, param("the count of equal outcomes from which the response is refused", 2, 1000)
    ] = 20
    global_circuit_breaker_threshold: Annotated[int, param("the same for any kind of call, checked first", 2, 1000)] = (
        30
    )
    unknown_tool_threshold: Annotated[
        int, param("attempts at one unknown tool after which the response is refused", 1, 1000)
    ] = 10


class Verdict(Struct, frozen=True):
    """What is wrong with a call. ``subject`` is what warnings about the same thing share."""

    rule: str
    count: int
    critical: bool
    subject: object


class OpenclawGuard(Guard):
    """The window, with the counts of this run that show whether a closer look can find anything."""

    calls_only = True

    def __init__(self, params: OpenclawParams, context: Context) -> None:
        self._params = params
        self._tool = context.tool
        self._enforced = context.enforced
        thresholds = (
            params.warning_threshold,
            params.critical_threshold,
            params.global_circuit_breaker_threshold,
            params.unknown_tool_threshold,
        )
        self._least = min(thresholds)
        self._few = min(STABLE, (self._least - 1) // 2)
        """Every rule that needs the call itself to be there needs it so often."""
        self._window = Window(params.history_size)
        self._criticals = 0
        self._warned: dict[object, int] = {}

    def turn(self, turn: Turn) -> None:
        self._window.begin_run()
        self._criticals = 0
        self._warned = {}

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not calls:
            return NOTHING
        window = self._window
        run = window.run
        if len(calls) == 1:
            record = Record(calls[0], self._tool(calls[0]), js_sorted_key(calls[0]), run)
            if window.count(record.key) < self._few and window.odd < self._least:
                self._run_calls((record,))
                return NOTHING
        projected = [Record(call, self._tool(call), js_sorted_key(call), run, veto=True) for call in calls]
        # Where each call would be new with all others ahead of it, none has a verdict (see :meth:`_verdict`).
        others = len(calls) - 1
        known = max([window.count(record.key) for record in projected])
        if known + others < self._few and window.odd + others < self._least:
            self._run_calls(projected)
            return NOTHING
        warnings: list[Decision] = []
        visible = window.visible()
        ahead = Ahead(visible)
        for position, record in enumerate(projected):
            verdict = self._verdict(record, visible, ahead)
            ahead.add(record)
            if verdict is None:
                continue
            if verdict.critical:
                return self._refuse(calls, projected, position, verdict)
            if self._is_new(verdict):
                call = record.call
                warnings.append(
                    Decision(Action.WARN, verdict.rule, position, count=verdict.count, own_word="warn", tool=call.name)
                )
        self._run_calls(projected)
        return warnings or NOTHING

    # -- judging ---------------------------------------------------------------------------

    def _verdict(self, record: Record, visible: Sequence[Record], ahead: Ahead) -> Verdict | None:
        """The first finding about a call, given the visible records and those of its response before it."""
        window = self._window
        # About a call that is new here only failures and vetoes can say anything, and only many.
        if window.count(record.key) + ahead.length < self._few and window.odd + ahead.length < self._least:
            return None
        return self._look_closer(record, visible, ahead)

    def _look_closer(self, record: Record, records: Sequence[Record], ahead: Ahead) -> Verdict | None:
        params = self._params
        name, key = record.name, record.key
        attempts = unknown_run(records, name, ahead)
        if attempts >= params.unknown_tool_threshold:
            return Verdict("unknown_tool_repeat", attempts, True, name)
        streak, outcome = no_progress(records, name, key, ahead)
        if streak >= params.global_circuit_breaker_threshold:
            return Verdict("global_circuit_breaker", streak, True, key)
        poll = is_poll(name, record.call)
        critical = streak >= params.critical_threshold
        if poll and (critical or streak >= params.warning_threshold):
            return Verdict("known_poll_no_progress", streak, critical, ("poll", key, hash(outcome)))
        turns, other, vain = ping_pong(records, key, ahead)
        in_vain = turns >= params.critical_threshold and vain
        if in_vain or turns >= params.warning_threshold:
            return Verdict("ping_pong", turns, in_vain, frozenset((key, other)))
        if critical:
            return Verdict("generic_repeat", streak, True, key)
        churn = argument_churn(records, name, key, ahead)
        if churn >= params.warning_threshold:
            return Verdict("argument_churn", churn, False, ("churn", name))
        repeats = sum(kept.key == key for kept in records) + ahead.count(name, key)
        if not poll and repeats >= params.warning_threshold:
            return Verdict("generic_repeat", repeats, False, key)
        return None

    def _is_new(self, verdict: Verdict) -> bool:
        """Whether a warning was not yet given for this subject and this ten of its count."""
        step = verdict.count // WARNING_STEP
        if step <= self._warned.get(verdict.subject, 0):
            return False
        self._warned[verdict.subject] = step
        if len(self._warned) > WARNINGS_KEPT:
            del self._warned[next(iter(self._warned))]
        return True

    # -- what becomes of a response --------------------------------------------------------

    def _refuse(self, calls: list[Call], records: list[Record], position: int, verdict: Verdict) -> list[Decision]:
        """Refuse a response, or end the run if that happened before."""
        self._criticals += 1
        action, word = (Action.BLOCK, "block") if self._criticals == 1 else (Action.STOP, "halt")
        decisions = [
            Decision(action, verdict.rule, place, count=verdict.count, own_word=word, tool=call.name)
            if place == position
            else Decision(Action.BLOCK, "batch", place, own_word="block", tool=call.name)
            for place, call in enumerate(calls)
        ]
        if self._enforced:
            for record in records:
                if record.key == records[position].key:
                    self._window.push(record)
        else:
            self._run_calls(records)
        return decisions

    def _run_calls(self, records: Sequence[Record]) -> None:
        """Record the calls of a response, then their results in the same order."""
        for record in records:
            record.veto = False
            self._window.push(record)
        self._window.add_results(records)


def message(decision: Decision) -> str:
    """The message for the model or the host, in our own words."""
    tool, count = decision.tool, decision.count
    if decision.rule == "batch":
        return "Another call of this response repeats without progress; nothing of it was run."
    sentence = {
        "unknown_tool_repeat": f"{tool} failed {count} times because of the same unknown tool.",
        "ping_pong": f"The last {count} calls only alternate between two.",
        "argument_churn": f"{tool} goes round between a few arguments, {count} times with the same outcome.",
    }.get(decision.rule, f"This call of {tool} came {count} times without anything new.")
    if decision.action == Action.STOP:
        return sentence + " The run ends."
    if decision.action == Action.BLOCK:
        return sentence + " Nothing of this response was run; one more such response ends the run."
    return sentence + " Stop repeating it, or report that it fails."


POLICY = Policy(
    id="openclaw",
    title="OpenClaw",
    origin=Origin("openclaw/openclaw", "2026.9.6", "https://github.com/openclaw/openclaw"),
    params=OpenclawParams,
    start=OpenclawGuard,
    rules={
        "unknown_tool_repeat": "a tool failed ten times in a row naming the same unknown tool",
        "global_circuit_breaker": "a call had the same outcome thirty times",
        "known_poll_no_progress": "a poll had the same outcome at least ten times",
        "ping_pong": "two calls take turns for at least ten calls",
        "generic_repeat": "a call came ten times, or had the same outcome twenty times",
        "argument_churn": "a tool goes round between a few arguments without progress",
        "batch": "another call of the same response was refused",
    },
    reads_text="outputs, for volatile parts and unknown tools",
    message=message,
    actions=("warn", "block", "stop"),
    ideas=(
        "identical call, anywhere in a turn or window",
        "identical call and identical result",
        "same result, different arguments",
        "alternation A-B-A-B",
        "same error",
    ),
    needs={
        "results": "nothing can be refused: only repeated and alternating calls are seen and warned of",
        "success": "failures are not known as no progress",
    },
    vocabulary=Vocabulary(
        {
            "shell": "exec",
            "poll": "process",
            "shell_input": "process",
            "read": "read",
            "write": "write",
            "edit": "edit",
        },
        SENDERS | {"message", "command_status", "exec", "process"},
    ),
)
