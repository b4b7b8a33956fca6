"""Writes a page to a stream: coloured on a terminal, plain anywhere else, as every report does.

``FORCE_COLOR`` asks for colours anywhere, ``NO_COLOR`` for none. Plain text is ``COLUMNS``
wide, or 80, whatever terminal may be near.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from loopaudit.reports.kit.page.page import Page

if TYPE_CHECKING:
    from typing import TextIO

PLAIN_WIDTH: Final = 80


def show(
    compose: Callable[[int], Page],
    stream: TextIO,
    *,
    width: int | None = None,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Compose the page for the width of the stream, and write it."""
    terminal = stream.isatty()
    columns = environ.get("COLUMNS", "")
    if width is None and not terminal:
        width = int(columns) if columns.isascii() and columns.isdigit() and 0 < len(columns) <= 5 else PLAIN_WIDTH
    if terminal or environ.get("FORCE_COLOR"):
        from rich.console import Console

        console = Console(file=stream, width=width, highlight=False, emoji=False, _environ=environ)
        page = compose(console.width).encodable(console.encoding)
        console.print(page.rich(), end="", soft_wrap=True, crop=False)
        return
    stream.write(compose(width or PLAIN_WIDTH).encodable(stream.encoding or "utf-8").plain())
