"""What the beginning of a growing file tells: its format, as far as that can be known yet."""

from __future__ import annotations

import io
from typing import IO, Final, cast

from msgspec import Struct

from loopaudit.audit.watch.feeds import Feed
from loopaudit.readers.contract import Reader
from loopaudit.readers.probe import PREFIX_BYTES, Probe
from loopaudit.readers.recognise import claim
from loopaudit.readers.registry import readers
from loopaudit.readers.source import GZIP_MAGIC, MAX_WHOLE, PREFIX_RECORDS, ZIP_MAGIC, ZSTD_MAGIC, Source

COMPRESSED: Final = {GZIP_MAGIC: "gzip", ZSTD_MAGIC: "zstd"}


class Look(Struct, frozen=True):
    """A look at the first bytes of a file of ``size`` bytes.

    ``reader`` is ``None`` where nobody claims it (yet). ``full`` says that all was there which recognising a
    finished file looks at, so that no later look can tell more. ``whole`` stands for one document, which no reader
    can follow as it grows.
    """

    size: int
    probe: Probe
    reader: Reader | None
    full: bool
    whole: bool
    compression: str | None = None


class Beginning(io.RawIOBase):
    """The first bytes of a feed as a stream, for a look at as many of them as that takes."""

    def __init__(self, feed: Feed, size: int) -> None:
        self._feed = feed
        self._size = size
        self._offset = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """At most so many bytes; empty at the end."""
        left = self._size - self._offset
        data = self._feed.read_at(self._offset, min(size, left) if size >= 0 else left) if left > 0 else b""
        self._offset += len(data)
        return data


def look(feed: Feed, size: int, *, limit: int = MAX_WHOLE, format_id: str | None = None) -> Look:
    """Look at as many of the ``size`` bytes that are there as a replay does to recognise a file, up to a limit."""
    data = feed.read_at(0, min(size, PREFIX_BYTES))
    for magic, name in COMPRESSED.items():
        if data.startswith(magic):
            return Look(size, Probe("other"), None, len(data) == PREFIX_BYTES, whole=False, compression=name)
    if data.startswith(ZIP_MAGIC):
        return Look(size, Probe("zip"), None, len(data) == PREFIX_BYTES, whole=True)
    with Source(None, stream=cast(IO[bytes], Beginning(feed, min(size, limit)))) as source:
        probe = source.probe()
        full = size >= limit or source.has_more() or data.count(b"\n") >= PREFIX_RECORDS
        # One record without a line feed: a line that is being written, or a document that is written anew each time.
        one_line = not source.has_more() and source.is_one_line() and len(probe.records) < 2
    reader = readers().get(format_id) if format_id is not None else claim(probe)
    if probe.shape == "empty":
        reader = None
    return Look(size, probe, reader, full, whole=probe.shape == "document" or one_line)
