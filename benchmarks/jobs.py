"""Many small files with two processes against one: time on the clock, and CPU time in all.

Two processes can only be quicker where two cores are free. Before and after the replays, two
busy processes at once are measured against one; if they do not get a core each, the rows
on the clock say so, and are held against no gate.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Thread

from benchmarks import synth
from benchmarks.machine import cores
from benchmarks.pipeline import DATA, compiled
from benchmarks.processes import run
from benchmarks.timing import SMALL, Missing, Outcome, Ratio, command_cost, ratio

FILE_BYTES = 200_000

FREE = 1.1
"""Two busy processes at once may take this much of the time of one, if two cores are free."""

BUSY = [sys.executable, "-c", "n = 0\nfor n in range(20_000_000): pass"]


def folder(files: int) -> Path:
    """A folder with so many transcripts of all kinds, each from a seed of its own."""
    place = DATA / f"many-{files}"
    kinds = sorted(synth.KINDS)
    for number in range(files):
        kind = kinds[number % len(kinds)]
        synth.write(kind, FILE_BYTES, place / f"{number:04d}-{kind}.jsonl", seed=number + 1)
    return place


def calibration(rounds: int) -> Ratio:
    """Two busy processes at once against one, on the clock."""
    alone, together = [], []
    for _ in range(rounds):
        alone.append(run(BUSY).wall)
        pair = [Thread(target=run, args=(BUSY,)) for _ in range(2)]
        start = time.monotonic()
        for thread in pair:
            thread.start()
        for thread in pair:
            thread.join()
        together.append(time.monotonic() - start)
    return ratio(together, alone)


def measure(*, quick: bool) -> dict[str, Outcome]:
    """Ratios of ``--jobs 2`` to ``--jobs 1`` over the same files."""
    if cores() < 2:
        return {"two processes": Missing("skipped", "this process may use one core only")}
    compiled()
    files = 100 if quick else 1000
    place = folder(files)
    program = [sys.executable, "-m", "loopaudit", "replay", str(place), "--summary", "--no-cache", "--no-config"]
    before = calibration(1 if quick else 3)
    taken: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for _ in range(1 if quick else 3):
        for jobs, costs in taken.items():
            cost = command_cost([*program, "--jobs", str(jobs)])
            costs.append((cost.wall, cost.cpu))
    after = calibration(1 if quick else 3)
    busy = max(before, after, key=lambda r: r.median)
    doubt = ""
    if busy.median > FREE:
        doubt = f"cores not free: two busy processes at once took {busy.median:.2f} times as long as one"
    wall, cpu = (ratio([t[i] for t in taken[2]], [t[i] for t in taken[1]]) for i in (0, 1))
    size = statistics.fmean(path.stat().st_size for path in place.iterdir())
    note = f"{files:,} files of {size / 1000:.0f} KB"
    return {
        "time on the clock": replace(wall, note=note, doubt=doubt),
        "CPU time": replace(cpu, note=note, doubt=SMALL if quick else ""),
        "two busy processes at once": replace(busy, note="1.00 where two cores are free"),
    }
