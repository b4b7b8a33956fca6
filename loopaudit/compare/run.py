"""Replays policies over transcripts for comparing: one pass over the files, however many there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from loopaudit.audit.run import Work, add, begin, each
from loopaudit.audit.session import FileAudit
from loopaudit.audit.workers import ONE_PROCESS, Workers
from loopaudit.compare.comparison import Comparison
from loopaudit.compare.measure import measure
from loopaudit.compare.model import Scorecard
from loopaudit.compare.prices import Prices
from loopaudit.compare.step_limit import Null, null_policy
from loopaudit.config.options import Options
from loopaudit.core.errors import InputError
from loopaudit.core.report import TranscriptResult
from loopaudit.hindsight.labels import Labels, apply_labels, judge_of


class _Measuring(Struct, frozen=True):
    """Measures what was audited, in the process that audited it; without ``keep`` its transcripts are then let go."""

    labels: Labels | None
    prices: Prices | None
    keep: bool
    enforced: bool

    def __call__(self, audited: FileAudit) -> _Measured:
        done = _Measured(audited)
        chosen: list[TranscriptResult] = []
        for transcript in audited.transcripts:
            if self.labels is not None:
                entry = self.labels.find(transcript)
                if entry is None:
                    done.unlabelled.append(transcript.path)
                    continue
                done.used.append(entry)
                try:
                    apply_labels(transcript, self.labels.transcripts[entry])
                except InputError as error:
                    done.error = error
                    return done
            judge = judge_of(transcript)
            done.scorecards.append(measure(transcript, enforced=self.enforced, judge=judge, prices=self.prices))
            chosen.append(transcript)
        done.audited = replace(audited, transcripts=chosen if self.keep else [])
        return done


class _Measured(Struct):
    """One input, measured. ``used`` are the places of its labels; ``error`` says that they do not fit."""

    audited: FileAudit
    scorecards: list[Scorecard] = field(default_factory=list)
    unlabelled: list[str] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    error: InputError | None = None


def compare(
    paths: Iterable[str],
    options: Options,
    workers: Workers = ONE_PROCESS,
    *,
    labels: Labels | None = None,
    prices: Prices | None = None,
    keep: bool = True,
) -> Comparison:
    """Read and replay everything that ``paths`` name once, and measure all policies.

    Without ``keep`` no findings are held after a transcript was measured, which bounds the
    memory of a sweep over many variants.

    Raises:
        InputError: a path does not exist, or labels do not fit their transcript.
        UsageError: the engine is to read standard input.
    """
    options = replace(options, ledger=True)
    enforced = options.mode == "enforced"
    report, inputs = begin(paths, options, workers)
    scorecard = Scorecard()
    unlabelled: list[str] = []
    used: set[int] = set()
    for done in each(inputs, Work(options, _Measuring(labels, prices, keep, enforced)), workers):
        if done.error is not None:
            raise done.error
        for measured in done.scorecards:
            scorecard.absorb(measured)
        unlabelled += done.unlabelled
        used.update(done.used)
        add(report, done.audited)
    return Comparison(
        report=report,
        scorecard=scorecard,
        nulls=nulls(scorecard, [s.label for s in options.policies], enforced=enforced),
        judged_by="hindsight" if labels is None else "labels",
        unlabelled=unlabelled,
        unused_labels=[] if labels is None else [t.path for i, t in enumerate(labels.transcripts) if i not in used],
        currency=prices.currency if prices is not None else None,
    )


def nulls(scorecard: Scorecard, labels: Sequence[str], *, enforced: bool) -> dict[str, Null]:
    """The step limit beside each policy."""
    return {label: null_policy(label, scorecard.cases, enforced=enforced) for label in labels}
