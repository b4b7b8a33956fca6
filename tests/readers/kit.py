"""Reads records and documents that a test writes, and damages the samples of the formats."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from loopaudit.findings import Problems
from loopaudit.reader import Reader
from loopaudit.registry import readers
from loopaudit.source import Source
from loopaudit.totals import Totals
from tests import corpus
from tests.readers.claude_records import batches, lines, shape

__all__ = ["Read", "batches", "claimed", "damaged", "lines", "places", "put", "records_of", "sample", "shape", "write"]

SAMPLES = Path(__file__).parents[2] / "sample_transcripts" / "formats"


class Read:
    """What a reader makes of records (a line each) or of one document.

    ``shape`` is the events in short, see :func:`tests.readers.claude_records.shape`.
    """

    def __init__(self, id: str, content: Any) -> None:
        data = content if isinstance(content, bytes) else write(content)
        self.events, self.problems, self.totals = corpus.read_events(readers().get(id), data)

    @property
    def shape(self) -> list[str]:
        return shape(self.events)

    @property
    def total(self) -> Totals:
        """The counts of the only conversation."""
        (total,) = self.totals
        return total

    @property
    def calls(self) -> list[Any]:
        return [call for batch in batches(self.events) for call in batch.calls]


class Document:
    """Marks a value that is written as one document, not a line for each entry."""

    def __init__(self, value: Any) -> None:
        self.value = value


def write(content: Any) -> bytes:
    if isinstance(content, Document):
        return json.dumps(content.value, indent=1).encode()
    return lines(content)


def claimed(id: str, content: Any) -> str | None:
    """What the reader's sniffer says."""
    import io

    with Source(None, stream=io.BytesIO(content if isinstance(content, bytes) else write(content))) as source:
        return readers().get(id).sniff(source.probe())


# -- damage --------------------------------------------------------------------------------


def sample(id: str) -> Path:
    """The sample file of a format."""
    (path,) = SAMPLES.glob(f"{id}.json*")
    return path


def records_of(path: Path) -> Any:
    """The records of a line format, or the document."""
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in data.split(b"\n") if line]
    return Document(json.loads(data))


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all members and items inside a JSON value."""
    steps: Iterable[tuple[Any, Any]]
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*at, step)
        yield from places(inner, (*at, step))


def put(content: Any, path: Sequence[Any], value: Any) -> Any:
    """A copy with another value at a path."""
    is_document = isinstance(content, Document)
    copy = json.loads(json.dumps(content.value if is_document else content))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return Document(copy) if is_document else copy


def count(reader: Reader, data: bytes) -> tuple[dict[str, int], Problems]:
    """What is lost when damage is silent: turns, calls and results over all conversations."""
    _, problems, totals = corpus.read_events(reader, data)
    return {name: sum(getattr(t, name) for t in totals) for name in ("turns", "calls", "results")}, problems


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """A file after some cuts, swaps, copies, noise and broken bytes, line by line."""
    parts = data.split(b"\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(parts) - 1))
        match draw(st.sampled_from(["cut", "swap", "drop", "copy", "noise", "bytes"])):
            case "cut":
                parts[at] = parts[at][: draw(st.integers(0, len(parts[at])))]
            case "swap":
                other = draw(st.integers(0, len(parts) - 1))
                parts[at], parts[other] = parts[other], parts[at]
            case "drop" if len(parts) > 1:
                del parts[at]
            case "copy":
                parts.insert(at, parts[draw(st.integers(0, len(parts) - 1))])
            case "noise":
                parts.insert(at, draw(st.sampled_from([b"null", b"[]", b"{}", b'"x"', b"\xff\xfe", b"\0", b"NaN"])))
            case _:
                place = draw(st.integers(0, len(parts[at])))
                parts[at] = parts[at][:place] + draw(st.binary(max_size=3)) + parts[at][place:]
    return b"\n".join(parts)
