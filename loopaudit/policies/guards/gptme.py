"""Nudges when three responses in a row ask for the same calls, and ends the session after two nudges.

The stuck check of gptme, part of its ``complete`` tool. It runs after each response and reads
the conversation's log: how often the newest calls were asked for in a row, and how many of its own
nudges already stand in that run.

Watches
    Whole responses. A response's fingerprint is the multiset of its calls, so their order does
    not matter. With ``tool_format`` ``markdown`` a call is its tool and its argument text without
    outer white space; with ``tool`` the arguments are not looked at. Results are only read
    to word the nudge.

Acts
    * ``stuck``, nudge: the newest three or more responses have the same fingerprint and fewer
      than two nudges were given in this run since the last message of a person. The nudge
      names the tools, the count and a likely cause: ``permission-denied``, ``tool-error``,
      ``empty-result`` or ``unknown``, from phrases in the newest results.
    * ``stuck``, halt: two nudges were given and did not help. The session ends. An
      interactive session is left alone instead.

    A halt is final until a person's next message; the run of equal responses goes on even then.

Resets
    A response with other calls, or with none, starts a new run; a nudge just before it still
    counts for the new one. A person's message does not interrupt the run, it only forgets
    the nudges.

Blind to
    Cycles of any length, loops with a small change in the arguments, and calls without results
    to tell progress from. In the ``tool`` format three *different* calls of the same tools look
    alike: the fingerprint reads a field that this format leaves empty. Works only where the
    ``complete`` tool is loaded, as in autonomous runs.

Complaints
    gptme/gptme#2725 and #3459 led to the check and to the likely cause.

Examples
    read(a)!boom x3 | . . . /nudge
    read(a)!boom x5 | . . . /nudge . /nudge . /halt
    read(a)=x read(b)=x read(a)=x | . . .
    read(a)=x x2 say(hm) read(a)=x x2 | . . . .
    read(a)=x x4 user read(a)=x x2 | . . . /nudge . /nudge . /nudge . /nudge
    [read(a)=x ls(b)=y] [ls(b)=y read(a)=x] [read(a)=x ls(b)=y] | . . . . . . /nudge

Source
    gptme/gptme, ``gptme/tools/complete.py`` at d27f98d3; run from gptme 0.35.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal

from loopaudit.core.canonical import text_key
from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.regex import Phrase
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param

Format = Literal["markdown", "tool"]

DENIED: Final = Phrase(
    "ermission denied|ccess denied|peration not permitted|EACCES|ot allowed|ot authorized|ot permitted|nauthorized",
    "[Pp]ermission denied|[Aa]ccess denied|[Oo]peration not permitted|EACCES"
    "|[Nn]ot (?:allowed|authorized|permitted)|[Uu]nauthorized",
)
FAILED: Final = Phrase(
    "Traceback|Error|Exception:|exit code|exit status|returncode|ommand not found|o such file|o module named",
    r"Traceback \(most recent call|(?:Error|Exception):|Error executing tool"
    r"|exit (?:code|status)[:\s]+[1-9]|returncode[=\s]+[1-9]"
    r"|[Cc]ommand not found|[Nn]o such file or directory|[Nn]o module named"
    r"|(?:Syntax|Type|Value|Attribute|Key|Import)Error",
)
EMPTY: Final = Phrase(
    " found|0 result|0 matche|0 file|othing returned",
    "[Nn]o (?:output|results?|matches?|files?) found|0 (?:result|matche|file)|[Nn]othing (?:found|returned)",
)

EMPTY_BELOW: Final = 5
"""Results that are shorter than this, all together and trimmed, count as empty."""


class GptmeParams(Params):
    """Thresholds as in the original's environment variables, and the kind of session."""

    repeat_threshold: Annotated[
        int, param("the response in a row with the same calls from which the guard speaks", 2, 1000)
    ] = 3
    escalate_max: Annotated[int, param("how many nudges are given before the session is ended", 0, 1000)] = 2
    tool_format: Annotated[
        Format, param("`markdown`: arguments count; `tool`: they are ignored, a defect of the original")
    ] = "markdown"
    interactive: Annotated[bool, param("whether a person is there, so that the session is never ended")] = False


class GptmeGuard(Guard):
    """The newest run of equal responses: its length, its calls, and the nudges given in it."""

    from_first_call = True

    def __init__(self, params: GptmeParams, context: Context) -> None:
        self._params = params
        self._names_only = params.tool_format == "tool"
        self._run: list[bytes] | list[str] = []
        self._calls: list[Call] = []
        self._length = 0
        self._nudges = 0
        self._just_nudged = False

    def turn(self, turn: Turn) -> None:
        self._nudges = 0
        self._just_nudged = False

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not calls:
            self._run = []
            self._calls = []
            self._just_nudged = False
            return NOTHING
        run = sorted(call.name for call in calls) if self._names_only else sorted(map(_mark, calls))
        if run != self._run or not (self._names_only or _same_text(calls, self._calls)):
            self._length = 0
            # A nudge stands in the log behind the response that it is about, so walking
            # back from a new run meets the last nudge of the run before.
            self._nudges = int(self._just_nudged)
        self._run = run
        self._calls = calls
        self._length += 1
        self._just_nudged = False
        return self._escalate(calls) if self._length >= self._params.repeat_threshold else NOTHING

    def _escalate(self, calls: Sequence[Call]) -> Iterable[Decision]:
        if self._nudges < self._params.escalate_max:
            self._nudges += 1
            self._just_nudged = True
            details = {"reason": likely_cause(calls)}
            yield Decision(Action.NUDGE, "stuck", count=self._length, own_word="nudge", details=details)
        elif not self._params.interactive:
            yield Decision(Action.STOP, "stuck", own_word="halt")


def _mark(call: Call) -> bytes:
    """Equal for equal calls, and nearly always different for others: cheap to compare."""
    if call.is_json:
        return call.key
    return text_key(call.name, call.raw_arguments.strip())


def _same_text(calls: Sequence[Call], others: Sequence[Call]) -> bool:
    """Whether calls with equal marks are also spelled alike."""
    return _texts(calls) == _texts(others)


def _texts(calls: Sequence[Call]) -> list[tuple[str, str]]:
    return sorted((call.name, call.raw_arguments.strip()) for call in calls)


def likely_cause(calls: Sequence[Call]) -> str:
    """Why the agent may be stuck, from what the results of its newest calls say.

    Results are read as one text, the newest first, as the original does. A call without
    result adds nothing; without any result the cause is unknown.
    """
    results = [call.result for call in calls if call.result is not None]
    if not results:
        return "unknown"
    output = "\n".join(r.output if r.error is None else r.error for r in reversed(results))
    if DENIED.search(output):
        return "permission-denied"
    if FAILED.search(output):
        return "tool-error"
    if len(output.strip()) < EMPTY_BELOW or EMPTY.search(output):
        return "empty-result"
    return "unknown"


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    if decision.action == Action.STOP:
        return "The same calls were repeated in spite of the notices; the session ends."
    reason = (decision.details or {}).get("reason", "unknown")
    cause = f" The likely cause: {reason}." if reason != "unknown" else ""
    return (
        f"The last {decision.count} responses asked for the same calls without progress.{cause} "
        "Try another way, repair the cause, or complete the task if nothing more can be done."
    )


POLICY = Policy(
    id="gptme",
    title="gptme",
    origin=Origin("gptme/gptme", "0.35.1", "https://github.com/gptme/gptme"),
    params=GptmeParams,
    start=GptmeGuard,
    rules={"stuck": "three or more responses in a row ask for the same calls"},
    message=message,
    actions=("nudge", "stop"),
    ideas=("identical call, consecutive",),
    needs={"results": "the likely cause that a nudge names is then unknown"},
    variants={"tool-format": {"tool_format": "tool"}},
)
