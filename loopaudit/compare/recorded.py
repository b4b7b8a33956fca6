"""Replay beside recording: firings of the recorded guard, and policies that agree with them or not.

A recorded notice stands behind the call that set it off, or before the next one, and hosts
differ in that. So a replayed intervention *meets* a recorded one if it is of the same agent
and about a call at most :data:`NEAR` calls away from the last call before the notice.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from loopaudit.compare.model import Met, Place, Scorecard
from loopaudit.core.findings import Finding
from loopaudit.core.report import TranscriptResult
from loopaudit.hindsight.catches import acts, first_call

NEAR = 2
"""Calls between a recorded notice and a replayed firing that still count as the same."""


def meet(made: Scorecard, result: TranscriptResult) -> None:
    """Count for each policy where it agrees with the recording, and keep the places where not."""
    recorded = result.recorded
    if not recorded:
        return
    known = _by_agent(recorded)
    for policy in result.policies:
        if policy.status == "cannot_evaluate":
            continue
        met = Met(transcripts=1)
        fired = [finding for finding in policy.findings if acts(finding) and finding.call]
        replayed = _by_agent(fired)
        for notice in recorded:
            if _near(notice, replayed):
                met.both += 1
            else:
                met.only_recorded += 1
                made.apart.append(_place(policy.label, notice, result, "only recorded", notice.own_word))
        for finding in fired:
            if not _near(finding, known):
                met.only_replayed += 1
                made.apart.append(_place(policy.label, finding, result, "only replayed", finding.rule))
        made.cards[policy.label].met = met


def _by_agent(findings: list[Finding]) -> dict[str, list[int]]:
    """For each agent the calls that its findings are about, sorted."""
    calls: dict[str, list[int]] = {}
    for finding in findings:
        calls.setdefault(finding.agent, []).extend(
            range(max(first_call(finding), finding.call - 255), finding.call + 1)
        )
    return {agent: sorted(numbers) for agent, numbers in calls.items()}


def _near(finding: Finding, others: dict[str, list[int]]) -> bool:
    calls = others.get(finding.agent, [])
    return bisect_left(calls, first_call(finding) - NEAR) < bisect_right(calls, finding.call + NEAR)


def _place(label: str, finding: Finding, result: TranscriptResult, word: str, why: str) -> Place:
    return Place(
        label=label,
        path=result.path,
        session=result.session,
        agent=finding.agent,
        first=first_call(finding),
        last=finding.call,
        line=finding.line,
        word=word,
        why=why,
        action=finding.action,
    )
