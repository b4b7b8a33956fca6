"""Holds the firings of a report against one expectation."""

from __future__ import annotations

from collections.abc import Sequence

from loopaudit.core.findings import Finding
from loopaudit.core.report import TranscriptResult
from loopaudit.gate.expectations import Expectation, span
from loopaudit.hindsight.catches import acts, first_call


def matching(item: Expectation, results: Sequence[TranscriptResult]) -> list[tuple[TranscriptResult, Finding]]:
    """The firings of today that an expectation is about, in order."""
    chosen = results if item.conversation is None else results[item.conversation - 1 : item.conversation]
    return [
        (result, finding)
        for result in chosen
        for policy in result.policies
        if policy.label == item.policy
        for finding in policy.findings
        if fits(item, finding)
    ]


def fits(item: Expectation, finding: Finding) -> bool:
    """Whether a firing is of the expected action and rule, wherever it is."""
    if item.rule is not None and finding.rule != item.rule:
        return False
    if item.action is None:
        return True
    return finding.action >= item.action if item.never else finding.action == item.action


def noise_on_twin(item: Expectation, results: Sequence[TranscriptResult]) -> list[Finding]:
    """Firings of the policy on the healthy twin that are at least as strong as the expected one."""
    return [
        finding
        for result in results
        for policy in result.policies
        if policy.label == item.policy
        for finding in policy.findings
        if (finding.action >= item.action if item.action else acts(finding))
    ]


def shortfall(item: Expectation, found: Sequence[tuple[TranscriptResult, Finding]]) -> str | None:
    """Why a catch is not as expected, in words; ``None`` if it is."""
    if not found:
        return "it did not fire"
    result, finding = found[0]
    first, last = first_call(finding), finding.call
    if item.at is not None and not (first <= item.at[1] and last >= item.at[0]):
        return f"the first is at {place(finding)}"
    if item.max_redundant is not None:
        late = lateness(result, finding)
        if late > item.max_redundant:
            return f"it came after {late} redundant calls, at most {item.max_redundant} are allowed"
    if item.hindsight is not None:
        word = finding.grade.word if finding.grade is not None else "no grade"
        if word != item.hindsight:
            return f"hindsight says {word}, expected {item.hindsight}"
    return None


def place(finding: Finding) -> str:
    """Where a firing is, in words."""
    if not finding.call:
        return f"response {finding.batch}"
    return f"call {span(first_call(finding), finding.call)}" + (f" of {finding.agent}" if finding.agent else "")


def lateness(result: TranscriptResult, finding: Finding) -> int:
    """Calls from the first redundant one of the loop that a firing falls into; 0 outside any loop."""
    for episode in result.episodes:
        if (
            episode.is_loop
            and episode.agent == finding.agent
            and episode.first_call <= finding.call <= episode.last_call
        ):
            return max(0, first_call(finding) - episode.first_call)
    return 0
