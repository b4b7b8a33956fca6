"""The labelled transcripts that ``docs.validation`` and ``docs.guards_compared`` measure on.

``LOOPAUDIT_CASES`` names folders of cases (an ``index.json`` with one label a conversation),
``LOOPAUDIT_LABELS`` folders of runs (a ``labels.jsonl`` with a label a run, or labels of single
calls), several separated as in ``PATH``. The project's own cases and stories come first and are always there.
What the others hold belongs to others: names and counts go into the pages, and nothing else.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from loopaudit.core.errors import InputError
from loopaudit.core.intervals import wilson
from loopaudit.core.text import one_line

ROOT: Final = Path(__file__).parents[1]
OWN: Final = ROOT / "tests" / "cases"
OWN_SET: Final = "tests/cases"

STORIES: Final = ROOT / "tests" / "stories"
"""Longer conversations that were written and labelled apart from the rules; the transcripts are compressed."""

STORIES_SET: Final = "tests/stories"
OWN_SETS: Final = frozenset({OWN_SET, STORIES_SET})

LENIENCE: Final = 2
"""How many calls the found start of a loop without a fixed period may be off."""

Label = Literal["loop", "healthy", "other failure", "steps"]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A transcript and what people say of it.

    ``label`` is *loop* or *healthy* for a case; *loop* or *other failure* for a run, where the
    latter does not mean that there is no loop; *steps* where single calls are labelled:
    ``repetitions`` are then the calls that people call a repetition of the one before. ``start``
    is the first call that brought nothing, ``act_by`` the last call at which a guard is in time,
    ``lenience`` the calls by which a found start may be off: one lap.
    """

    set: str
    path: Path
    name: str
    label: Label
    kind: str = ""
    start: int | None = None
    act_by: int | None = None
    lenience: int = LENIENCE
    repetitions: frozenset[int] = frozenset()
    is_run: bool = False
    """Whether it is a real run, and no case that was made to be judged."""
    agreed_at_first: bool | None = None
    """Of a story, whether hindsight agreed with its label when it was first replayed, before a rule was changed."""
    round: int | None = None
    """Of a story, with which others it was written; each round met the rules as the rounds before had left them."""

    @property
    def is_case(self) -> bool:
        """Whether both answers, loop and healthy, are labels of it."""
        return self.label in ("loop", "healthy")


def labelled() -> list[Labelled]:
    """All labelled transcripts: own cases, own stories, cases of others, runs of others.

    Raises:
        InputError: a folder that is named has no labels in it.
    """
    found = [*_cases(OWN, OWN_SET), *stories()]
    for folder in folders("LOOPAUDIT_CASES"):
        found += _cases(folder, folder.name)
    for folder in folders("LOOPAUDIT_LABELS"):
        found += _runs(folder)
    return found


def stories() -> list[Labelled]:
    """The project's own stories, unpacked where they stay until the program ends."""
    return list(_cases(STORIES, STORIES_SET, _unpacked()))


@cache
def _unpacked() -> Path:
    folder = tempfile.mkdtemp(prefix="stories-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(STORIES / "transcripts.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return Path(folder)


def folders(variable: str) -> list[Path]:
    """The folders that an environment variable names, in its order."""
    return [Path(name) for name in os.environ.get(variable, "").split(os.pathsep) if name]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise InputError(f"{path.parent}: no {path.name} in it") from None


def _cases(folder: Path, name: str, transcripts: Path | None = None) -> Iterator[Labelled]:
    for case in orjson.loads(_read(folder / "index.json")):
        yield Labelled(
            set=name,
            path=(transcripts or folder) / case["file"],
            name=one_line(case["file"], 120),
            label=case["label"],
            kind=case.get("loop_kind") or "",
            start=case.get("loop_starts_at_call"),
            act_by=case.get("act_by_call"),
            lenience=case.get("period") or LENIENCE,
            agreed_at_first=case.get("agreed_at_first"),
            round=case.get("round"),
        )


def _runs(folder: Path) -> Iterator[Labelled]:
    for line in _read(folder / "labels.jsonl").splitlines():
        run: dict[str, Any] = orjson.loads(line)
        if not run["calls"]:
            continue  # a conversation in which nothing is called has no loop of calls
        part = run["file"].rpartition("/")[0]
        is_steps = run["unit"] == "step"
        yield Labelled(
            set="/".join(filter(None, (folder.name, part))),
            path=folder / run["file"],
            name=one_line(run["file"].rpartition("/")[2], 120),
            label="steps" if is_steps else run["label"],
            repetitions=frozenset(run["repetition_calls"]) if is_steps else frozenset(),
            is_run=True,
        )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def share(hits: int, cases: int) -> str:
    """A share as the pages write it: ``18 of 20 (90 %, 70 to 97 %)``, with Wilson's 95 % interval."""
    interval = wilson(hits, cases)
    if interval is None:
        return "–"
    low, high = (round(100 * end) for end in interval)
    return f"{hits} of {cases} ({round(100 * hits / cases)} %, {low} to {high} %)"
