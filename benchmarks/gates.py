"""Goals and gates of ``targets.toml``, and what a row is worth against them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from benchmarks.timing import Outcome, Ratio

TARGETS: Final = Path(__file__).with_name("targets.toml")

Targets = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Section, then row or a pattern of rows, then ``goal`` and ``gate``; smaller is better everywhere."""


def load(path: Path = TARGETS) -> dict[str, Any]:
    """The targets as they stand in the file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def target(targets: Targets, section: str, what: str) -> tuple[float | None, float | None]:
    """Goal and gate of a row: its own, else those of the first pattern that fits its name."""
    rows = targets.get(section, {})
    found = rows.get(what)
    if found is None:
        found = next((row for pattern, row in rows.items() if fnmatchcase(what, pattern)), {})
    return found.get("goal"), found.get("gate")


def verdict(outcome: Outcome, gate: float | None) -> str:
    """``MISSED``, ``too noisy``, ``noisy``, or nothing.

    A row above its gate misses it if its least times are above it too, and if the rounds agreed.
    Otherwise the machine was too busy to tell. ``noisy`` is a row that keeps its gate, or has
    none, in rounds that did not agree.
    """
    if not isinstance(outcome, Ratio):
        return ""
    if gate is not None and outcome.median > gate:
        return "too noisy" if outcome.is_noisy or outcome.low <= gate else "MISSED"
    return "noisy" if outcome.is_noisy else ""


def missed(outcomes: Mapping[str, Outcome], targets: Targets, section: str) -> list[str]:
    """Rows of a section that miss their gates."""
    return [
        what for what, outcome in outcomes.items() if verdict(outcome, target(targets, section, what)[1]) == "MISSED"
    ]


def measured(
    section: str, measure: Callable[[], dict[str, Outcome]], targets: Targets, tell: Callable[[str], None]
) -> tuple[dict[str, Outcome], list[str]]:
    """Measure a section, and once more if a gate is missed: what is missed twice is missed.

    Returns the rows, of two measurements the better one for a row that was missed first, and the
    rows that were missed both times.
    """
    first = measure()
    low = missed(first, targets, section)
    if not low:
        return first, []
    tell(f"gate missed by {', '.join(low)}: measured a second time")
    second = measure()
    still = [what for what in missed(second, targets, section) if what in low]
    better = {what: second[what] for what in low if what in second and what not in still}
    return {**first, **better}, still
