"""Classifies the calls of one agent one at a time, by what stands before them and by their own results.

This is the causal half of hindsight: nothing here looks ahead, so a guard at work may use it as
well as the observer of a replay (:class:`~loopaudit.hindsight.observer.Hindsight`), which adds
what only the end of a stretch or of the recording can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from loopaudit.core.events import Batch, Boundary, Call, Event, Turn
from loopaudit.core.findings import WAITING, Action, Decision, Episode
from loopaudit.core.tools import Kind
from loopaudit.hindsight.calls.effects import MAX_TOOLS, Natures, nature_of
from loopaudit.hindsight.calls.history import History
from loopaudit.hindsight.calls.outputs import Outputs
from loopaudit.hindsight.calls.requests import asks_to_go_on, is_guard_notice, plainly_asks, urges_on
from loopaudit.hindsight.episodes.plans import Plans
from loopaudit.hindsight.episodes.questions import Questions
from loopaudit.hindsight.episodes.tracker import Tracker
from loopaudit.hindsight.episodes.verdict import Stretch, StretchVerdict, due, kind_of, verdict
from loopaudit.hindsight.words import RECHECK, CallClass

MAX_EPISODES_KEPT: Final = 64
"""Closed episodes that a classifier by itself holds on to."""

PLAN_REWRITE: Final = "plan_rewrite"
"""The kind of loop that a plan is which is rewritten without work."""

MAX_MESSAGE: Final = 1024
"""Characters of a message by which the same one is known when it comes again."""


Message = Literal["go_on", "notice", "request"]
"""What a message in a person's place is."""


class Classified(Struct, frozen=True):
    """What one call brought.

    ``number`` is that of the call, ``found`` its class. ``evidence`` is the number of the earlier
    call that the class rests on (0: none), ``noise`` names what was left out of the comparison.
    """

    number: int
    found: CallClass
    evidence: int
    noise: tuple[str, ...]


class OpenStretch(Struct, frozen=True):
    """Calls without news that go on, as far as they are known.

    ``kind`` is a word of :data:`~loopaudit.hindsight.words.KINDS`, as the episode would be called
    if the agent moved on now; empty while there are too few calls for an episode. ``calls`` are the
    numbers of the calls that brought nothing, at most 512 of them, ``evidence`` the earlier call
    that the first of them repeats (0: none). ``repeats`` counts them once per response (where all have
    an excuse, such as a change that the same laps make again and again, those), ``news``
    the calls with news behind the last of them. ``unit`` are the repeated calls in a short form.
    ``due`` is the kind of loop of which a guard may give notice, and empty while there is nothing
    to give notice of; it may be there a few calls before ``kind``.
    """

    kind: str
    calls: tuple[int, ...]
    evidence: int
    repeats: int
    news: int
    unit: tuple[str, ...]
    laps: int
    due: str

    @property
    def is_loop(self) -> bool:
        """Whether it is a loop already, however the agent goes on, unless a repeated call brings news after all."""
        return self.kind not in ("", WAITING)


class Classifier:
    """Watches one agent. Feed it the agent's events in their order.

    ``kinds`` are tool kinds by recorded name that the user gave. State is bounded: exact within the
    last 2,048 distinct calls, 1 MiB of results.
    """

    __slots__ = (
        "_due", "_found", "_judged", "_keeps_plans", "_kind", "_message", "_outcome", "_state", "history", "plans",
        "questions", "tracker",
    )  # fmt: skip

    def __init__(
        self,
        kinds: Mapping[str, Kind] | None = None,
        *,
        history: History | None = None,
        tracker: Tracker | None = None,
        plans: Plans | None = None,
    ) -> None:
        """``history`` and ``tracker`` are for the observer, whose agents share a budget and a record.

        So are ``plans``, which the observer keeps itself, because it wants the episodes.
        """
        self._found: list[tuple[Episode, int]] = []
        self.history = history or History(Outputs(), natures(kinds))
        self.tracker = tracker or Tracker(self.history, "", "", self._found, _ignore)
        self.questions = Questions()
        self._keeps_plans = plans is None
        self.plans = plans or Plans()
        self._judged: Stretch | None = None
        """The stretch whose kind was asked for last, and its ``_state`` then."""
        self._state: tuple[int, ...] = ()
        self._kind = self._due = ""
        self._outcome: StretchVerdict | None = None
        self._message = ""
        """How the last message in a person's place began."""

    # -- events ----------------------------------------------------------------------------

    def observe(self, event: Event) -> list[Classified]:
        """Take the agent's next event; of a batch each call with its class, of anything else nothing."""
        if isinstance(event, Batch):
            return self.batch(event)
        if isinstance(event, Turn):
            self.turn(event)
        else:
            self.boundary(event)
        return []

    def batch(self, batch: Batch, skipped: Sequence[int] = ()) -> list[Classified]:
        """Classify the calls of one response; those at the ``skipped`` positions never ran."""
        classified: list[Classified] = []
        self.follow(batch, skipped, classified)
        return classified

    def follow(self, batch: Batch, skipped: Sequence[int] = (), into: list[Classified] | None = None) -> None:
        """The same for whoever asks for the stretch only, unless they go ``into`` a list."""
        history, tracker = self.history, self.tracker
        index = batch.index
        # Most calls bring news while no stretch is open: they can neither begin nor end one, and the tracker, whose
        # work is the dearer half, need not see them. Kept in a local because it is asked for each call.
        going_on = tracker.open is not None
        for position, call in enumerate(batch.calls):
            if skipped and position in skipped:
                continue
            found = history.classify(call, index)
            if into is not None:
                into.append(Classified(call.number, found, history.evidence, history.noise))
            if going_on or found >= RECHECK or history.constant:
                tracker.call(call, found, batch)
                going_on = tracker.open is not None
            if (self.plans.open or history.subject.nature.planning) and self.plans.call(history, found, batch):
                self._drop_plan()
        if not batch.calls:
            self.questions.reply(batch.text)
        if going_on:
            tracker.after_batch(batch)
        elif len(self._found) > MAX_EPISODES_KEPT:
            del self._found[:-MAX_EPISODES_KEPT]
        history.subject.release()  # its last call may be large, and nobody asks about it any more

    def turn(self, turn: Turn) -> Message:
        """A person's new message, and what it is: a word to go on and a guard's notice ask for nothing new."""
        before, self._message = self._message, turn.text[:MAX_MESSAGE]
        urged = before == self._message and urges_on(before)
        plain = plainly_asks(turn.text)
        if urged or (not plain and asks_to_go_on(turn.text)) or self.questions.consented_again(turn.text):
            return "go_on"  # what was known stays known
        if not plain and is_guard_notice(turn.text):
            self.tracker.guard_spoke()
            return "notice"
        self.tracker.turn()
        self.history.asked(turn.text)
        self._drop_plan()
        return "request"

    def boundary(self, boundary: Boundary) -> None:
        """A compaction, a resumption, an interruption or a notice of the harness's own guard."""
        kind = boundary.kind
        if kind == "compaction":
            self.history.compacted()
        elif kind in ("resume", "clear"):
            self.history.asked()
        elif kind == "interrupt":
            self.tracker.interrupted()
            self._drop_plan()
        elif kind == "recorded_guard":
            self.tracker.guard_spoke()

    def _drop_plan(self) -> None:
        """Something else than planning was done, or asked for."""
        if self._keeps_plans:
            self.plans.close("moved_on", "", "")

    # -- questions -------------------------------------------------------------------------

    @property
    def stretch(self) -> OpenStretch | None:
        """The calls without news that go on; ``None`` where the last call brought something and nothing goes on."""
        stretch = self.tracker.open
        due = self.due
        if due == PLAN_REWRITE:
            rewritten = self.plans.rewritten
            times = len(rewritten)
            return OpenStretch(PLAN_REWRITE, rewritten, self.plans.origin, times, 0, (), times, PLAN_REWRITE)
        if stretch is None:
            return None
        outcome = self._verdict(stretch)
        return OpenStretch(
            "" if outcome is None else outcome.kind,
            tuple(stretch.numbers),
            stretch.evidence,
            stretch.strong or stretch.weak,
            stretch.gap,
            () if outcome is None else tuple(outcome.unit),
            0 if outcome is None else outcome.laps,
            due,
        )

    @property
    def counted(self) -> tuple[tuple[int, int], int, int] | None:
        """Of :attr:`stretch`, at less cost: the ``evidence`` and the first of the ``calls``, ``repeats`` and ``news``.

        The first two tell which stretch it is; 0 where there is none.
        """
        stretch = self.tracker.open
        if self.due == PLAN_REWRITE:
            rewritten = self.plans.rewritten
            return (self.plans.origin, rewritten[0]), len(rewritten), 0
        if stretch is None:
            return None
        numbers = stretch.numbers
        return (stretch.evidence, numbers[0] if numbers else 0), stretch.strong or stretch.weak, stretch.gap

    @property
    def due(self) -> str:
        """What :attr:`stretch` says of a notice, at less cost."""
        stretch = self.tracker.open
        if stretch is not None:
            self._judge(stretch)
            if self._due:
                return self._due
        return PLAN_REWRITE if self.plans.rewritten else ""

    def expects(self, call: Call) -> int:
        """The earlier call whose result a call would get that has not run yet, or 0 if anything speaks for it.

        Only the earlier calls are looked at, never a result of this one, and nothing is
        remembered of the question. Waiting calls and retries of an outage are left alone: they are
        made because the answer changes by itself. So is a retry of what failed, if anything
        behind it brought news: that may be the cure.
        """
        history = self.history
        number = history.expected(call)
        if number and (history.subject.effect().waits or self._may_recover(history.failed)):
            number = 0
        history.subject.release()
        return number

    def _may_recover(self, failed: bool) -> bool:
        stretch = self.tracker.open
        if not failed or stretch is None:
            return False
        return stretch.gap > 0 or any(member.category == "outage" for member in stretch.members.values())

    def _judge(self, stretch: Stretch) -> None:
        """See what the stretch would be called if the agent moved on now; once for each state of it."""
        state = (stretch.strong, stretch.weak, stretch.novel, stretch.waited, stretch.gap)
        if stretch is not self._judged or state != self._state:
            self._judged, self._state, self._outcome = stretch, state, None
            self._kind = kind_of(stretch, "moved_on")
            self._due = due(stretch, self._kind)

    def _verdict(self, stretch: Stretch) -> StretchVerdict | None:
        """The verdict on a stretch that was judged just now."""
        if self._kind and self._outcome is None:
            self._outcome = verdict(stretch, "moved_on")
        return self._outcome

    # -- copies ----------------------------------------------------------------------------

    def fork(self) -> Classifier:
        """A copy with the same past that goes on by itself, with a budget of its own for results."""
        history, tracker = self.history, self.tracker
        found: list[tuple[Episode, int]] = []
        shared: dict[int, Any] = history.shared() | tracker.shared(found, _ignore)
        history, tracker = deepcopy((history, tracker), shared)
        forked = Classifier(history=history, tracker=tracker)
        forked.questions = deepcopy(self.questions)
        forked.plans = deepcopy(self.plans)
        forked._found = found
        forked._message = self._message
        return forked


class Follower(Protocol):
    """How a guard decides. While it refuses nothing, it sees what the observer sees, so that one classifier does."""

    enforced: bool
    """Whether what it refuses does not happen."""

    def ahead(self, batch: Batch, watch: Classifier) -> list[Decision]:
        """What is refused of a response, before the classifier has seen it. Nothing is remembered of the question."""

    def behind(self, batch: Batch, watch: Classifier, refused: list[Decision]) -> list[Decision]:
        """All that is decided on a response, once the classifier has seen what ran of it."""

    def turn(self) -> None:
        """A person wrote."""


class Following:
    """A guard that follows the classifier of an observer, for one agent, from its first loop on until they part.

    The observer is a block of events ahead of the guards, and so decides in the guard's place, with its
    ``follower``; the guard reads the ``decisions`` by the index of the response. ``events`` counts those of the
    agent that both have seen, the response ``first`` included: behind them the guard goes on by itself if they
    have parted.
    """

    __slots__ = ("_own", "_refused", "_watch", "decisions", "events", "first", "follower")

    def __init__(self, follower: Follower, watch: Classifier, first: int) -> None:
        self.follower = follower
        self.first = first
        self.decisions: dict[int, list[Decision]] = {}
        self.events = 0
        self._watch: Classifier | None = watch
        self._own: Classifier | None = None
        self._refused: list[Decision] = []

    @property
    def parted(self) -> bool:
        """Whether the observer's classifier is followed no longer."""
        return self._watch is None

    def part(self) -> None:
        """From now on something happens for one of them that does not for the other."""
        if self._watch is not None:
            self._own = self._watch.fork()
            self._watch = None

    def own(self) -> Classifier | None:
        """The classifier with which the guard goes on once they have parted; for the one that asks first."""
        own, self._own = self._own, None
        return own

    def leave(self) -> None:
        """Nobody reads this any longer."""
        self._watch = self._own = None
        self.decisions.clear()

    def before(self, batch: Batch) -> None:
        """The classifier is about to see a response."""
        if self._watch is not None:
            self._refused = self.follower.ahead(batch, self._watch)
            if self._refused and self.follower.enforced:
                self.part()  # what is refused did not happen for the guard, which decides on it once more

    def after(self, batch: Batch) -> None:
        """The classifier has seen the response."""
        if self._watch is None:
            return
        self.events += 1
        decisions = self.follower.behind(batch, self._watch, self._refused)
        if decisions:
            self.decisions[batch.index] = decisions
            if self.follower.enforced and any(decision.action == Action.STOP for decision in decisions):
                self.part()  # the guard sees nothing of the rest of the turn

    def turn(self) -> None:
        """A person wrote."""
        if self._watch is not None:
            self.events += 1
            self.follower.turn()

    def boundary(self) -> None:
        """Anything else happened."""
        self.events += self._watch is not None


class Handover:
    """Where the guards of one policy, one for each agent, follow what an observer classifies.

    What both see is classified once. A guard has nothing to say before its agent's first loop, and follows from there
    on. What it refuses did not happen for it, so that with its first refusal it has to go on by itself.
    """

    __slots__ = ("_enforced", "_follower", "_params", "followed")

    def __init__(self, follower: Callable[[Any, bool], Follower], params: Any, *, enforced: bool) -> None:
        """``follower`` makes one for each agent, of the parameters of the policy and of the mode."""
        self._follower = follower
        self._params = params
        self._enforced = enforced
        self.followed: dict[str, Following] = {}
        """By agent, of all that have come to a loop."""

    def begin(self, batch: Batch, watch: Classifier) -> Following:
        """The agent's first loop is one since this response."""
        following = self.followed[batch.agent] = Following(
            self._follower(self._params, self._enforced), watch, batch.index
        )
        following.after(batch)
        return following


_NATURES: Final = Natures()
"""What tool names tell by themselves: the same in every conversation."""


def natures(kinds: Mapping[str, Kind] | None) -> Natures:
    """What tool names tell, where the user gave the kinds of some."""
    if kinds:
        return Natures({name: nature_of(name, kind) for name, kind in kinds.items()})
    if len(_NATURES) >= MAX_TOOLS:
        _NATURES.clear()  # it takes up no others
    return _NATURES


def _ignore(numbers: list[int]) -> None:
    """Nobody keeps a record of waits."""
