"""``loopaudit check`` and ``baseline`` without their command lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from loopaudit.audit.run import audit
from loopaudit.audit.workers import ONE_PROCESS, Workers
from loopaudit.config.file import Config
from loopaudit.config.options import Options
from loopaudit.core.findings import LOOPS
from loopaudit.core.report import Report
from loopaudit.gate import baseline_file as baselines
from loopaudit.gate.baseline_file import AcceptedIssue, Baseline
from loopaudit.gate.baseline_hold import scope, seen
from loopaudit.gate.baseline_match import update
from loopaudit.gate.decide import decide
from loopaudit.gate.inputs import Inputs, collect, missing, names_in


def check(
    paths: Sequence[str], options: Options, config: Config, inputs: Inputs, workers: Workers = ONE_PROCESS
) -> Report:
    """Replay everything, and put the decision of the gate into the report.

    Raises:
        InputError: a path does not exist.
        UsageError: expectations are missing or wrong.
    """
    collect(inputs, paths, config, options)
    report = audit(inputs.paths, options, workers)
    inputs.settle(report)
    report.gate = decide(report, inputs)
    return report


class Renewal(Struct, frozen=True):
    """A new baseline: its text, the entries before and after, and whether the file existed."""

    old: Baseline
    entries: list[AcceptedIssue]
    text: str
    existed: bool


def renew(
    path: Path,
    report: Report,
    today: date,
    *,
    prune: bool = False,
    selected: Sequence[str] | None = None,
    reason: str = "",
    expires: date | None = None,
    only: Collection[str] = (),
) -> Renewal:
    """The baseline as it is to be written after an audit. Nothing is written here.

    With ``prune`` entries of deleted transcripts are dropped, and those of policies that are
    not among ``selected`` (``None`` for any). With ``only`` nothing but the findings with these
    fingerprints is accepted anew or dropped.

    Raises:
        UsageError: there is a baseline, and it is not as it should be.
    """
    existed = path.exists()
    old = baselines.read(path) if existed else Baseline(path)
    names = names_in(old, report)
    reach = scope(report, names, missing(old))
    entries = old.entries
    if prune and selected is not None:
        entries = tuple(e for e in entries if e.policy in selected or e.policy == LOOPS)
    found = seen(report, names)
    kept: list[AcceptedIssue] = []
    if only:
        reach = replace(reach, blind=frozenset())
        found = [item for item in found if item.finding.fingerprint in only]
        kept = [entry for entry in entries if entry.fingerprint not in only]
        entries = tuple(entry for entry in entries if entry.fingerprint in only)
    new = kept + update(entries, found, reach, today, prune=prune, reason=reason, expires=expires)
    return Renewal(old, new, baselines.write(old, new), existed)


def prune_only(path: Path, selected: Sequence[str] | None) -> Renewal:
    """The baseline without the entries of deleted transcripts and of policies that are not ``selected``.

    Raises:
        UsageError: the baseline is missing, or not as it should be.
    """
    old = baselines.read(path)
    gone = missing(old)
    kept = [e for e in old.entries if e.transcript not in gone and (selected is None or e.policy in (*selected, LOOPS))]
    return Renewal(old, kept, baselines.write(old, kept), True)
