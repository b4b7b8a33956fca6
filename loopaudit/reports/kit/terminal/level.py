"""How much the terminal report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from loopaudit.reports.contract import Detail


@dataclass(frozen=True, slots=True)
class Limits:
    """Rows that are shown of each list; what is left out is counted.

    ``transcripts`` bounds the summary table, ``blocks`` the transcripts shown in detail,
    ``firings`` the rows of firings, ``loops`` the loops, ``problems`` the located problems
    and ``names`` the items of a list in a sentence. ``messages`` shows what the guard would
    have said at every row instead of once for each rule; ``wrap`` lets long texts go over
    several lines.
    """

    transcripts: int
    blocks: int
    firings: int
    loops: int
    problems: int
    names: int
    messages: bool = False
    wrap: bool = False


LIMITS: Final[Mapping[Detail, Limits]] = {
    Detail.SUMMARY: Limits(transcripts=50, blocks=0, firings=0, loops=0, problems=1, names=6),
    Detail.NORMAL: Limits(transcripts=50, blocks=10, firings=50, loops=10, problems=3, names=6),
    Detail.FULL: Limits(
        transcripts=2000, blocks=2000, firings=2000, loops=2000, problems=200, names=100, messages=True, wrap=True
    ),
}
