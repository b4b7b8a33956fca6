"""``python -m tests.fuzz``: mutates transcripts for a bounded time and checks what holds of every file.

Prints each find with its seed and writes a minimised sample of it to ``--finds``; move it to ``tests/data/fuzz`` once
its cause is mended, and it stays a test. ``--first N --count 1`` makes one mutant again. Exits 1 after any find.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from os import environ, pathsep
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.fuzz import check
from tests.fuzz.mutate import content, material, minimised, mutant
from tests.places import SAMPLES

BATCH = 50
"""Mutants that are audited together, by one process and two, with and without a cache."""

ROOMS = 5
"""Every so many-th mutant is also watched while it grows: that takes longer than the rest."""


def checked(work: Callable[[], Iterator[str]]) -> list[str]:
    """What a check finds; an exception is a find too."""
    try:
        return list(work())
    except Exception:  # noqa: BLE001 - whatever comes out of the program is what is looked for
        return [traceback.format_exc()]


def finds(path: Path, before: bytes | None, *, watched: bool) -> list[str]:
    """Everything that is wrong with one file. ``before`` is the file before its damage, where no call may get lost."""
    data = path.read_bytes()
    found = checked(lambda: check.outcome(path)) + checked(lambda: check.conversion(path))
    found += checked(lambda: check.unnamed(data))
    if before is not None:
        found += checked(lambda: check.losses(before, data))
    # A packed file does not grow record by record.
    if watched and not data.startswith(b"\x1f\x8b"):
        found += checked(lambda: check.growth(path))
    return found


def main() -> int:
    """Run for the given time; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant")
    parser.add_argument("--count", type=int, default=10**9, help="the most mutants to make")
    parser.add_argument("--finds", type=Path, default=Path("build/fuzz"))
    chosen = parser.parse_args()

    corpora = [Path(folder) for folder in environ.get("LOOPAUDIT_CORPUS", "").split(pathsep) if folder]
    files = [path for folder in (SAMPLES, *corpora) for path in material(folder)]
    begin, number, wrong = time.monotonic(), chosen.first, 0
    with TemporaryDirectory() as folder:
        batch: list[Path] = []
        while time.monotonic() - begin < chosen.seconds and number < chosen.first + chosen.count:
            rng = Random(f"{chosen.seed}:{number}")
            source = rng.choice(files)
            data = content(source)
            made = mutant(data, rng, is_lines=source.suffix == ".jsonl")
            path = Path(folder) / f"{number}{source.suffix}"
            path.write_bytes(made.data)
            watched = number % ROOMS == 0
            for find in finds(path, data if made.keeps else None, watched=watched):
                wrong += 1
                print(f"seed {chosen.seed}, mutant {number}: {source.name}, {'+'.join(made.steps)}: {find}", flush=True)
                _keep(chosen.finds, f"{chosen.seed}-{number}{source.suffix}", path, find, watched=watched)
            batch.append(path)
            number += 1
            if len(batch) == BATCH:
                wrong += _together(batch, Path(folder) / f"cache-{number}", f"seed {chosen.seed}, before {number}")
                batch = []
        wrong += _together(batch, Path(folder) / "cache", f"seed {chosen.seed}, before {number}")
    seconds = time.monotonic() - begin
    print(
        f"{number - chosen.first} mutants of {len(files)} files in {seconds:.0f} s, {wrong} finds (seed {chosen.seed})"
    )
    return int(wrong > 0)


def _together(batch: list[Path], cache: Path, place: str) -> int:
    found = checked(lambda: check.runs(batch, cache)) if batch else []
    for find in found:
        print(f"{place}: {find}", flush=True)
    for path in batch:
        path.unlink()
    return len(found)


def _keep(folder: Path, name: str, path: Path, find: str, *, watched: bool) -> None:
    """Write the mutant, smaller where it still fails with the same words."""
    folder.mkdir(parents=True, exist_ok=True)
    trial = path.with_name(f"trial{path.suffix}")

    def fails(data: bytes) -> bool:
        trial.write_bytes(data)
        return find.splitlines()[-1] in (f.splitlines()[-1] for f in finds(trial, None, watched=watched))

    data = path.read_bytes()
    (folder / name).write_bytes(minimised(data, fails, 60) if fails(data) else data)
    trial.unlink()


if __name__ == "__main__":
    sys.exit(main())
