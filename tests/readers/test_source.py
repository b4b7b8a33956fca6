"""Opening transcripts of every kind, and telling what cannot be read."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.errors import InputError
from loopaudit.core.json import exact_loads, tolerant_loads
from loopaudit.readers.expand import encoding_of
from loopaudit.readers.partial_json import complete_prefix
from loopaudit.readers.source import GZIP_MAGIC, TABLE_MAGICS, ZSTD_MAGIC, Source

RECORDS = [{"n": n, "text": "zeile\u2028ä" * 3} for n in range(120)]
LINES = b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in RECORDS)


def read(path: Path | None, **options: Any) -> tuple[list[Any], dict[str, int]]:
    with Source(path, **options) as source:
        return [r.value for r in source.records()], source.problems.counts


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("plain", LINES),
        ("gzip", gzip.compress(LINES)),
        ("zstd", zstandard.compress(LINES)),
        ("two zstd frames", zstandard.compress(LINES[:500]) + zstandard.compress(LINES[500:])),
        ("bom", b"\xef\xbb\xbf" + LINES),
        ("crlf", LINES.replace(b"\n", b"\r\n")),
        ("blank lines", b"\n \n" + LINES.replace(b"\n", b"\n\n")),
        ("no final line feed", LINES.rstrip()),
    ],
)
def test_every_packing_gives_the_same_records(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / "x.whatever"
    path.write_bytes(data)
    assert read(path) == (RECORDS, {})
    assert read(None, stream=io.BytesIO(data)) == (RECORDS, {})


def test_lines_are_numbered_as_an_editor_does(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b'\n{"a":1}\n\n{"a":2}\n')
    with Source(path) as source:
        assert [r.line for r in source.records()] == [2, 4]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"a": 1, "b\n', "bad_line"),
        (b"plain words\n", "not_json"),
        (b'{"a": "\0"}x\n', "bad_line"),
        (b'{"a": [1, 2', "cut_last_line"),
    ],
)
def test_damaged_lines_are_located(tmp_path: Path, line: bytes, kind: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(b'{"a":1}\n' + line)
    with Source(path) as source:
        assert [r.value for r in source.records()] == [{"a": 1}]
        assert [(p.kind, p.line, p.damage) for p in source.problems.kept] == [(kind, 2, True)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a":"\\ud83d"}', {"a": "\ud83d"}),
        (b'{"a":NaN}', None),
        (b'{"a":"\x01"}', {"a": "\x01"}),
        (b'{"a":"\xff"}', {"a": "\ufffd"}),
        (b'{"a":123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ],
)
def test_odd_json_is_read(text: bytes, value: Any) -> None:
    got = tolerant_loads(text)
    if value is not None and not isinstance(value.get("a"), int):
        assert got == value


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    with pytest.raises(ValueError, match="deep"):
        tolerant_loads(b"[" * 100_000 + b"]" * 100_000)


@pytest.mark.parametrize("cut", [3, 200, 400])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_cut_archive_gives_what_came_before(tmp_path: Path, cut: int, pack: Any) -> None:
    import random

    noise = random.Random(1)
    records = [{"n": f"{noise.getrandbits(400):x}"} for _ in range(300)]
    packed = pack(b"".join(json.dumps(r).encode() + b"\n" for r in records))
    path = tmp_path / "x"
    path.write_bytes(packed[: len(packed) - cut])
    got, problems = read(path)
    assert got == records[: len(got)]
    if cut > 3:
        assert len(got) < 300
    assert problems or len(got) == 300


def test_what_expands_too_far_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b" " * 50_000_000))
    with Source(path, max_expanded=10 << 20) as source, pytest.raises(InputError, match="expands to more than 10 MiB"):
        list(source.lines())


@pytest.mark.parametrize("name", ["missing.jsonl", "/dev/null"])
def test_what_is_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read|not a regular file"):
        Source(tmp_path / name)


SHAPES = [
    (b"", "empty"),
    (b"\n\n  \n", "empty"),
    (LINES, "records"),
    (b'{"a":1}', "records"),
    (b'{\n "a": 1\n}', "document"),
    (b'[\n{"a": 1},\n{"a": 2}\n]', "document"),
    (b'[{"a": 1},\n{"a": 2}]', "document"),
    (b'{"a": 1,\n "b": [', "document"),
    (b'{"a": ["x' + b"y" * 400_000 + b'"]}\n{"a": 2}\n', "records"),
    (b'{"a": "cut\n{"b": 1}\n{"b": 2}\n', "records"),
    (b"log line\n" + LINES, "records"),
    (b"hello world", "other"),
    (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "other"),
]


@pytest.mark.parametrize(("data", "shape"), SHAPES)
def test_shape_is_told_from_the_content(tmp_path: Path, data: bytes, shape: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    with Source(path) as source:
        assert source.probe().shape == shape
        if shape == "records":
            assert source.probe().dicts


MESSAGES = [{"role": "user", "content": str(n) * 100_000} for n in range(10)]


@pytest.mark.parametrize("first", [{}, {"note": "n" * 400_000}], ids=["in front", "far behind"])
@pytest.mark.parametrize("indent", [None, 1], ids=["one line", "spread"])
@pytest.mark.parametrize("limit", [1 << 25, 1 << 19], ids=["decoded", "too large to be decoded"])
def test_a_look_at_a_document_sees_all_members_and_the_first_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: dict[str, str], indent: int | None, limit: int
) -> None:
    monkeypatch.setattr("loopaudit.readers.source.MAX_WHOLE", limit)
    document = {**first, "messages": MESSAGES, "rows": [{"messages": MESSAGES, "id": 1}], "key": True}
    path = tmp_path / "x"
    path.write_text(json.dumps(document, indent=indent))
    with Source(path) as source:
        seen = source.probe().document
        assert seen["key"] is True
        if limit > path.stat().st_size:
            assert seen["messages"] == seen["rows"][0]["messages"] == MESSAGES[:3]
        else:
            assert seen["messages"][:2] == MESSAGES[:2]
            assert len(seen["messages"]) <= 3
        assert source.document() == document


def test_a_look_at_a_list_sees_whole_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"text": "t" * 300_000, "id": n} for n in range(10)]
    path = tmp_path / "x"
    path.write_text(json.dumps(rows, indent=1))
    for limit in (1 << 25, 1 << 19):
        monkeypatch.setattr("loopaudit.readers.source.MAX_WHOLE", limit)
        with Source(path) as source:
            assert source.probe().document == rows[:1]
            assert source.document() == rows


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
        lambda i: st.lists(i) | st.dictionaries(st.text(), i),
    ),
    st.data(),
)
def test_a_prefix_of_a_document_is_read_as_far_as_it_goes(value: Any, data: st.DataObject) -> None:
    text = json.dumps({"root": value}).encode()
    assert complete_prefix(text) == json.loads(text)
    cut = text[: data.draw(st.integers(0, len(text)))]
    complete_prefix(cut)


@given(st.binary(max_size=400))
def test_any_bytes_end_in_records_and_problems(data: bytes) -> None:
    with Source(None, stream=io.BytesIO(data)) as source:
        source.probe()
        list(source.records())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": -0}', {"a": -0.0}),
        (b"[-0, 1]", [-0.0, 1]),
        (b'["2026-02-07", -0.5, -0e1]', ["2026-02-07", -0.5, -0.0]),
        (b'["-0"]', ["-0"]),
        (b"[-01]", None),
    ],
)
def test_a_negative_zero_keeps_its_sign(text: bytes, value: Any) -> None:
    for loads in (tolerant_loads, exact_loads):
        if value is None:
            with pytest.raises(ValueError):
                loads(text)
        else:
            assert repr(loads(text)) == repr(value)


def test_exact_decoding_keeps_large_integers() -> None:
    assert exact_loads(b"[18446744073709551617]") == [18446744073709551617]
    assert exact_loads(b"1" * 5000) == float("inf")


@given(st.binary(max_size=62))
def test_what_begins_as_an_object_need_not_be_looked_at_more_closely(rest: bytes) -> None:
    head = b'{"' + rest
    assert not head.startswith((*TABLE_MAGICS, GZIP_MAGIC, ZSTD_MAGIC))
    assert encoding_of(head) is None
