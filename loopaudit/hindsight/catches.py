"""Puts firings and loops side by side: which policy caught what, when, and who missed it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

from loopaudit.core.findings import Action, Episode, Finding
from loopaudit.core.report import PolicyResult, TranscriptResult


def acts(finding: Finding) -> bool:
    """Whether a firing reached the model, the user or the call; observing alone does not."""
    return finding.action > Action.OBSERVE


def first_call(finding: Finding) -> int:
    """The number of the first call that a firing is about."""
    return finding.calls[0] if finding.whole_batch else finding.call


class Step(Struct, frozen=True):
    """The first time that a policy took an action inside a loop.

    ``late`` counts the calls from the first redundant one to this one, 0 for the same. In a loop without
    calls both are 0.
    """

    action: Action
    call: int
    late: int


class Caught(Struct):
    """What the policies did about one episode.

    ``number`` is its 1-based place in the transcript's list. ``steps`` has the policies that
    acted, each with its ever stronger actions; ``missed`` those that watched and did nothing;
    ``stopped`` those that had ended the turn before it began, with the call of that stop;
    ``unseen`` those that could not judge, with the reason.
    """

    episode: Episode
    number: int
    steps: dict[str, list[Step]] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    stopped: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)


class _Firings:
    """The acting firings of one policy and agent, by call."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        acting = [finding for finding in findings if acts(finding)]
        self._findings = sorted((f for f in acting if f.calls[1] > 0), key=lambda f: f.call)
        self._replies = [finding for finding in acting if not finding.calls[1] and finding.line]
        self._calls = [f.call for f in self._findings]
        self._widest = max((f.call - first_call(f) for f in self._findings), default=0)

    def in_episode(self, episode: Episode) -> Iterator[Finding]:
        """Those about any of its calls; of an episode without calls, those about replies on its lines."""
        if episode.first_call:
            return self.about(episode.first_call, episode.last_call)
        return (finding for finding in self._replies if 0 < episode.line <= finding.line <= episode.last_line)

    def about(self, first: int, last: int) -> Iterator[Finding]:
        """Those about any of the calls ``first`` to ``last``."""
        for i in range(bisect_left(self._calls, first), len(self._findings)):
            finding = self._findings[i]
            if finding.call - self._widest > last:
                return
            if first_call(finding) <= last:
                yield finding


def caught(result: TranscriptResult, *, enforced: bool) -> list[Caught]:
    """For each episode of a transcript, in order, what each policy did about it."""
    table = [Caught(episode, number) for number, episode in enumerate(result.episodes, 1)]
    for policy in result.policies:
        by_agent = {agent: _Firings(findings) for agent, findings in _by_agent(policy.findings).items()}
        stops = [f for f in policy.findings if f.action == Action.STOP] if enforced else []
        for entry in table:
            episode = entry.episode
            firings = by_agent.get(episode.agent)
            steps = _steps(episode, firings.in_episode(episode)) if firings else []
            if steps:
                entry.steps[policy.label] = steps
            else:
                _silent(entry, policy, stops)
    return table


def _by_agent(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    agents: dict[str, list[Finding]] = {}
    for finding in findings:
        agents.setdefault(finding.agent, []).append(finding)
    return agents


def _steps(episode: Episode, findings: Iterable[Finding]) -> list[Step]:
    steps: list[Step] = []
    for finding in findings:
        if not steps or finding.action > steps[-1].action:
            call = max(first_call(finding), episode.first_call)
            steps.append(Step(finding.action, call, call - episode.first_call))
    return steps


def _silent(entry: Caught, policy: PolicyResult, stops: Sequence[Finding]) -> None:
    """Say why a policy did nothing about an episode."""
    episode = entry.episode
    stop = next((f for f in stops if _ended_before(f, episode)), None)
    if policy.status == "cannot_evaluate":
        entry.unseen[policy.label] = "cannot evaluate"
    elif stop is not None:
        entry.stopped[policy.label] = stop.call
    elif policy.status == "crashed":
        entry.unseen[policy.label] = "crashed"
    elif policy.dropped and policy.findings and policy.findings[-1].call < episode.first_call:
        entry.unseen[policy.label] = "too many firings to keep"
    else:
        entry.missed.append(policy.label)


def _ended_before(stop: Finding, episode: Episode) -> bool:
    """Whether a stop ended the turn of an episode before it began."""
    return (
        episode.turn > 0
        and stop.turn == episode.turn
        and stop.agent == episode.agent
        and stop.call < episode.first_call
    )


def outside(result: TranscriptResult, policy: PolicyResult) -> list[Finding]:
    """Acting firings of a policy that are about no redundant call of any loop, in order."""
    inside: set[int] = set()
    by_agent = {agent: _Firings(findings) for agent, findings in _by_agent(policy.findings).items()}
    for episode in result.episodes:
        firings = by_agent.get(episode.agent)
        if firings and episode.is_loop:
            inside.update(id(f) for f in firings.in_episode(episode))
    return [f for f in policy.findings if acts(f) and id(f) not in inside]
