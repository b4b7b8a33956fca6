"""Remembers which lines of which files were shown to an agent, and since when that holds.

Most files are read once. The first read of a file is therefore only noted; what it showed
is worked out when the file is read again.
"""

from __future__ import annotations

from typing import Final

import msgspec

from loopaudit.hindsight.calls.changes import Changes
from loopaudit.hindsight.calls.outputs import KnownCall
from loopaudit.hindsight.calls.ranges import Coverage, ReadRange, glimpse_of
from loopaudit.hindsight.words import FIRST, RE_READ, RECHECK, CallClass

MAX_FILES: Final = 1024
"""Files remembered per agent; with more the one read first is forgotten."""

MAX_FRESH: Final = 16
"""Reads of one file in one response that are remembered."""


class _Shown(msgspec.Struct):
    """One file: its lines shown in earlier responses, and the reads of the newest one.

    ``since`` is the call from which on the coverage holds; ``before`` is the coverage from
    before the last compaction, while the first recovery pass after it is going on;
    ``redone`` means that such a pass was made before, without anything lasting since.
    """

    since: int
    batch: int
    turn: int
    epoch: int
    last: int
    redone_at: int = -1
    redone: bool = False
    coverage: Coverage = msgspec.field(default_factory=Coverage)
    before: Coverage | None = None
    fresh: list[tuple[ReadRange, KnownCall]] = msgspec.field(default_factory=list)
    reads: list[tuple[ReadRange, int]] = msgspec.field(default_factory=list)
    """The last reads of the file, oldest first, with their calls."""


_Once = tuple[ReadRange, KnownCall, int, int, int]
"""A file that was read once: how, by which call, in which response, turn and epoch."""


class Shown:
    """The lines that one agent has seen. ``evidence`` is the read that showed what is read again."""

    __slots__ = ("_files", "evidence", "redo")

    def __init__(self) -> None:
        self._files: dict[str, _Shown | _Once] = {}
        self.evidence = 0
        self.redo = False
        """Whether the last re-read repeats a recovery after a compaction."""

    def read(self, asked: ReadRange, entry: KnownCall, changes: Changes) -> CallClass:
        """Record a successful read that no equal call preceded, and tell what it brought.

        ``entry`` is what was just remembered of the call.
        """
        path = f"\0{asked.path}" if asked.numbered else asked.path
        files = self._files
        file = files.get(path)
        if file is None:
            if len(files) >= MAX_FILES:
                del files[next(iter(files))]
            files[path] = (asked, entry, entry.batch, entry.turn, entry.epoch)
            return FIRST
        if isinstance(file, tuple):
            before, known, batch, turn, epoch = file
            files[path] = file = _Shown(known.first, batch, turn, epoch, known.first, fresh=[(before, known)])
            file.reads.append((before, known.first))
        found = self._judge(file, asked, changes, entry)
        self.evidence = _shown_by(file, asked)
        file.last = entry.last
        if len(file.reads) == MAX_FRESH:
            del file.reads[0]
        file.reads.append((asked, entry.last))
        if len(file.fresh) < MAX_FRESH:
            file.fresh.append((asked, entry))
        return found

    def _judge(self, file: _Shown, asked: ReadRange, changes: Changes, entry: KnownCall) -> CallClass:
        self.redo = False
        if file.turn != entry.turn or changes.since(file.since, asked.path):  # the dearer question last
            file.coverage, file.before, file.fresh = Coverage(), None, []
            file.since, file.batch, file.turn, file.epoch = entry.last, entry.batch, entry.turn, entry.epoch
            file.redone_at, file.redone = -1, False
            return FIRST
        if file.batch != entry.batch:
            for earlier, known in file.fresh:
                seen = None if isinstance(known.held, tuple) else glimpse_of(known.held)
                file.coverage.show(earlier, seen)
            file.fresh = []
            file.batch = entry.batch
        if file.epoch != entry.epoch:
            file.epoch = entry.epoch
            if file.redone_at != changes.lasting:
                file.redone_at = changes.lasting
                file.coverage, file.before = Coverage(), file.coverage
            elif file.before is not None:
                file.before, file.redone = None, True
        if file.coverage.covers(asked.first, asked.last):
            self.redo = file.redone
            return RE_READ
        if file.before is not None and file.before.covers(asked.first, asked.last):
            return RECHECK
        return FIRST

    def forget(self, path: str) -> None:
        """A file turned out to be another than the one that was shown."""
        self._files.pop(path, None)
        self._files.pop(f"\0{path}", None)


def _shown_by(file: _Shown, asked: ReadRange) -> int:
    """The newest read of a file that asked for all these lines, else for some of them, else for any."""
    for earlier, number in reversed(file.reads):
        if earlier.first <= asked.first and asked.last <= earlier.last:
            return number
    for earlier, number in reversed(file.reads):
        if earlier.first <= asked.last and asked.first <= earlier.last:
            return number
    return file.last
