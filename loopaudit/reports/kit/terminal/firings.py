"""The firings of a transcript in the terminal report: all policies merged, repeats folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopaudit.core.findings import Finding
from loopaudit.core.report import TranscriptResult
from loopaudit.reports.kit import wording
from loopaudit.reports.kit.fold import Row
from loopaudit.reports.kit.page import cells
from loopaudit.reports.kit.page.page import Page, Span
from loopaudit.reports.kit.page.table import GAP, Column, table
from loopaudit.reports.kit.rows import firing_rows
from loopaudit.reports.kit.terminal.level import Limits

WIDE: Final = 150
"""From this many cells on, a row has room for the tool and its arguments."""


def add_firings(page: Page, result: TranscriptResult, limits: Limits) -> None:
    """Add the rows, and what the guards would have told the model."""
    firings = firing_rows(result, limits.firings)
    if not firings.rows:
        return
    folded = f" in {len(firings.rows):,} rows, repeats folded" if len(firings.rows) < firings.total else ""
    page.blank()
    page.add(Span("Firings", "title"), Span(f"  {firings.total:,}{folded}", "dim"))
    wide = page.width >= WIDE
    lines = [_wide(row) if wide else _narrow(row) for row in firings.shown]
    laid = table(_WIDE_COLUMNS if wide else _NARROW_COLUMNS, lines, page.width - 2)
    page.add(*laid.head, indent=2)
    for row, line in zip(firings.shown, laid.rows, strict=True):
        page.add(*line, indent=2)
        if not wide:
            page.add(*_about(row.first), indent=2 + laid.indent)
        if limits.messages:
            _reasons(page, row, 2 + laid.indent)
    if firings.left:
        page.add(Span(f"and {firings.left:,} more firings (see --report jsonl)", "dim"), indent=2)
    if not limits.messages:
        _messages(page, firings.first_messages(by_action=True))


_WIDE_COLUMNS: Final = (
    Column("call", right=True),
    Column("line", right=True),
    Column("policy", least=10, most=28),
    Column("action", least=10, most=28),
    Column("times", right=True),
    Column("rule", least=10, most=26),
    Column("count", right=True),
    Column("hindsight", least=10, most=30),
    Column("agent", least=6, most=16),
    Column("tool", least=8, most=24),
    Column("arguments", least=20),
)
_NARROW_COLUMNS: Final = (
    Column("call", right=True),
    Column("line", right=True),
    Column("policy", least=10, most=24),
    Column("action", least=9, most=24),
    Column("times", right=True),
    Column("hindsight", least=12),
)


def _wide(row: Row) -> list[Span]:
    first = row.first
    return [
        *_place(row),
        *_acted(row),
        Span(first.rule),
        Span(f"{first.count:,}" if first.count else "", "dim"),
        _graded(row),
        Span(first.agent),
        Span(first.tool),
        Span(first.arguments, "dim"),
    ]


def _narrow(row: Row) -> list[Span]:
    return [*_place(row), *_acted(row), _graded(row)]


def _place(row: Row) -> list[Span]:
    first, last = row.first, row.last
    return [
        Span(wording.span_of(min(first.call, last.call), last.call), "strong"),
        Span(f"{first.line:,}" if first.line else "", "dim"),
    ]


def _acted(row: Row) -> list[Span]:
    first = row.first
    return [
        Span(first.policy),
        Span(wording.action_of(first), first.action.slug),
        Span(f"{row.times:,}×" if row.times > 1 else "", "dim"),
    ]


def _graded(row: Row) -> Span:
    """The grade; where folded firings differ, the number of each."""
    if not row.grades:
        return Span("")
    if len(row.grades) == 1:
        ((word, good),) = row.grades
        return Span(f"{wording.grade_mark(good)} {wording.words(word)}", wording.grade_style(good))
    order = sorted(row.grades.items(), key=lambda item: -item[1])
    ((word, good), most), *others = order
    text = f"{wording.grade_mark(good)} {wording.words(word)} {most:,}"
    return Span(", ".join([text, *(f"{wording.grade_mark(good)} {n:,}" for (_, good), n in others)]), "doubt")


def _about(finding: Finding) -> list[Span]:
    """The second line of a narrow row: rule, agent, tool and arguments."""
    line = [Span(cells.fit(finding.rule, 32))]
    if finding.count:
        line.append(Span(f", count {finding.count:,}", "dim"))
    if finding.agent:
        line.append(Span(f", {cells.fit(finding.agent, 24)}", "dim"))
    return [*line, Span("  "), Span(f"{cells.fit(finding.tool, 32)} "), Span(finding.arguments, "dim")]


def _messages(page: Page, first: Sequence[Finding]) -> None:
    """What the guards would have told the model: the first message of each rule and action."""
    if not first:
        return
    page.blank()
    page.add(Span("What the model would have been told", "title"), Span("  the first time by each rule", "dim"))
    names = [cells.fit(finding.policy, 24) for finding in first]
    policy_width = max(map(cells.width, names)) + GAP
    action_width = max(len(finding.action.word) for finding in first) + GAP
    for name, finding in zip(names, first, strict=True):
        action = finding.action
        lead = [Span(cells.pad(name, policy_width)), Span(cells.pad(action.word, action_width), action.slug)]
        page.wrapped(f"“{finding.message}”", "quote", indent=2, first=lead, most=4)


def _calls(numbers: Sequence[int]) -> str:
    listed = wording.some_of([f"{number:,}" for number in numbers], 12)
    return f"call {listed}" if len(numbers) == 1 else f"calls {listed}"


def _reasons(page: Page, row: Row, indent: int) -> None:
    """What the guard would have told the model, and why hindsight grades it so."""
    first = row.first
    if first.message:
        page.wrapped(f"“{first.message}”", "quote", indent=indent)
    if first.grade is not None:
        evidence = f" ({_calls(first.grade.evidence)})" if first.grade.evidence else ""
        page.wrapped(f"{first.grade.why}{evidence}", wording.grade_style(first.grade.good), indent=indent)
