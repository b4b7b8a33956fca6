"""What holds of every file, whatever is in it. Each check returns what is wrong, as words; nothing is fine."""

from __future__ import annotations

import io
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from loopaudit.audit.cache.cache import Cache
from loopaudit.audit.convert import convert
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.one import audit_input
from loopaudit.audit.run import audit
from loopaudit.audit.workers import Workers
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.errors import ExitCode, InputError
from loopaudit.core.findings import Problems
from loopaudit.core.report import Report
from loopaudit.readers.contract import Reader
from loopaudit.readers.expand import FIELD, encoding_of
from loopaudit.readers.recognise import claim
from loopaudit.readers.registry import readers
from loopaudit.readers.source import BOM, GZIP_MAGIC, Source
from loopaudit.reports.contract import Rendering
from loopaudit.reports.registry import reports
from tests.audit.watching import Live, replayed, told
from tests.corpus import read_events
from tests.readers.damage import is_broken

OPTIONS: Final = Options(policies=select(["mission", "openhands-sdk", "crush"]))
OVER: Final = re.compile(r"over (\d+) lines")

SPREAD: Final = {"ag-ui"}
"""Formats in which the arguments of a call come in many records, which may be equal: a copy of one is no damage."""

SECONDS: Final = 20.0
"""For one small file; a stream that takes time with its square goes far beyond it."""

PLACES: Final = re.compile(rb',?"line":\d+|,"x_again":\d+|"source":\{[^{}]*\},?')
"""Where a line stood, what it was read from, and what tells two lines apart that are equal with their places."""


def outcome(path: Path) -> Iterator[str]:
    """No reader, guard or hindsight fails, and what cannot be read is refused with a documented exit code."""
    begin = time.process_time()
    done = audit_input(Input(path, named=True), OPTIONS)
    if time.process_time() - begin > SECONDS:
        yield f"took {time.process_time() - begin:.0f} s"
    if done.failure is not None and done.failure.exit_code != ExitCode.INPUT:
        yield done.failure.message
    for transcript in done.transcripts:
        yield from (f"{p.label}: {p.reasons}" for p in transcript.policies if p.status == "crashed")


def reader_of(data: bytes) -> Reader | None:
    """The reader that claims bytes."""
    with suppress(InputError), Source(None, stream=io.BytesIO(data)) as source:
        return claim(source.probe())
    return None


class Read(NamedTuple):
    """What a reader makes of bytes: the lines of each call by its name and arguments, and what is wrong in which lines.

    ``problems`` are kind, first and last line; ``repeated`` counts calls that are taken for copies by their ids.
    """

    calls: dict[tuple[str, str], list[int]]
    problems: set[tuple[str, int, int]]
    counts: Counter[str]
    repeated: int


def read_of(reader: Reader, data: bytes) -> Read:
    """Read bytes, with all their problems."""
    with patch.object(Problems, "LIMIT", sys.maxsize):
        events, problems, totals = read_events(reader, data)
    calls: dict[tuple[str, str], list[int]] = {}
    for event in events:
        for call in getattr(event, "calls", ()):
            calls.setdefault((call.name, call.raw_arguments), []).append(call.line)
    found = set()
    for problem in problems.kept:
        joined = OVER.search(problem.message)
        found.add((problem.kind, problem.line, problem.line + (int(joined[1]) - 1 if joined else 0)))
    return Read(calls, found, Counter(problems.counts), sum(t.repeated_ids for t in totals))


def moved(before: bytes, after: bytes) -> list[tuple[int, int]]:
    """Where each line stands after damage: the first and last of the lines that took its place, from 1."""
    (one, numbers), (other, others) = (_lines(data) for data in (before, after))
    places = [(0, 0)] * (before.count(b"\n") + 1)
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        for i in range(i1, i2):
            first, last = (i - i1 + j1,) * 2 if tag == "equal" else (min(j1, j2 - 1, len(other) - 1), max(j1, j2 - 1))
            # Of a line and its copies nobody can tell which is which.
            while first > 0 and other[first - 1] == other[first]:
                first -= 1
            while last + 1 < len(other) and other[last + 1] == other[last]:
                last += 1
            places[numbers[i] - 1] = others[max(first, 0)], others[min(last, len(other) - 1)]
    return places


def _lines(data: bytes) -> tuple[list[bytes], list[int]]:
    """The lines that are not blank, and their numbers."""
    found = [(line.rstrip(b"\r"), number) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    return [line for line, _ in found], [number for _, number in found]


def losses(before: bytes, after: bytes) -> Iterator[str]:
    """Calls of a line format that damage took away without a problem on their lines that was not there before."""
    reader = reader_of(before)
    if reader is None or (now := reader_of(after)) is None:
        return  # refused in words
    with suppress(InputError):
        known, found = read_of(reader, before), read_of(now, after)
        gone = {key: len(lines) - len(found.calls.get(key, ())) for key, lines in known.calls.items()}
        missing = sum(number for number in gone.values() if number > 0) - max(found.repeated - known.repeated, 0)
        if missing <= 0:
            return
        if now is not reader:
            if not found.counts - known.counts:
                yield f"{missing} calls lost in silence by {reader.id} (read as {now.id})"
            return
        places = moved(before, after)
        whole = {line.strip() for line in after.split(b"\n")}
        same = [line.strip() in whole for line in before.split(b"\n")]
        old = {(kind, *places[line - 1]) for kind, line, last in known.problems if 0 < line == last and same[line - 1]}
        new = [(first, last) for kind, first, last in found.problems if (kind, first, last) not in old]
        names: dict[str, list[int]] = {}
        for (name, _), lines in found.calls.items():
            names.setdefault(name, []).extend(lines)
        for key, number in gone.items():
            lines = [line for line in known.calls[key] if not _stands(found.calls.get(key, ()), places[line - 1])]
            for line in lines if number > 0 else ():
                begin, end = places[line - 1]
                if (new or reader.id in SPREAD) and _stands(names.get(key[0], ()), (begin, end)):
                    continue  # it is there with other arguments: some of the records that they came in are damaged
                if not any(first <= end and last >= begin for first, last in new):
                    yield f"the call {key[0]} of line {line} is lost in silence by {reader.id}, now in line {begin}"


def _stands(lines: Iterable[int], place: tuple[int, int]) -> bool:
    return any(place[0] <= line <= place[1] for line in lines)


def unnamed(data: bytes) -> Iterator[str]:
    """Lines that are broken however they are read, and that no problem names."""
    reader = reader_of(data)
    text = data.removeprefix(BOM)
    if reader is None or encoding_of(data[:64]) or FIELD.match(text) or data.startswith(GZIP_MAGIC):
        return  # its lines are not those of the file
    with Source(None, stream=io.BytesIO(data)) as source:
        if source.probe().shape != "records":
            return
    with suppress(InputError):
        problems = read_of(reader, data).problems
        for number, line in enumerate(text.split(b"\n"), 1):
            if is_broken(line) and not any(first <= number <= last for _, first, last in problems):
                yield f"line {number} is broken, and {reader.id} names no problem in it"


def conversion(path: Path) -> Iterator[str]:
    """What is converted converts to itself, and replays with the same decisions and the same hindsight."""
    with suppress(InputError), TemporaryDirectory() as folder:
        with Source(path) as source:
            reader = claim(source.probe())
            if reader is None:
                return
            out = io.BytesIO()
            convert(source, reader, out)
        once, again = out.getvalue(), io.BytesIO()
        try:
            with Source(None, stream=io.BytesIO(once)) as source:
                convert(source, readers().get("native"), again)
        except InputError as error:
            yield f"what was converted from {reader.id} is not read: {error}"
            return
        if PLACES.sub(b"", again.getvalue()) != PLACES.sub(b"", once):
            yield f"converting what was converted from {reader.id} gives something else"
        copy = Path(folder) / "copy.jsonl"
        copy.write_bytes(once)
        one, other = judged(path), judged(copy)
        if one != other:
            yield f"decisions or hindsight change by converting from {reader.id}"


def judged(path: Path) -> list[Any]:
    """Decisions and hindsight of a file, without places in it."""
    done = audit_input(Input(path, named=True), OPTIONS)
    return [
        (
            [[(f.call, f.action, f.rule, f.count, f.grade and f.grade.word) for f in p.findings] for p in t.policies],
            [(e.kind, e.agent, e.first_call, e.last_call, e.laps, e.ended) for e in t.episodes],
            t.classes,
        )
        for t in done.transcripts
    ]


def growth(path: Path) -> Iterator[str]:
    """A file that is watched while it is written fires as in a replay."""
    data = path.read_bytes()
    options = Options(policies=OPTIONS.policies, hindsight=False)
    with TemporaryDirectory() as folder:
        live_path = Path(folder) / "a.jsonl"
        live_path.write_bytes(b"")
        with Live(live_path.parent, from_start=True, options=options) as live:
            for begin, end in ((0, len(data) // 3), (len(data) // 3, len(data))):
                with live_path.open("ab") as file:
                    file.write(data[begin:end])
                live.settle()
            live.finish()
        done = audit_input(Input(live_path, named=True), options)
        if done.failure is None and told(live.fired) != replayed(live_path, options):
            yield "watching it fires otherwise than replaying it"


def runs(paths: Iterable[Path], cache: Path) -> Iterator[str]:
    """One process, two, a cache that fills and one that is full: the same report, in every byte."""
    named = [str(path) for path in paths]

    def written(report: Report) -> bytes | str:
        return reports().get("json").render(report, Rendering())

    plain = written(audit(named, OPTIONS))
    for name, workers in (
        ("two processes", Workers(2)),
        ("a new cache", Workers(cache=Cache(cache, asked=True))),
        ("a filled cache", Workers(cache=Cache(cache, asked=True))),
    ):
        if written(audit(named, OPTIONS, workers)) != plain:
            yield f"another report with {name}"
