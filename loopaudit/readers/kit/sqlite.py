"""Reads SQLite stores of agents, read-only and as they lie: nothing is written, locked or recovered.

The file is opened as immutable, so that a program that has it open is not disturbed. What that program has not yet
written back from its write-ahead log is not seen; :func:`count_log` counts that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from loopaudit.core.canonical import NOT_JSON, parse
from loopaudit.core.text import one_line
from loopaudit.readers.emit import Emitter
from loopaudit.readers.probe import Probe

if TYPE_CHECKING:
    import sqlite3  # readers that know a store are asked about every file and folder, and most are none

MAGIC: Final = "SQLite format 3"
"""How the text of a store begins."""

MAX_VALUE: Final = 1 << 28
"""Bytes of a value, at most."""

MAX_TABLES: Final = 200
"""Tables that are looked at, at most."""

Columns = Mapping[str, frozenset[str]]
"""The columns of each table."""


def columns_of(probe: Probe) -> Columns:
    """The tables of a store with their columns; empty where a probe is none, or cannot be opened."""
    if probe.shape != "other" or not probe.text.startswith(MAGIC):
        return {}
    return probe.once(_columns)


def _columns(probe: Probe) -> Columns:
    path = Path(probe.path)
    if not path.is_file():
        return {}
    import sqlite3

    try:
        with closing(_connect(path)) as store:
            names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            found = "SELECT name FROM pragma_table_info(?)"
            return {name: frozenset(c for (c,) in store.execute(found, (name,))) for name in names[:MAX_TABLES]}
    except (sqlite3.Error, OSError):
        return {}


def _connect(path: Path) -> sqlite3.Connection:
    import sqlite3

    store = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
    store.execute("PRAGMA query_only = ON")
    store.execute("PRAGMA trusted_schema = OFF")
    store.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    store.text_factory = lambda value: value.decode("utf-8", "replace")
    return store


def rows(path: Path, query: str, emit: Emitter, values: Sequence[str] = ()) -> Iterator[tuple[Any, ...]]:
    """The rows of a query, whose text is a reader's own, for ``values``. A damaged store ends with a problem."""
    import sqlite3

    try:
        with closing(_connect(path)) as store:
            yield from store.execute(query, values)
    except (sqlite3.Error, OSError) as error:
        emit.problem("damaged_store", f"the store ends in an error: {one_line(str(error), 120)}", damage=True)


def count_log(path: Path, emit: Emitter) -> None:
    """Count a write-ahead log beside a store: what is in it is not read."""
    log = path.with_name(path.name + "-wal")
    if log.is_file() and log.stat().st_size:
        what = "the write-ahead log beside the store is not read: close the program that writes it"
        emit.problem("unread_log", what)


def decoded(value: Any) -> Any:
    """A column that holds JSON; anything else as it is."""
    found = parse(value) if isinstance(value, str) else NOT_JSON
    return value if found is NOT_JSON else found
