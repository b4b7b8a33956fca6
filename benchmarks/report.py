"""Writing a report of about a thousand findings, against writing the same findings with orjson and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import orjson

from benchmarks.pipeline import DATA
from benchmarks.timing import Ratio, ratios
from loopaudit.api import replay
from loopaudit.core.report import Report
from loopaudit.reports.contract import Detail, Rendering
from loopaudit.reports.formats import jsonl
from loopaudit.reports.registry import reports

FINDINGS = 1000

TIMES = 50
"""The findings are written so often per round; the ratios are those of one time."""


def stuck(turns: int, path: Path) -> Path:
    """A transcript in loopaudit's own format, in which each turn repeats one failing call eight times."""
    records: list[dict[str, object]] = [{"type": "header", "format": "loopaudit", "version": 1}]
    for turn in range(turns):
        records.append({"type": "user", "text": f"request {turn}"})
        for n in range(8):
            name = f"t{turn}-{n}"
            arguments = {"command": f"pytest tests/test_{turn}.py"}
            records.append({"type": "tool_call", "id": name, "name": "Bash", "arguments": arguments})
            records.append({"type": "tool_result", "id": name, "output": "1 failed", "is_error": True})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(map(orjson.dumps, records)) + b"\n")
    return path


def findings(report: Report) -> int:
    """Findings that the report holds."""
    return sum(len(policy.findings) for transcript in report.transcripts for policy in transcript.policies)


def example() -> Report:
    """A report with about a thousand findings."""
    one = findings(replay(stuck(1, DATA / "stuck-1.jsonl")))
    report = replay(stuck(FINDINGS // one, DATA / "stuck.jsonl"))
    assert findings(report) >= FINDINGS * 0.8
    return report


def measure(*, quick: bool) -> dict[str, Ratio]:
    """Ratios per kind of report, every finding shown where the report can."""
    report = example()
    dictionaries = list(map(orjson.loads, jsonl.render(report, Rendering()).splitlines()))
    variants: dict[str, Callable[[], object]] = {"floor": lambda: many(dictionaries)}
    for reporter in reports().all():
        variants[reporter.id] = partial(reporter.render, report, Rendering())
    variants["terminal, full"] = partial(reports().get("terminal").render, report, Rendering(Detail.FULL))
    found = ratios(variants, "floor", 3 if quick else 9)
    del found["floor"]
    note = f"{len(dictionaries):,} findings"
    return {name: replace(r, median=r.median * TIMES, low=r.low * TIMES, note=note) for name, r in found.items()}


def many(dictionaries: object) -> None:
    """The floor, so often that the clock can tell."""
    for _ in range(TIMES):
        orjson.dumps(dictionaries)
