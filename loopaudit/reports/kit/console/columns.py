"""Tables that fit: columns shrink as far as they may, then drop whole, the least important first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from loopaudit.core.text import ELLIPSIS

GAP: Final = 2
"""Cells between two columns."""


class Column(Struct, frozen=True):
    """A column of a table.

    ``least`` is how far it may shrink; without it the column never shrinks, so that nothing in
    it is ever cut. A shrunk cell goes on in the next line, or with ``keep`` loses its other end
    (the head of a sentence stays, the tail of a path). Columns of the highest ``rank`` drop
    first, those of rank 0 never. ``wish`` is the width for the sake of which those of more than
    rank 1 drop.
    """

    title: str
    right: bool = False
    least: int | None = None
    keep: Literal["", "head", "tail"] = ""
    rank: int = 0
    wish: int = 0


class Fitted(Struct, frozen=True):
    """A table that fits: the columns with their widths, the rows, the titles of columns that had no room."""

    columns: Sequence[tuple[Column, int]]
    rows: Sequence[Sequence[Text]]
    dropped: Sequence[str]

    @property
    def table(self) -> Table:
        """The whole table."""
        return self._table(self.rows, has_head=True)

    def interleaved(self, below: Sequence[Sequence[RenderableType]]) -> list[RenderableType]:
        """The table with further lines below each row."""
        parts: list[RenderableType] = [self._table((), has_head=True)]
        for row, lines in zip(self.rows, below, strict=True):
            parts += [self._table([row], has_head=False), *lines]
        return parts

    def _table(self, rows: Iterable[Sequence[Text]], *, has_head: bool) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="head", show_header=has_head)
        for column, width in self.columns:
            table.add_column(
                column.title,
                width=width,
                justify="right" if column.right else "left",
                vertical="top",
                no_wrap=bool(column.keep),
                overflow="ellipsis" if column.keep else "fold",
            )
        for row in rows:
            cells = zip(row, self.columns, strict=True)
            table.add_row(*(tail(text, width) if column.keep == "tail" else text for text, (column, width) in cells))
        return table

    def note(self) -> list[RenderableType]:
        """A line that names the dropped columns, if there are any."""
        if not self.dropped:
            return []
        return [Text(f"no room for {', '.join(self.dropped)} (--width shows more)", "dim")]


def fitted(columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int) -> Fitted:
    """Lay out a table of ``width`` cells. A column without any content is left out without a word."""
    used = [i for i in range(len(columns)) if any(row[i].plain for row in rows)]
    full = {i: max(_head(columns[i]), *(row[i].cell_len for row in rows)) for i in used}
    dropped = []
    while len(used) > 1 and _needed(columns, used, full) > width:
        last = max(used, key=lambda i: (columns[i].rank, i))
        if not columns[last].rank:
            break
        used.remove(last)
        dropped.append(last)
    widths = _widths(columns, used, full, width)
    shown = [[row[i] for i in used] for row in rows]
    return Fitted([(columns[i], widths[i]) for i in used], shown, [columns[i].title for i in sorted(dropped)])


def _least(column: Column, full: int) -> int:
    return full if column.least is None else min(full, max(column.least, _head(column)))


def _head(column: Column) -> int:
    """Cells of the title: of all where the cells of the column are cut, of its longest word where they go on."""
    return cell_len(column.title) if column.keep else max(map(cell_len, column.title.split()), default=0)


def _needed(columns: Sequence[Column], used: Sequence[int], full: dict[int, int]) -> int:
    may_wish = any(columns[i].rank > 1 for i in used)
    each = (max(_least(columns[i], full[i]), min(columns[i].wish, full[i]) if may_wish else 0) for i in used)
    return sum(each) + GAP * (len(used) - 1)


def _widths(columns: Sequence[Column], used: Sequence[int], full: dict[int, int], width: int) -> dict[int, int]:
    """Widths of the columns: the widest that may shrink gives way until the row fits."""
    widths = {i: full[i] for i in used}
    over = sum(widths.values()) + GAP * (len(used) - 1) - width
    while over > 0:
        free = [i for i in used if widths[i] > _least(columns[i], full[i])]
        if not free:
            break
        widest = max(free, key=lambda i: widths[i])
        second = max((widths[i] for i in free if i != widest), default=0)
        give = min(over, widths[widest] - _least(columns[widest], full[widest]), max(widths[widest] - second, 1))
        widths[widest] -= give
        over -= give
    return widths


def tail(text: Text, cells: int) -> Text:
    """The text cut at its beginning to at most ``cells`` cells."""
    if text.cell_len <= cells:
        return text
    if cells <= 1:
        return Text(ELLIPSIS[:cells], text.style)
    kept = chop_cells(text.plain[::-1], cells - 1)[0][::-1].lstrip()
    return Text(f"{ELLIPSIS}{kept}", text.style)


class Flow:
    """Texts one after the other, broken between them only, as a legend is."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._texts = texts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line: list[Text] = []
        left = options.max_width
        for text in self._texts:
            if line and text.cell_len > left:
                yield Text("   ").join(line)
                line, left = [], options.max_width
            line.append(text)
            left -= text.cell_len + 3
        if line:
            yield Text("   ").join(line)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)
