"""Where a worker is with a foreign guard, for the process that waits for it.

A guard may never return and let nothing interrupt it: it catches whatever is raised, blocks signals, or stays in one
call of C code, which also keeps other threads from running. Only another process can end that, and only another one can
report it. So a worker writes into memory that it shares with its parent which guard it runs, at which line and until
when, and the parent looks now and then. This costs a microsecond for each call of a foreign guard, and nothing else.
"""

from __future__ import annotations

import struct
from contextlib import suppress
from math import inf
from mmap import mmap
from os import _exit, close, getpid
from pathlib import Path
from time import monotonic
from typing import Final

from msgspec import Struct

LABEL: Final = 240
"""Bytes of a policy's label."""

_ENTRY: Final = struct.Struct(f"=dq{LABEL}s")
"""Until when, by the clock that all processes share; the line; the policy."""

_NOBODY: Final = struct.pack("=dq", inf, -1)


class Inside(Struct, frozen=True):
    """The guard that a process was in when it ended: the policy's label, the line it saw, or 0 where it saw none.

    ``is_overdue`` says that its time was up, and that the process was ended for it.
    """

    label: str
    line: int
    is_overdue: bool = False


class Whereabouts:
    """The memory that a worker shares with its parent: a file of a few bytes, mapped by both."""

    def __init__(self, path: str, shared: mmap) -> None:
        self.path = path
        self._shared = shared
        self._process = getpid()

    @classmethod
    def new(cls) -> Whereabouts | None:
        """For a worker that is to be started; ``None`` where there is no folder for temporary files.

        The parent calls :meth:`close` when the worker is gone.
        """
        import tempfile  # workers have a parent that has it; who replays alone needs none

        try:
            descriptor, path = tempfile.mkstemp(prefix="loopaudit-worker-")
        except OSError:
            return None
        try:
            with open(descriptor, "r+b", closefd=False) as file:
                file.write(_NOBODY.ljust(_ENTRY.size, b"\0"))
                file.flush()
            return cls(path, mmap(descriptor, _ENTRY.size))
        finally:
            close(descriptor)

    @classmethod
    def of_parent(cls, path: str) -> Whereabouts | None:
        """The same memory in the worker; ``None`` where its file is gone."""
        try:
            with open(path, "r+b") as file:
                found = cls(path, mmap(file.fileno(), _ENTRY.size))
        except OSError:
            return None
        found._unlink()  # a parent that is killed leaves nothing behind, but on Windows
        return found

    def close(self) -> None:
        """Let go of it, and of its file."""
        self._shared.close()
        self._unlink()

    def _unlink(self) -> None:
        with suppress(OSError):
            Path(self.path).unlink()

    def enter(self, label: bytes, line: int, seconds: float) -> None:
        """A guard begins to run, which must return within so many seconds."""
        self._shared[:] = _ENTRY.pack(monotonic() + seconds, line, label)

    def leave(self) -> None:
        """It has returned. If it has forked, it does so twice, and the copy of the worker ends here."""
        if getpid() != self._process:
            _exit(1)
        self._shared[: len(_NOBODY)] = _NOBODY

    def inside(self) -> Inside | None:
        """The guard that is running."""
        until, line, label = _ENTRY.unpack(self._shared[:])
        if line < 0:
            return None
        return Inside(label.rstrip(b"\0").decode("utf-8", "replace"), line, until < monotonic())
