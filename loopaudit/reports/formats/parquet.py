"""Every finding as a row of a parquet file, for DuckDB, pandas, Spark and the like.

Needs ``pyarrow``, which is imported when a report is made.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

from loopaudit.core import text
from loopaudit.core.findings import Finding
from loopaudit.core.report import Report, TranscriptResult
from loopaudit.reports.contract import Rendering, Reporter
from loopaudit.reports.kit.severity import severity

COLUMNS: Final[Mapping[str, str]] = {
    "path": "text",
    "format": "text",
    "session": "text",
    "recorded": "truth",
    "mode": "text",
    "policy": "text",
    "action": "text",
    "own_word": "text",
    "severity": "text",
    "rule": "text",
    "count": "number",
    "agent": "text",
    "turn": "place",
    "response": "place",
    "call": "place",
    "first_call": "place",
    "last_call": "place",
    "whole_batch": "truth",
    "line": "place",
    "tool": "text",
    "arguments": "text",
    "key": "text",
    "message": "text",
    "grade": "text",
    "good": "truth",
    "why": "text",
    "evidence": "numbers",
    "fingerprint": "text",
    "baseline": "text",
}
"""The columns with their types, in order; new ones are added at the end."""

GROUP_ROWS: Final = 50_000
"""Findings of a row group."""


def render(report: Report, rendering: Rendering) -> bytes:
    """The whole file. Equal reports give equal bytes, with one version of pyarrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        "text": pa.string(),
        "truth": pa.bool_(),
        "number": pa.int64(),
        "place": pa.int64(),
        "numbers": pa.list_(pa.int64()),
    }
    facts = {"loopaudit": "finding", "loopaudit.version": text.visible(report.version)}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()], metadata=facts)
    target = io.BytesIO()
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for columns in _groups(report):
            arrays = [pa.array(columns[name], types[kind]) for name, kind in COLUMNS.items()]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return target.getvalue()


def _groups(report: Report) -> Iterator[dict[str, list[Any]]]:
    """The findings by column, at most :data:`GROUP_ROWS` at a time."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    count = 0
    for row in _rows(report):
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
        count += 1
        if count % GROUP_ROWS == 0:
            yield columns
            columns = {name: [] for name in COLUMNS}
    if count % GROUP_ROWS:
        yield columns


def _rows(report: Report) -> Iterator[tuple[Any, ...]]:
    for transcript in report.transcripts:
        for policy in transcript.policies:
            for finding in policy.findings:
                yield _row(report, transcript, finding, recorded=False)
        for finding in transcript.recorded:
            yield _row(report, transcript, finding, recorded=True)


def _row(report: Report, transcript: TranscriptResult, finding: Finding, *, recorded: bool) -> tuple[Any, ...]:
    grade = finding.grade
    first, last = finding.calls
    values = (
        transcript.path, transcript.format, transcript.session, recorded, report.mode, finding.policy,
        finding.action.slug, finding.own_word, severity(finding).sarif, finding.rule, finding.count, finding.agent,
        finding.turn, finding.batch, finding.call, first, last, finding.whole_batch, finding.line, finding.tool,
        finding.arguments, finding.key, finding.message, grade.word if grade else None, grade.good if grade else None,
        grade.why if grade else None, list(grade.evidence) if grade else None, finding.fingerprint,
        finding.baseline_state,
    )  # fmt: skip
    return tuple(_cell(value, kind) for value, kind in zip(values, COLUMNS.values(), strict=True))


def _cell(value: Any, kind: str) -> Any:
    """A value for its column: a place that is not recorded is null, text is safe to show."""
    if kind == "place":
        return value or None
    if kind == "text" and value is not None:
        return text.visible(value)
    return value


REPORTER = Reporter(
    id="parquet",
    title="one finding a row, typed, for DuckDB, pandas and Spark",
    suffix=".parquet",
    render=render,
    binary=True,
    package="pyarrow",
)
