"""The report formats that are there: built in, and offered by installed packages."""

from __future__ import annotations

from functools import cache

from loopaudit.core.registry import Registry
from loopaudit.reports.contract import Reporter


@cache
def reports() -> Registry[Reporter]:
    """The report formats."""
    return Registry("reports/formats", "REPORTER", Reporter, word="report", entry="report")
