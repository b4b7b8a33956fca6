"""A firing in a line or a paragraph of plain words, for reports that have one text field.

The texts hold what a transcript holds: each report still makes them safe for its own form.
"""

from __future__ import annotations

from loopaudit.core import text
from loopaudit.core.report import Finding, Grade
from loopaudit.reports.kit import wording
from loopaudit.reports.kit.fold import Row

NAME: int = 80
"""Characters of a name (policy, rule, tool) that a sentence shows."""


def place(finding: Finding) -> str:
    """Where it is: ``call 12``, ``calls 12–13 of explore-1``, ``response 4``."""
    first = finding.calls[0] if finding.whole_batch else finding.call
    if not finding.call:
        where = f"response {finding.batch:,}"
    else:
        where = f"call {wording.span_of(first, finding.call)}"
        if first != finding.call:
            where = where.replace("call", "calls", 1)
    return f"{where} of {text.one_line(finding.agent, NAME)}" if finding.agent else where


def headline(finding: Finding) -> str:
    """``atomcode: block Grep at call 10``."""
    tool = f" {text.one_line(finding.tool, NAME)}" if finding.tool else ""
    return f"{text.one_line(finding.policy, NAME)}: {wording.action_of(finding)}{tool} at {place(finding)}"


def hindsight(grade: Grade | None) -> str:
    """What hindsight says, as a sentence; empty where it said nothing."""
    if grade is None:
        return ""
    evidence = ""
    if grade.evidence:
        listed = wording.some_of([f"{number:,}" for number in grade.evidence], 8)
        evidence = f" (see {'call' if len(grade.evidence) == 1 else 'calls'} {listed})"
    return f"Hindsight: {wording.words(grade.word)}, {grade.why}{evidence}."


def paragraph(finding: Finding, *, arguments: bool = True) -> str:
    """Everything about a firing in a few sentences, on one line."""
    count = f", count {finding.count:,}" if finding.count else ""
    parts = [f"{headline(finding)} by rule {text.one_line(finding.rule, NAME)}{count}."]
    if arguments and finding.arguments:
        parts.append(f"Arguments: {finding.arguments}")
    if finding.message:
        parts.append(f"It would have told the model: “{finding.message}”")
    parts.append(hindsight(finding.grade))
    return text.one_line(" ".join(part for part in parts if part), 2000)


def times(row: Row) -> str:
    """How often a folded row fired and up to where; empty for a single firing."""
    return f"{row.times:,} times, the last at {place(row.last)}" if row.times > 1 else ""
