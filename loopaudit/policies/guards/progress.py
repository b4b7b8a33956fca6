"""Speaks when calls bring nothing new, whatever they look like; then refuses the known ones, then ends the turn.

loopaudit's own guard. It does not count equal calls: it asks of every call what it brought, by the
classes of hindsight (``docs/hindsight.md``), which know changes, waits, noise, requests of a person and
failures in other words. It is causal: the calls before, and the result of the call itself.

Watches
    The stretch of calls that brought nothing new, as ``loopaudit.hindsight`` sees it: repeated calls
    with a known result and no possible change in between, failures like the one before, lines that
    were shown, edits that are applied, one answer to different questions; and plans that are rewritten with
    no work between. Excused repeats (after a
    change, a request, a compaction) and the polls of a wait within its budget do not count: 20 in a
    row, 40 if a person asked for them or their answer has moved by itself. A look without a pause
    whose answer has moved by itself since the last request may be repeated six times.

Acts
    * ``nothing_new``: the stretch has become a loop, however the agent goes on; or four calls in a
      row brought what was known, one of them for the third time, so that a round is run again. The
      calls ran; the model is told what brings nothing, and since which call. Once per stretch.
    * ``known_result``: ``refuse_after`` further calls of the stretch brought nothing after the notice.
      From then on a call is not run whose result the stretch has shown already, so long as nothing
      changed. Other calls run. Waits, retries of an outage, and retries of what failed once anything
      new was seen in between are never refused.
    * ``no_progress``: the calls after the notice that brought nothing, and the refused ones, are
      ``stop_after`` together: the turn ends.

    All calls of a response are decided on before any of them runs, and looked at together when
    all have run.

Resets
    The stretch is over when the agent changes something, a repeated call brings news, or more than
    seven calls in a row do; and when a person writes, unless the agent goes on as if nothing was said.
    Then everything begins anew. A message of a person makes each known call free once more.

Blind to
    What hindsight is blind to: the same information in other words, changes that no call shows, a
    run that wanders over ever new pages, a check that nobody makes. Calls without a result.

Complaints
    None yet: it is new. Where it was wrong on recordings of others, ``docs/hindsight.md`` has the
    rule that let it.

Examples
    read(a)=x x12 | . . . notice . block block block block block block stop
    read(a)=x read(b)=y read(a)=x read(b)=y read(a)=x read(b)=y read(a)=x | . . . . . notice .
    read(a)=x read(b)=y read(c)=z read(a)=x read(b)=y read(c)=z read(a)=x | . . . . . . notice
    read(a)=x read(a)=x edit(a)=ok read(a)=x read(a)=x edit(a)=done read(a)=x | . . . . . . .
    read(a)=x x4 user read(a)=x read(c)=z | . . . notice . .
    poll(a)=running x6 poll(a)=done | . . . . . . .
    list(a)=one list(a)=two x5 list(a)=done | . . . . . . .
    list(a)=two x5 | . . . notice .
    fetch(a)!gone fetch(b)!gone fetch(c)!gone fetch(d)!gone fetch(e)!gone | . . . . notice

Source
    Our own. The rules it rests on were found on public reports of loops and on recordings whose
    labels people gave; see ``docs/hindsight.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from loopaudit.core.events import Batch, Boundary, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.hindsight import Classifier, OpenStretch
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param

if TYPE_CHECKING:
    from loopaudit.hindsight.classifier import Following


class ProgressParams(Params):
    """How long the guard waits between its steps."""

    refuse_after: Annotated[
        int, param("calls that bring nothing after the notice until known calls are refused", 0, 1000)
    ] = 1
    stop_after: Annotated[
        int, param("calls that bring nothing or are refused after the notice until the turn ends", 1, 1000)
    ] = 8


LISTED: Final = 5
"""Numbers of calls that a message lists one by one, at most."""

KEPT: Final = 64
"""Numbers of calls that a decision keeps."""


class Steps:
    """The three steps over what a classifier sees. ``_loop`` names the stretch that was noticed."""

    def __init__(self, params: ProgressParams, enforced: bool) -> None:
        self._refuse_after = params.refuse_after
        self._stop_after = params.stop_after
        self.enforced = enforced
        self._loop: tuple[int, int] | None = None
        self._noticed = 0
        self._refused = 0

    def turn(self) -> None:
        """A person wrote, or the loop is over: everything begins anew."""
        self._loop = None
        self._noticed = self._refused = 0

    def ahead(self, batch: Batch, watch: Classifier) -> list[Decision]:
        """What is refused of a response before anything of it runs. Remembers nothing, and reads no result."""
        if self._loop is None:
            return []
        name, repeats, _ = watch.counted or (None, 0, 0)
        if self._loop != name or repeats - self._noticed < self._refuse_after:
            return []
        loop = watch.stretch
        assert loop is not None  # else it has no name
        since = loop.evidence or self._loop[1]
        decisions = []
        spent = loop.repeats - self._noticed + self._refused
        for position, call in enumerate(batch.calls):
            known = watch.expects(call)
            if known < since:
                continue
            spent += 1
            if spent >= self._stop_after:
                skipped = len(batch.calls) - 1 - position
                decisions.append(_decision(Action.STOP, "no_progress", position, spent, call.name, loop, skipped))
                break
            decisions.append(_decision(Action.BLOCK, "known_result", position, spent, call.name, loop, of=known))
        return decisions

    def gone(self, batch: Batch, refused: Sequence[Decision]) -> Sequence[int]:
        """The positions of the calls that do not run."""
        if not (refused and self.enforced):
            return ()
        gone = [decision.position for decision in refused]
        if refused[-1].action == Action.STOP:
            gone += range(gone[-1] + 1, len(batch.calls))
        return gone

    def behind(self, batch: Batch, watch: Classifier, refused: list[Decision]) -> list[Decision]:
        """All that is decided on a response, now that what was not ``refused`` has run."""
        if refused:
            if refused[-1].action == Action.STOP:
                self.turn()
                return refused
            if self.enforced:
                self._refused += len(refused)  # else they ran, and count as what they brought
        return refused + self._look(batch, watch)

    def _look(self, batch: Batch, watch: Classifier) -> list[Decision]:
        """What there is to say now that a response has run."""
        counted = watch.counted if watch.due else None
        if counted is None:
            self.turn()
            return []
        name, repeats, news = counted
        if news or not batch.calls:
            return []
        spent = repeats - self._noticed + self._refused
        if self._loop == name and spent < self._stop_after:
            return []
        loop = watch.stretch
        assert loop is not None  # it was counted
        position = len(batch.calls) - 1
        if loop.calls:
            position = next((at for at, call in enumerate(batch.calls) if call.number == loop.calls[-1]), -1)
            if position < 0:
                return []  # what ran was excused: a person asked for it, say
        tool = batch.calls[position].name
        if self._loop != name:
            self._loop = name
            self._noticed = repeats
            self._refused = 0
            return [_decision(Action.WARN, "nothing_new", position, repeats, tool, loop)]
        self.turn()
        return [_decision(Action.STOP, "no_progress", position, spent, tool, loop)]


class ProgressGuard(Guard):
    """Takes the steps by a classifier of its own; beside hindsight it follows that one's as long as it can.

    ``_seen`` counts the agent's events since it follows.
    """

    def __init__(self, params: ProgressParams, context: Context) -> None:
        self._kinds = context.kinds
        self._handover = context.handover
        self._following: Following | None = None
        self._seen = 0
        self._steps = Steps(params, context.enforced)
        self._watch = None if context.handover is not None else Classifier(context.kinds)

    def turn(self, turn: Turn) -> None:
        watch = self._watch or self._own()
        if watch is not None:
            watch.turn(turn)
            self._steps.turn()

    def boundary(self, boundary: Boundary) -> None:
        watch = self._watch or self._own()
        if watch is not None:
            watch.boundary(boundary)

    def judge(self, batch: Batch) -> Iterable[Decision]:
        watch = self._watch
        if watch is None:
            assert self._handover is not None  # else there was a classifier from the start
            following = self._handover.followed.get(batch.agent)
            if following is None or batch.index < following.first:
                return NOTHING  # no loop so far
            watch = self._follow(following, batch)
            if watch is None:
                return following.decisions.pop(batch.index, NOTHING)
        refused = self._steps.ahead(batch, watch)
        watch.follow(batch, self._steps.gone(batch, refused))
        return self._steps.behind(batch, watch, refused)

    def ahead(self, batch: Batch) -> list[Decision]:
        """What is refused of a response before anything of it runs. Remembers nothing, and reads no result."""
        return [] if self._watch is None else self._steps.ahead(batch, self._watch)

    def _follow(self, following: Following, batch: Batch) -> Classifier | None:
        """Follow the observer's classifier over a response; the guard's own classifier if it cannot."""
        if self._following is None:
            if batch.index != following.first:
                # An agent that was forgotten meanwhile begins with nothing, as all guards do.
                following.leave()
                self._watch = Classifier(self._kinds)
                return self._watch
            self._following = following
        return self._own()

    def _own(self) -> Classifier | None:
        """The guard's own classifier, if what it followed ends here; else the next event is one of those."""
        following = self._following
        if following is None:
            return None
        if following.parted and self._seen == following.events:
            assert isinstance(following.follower, Steps)  # the policy's own :attr:`Policy.follower`
            self._steps = following.follower
            self._watch = following.own()
            self._following = None
            return self._watch
        self._seen += 1
        return None


_WORDS: Final = {Action.WARN: "notice", Action.BLOCK: "block", Action.STOP: "stop"}


def _decision(
    action: Action,
    rule: str,
    position: int,
    count: int,
    tool: str,
    loop: OpenStretch,
    skipped: int = 0,
    of: int = 0,
) -> Decision:
    details = {"kind": loop.due, "calls": list(loop.calls[-KEPT:]), "of": of or loop.evidence}
    return Decision(action, rule, position, count, _WORDS[action], tool, skipped, details)


_DID: Final = {
    **dict.fromkeys(("identical", "identical_drifting_output"), "gave the result of call {of}"),
    **dict.fromkeys(("ping_pong", "cycle", "compaction_redo"), "gave results that were known from call {of} on"),
    **dict.fromkeys(("same_error", "unknown_tool", "empty_args", "invalid_args", "denied"), "failed as call {of} did"),
    "constant_answer": "got the answer of call {of} to other questions",
    "re_read": "showed lines that were shown before, from call {of} on",
    "paging_wrap": "paged through what was shown before, from call {of} on",
    **dict.fromkeys(("re_edit", "edit_revert"), "made edits that were made before, from call {of} on"),
    "stale_wait": "waited for what has not moved since call {of}",
    "plan_rewrite": "rewrote the plan of call {of} with no work between",
}
"""What the calls of a loop did, by its kind; of kinds that come later: that they brought nothing."""


def numbered(calls: Sequence[int]) -> str:
    """Calls in words: ``calls 12 to 16``, ``calls 3 and 7``, ``9 calls from 12 to 30``."""
    if not calls:
        return "the last calls"
    first, last = calls[0], calls[-1]
    if len(calls) == 1:
        return f"call {first}"
    if last - first == len(calls) - 1 > 1:
        return f"calls {first} to {last}"
    if len(calls) <= LISTED:
        return f"calls {', '.join(map(str, calls[:-1]))} and {last}"
    return f"{len(calls)} calls from {first} to {last}"


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    details = decision.details or {}
    of = details.get("of") or 0
    if decision.rule == "known_result":
        return (
            f"Not run: this call would give the result of call {of} once more; nothing changed since. "
            "Change something first, ask for something new, or answer with what you have."
        )
    did = _DID.get(details.get("kind", ""), "brought nothing that was not known since call {of}")
    calls = numbered(details.get("calls", ()))
    what = f"{calls[:1].upper()}{calls[1:]} {did.format(of=of)}; nothing changed since."
    if decision.rule == "no_progress":
        return f"The turn ends here: {what} The notice about it was not heeded."
    return f"{what} Do not repeat them: change something, ask for something new, or say what you are missing."


POLICY = Policy(
    id="progress",
    title="progress",
    origin=Origin("loopaudit", "", "https://github.com/OWNER/loopaudit"),
    params=ProgressParams,
    start=ProgressGuard,
    rules={
        "nothing_new": "calls without news have become a loop, however the agent goes on",
        "known_result": "after the notice, the loop's known result would come once more, and nothing changed",
        "no_progress": "the calls after the notice brought nothing, or were refused",
    },
    message=message,
    actions=("warn", "block", "stop"),
    ideas=(
        "identical call and identical result",
        "repeated failures",
        "cycle or ping-pong",
        "no new information",
    ),
    needs={
        "results": "what a call brought cannot be seen",
        "success": "failures are known by their words only",
    },
    essential=frozenset({"results"}),
    follower=Steps,
    reads_text="results and commands",
)
