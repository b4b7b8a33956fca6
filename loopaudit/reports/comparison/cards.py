"""The table of a comparison: one policy a row, with the step limit beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopaudit.compare.comparison import Comparison, Row
from loopaudit.compare.tallies import Judged, median
from loopaudit.hindsight.words import GRADES
from loopaudit.reports.comparison import figures
from loopaudit.reports.kit import wording
from loopaudit.reports.kit.page.page import Page, Span
from loopaudit.reports.kit.page.table import Column, table

WIDE: Final = 150
"""From this many cells on, everything has a column of its own."""


def card_table(page: Page, comparison: Comparison, rows: Sequence[Row]) -> None:
    """Add the table with its notes and its key."""
    enforced = comparison.report.mode == "enforced"
    wide = page.width >= WIDE
    columns = _columns(wide=wide, money=comparison.currency is not None)
    body = [_row(row, comparison, wide=wide, enforced=enforced) for row in rows]
    laid = table(columns, body, page.width - 2)
    page.add(*laid.head, indent=2)
    for row, line in zip(rows, laid.rows, strict=True):
        page.add(*line, indent=2)
        for text, style in _below(row, comparison, wide=wide, enforced=enforced):
            page.wrapped(text, style, indent=7)
    page.blank()
    for text in _key(enforced=enforced, judged_by=comparison.judged_by):
        page.wrapped(text, "dim", indent=2)


def _columns(*, wide: bool, money: bool) -> list[Column]:
    right = [Column("#", right=True), Column("policy", least=10, keep="tail"), Column("firings", right=True)]
    if wide:
        right.append(Column("first", right=True))
    right += [Column("caught", right=True), Column("late", right=True)]
    if wide:
        right += [Column("calls avoided", right=True), Column("tokens", right=True), Column("time", right=True)]
        right += [Column("money", right=True)] if money else []
        right += [Column("good", right=True), Column("wrong", right=True), Column("open", right=True)]
        right += [Column("precision", right=True), Column("recall", right=True), Column("F1", right=True)]
        right += [Column("limit: P", right=True), Column("R", right=True), Column("F1", right=True)]
    else:
        right += [Column("wrong", right=True), Column("P", right=True), Column("R", right=True)]
        right += [Column("F1", right=True), Column("limit", right=True)]
    return right


def _row(row: Row, comparison: Comparison, *, wide: bool, enforced: bool) -> list[Span]:
    card, judged, null = row.card, row.card.judged, row.null.judged
    fired = sum(card.firings.values())
    texts = [f"{row.number}", card.label, f"{fired:,}"]
    if wide:
        texts.append(figures.middle(median(card.firsts)))
    texts += [figures.caught(judged), figures.middle(judged.median_late)]
    rates = [figures.rate(judged.precision), figures.rate(judged.recall), figures.rate(judged.f1)]
    if wide:
        texts += [figures.calls(card, enforced=enforced), figures.tokens(card, enforced=enforced)]
        texts.append(figures.time(card, enforced=enforced))
        if comparison.currency is not None:
            texts.append(figures.money(card, comparison.currency, enforced=enforced))
        texts += [f"{n:,}" for n in (judged.good, judged.wrong, judged.open)]
        texts += [*rates, figures.rate(null.precision), figures.rate(null.recall), figures.rate(null.f1)]
    else:
        texts += [f"{judged.wrong:,}", *rates, figures.rate(null.f1)]
    if not card.evaluated:
        # Nothing is known of it, which must not look like nothing found.
        texts[2:] = [figures.NONE] * (len(texts) - 2)
    spans = [Span(text, "dim" if text in (figures.NONE, "0") else "") for text in texts]
    spans[1] = Span(card.label, "strong")
    place = len(spans) - (4 if wide else 2)
    spans[place] = _f1(judged, null, spans[place])
    return spans


def _f1(judged: Judged, null: Judged, span: Span) -> Span:
    """F1 in green where it is above the step limit's, in red where it is not."""
    mine, other = judged.f1, null.f1
    if mine is None:
        return span
    return Span(span.text, "good" if mine > (other or 0.0) else "bad")


def _below(row: Row, comparison: Comparison, *, wide: bool, enforced: bool) -> list[tuple[str, str]]:
    card, judged = row.card, row.card.judged
    lines: list[tuple[str, str]] = []
    parts = [wording.actions(card.firings)] if card.firings else []
    if not wide and card.firsts:
        parts.append(f"first at call {figures.middle(median(card.firsts))}")
    if parts:
        lines.append(("; ".join(parts), "dim"))
    wrong = by_verdict(judged, good=False)
    if wrong:
        lines.append((f"{wording.grade_mark(False)}\u00a0{wording.tally(wrong)}", "bad"))
    if not wide and card.possible.calls:
        lines.append((f"avoided: {_avoided(row, comparison.currency)}", "dim"))
    lacks = figures.missing(card.possible, priced=comparison.currency is not None)
    if lacks:
        lines.append((lacks, "dim"))
    if judged.spared:
        lines.append((f"{wording.some(judged.spared, 'loop')} came after its stop and count as neither", "dim"))
    if row.null.wanted:
        short = row.null.wanted - row.null.judged.interventions
        fewer = f" ({short:,} fewer than it, for want of calls)" if short else ""
        lines.append((f"limit: {figures.limits(row.null)}{fewer}", "dim"))
    for status, count in sorted(card.status.items()):
        if status != "evaluated":
            lines.append((f"{wording.STATUS[status]} in {wording.some(count, 'transcript')}", "doubt"))
    if card.dropped:
        lines.append((f"{wording.some(card.dropped, 'firing')} counted, but not kept and not judged", "doubt"))
    return lines


def _avoided(row: Row, currency: str | None) -> str:
    """What was avoided, in a line; what no avoided response records is named as such."""
    card = row.card
    calls = figures.calls(card, enforced=True)
    parts = [f"{calls} call{'s' if calls != '1' else ''}"]
    unknown = []
    if card.possible.responses:
        known = [("tokens", figures.tokens(card, enforced=True)), ("time", figures.time(card, enforced=True))]
        if currency is not None:
            known.append(("money", figures.money(card, currency, enforced=True)))
        for word, text in known:
            if text == figures.NONE:
                unknown.append(word)
            else:
                parts.append(f"{text} tokens" if word == "tokens" else text)
    if unknown:
        parts.append(f"{' and '.join(unknown)} not recorded")
    return ", ".join(parts)


def by_verdict(judged: Judged, *, good: bool | None) -> dict[str, int]:
    """The grades of one verdict. A grade of the closed list that both verdicts share counts as its usual one."""
    return {word: count for word, count in judged.grades.items() if GRADES.get(word, (None, ""))[0] is good}


def _key(*, enforced: bool, judged_by: str) -> list[str]:
    avoided = (
        "avoided: calls it refused or that came after its stop, from those proven redundant to all"
        if enforced
        else "avoided: nothing is, in shadow mode"
    )
    return [
        "caught: loops in which it did more than observe; late: calls from the first redundant one to that (median); "
        f"{avoided}.",
        f"wrong: interventions that {judged_by} {'say' if judged_by == 'labels' else 'says'} were wrong; "
        "P: justified among justified and wrong ones; R: caught among caught and missed loops; F1 of both.",
        "limit: the same for a plain step limit that intervenes as often and knows nothing of loops. "
        "A policy that is no better shows no skill. See docs/compare.md.",
    ]
