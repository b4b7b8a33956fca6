"""Finds transcripts: files, directories, globs and standard input.

A path that a user names is always an input. Inside a directory every regular file is looked
at, and what is no transcript is ignored and counted by reason. A directory may itself be
one transcript (a folder of events); then its files are not looked at one by one.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from loopaudit.audit.inputs.model import SKIPPED_DIRECTORIES, Found, Input
from loopaudit.config.options import Columns
from loopaudit.core.errors import InputError, LoopauditError
from loopaudit.core.urls import scheme_of
from loopaudit.readers.recognise import claim
from loopaudit.readers.source import PARQUET_MAGIC, Source

TABLES: Final = (".parquet", ".parq", ".pq")
"""How the names of parquet files end."""


def discover(paths: Iterable[str], columns: Columns = Columns()) -> Found:  # noqa: B008 - it is frozen
    """Expand what a user named into inputs, each once.

    A path with a scheme (``s3://bucket/folder``) is a URL. ``columns`` are those of tables that
    the user named.

    Raises:
        InputError: a path does not exist, or a pattern matches nothing.
    """
    found = Found()
    seen: set[tuple[str, int | None]] = set()
    for given in paths:
        for item in _units(given, found, columns):
            name = item.url or item.name if item.path is None else os.path.realpath(item.path)
            identity = name, item.part
            if identity not in seen:
                seen.add(identity)
                found.inputs.append(item)
    return found


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
    """Whether a file is parquet by its name, or, where it is named, by its first bytes."""
    if item.name.lower().endswith(TABLES):
        return True
    if not item.named or item.path is None or not item.path.is_file():
        return False
    try:
        with item.path.open("rb") as file:
            return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
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
            found.ignore("parquet, which needs pip install 'loopaudit[parquet]'")
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
    if path.is_dir():
        yield from _directory(path, found)
        return
    if path.exists():
        yield Input(path, named=True, size=path.stat().st_size)
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
    for folder, subfolders, names in os.walk(root):
        here = Path(folder)
        kept = []
        for name in sorted(subfolders):
            if name in SKIPPED_DIRECTORIES:
                continue
            inner = here / name
            if _is_transcript(inner):
                yield Input(inner, named=False, size=_tree_size(inner))
            else:
                kept.append(name)
        subfolders[:] = kept
        for name in sorted(names):
            path = here / name
            try:
                if not path.is_file():
                    found.ignore("not a regular file")
                    continue
                size = path.stat().st_size
            except OSError:
                found.ignore("unreadable")
                continue
            if size == 0:
                found.ignore("empty")
                continue
            yield Input(path, named=False, size=size)


def _is_transcript(folder: Path) -> bool:
    """Whether a directory is one transcript by the names in it."""
    try:
        with Source(folder) as source:
            return claim(source.probe()) is not None
    except OSError:
        return False


def _tree_size(root: Path) -> int:
    return sum(f.stat().st_size for f in root.rglob("*") if f.is_file())
