"""Failed checks of the gate, for reports that list issues."""

from __future__ import annotations

from loopaudit.core.checks import Check
from loopaudit.core.report import Report


def failed_checks(report: Report) -> list[Check]:
    """The failed checks without those of the baseline that are about firings of today: these are issues already."""
    if report.gate is None:
        return []
    return [check for check in report.gate.failed if check.kind != "baseline" or not check.calls]


def where(check: Check) -> tuple[str, int] | None:
    """The file that a check is about, with a line from 1 or 0; ``None`` where it is about the whole run."""
    if check.path:
        return check.path, 0
    file, colon, line = check.source.rpartition(":")
    return (file, int(line)) if colon and line.isascii() and line.isdigit() else None


def told(check: Check) -> str:
    """The check in a sentence or two: what is wrong, why it matters, how to accept it."""
    parts = [check.message, f"Reason given: {check.reason}" if check.reason else ""]
    parts += [f"To accept it: {check.accept}" if check.accept else ""]
    return ". ".join(part.rstrip(".") for part in parts if part)
