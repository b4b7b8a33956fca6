"""Replays policies over transcripts for comparing: one pass over the files, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import IO

from loopaudit.audit import FileAudit, Options, add, audit_input, new_report
from loopaudit.discover import Found, Input, discover
from loopaudit.labelled import apply_labels
from loopaudit.labels import Labels
from loopaudit.report import TranscriptResult
from loopaudit.scorecard.comparison import Comparison
from loopaudit.scorecard.measure import measure
from loopaudit.scorecard.model import Scorecard
from loopaudit.scorecard.null import Null, null_policy
from loopaudit.scorecard.prices import Prices


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
) -> Comparison:
    """Read and replay everything that ``paths`` name once, and measure all policies.

    Without ``keep`` no findings are held after a transcript was measured, which bounds the
    memory of a sweep over many variants.

    Raises:
        InputError: a path does not exist, or labels do not fit their transcript.
    """
    options = replace(options, ledger=True)
    enforced = options.mode == "enforced"
    found = discover(paths)
    on_progress = on_found(found) if on_found is not None else None
    report = new_report(options)
    report.ignored = found.ignored
    scorecard = Scorecard()
    unlabelled: list[str] = []
    used: set[int] = set()
    for item in found.inputs:
        result = audit_input(item, options, stream=stream, on_progress=on_progress)
        chosen: list[TranscriptResult] = []
        for transcript in result.transcripts:
            if labels is not None:
                entry = labels.find(transcript)
                if entry is None:
                    unlabelled.append(transcript.path)
                    continue
                used.add(entry)
                apply_labels(transcript, labels.transcripts[entry])
            scorecard.absorb(measure(transcript, enforced=enforced, prices=prices))
            chosen.append(transcript)
        add(report, FileAudit(chosen if keep else [], result.failure, result.ignored))
        if on_file is not None:
            on_file(item, result)
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
