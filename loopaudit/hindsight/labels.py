"""People's labels: where the loops are and which calls brought nothing, instead of hindsight.

A label file is one JSON document, ``loopaudit-labels`` version 1, written with hindsight's
opinion for a person to correct (``docs/compare.md`` tells the format). :mod:`loopaudit.hindsight.labelled`
puts a person's opinion into an audited transcript in the place of hindsight's.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec

from loopaudit.core import regex
from loopaudit.core.errors import InputError
from loopaudit.core.report import TranscriptResult
from loopaudit.readers.source import tolerant_loads
from loopaudit.reports.kit.json_shape import write

SCHEMA: Final = "loopaudit-labels"
VERSION: Final = 1
LOOP: Final = "labelled_loop"
"""The kind of an episode where the label gives none."""

_RANGE: Final = regex.lazy(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?")
_HOW: Final = (
    "A loop is a stretch of calls of one agent that goes on without bringing anything. Correct first_call and "
    "last_call, delete what is no loop, add what is missing. redundant lists every call that brought nothing new, "
    "in or outside of loops, as numbers and ranges. kind and shown are for you; only the kind 'waiting' means no loop."
)


class LabelledLoop(msgspec.Struct, omit_defaults=True):
    """A loop as a person sees it. ``shown`` helps to find it and is not read back."""

    first_call: int
    last_call: int
    agent: str = ""
    kind: str = LOOP
    shown: str = ""


class LabelledTranscript(msgspec.Struct):
    """The labels of one conversation. ``calls`` tells whether it is still the same recording."""

    path: str
    session: str
    calls: int
    loops: list[LabelledLoop]
    redundant: list[int | str]


class Labels(msgspec.Struct):
    """The labels of a file."""

    transcripts: list[LabelledTranscript]
    file: str = "labels"

    def find(self, result: TranscriptResult) -> int | None:
        """The place of a transcript's labels: by path and session, or by file name and session."""
        same = [i for i, t in enumerate(self.transcripts) if t.session == result.session]
        exact = [i for i in same if self.transcripts[i].path == result.path]
        if exact:
            return exact[0]
        name = PurePosixPath(result.path).name
        near = [i for i in same if PurePosixPath(self.transcripts[i].path).name == name]
        return near[0] if len(near) == 1 else None


# -- reading and writing -------------------------------------------------------------------


def load_labels(path: Path) -> Labels:
    """The labels of a file.

    Raises:
        InputError: the file cannot be read, or is no label file of this version.
    """
    try:
        value = tolerant_loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise InputError(f"{path}: no label file", hint="write one with: loopaudit label TRANSCRIPT > labels.json")
    if value.get("version") != VERSION:
        raise InputError(f"{path}: labels of version {value.get('version')!r}; this program reads version {VERSION}")
    try:
        transcripts = msgspec.convert(value.get("transcripts"), list[LabelledTranscript])
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {error}") from None
    for transcript in transcripts:
        _check(path, transcript)
    return Labels(transcripts, path.as_posix())


def _check(path: Path, transcript: LabelledTranscript) -> None:
    where = f"{path}: {transcript.path}"
    for loop in transcript.loops:
        if not 1 <= loop.first_call <= loop.last_call <= transcript.calls:
            raise InputError(
                f"{where}: no calls {loop.first_call} to {loop.last_call} in a transcript of {transcript.calls}"
            )
    by_agent: dict[str, int] = {}
    for loop in sorted(transcript.loops, key=lambda loop: loop.first_call):
        if loop.first_call <= by_agent.get(loop.agent, 0):
            raise InputError(f"{where}: two loops of one agent overlap at call {loop.first_call}")
        by_agent[loop.agent] = loop.last_call
    for first, last in ranges_of(transcript.redundant, where):
        if not 1 <= first <= last <= transcript.calls:
            raise InputError(f"{where}: redundant has {first}-{last}, but there are {transcript.calls} calls")


def ranges_of(items: Iterable[int | str], where: str = "labels") -> list[tuple[int, int]]:
    """Numbers and ranges (``7``, ``"9-12"``) as pairs of a first and a last number.

    Raises:
        InputError: one is neither.
    """
    found = []
    for item in items:
        match = _RANGE.fullmatch(str(item).strip())
        if match is None:
            raise InputError(f"{where}: {item!r} is neither a call number nor a range like '9-12'")
        found.append((int(match[1]), int(match[2] or match[1])))
    return found


def write_ranges(numbers: Iterable[int]) -> list[int | str]:
    """Numbers as :func:`ranges_of` reads them, neighbours as a range."""
    written: list[int | str] = []
    first = last = None
    for number in [*sorted(set(numbers)), None]:
        if last is not None and number == last + 1:
            last = number
            continue
        if first is not None:
            written.append(first if first == last else f"{first}-{last}")
        first = last = number
    return written


def prefilled(results: Iterable[TranscriptResult]) -> dict[str, Any]:
    """A label file with hindsight's opinion of each transcript, for a person to correct."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "how": _HOW,
        "transcripts": [msgspec.to_builtins(_prefilled(result)) for result in results],
    }


def _prefilled(result: TranscriptResult) -> LabelledTranscript:
    idle = result.ledger.idle if result.ledger is not None else b""
    return LabelledTranscript(
        path=result.path,
        session=result.session,
        calls=calls_of(result),
        loops=[
            LabelledLoop(e.first_call, e.last_call, e.agent, e.kind, " | ".join(e.unit[:3])) for e in result.episodes
        ],
        redundant=write_ranges(number for number, bit in enumerate(idle, 1) if bit),
    )


def calls_of(result: TranscriptResult) -> int:
    """How many calls a transcript has."""
    return int(result.counts.get("calls") or 0)


def label_document(results: Iterable[TranscriptResult]) -> bytes:
    """The prefilled label file as indented JSON, safe to show."""
    return write(prefilled(results), indent=True)
