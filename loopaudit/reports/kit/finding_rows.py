"""Findings as rows of a flat table: what the CSV and the parquet report share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import asdict

from loopaudit.core.report import Report
from loopaudit.reports.json_v1 import report as shape
from loopaudit.reports.kit.severity import severity

COLUMNS: Final[Mapping[str, str]] = {
    "path": "text",
    "format": "text",
    "session": "text",
    "recorded": "truth",
    "mode": "text",
    "policy": "text",
    "action": "text",
    "own_word": "text",
    "severity": "text",
    "rule": "text",
    "count": "number",
    "agent": "text",
    "turn": "number",
    "response": "number",
    "call": "number",
    "first_call": "number",
    "last_call": "number",
    "whole_batch": "truth",
    "line": "number",
    "tool": "text",
    "arguments": "text",
    "key": "text",
    "message": "text",
    "grade": "text",
    "good": "truth",
    "why": "text",
    "evidence": "numbers",
    "fingerprint": "text",
    "baseline": "text",
}
"""The columns with their types, in order; new ones are added at the end."""


def rows(report: Report) -> Iterator[dict[str, Any]]:
    """A row for each kept finding, values by column, ``None`` where nothing is recorded.

    Its fields are those of a line of the ``jsonl`` report, with the grade in columns of its own.
    """
    for head, item in shape.placed_findings(report):
        finding = shape.finding(item)
        grade = finding.grade
        row = {
            **asdict(head),
            **asdict(finding),
            "severity": severity(item).sarif,
            "turn": finding.turn or None,
            "response": finding.response or None,
            "grade": grade and grade.word,
            "good": grade and grade.good,
            "why": grade and grade.why,
            "evidence": grade and grade.evidence,
            "baseline": finding.baseline_state or "",
        }
        yield {name: row[name] for name in COLUMNS}
