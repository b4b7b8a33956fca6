"""The report as Markdown, for merge requests, wikis and the step summary of a workflow."""

from __future__ import annotations

from collections.abc import Mapping

from loopaudit.core.errors import UsageError
from loopaudit.core.report import Report
from loopaudit.reports.contract import Reporter
from loopaudit.reports.kit.markdown import document


def render(report: Report, options: Mapping[str, str]) -> bytes:
    """The document in UTF-8.

    Raises:
        UsageError: ``bytes`` is no number.
    """
    limit = options.get("bytes")
    if limit is not None and not (limit.isascii() and limit.isdigit() and len(limit) <= 12):
        raise UsageError(f"bytes: {limit!r} is no number of bytes")
    return document(report, None if limit is None else int(limit)).encode()


REPORTER = Reporter(
    id="markdown",
    title="Markdown, for merge requests and step summaries",
    suffix=".md",
    render=render,
    options={"bytes": "most bytes of the document; blocks beyond are left out (default: no limit)"},
)
