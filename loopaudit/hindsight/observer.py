"""Hindsight: watches a conversation, and knows afterwards what every call brought.

:class:`Hindsight` is an observer of the replay. It sees the events of all agents, keeps a
history per agent, and independent of any policy gives each call a class, finds the episodes
without news, and grades the firings of guards by them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from loopaudit.core.events import Batch, Boundary, Event, Result, Turn
from loopaudit.core.failure_words import says_failure
from loopaudit.core.findings import Episode, Finding, Grade
from loopaudit.core.report import CallRecord, TranscriptResult
from loopaudit.core.tools import Kind
from loopaudit.hindsight.calls.history import History
from loopaudit.hindsight.calls.outputs import Outputs, head_of
from loopaudit.hindsight.calls.subject import MAY_BRING_NOTHING, Subject
from loopaudit.hindsight.classifier import Classifier, Following, Handover, natures
from loopaudit.hindsight.episodes import compactions, replies
from loopaudit.hindsight.episodes.delegations import Delegations
from loopaudit.hindsight.episodes.rounds import Rounds
from loopaudit.hindsight.episodes.tracker import Tracker
from loopaudit.hindsight.grades import Grader, grade_all
from loopaudit.hindsight.record import FAILED, FAILED_ANEW, PROGRESS, Lane, Record
from loopaudit.hindsight.shell.programs import EFFECT_CHECKS
from loopaudit.hindsight.words import CLASSES, FIRST, INFORMATIVE, RECHECK, RECOVERED, REDUNDANT, CallClass

MAX_AGENTS: Final = 1024
"""Agents of one conversation whose past is remembered at the same time."""

MAX_EPISODES: Final = 10_000
"""Episodes kept per conversation."""

MAX_TALK: Final = 16
"""Events without a call that are held until it is known whether one follows."""

ENOUGH: Final = min(replies.NEED, compactions.NEED)
"""Replies and boundaries of which the last one may still not end, or be, a loop."""

_IDLE: Final = bytes(value >= REDUNDANT for value in range(256))
"""Translates classes to whether a call was idle."""

_NEWS: Final = frozenset({FIRST, INFORMATIVE, RECOVERED})


_CHECKS: Final = (
    "test",
    "lint",
    "check",
    "spec",
    "tsc",
    "mypy",
    "vet",
    "ruff",
    "pyright",
    "clippy",
    "jest",
    "tox",
    "flake",
)
"""What the command of a check holds; spares reading most others."""


def is_check(subject: Subject) -> bool:
    """Whether a call is a command that runs tests, a linter or a type checker."""
    command = subject.command
    if subject.kind != "shell" or command is None:
        return False
    for word in _CHECKS:
        if word in command:
            return subject.effect().effect == EFFECT_CHECKS
    return False


def is_mere_talk(events: Sequence[Event]) -> bool:
    """Whether one agent has so far called no tool, and not done often enough what without calls may be a loop.

    Nothing can be found in that, nor has anybody to follow it; a fifth of all conversations is no more.
    """
    if len(events) > MAX_TALK:
        return False
    others = 0
    for event in events:
        if not isinstance(event, Turn):
            others += 1
            if others > ENOUGH or (isinstance(event, Batch) and event.calls):
                return False
        if event.agent != events[0].agent:
            return False
    return True


class _Agent(Classifier):
    """One agent's classifier, other rounds and lane.

    ``watched``: guards wait for its first loop. ``followed`` has those that follow it since then.
    """

    __slots__ = ("followed", "lane", "rounds", "watched")

    def __init__(self, history: History, tracker: Tracker, rounds: Rounds, lane: Lane) -> None:
        super().__init__(history=history, tracker=tracker, plans=rounds.plans)
        self.rounds = rounds
        self.lane = lane
        self.watched = False
        self.followed: list[Following] = []

    def close(self, ended: str) -> None:
        """End what goes on."""
        self.tracker.close(ended)
        self.rounds.close(ended)


class Hindsight:
    """Observes one conversation. Feed it every event, then take :meth:`finish`."""

    def __init__(
        self,
        kinds: Mapping[str, Kind] | None = None,
        knows_success: Callable[[], bool] | None = None,
        handovers: Sequence[Handover] = (),
    ) -> None:
        """``kinds`` are tool kinds by recorded name that the user gave. Guards follow by the ``handovers``.

        ``knows_success`` is whether the recording is known so far to distinguish failures from successes;
        without it that is taken for granted.
        """
        self._handovers = handovers
        self._knows_success = knows_success
        self._silent = knows_success is not None
        """Whether nothing so far shows that the recording marks failures."""
        self._known = False
        """Whether it is known to mark them by what was read before these events."""
        self._outputs = Outputs()
        self._natures = natures(kinds)
        self._agents: dict[str, _Agent] = {}
        self._held: list[Event] = []
        """What has happened, while that is too little to look at it."""
        self._record = Record()
        self._found: list[tuple[Episode, int]] = []
        self._rounds: list[tuple[Episode, int]] = []
        """Loops that are no repeated calls."""
        self._delegations = Delegations()

    def events(self, events: Sequence[Event]) -> None:
        """The next events of all agents, in their order."""
        agents = self._agents
        if not agents:
            if self._held:
                events = [*self._held, *events]
            if is_mere_talk(events):
                self._held = [*events]
                return
            self._held = []
        if self._silent and self._knows_success is not None:
            self._known = self._knows_success()  # the same for all of them, which were read before
        for event in events:
            agent = agents.get(event.agent)
            if agent is None:
                agent = self._meet(event)
            if isinstance(event, Batch):
                if agent.followed:
                    self._followed(agent, event)
                else:
                    self._batch(agent, event)
            elif isinstance(event, Turn):
                self._turn(agent, event)
            else:
                self._boundary(agent, event)

    def _meet(self, event: Event) -> _Agent:
        """An agent that was not seen before, or was forgotten."""
        self._make_room()
        history = History(self._outputs, self._natures)
        tracker = Tracker(history, event.session, event.agent, self._found, self._record.wait)
        rounds = Rounds(history, event.session, event.agent, self._rounds)
        agent = self._agents[event.agent] = _Agent(history, tracker, rounds, self._record.lane(event.agent))
        # All guards begin to follow an agent with the same response.
        agent.watched = bool(self._handovers) and event.agent not in self._handovers[0].followed
        return agent

    def _make_room(self) -> None:
        """Forget the agent that came first, where there are very many; its calls keep their classes."""
        if len(self._agents) >= MAX_AGENTS:
            first = next((name for name in self._agents if name), "")
            agent = self._agents.pop(first)
            for following in agent.followed:
                following.part()
            agent.close("run_ended")

    def _followed(self, agent: _Agent, batch: Batch) -> None:
        """A response of an agent that guards follow: they decide in step."""
        for following in agent.followed:
            following.before(batch)
        self._batch(agent, batch)
        for following in agent.followed:
            following.after(batch)
        agent.followed = [following for following in agent.followed if not following.parted]

    def _batch(self, agent: _Agent, batch: Batch) -> None:
        history, tracker, record, rounds = agent.history, agent.tracker, self._record, agent.rounds
        if not batch.calls:
            rounds.reply(batch)
            agent.questions.reply(batch.text)
            if tracker.open is None:
                return
        numbers = agent.lane.numbers
        index = batch.index
        going_on = tracker.open is not None
        subject = history.subject
        classes, marks = record.classes, record.flags
        for call in batch.calls:
            found = history.classify(call, index)
            result = call.result
            if self._silent and result is not None:
                self._silent = not (history.failed or self._marks_failures(result))
            kind = subject.kind
            if history.failed or (result is not None and result.failed):
                flags = FAILED
                if found in _NEWS and is_check(subject):
                    flags = FAILED | FAILED_ANEW
            elif found in _NEWS:
                flags = 0 if kind in MAY_BRING_NOTHING and subject.brings_nothing() else PROGRESS
            else:
                flags = 0
            if kind == "finish" and not found.idle and not flags & FAILED:
                flags |= PROGRESS  # to end the work is to get on, even if no result is recorded
            number = call.number
            numbers.append(number)
            if number - len(classes) == 1:
                classes.append(found)  # as the record itself adds it; nearly every call is the next one
                marks.append(flags)
            else:
                record.add(number, found, flags)
            evidence = history.evidence
            if evidence:
                record.explain(number, evidence, history.noise)
            if going_on or found >= RECHECK or history.constant:
                tracker.call(call, found, batch)
                going_on = tracker.open is not None
            nature = subject.nature
            if rounds.open or nature.planning:
                rounds.call(call, found, batch)
            if nature.delegates:
                self._delegations.note(call, batch, history.turn, subject.arguments())
        if going_on:
            tracker.after_batch(batch)
        if agent.watched and (going_on or rounds.open) and agent.due:
            agent.watched = False
            followed = [handover.begin(batch, agent) for handover in self._handovers]
            agent.followed = [following for following in followed if not following.parted]
        if batch.agent:
            subject.release()  # the main agent may hold on to its last call, many others may not

    def _marks_failures(self, result: Result) -> bool:
        """Whether a result, or what is known of its recording, shows that failures can be seen in it."""
        if result.level is not None or result.exit_code is not None or result.status != "ok":
            return True
        source = result.source
        return self._known or says_failure(source if isinstance(source, str) else head_of(source))

    def _turn(self, agent: _Agent, turn: Turn) -> None:
        if agent.lane.numbers:
            agent.lane.turns.append(len(agent.lane.numbers))
        for following in agent.followed:
            following.turn()
        what = agent.turn(turn)
        if what == "notice":
            agent.rounds.guard_spoke()
        elif what == "request":
            self._delegations.turns += not turn.agent
            agent.rounds.turn(turn.text)

    @staticmethod
    def _boundary(agent: _Agent, boundary: Boundary) -> None:
        for following in agent.followed:
            following.boundary()
        agent.boundary(boundary)
        kind = boundary.kind
        if kind == "compaction":
            agent.rounds.compacted(boundary)
        elif kind == "interrupt":
            agent.rounds.close("interrupted")
        elif kind == "recorded_guard":
            agent.rounds.guard_spoke()

    def finish(self) -> HindsightResult:
        """Close what goes on and give the result."""
        if not self._agents:
            if self._held:
                self._record.lane(self._held[0].agent)
            return HindsightResult(self._record, [])
        for agent in self._agents.values():
            agent.close("run_ended")
            agent.followed.clear()  # they refer to the agent: without the cycle, the collector has nothing to find
        found = self._found
        if found:
            found.sort(key=lambda pair: (pair[0].first_call, pair[0].agent))
            del found[MAX_EPISODES:]
        if self._silent:
            self._record.mark_failures_unknown()
        rounds = self._delegations.episodes(self._record)
        if self._rounds:
            rounds = [*(episode for episode, _ in self._rounds[:MAX_EPISODES]), *rounds]
        if rounds:
            found += [(episode, 0) for episode in _apart(rounds, [episode for episode, _ in found])]
            found.sort(key=lambda pair: (pair[0].first_call, pair[0].agent, pair[0].line))
        return HindsightResult(self._record, found)


def _apart(rounds: Sequence[Episode], found: Sequence[Episode]) -> list[Episode]:
    """Those of the first that hold no call of the second, which tell more.

    ``found`` are in order, and those of one agent do not overlap.
    """
    by_agent: dict[str, list[Episode]] = {}
    for episode in found:
        by_agent.setdefault(episode.agent, []).append(episode)
    apart = []
    for episode in rounds:
        others = by_agent.get(episode.agent, [])
        before = bisect_right(others, episode.last_call, key=lambda other: other.first_call) - 1
        if not episode.first_call or before < 0 or others[before].last_call < episode.first_call:
            apart.append(episode)
    return apart


class HindsightResult:
    """What hindsight knows of a conversation. Calls are named by their numbers."""

    def __init__(self, record: Record, found: list[tuple[Episode, int]]) -> None:
        self._record = record
        self.episodes = [episode for episode, _ in found]
        self._fixes = {by: place for place, (_, by) in enumerate(found) if by}
        self._made: Grader | None = None

    @classmethod
    def of(cls, data: CallRecord, episodes: Sequence[Episode]) -> HindsightResult:
        """What hindsight knew when it made the data. ``episodes`` are those of the transcript, in order."""
        ended = {place: call for call, place in data.fixes.items()}
        return cls(Record.unpack(data), [(episode, ended.get(place, 0)) for place, episode in enumerate(episodes)])

    @property
    def _grader(self) -> Grader:
        """Made when the first firing is graded; on most conversations there is none."""
        if self._made is None:
            fixes = {by: self.episodes[place] for by, place in self._fixes.items()}
            self._made = Grader(self._record, self.episodes, fixes)
        return self._made

    @property
    def counts(self) -> dict[str, int]:
        """How many calls have each class, by its word."""
        return self._record.counts()

    @property
    def loops(self) -> list[Episode]:
        """The episodes that are loops: all but waits within their budget."""
        return [episode for episode in self.episodes if episode.is_loop]

    def class_of(self, number: int) -> CallClass:
        """The class of a call."""
        return self._record.class_of(number)

    def evidence_of(self, number: int) -> tuple[int, ...]:
        """The earlier call that the class of a call rests on, if there is one."""
        return self._record.evidence_of(number)

    def noise_of(self, number: int) -> tuple[str, ...]:
        """The names of the noise that was left out to find a call redundant."""
        return self._record.noise.get(number, ())

    def grade(self, finding: Finding) -> Grade:
        """The grade of a firing on this conversation."""
        return self._grader.grade(finding)

    def false_rejection(self, finding: Finding) -> bool | None:
        """Whether a firing refused a call that succeeded on this conversation and brought something."""
        return self._grader.false_rejection(finding)

    def apply(self, result: TranscriptResult) -> None:
        """Put episodes, classes and grades into the result of a transcript."""
        result.episodes = self.episodes
        result.classes = self.counts
        grade_all(result, self)
        if result.ledger is not None:
            result.ledger.idle = bytes(self._record.classes.translate(_IDLE))
            result.ledger.record = self.data()

    def data(self) -> CallRecord:
        """What is known of each call, as plain data; with the episodes it makes the same opinion again."""
        return self._record.pack(self._fixes)

    def why(self, number: int) -> str:
        """What a call brought, in a sentence."""
        found = self.class_of(number)
        evidence = self.evidence_of(number)
        earlier = f" (see call {evidence[0]})" if evidence else ""
        noise = self.noise_of(number)
        left_out = f"; left out as noise: {', '.join(noise)}" if noise else ""
        return f"{found.word.replace('_', ' ')}: {CLASSES[found]}{earlier}{left_out}"
