"""A bar on standard error for the commands that read much."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from loopaudit.audit.inputs.model import Found


class Progress:
    """A bar on standard error for long work at a terminal; otherwise nothing."""

    MIN_BYTES = 16 << 20

    def __init__(self) -> None:
        self._bar: object | None = None
        self._done = 0
        self._advance: Callable[[int], None] | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exc: object) -> None:
        from contextlib import AbstractContextManager

        if isinstance(self._bar, AbstractContextManager):
            self._bar.__exit__(None, None, None)

    def found(self, found: Found) -> Callable[[int], None] | None:
        """Start the bar if there is much to read."""
        total = sum(item.size for item in found.inputs)
        if total < self.MIN_BYTES or not sys.stderr.isatty():
            return None
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("reading"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.__enter__()
        task = bar.add_task("reading", total=total)
        self._bar = bar

        def advance(read: int) -> None:
            bar.update(task, completed=self._done + read)

        self._advance = advance
        return advance

    def finished(self, item: object, result: object) -> None:
        """One more input is done."""
        from loopaudit.audit.inputs.model import Input

        if isinstance(item, Input):
            self._done += item.size
            if self._advance is not None:
                self._advance(0)
