"""Puts the terminal report together: a report and a level of detail in, a page out."""

from __future__ import annotations

from loopaudit.core.report import Report
from loopaudit.reports.contract import Detail
from loopaudit.reports.kit.page.page import Page, Span
from loopaudit.reports.kit.policy_sums import names_of
from loopaudit.reports.kit.rows import is_notable
from loopaudit.reports.kit.terminal import overview
from loopaudit.reports.kit.terminal.block import block
from loopaudit.reports.kit.terminal.level import LIMITS


def compose(report: Report, width: int, detail: Detail = Detail.NORMAL) -> Page:
    """The whole report as a page of ``width`` cells."""
    page = Page(width)
    limits = LIMITS[detail]
    several = len(report.transcripts) != 1
    overview.head(page, report, limits)
    if several or detail is Detail.SUMMARY:
        overview.all_transcripts(page, report, limits)
    if limits.blocks:
        _blocks(page, report, detail)
    if several or detail is Detail.SUMMARY:
        overview.totals(page, report)
    overview.file_failures(page, report, limits)
    return page


def _blocks(page: Page, report: Report, detail: Detail) -> None:
    """Every transcript in detail that has something to tell; all of them where all is wanted."""
    limits = LIMITS[detail]
    transcripts = report.transcripts
    chosen = [
        i
        for i, transcript in enumerate(transcripts)
        if detail is Detail.FULL or len(transcripts) == 1 or is_notable(transcript)
    ]
    names = names_of(report)
    for i in chosen[: limits.blocks]:
        block(page, report, transcripts[i], names[i], limits, alone=len(transcripts) == 1)
    left = len(chosen) - limits.blocks
    if left > 0:
        page.blank()
        page.add(Span(f"and {left:,} more transcripts in detail (name them alone, or see --report json)", "dim"))
