"""The head and the foot of the terminal report: how it was made, all transcripts, totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from loopaudit.core.report import Report
from loopaudit.reports.kit import wording
from loopaudit.reports.kit.page import cells
from loopaudit.reports.kit.page.page import Page, Span
from loopaudit.reports.kit.page.table import GAP, Column, Table, table
from loopaudit.reports.kit.policy_sums import scores
from loopaudit.reports.kit.rows import PolicyFirings, TranscriptRow, first_rows, run_facts, transcript_rows
from loopaudit.reports.kit.terminal.level import Limits
from loopaudit.reports.kit.terminal.scoring import score_table

LABEL: Final = 12
"""Cells of the labels in the head."""


def head(page: Page, report: Report, limits: Limits) -> None:
    """How the report was made: mode, tool names, failure level, policies."""
    page.add(Span("loopaudit", "title"), Span(f" {report.version}", "dim"))
    labels = wording.some_of([policy.label for policy in report.policies], limits.names * 10)
    run = run_facts(report)
    facts = {
        "mode": f"{run.mode}: {run.mode_meaning}".removesuffix(": "),
        "tool names": run.tool_names,
        "failures": run.failures,
        "policies": labels or "none",
    }
    for label, text in facts.items():
        page.wrapped(text, "dim" if label != "policies" else "", first=[Span(f"{label:<{LABEL}}", "head")], indent=2)
    if limits.wrap:
        named = [cells.fit(policy.label, 32) for policy in report.policies]
        width = max(map(cells.width, named), default=0) + 2
        for policy, name in zip(report.policies, named, strict=True):
            values = ", ".join(f"{key} {value}" for key, value in policy.params.items()) or "no parameters"
            lead = [Span(cells.pad(name, width))]
            page.wrapped(f"{values}; after {policy.origin}", "dim", first=lead, indent=2 + LABEL)


def file_failures(page: Page, report: Report, limits: Limits) -> None:
    """Inputs that gave no transcript, files that were passed over, and our own failures."""
    most = max(limits.problems * 5, 5)
    if report.failures:
        page.blank()
        page.add(Span(f"{wording.some(len(report.failures), 'input')} could not be audited", "error"))
        for failure in report.failures[:most]:
            message = failure.message if failure.path in failure.message else f"{failure.path}: {failure.message}"
            page.wrapped(message, indent=2, most=0 if limits.wrap else 3)
            if failure.hint:
                page.wrapped(failure.hint, "dim", indent=4)
        _more(page, len(report.failures) - most, "--report json")
    if report.internal:
        page.blank()
        page.add(Span(f"{wording.some(len(report.internal), 'internal failure')}; please report this", "error"))
        for text in report.internal[:most]:
            page.wrapped(text, indent=2, most=0 if limits.wrap else 3)
        _more(page, len(report.internal) - most, "--report json")
    if report.ignored:
        page.blank()
        page.wrapped(", ".join(run_facts(report).ignored), "dim", first=[Span("files passed over  ", "dim")])


def _more(page: Page, left: int, where: str) -> None:
    if left > 0:
        page.add(Span(f"and {left:,} more (see {where})", "dim"), indent=2)


def all_transcripts(page: Page, report: Report, limits: Limits) -> None:
    """One row for each transcript, those with something to tell first if not all are shown."""
    rows = transcript_rows(report)
    names, folder = _shortened([row.name for row in rows])
    rows = [replace(row, name=name) for row, name in zip(rows, names, strict=True)]
    shown, left = first_rows(rows, limits.transcripts)
    page.blank()
    where = f"  in {folder}" if folder else ""
    page.add(Span(wording.some(len(rows), "transcript"), "title"), Span(where, "dim"))
    if not rows:
        return
    laid = _wide([policy.label for policy in report.policies], shown, page.width - 2)
    if laid is not None:
        page.add(*laid.head, indent=2)
        page.extend(laid.rows, indent=2)
    else:
        _narrow(page, shown)
    if left:
        notable = sum(row.is_notable for row in left)
        rest = f"and {len(left):,} more, {notable:,} of them with firings, loops or problems (see --report json)"
        page.add(Span(rest, "dim"), indent=2)


def _shortened(names: Sequence[str]) -> tuple[Sequence[str], str]:
    """The names without the folder that all of them begin with, and that folder."""
    if len(names) < 2:
        return names, ""
    folder = names[0].rpartition("/")[0]
    while folder and not all(name.startswith(f"{folder}/") for name in names):
        folder = folder.rpartition("/")[0]
    return ([name[len(folder) + 1 :] for name in names], folder) if folder else (names, "")


_NAME: Final = Column("transcript", least=24, keep="tail")
_FORMAT: Final = Column("format", least=8, most=20)
_COUNTS: Final = (
    Column("calls", right=True),
    Column("failed", right=True),
    Column("loops", right=True),
    Column("worst"),
)


def _counts(row: TranscriptRow) -> list[Span]:
    return [
        _count(row.calls),
        _count(row.failed),
        Span("–" if row.loops is None else f"{row.loops:,}", "loop" if row.loops else "dim"),
        Span(row.worst.word, row.worst.slug) if row.worst else Span("–", "dim"),
    ]


def _count(value: int | None) -> Span:
    return Span("?" if value is None else f"{value:,}", "" if value else "dim")


def _wide(labels: Sequence[str], shown: Sequence[TranscriptRow], width: int) -> Table | None:
    """The table with a column of firings for each policy, if that leaves room for the names."""
    columns = [_NAME, _FORMAT, *_COUNTS, *(Column(label, right=True) for label in labels)]
    needed = sum(max(cells.width(cells.clean(column.title)), 5) + GAP for column in columns[1:])
    if not labels or needed + 36 > width:
        return None
    lines = []
    for row in shown:
        firings = [_firings(row.by_policy.get(label)) for label in labels]
        lines.append([Span(row.name), Span(row.format, "dim"), *_counts(row), *firings])
    return table(columns, lines, width)


def _firings(policy: PolicyFirings | None) -> Span:
    if policy is None or policy.status == "cannot_evaluate":
        return Span("n/a", "dim")
    if policy.status == "crashed":
        return Span("crashed", "error")
    return _count(policy.firings)


def _narrow(page: Page, shown: Sequence[TranscriptRow]) -> None:
    """The table with a second line for each transcript: its format, and firings by policy."""
    laid = table([_NAME, *_COUNTS], [[Span(row.name), *_counts(row)] for row in shown], page.width - 2)
    page.add(*laid.head, indent=2)
    for row, line in zip(shown, laid.rows, strict=True):
        page.add(*line, indent=2)
        fired = sorted(((label, p.firings) for label, p in row.by_policy.items() if p.firings), key=lambda it: -it[1])
        listed = ", ".join(f"{cells.fit(label, 24)} {count:,}" for label, count in fired)
        crashed = [cells.fit(label, 24) for label, policy in row.by_policy.items() if policy.status == "crashed"]
        page.add(
            Span(f"{cells.fit(row.format, 20)}: ", "dim"),
            Span(listed or "no firings", "dim"),
            *(Span(f", {label} crashed", "error") for label in crashed),
            indent=4,
        )


def totals(page: Page, report: Report) -> None:
    """What each policy did over all transcripts."""
    table_of = scores(report.transcripts, enforced=report.mode == "enforced")
    if not table_of:
        return
    page.blank()
    page.add(Span("Totals", "title"), Span(f"  over {wording.some(len(report.transcripts), 'transcript')}", "dim"))
    loops = any(score.loops for score in table_of)
    quiet = [score.label for score in table_of if not (score.firings or score.loops or score.lacking)]
    rows = [score for score in table_of if score.label not in quiet]
    if rows:
        score_table(page, rows, loops=loops, enforced=report.mode == "enforced", indent=2)
    if quiet:
        page.wrapped(", ".join(quiet), "dim", indent=2, first=[Span("no firings: ", "dim")])
