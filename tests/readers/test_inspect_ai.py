"""The reader of Inspect AI logs: documents and archives."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.core.events import Batch
from loopaudit.readers.formats.inspect_ai.reader import READER
from loopaudit.readers.source import Source
from tests import corpus
from tests.readers.kit import Document, Read, reason_of, sample

ID = "inspect-ai"


def call(id: str, name: str = "bash", **more: Any) -> dict[str, Any]:
    return {"id": id, "function": name, "arguments": {"cmd": id}, **more}


def log(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    entry = {"id": "a", "epoch": 2, "messages": list(messages), **more}
    return {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [entry]}


USER = {"role": "user", "content": "go", "source": "input"}


def asks(*calls: dict[str, Any], text: Any = "", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls), **more}


def told(id: str, content: Any = "x", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "function": "bash", "content": content, **more}


def test_messages_of_a_sample() -> None:
    run = log(
        USER, asks(call("1"), call("2"), text=[{"type": "text", "text": "So."}]), told("2"), told("1"), asks(call("3"))
    )
    read = Read(ID, Document(run))
    assert read.shape == ["turn: go", "1+2 So.", "3?"]
    assert {e.session for e in read.events} == {"a_epoch_2"}
    assert not read.problems


@pytest.mark.parametrize(
    ("error", "status"),
    [("timeout", "error"), ("parsing", "error"), ("permission", "error"), ("approval", "denied"), (None, "ok")],
)
def test_errors_of_results(error: str | None, status: str) -> None:
    about = None if error is None else {"type": error, "message": "no"}
    read = Read(ID, Document(log(USER, asks(call("1")), told("1", "", error=about))))
    result = read.calls[0].result
    assert result.status == status
    assert result.output == ("" if error is None else "no")


def test_ids_that_stand_twice_are_calls_of_their_own() -> None:
    read = Read(ID, Document(log(USER, *[m for n in "xyz" for m in (asks(call("c")), told("c", n))])))
    assert [c.result.output for c in read.calls] == ["x", "y", "z"]


def test_the_tool_events_are_read_where_the_messages_are_shorter() -> None:
    def model(text: str, *calls: Any) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, "tool_calls": list(calls)}
        output = {"choices": [{"message": message}], "usage": {"input_tokens": 5, "output_tokens": 1}}
        return {"event": "model", "timestamp": "2026-01-01T00:00:00+00:00", "model": "m", "output": output}

    def ran(id: str, **more: Any) -> dict[str, Any]:
        return {"event": "tool", "id": id, "function": "bash", "arguments": {}, "result": "attachment://h", **more}

    events = [
        model("one", call("1")),
        ran("1"),
        {"event": "compaction"},
        model("two", call("2")),
        ran("2"),
        model("done"),
    ]
    run = log(
        {"role": "user", "content": "summary"},
        asks(call("2")),
        told("2"),
        input="go",
        events=events,
        attachments={"h": "long"},
    )
    read = Read(ID, Document(run))
    assert read.shape == ["turn: go", "1 one", "-- compaction", "2 two", ". done"]
    assert [c.result.output for c in read.calls] == ["long", "long"]
    assert read.total.input_tokens == 15


def test_a_limit_or_an_error_is_the_end() -> None:
    assert reason_of(Read(ID, Document(log(USER, limit={"type": "token", "limit": 9}))).events[-1]) == "limit: token"
    assert reason_of(Read(ID, Document(log(USER, error={"message": "boom", "traceback": ""}))).events[-1]) == "boom"


def test_a_log_without_samples_is_told() -> None:
    read = Read(ID, Document({"version": 2, "eval": {"task": "t", "model": "m"}, "status": "error"}))
    assert read.problems.counts == {"no_samples": 1}


# -- archives ------------------------------------------------------------------------------


def archive(samples: list[Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as file:
        file.writestr("_journal/start.json", "{}")
        for entry in samples:
            content = entry if isinstance(entry, bytes) else json.dumps(entry).encode()
            file.writestr(f"samples/{len(file.namelist())}_epoch_1.json", content)
        file.writestr("summaries.json", "[]")
    return data.getvalue()


def with_zstd(data: bytes) -> bytes:
    """An archive of stored members whose samples are compressed with Zstandard instead."""
    out = io.BytesIO()
    entries = []
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        for info in file.infolist():
            content = file.read(info)
            packed = zstandard.ZstdCompressor().compress(content)
            name = info.filename.encode()
            sizes = struct.pack("<III", info.CRC, len(packed), len(content))
            entries.append((name, sizes, out.tell()))
            out.write(
                struct.pack("<4sHHHHH", b"PK\x03\x04", 63, 0, 93, 0, 0)
                + sizes
                + struct.pack("<HH", len(name), 0)
                + name
                + packed
            )
    start = out.tell()
    for name, sizes, offset in entries:
        out.write(
            struct.pack("<4sHHHHHH", b"PK\x01\x02", 63, 63, 0, 93, 0, 0)
            + sizes
            + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, offset)
            + name
        )
    size = out.tell() - start
    out.write(struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(entries), len(entries), size, start, 0))
    return out.getvalue()


def samples() -> list[Any]:
    return list(json.loads(sample(ID).read_bytes())["samples"])


@pytest.mark.parametrize(
    "data", [archive(samples()), with_zstd(archive(samples(), zipfile.ZIP_STORED))], ids=["deflate", "zstd"]
)
def test_an_archive_reads_like_the_document(data: bytes, tmp_path: Path) -> None:
    expected = Read(ID, sample(ID).read_bytes())
    for content in (data, tmp_path / "log.txt"):
        if isinstance(content, Path):
            content.write_bytes(data)
        events, problems, _ = corpus.read_events(READER, content)
        assert [(e.session, e.text) for e in events if isinstance(e, Batch)] == [
            (e.session, e.text) for e in expected.events if isinstance(e, Batch)
        ]
        assert not problems
    with Source(None, stream=io.BytesIO(data)) as source:
        assert READER.sniff(source.probe())


def test_a_damaged_member_does_not_hide_the_others() -> None:
    first, second = samples()
    data = archive([first, b'{"messages": [', second])
    read = Read(ID, data)
    assert len(read.totals) == 2
    assert read.problems.counts == {"bad_member": 1}
    broken = bytearray(with_zstd(archive([first, second], zipfile.ZIP_STORED)))
    at = broken.find(b"samples/1_epoch_1.json") + len(b"samples/1_epoch_1.json")
    broken[at : at + 4] = b"\0\0\0\0"
    read = Read(ID, bytes(broken))
    assert len(read.totals) == 1
    assert read.problems.counts == {"bad_member": 1}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_damage_to_an_archive_ends_in_problems(data: st.DataObject) -> None:
    method = data.draw(st.sampled_from(["deflate", "zstd"]))
    whole = archive(samples()) if method == "deflate" else with_zstd(archive(samples(), zipfile.ZIP_STORED))
    at = data.draw(st.integers(4, len(whole)))
    if data.draw(st.booleans()):
        broken = whole[:at]
    else:
        noise = data.draw(st.binary(min_size=1, max_size=8))
        broken = whole[:at] + noise + whole[at + len(noise) :]
    read = Read(ID, broken)
    calls = sum(t.calls for t in read.totals)
    with Source(None, stream=io.BytesIO(broken)) as source:
        named = [name for name in source.probe().names if name.startswith("samples/") and name.endswith(".json")]
    assert calls == 6 or (calls < 6 and (read.problems or len(named) < 2))


DIFFERENCES = {
    # A sample of results alone: they answer no call, so that nothing happens in this conversation.
    "tool-call-error.json": {"results": (11, 0), "orphan_results": (11, 0), "errors": (11, 0)},
}


@pytest.mark.parametrize("row", corpus.params("inspect"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(READER, corpus.path_of(row))
    assert corpus.differences(row, counts) == DIFFERENCES.get(Path(row["file"]).name, {})
