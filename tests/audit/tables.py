"""Builds parquet files of the sample transcripts, and tells what an audit found apart from names and lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from loopaudit.audit.inputs.discover import discover
from loopaudit.audit.one import audit_input
from loopaudit.audit.session import FileAudit
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.report import Report
from tests.places import SAMPLES

OPTIONS = Options(policies=select(["atomcode", "koda", "openclaw"]))

FILES: dict[str, Path] = {
    path.relative_to(SAMPLES).as_posix(): path
    for path in sorted(SAMPLES.rglob("*.json*"))
    if audit_input(discover([str(path)]).inputs[0], Options(policies=())).transcripts
}
"""The sample transcripts by name: every format, and every case."""


def outcome(transcripts: FileAudit | Report, *, lines: bool = True) -> list[Any]:
    """Everything that was found, but for the names of files and, without ``lines``, line numbers."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            dropped = {"path"} if lines else {"path", "line"}
            return {key: bare(item) for key, item in value.items() if key not in dropped}
        return [bare(item) for item in value] if isinstance(value, list) else value

    return [bare(msgspec.to_builtins(transcript)) for transcript in transcripts.transcripts]


def audited(*names: str) -> list[Any]:
    """What the sample files give, one after another."""
    return [entry for name in names for entry in outcome(audit_input(discover([str(FILES[name])]).inputs[0], OPTIONS))]


def decoded(path: Path) -> Any:
    """A transcript as a JSON decoder has it: a document, or a list of its lines."""
    text = path.read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line.strip()]


def write(path: Path, columns: dict[str, Any], *, group: int = 1 << 20, **options: Any) -> str:
    """Write a table; ``group`` are the rows of a row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(columns)
    pq.write_table(table, path, row_group_size=group, **options)
    return str(path)


def chat(calls: int, tool: str = "grep") -> list[dict[str, Any]]:
    """A conversation in which one call is made again and again, as the chat API has it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"find it with {tool}"}]
    for number in range(calls):
        call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": '{"pattern": "x"}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "nothing"})
    return messages


def names(report: Report) -> list[str]:
    """Last parts of the transcripts' names."""
    return [transcript.path.rpartition("/")[2] for transcript in report.transcripts]


def message_columns(conversations: Sequence[tuple[str | None, list[dict[str, Any]]]]) -> dict[str, list[Any]]:
    """A table of messages: each row one, with the id of its conversation."""
    rows = [(key, message) for key, messages in conversations for message in messages]
    keys = ("role", "content", "tool_calls", "tool_call_id")
    return {"conversation_id": [key for key, _ in rows], **{k: [m.get(k) for _, m in rows] for k in keys}}
