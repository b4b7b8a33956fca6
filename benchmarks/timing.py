"""The one harness: variants in turn, CPU time, the median of paired ratios.

Raw times on a shared machine wander by a third; ratios of neighbouring runs do not. So all
variants run round-robin in one process, each round gives one ratio per variant to the
floor of the same round, and only the median of those is reported.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """Median of the paired ratios, their smallest, and the spread of the middle half."""

    median: float
    low: float
    spread: float

    def __str__(self) -> str:
        return f"{self.median:.2f}"


def ratios(variants: Mapping[str, Callable[[], object]], floor: str, rounds: int) -> dict[str, Ratio]:
    """CPU time of each variant against the floor's, over ``rounds`` interleaved rounds."""
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for name, run in variants.items():
        run()
        assert name
    for _ in range(rounds):
        for name, run in variants.items():
            gc.collect()
            start = time.process_time()
            run()
            taken[name].append(time.process_time() - start)
    return {name: _ratio(times, taken[floor]) for name, times in taken.items()}


def _ratio(times: Sequence[float], base: Sequence[float]) -> Ratio:
    paired = sorted(t / b for t, b in zip(times, base, strict=True))
    quarter = len(paired) // 4
    middle = paired[quarter : len(paired) - quarter]
    return Ratio(statistics.median(paired), paired[0], (middle[-1] - middle[0]) / statistics.median(paired))


def command_cost(arguments: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and peak memory in MiB of one run of a command, by the system's accounting."""
    with open(os.devnull, "wb") as sink:
        process = subprocess.Popen(arguments, stdout=sink, stderr=sink)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale


def command_ratios(commands: Mapping[str, Sequence[str]], floor: str, rounds: int) -> dict[str, Ratio]:
    """CPU time of whole processes against the floor command's, interleaved."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for arguments in commands.values():
        command_cost(arguments)
    for _ in range(rounds):
        for name, arguments in commands.items():
            taken[name].append(command_cost(arguments)[0])
    return {name: _ratio(times, taken[floor]) for name, times in taken.items()}
