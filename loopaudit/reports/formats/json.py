"""The whole report as one JSON document: the shape ``loopaudit-report``, version 1."""

from __future__ import annotations

from loopaudit.core.json import dumps
from loopaudit.core.report import Report
from loopaudit.reports.contract import Rendering, Reporter
from loopaudit.reports.json_v1.report import document


def render(report: Report, rendering: Rendering) -> bytes:
    """The document, indented by two spaces."""
    return dumps(document(report), indent=True)


REPORTER = Reporter(
    id="json",
    title="everything as one JSON document, for programs",
    suffix=".json",
    render=render,
)
