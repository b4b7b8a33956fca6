"""Puts the terminal report together: a report and how it is to be shown in, renderables out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from loopaudit.core.report import Report, TranscriptResult
from loopaudit.reports.contract import Detail, Rendering
from loopaudit.reports.kit.overall import overall
from loopaudit.reports.kit.policy_sums import Score, scores_from
from loopaudit.reports.kit.terminal import many
from loopaudit.reports.kit.terminal.loops import loops
from loopaudit.reports.kit.terminal.panel import panel
from loopaudit.reports.kit.terminal.policies import policies
from loopaudit.reports.kit.terminal.recording import failures, recording, settings
from loopaudit.reports.kit.terminal.timeline import timeline
from loopaudit.reports.kit.terminal.view import Link, View
from loopaudit.reports.kit.verdict import Verdict


def compose(report: Report, width: int, rendering: Rendering, link: Link | None = None) -> list[RenderableType]:
    """The whole report for a page of ``width`` cells."""
    view = View(report, width, rendering, link)
    of = overall(report, rendering.sort, rendering.prices)
    parts: list[RenderableType] = []
    detail = rendering.detail
    if len(report.transcripts) == 1:
        parts.append(panel(of.verdicts[0], view))
        if detail in (Detail.NORMAL, Detail.FULL):
            parts += _detail(view, report.transcripts[0], of.verdicts[0], of.policies)
    else:
        parts.append(many.head(view, of))
        if detail is not Detail.BRIEF:
            parts += many.transcripts(view, of)
            parts += many.totals(view, of)
            parts += many.policies(view, of)
            parts += many.problems(view, of)
        if detail is Detail.FULL:
            for one, result in zip(of.verdicts, report.transcripts, strict=True):
                scores = scores_from([(result, one.table)])
                parts += [Text(), panel(one, view), *_detail(view, result, one, scores)]
    parts += failures(view)
    if detail is not Detail.BRIEF:
        parts += settings(view)
    return parts


def _detail(view: View, result: TranscriptResult, of: Verdict, scores: Sequence[Score]) -> Iterator[RenderableType]:
    yield from timeline(view, result)
    yield from loops(view, result, of)
    yield from policies(view, result, scores)
    yield from recording(view, result)
