"""What a terminal report is composed of and for: the report, the width, how much is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from loopaudit.core.report import Report
from loopaudit.reports.contract import Detail, Rendering
from loopaudit.reports.kit.console.parts import INDENT

Link = Callable[[str, int], str]
"""The address of a line of a file, for terminals that can open it; empty where there is none."""


class Limits(Struct, frozen=True):
    """Rows that are shown of each list; what is left out is counted.

    ``transcripts`` bounds the table of transcripts, ``rows`` the rows of loops and of policies
    of one transcript, ``problems`` the located problems, and ``names`` the items of a list in
    a sentence.
    """

    transcripts: int
    rows: int
    problems: int
    names: int


NO_LIMIT: Final = 10**9

LIMITS: Final[Mapping[Detail, Limits]] = {
    Detail.BRIEF: Limits(transcripts=0, rows=0, problems=0, names=6),
    Detail.SUMMARY: Limits(transcripts=30, rows=0, problems=5, names=6),
    Detail.NORMAL: Limits(transcripts=30, rows=40, problems=5, names=6),
    Detail.FULL: Limits(transcripts=NO_LIMIT, rows=NO_LIMIT, problems=NO_LIMIT, names=NO_LIMIT),
}


class View(Struct, frozen=True):
    """A report as it is to be shown, on a page of ``width`` cells."""

    report: Report
    width: int
    rendering: Rendering
    link: Link | None = None

    @property
    def limits(self) -> Limits:
        """How much is shown of lists."""
        return LIMITS[self.rendering.detail]

    @property
    def is_full(self) -> bool:
        """Whether everything is wanted, uncut."""
        return self.rendering.detail is Detail.FULL

    @property
    def enforced(self) -> bool:
        """Whether policies acted on the replay."""
        return self.report.mode == "enforced"

    def inner(self) -> View:
        """The same for what stands indented under a title."""
        return replace(self, width=self.width - INDENT)
