"""Every finding as one line of JSON: the shape ``loopaudit-finding``, version 1."""

from __future__ import annotations

from loopaudit.core.json import dumps
from loopaudit.core.report import Report
from loopaudit.reports.contract import Rendering, Reporter
from loopaudit.reports.json_v1.report import finding_line, placed_findings


def render(report: Report, rendering: Rendering) -> bytes:
    """The lines; nothing where no policy fired."""
    return b"".join(dumps(finding_line(head, item)) for head, item in placed_findings(report))


REPORTER = Reporter(
    id="jsonl",
    title="one finding a line as JSON, for programs and grep",
    suffix=".jsonl",
    render=render,
)
