"""Every finding as one line of JSON: the shape ``loopaudit-finding``, version 1."""

from __future__ import annotations

from loopaudit.core.json import dumps
from loopaudit.core.report import Report
from loopaudit.reports.contract import Rendering, Reporter
from loopaudit.reports.kit import json_shape as shape


def render(report: Report, rendering: Rendering) -> bytes:
    """The lines; nothing where no policy fired."""
    return b"".join(map(dumps, shape.finding_lines(report)))


REPORTER = Reporter(
    id="jsonl",
    title="one finding a line as JSON, for programs and grep",
    suffix=".jsonl",
    render=render,
)
