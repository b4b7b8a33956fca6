"""The report for people: on a terminal with colours, as plain text anywhere else.

Plain text is written without Rich, with no colour, no escape sequence and no line wider
than asked for, so that it is stable in pipes, logs and golden files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from loopaudit.core import regex
from loopaudit.core.errors import UsageError, did_you_mean
from loopaudit.core.report import Report
from loopaudit.reports.contract import Reporter
from loopaudit.reports.kit.page import cells
from loopaudit.reports.kit.page.svg import SVG
from loopaudit.reports.kit.terminal.compose import compose
from loopaudit.reports.kit.terminal.level import Detail

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console

_NO_XML: Final = regex.lazy("[\ufffe\uffff]")

PLAIN_WIDTH: Final = 80
"""Width of plain text where none is given."""


def render_terminal(report: Report, console: Console, detail: Detail = Detail.NORMAL) -> None:
    """Print the report to a Rich console, which decides about colour."""
    page = compose(report, console.width, detail).encodable(console.encoding)
    console.print(page.rich(), end="", soft_wrap=True, crop=False)


def render_plain(report: Report, width: int = PLAIN_WIDTH, detail: Detail = Detail.NORMAL) -> str:
    """The report as plain text."""
    return compose(report, width, detail).plain()


def write_terminal(
    report: Report,
    stream: TextIO,
    detail: Detail = Detail.NORMAL,
    *,
    width: int | None = None,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Write the report to a stream: coloured for a terminal, plain for anything else.

    ``FORCE_COLOR`` asks for colours anywhere, ``NO_COLOR`` for none. Plain text is
    ``COLUMNS`` wide, or 80, whatever terminal may be near.
    """
    terminal = stream.isatty()
    columns = environ.get("COLUMNS", "")
    if width is None and not terminal:
        width = int(columns) if columns.isascii() and columns.isdigit() and 0 < len(columns) <= 5 else PLAIN_WIDTH
    if terminal or environ.get("FORCE_COLOR"):
        from rich.console import Console

        console = Console(file=stream, width=width, highlight=False, emoji=False, _environ=environ)
        render_terminal(report, console, detail)
        return
    stream.write(compose(report, width or PLAIN_WIDTH, detail).encodable(stream.encoding or "utf-8").plain())


def render_svg(report: Report, width: int, title: str, detail: Detail = Detail.NORMAL) -> str:
    """The report as a picture of a terminal, which loads nothing from anywhere."""
    import io

    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=width,
        record=True,
        force_terminal=True,
        color_system="standard",
        legacy_windows=False,
        highlight=False,
        emoji=False,
        _environ={},
    )
    render_terminal(report, console, detail)
    picture = console.export_svg(title=cells.clean(title), code_format=SVG, unique_id="loopaudit")
    return _NO_XML.sub("\ufffd", picture)


def _detail(options: Mapping[str, str]) -> Detail:
    word = options.get("detail", Detail.NORMAL.value)
    try:
        return Detail(word)
    except ValueError:
        hint = did_you_mean(word, [level.value for level in Detail])
        raise UsageError(f"detail: {word!r} is no level of detail", hint=hint) from None


def _width(options: Mapping[str, str]) -> int:
    word = options.get("width", str(PLAIN_WIDTH))
    if not word.isascii() or not word.isdigit() or not 0 < len(word) <= 5:
        raise UsageError(f"width: {word!r} is no number of columns")
    return int(word)


def render(report: Report, options: Mapping[str, str]) -> bytes:
    """The report as plain UTF-8 text.

    Raises:
        UsageError: an option has a value that it cannot have.
    """
    return render_plain(report, _width(options), _detail(options)).encode()


REPORTER = Reporter(
    id="terminal",
    title="text for people, with colours on a terminal",
    suffix=".txt",
    render=render,
    options={
        "width": f"columns of the text (default {PLAIN_WIDTH})",
        "detail": "summary, normal (default) or full",
    },
)
