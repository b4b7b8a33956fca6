"""Start-up: whole commands as processes, in turn with a bare interpreter."""

from __future__ import annotations

import sys

from benchmarks import synth
from benchmarks.pipeline import DATA, compiled
from benchmarks.timing import Ratio, command_ratios


def measure(*, quick: bool) -> dict[str, Ratio]:
    """Ratios of CPU time to ``python -c pass``."""
    compiled()
    small = synth.write("claude", 400_000, DATA / "claude-small.jsonl")
    program = [sys.executable, "-m", "loopaudit"]
    commands = {
        "bare": [sys.executable, "-c", "pass"],
        "version": [*program, "--version"],
        "help": [*program, "--help"],
        "replay, json report": [*program, "replay", str(small), "--report", "json"],
        "replay, terminal report": [*program, "replay", str(small)],
    }
    found = command_ratios(commands, "bare", 7 if quick else 15)
    del found["bare"]
    return found
