"""Reads the shared corpus of real transcripts and compares what a reader finds with its manifest.

The corpus lies outside the repository (other people's files, many without a licence). Tests over
it are parametrised by :func:`params`, so that a file's name is in the test's id, and are skipped
where the corpus is absent.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from loopaudit.core.counts import Totals
from loopaudit.core.events import Event, Level
from loopaudit.core.findings import Problems
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.source import Source
from tests.places import SHARED_CORPUS

CORPUS = SHARED_CORPUS

COUNTS = (
    "turns",
    "batches",
    "calls",
    "results",
    "unanswered",
    "orphan_results",
    "errors",
    "max_parallel",
    "sidechain_calls",
)
"""Manifest counts that :func:`read_counts` gives under the same name and by the same rule."""


def all_rows() -> list[dict[str, Any]]:
    """Every manifest row, in file order; none where the corpus is absent."""
    manifest = CORPUS / "MANIFEST.jsonl"
    if not manifest.is_file():
        return []
    return [orjson.loads(line) for line in manifest.read_bytes().splitlines()]


def rows(format: str) -> list[dict[str, Any]]:
    """The manifest rows of a format, in file order; none where the corpus is absent."""
    return [row for row in all_rows() if row["format"] == format]


def path_of(row: Mapping[str, Any]) -> Path:
    """The file (or, for a directory sample, the directory) of a manifest row."""
    return CORPUS / str(row["file"])


def params(format: str) -> list[Any]:
    """One pytest parameter per manifest row; a single skipped one where there is none."""
    found = [pytest.param(row, id=Path(row["file"]).name) for row in rows(format)]
    if found:
        return found
    return [pytest.param({}, id="none", marks=pytest.mark.skip(reason=f"no {format} files in {CORPUS}"))]


def read_events(
    reader: Reader, content: bytes | Path, *, failure_level: Level = "exit_code"
) -> tuple[list[Event], Problems, list[Totals]]:
    """Everything a reader makes of a file or of bytes: events, problems, totals per conversation."""
    events: list[Event] = []
    totals: list[Totals] = []
    path, stream = (content, None) if isinstance(content, Path) else (None, io.BytesIO(content))
    with Source(path, stream=stream) as source:
        emit = Emitter(
            events.append,
            source.problems,
            failure_level=failure_level,
            on_session=lambda _, finished: totals.append(finished),
        )
        reader.report(source, emit)
        emit.finish()
        return events, source.problems, totals


def read_counts(reader: Reader, path: Path) -> dict[str, int]:
    """Counts of a file, summed over its conversations (``max_parallel``: the largest).

    As in the manifest, ``results`` contains those without a call and ``turns`` only those of
    main agents. ``damaged`` counts problems that lost content (``bad_lines`` and others).
    """
    _, problems, totals = read_events(reader, path)
    counts = {name: sum(getattr(t, name) for t in totals) for name in COUNTS if name != "max_parallel"}
    counts["max_parallel"] = max((t.max_parallel for t in totals), default=0)
    counts["results"] += counts["orphan_results"]
    counts["conversations"] = len(totals)
    counts["damaged"] = problems.damaged
    return counts


def differences(row: Mapping[str, Any], counts: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Where counts differ from a manifest row: name to (manifest, counted).

    Counts that the manifest does not give for this file are not compared, except that a row
    without ``bad_lines`` says that nothing in the file is damaged.
    """
    expected = {name: row["counts"][name] for name in (*COUNTS, "conversations") if name in row["counts"]}
    expected["damaged"] = row["counts"].get("bad_lines", 0)
    return {name: (value, counts[name]) for name, value in expected.items() if counts[name] != value}
