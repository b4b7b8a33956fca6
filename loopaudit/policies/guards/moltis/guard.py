"""Looks for a tool that keeps failing the same way: first a nudge, then one reply without tools.

The guard of the moltis agent, in two parts: a check of the arguments before a call runs, and
a detector of repeated failures after each batch.

Watches
    The last three *failures* since the last success, each with its tool name, canonical
    arguments and error text. Successes are not looked at, except that one ends it all.

Acts
    Before a call, if the tool's schema is known:

    * ``missing_required``, ``type_mismatch``, ``missing_and_type``: arguments without a
      required field (or with null there), or of another type than a top-level property
      declares. The call is rejected, and that is a failure, whatever it would have returned.
      Its error text repeats the arguments, so only equal ones have equal texts.

    After a batch, if at any of its failures the last three were of one tool and had all the
    same arguments, or all the same error text:

    * the first time a nudge: answer in words, call nothing;
    * the next time a strip: the next reply is asked for without any tools. Both times in one
      batch is still one nudge.

    The rule says what the window holds when the notice is given: ``same_args``,
    ``same_error``, or ``stale`` where later failures of the batch no longer match. Nothing
    ends the turn.

Resets
    A success of any tool forgets failures and stage. So do a person's message and the reply
    after a strip. A failure that does not match changes nothing but the window: after a
    nudge the next three that match lead straight to the strip, even those of another tool.

    In shadow mode nothing is rejected: the recorded outcome counts. Notices count as given in
    both modes. A call without a result is neither a success nor a failure.

Blind to
    Repeats that succeed. Two tools that fail in turn. Neighbours that share now the
    arguments and now the error. An error text that is never quite the same, with changing
    arguments. Failures without any error text match by their arguments only.

    Arguments are compared with their strings not escaped, so that a string with quotes in it
    can equal two fields. Text that is no JSON counts as ``{}``; the later repair of such
    text is not imitated.

Complaints
    None found in public about the detector. It was made for models that send the same call
    with an empty object over and over (moltis-org/moltis#658).

Examples
    run(a)!no run(a)!no run(a)!no | . . . /nudge
    run(a)!no x4 | . . . /nudge . /strip
    run(a)!no run(b)!no run(c)!no | . . . /nudge
    run(a)!x run(a)!y run(b)!y run(b)!z | . . . .
    run(a)!no x2 ls(b)=ok run(a)!no x2 | . . . . .
    run(a)!no x2 user run(a)!no | . . .
    [run(a)!no x4] | . . . . /nudge
    [run(a)!no x3 ls(b)=ok] | . . . .
    [run(a)!no x3 ls(b)!no] | . . . . /nudge
    run(a)!no x3 ls(b)!no x3 | . . . /nudge . . . /strip
    run(a)!no x7 | . . . /nudge . /strip . . . /nudge

Source
    moltis-org/moltis pull request 664 as merged. Variant ``later``: the window is 2 since
    2026-04-26; lists of types are checked and strings that spell scalars are read as such
    before the check; a failure without an error text has a fixed one, so that such failures
    match.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Annotated, Any, Final, Literal

from loopaudit.core.canonical import digest, dump
from loopaudit.core.events import TOKEN_LIMIT, Batch, Call, Result, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.text import one_line
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.guards.moltis.arguments import Rejection, check, coerce
from loopaudit.policies.guards.moltis.failures import Failure

Validator = Literal["base", "latest", "off"]

LISTED: Final = 120
"""Characters of arguments and of an error text that a nudge lists."""

NO_WORDS: Final = ("without words",)
"""Stands for the text that later versions give to a failure without one."""


class MoltisParams(Params):
    """Settings of the seed version."""

    window: Annotated[int, param("how many failures must match; 0 switches the detector off", 0, 1000)] = 3
    strip_on_second_fire: Annotated[bool, param("whether a second match takes the tools away for one reply")] = True
    validator: Annotated[Validator, param("which check of the arguments runs before a call: base, latest or off")] = (
        "base"
    )
    wordless_match: Annotated[bool, param("whether failures without an error text have the same one")] = False


class Stage(IntEnum):
    """How far the detector has gone since the last success."""

    NONE = 0
    NUDGED = 1
    STRIP = 2


class MoltisGuard(Guard):
    """The window of failures and the stage. A success costs nothing while the window is empty."""

    from_first_call = True

    def __init__(self, params: MoltisParams, context: Context) -> None:
        self._size = params.window
        self._strips = params.strip_on_second_fire
        self._schemas: Mapping[str, Any] = {} if params.validator == "off" else context.schemas
        self._latest = params.validator == "latest"
        self._wordless = NO_WORDS if params.wordless_match else None
        self._enforced = context.enforced
        self._window: deque[Failure] = deque()
        self._stage = Stage.NONE
        self._delivered = False

    def turn(self, turn: Turn) -> None:
        self._reset()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        if self._stage and self._stage == Stage.STRIP:
            # The strip was announced after the batch before; this is the reply without tools.
            self._reset()
        decisions: list[Decision] | None = None
        for position, call in enumerate(batch.calls):
            rejection = self._rejection(call) if self._schemas else None
            if rejection is not None and self._enforced:
                self._failed(call, self._rejected(call, rejection))
            elif call.result is not None:
                if call.result.failed:
                    self._failed(call, self._error(call.result))
                elif self._window:
                    self._reset()
            if rejection is not None:
                decisions = [] if decisions is None else decisions
                decisions.append(self._about(call, position, rejection))
        if self._stage:
            notice = self._notice()
            if notice is not None:
                decisions = [] if decisions is None else decisions
                decisions.append(notice)
        return NOTHING if decisions is None else decisions

    # -- the check before a call -----------------------------------------------------------

    def _rejection(self, call: Call) -> Rejection | None:
        schema = self._schemas.get(call.name)
        if not schema:
            return None
        return check(schema, self._read(call, schema), unions=self._latest)

    def _read(self, call: Call, schema: Any) -> Any:
        arguments = call.arguments if call.is_json else {}
        return coerce(schema, arguments) if self._latest else arguments

    def _rejected(self, call: Call, rejection: Rejection) -> Any:
        """Stands for the rejection text, which names the problems and repeats the arguments."""
        sent = self._read(call, self._schemas.get(call.name))
        return (rejection.missing, rejection.mismatches, digest(dump(sent)))

    def _about(self, call: Call, position: int, rejection: Rejection) -> Decision:
        held = len(self._window)
        details = {"missing": list(rejection.missing), "mismatches": [list(m) for m in rejection.mismatches]}
        return Decision(
            Action.REJECT, rejection.kind, position, count=held, own_word="reject", tool=call.name, details=details
        )

    # -- the detector ----------------------------------------------------------------------

    def _reset(self) -> None:
        self._window.clear()
        self._stage = Stage.NONE
        self._delivered = False

    def _error(self, result: Result) -> Any:
        """Stands for a failure's error text; ``None`` where it has none."""
        if not result.has_error:
            return self._wordless
        text = result.error_source
        if text is None:
            return result  # for its output, which is read when failures are compared
        return text if len(text) <= TOKEN_LIMIT else (len(text), hash(text))

    def _failed(self, call: Call, error: Any) -> None:
        if not self._size:
            return
        window = self._window
        window.append(Failure(call, error))
        if len(window) > self._size:
            window.popleft()
        if len(window) == self._size and self._matching() is not None:
            if self._stage == Stage.NONE:
                self._stage = Stage.NUDGED
            elif self._stage == Stage.NUDGED and self._strips:
                self._stage = Stage.STRIP

    def _matching(self) -> str | None:
        """By which rule the whole window matches its oldest entry."""
        window = self._window
        first = window[0]
        if any(f.name != first.name for f in window):
            return None
        if all(first.same_arguments(f) for f in window):
            return "same_args"
        if first.error is not None and all(f.error == first.error for f in window):
            return "same_error"
        return None

    def _notice(self) -> Decision | None:
        """What the host does after a batch; a strip is never the first notice."""
        if self._delivered:
            if self._stage == Stage.NUDGED:
                return None
            action, word = Action.STRIP_TOOLS, "strip"
        else:
            self._stage = Stage.NUDGED
            self._delivered = True
            action, word = Action.NUDGE, "nudge"
        rule = self._matching() or "stale"
        decision = Decision(action, rule, count=len(self._window), own_word=word, tool=self._window[0].name)
        if action == Action.NUDGE:
            # The original's nudge lists what failed.
            decision.details = {"failures": [_listed(failure.call) for failure in self._window]}
        return decision


def _listed(call: Call) -> dict[str, Any]:
    """A failed call as the nudge lists it."""
    error = call.result.error if call.result is not None else None
    return {
        "call": call.number,
        "tool": one_line(call.name, 60),
        "arguments": one_line(call.raw_arguments, LISTED),
        "error": None if error is None else one_line(error, LISTED),
    }


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    if decision.action == Action.REJECT:
        details = decision.details or {}
        parts = [f"missing {one_line(name, 60)}" for name in details.get("missing", ())]
        parts += [
            f"{one_line(name, 60)} is {actual}, not {one_line(expected, 60)}"
            for name, expected, actual in details.get("mismatches", ())
        ]
        problems = ", ".join(parts[:8]) or decision.rule.replace("_", " ")
        return f"Not run, the arguments do not fit: {problems}. Do not send them again unchanged."
    if decision.action == Action.STRIP_TOOLS:
        return "The same failure again: no tools for one reply. Say in words what you were trying to do."
    listed = "; ".join(
        f"{f['tool']} {f['arguments']}" + (f" ({f['error']})" if f["error"] else "")
        for f in (decision.details or {}).get("failures", ())
    )
    return (
        f"Your last {decision.count} calls failed the same way: {listed}. Call nothing now; "
        "say in words what you are trying to do, or ask for what you do not know."
    )


POLICY = Policy(
    id="moltis",
    title="moltis",
    origin=Origin("moltis-org/moltis", "pull request 664", "https://github.com/moltis-org/moltis/pull/664"),
    params=MoltisParams,
    start=MoltisGuard,
    rules={
        "missing_required": "a required argument is missing",
        "type_mismatch": "an argument is of another type than the tool declares",
        "missing_and_type": "a required argument is missing and another one is of the wrong type",
        "same_args": "one tool failed several times in a row with the same arguments",
        "same_error": "one tool failed several times in a row with the same error text",
        "stale": "the same, but later failures of the batch no longer match",
    },
    message=message,
    actions=("reject", "nudge", "strip_tools"),
    ideas=("same error", "identical call that fails", "arguments against the schema"),
    needs={
        "results": "the detector sees no failures",
        "success": "the detector cannot tell failures from successes",
        "error_text": "failures match by their arguments only",
        "schemas": "the check of arguments before a call has nothing to check against",
    },
    essential=frozenset({"results", "success"}),
    variants={"later": {"window": 2, "validator": "latest", "wordless_match": True}},
)
