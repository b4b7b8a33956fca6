"""What of a transcript a report may hold: everything, everything but secrets, or only names and sizes.

A report is changed before it is rendered, so that this holds for every format, also for one from another
package. Names (paths, tools, policies, rules, sessions, agents, models), numbers, keys and fingerprints stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from enum import Enum
from operator import is_
from typing import Any, Final

from msgspec.structs import replace

from loopaudit.core import regex
from loopaudit.core.errors import UsageError, did_you_mean
from loopaudit.core.findings import Episode, Finding, Grade, Problem
from loopaudit.core.report import Check, FileProblem, GateResult, PolicyResult, Report, TranscriptResult
from loopaudit.core.secrets import mask


class Privacy(Enum):
    """How much of the transcripts is shown."""

    SHOWN = "shown"
    MASKED = "masked"
    HIDDEN = "hidden"


_ORDER: Final = tuple(Privacy)
"""From the one that shows most to the one that shows least."""

_NAME: Final = regex.lazy(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_QUOTED: Final = regex.lazy(
    r"'[^'\n]{1,4000}'|\"[^\"\n]{1,4000}\"|“[^”\n]{1,4000}”|`[^`\n]{1,4000}`|[{\[][^\n]{1,4000}"
)


def privacy_of(content: str) -> Privacy:
    """How much is shown, by its word.

    Raises:
        UsageError: it is none of ``shown``, ``masked`` and ``hidden``.
    """
    try:
        return Privacy(content)
    except ValueError:
        words = [privacy.value for privacy in Privacy]
        hint = did_you_mean(content, words)
        raise UsageError(f"content: {content!r} is none of {', '.join(words)}", hint=hint) from None


def protected(report: Report, privacy: Privacy) -> Report:
    """The report as it may be shown; the given one stays as it is. What it has lost already does not come back."""
    if _ORDER.index(privacy) <= _ORDER.index(Privacy(report.content)):
        return report
    return replace(_Protection(privacy is Privacy.HIDDEN).report(report), content=privacy.value)


def protected_finding(finding: Finding, privacy: Privacy) -> Finding:
    """One finding as it may be shown."""
    return finding if privacy is Privacy.SHOWN else _Protection(privacy is Privacy.HIDDEN).finding(finding)


class _Protection:
    """Changes the parts of one report. Loops repeat their texts, so each is looked at once."""

    def __init__(self, hides: bool) -> None:
        self._hides = hides
        self._masked: dict[str, str] = {}

    def _mask(self, text: str) -> str:
        known = self._masked.get(text)
        if known is None:
            known = self._masked[text] = mask(text)
        return known

    def _text(self, text: str) -> str:
        """A text of the transcript."""
        if not self._hides:
            return self._mask(text)
        return f"[{len(text):,} characters]" if text else ""

    def _words(self, text: str) -> str:
        """A sentence of ours, which may quote the transcript."""
        text = self._mask(text)
        return _QUOTED.sub(_size, text) if self._hides else text

    def _details(self, details: dict[str, Any] | None) -> dict[str, Any] | None:
        """What a policy adds: its own names, and values that may be of the transcript."""
        return None if details is None else {self._key(key): self._value(value) for key, value in details.items()}

    def _value(self, value: Any) -> Any:
        """A text, a number, or a list or map of values, whose names are texts as well."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self._value(key): self._value(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(inner) for inner in value]
        return value

    def _key(self, key: str) -> str:
        return key if _NAME.fullmatch(key) and self._mask(key) == key else self._text(key)

    def _each(self, items: list[str], change: Callable[[str], str]) -> list[str]:
        return [change(item) for item in items]

    # -- parts -----------------------------------------------------------------------------

    def report(self, report: Report) -> Report:
        """The whole report."""
        return replace(
            report,
            transcripts=[self._transcript(one) for one in report.transcripts],
            failures=[self._failure(one) for one in report.failures],
            internal=self._each(report.internal, self._words),
            gate=None if report.gate is None else self._gate(report.gate),
        )

    def _transcript(self, one: TranscriptResult) -> TranscriptResult:
        policies = [self._policy(policy) for policy in one.policies]
        if not (one.episodes or one.recorded or one.problems or one.notes) and all(map(is_, policies, one.policies)):
            return one  # as of most transcripts of a large run nothing can be changed
        return replace(
            one,
            policies=policies,
            episodes=[self._episode(episode, one.tools) for episode in one.episodes],
            recorded=[self.finding(finding) for finding in one.recorded],
            problems=[self._problem(problem) for problem in one.problems],
            notes=self._each(one.notes, self._words),
        )

    def _policy(self, policy: PolicyResult) -> PolicyResult:
        reasons = self._each(policy.reasons, self._words) if policy.reasons else policy.reasons
        if not policy.findings and reasons == policy.reasons:
            return policy
        return replace(
            policy,
            reasons=reasons,
            findings=[self.finding(finding) for finding in policy.findings],
        )

    def finding(self, finding: Finding) -> Finding:
        """A firing."""
        return replace(
            finding,
            arguments=self._text(finding.arguments),
            message=self._text(finding.message),
            result=self._text(finding.result),
            details=self._details(finding.details),
            grade=self._grade(finding.grade),
        )

    def _grade(self, grade: Grade | None) -> Grade | None:
        return None if grade is None else replace(grade, why=self._words(grade.why))

    def _episode(self, episode: Episode, tools: Collection[str]) -> Episode:
        """An episode; of a repeated call its tool stays in sight, and of a repeated reply nothing."""
        known = tools if episode.first_call else ()
        unit = [self._unit(call, known) for call in episode.unit]
        return episode if unit == episode.unit else replace(episode, unit=unit, key=episode.unit_key)

    def _unit(self, unit: str, tools: Collection[str]) -> str:
        name, _, rest = unit.partition(" ")
        if self._hides and name in tools:
            return f"{name} {self._text(rest)}".rstrip()
        return self._text(unit)

    def _problem(self, problem: Problem) -> Problem:
        return replace(problem, message=self._words(problem.message))

    def _failure(self, failure: FileProblem) -> FileProblem:
        return replace(
            failure,
            message=self._mask(failure.message),
            hint=None if failure.hint is None else self._mask(failure.hint),
            first_rows=self._each(failure.first_rows, self._words),
        )

    def _gate(self, gate: GateResult) -> GateResult:
        return replace(gate, checks=[self._check(check) for check in gate.checks])

    def _check(self, check: Check) -> Check:
        return replace(check, message=self._mask(check.message), reason=self._mask(check.reason))


def _size(match: re.Match[str]) -> str:
    return f"[{len(match.group()):,} characters]"
