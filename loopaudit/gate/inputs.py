"""What a report is held against: the settings of a gate, and all that had to be looked up for it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from shlex import quote

from loopaudit.audit.inputs.discover import discover
from loopaudit.audit.inputs.model import SKIPPED_DIRECTORIES
from loopaudit.config.file import Config
from loopaudit.config.gate import GateSettings
from loopaudit.config.options import Options
from loopaudit.config.toml_file import shown_path
from loopaudit.core.errors import UsageError, did_you_mean
from loopaudit.core.report import Report
from loopaudit.core.urls import scheme_of
from loopaudit.gate import expectations
from loopaudit.gate.baseline_file import Baseline
from loopaudit.gate.expectations import SUFFIX, Expectation, Expectations


@dataclass(slots=True)
class Inputs:
    """What a report is held against, and how this run was called.

    ``whole`` is set where the configuration named the paths: then transcripts that only its
    expectations name are read too, and what was not looked at is missed. ``all_policies`` is set
    where it chose the policies: then each expectation must be about one of them. ``given`` are the
    parameters of this ``loopaudit check`` by name as they would be written again, in their order,
    ``replay`` those that decide what a replay finds.

    The rest is looked up by :func:`collect` and, after the audit, :meth:`settle`. ``paths`` are
    what is audited. ``expectations`` are by the report's name of a transcript; ``twins`` gives
    that name for each expectation's twin by its ``source``. ``extra`` are transcripts that were
    read only as twins, ``orphans`` files of expectations without a transcript, ``claims``
    transcripts by the file of expectations that they stand beside. ``names`` are the baseline's
    names of transcripts, ``missing`` its transcripts that are gone from the disk.
    """

    settings: GateSettings = field(default_factory=GateSettings)
    baseline: Baseline | None = None
    today: date = date.min
    whole: bool = False
    all_policies: bool = True
    given: Mapping[str, str] = field(default_factory=dict)
    replay: str = ""
    paths: list[str] = field(default_factory=list)
    expectations: dict[str, Expectations] = field(default_factory=dict)
    twins: dict[str, str] = field(default_factory=dict)
    extra: set[str] = field(default_factory=set)
    orphans: list[str] = field(default_factory=list)
    claims: dict[str, list[str]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()

    def settle(self, report: Report) -> None:
        """Look up for the baseline what was audited, and drop the expectations of files that are no transcripts.

        Beside `run.jsonl` may stand `run.txt`, and both could be meant by `run.expect.toml`. If
        none of them is a transcript, one stays, to be told as not audited.
        """
        audited = {t.path for t in report.transcripts} | {f.path for f in report.failures}
        for names in self.claims.values():
            real = [name for name in names if name in audited] or names[:1]
            for name in names:
                if name not in real:
                    self.expectations.pop(name, None)
        if self.baseline is not None:
            self.names = names_in(self.baseline, report)
            self.missing = missing(self.baseline)

    # -- commands --------------------------------------------------------------------------

    def check(self, option: str, value: object = None) -> str:
        """The command of this check with one more option, or with another value of it."""
        name = option.replace("-", "_")
        words = [text for given, text in self.given.items() if value is None or given != name]
        return f"loopaudit check{''.join(words)} --{option}" + ("" if value is None else f" {value}")

    def accept_expectation(self, path: str, item: Expectation) -> str | None:
        """The command that expects what a transcript does today; ``None`` where a person has to edit the file."""
        if not item.source.rpartition(":")[0].endswith(SUFFIX):
            return None
        return f"loopaudit expect --force{self.replay} {quote(path)}"

    def accept_firing(self, path: str) -> str | None:
        """The command that accepts what a transcript does today, if there is one."""
        if path == "<stdin>":
            return None
        if self.baseline is not None:
            return f"loopaudit baseline{self._renewing()} {quote(file_of(path))}"
        # A row of a table cannot have expectations.
        return f"loopaudit expect{self.replay} {quote(path)}" if file_of(path) == path else None

    @property
    def accept_prune(self) -> str:
        """The command that drops entries of the baseline which nothing stands behind."""
        return f"loopaudit baseline --prune{self._renewing()}"

    def _renewing(self) -> str:
        named = self.baseline if "baseline" in self.given else None
        return self.replay if named is None else f"{self.replay} -o {quote(str(named.path))}"


def collect(given: Inputs, paths: Sequence[str], config: Config, options: Options) -> None:
    """Find expectations beside the transcripts and in the configuration, and the twins they name.

    Raises:
        InputError: a path does not exist.
        UsageError: expectations are wrong, or name what does not exist.
    """
    given.paths = list(paths)
    by_real: dict[str, str] = {}
    claimed: set[str] = set()
    for found in discover(paths, options.columns).inputs:
        if found.path is None or found.layout is not None:
            continue  # expectations stand beside a transcript, and rows of a table have no place for them
        by_real[os.path.realpath(found.path)] = found.name
        file = expectations.beside(found.path)
        if file is not None:
            claimed.add(os.path.realpath(file))
            given.claims.setdefault(str(file), []).append(found.name)
            given.expectations[found.name] = expectations.read(file, found.path)
    for item in expectations.from_config(config):
        name = by_real.get(os.path.realpath(item.transcript))
        if name is None:
            if not given.whole:
                continue
            name = _more(item.transcript, "transcript", item, given, by_real)
        known = given.expectations.get(name, Expectations())
        given.expectations[name] = Expectations((*known.items, item), known.max_damaged)
    for known in list(given.expectations.values()):
        for item in known.items:
            if item.twin is not None:
                before = len(given.paths)
                given.twins[item.source] = _more(item.twin, "twin", item, given, by_real)
                given.extra.update(given.paths[before:])
    _check_policies(given, options)
    given.orphans = sorted(shown_path(f) for f in _expectation_files(paths) if os.path.realpath(f) not in claimed)


def _more(path: Path, word: str, item: Expectation, given: Inputs, by_real: dict[str, str]) -> str:
    """The report's name of a transcript that an expectation names; it is read if it would not be anyway."""
    real = os.path.realpath(path)
    if real not in by_real:
        if not path.exists():
            raise UsageError(f"{item.source}: {word}: {shown_path(path)}: no such file or directory")
        by_real[real] = Path(shown_path(path)).as_posix()
        given.paths.append(by_real[real])
    return by_real[real]


def _check_policies(given: Inputs, options: Options) -> None:
    rules = {s.label: s.policy.rules for s in options.policies}
    items = [item for known in given.expectations.values() for item in known.items]
    expectations.check_names(items, rules)
    for item in items:
        if given.all_policies and item.policy not in rules:
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
