"""A table of policies with what each did: firings, calls avoided, loops caught, grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from loopaudit.reports.kit import wording
from loopaudit.reports.kit.page.page import Page, Span
from loopaudit.reports.kit.page.table import Column, table
from loopaudit.reports.kit.policy_sums import Score

WIDE: Final = 130
"""From this many cells on, what else stands in a second line has columns of its own."""


def score_table(
    page: Page,
    rows: Sequence[Score],
    *,
    loops: bool,
    enforced: bool,
    indent: int,
    notes: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    key: bool = True,
    most: int = 0,
) -> None:
    """Add the table.

    ``notes`` are further texts with their style under a policy's row, of at most ``most``
    lines each; without them the row says where the policy was not fully evaluated. ``key``
    explains the columns below the table.
    """
    wide = page.width >= WIDE
    columns = [Column("policy", least=10), Column("firings", right=True)]
    if wide:
        columns.append(Column("actions", least=12))
    if loops:
        columns.append(Column("loops caught", right=True))
    columns.append(Column("outside", right=True))
    if wide:
        columns += [Column("blocked", right=True), Column("after stop", right=True)]
    columns.append(Column("avoided", right=True))
    columns += [Column("good", right=True), Column("wrong", right=True), Column("open", right=True)]
    body = []
    for score in rows:
        row = [Span(score.label), _count(score.firings)]
        if wide:
            row.append(Span(wording.actions(score.by_action)))
        if loops:
            row.append(_caught(score))
        row.append(_count(score.outside) if score.graded else Span(""))
        avoided = [score.blocked, score.after_stop, score.avoided]
        for count in avoided if wide else avoided[2:]:
            row.append(_count(count) if enforced else Span(""))
        row += _graded(score)
        if not score.evaluated:
            # Nothing is known of it, which must not look like nothing found.
            row[1:] = [Span("–" if span.text else "", "dim") for span in row[1:]]
        body.append(row)
    laid = table(columns, body, page.width - indent)
    page.add(*laid.head, indent=indent)
    for score, line in zip(rows, laid.rows, strict=True):
        page.add(*line, indent=indent)
        lines = [*_below(score, wide=wide), *(_lacking(score) if notes is None else notes.get(score.label, ()))]
        for text, style in lines:
            page.wrapped(text, style, indent=indent + 2, most=most)
    if key:
        page.wrapped(_key(rows, loops=loops, enforced=enforced), "dim", indent=indent)


def _key(rows: Sequence[Score], *, loops: bool, enforced: bool) -> str:
    """What the columns mean, for those that are there."""
    parts = []
    if loops:
        parts.append("loops caught: it did more than observe in them")
    if any(score.graded for score in rows):
        parts.append("outside: firings beyond observing that are about no redundant call of a loop")
    if enforced:
        parts.append("avoided: calls blocked or after its stop")
    if any(any(score.grade_sums) for score in rows):
        parts.append("good, wrong, open: firings as hindsight grades them")
    return "; ".join(parts)


def _count(count: int, style: str = "") -> Span:
    return Span(f"{count:,}", style if count else "dim")


def _caught(score: Score) -> Span:
    if not score.loops:
        return Span("–", "dim")
    return Span(f"{score.caught:,} of {score.loops:,}", "good" if score.caught == score.loops else "")


def _graded(score: Score) -> list[Span]:
    """Numbers of good, wrong and undecided firings; nothing where no firing was graded."""
    if score.firings and not any(score.grade_sums):
        return [Span("")] * 3
    return [_count(count, style) for count, style in zip(score.grade_sums, ("good", "bad", "doubt"), strict=True)]


def _below(score: Score, *, wide: bool) -> list[tuple[str, str]]:
    parts = [] if wide or not score.by_action else [wording.actions(score.by_action)]
    grades = [
        f"{wording.grade_mark(good)}\u00a0{wording.tally({word: count})}"
        for good, counts in ((True, score.good), (False, score.bad), (None, score.open))
        for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    if grades:
        parts.append(", ".join(grades))
    if score.spared:
        parts.append(f"{wording.some(score.spared, 'loop')} came after its stop")
    lines = [("; ".join(parts), "dim")] if parts else []
    if score.dropped:
        lines.append((f"{wording.some(score.dropped, 'firing')} counted, but not kept and not graded", "doubt"))
    return lines


def _lacking(score: Score) -> list[tuple[str, str]]:
    return [
        (f"{wording.STATUS[status]} in {wording.some(count, 'transcript')}", "doubt")
        for status, count in sorted(score.lacking.items())
    ]
