"""Aligned columns without lines: widths follow the content and shrink to the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from loopaudit.reports.kit.page import cells
from loopaudit.reports.kit.page.page import Line, Span

GAP: Final = 2
"""Cells between two columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    ``right`` aligns numbers. ``least`` is how far it may shrink; without it the column never
    shrinks. ``most`` bounds it from the start. ``keep`` says which end of a cut cell stays.
    """

    title: str
    right: bool = False
    least: int | None = None
    most: int = 1000
    keep: cells.Keep = "head"


class Table(NamedTuple):
    """A laid-out table: its head, a line for each row, and how wide the lines are."""

    head: Line
    rows: list[Line]
    width: int
    indent: int
    """The cell at which the second column begins."""


def table(columns: Sequence[Column], rows: Sequence[Sequence[Span]], width: int) -> Table:
    """Lay out a table. A column without any content is left out."""
    used = [i for i in range(len(columns)) if any(row[i].text for row in rows)]
    shown = [columns[i] for i in used]
    clean = [[Span(cells.clean(row[i].text), row[i].style) for i in used] for row in rows]
    widths = column_widths(shown, [[span.text for span in row] for row in clean], width)
    head = _line(shown, widths, [Span(column.title, "head") for column in shown])
    whole = sum(widths) + GAP * (len(widths) - 1)
    return Table(head, [_line(shown, widths, row) for row in clean], whole, widths[0] + GAP if widths else 0)


def column_widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Widths of the columns so that a row fits into ``width``, as far as they may shrink."""
    widths = [
        min(max([cells.width(column.title), *(cells.width(row[i]) for row in rows)]), column.most)
        for i, column in enumerate(columns)
    ]
    over = sum(widths) + GAP * (len(widths) - 1) - width
    while over > 0:
        free = [i for i, c in enumerate(columns) if c.least is not None and widths[i] > c.least]
        if not free:
            break
        widths[max(free, key=lambda i: widths[i])] -= 1
        over -= 1
    return widths


def _line(columns: Sequence[Column], widths: Sequence[int], row: Sequence[Span]) -> Line:
    line: Line = []
    for i, (column, span) in enumerate(zip(columns, row, strict=True)):
        if i:
            line.append(Span(" " * GAP))
        shown = cells.cut(span.text, widths[i], column.keep)
        space = " " * (widths[i] - cells.width(shown))
        if column.right:
            line.append(Span(space))
        line.append(Span(shown, span.style))
        if not column.right and i < len(columns) - 1:
            line.append(Span(space))
    return line
