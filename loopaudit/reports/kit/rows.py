"""The values of the tables that reports show to people: worked out once, printed by each report in its own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from loopaudit.core.findings import Action, Finding
from loopaudit.core.report import Check, PolicyStatus, Report, TranscriptResult
from loopaudit.reports.kit import wording
from loopaudit.reports.kit.fold import Row, chosen, fold, merge
from loopaudit.reports.kit.policy_sums import firings_of, graded, loops_of, names_of


class RunFacts(Struct, frozen=True):
    """The run in numbers and words.

    ``mode`` is the word itself and ``mode_meaning`` its explanation, empty for an unknown word;
    ``tool_names`` and ``failures`` are explanations already. ``ignored`` are reasons with their
    counts, by name. ``loops`` is ``None`` where hindsight looked at no transcript.
    """

    mode: str
    mode_meaning: str
    tool_names: str
    failures: str
    ignored: Sequence[str]
    transcripts: int
    calls: int
    loops: int | None
    firings: int


def run_facts(report: Report) -> RunFacts:
    """What the head of a report says, and its last line."""
    transcripts = report.transcripts
    return RunFacts(
        mode=report.mode,
        mode_meaning=wording.MODES.get(report.mode, ""),
        tool_names=wording.TOOL_NAMES.get(report.tool_names, report.tool_names),
        failures=wording.FAILURE_LEVELS.get(report.failure_level, report.failure_level),
        ignored=[f"{reason} {count:,}" for reason, count in sorted(report.ignored.items())],
        transcripts=len(transcripts),
        calls=sum(t.counts.calls for t in transcripts),
        loops=sum(map(loops_of, transcripts)) if any(map(graded, transcripts)) else None,
        firings=sum(map(firings_of, transcripts)),
    )


class PolicyFirings(NamedTuple):
    """How often a policy fired on a transcript, and how far it could evaluate it."""

    firings: int
    status: PolicyStatus


class TranscriptRow(Struct, frozen=True):
    """A transcript in a table of them.

    ``calls`` and ``failed`` are ``None`` where they are not recorded, ``loops`` where hindsight
    was not asked. ``worst`` is the strongest action of any policy, ALLOW where none fired.
    ``by_policy`` has the policies by label, in their order. ``is_notable`` is true where there
    is more than counts.
    """

    name: str
    format: str
    calls: int | None
    failed: int | None
    loops: int | None
    firings: int
    worst: Action
    by_policy: Mapping[str, PolicyFirings]
    is_notable: bool


def transcript_rows(report: Report) -> list[TranscriptRow]:
    """A row for each transcript, in the order of the report."""
    return [_row(one, name) for one, name in zip(report.transcripts, names_of(report), strict=True)]


def _row(one: TranscriptResult, name: str) -> TranscriptRow:
    return TranscriptRow(
        name=name,
        format=one.format,
        calls=one.counts.calls,
        failed=one.counts.failures,
        loops=loops_of(one) if graded(one) else None,
        firings=firings_of(one),
        worst=worst(one),
        by_policy={p.label: PolicyFirings(p.firings, p.status) for p in one.policies},
        is_notable=is_notable(one),
    )


def first_rows(rows: Sequence[TranscriptRow], most: int) -> tuple[Sequence[TranscriptRow], Sequence[TranscriptRow]]:
    """The rows to show and those left out; notable ones come first where not all are shown."""
    if len(rows) > most:
        rows = sorted(rows, key=lambda row: not row.is_notable)
    return rows[:most], rows[most:]


def worst(transcript: TranscriptResult) -> Action:
    """The strongest action of any policy on a transcript."""
    return max((action for p in transcript.policies for action in p.by_action), default=Action.ALLOW)


def is_notable(transcript: TranscriptResult) -> bool:
    """Whether a transcript has more than counts: firings, loops, problems or a crash."""
    return bool(
        firings_of(transcript)
        or transcript.episodes
        or transcript.recorded
        or transcript.problem_counts
        or any(p.status == "crashed" for p in transcript.policies)
    )


class FiringRows(Struct, frozen=True):
    """The firings of a transcript, those of all policies and of its own guard in one list, repeats folded.

    ``shown`` are those rows of ``rows`` that there is room for. ``total`` counts the kept firings,
    ``left`` those in no shown row, and those that were not kept.
    """

    rows: Sequence[Row]
    shown: Sequence[Row]
    total: int
    left: int

    def first_messages(self, *, by_action: bool) -> list[Finding]:
        """The first firing with a message of each policy and rule, and with ``by_action`` of each action."""
        first: dict[tuple[object, ...], Finding] = {}
        for finding in (row.first for row in self.rows):
            if finding.message:
                key = (finding.policy, finding.rule, finding.action if by_action else None)
                first.setdefault(key, finding)
        return list(first.values())


def firing_rows(transcript: TranscriptResult, most: int) -> FiringRows:
    """The folded firings, of which at most ``most`` rows are shown."""
    rows = merge([*(fold(policy.findings) for policy in transcript.policies), fold(transcript.recorded)])
    shown, hidden = chosen(rows, most)
    dropped = sum(policy.dropped for policy in transcript.policies)
    return FiringRows(rows, shown, sum(row.times for row in rows), sum(row.times for row in hidden) + dropped)


def failed_checks(report: Report) -> list[Check]:
    """The failed checks without those of the baseline about firings and loops of today: these are entries already."""
    if report.gate is None:
        return []
    entries = ("new", "changed", "expired")
    return [check for check in report.gate.failed if check.kind != "baseline" or check.status not in entries]
