"""Peak memory of a replay of a large file against a small one, each in a fresh process."""

from __future__ import annotations

import sys

from benchmarks.pipeline import corpus
from benchmarks.timing import Ratio, command_cost


def measure(*, quick: bool) -> dict[str, Ratio]:
    """The peak's growth, with the peaks in MiB in the rows' names."""
    peaks = {}
    sizes = (10, 100) if quick else (10, 500)
    for megabytes in sizes:
        command = [sys.executable, "-m", "loopaudit", "replay", str(corpus("claude", megabytes)), "--summary"]
        peaks[megabytes] = command_cost(command)[1]
    growth = peaks[sizes[1]] / peaks[sizes[0]]
    print("  " + ", ".join(f"{megabytes} MB file: peak {peak:.0f} MiB" for megabytes, peak in peaks.items()))
    return {"growth": Ratio(growth, growth, 0.0)}
