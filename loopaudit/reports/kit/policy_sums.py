"""Sums what policies did, over one transcript or over many, for tables in reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from loopaudit.core.counts import merge_counts
from loopaudit.core.findings import Action, Finding
from loopaudit.core.rejections import RejectionTable
from loopaudit.core.report import PolicyStatus, Report, TranscriptResult
from loopaudit.hindsight.catches import Caught, caught, outside


class Score(Struct):
    """What one policy did.

    ``evaluated`` counts the transcripts that it could evaluate at least in part, ``graded``
    those that hindsight looked at. ``loops`` were found where the policy could judge,
    ``caught`` of them it acted in, ``spared`` it had stopped the turn before. ``outside``
    firings are about no redundant call of any loop. ``good``, ``bad`` and ``open`` count the
    kept firings by the word of their grade; ``dropped`` firings were too many to be kept and
    have none. ``judged``, ``blocked`` and ``after_stop`` are calls. ``lacking`` counts the
    transcripts by status where it was not fully evaluated. ``rejections`` are its graded refusals.
    """

    label: str
    firings: int = 0
    by_action: dict[Action, int] = field(default_factory=dict)
    judged: int = 0
    blocked: int = 0
    after_stop: int = 0
    evaluated: int = 0
    graded: int = 0
    loops: int = 0
    caught: int = 0
    spared: int = 0
    outside: int = 0
    outside_graded: dict[str, int] = field(default_factory=dict)
    good: dict[str, int] = field(default_factory=dict)
    bad: dict[str, int] = field(default_factory=dict)
    open: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    lacking: dict[PolicyStatus, int] = field(default_factory=dict)
    rejections: RejectionTable = field(default_factory=RejectionTable)

    @property
    def avoided(self) -> int:
        """Calls that did not happen under it."""
        return self.blocked + self.after_stop

    @property
    def grade_sums(self) -> tuple[int, int, int]:
        """Numbers of good, wrong and undecided firings."""
        return sum(self.good.values()), sum(self.bad.values()), sum(self.open.values())


def scores(transcripts: Iterable[TranscriptResult], *, enforced: bool) -> list[Score]:
    """A score for each policy, summed over the transcripts, in the order of the policies."""
    return scores_from((one, caught(one, enforced=enforced)) for one in transcripts)


def scores_from(judged: Iterable[tuple[TranscriptResult, Sequence[Caught]]]) -> list[Score]:
    """The same of transcripts with what :func:`caught` says of each."""
    totals: dict[str, Score] = {}
    for transcript, table in judged:
        _loops(totals, transcript, table)
        for policy in transcript.policies:
            score = totals.setdefault(policy.label, Score(policy.label))
            score.firings += policy.firings
            merge_counts(score.by_action, policy.by_action)
            score.evaluated += policy.status != "cannot_evaluate"
            score.graded += graded(transcript)
            score.judged += policy.judged_calls
            score.blocked += policy.blocked_calls
            score.after_stop += policy.avoided_calls
            score.dropped += policy.dropped
            if policy.status != "evaluated":
                score.lacking[policy.status] = score.lacking.get(policy.status, 0) + 1
            _grades(score, policy.findings)
            score.rejections.take(policy.findings)
            stray = outside(transcript, policy)
            score.outside += len(stray)
            for finding in stray:
                if finding.grade is not None:
                    merge_counts(score.outside_graded, {finding.grade.word: 1})
    return list(totals.values())


def _loops(totals: dict[str, Score], transcript: TranscriptResult, table: Sequence[Caught]) -> None:
    for entry in table:
        if not entry.episode.is_loop:
            continue
        for policy in transcript.policies:
            label = policy.label
            score = totals.setdefault(label, Score(label))
            score.loops += label not in entry.unseen
            score.caught += label in entry.steps
            score.spared += label in entry.stopped


def _grades(score: Score, findings: Iterable[Finding]) -> None:
    for finding in findings:
        grade = finding.grade
        if grade is not None:
            counts = score.open if grade.good is None else score.good if grade.good else score.bad
            counts[grade.word] = counts.get(grade.word, 0) + 1


def graded(transcript: TranscriptResult) -> bool:
    """Whether hindsight looked at a transcript: then every call has a class, unless none of its calls was read."""
    return bool(transcript.classes or transcript.episodes or not (transcript.counts.calls or transcript.unread))


def loops_of(transcript: TranscriptResult) -> int:
    """How many loops hindsight found in a transcript."""
    return sum(episode.is_loop for episode in transcript.episodes)


def firings_of(transcript: TranscriptResult) -> int:
    """How many firings all policies together have on a transcript."""
    return sum(policy.firings for policy in transcript.policies)


def names_of(report: Report) -> Sequence[str]:
    """A name for each transcript: its path, with the session where a file has several."""
    seen: dict[str, int] = {}
    for transcript in report.transcripts:
        seen[transcript.path] = seen.get(transcript.path, 0) + 1
    return [f"{t.path} · {t.session or 'no session'}" if seen[t.path] > 1 else t.path for t in report.transcripts]
