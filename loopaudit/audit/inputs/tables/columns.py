"""Finds out how transcripts lie in a table: which column holds them, or which rows make one up.

Names only say where to look first; what a column holds is known by letting the readers
recognise its first values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Final, Literal

from loopaudit.audit.inputs.tables.layout import Layout
from loopaudit.audit.inputs.tables.values import claimed
from loopaudit.config.options import Columns
from loopaudit.core.errors import InputError

Kind = Literal["list", "object", "text", "number", "other"]
"""What a column holds, as far as it matters here."""

Row = Mapping[str, Any]
Peek = Callable[[Sequence[str], int], Sequence[Row]]
"""Gives the first rows of some columns, at most so many."""

NAMES: Final = (
    "messages conversations conversation trajectory traj transcript history chat dialogue dialog events steps turns "
    "records log logs trace input prompt request text content jsonl json data raw"
).split()
"""Columns that may hold transcripts, the likeliest first; others are looked at after them."""

BESIDE: Final = ("tools", "functions", "available_tools", "model")
"""Columns that belong to the list of messages of their row."""

GROUPS: Final = (
    "session_id sessionId session conversation_id conversationId trajectory_id traj_id transcript_id thread_id "
    "trace_id run_id episode_id dialogue_id dialog_id chat_id rollout_id"
).split()
"""Columns that may tell which rows belong together."""

IDS: Final = (*GROUPS, *"instance_id task_id sample_id custom_id id uuid uid _id key name path file".split())
"""Columns that may name the transcript of their row."""

ROLES: Final = frozenset("system developer user human assistant ai model tool function observation".split())
"""Who may have written a message."""

FIRST_VALUES: Final = 4
"""Values of a column that are looked at; a transcript may be large."""

FIRST_ROWS: Final = 200
"""Rows whose ids are looked at."""


class UnclearError(InputError):
    """A table in which no transcripts were found."""


def find_layout(name: str, kinds: Mapping[str, Kind], shown: Callable[[], str], peek: Peek, wanted: Columns) -> Layout:
    """How transcripts lie in the table ``name``.

    ``kinds`` are the columns in order; ``shown`` lists them for a message.

    Raises:
        UnclearError: no column, and no group of rows, is recognised as a transcript.
        InputError: a column that the user named does not exist.
    """
    for option, column in (
        ("--column", wanted.transcript),
        ("--id-column", wanted.id),
        ("--group-by", wanted.group_by),
    ):
        if column is not None and column not in kinds:
            near = get_close_matches(column, kinds, n=1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(f"{name}: {option} {column}: no such column", hint=f"{meant}its columns: {shown()}")
    if wanted.group_by is not None:
        return _grouped(wanted.transcript, wanted.group_by, kinds)
    if wanted.transcript is not None:
        return _rows(wanted.transcript, kinds, peek, wanted)
    groups = [column for column in GROUPS if kinds.get(column) in ("text", "number")]
    if groups and kinds.get("role") == "text" and _are_roles(peek):
        # A table of messages: no cell of it is a transcript.
        found = _grouped_by_any(groups, [None], kinds, peek)
        if found is not None:
            return found
    candidates = [column for column, kind in kinds.items() if kind in ("list", "object", "text")]
    candidates.sort(key=lambda c: (NAMES.index(c.lower()) if c.lower() in NAMES else len(NAMES), kinds[c] != "list"))
    for column in candidates:
        values = [row[column] for row in peek([column], FIRST_VALUES) if row[column] is not None]
        if sum(map(claimed, values)) * 2 > len(values):
            if kinds[column] != "list" and groups and _repeats(groups[0], peek):
                return _grouped(column, groups[0], kinds)
            return _rows(column, kinds, peek, wanted)
    found = _grouped_by_any(groups, [*candidates, None], kinds, peek)
    if found is not None:
        return found
    hint = (
        "name the column of transcripts with --column, or, where a row is one message, the column that tells "
        f"which rows belong together with --group-by; its columns: {shown()}"
    )
    raise UnclearError(f"{name}: no column of it is recognised as transcripts", hint=hint)


def _rows(column: str, kinds: Mapping[str, Kind], peek: Peek, wanted: Columns) -> Layout:
    """One transcript a row."""
    name = wanted.id or next((c for c in IDS if c != column and _names_rows(c, kinds, peek)), None)
    beside = tuple(c for c in BESIDE if c in kinds and c not in (column, name))
    if beside:
        rows = peek([column, *beside], 1)
        beside = beside if rows and claimed(with_beside(rows[0], column, beside)) else ()
    read = (column, *([name] if name is not None and name != column else []), *beside)
    return Layout(column, name, read=read, beside=beside)


def with_beside(row: Row, column: str, beside: Sequence[str]) -> dict[str, Any]:
    """The transcript of a row together with what belongs to it."""
    return {name: row[name] for name in (*beside, column)}


def transcript_in(row: Row, layout: Layout) -> Any:
    """What a row holds that is one transcript; ``None`` or an ``InputError`` where there is none."""
    assert layout.column is not None
    value = row[layout.column]
    if layout.beside and value is not None and not isinstance(value, InputError):
        return with_beside(row, layout.column, layout.beside)
    return value


def _names_rows(column: str, kinds: Mapping[str, Kind], peek: Peek) -> bool:
    """Whether a column has another value in each of the first rows."""
    if kinds.get(column) not in ("text", "number"):
        return False
    values = [row[column] for row in peek([column], FIRST_ROWS)]
    return None not in values and len(set(values)) == len(values)


def _are_roles(peek: Peek) -> bool:
    """Whether the column ``role`` says who wrote a message, and is no fact about a whole transcript."""
    values = {row["role"] for row in peek(["role"], FIRST_ROWS)} - {None}
    return bool(values) and values <= ROLES


def _repeats(column: str, peek: Peek) -> bool:
    """Whether rows one after another have the same value."""
    values = [row[column] for row in peek([column], FIRST_ROWS)]
    return any(a == b and a is not None for a, b in pairwise(values))


def _grouped(column: str | None, id: str, kinds: Mapping[str, Kind]) -> Layout:
    """One record a row."""
    if column is not None:
        return Layout(column, id, grouped=True, read=(column,) if column == id else (column, id))
    read = tuple(c for c, kind in kinds.items() if kind != "other" or c == id)
    return Layout(None, id, grouped=True, read=read)


def _grouped_by_any(
    groups: Sequence[str], columns: Sequence[str | None], kinds: Mapping[str, Kind], peek: Peek
) -> Layout | None:
    """The first layout of one record a row whose first transcript is recognised."""
    for group in groups:
        for column in columns:
            if column == group:
                continue
            layout = _grouped(column, group, kinds)
            rows = peek(layout.read, FIRST_VALUES * 5)
            first = [row for row in rows if row[group] is not None and row[group] == rows[0][group]]
            if first and claimed(records_value(first, layout)):
                return layout
    return None


def records_value(rows: Sequence[Row], layout: Layout) -> object:
    """The transcript that rows of one group make up: a list of objects, or the lines of a text."""
    if layout.column is None:
        return list(rows)
    values = [row[layout.column] for row in rows if row[layout.column] is not None]
    if not values:
        return None
    if all(isinstance(value, (str, bytes)) for value in values):
        lines = [value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value for value in values]
        return b"\n".join(map(_one_line, lines))
    return values


def _one_line(text: bytes) -> bytes:
    """A JSON record on one line; text that is no JSON stays as it is."""
    text = text.strip()
    if b"\n" not in text:
        return text
    import orjson

    try:
        return orjson.dumps(orjson.loads(text))
    except ValueError:
        return text
