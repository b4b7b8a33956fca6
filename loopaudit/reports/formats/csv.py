"""Every finding as a row of comma-separated values, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Final

from loopaudit.core import text
from loopaudit.core.findings import Finding
from loopaudit.core.report import Report, TranscriptResult
from loopaudit.reports.contract import Rendering, Reporter
from loopaudit.reports.kit.severity import severity

COLUMNS: Final = (
    "path", "format", "session", "recorded", "policy", "action", "own_word", "severity", "rule", "count", "agent",
    "turn", "response", "call", "first_call", "last_call", "whole_batch", "line", "tool", "arguments", "key", "message",
    "grade", "good", "why", "evidence", "fingerprint", "baseline",
)  # fmt: skip
"""The columns, in order; new ones are added at the end."""

CELL: Final = 8_000
"""Characters of a cell; a spreadsheet takes no more than 32,767."""

_FORMULA: Final = ("=", "+", "-", "@")


def render(report: Report, rendering: Rendering) -> bytes:
    """The table in UTF-8 as RFC 4180 has it, with a row of names first."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for transcript in report.transcripts:
        for policy in transcript.policies:
            writer.writerows(_row(transcript, finding, recorded=False) for finding in policy.findings)
        writer.writerows(_row(transcript, finding, recorded=True) for finding in transcript.recorded)
    return stream.getvalue().encode()


def _row(transcript: TranscriptResult, finding: Finding, *, recorded: bool) -> Iterator[str]:
    grade = finding.grade
    first, last = finding.calls
    values: tuple[str | int | bool | None, ...] = (
        transcript.path, transcript.format, transcript.session, recorded, finding.policy, finding.action.slug,
        finding.own_word, severity(finding).sarif, finding.rule, finding.count, finding.agent, finding.turn or None,
        finding.batch or None, finding.call or None, first or None, last or None, finding.whole_batch,
        finding.line or None, finding.tool, finding.arguments, finding.key, finding.message,
        grade.word if grade else None, grade.good if grade else None, grade.why if grade else None,
        " ".join(map(str, grade.evidence)) if grade else None, finding.fingerprint, finding.baseline_state,
    )  # fmt: skip
    return map(_cell, values)


def _cell(value: str | int | bool | None) -> str:
    """A cell on one line; empty is *not recorded*. Text that would be run as a formula gets an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    line = text.one_line(value, CELL)
    return f"'{line}" if line.startswith(_FORMULA) else line


REPORTER = Reporter(
    id="csv",
    title="one finding a row, for spreadsheets",
    suffix=".csv",
    render=render,
)
