"""A thousand files with two processes against one: time on the clock, and CPU time in all.

Starting the processes takes as long whatever there is to read, so small files show less than larger ones.

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

SIZES = (200_000, 1_000_000)
"""Bytes of a file; the larger ones make a gigabyte."""

FREE = 1.1
"""Two busy processes at once may take this much of the time of one, if two cores are free."""

BUSY = [sys.executable, "-c", "n = 0\nfor n in range(20_000_000): pass"]


def folder(files: int, size: int) -> Path:
    """A folder with so many transcripts of all kinds, each from a seed of its own."""
    place = DATA / f"many-{files}-{size // 1000}"
    kinds = sorted(synth.KINDS)
    for number in range(files):
        kind = kinds[number % len(kinds)]
        synth.write(kind, size, place / f"{number:04d}-{kind}.jsonl", seed=number + 1)
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
    rounds = 1 if quick else 3
    before = calibration(rounds)
    taken = {size: _taken(folder(files, size), rounds) for size in (SIZES[:1] if quick else SIZES)}
    after = calibration(rounds)
    busy = max(before, after, key=lambda r: r.median)
    doubt = ""
    if busy.median > FREE:
        doubt = f"cores not free: two busy processes at once took {busy.median:.2f} times as long as one"
    found: dict[str, Outcome] = {}
    for size, costs in taken.items():
        wall, cpu = (ratio([t[i] for t in costs[2]], [t[i] for t in costs[1]]) for i in (0, 1))
        mean = statistics.fmean(path.stat().st_size for path in folder(files, size).iterdir())
        note = f"{files:,} files of {mean / 1000:,.0f} KB"
        kind = "small files" if size == SIZES[0] else "larger files"
        found[f"time on the clock, {kind}"] = replace(wall, note=note, doubt=doubt)
        found[f"CPU time, {kind}"] = replace(cpu, note=note, doubt=SMALL if quick else "")
    found["two busy processes at once"] = replace(busy, note="1.00 where two cores are free")
    return found


def _taken(place: Path, rounds: int) -> dict[int, list[tuple[float, float]]]:
    """Seconds on the clock and of CPU of each round, by the number of processes."""
    program = [sys.executable, "-m", "loopaudit", "replay", str(place), "--summary", "--no-cache", "--no-config"]
    taken: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for _ in range(rounds):
        for jobs, costs in taken.items():
            cost = command_cost([*program, "--jobs", str(jobs)])
            costs.append((cost.wall, cost.cpu))
    return taken
