"""Every finding and every loop as one line of JSON: the shapes ``loopaudit-finding`` and ``loopaudit-loop``."""

from __future__ import annotations

from loopaudit.core.json import dumps
from loopaudit.core.report import Report
from loopaudit.reports.contract import Rendering, Reporter
from loopaudit.reports.json_v1.lines import line
from loopaudit.reports.json_v1.report import placed


def render(report: Report, rendering: Rendering) -> bytes:
    """The lines; nothing where no policy fired and there is no loop."""
    return b"".join(dumps(line(head, item)) for head, item in placed(report))


REPORTER = Reporter(
    id="jsonl",
    title="one finding a line as JSON, for programs and grep",
    suffix=".jsonl",
    render=render,
)
