"""A report of a check made by hand: one of each outcome that the pipelines' reports tell apart."""

from __future__ import annotations

from loopaudit.core.report import Check, GateResult, Report
from tests.reports import sample


def checked() -> Report:
    """Two transcripts, a baseline with four states, and failed checks of every kind."""
    report = sample.report(sample.looping(), sample.healthy())
    first, second = report.transcripts[0].path, report.transcripts[1].path
    atomcode, openhands = report.transcripts[0].policies[:2]
    for finding, state in zip(atomcode.findings, ("unchanged", "moved", "changed", "new", "expired"), strict=False):
        finding.baseline_state = state  # type: ignore[assignment]
    new = atomcode.findings[3]
    checks = [
        Check("expectation", "covered", True, "expected a block; it fired at call 10", 0, first, "atomcode", "block",
              source="a.expect.toml:1"),
        Check("expectation", "missed", False, "expected a stop; it did not fire", 3, first, "koda", "stop",
              accept="loopaudit expect --force a.jsonl", source="a.expect.toml:7", reason="it must end"),
        Check("expectation", "not_checked", True, "the policy was not replayed", 0, second, "moltis"),
        Check("baseline", "new", False, "block by identical_output at call 13 is new", 3, first, "atomcode", "block",
              "identical_output", new.fingerprint, (new.call,), "loopaudit baseline"),
        Check("baseline", "vanished", False, "warn by repeat is gone", 3, first, "openhands-sdk", "warn", "repeat",
              "0123456789abcdef", source="loopaudit-baseline.toml:12"),
        Check("threshold", "failed", False, "61 firings; at most 3 are allowed", 1,
              accept="loopaudit check --max-firings 61"),
        Check("coverage", "failed", False, "2 damaged records, 4 % of all; at most 0 % are allowed", 4, second),
    ]  # fmt: skip
    assert openhands.label == "openhands-sdk"
    counts: dict[str, dict[str, int]] = {}
    for check in checks:
        by_status = counts.setdefault(check.kind, {})
        by_status[check.status] = by_status.get(check.status, 0) + 1
    report.gate = GateResult(checks, counts, 4)
    return report
