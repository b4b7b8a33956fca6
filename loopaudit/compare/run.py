"""Replays policies over transcripts for comparing: one pass over the files, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING

from loopaudit.audit.inputs.discover import discover
from loopaudit.audit.inputs.model import Found, Input
from loopaudit.audit.one import audit_input
from loopaudit.audit.run import add, each, engine_for, new_report
from loopaudit.audit.session import FileAudit
from loopaudit.compare.comparison import Comparison
from loopaudit.compare.measure import measure
from loopaudit.compare.model import Scorecard
from loopaudit.compare.prices import Prices
from loopaudit.compare.step_limit import Null, null_policy
from loopaudit.config.options import Options
from loopaudit.core.errors import InputError
from loopaudit.core.report import TranscriptResult
from loopaudit.hindsight.labels import Labels, apply_labels, judge_of

if TYPE_CHECKING:
    from loopaudit.audit.cache.cache import Cache
    from loopaudit.audit.pool import Engine


@dataclass(frozen=True, slots=True)
class _Work:
    """What is done with each input: audit, labels, measuring. Pickled for other processes."""

    options: Options
    labels: Labels | None
    prices: Prices | None
    keep: bool

    def __call__(self, item: Input) -> _Done:
        return self.measured(audit_input(item, self.options))

    def measured(self, audited: FileAudit) -> _Done:
        """Measure what was audited; without ``keep`` its transcripts are then let go."""
        done = _Done(audited)
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
            enforced, judge = self.options.mode == "enforced", judge_of(transcript)
            done.scorecards.append(measure(transcript, enforced=enforced, judge=judge, prices=self.prices))
            chosen.append(transcript)
        done.audited = replace(audited, transcripts=chosen if self.keep else [])
        return done


@dataclass(slots=True)
class _Done:
    """One input, measured. ``used`` are the places of its labels; ``error`` says that they do not fit."""

    audited: FileAudit
    scorecards: list[Scorecard] = field(default_factory=list)
    unlabelled: list[str] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    error: InputError | None = None


def compare(
    paths: Iterable[str],
    options: Options,
    *,
    labels: Labels | None = None,
    prices: Prices | None = None,
    keep: bool = True,
    stream: IO[bytes] | None = None,
    on_file: Callable[[Input, FileAudit], None] | None = None,
    on_found: Callable[[Found], Callable[[int], None] | None] | None = None,
    jobs: int | None = 1,
    engine: Engine | None = None,
    cache: Cache | None = None,
) -> Comparison:
    """Read and replay everything that ``paths`` name once, and measure all policies.

    Without ``keep`` no findings are held after a transcript was measured, which bounds the
    memory of a sweep over many variants. ``jobs``, ``engine`` and ``cache`` are as for
    :func:`loopaudit.audit.run.audit`.

    Raises:
        InputError: a path does not exist, or labels do not fit their transcript.
        UsageError: the engine is to read standard input.
    """
    options = replace(options, ledger=True)
    found = discover(paths, options.columns)
    on_progress = on_found(found) if on_found is not None else None
    report = new_report(options)
    report.ignored = found.ignored
    scorecard = Scorecard()
    unlabelled: list[str] = []
    used: set[int] = set()
    work = _Work(options, labels, prices, keep)
    results = cache.results(options, found.inputs) if cache is not None else None
    finished: Iterator[_Done]
    if results is not None:
        # Kept is what was found, not what was measured: that takes little, and labels change it.
        audited = each(
            found.inputs, options, jobs, engine, results, stream=stream, on_file=on_file, on_progress=on_progress
        )
        finished = map(work.measured, audited)
    else:
        finished = _all(found, work, engine_for(found, jobs, engine), stream, on_file, on_progress)
    for done in finished:
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
        nulls=nulls(scorecard, [s.label for s in options.policies], enforced=options.mode == "enforced"),
        judged_by="hindsight" if labels is None else "labels",
        unlabelled=unlabelled,
        unused_labels=[] if labels is None else [t.path for i, t in enumerate(labels.transcripts) if i not in used],
        currency=prices.currency if prices is not None else None,
    )


def _all(
    found: Found,
    work: _Work,
    engine: Engine | None,
    stream: IO[bytes] | None,
    on_file: Callable[[Input, FileAudit], None] | None,
    on_progress: Callable[[int], None] | None,
) -> Iterator[_Done]:
    """Every input measured, in order, whoever works on them."""
    if engine is not None:

        def told(item: Input, done: _Done) -> None:
            if on_file is not None:
                on_file(item, done.audited)

        yield from engine(found.inputs, work, _Done, told)
        return
    for item in found.inputs:
        audited = audit_input(item, work.options, stream=stream, on_progress=on_progress)
        yield work.measured(audited)
        if on_file is not None:
            on_file(item, audited)


def nulls(scorecard: Scorecard, labels: Sequence[str], *, enforced: bool) -> dict[str, Null]:
    """The step limit beside each policy."""
    return {label: null_policy(label, scorecard.cases, enforced=enforced) for label in labels}
