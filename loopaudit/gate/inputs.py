"""What a report is held against: the settings of a gate, and all that had to be looked up for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from loopaudit.config.gate import GateSettings
from loopaudit.gate.baseline_file import Baseline
from loopaudit.gate.expectations import Expectation, Expectations


def _nothing(path: str) -> str | None:
    return None


def _no_command(path: str, item: Expectation) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class GateInput:
    """What a report is held against.

    ``expectations`` are by the report's name of a transcript; ``twins`` gives that name for
    each expectation's twin by its ``source``. ``extra`` are transcripts that were read only as twins.
    ``names`` are the baseline's names of transcripts, ``missing`` its transcripts that are gone
    from the disk. ``whole`` is set where the configuration named the paths, so that what
    was not looked at is missed; ``all_policies`` where it chose the policies. ``orphans`` are files
    of expectations without a transcript. ``accept_expectation`` and ``accept_firing`` give
    the command that accepts what a transcript does today; ``command`` is this check's own.
    """

    settings: GateSettings = field(default_factory=GateSettings)
    expectations: Mapping[str, Expectations] = field(default_factory=dict)
    twins: Mapping[str, str] = field(default_factory=dict)
    extra: frozenset[str] = frozenset()
    baseline: Baseline | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    today: date = date.min
    whole: bool = False
    all_policies: bool = True
    orphans: Sequence[str] = ()
    accept_expectation: Callable[[str, Expectation], str | None] = _no_command
    accept_firing: Callable[[str], str | None] = _nothing
    command: str = "loopaudit check"
    accept_prune: str = "loopaudit baseline --prune"
