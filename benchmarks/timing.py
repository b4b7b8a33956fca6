"""The one harness: variants in turn, CPU time, ratios to the floor of the same rounds.

Raw times on a shared machine wander by a third; ratios of neighbouring runs do not. So all
variants run round-robin in one process, and each round gives one ratio per variant to the
floor of the same round. Reported are the median of those, and beside it the least time of the
variant over the least time of the floor, which needs only one undisturbed round of each: other
work on the machine only ever adds time. A row is above its gate when both are.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from benchmarks.processes import Ran, run

SMALL: Final = "input too small for the gate"
"""The doubt about rows of a quick run in which the start of the processes is most of the cost."""

NOISY: Final = 0.1
"""Spread above which a row says that the machine was too busy for it."""


@dataclass(frozen=True)
class Ratio:
    """What was measured of one variant, against the floor of its section.

    ``low`` is the least time over the floor's least time; ``spread`` is the width of the middle
    half of the paired ratios, over their median. ``more`` has further numbers by the head of
    their column. ``doubt`` says why the row cannot be trusted, if it cannot. ``at_least``: the
    variant was stopped, and would have taken longer.
    """

    median: float
    low: float
    spread: float
    note: str = ""
    more: Mapping[str, float] = field(default_factory=dict)
    doubt: str = ""
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'> ' if self.at_least else ''}{self.median:.2f}"

    @property
    def is_noisy(self) -> bool:
        """Whether the row may not be held against a gate."""
        return bool(self.doubt) or self.spread > NOISY


@dataclass(frozen=True)
class Missing:
    """A row that has no number, and why: ``skipped`` is not there to be measured, ``failed`` was tried."""

    state: str
    reason: str
    note: str = ""


Outcome = Ratio | Missing


def ratios(variants: Mapping[str, Callable[[], object]], floor: str, rounds: int) -> dict[str, Ratio]:
    """CPU time of each variant against the floor's, over ``rounds`` interleaved rounds."""
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for run_once in variants.values():
        run_once()
    for _ in range(rounds):
        for name, run_once in variants.items():
            gc.collect()
            start = time.process_time()
            run_once()
            taken[name].append(time.process_time() - start)
    return {name: ratio(times, taken[floor]) for name, times in taken.items()}


def ratio(times: Sequence[float], base: Sequence[float]) -> Ratio:
    """The figures of one variant: its times and the floor's, round by round."""
    paired = sorted(t / b for t, b in zip(times, base, strict=True))
    quarter = len(paired) // 4
    middle = paired[quarter : len(paired) - quarter]
    median = statistics.median(paired)
    return Ratio(median, min(times) / min(base), (middle[-1] - middle[0]) / median)


def command_cost(arguments: Sequence[str]) -> Ran:
    """One run of a command that has to succeed.

    Raises:
        RuntimeError: it did not; with the end of what it said.
    """
    ran = run(arguments)
    if ran.code != 0:
        raise RuntimeError(f"{' '.join(arguments)}: exit code {ran.code}: {ran.said[-400:]}")
    return ran


def command_ratios(commands: Mapping[str, Sequence[str]], floor: str, rounds: int) -> dict[str, Ratio]:
    """CPU time of whole processes against the floor command's, interleaved."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for arguments in commands.values():
        command_cost(arguments)
    for _ in range(rounds):
        for name, arguments in commands.items():
            taken[name].append(command_cost(arguments).cpu)
    return {name: ratio(times, taken[floor]) for name, times in taken.items()}
