"""The folder of the cache: one file per result, an index of known files, and a few notes.

::

    CACHEDIR.TAG, .gitignore      tell backups and git to leave the folder alone
    v1/index                      which content known files have (see :mod:`loopaudit.audit.cache.content`)
    v1/notes/HEX                  digests that take a while to make
    v1/results/HH/HEX             one result each

Every file begins with a checksum and comes into being under its name at once, so that runs at
the same time, or one that is killed, leave whole files only; what is damaged counts as absent.
Folders and files are for their owner alone: results hold excerpts of transcripts. The checksum is no
signature, so a folder into which others may write is not used (:meth:`Store.foreign`), and a file that
is not the user's own counts as absent. Nothing here raises for what a disk may do;
:attr:`Store.trouble` says why nothing more is written.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from loopaudit.core.digests import blake2b
from loopaudit.core.errors import reason_of

VERSION: Final = "v1"

MAGIC: Final = b"loopaudit cache 1\n"

CHECK: Final = 16
"""Bytes of a file's checksum, behind the magic words."""

MAX_BYTES: Final = 512 << 20
"""What the results may take on disk; the longest unused go first."""

MAX_AGE: Final = 30 * 86_400
"""Seconds after which an unused result goes."""

TRIM_EVERY: Final = 86_400
"""Seconds between two looks at what may go."""

TRIM_BYTES: Final = 64 << 20
"""Written bytes after which there is a look at once."""

USED_AGAIN: Final = 3_600
"""Seconds after which a use of a result is noted anew."""

TAG: Final = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# This folder is a cache of loopaudit; `loopaudit cache clear` empties it.\n"
)


class Size(NamedTuple):
    """What the folder holds: results, and bytes of all its files."""

    results: int
    bytes: int


class Store:
    """Reads and writes the files of one cache folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / VERSION
        self.trouble: str | None = None
        self._written = 0
        self._made: set[Path] = set()

    def foreign(self) -> str | None:
        """Why nothing in the folder can be believed: others own it, or may write into it."""
        try:
            found = self.home.stat()
        except OSError:
            return None
        return None if _is_private(found) else f"{self.home} belongs to others, or others may write into it"

    # -- results, notes, index -------------------------------------------------------------

    def result(self, key: str) -> bytes | None:
        """The result under a key of hex digits."""
        path = self._result(key)
        data = self._read(path)
        if data is not None:
            self._used(path)
        return data

    def keep_result(self, key: str, data: bytes) -> None:
        """Put a result under a key."""
        self._write(self._result(key), data)

    def account(self, written: int, trouble: str | None) -> None:
        """Count what another process wrote, and what kept it from writing."""
        self._written += written
        self.trouble = self.trouble or trouble

    def _result(self, key: str) -> Path:
        return self.home / "results" / key[:2] / key[2:]

    def note(self, key: bytes) -> bytes | None:
        """A noted digest."""
        return self._read(self.home / "notes" / key.hex())

    def keep_note(self, key: bytes, value: bytes) -> None:
        """Note a digest."""
        self._write(self.home / "notes" / key.hex(), value)

    def index(self) -> bytes:
        """The index; empty where there is none."""
        return self._read(self.home / "index") or b""

    def keep_index(self, data: bytes) -> None:
        """Replace the index."""
        self._write(self.home / "index", data)

    # -- files -----------------------------------------------------------------------------

    def _read(self, path: Path) -> bytes | None:
        try:
            with open(path, "rb", buffering=0, opener=_opened) as file:
                info = os.fstat(file.fileno())
                if not stat.S_ISREG(info.st_mode) or not _is_private(info):
                    return None
                data = file.readall()
        except OSError:
            return None
        begin = len(MAGIC) + CHECK
        body = memoryview(data)[begin:]
        if not data.startswith(MAGIC) or data[len(MAGIC) : begin] != _check(body):
            return None
        return data[begin:]

    def _write(self, path: Path, data: bytes) -> None:
        if self.trouble is not None:
            return
        try:
            try:
                self._put(path, data)
            except FileNotFoundError:  # another process has just cleared the cache
                self._made.clear()
                self._put(path, data)
        except OSError as error:
            self.trouble = f"{self.folder}: {reason_of(error)}"
            return
        self._written += len(data)

    def _put(self, path: Path, data: bytes) -> None:
        self._make(path.parent)
        # Another process may write the same name; so may one that was killed while it did.
        draft = path.with_name(f".{path.name[:8]}-{os.urandom(8).hex()}.tmp")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        try:
            with open(handle, "wb") as file:
                file.write(MAGIC + _check(data) + data)
            draft.replace(path)
        finally:
            _remove(draft)  # which is gone unless something went wrong

    def _make(self, folder: Path) -> None:
        """Make a folder below ours, for its owner alone."""
        if folder in self._made:
            return
        if not self._made:
            new = not self.folder.is_dir()
            self.folder.mkdir(0o700, parents=True, exist_ok=True)
            self.home.mkdir(0o700, exist_ok=True)
            self._made.add(self.home)
            if new:
                for name, text in (("CACHEDIR.TAG", TAG), (".gitignore", b"*\n")):
                    (self.folder / name).write_bytes(text)
        for part in (folder.parent, folder):
            if part not in self._made:
                part.mkdir(0o700, exist_ok=True)
                self._made.add(part)

    @staticmethod
    def _used(path: Path) -> None:
        with suppress(OSError):  # another process removed it, or the folder may only be read
            if path.stat().st_mtime + USED_AGAIN < time.time():
                os.utime(path)

    # -- size ------------------------------------------------------------------------------

    def tidy(self) -> None:
        """Let go what is too much, if it is time to look; several processes may do so at once."""
        if not self._written or self.trouble is not None:
            return
        mark = self.home / "tidied"
        try:
            last = mark.stat().st_mtime
        except OSError:
            last = 0.0
        if last + TRIM_EVERY < time.time() or self._written > TRIM_BYTES:
            self._write(mark, b"")
            self.trim(MAX_BYTES)

    def trim(self, limit: int) -> None:
        """Remove results that were not used for long, and the longest unused until a tenth below ``limit`` bytes."""
        now = time.time()
        found: list[tuple[float, int, str]] = []
        for entry in self._files():
            try:
                info = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # removed by another process
            old = now - info.st_mtime
            if old > MAX_AGE or (entry.name.endswith(".tmp") and old > TRIM_EVERY):
                _remove(entry.path)
            elif self._is_result(entry):
                found.append((info.st_mtime, _on_disk(info), entry.path))
        total = sum(size for _, size, _ in found)
        if total <= limit:
            return
        for _, size, path in sorted(found):
            _remove(path)
            total -= size
            if total <= limit * 9 // 10:
                return

    def size(self) -> Size:
        """What there is."""
        results = total = 0
        for entry in self._files():
            try:
                total += _on_disk(entry.stat(follow_symlinks=False))
            except OSError:
                continue
            results += self._is_result(entry)
        return Size(results, total)

    def clear(self) -> None:
        """Remove what this class has written, and the folders that are empty then.

        Raises:
            OSError: something cannot be removed.
        """
        for entry in list(self._files()):
            with suppress(FileNotFoundError):
                Path(entry.path).unlink()
        for folder, _, _ in os.walk(self.home, topdown=False):
            with suppress(OSError):  # another process has written into it since
                Path(folder).rmdir()

    def _is_result(self, entry: os.DirEntry[str]) -> bool:
        return Path(entry.path).parents[1] == self.home / "results" and not entry.name.startswith(".")

    def _files(self) -> Iterator[os.DirEntry[str]]:
        """Every file of ours; other files in the folder are none of our business."""
        pending = [os.fspath(self.home)]
        while pending:
            try:
                with os.scandir(pending.pop()) as entries:
                    inside = list(entries)
            except OSError:
                continue
            for entry in inside:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    yield entry


def _opened(path: str, flags: int) -> int:
    """Open a file that may be something else by now: follow no link, and wait for nobody at a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _is_private(info: os.stat_result) -> bool:
    """Whether nobody but this user, and the administrator, can have written it. Where files have no owners: yes."""
    return not hasattr(os, "geteuid") or (info.st_uid in (os.geteuid(), 0) and not info.st_mode & 0o022)


def _check(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=CHECK).digest()


def _on_disk(info: os.stat_result) -> int:
    """Bytes that a file takes, in the usual blocks of 4 KiB."""
    return -(-info.st_size // 4096) * 4096


def _remove(path: str | Path) -> None:
    with suppress(OSError):  # gone already
        Path(path).unlink()
