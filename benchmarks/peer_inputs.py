"""One session as the input files of several programs: the same calls, arguments and results in each."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from benchmarks.pipeline import DATA, corpus
from loopaudit.audit.convert import convert
from loopaudit.readers.recognise import recognise
from loopaudit.readers.source import Source


@dataclass(frozen=True)
class InputFile:
    """A file, and the one that loopaudit is measured on to compare with it (the same, where it can read it)."""

    path: Path
    base: Path


def native(path: Path) -> list[dict[str, Any]]:
    """A transcript's records in loopaudit's own format."""
    out = io.BytesIO()
    with Source(path) as source:
        convert(source, recognise(source), out)
    return [orjson.loads(line) for line in out.getvalue().splitlines()]


def messages(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The records as messages of OpenAI's chat interface; a message per call."""
    for record in records:
        kind = record["type"]
        if kind == "user":
            yield {"role": "user", "content": record["text"]}
        elif kind == "tool_call":
            function = {"name": record["name"], "arguments": _text(record["arguments"])}
            call = {"id": record["id"], "type": "function", "function": function}
            yield {"role": "assistant", "content": None, "tool_calls": [call]}
        elif kind == "tool_result":
            yield {"role": "tool", "tool_call_id": record["id"], "content": _text(record["output"])}


def calls(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A line per answered call, with its result, in the order of the results."""
    made: dict[str, dict[str, Any]] = {}
    for record in records:
        if record["type"] == "tool_call":
            made[record["id"]] = record
        elif record["type"] == "tool_result" and record["id"] in made:
            call = made.pop(record["id"])
            failed = record.get("is_error") is True
            yield {"tool": call["name"], "args": call["arguments"], "result": record["output"], "success": not failed}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def files(megabytes: int) -> tuple[dict[str, InputFile], int]:
    """The input files by name, made where they are missing, and how many calls are in each."""
    claude = corpus("claude", megabytes)
    lines, document, flat = (
        DATA / f"peers-{megabytes}-{name}" for name in ("lines.jsonl", "openai.json", "calls.jsonl")
    )
    records = native(claude)
    chat = list(messages(records))
    lines.write_bytes(b"".join(orjson.dumps(message) + b"\n" for message in chat))
    document.write_bytes(orjson.dumps({"messages": chat}))
    flat.write_bytes(b"".join(orjson.dumps(call) + b"\n" for call in calls(records)))
    found = {
        "claude": InputFile(claude, claude),
        "openai-lines": InputFile(lines, lines),
        "openai": InputFile(document, document),
        "calls": InputFile(flat, lines),
    }
    return found, sum(record["type"] == "tool_call" for record in records)
