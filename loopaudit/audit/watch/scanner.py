"""Finds the files to watch, again and again: files, folders with what comes into them, and patterns.

Nothing is opened here. A scan costs about as many system calls as there are files.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from loopaudit.audit.inputs.model import SKIPPED_DIRECTORIES
from loopaudit.core.errors import InputError
from loopaudit.readers.recognise import claim
from loopaudit.readers.source import Source

STDIN = "-"


class Seen(NamedTuple):
    """What a file looks like from outside. Equal ones are taken for the same content."""

    size: int
    mtime_ns: int
    device: int
    inode: int

    @property
    def identity(self) -> tuple[int, int]:
        """Which file it is, whatever it is called."""
        return self.device, self.inode


class Sighting(NamedTuple):
    """A file at a scan. ``root`` is the folder that the user named, if it was found in one. ``pipe``: a named pipe."""

    seen: Seen
    root: str | None
    pipe: bool = False

    @property
    def named(self) -> bool:
        """Whether the user named the file itself."""
        return self.root is None


def seen_as(status: os.stat_result) -> Seen:
    """A file's looks from its status."""
    return Seen(status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)


def shown_as(path: str, root: str | None) -> str:
    """A short name: below the folder that the user named, or as the user named it."""
    return Path(path).relative_to(root).as_posix() if root is not None else Path(path).as_posix()


class Scanner:
    """Looks for files. ``refused`` are folders that are one transcript as a whole, which is not followed."""

    def __init__(self, given: Sequence[str]) -> None:
        """Check what the user named.

        Raises:
            InputError: it does not exist, or is a folder that is one transcript.
        """
        self._given = [path for path in dict.fromkeys(given) if path != STDIN]
        self.refused: list[str] = []
        self.empty: list[str] = []
        """Patterns that match nothing yet."""
        self._folders: set[str] = set()
        for path in self._given:
            if Path(path).is_dir():
                if self._refuses(path):
                    raise InputError(f"{path}: a folder that is one transcript is not followed", hint=_REPLAY)
            elif not Path(path).exists():
                if not _is_pattern(path):
                    raise InputError(
                        f"{path}: no such file or directory",
                        hint="name a folder or a quoted pattern to wait for files that are still to come",
                    )
                if not glob.glob(path, recursive=True):
                    self.empty.append(path)

    def scan(self) -> dict[str, Sighting]:
        """Every file there is now, by its path, each once whatever its names."""
        found: dict[str, Sighting] = {}
        known: set[tuple[int, int]] = set()
        for given in self._given:
            for path, sighting in self._expand(given):
                if path not in found and sighting.seen.identity not in known:
                    known.add(sighting.seen.identity)
                    found[path] = sighting
        return found

    def _expand(self, given: str) -> Iterator[tuple[str, Sighting]]:
        if Path(given).is_dir():
            yield from self._folder(given, given)
            return
        one = _look(given)
        if one is not None:
            yield given, one
        elif _is_pattern(given):
            for match in sorted(glob.glob(given, recursive=True)):
                if Path(match).is_dir():
                    yield from self._folder(match, match)
                elif (sighting := _look(match)) is not None:
                    yield match, sighting

    def _folder(self, folder: str, root: str) -> Iterator[tuple[str, Sighting]]:
        """Files of a folder and of those in it. Links to folders are not followed: they may lead in a circle."""
        try:
            entries = sorted(os.scandir(folder), key=_NAME)
        except OSError:
            return
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED_DIRECTORIES and not self._refuses(entry.path):
                        yield from self._folder(entry.path, root)
                    continue
                status = entry.stat()
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                yield entry.path, Sighting(seen_as(status), root)

    def _refuses(self, folder: str) -> bool:
        """Whether a folder is one transcript, told when it is seen for the first time."""
        if folder not in self._folders:
            self._folders.add(folder)
            try:
                with Source(folder) as source:
                    if claim(source.probe()) is not None:
                        self.refused.append(folder)
            except OSError:
                return False
        return folder in self.refused


_NAME = attrgetter("name")
_REPLAY = "it is replayed by `loopaudit replay` when it is finished"


def _is_pattern(path: str) -> bool:
    return any(character in path for character in "*?[")


def _look(path: str) -> Sighting | None:
    """A file as it is now; ``None`` if it is gone, or is neither a file nor a pipe."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    if stat.S_ISREG(status.st_mode):
        return Sighting(seen_as(status), None)
    return Sighting(seen_as(status), None, pipe=True) if stat.S_ISFIFO(status.st_mode) else None


def seen_now(path: str) -> Seen | None:
    """What a file looks like now; ``None`` if it is gone."""
    try:
        return seen_as(Path(path).stat())
    except OSError:
        return None
