"""Peak memory of a replay of a large file against a small one, each in a fresh process."""

from __future__ import annotations

import sys

from benchmarks.pipeline import compiled, corpus
from benchmarks.timing import Ratio, command_cost


def measure(*, quick: bool) -> dict[str, Ratio]:
    """The peak's growth, and both peaks in MiB."""
    compiled()
    small, large = (10, 100) if quick else (10, 500)
    peaks = {}
    for megabytes in (small, large):
        file = str(corpus("claude", megabytes))
        command = [sys.executable, "-m", "loopaudit", "replay", file, "--summary", "--no-cache", "--no-config"]
        peaks[megabytes] = command_cost(command).peak
    growth = peaks[large] / peaks[small]
    return {
        "growth": Ratio(
            growth,
            growth,
            0.0,
            f"{large} MB against {small} MB",
            {"MiB, small": peaks[small], "MiB, large": peaks[large]},
        )
    }
