"""What a report is held against: the settings of a gate, and all that had to be looked up for it.

:class:`Inputs` has three parts: how the check was called (:class:`Invocation`), what is expected of
transcripts (:class:`Expected`) and what is accepted of them (:class:`Accepted`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from shlex import quote

from msgspec import Struct, field

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
from loopaudit.gate.baseline_file import FILE_NAME, Baseline
from loopaudit.gate.expectations import SUFFIX, Expectation, Expectations


class Invocation(Struct, frozen=True):
    """How a check was called, and the commands that call it otherwise.

    ``whole`` is set where the configuration named the paths: then transcripts that only its
    expectations name are read too, and what was not looked at is missed. ``all_policies`` is set
    where it chose the policies: then each expectation must be about one of them. ``given`` are the
    parameters of this ``loopaudit check`` by name as they would be written again, in their order,
    ``replay`` those that decide what a replay finds.
    """

    whole: bool = False
    all_policies: bool = True
    given: Mapping[str, str] = field(default_factory=dict)
    replay: str = ""

    def check(self, option: str, value: object = None) -> str:
        """The command of this check with one more option, or with another value of it."""
        name = option.replace("-", "_")
        words = [text for given, text in self.given.items() if value is None or given != name]
        return f"loopaudit check{''.join(words)} --{option}" + ("" if value is None else f" {value}")


class Expected(Struct):
    """What is expected of transcripts; :func:`collect` looks it up.

    ``by_path`` are the expectations by the report's name of a transcript; ``twins`` gives that name
    for each expectation's twin by its ``source``. ``extra`` are transcripts that were read only as
    twins, ``orphans`` files of expectations without a transcript, ``claims`` transcripts by the file
    of expectations that they stand beside.
    """

    by_path: dict[str, Expectations] = field(default_factory=dict)
    twins: dict[str, str] = field(default_factory=dict)
    extra: set[str] = field(default_factory=set)
    orphans: list[str] = field(default_factory=list)
    claims: dict[str, list[str]] = field(default_factory=dict)

    @property
    def items(self) -> list[Expectation]:
        """All expectations."""
        return [item for known in self.by_path.values() for item in known.items]

    def catches(self, path: str) -> list[Expectation]:
        """The expectations of a transcript that something fires."""
        known = self.by_path.get(path)
        return [] if known is None else [item for item in known.items if not item.never]

    def settle(self, report: Report) -> None:
        """Drop the expectations of files that are no transcripts.

        Beside `run.jsonl` may stand `run.txt`, and both could be meant by `run.expect.toml`. If
        none of them is a transcript, one stays, to be reported as not audited.
        """
        audited = {t.path for t in report.transcripts} | {f.path for f in report.failures}
        for names in self.claims.values():
            real = [name for name in names if name in audited] or names[:1]
            for name in names:
                if name not in real:
                    self.by_path.pop(name, None)


class Accepted(Struct):
    """What is accepted of transcripts: the baseline, and the day against which its dates count.

    After the audit ``names`` are the baseline's names of transcripts by the report's, ``missing`` its
    transcripts that are gone from the disk, and ``asked`` those that lie where the check was to look.
    """

    baseline: Baseline | None = None
    today: date = date.min
    names: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()

    def settle(self, report: Report, paths: Iterable[str]) -> None:
        """Look up what was audited."""
        if self.baseline is not None:
            self.names = names_in(self.baseline, report)
            self.missing = missing(self.baseline)
            self.asked = below(self.baseline, paths)


class Inputs(Struct):
    """What a report is held against. ``paths`` are what is audited, the twins among them."""

    settings: GateSettings = field(default_factory=GateSettings)
    call: Invocation = field(default_factory=Invocation)
    expected: Expected = field(default_factory=Expected)
    accepted: Accepted = field(default_factory=Accepted)
    paths: list[str] = field(default_factory=list)

    def settle(self, report: Report) -> None:
        """Look up what depends on what was audited."""
        self.expected.settle(report)
        self.accepted.settle(report, self.paths)

    def holds_something(self, labels: Iterable[str]) -> bool:
        """Whether anything could fail: an expectation of one of these policies, a baseline or a limit."""
        limits = self.settings
        numbers = (limits.max_firings, limits.max_wrong, limits.max_loops, limits.max_redundant, limits.max_damaged)
        replayed = set(map(bare, labels))
        return bool(
            self.accepted.baseline is not None
            or limits.fail_on
            or any(number is not None for number in numbers)
            or self.expected.orphans
            or any(bare(item.policy) in replayed for item in self.expected.items)
        )

    @property
    def what_to_hold(self) -> str:
        """What to do where nothing is held against anything."""
        lying = baselines_near(self.paths)
        if lying:
            return f"compare with the baseline that lies there: --baseline {quote(lying[0])}"
        shown = "".join(f" {quote(path)}" for path in self.paths)
        return (
            f"accept what is found today by `loopaudit baseline{shown}`, write what is expected by "
            f"`loopaudit expect{shown}`, or set a limit: --fail-on block, --fail-on loop, --max-wrong 0"
        )

    # -- commands that accept what was found -------------------------------------------------

    def accept_expectation(self, path: str, item: Expectation) -> str:
        """The command that makes one expectation say what its transcript does today."""
        file = item.source.rpartition(":")[0]
        named = "" if file.endswith(SUFFIX) else f" --file {quote(file)}"
        return f"loopaudit expect --entry {item.entry}{named}{self.call.replay} {quote(path)}"

    def accept_finding(self, path: str, fingerprint: str = "") -> str | None:
        """The command that accepts what a transcript does today, or one issue of it, if there is one."""
        if path == "<stdin>":
            return None
        if self.accepted.baseline is not None:
            only = f" --fingerprint {fingerprint}" if fingerprint else ""
            return f"loopaudit baseline{only}{self._renewing()} {quote(file_of(path))}"
        if file_of(path) == path and path not in self.expected.by_path:
            return f"loopaudit expect{self.call.replay} {quote(path)}"
        # A row of a table cannot have expectations, and what stands in a file is not written over.
        return f"loopaudit baseline{self.call.replay}{self._named}"

    def accept_loops(self, path: str) -> str | None:
        """The command that accepts the loops of a transcript; only a baseline can."""
        if path == "<stdin>":
            return None
        if self.accepted.baseline is not None:
            return self.accept_finding(path)
        return f"loopaudit baseline{self.call.replay}{self._named}"

    @property
    def _named(self) -> str:
        return "" if self.call.whole else "".join(f" {quote(given)}" for given in self.paths)

    @property
    def accept_prune(self) -> str:
        """The command that drops entries of the baseline which nothing stands behind."""
        return f"loopaudit baseline --prune{self._renewing()}"

    def _renewing(self) -> str:
        named = self.accepted.baseline if "baseline" in self.call.given else None
        return self.call.replay if named is None else f"{self.call.replay} -o {quote(str(named.path))}"


def collect(given: Inputs, paths: Sequence[str], config: Config, options: Options) -> None:
    """Find expectations beside the transcripts and in the configuration, and the twins they name.

    Raises:
        InputError: a path does not exist.
        UsageError: expectations are wrong, or name what does not exist.
    """
    given.paths = list(paths)
    expected = given.expected
    by_real: dict[str, str] = {}
    claimed: set[str] = set()
    for found in discover(paths, options.columns).inputs:
        if found.path is None or found.layout is not None:
            continue  # expectations stand beside a transcript, and rows of a table have no place for them
        by_real[os.path.realpath(found.path)] = found.name
        file = expectations.beside(found.path)
        if file is not None:
            claimed.add(os.path.realpath(file))
            expected.claims.setdefault(str(file), []).append(found.name)
            expected.by_path[found.name] = expectations.read(file, found.path)
    for item in expectations.from_config(config):
        name = by_real.get(os.path.realpath(item.transcript))
        if name is None:
            if not given.call.whole:
                continue
            name = _more(item.transcript, "transcript", item, given, by_real)
        known = expected.by_path.get(name, Expectations())
        expected.by_path[name] = Expectations((*known.items, item), known.max_damaged)
    for item in expected.items:
        if item.twin is not None:
            before = len(given.paths)
            expected.twins[item.source] = _more(item.twin, "twin", item, given, by_real)
            expected.extra.update(given.paths[before:])
    _check_policies(given, options)
    expected.orphans = sorted(shown_path(f) for f in _expectation_files(paths) if os.path.realpath(f) not in claimed)


def bare(label: str) -> str:
    """The label of a policy without the parameters that are written in it."""
    return label.partition("(")[0]


def baselines_near(paths: Iterable[str]) -> list[str]:
    """Baselines of the usual name in the working folder and in the folders of these paths."""
    folders = [Path(), *(Path(path) if Path(path).is_dir() else Path(path).parent for path in paths)]
    found = {os.path.realpath(folder / FILE_NAME): folder / FILE_NAME for folder in folders}
    return sorted(shown_path(file) for file in found.values() if file.is_file())


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
    items = given.expected.items
    expectations.check_names(items, rules)
    for item in items:
        if given.call.all_policies and item.policy not in rules:
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


def below(baseline: Baseline, paths: Iterable[str]) -> frozenset[str]:
    """The transcripts of a baseline that are on the disk and are, or lie below, one of these paths."""
    folder = baseline.path.parent
    roots = [os.path.realpath(path) for path in paths if path != "-" and scheme_of(path) is None]
    found = set()
    for name in {entry.transcript for entry in baseline.entries}:
        if name == "<stdin>" or scheme_of(name) is not None:
            continue
        place = os.path.realpath(folder / file_of(name, folder))
        if any(place == root or place.startswith(root.rstrip(os.sep) + os.sep) for root in roots):
            found.add(name)
    return frozenset(found)


def file_of(name: str, folder: Path = Path()) -> str:
    """The file of a transcript, by its name in a folder: that of a row is the table's and what names the row."""
    if scheme_of(name) is not None:
        return name.partition("#")[0]
    if (folder / name).exists():
        return name
    ends = (place for place, letter in enumerate(name) if letter == "#")
    return next((name[:end] for end in ends if (folder / name[:end]).is_file()), name)
