"""The contract of a report: a pure function from a finished :class:`~loopaudit.core.report.Report` to bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loopaudit.core.report import Report


@dataclass(frozen=True, slots=True)
class Reporter:
    """Everything the program knows of a report format.

    ``render`` is a pure function from a report to the text or bytes of the file. ``suffix``
    is the usual file name ending. ``binary`` output is never written to a terminal. ``package``
    must be installed to make it; loopaudit has an extra of the report's name that brings it.
    """

    id: str
    title: str
    suffix: str
    render: Callable[[Report, Mapping[str, str]], bytes]
    options: Mapping[str, str]
    binary: bool = False
    package: str = ""
