"""``loopaudit check`` and ``baseline`` without their command lines: what to read, and what to hold it against."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from shlex import quote

from loopaudit.audit.inputs.discover import discover
from loopaudit.audit.inputs.model import SKIPPED_DIRECTORIES
from loopaudit.audit.run import audit
from loopaudit.audit.workers import ONE_PROCESS, Workers
from loopaudit.config.file import Config
from loopaudit.config.gate import GateSettings
from loopaudit.config.options import Options
from loopaudit.config.toml_file import shown_path
from loopaudit.core.errors import UsageError, did_you_mean
from loopaudit.core.report import Report
from loopaudit.core.urls import scheme_of
from loopaudit.gate import baseline_file as baselines
from loopaudit.gate import expectations
from loopaudit.gate.baseline_file import Baseline, Entry
from loopaudit.gate.baseline_hold import scope, seen
from loopaudit.gate.baseline_match import update
from loopaudit.gate.decide import decide
from loopaudit.gate.expectations import SUFFIX, Expectation, Expectations
from loopaudit.gate.inputs import GateInput


@dataclass(frozen=True, slots=True)
class Commands:
    """How this run was called, so that a check can name the command that accepts it.

    ``options`` are those that decide what a replay finds, ``check`` is the whole command.
    ``baseline_options`` say which baseline was compared with.
    """

    check: str = "loopaudit check"
    options: str = ""
    baseline_options: str = ""


@dataclass(slots=True)
class Plan:
    """What a check reads: paths for the audit, and the expectations by the report's name of a transcript."""

    paths: list[str]
    expectations: dict[str, Expectations] = field(default_factory=dict)
    twins: dict[str, str] = field(default_factory=dict)
    extra: set[str] = field(default_factory=set)
    orphans: list[str] = field(default_factory=list)
    claims: dict[str, list[str]] = field(default_factory=dict)

    def settle(self, report: Report) -> None:
        """Drop the expectations of files that turned out to be no transcripts.

        Beside `run.jsonl` may stand `run.txt`, and both could be meant by `run.expect.toml`. If
        none of them is a transcript, one stays, to be told as not audited.
        """
        audited = {t.path for t in report.transcripts} | {f.path for f in report.failures}
        for names in self.claims.values():
            real = [name for name in names if name in audited] or names[:1]
            for name in names:
                if name not in real:
                    self.expectations.pop(name, None)


def make_plan(paths: Sequence[str], config: Config, options: Options, *, whole: bool, all_policies: bool) -> Plan:
    """Find expectations beside the transcripts and in the configuration, and the twins they name.

    ``whole`` is set where the paths come from the configuration: then transcripts that only
    its expectations name are read too. ``all_policies`` is set where it chose the policies:
    then each expectation must be about one of them.

    Raises:
        InputError: a path does not exist.
        UsageError: expectations are wrong, or name what does not exist.
    """
    plan = Plan(list(paths))
    by_real: dict[str, str] = {}
    claimed: set[str] = set()
    for found in discover(paths, options.columns).inputs:
        if found.path is None or found.layout is not None:
            continue  # expectations stand beside a transcript, and rows of a table have no place for them
        by_real[os.path.realpath(found.path)] = found.name
        file = expectations.beside(found.path)
        if file is not None:
            claimed.add(os.path.realpath(file))
            plan.claims.setdefault(str(file), []).append(found.name)
            plan.expectations[found.name] = expectations.read(file, found.path)
    for item in expectations.from_config(config):
        name = by_real.get(os.path.realpath(item.transcript))
        if name is None:
            if not whole:
                continue
            name = _more(item.transcript, "transcript", item, plan, by_real)
        known = plan.expectations.get(name, Expectations())
        plan.expectations[name] = Expectations((*known.items, item), known.max_damaged)
    for known in list(plan.expectations.values()):
        for item in known.items:
            if item.twin is not None:
                before = len(plan.paths)
                plan.twins[item.source] = _more(item.twin, "twin", item, plan, by_real)
                plan.extra.update(plan.paths[before:])
    _check_policies(plan, options, all_policies=all_policies)
    plan.orphans = sorted(shown_path(f) for f in _expectation_files(paths) if os.path.realpath(f) not in claimed)
    return plan


def _more(path: Path, word: str, item: Expectation, plan: Plan, by_real: dict[str, str]) -> str:
    """The report's name of a transcript that an expectation names; it is read if it would not be anyway."""
    real = os.path.realpath(path)
    if real not in by_real:
        if not path.exists():
            raise UsageError(f"{item.source}: {word}: {shown_path(path)}: no such file or directory")
        by_real[real] = Path(shown_path(path)).as_posix()
        plan.paths.append(by_real[real])
    return by_real[real]


def _check_policies(plan: Plan, options: Options, *, all_policies: bool) -> None:
    rules = {s.label: s.policy.rules for s in options.policies}
    items = [item for known in plan.expectations.values() for item in known.items]
    expectations.check_names(items, rules)
    for item in items:
        if all_policies and item.policy not in rules:
            hint = did_you_mean(item.policy, rules) or ""
            more = "add it to `policy` in the configuration, or name it with -p"
            raise UsageError(
                f"{item.source}: the policy {item.policy!r} is not replayed", hint=f"{hint} {more}".strip()
            )


def _expectation_files(paths: Iterable[str]) -> Iterable[Path]:
    for given in paths:
        if Path(given).is_dir():
            for folder, subfolders, names in os.walk(given):
                subfolders[:] = sorted(set(subfolders) - SKIPPED_DIRECTORIES)
                yield from (Path(folder) / name for name in names if name.endswith(SUFFIX))


def check(
    paths: Sequence[str],
    options: Options,
    config: Config,
    settings: GateSettings,
    baseline: Path | None,
    today: date,
    *,
    whole: bool,
    all_policies: bool,
    commands: Commands | None = None,
    workers: Workers = ONE_PROCESS,
) -> Report:
    """Replay everything, and put the decision of the gate into the report.

    Raises:
        InputError: a path does not exist.
        UsageError: baseline or expectations are missing or wrong.
    """
    commands = commands or Commands()
    known = baselines.read(baseline) if baseline is not None else None
    plan = make_plan(paths, config, options, whole=whole, all_policies=all_policies)
    report = audit(plan.paths, options, workers)
    plan.settle(report)

    def accept_expectation(path: str, item: Expectation) -> str | None:
        if not item.source.rpartition(":")[0].endswith(SUFFIX):
            return None
        return f"loopaudit expect --force{commands.options} {quote(path)}"

    def accept_firing(path: str) -> str | None:
        if path == "<stdin>":
            return None
        if known is None:
            if file_of(path) != path:
                return None  # a row of a table cannot have expectations
            return f"loopaudit expect{commands.options} {quote(path)}"
        return f"loopaudit baseline{commands.options}{commands.baseline_options} {quote(file_of(path))}"

    given = GateInput(
        settings=settings,
        expectations=plan.expectations,
        twins=plan.twins,
        extra=frozenset(plan.extra),
        baseline=known,
        names={} if known is None else names_in(known, report),
        missing=frozenset() if known is None else missing(known),
        today=today,
        whole=whole,
        all_policies=all_policies,
        orphans=plan.orphans,
        accept_expectation=accept_expectation,
        accept_firing=accept_firing,
        accept_prune=f"loopaudit baseline --prune{commands.options}{commands.baseline_options}",
        command=commands.check,
    )
    report.gate = decide(report, given)
    return report


def names_in(baseline: Baseline, report: Report) -> dict[str, str]:
    """The baseline's names of the transcripts of a report, by the report's."""
    return {t.path: baseline.name_of(t.path) for t in report.transcripts}


def missing(baseline: Baseline) -> frozenset[str]:
    """The transcripts of a baseline that are gone from the disk, or whose table is."""
    folder = baseline.path.parent
    names = {entry.transcript for entry in baseline.entries} - {"<stdin>"}
    return frozenset(
        name for name in names if scheme_of(name) is None and not (folder / file_of(name, folder)).exists()
    )


def file_of(name: str, folder: Path = Path()) -> str:
    """The file of a transcript, by its name in a folder: that of a row is the table's and what names the row."""
    if scheme_of(name) is not None:
        return name.partition("#")[0]
    if (folder / name).exists():
        return name
    ends = (place for place, letter in enumerate(name) if letter == "#")
    return next((name[:end] for end in ends if (folder / name[:end]).is_file()), name)


@dataclass(frozen=True, slots=True)
class Renewal:
    """A new baseline: its text, the entries before and after, and whether the file existed."""

    old: Baseline
    entries: list[Entry]
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
) -> Renewal:
    """The baseline as it is to be written after an audit. Nothing is written here.

    With ``prune`` entries of deleted transcripts are dropped, and those of policies that are
    not among ``selected`` (``None`` for any).

    Raises:
        UsageError: there is a baseline, and it is not as it should be.
    """
    existed = path.exists()
    old = baselines.read(path) if existed else Baseline(path)
    names = names_in(old, report)
    reach = scope(report, names, missing(old))
    entries = old.entries
    if prune and selected is not None:
        entries = tuple(e for e in entries if e.policy in selected)
    new = update(entries, seen(report, names), reach, today, prune=prune, reason=reason, expires=expires)
    return Renewal(old, new, baselines.write(old, new), existed)


def prune_only(path: Path, selected: Sequence[str] | None) -> Renewal:
    """The baseline without the entries of deleted transcripts and of policies that are not ``selected``.

    Raises:
        UsageError: the baseline is missing, or not as it should be.
    """
    old = baselines.read(path)
    gone = missing(old)
    kept = [e for e in old.entries if e.transcript not in gone and (selected is None or e.policy in selected)]
    return Renewal(old, kept, baselines.write(old, kept), True)
