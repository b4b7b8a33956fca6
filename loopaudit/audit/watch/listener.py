"""Takes what a reader reports while it reads, and gives out firings whenever it pauses.

A firing depends on the order of the records alone, never on when they came: the emitter hands
on a batch when the next event of its agent has begun, and at a pause nothing is handed on
that would not be handed on otherwise. So the firings of a watched transcript are, when it is
finished, those of a replay.

A guard that lacks something essential (results, say) is withdrawn by a replay at the end. Here its firings wait until
the recording has shown that it carries it.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopaudit.audit.engine import MAX_FINDINGS, Observer, Replay
from loopaudit.audit.session import Session
from loopaudit.audit.watch.notices import Firing, Notice
from loopaudit.config.options import Options
from loopaudit.core.counts import Totals, missing_needs
from loopaudit.core.events import Batch, Event
from loopaudit.core.findings import Finding, Problem, Problems
from loopaudit.core.report import PolicyResult
from loopaudit.policies.contract import Policy

Time = str | float | None


class _Times:
    """The recorded times of what the guards have not seen yet."""

    def __init__(self) -> None:
        self._calls: dict[int, Time] = {}
        self._places: dict[tuple[str, bool, int], Time] = {}

    def events(self, events: Sequence[Event]) -> None:
        """The next events of all agents."""
        for event in events:
            if isinstance(event, Batch):
                self._places[event.agent, True, event.index] = event.at
                for call in event.calls:
                    self._calls[call.number] = event.at if call.at is None else call.at
            else:
                self._places[event.agent, False, event.line] = event.at

    def of(self, finding: Finding, *, recorded: bool) -> Time:
        """The time of a finding's call, response or notice."""
        if recorded:
            return self._places.get((finding.agent, False, finding.line))
        if finding.call:
            return self._calls.get(finding.call)
        return self._places.get((finding.agent, True, finding.batch))

    def forget(self) -> None:
        """Forget all of them: the guards have seen everything."""
        self._calls.clear()
        self._places.clear()


class Listener(Session):
    """The conversations of one file, with their firings at every pause.

    ``name`` and ``shown`` may change meanwhile: files are renamed. ``calls`` counts those of all
    conversations.
    """

    def __init__(self, name: str, shown: str, format: str, options: Options, problems: Problems) -> None:
        super().__init__(options, problems)
        self.name = name
        self.shown = shown
        self.format = format
        self.calls = 0
        self._fired: list[Firing] = []
        self._notices: list[Notice] = []
        self._held: list[list[Firing]] = []
        self._crashed: set[str] = set()
        self._dropped: dict[str, int] = {}
        self._times = _Times()

    def _observers(self) -> Sequence[Observer]:
        self._times = _Times()
        self._held = [[] for _ in self.options.policies]
        self._dropped = {}
        return [self._times]

    def _ended(self, session: str, totals: Totals, replay: Replay) -> None:
        replay.flush()
        self._gather(replay, totals)
        for held, result in zip(self._held, replay.finish(totals), strict=True):
            if result.status == "cannot_evaluate" and held:
                why = "; ".join(result.reasons)
                self._note("note", f"{result.label} cannot evaluate this: {why}; firings not shown: {len(held):,}")
            elif held:
                self._fired += held
        self.calls += totals.calls

    # -- at a pause ------------------------------------------------------------------------

    def pause(self) -> None:
        """Let the guards see everything that is complete."""
        if self.replay is not None:
            self.replay.flush()
            self._gather(self.replay, self.emitter.totals)

    def take(self) -> tuple[list[Firing], list[Notice], list[Problem], int]:
        """What came since the last time: firings, notices, kept problems, and the number of damaged records."""
        fired, self._fired = self._fired, []
        notices, self._notices = self._notices, []
        problems = self.problems
        kept, damaged = problems.kept, problems.damaged
        problems.clear()
        return fired, notices, kept, damaged

    def _gather(self, replay: Replay, totals: Totals) -> None:
        """Take the new firings from the guards' results, in the order in which they happened."""
        lists: list[list[Firing]] = []
        lacks = missing_needs(totals) if totals.calls else None
        for index, result in enumerate(replay.results):
            fresh = [self._firing(finding, recorded=False) for finding in result.findings]
            result.findings.clear()
            self._watch_over(result)
            held = self._held[index]
            if _lacks_essential(self.options.policies[index].policy, lacks):
                held += fresh[: MAX_FINDINGS - len(held)]
            else:
                lists.append(held + fresh)
                held.clear()
        lists.append([self._firing(finding, recorded=True) for finding in self.recorded.findings])
        self.recorded.findings.clear()
        self._fired += _merged(lists)
        self._times.forget()

    def _firing(self, finding: Finding, *, recorded: bool) -> Firing:
        at = self._times.of(finding, recorded=recorded)
        return Firing(self.name, self.shown, self.format, finding, at, recorded)

    def _watch_over(self, result: PolicyResult) -> None:
        """Notify of a guard that crashed, and of firings that are only counted."""
        label = result.label
        if result.status == "crashed" and label not in self._crashed:
            self._crashed.add(label)
            self._note("crash", f"the policy {label} failed: {'; '.join(result.reasons)}")
        if result.dropped > self._dropped.get(label, 0):
            self._note("note", f"{label}: firings only counted: {result.dropped - self._dropped.get(label, 0):,}")
            self._dropped[label] = result.dropped

    def _note(self, kind: str, message: str) -> None:
        self._notices.append(Notice("crash" if kind == "crash" else "note", self.shown, message))


def _lacks_essential(policy: Policy, lacks: dict[str, str] | None) -> bool:
    """Whether the recording has not shown yet that it carries what the policy cannot do without."""
    if lacks is None:
        return bool(policy.essential)
    return any(need in lacks for need in policy.essential)


def _merged(lists: Sequence[Sequence[Firing]]) -> list[Firing]:
    """The firings of all policies by line, each policy's and agent's own in their order."""
    marked: list[tuple[int, Firing]] = []
    for firings in lists:
        last: dict[tuple[str, str], int] = {}
        for firing in firings:
            finding = firing.finding
            agent = (finding.session, finding.agent)
            last[agent] = line = max(last.get(agent, 0), finding.line)
            marked.append((line, firing))
    marked.sort(key=lambda item: item[0])
    return [firing for _, firing in marked]
