"""The report for people: on a terminal with colours, as plain text anywhere else.

Plain text is written without Rich, with no colour, no escape sequence and no line wider
than asked for, so that it is stable in pipes, logs and golden files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from loopaudit.core import regex
from loopaudit.core.report import Report
from loopaudit.reports.contract import Detail, Rendering, Reporter
from loopaudit.reports.kit.page import cells
from loopaudit.reports.kit.page.show import PLAIN_WIDTH, show
from loopaudit.reports.kit.page.svg import SVG
from loopaudit.reports.kit.terminal.compose import compose

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console

_NO_XML: Final = regex.lazy("[\ufffe\uffff]")


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

    Colours and width are as :mod:`loopaudit.reports.kit.page.show` describes.
    """
    show(lambda columns: compose(report, columns, detail), stream, width=width, environ=environ)


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


def render(report: Report, rendering: Rendering) -> bytes:
    """The report as plain UTF-8 text."""
    return render_plain(report, rendering.width or PLAIN_WIDTH, rendering.detail).encode()


REPORTER = Reporter(
    id="terminal",
    title="text for people, with colours on a terminal",
    suffix=".txt",
    render=render,
    show=lambda report, stream, rendering: write_terminal(report, stream, rendering.detail, width=rendering.width),
)
