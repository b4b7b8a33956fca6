"""Finds transcripts: files, directories, globs and standard input.

A path that a user names is always an input. Inside a directory every regular file is looked
at, and what is no transcript is ignored and counted by reason. What may not be looked at is an
input all the same: reading it fails in words. A directory may itself be
one transcript (a folder of events); then its files are not looked at one by one.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from loopaudit.audit.inputs.model import SKIPPED_DIRECTORIES, Found, Input
from loopaudit.config.options import Columns
from loopaudit.core.errors import InputError, LoopauditError, reason_of
from loopaudit.core.urls import scheme_of
from loopaudit.readers.recognise import claim
from loopaudit.readers.source import TABLE_MAGICS, Source

NOTHING: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Why nothing stands behind a name that a folder lists: it is gone, or a link to nothing or to itself."""

TABLES: Final = (".parquet", ".parq", ".pq", ".arrow", ".feather")
"""How the names of parquet and Arrow files end."""


def discover(paths: Iterable[str], columns: Columns = Columns()) -> Found:  # noqa: B008 - it is frozen
    """Expand what a user named into inputs, each once.

    A path with a scheme (``s3://bucket/folder``) is a URL. ``columns`` are those of tables that
    the user named.

    Raises:
        InputError: a path does not exist, or a pattern matches nothing.
    """
    found = Found()
    seen: set[tuple[str, int | None]] = set()
    real_folders: dict[str, str] = {}
    for path in paths:
        for item in _units(path, found, columns):
            if item.path is None:
                name = item.url or item.name
            else:
                given = os.fspath(item.path)
                name = _real_path(given, found, real_folders, is_listed=not item.named)
            identity = name, item.part
            if identity not in seen:
                seen.add(identity)
                found.inputs.append(item)
    return found


def _real_path(given: str, found: Found, real_folders: dict[str, str], *, is_listed: bool) -> str:
    """The path without links. Where its folder leads is found out once for all files that were listed in it."""
    # On Windows a name that a user wrote may be spelled in other ways than the folder lists it.
    if not is_listed or given in found.links:
        return os.path.realpath(given)
    start = given.rfind(os.sep) + 1
    folder = given[:start]
    real_folder = real_folders.get(folder)
    if real_folder is None:
        real_folder = real_folders[folder] = os.path.join(os.path.realpath(folder), "")
    return real_folder + given[start:]


def _units(given: str, found: Found, columns: Columns) -> Iterator[Input]:
    """What a user named, with tables divided into units of work."""
    if scheme_of(given) is None:
        items = _expand(given, found)
    else:
        from loopaudit.audit.inputs.remote import expand

        items = expand(given, found)
    for item in items:
        if _is_table(item):
            yield from _table(item, found, columns)
        else:
            yield item


def _is_table(item: Input) -> bool:
    """Whether a file is a table by its name, or, where it is named, by its first bytes."""
    if (item.name if item.path is None else os.fspath(item.path)).lower().endswith(TABLES):
        return True
    if not item.named or item.path is None or not item.path.is_file():
        return False
    try:
        with item.path.open("rb") as file:
            return file.read(max(map(len, TABLE_MAGICS))).startswith(TABLE_MAGICS)
    except OSError:
        return False


def _table(item: Input, found: Found, columns: Columns) -> Iterator[Input]:
    """The units of a table. What is wrong with it is told when it is audited."""
    from loopaudit.audit.inputs.parquet import EmptyError, MissingError, units
    from loopaudit.audit.inputs.tables.columns import UnclearError

    try:
        yield from units(item, columns)
    except LoopauditError as error:
        if item.named:
            yield item
        elif isinstance(error, MissingError):
            found.ignore("table, which needs pip install 'loopaudit[parquet]'")
        elif isinstance(error, UnclearError):
            found.ignore("table without transcripts")
        elif isinstance(error, EmptyError):
            found.ignore("empty")
        else:
            yield item


def _expand(given: str, found: Found) -> Iterator[Input]:
    if given == "-":
        yield Input(None, named=True)
        return
    path = Path(given)
    try:
        info = path.stat()
    except FileNotFoundError:
        info = None
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else str(error)
        raise InputError(f"{given}: cannot be read: {reason}") from None
    if info is not None and stat.S_ISDIR(info.st_mode):
        yield from _directory(path, found)
        return
    if info is not None:
        yield Input(path, named=True, size=info.st_size)
        return
    if any(c in given for c in "*?["):
        matches = sorted(glob.glob(given, recursive=True))
        if matches:
            for match in matches:
                yield from _expand(match, found)
            return
        raise InputError(f"{given}: the pattern matches no file", hint="quote it, or check the folder")
    raise InputError(f"{given}: no such file or directory", hint=_similar(path))


def _similar(path: Path) -> str | None:
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"the folder {path.parent.as_posix()} does not exist"
    near = get_close_matches(path.name, names, n=2)
    return "did you mean " + " or ".join((path.parent / n).as_posix() for n in near) + "?" if near else None


def _directory(root: Path, found: Found) -> Iterator[Input]:
    if _is_transcript(root):
        yield Input(root, named=True, size=_tree_size(root))
        return
    closed: list[OSError] = []
    for folder, subfolders, names in os.walk(root, onerror=closed.append):
        here = Path(folder)
        kept = []
        for name in sorted(subfolders):
            if name in SKIPPED_DIRECTORIES:
                continue
            inner = here / name
            if _is_transcript(inner):
                if inner.is_symlink():
                    found.links.add(os.fspath(inner))
                yield Input(inner, named=False, size=_tree_size(inner))
            else:
                kept.append(name)
        subfolders[:] = kept
        for name in sorted(names):
            path = here / name
            given = os.fspath(path)
            try:
                info = os.lstat(given)  # of most files all that need be asked
                if stat.S_ISLNK(info.st_mode):
                    found.links.add(given)
                    info = os.stat(given)
            except OSError as error:
                if error.errno in NOTHING:
                    found.ignore("not a regular file")
                else:
                    yield Input(path, named=False)
                continue
            if not stat.S_ISREG(info.st_mode):
                found.ignore("not a regular file")
            elif info.st_size == 0:
                found.ignore("empty")
            else:
                yield Input(path, named=False, size=info.st_size)
    for refused in closed:
        if os.path.islink(refused.filename):
            found.links.add(os.fspath(Path(refused.filename)))
        yield Input(Path(refused.filename), named=False)


def _is_transcript(folder: Path) -> bool:
    """Whether a directory is one transcript by the names in it."""
    try:
        with Source(folder) as source:
            return claim(source.probe()) is not None
    except InputError:
        return False


def _tree_size(root: Path) -> int:
    size = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):  # gone, or a link to nothing
                size += Path(folder, name).stat().st_size
    return size
