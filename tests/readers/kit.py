"""Reads records and documents that a test writes, and finds the samples of the formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loopaudit.core.counts import Totals
from loopaudit.core.events import Boundary, Event
from loopaudit.readers.registry import readers
from loopaudit.readers.source import Source
from tests import corpus
from tests.places import SAMPLES
from tests.readers.claude_records import batches, lines, shape

__all__ = ["Read", "batches", "claimed", "lines", "sample", "shape", "write"]

FOLDER = SAMPLES / "formats"


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


def reason_of(event: Event) -> str:
    """Why the run ended or was cut, of an event that must be a boundary."""
    assert isinstance(event, Boundary)
    return event.reason


def write(content: Any) -> bytes:
    if isinstance(content, Document):
        return json.dumps(content.value, indent=1).encode()
    return lines(content)


def claimed(id: str, content: Any) -> str | None:
    """What the reader's sniffer says."""
    import io

    with Source(None, stream=io.BytesIO(content if isinstance(content, bytes) else write(content))) as source:
        return readers().get(id).sniff(source.probe())


def sample(id: str) -> Path:
    """The sample file of a format."""
    (path,) = FOLDER.glob(f"{id}.json*")
    return path
