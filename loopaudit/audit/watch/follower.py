"""Follows one transcript: a reader in a thread of its own, over a stream that waits where the file ends.

Readers pull their lines, so a reader of a growing file has to stop in the middle of its work.
Its thread runs only while the watcher waits for it: :meth:`Follower.advance` lets it read up
to a place, and returns when all whole lines before that place are read, replayed and
collected. So nothing of a reader, an emitter or a guard is ever used by two threads at once.
"""

from __future__ import annotations

import io
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import Semaphore
from typing import IO, Final, cast

from loopaudit.audit.session import FileAudit, guarded
from loopaudit.audit.watch.feeds import Feed
from loopaudit.audit.watch.listener import Listener
from loopaudit.audit.watch.notices import Firing, Notice
from loopaudit.config.options import Options
from loopaudit.core.findings import Problem
from loopaudit.core.report import FileProblem
from loopaudit.readers.contract import Reader
from loopaudit.readers.probe import Probe
from loopaudit.readers.recognise import recognise
from loopaudit.readers.source import BOM, Source

INCOMPLETE: Final = frozenset({"cut_document", "damaged_document", "damaged_stream", "damaged_archive"})
"""Problems of a document that is being written."""


class _Stopped(Exception):  # noqa: N818 - it ends a reader's thread and is no error
    """Thrown into a reader that nobody needs any longer."""


class _Tail(io.RawIOBase):
    """A stream that waits for more where the allowed part ends."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.offset = 0
        """Bytes handed out; nobody reads them twice."""
        self.limit = 0
        self.ended = False
        self.stopped = False
        self.go = Semaphore(0)
        self.paused = Semaphore(0)
        self.listener: Listener | None = None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        """At least one byte, as soon as it is there; empty at the end."""
        while True:
            if self.stopped:
                raise _Stopped
            left = self.limit - self.offset
            data = self.feed.read_at(self.offset, min(size, left) if size >= 0 else left) if left > 0 else b""
            if data:
                first = self.offset == 0
                self.offset += len(data)
                if first and data.startswith(BOM):
                    data = data[len(BOM) :]
                    if not data:
                        continue
                return data
            if self.ended:
                return b""
            if self.listener is not None:
                self.listener.pause()
            self.paused.release()
            self.go.acquire()


class Follower:
    """One reader at work. ``over`` is true when it has come to its end, by :meth:`finish` or by itself."""

    def __init__(
        self, feed: Feed, reader: Reader, probe: Probe, options: Options, name: str, shown: str, threads: Executor
    ) -> None:
        self._tail = _Tail(feed)
        self._name = name
        self._reader = reader
        self._options = options
        self._source: Source | None = None
        self.over = False
        self.listener: Listener | None = None
        self._shown = shown
        self._future: Future[FileAudit] = threads.submit(self._run, probe)

    def _run(self, probe: Probe) -> FileAudit:
        tail = self._tail
        tail.go.acquire()
        try:
            return guarded(self._name, lambda: self._read(probe))
        finally:
            self.over = True
            tail.paused.release()

    def _read(self, probe: Probe) -> FileAudit:
        tail = self._tail
        try:
            with Source(None, stream=cast(IO[bytes], tail), name=self._name, probe=probe) as source:
                listener = Listener(self._name, self._shown, self._reader.id, self._options, source.problems)
                self.listener = tail.listener = listener
                self._reader.report(source, listener.emitter)
                # Only a stop of the reader's own accord, or the end of the watch, comes here.
                listener.emitter.finish()
        except _Stopped:
            pass
        return FileAudit()

    @property
    def offset(self) -> int:
        """Bytes that were read."""
        return self._tail.offset

    @property
    def failure(self) -> FileProblem | None:
        """Why the reader gave up."""
        return self._future.result().failure if self.over else None

    def advance(self, limit: int) -> None:
        """Read up to this place, and let the guards see what is complete."""
        self._tail.limit = limit
        self._resume()

    def finish(self) -> None:
        """Let the reader find the end of the file here, and hand on everything that waits."""
        self._tail.ended = True
        self._resume()

    def stop(self) -> None:
        """End the thread without a result."""
        self._tail.stopped = True
        self._resume()
        self._future.result()

    def take(self) -> tuple[list[Firing], list[Notice], list[Problem], int]:
        """What came since the last time, see :meth:`Listener.take`."""
        if self.listener is None:
            return [], [], [], 0
        return self.listener.take()

    def rename(self, name: str, shown: str) -> None:
        """The file has another name now."""
        if self.listener is not None:
            self.listener.name, self.listener.shown = name, shown

    def _resume(self) -> None:
        if not self.over:
            self._tail.go.release()
            self._tail.paused.acquire()


class Document:
    """What one reading of a whole document gave.

    ``fired`` are the firings that no later reading can change, ``last`` those that come from its end: of a response
    that may get more calls or results. ``complete`` is false for a document that is being written.
    """

    def __init__(self) -> None:
        self.complete = False
        self.fired: list[Firing] = []
        self.last: list[Firing] = []
        self.notices: list[Notice] = []
        self.problems: list[Problem] = []
        self.damaged = 0
        self.calls = 0


def read_document(path: Path, name: str, shown: str, options: Options) -> tuple[Document, FileProblem | None]:
    """Read a document that is written as a whole."""
    document = Document()

    def work() -> FileAudit:
        with Source(path, name=name) as source:
            reader = recognise(source, options.format_id)
            listener = Listener(name, shown, reader.id, options, source.problems)
            reader.report(source, listener.emitter)
            document.complete = INCOMPLETE.isdisjoint(source.problems.counts)
            listener.pause()
            document.fired, _, document.problems, document.damaged = listener.take()
            listener.emitter.finish()
            document.last, document.notices, _, _ = listener.take()
            document.calls = listener.calls
        return FileAudit()

    return document, guarded(name, work).failure
