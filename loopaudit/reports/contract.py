"""The contract of a report: a pure function from a finished :class:`~loopaudit.core.report.Report` to bytes."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal, get_args

from msgspec import Struct

from loopaudit.core.errors import UsageError
from loopaudit.core.report import Report

if TYPE_CHECKING:
    from typing import TextIO

    from loopaudit.compare.prices import Prices


Sort = Literal["cost", "loops", "wrong", "name"]
"""What orders many transcripts: cost of loops, number of loops, wrong firings (all with the largest first), name."""

SORTS: Final[tuple[Sort, ...]] = get_args(Sort)


class Detail(Enum):
    """The verdict only; no transcript in detail; a transcript that stands alone in detail; everything, uncut."""

    BRIEF = "brief"
    SUMMARY = "summary"
    NORMAL = "normal"
    FULL = "full"


class Rendering(Struct, frozen=True):
    """How a report is to be shown. Each report format follows what it has a use for.

    ``sort`` orders many transcripts, ``prices`` turn tokens into money. ``width`` is in columns of text,
    ``max_bytes`` the most bytes of the document; ``None`` leaves either to the report format.

    Raises:
        UsageError: a number is out of its range.
    """

    detail: Detail = Detail.NORMAL
    width: int | None = None
    max_bytes: int | None = None
    sort: Sort = "cost"
    prices: Prices | None = None

    def __post_init__(self) -> None:
        if self.width is not None and not 0 < self.width < 100_000:
            raise UsageError(f"width: '{self.width}' is no number of columns")
        if self.max_bytes is not None and self.max_bytes < 0:
            raise UsageError(f"bytes: '{self.max_bytes}' is no number of bytes")


class Reporter(Struct, frozen=True):
    """Everything the program knows of a report format.

    ``render`` is a pure function from a report to the text or bytes of the file. ``suffix``
    is the usual file name ending. ``binary`` output is never written to a terminal. ``package``
    must be installed to make it; loopaudit has an extra of the report's name that brings it.
    ``show`` is for a report that people read on standard output: it writes to that stream as its
    width, colours and encoding permit, and names what could not be audited.
    """

    id: str
    title: str
    suffix: str
    render: Callable[[Report, Rendering], bytes]
    binary: bool = False
    package: str = ""
    show: Callable[[Report, TextIO, Rendering], None] | None = None
