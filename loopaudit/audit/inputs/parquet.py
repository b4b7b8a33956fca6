"""Audits transcripts that are kept as parquet or Arrow files: one a row, or one message a row.

A unit of work is a row group, of which only the needed columns are read, a few rows at a time:
what is in memory is a page of the file and a batch of rows.
Where rows of one id are one transcript, it may go over the borders of row groups; then the
whole file is the unit, as an Arrow file always is. A transcript is called ``FILE#ID`` where a column names it, else
``FILE#row N``, N from 1 over the whole file.

Needs ``pyarrow``, which is imported when the first table is met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from msgspec.structs import replace

from loopaudit.audit.inputs.model import Input
from loopaudit.audit.inputs.rows import audit_row
from loopaudit.audit.inputs.tables.arrow import kind_of, rows_of
from loopaudit.audit.inputs.tables.bad_rows import BadRows
from loopaudit.audit.inputs.tables.columns import find_layout, records_value, transcript_in
from loopaudit.audit.inputs.tables.layout import Layout
from loopaudit.audit.inputs.tables.opened import Table, table_class
from loopaudit.audit.session import FileAudit
from loopaudit.config.options import Columns, Options
from loopaudit.core.errors import InputError, reason_of
from loopaudit.core.report import FileProblem

IDS_REMEMBERED: Final = 1_000_000
"""Ids of finished transcripts that are kept, to tell one whose rows do not stand together."""

LONGEST_ID: Final = 200
"""Characters of an id that get into the name of a transcript."""

COLUMNS_SHOWN: Final = 30


class MissingError(InputError):
    """The package that reads parquet is not installed."""


class EmptyError(InputError):
    """The table has no rows."""


@contextmanager
def table(item: Input) -> Iterator[Table]:
    """The open table of an input.

    Raises:
        MissingError: pyarrow is not installed.
        InputError: it cannot be read, or is damaged.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        hint = "pip install 'loopaudit[parquet]'"
        raise MissingError(f"{item.name}: reading a table needs the package pyarrow", hint=hint) from None
    with ExitStack() as stack:
        if item.url is not None:
            from loopaudit.audit.inputs.remote import reading

            file: Any = stack.enter_context(reading(item.url))
        else:
            try:
                file = stack.enter_context(open(item.path or "", "rb"))
            except OSError as error:
                raise InputError(f"{item.name}: cannot be read: {reason_of(error)}") from None
        kind = table_class(file)
        try:
            opened = kind(file)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{item.name}: the {kind.kind} is damaged: {_short(error)}") from None
        yield opened


def units(item: Input, columns: Columns) -> list[Input]:
    """The units of work in a table: its row groups, or the file where rows belong together.

    Raises:
        MissingError: pyarrow is not installed.
        EmptyError: it has no rows.
        UnclearError: no transcripts are recognised in it.
        InputError: it cannot be read, is damaged, or has no column that the user named.
    """
    with table(item) as file:
        return list(_units(item, file, columns))


def _units(item: Input, file: Table, columns: Columns) -> Iterator[Input]:
    import pyarrow as pa

    try:
        empty = file.is_empty()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{item.name}: the {file.kind} is damaged: {_short(error)}") from None
    if empty:
        raise EmptyError(f"{item.name}: a table without rows")
    layout = layout_of(item.name, file, columns)
    sizes = [file.size(part, layout.read) for part in range(file.parts)]
    if layout.grouped:
        yield replace(item, size=sum(sizes), layout=layout)
        return
    for part, size in enumerate(sizes):
        yield replace(item, size=size, part=part, layout=layout)


def layout_of(name: str, file: Table, columns: Columns) -> Layout:
    """How transcripts lie in an open table.

    Raises:
        InputError: as :func:`~loopaudit.audit.inputs.tables.columns.find_layout`, or its first rows are damaged.
    """
    import pyarrow as pa

    schema = file.schema
    kinds = {field.name: kind_of(field.type) for field in schema}

    def shown() -> str:
        listed = [f"{field.name} ({_cut(str(field.type), 40)})" for field in schema]
        more = [f"{len(listed) - COLUMNS_SHOWN} more"] if len(listed) > COLUMNS_SHOWN else []
        return ", ".join([*listed[:COLUMNS_SHOWN], *more])

    def peek(names: Sequence[str], count: int) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        damage: Exception | None = None
        for part in range(file.parts):
            try:
                rows += file.peek(part, names, count - len(rows))
            except (pa.ArrowException, OSError) as error:
                damage = error  # another row group may be whole
            if len(rows) >= count:
                break
        if damage is not None and not rows:
            raise InputError(f"{name}: the {file.kind} is damaged: {_short(damage)}") from None
        return rows

    return find_layout(name, kinds, shown, peek, columns)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + "..."


def _short(error: Exception) -> str:
    return _cut(str(error).split("\n", 1)[0], 160)


def audit_table(item: Input, options: Options, on_progress: Callable[[int], None] | None = None) -> FileAudit:
    """Audit the transcripts of one unit of a table, in the order of its rows.

    An input without a layout (a file that nobody looked into before) is audited as a whole.

    Raises:
        InputError: as :func:`units`.
    """
    with table(item) as file:
        parts = [item] if item.layout is not None else list(_units(item, file, options.columns))
        done = FileAudit()
        bad = BadRows(item.name)
        for part in parts:
            found = _grouped(part, file, on_progress) if _layout(part).grouped else _single(part, file, on_progress)
            for name, value in _until_damaged(part, file.kind, found, done):
                _take(done, bad, audit_row(name, value, options), named=item.named)
        if done.failure is None:
            done.failure = bad.problem()
        return done


def _layout(item: Input) -> Layout:
    assert item.layout is not None
    return item.layout


def _take(done: FileAudit, bad: BadRows, row: FileAudit, *, named: bool) -> None:
    """Put what a row gave to the rest of its table."""
    done.transcripts.extend(row.transcripts)
    if row.failure is None:
        return
    if named or row.failure.exit_code != InputError.exit_code:
        bad.add(row.failure)
    else:
        done.ignored_rows += 1


def _until_damaged(
    item: Input, kind: str, found: Iterator[tuple[str, object]], done: FileAudit
) -> Iterator[tuple[str, object]]:
    """What is found before the first damaged place, which becomes the failure of the table."""
    import pyarrow as pa

    try:
        yield from found
    except (pa.ArrowException, OSError) as error:
        where = "" if item.part is None or kind != "parquet file" else f" in row group {item.part + 1}"
        message = f"{item.name}: the {kind} is damaged{where}, and what follows there is lost: {_short(error)}"
        done.failure = FileProblem(item.name, message, None, InputError.exit_code)


def _single(item: Input, file: Table, on_progress: Callable[[int], None] | None) -> Iterator[tuple[str, object]]:
    """The transcripts of a row group, each with its name."""
    layout = _layout(item)
    part = item.part or 0
    number = file.rows_before(part)
    for row in _all_rows(item, file, [part], on_progress):
        number += 1
        yield _name(item, None if layout.id is None else row[layout.id], number), transcript_in(row, layout)


def _grouped(item: Input, file: Table, on_progress: Callable[[int], None] | None) -> Iterator[tuple[str, object]]:
    """The transcripts of a table of records, each with its name; the rows of one stand together."""
    layout = _layout(item)
    assert layout.id is not None
    rows: list[dict[str, Any]] = []
    finished: set[str] = set()
    current: object = None
    first = 0

    def group() -> tuple[str, object]:
        name = _name(item, current, first)
        if current is None:
            return name, InputError(f"{name}: nothing in the column {layout.id}, so that its transcript is not known")
        if name in finished:
            hint = f"sort the table by {layout.id}"
            return name, InputError(f"{name}: its rows do not stand together: more of them follow others", hint=hint)
        if len(finished) < IDS_REMEMBERED:
            finished.add(name)
        return name, records_value(rows, layout)

    every = list(range(file.parts))
    for number, row in enumerate(_all_rows(item, file, every, on_progress), start=1):
        key = row[layout.id]
        if rows and key != current:
            yield group()
            rows = []
        if not rows:
            current, first = key, number
        if current is not None or not rows:  # of rows without an id only the first counts
            rows.append(row)
    if rows:
        yield group()


def _name(item: Input, key: object, number: int) -> str:
    if key is None or key == "":
        return f"{item.name}#row {number}"
    return f"{item.name}#{str(key)[:LONGEST_ID]}"


def _all_rows(
    item: Input, file: Table, parts: list[int], on_progress: Callable[[int], None] | None
) -> Iterator[dict[str, Any]]:
    """The rows of some parts of a table, a batch in memory at a time."""
    for batch, done in file.batches(parts, _layout(item).read):
        yield from rows_of(batch)
        if on_progress is not None:
            on_progress(done)
