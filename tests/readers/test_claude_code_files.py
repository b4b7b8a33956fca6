"""The Claude Code reader: which files it claims, and its counts of real ones."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import orjson
import pytest

from loopaudit.readers.formats.claude_code.reader import READER
from loopaudit.readers.source import Source
from tests import corpus
from tests.readers.claude_records import SESSION, Json, Log, batches, call, lines, little_session, read, shape, text

# -- recognising -----------------------------------------------------------------------------------


def sniffed(content: bytes) -> str | None:
    with Source(None, stream=io.BytesIO(content)) as source:
        return READER.sniff(source.probe())


@pytest.mark.parametrize(
    "first",
    [
        {"type": "summary", "summary": "a title", "leafUuid": "x"},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}, "isSnapshotUpdate": False},
        {"type": "queue-operation", "operation": "enqueue", "timestamp": "", "sessionId": SESSION, "content": "x"},
        {"type": "last-prompt", "lastPrompt": "x", "sessionId": SESSION},
        {"type": "permission-mode", "permissionMode": "default", "sessionId": SESSION},
        {"parentUuid": None, "isSidechain": False, "sessionId": SESSION, "type": "progress", "data": {}, "uuid": "x"},
        {"parentUuid": None, "isSidechain": False, "sessionId": SESSION, "type": "system", "subtype": "x", "uuid": "x"},
        {"parentUuid": None, "isSidechain": False, "attachment": {}, "type": "attachment", "uuid": "x"},
    ],
    ids=lambda record: record["type"],
)
def test_recognised_whatever_the_first_line_is(first: Json) -> None:
    assert sniffed(lines([first]))
    assert sniffed(lines([first, *little_session().records]))
    assert sniffed(lines([first] * 60 + little_session().records))


def test_recognised_by_a_first_line_longer_than_the_prefix() -> None:
    log = Log()
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 400_000}}
    log.person([image, text("what is this")])
    assert sniffed(log.bytes())
    assert shape(read(log)[0]) == ["turn: what is this"]


@pytest.mark.parametrize(
    "records",
    [
        [
            {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": []},
            {"type": "assistant", "message": {"role": "assistant", "content": []}, "session_id": "s", "uuid": "u"},
        ],
        [{"type": "user", "message": {"role": "user", "content": "x"}, "parent_tool_use_id": None, "session_id": "s"}],
        [
            {
                "type": "user",
                "uuid": "u",
                "parentUuid": None,
                "sessionId": "s",
                "message": {"role": "user", "parts": [{"text": "x"}]},
            }
        ],
        [{"role": "user", "content": "x"}, {"role": "assistant", "content": [call("a")]}],
        [{"role": "user", "message": {"content": [text("x")]}}],
        [{"type": "session", "version": 3, "id": "x", "timestamp": "", "cwd": "/"}],
        [{"type": "session_meta", "payload": {}}],
        [{"sessionId": "x", "projectHash": "y"}],
    ],
    ids=["stream-json", "stream-json without init", "qwen", "messages", "cursor", "pi", "codex", "gemini"],
)
def test_relatives_are_not_claimed(records: list[Json]) -> None:
    assert sniffed(lines(records)) is None


# -- the real files ----------------------------------------------------------------------------------

DIFFERENCES: dict[str, dict[str, tuple[int, int]]] = {
    # The only failing result is an orphan: its call is not in the file, so no call failed.
    "cc-2.1-orphan-result.jsonl": {"errors": (1, 0)},
}
"""Counts that differ from the manifest after the file was read: (manifest, here)."""


@pytest.mark.parametrize("row", corpus.params("claude-code"))
def test_counts_of_real_files(row: Json) -> None:
    path = corpus.path_of(row)
    counts = corpus.read_counts(READER, path)
    row["counts"].setdefault("sidechain_calls", 0)
    assert corpus.differences(row, counts) == DIFFERENCES.get(path.name, {})
    assert counts["conversations"] == 1


@pytest.mark.parametrize("row", corpus.params("claude-code"))
def test_real_files_against_a_plain_walk(row: Json) -> None:
    """Every id of a call or a result, wherever it stands, is found once; no problem but orphans."""
    path = corpus.path_of(row)
    called: dict[str, Any] = {}
    answered: set[str] = set()

    def walk(record: Json) -> None:
        content = (record.get("message") or {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_use":
                called[block["id"]] = (block["name"], block["input"])
            elif block["type"] == "tool_result":
                answered.add(block["tool_use_id"])
        data = record.get("data")
        if isinstance(data, dict) and isinstance(data.get("message"), dict):
            walk(data["message"])

    for line in path.read_bytes().splitlines():
        walk(orjson.loads(line))
    events, problems, _ = corpus.read_events(READER, path)
    calls = list(itertools.chain.from_iterable(batch.calls for batch in batches(events)))
    assert {c.id: (c.name, c.arguments) for c in calls} == called
    assert len(calls) == len(called)
    assert {c.id for c in calls if c.result is not None} == answered & called.keys()
    assert sorted(c.number for c in calls) == list(range(1, len(calls) + 1))
    assert set(problems.counts) <= {"orphan_result"}
    assert len(answered - called.keys()) == problems.counts.get("orphan_result", 0)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=f"{row['format']}-{path.name}")
        for row in (corpus.all_rows())
        for path in [corpus.path_of(row)]
    ],
)
def test_real_files_of_other_formats_are_not_claimed(path: Path) -> None:
    with Source(path) as source:
        claimed = READER.sniff(source.probe()) is not None
    assert claimed == (path.parent.name == "claude-code")
