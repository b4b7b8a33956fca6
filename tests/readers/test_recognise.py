"""Which reader gets a file: whatever the order of keys, whatever stands before them, by few records or by all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from loopaudit.core.json import tolerant_loads
from loopaudit.readers.probe import HEAD_RECORDS, Probe, is_spread
from loopaudit.readers.recognise import claim, claim_head, claims, recognise
from loopaudit.readers.registry import COMMON, FOLDERS, HEADED, MARKED, in_order, readers
from loopaudit.readers.source import Source
from tests.places import SAMPLES

FILES = sorted(p for p in (SAMPLES / "formats").iterdir() if p.is_file() and p.suffix in (".json", ".jsonl", ".traj"))


def ascending(value: Any) -> Any:
    return _reordered(value, reverse=False)


def descending(value: Any) -> Any:
    return _reordered(value, reverse=True)


def _reordered(value: Any, *, reverse: bool) -> Any:
    if isinstance(value, dict):
        return {key: _reordered(value[key], reverse=reverse) for key in sorted(value, reverse=reverse)}
    return [_reordered(entry, reverse=reverse) for entry in value] if isinstance(value, list) else value


def behind_much_else(value: Any) -> Any:
    """With a member in front that is longer than what is looked at of lines."""
    if isinstance(value, dict):
        return {"aaa_note": "n" * 300_000, **value}
    return value


def reader_of(path: Path) -> str:
    with Source(path) as source:
        return recognise(source).id


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("change", [ascending, descending, behind_much_else], ids=lambda change: change.__name__)
def test_a_sample_is_recognised_in_any_order_of_keys(path: Path, change: Callable[[Any], Any], tmp_path: Path) -> None:
    if change is behind_much_else and path.name == "cursor.jsonl":
        pytest.skip("a record with any other member is no record of this format")
    data = path.read_bytes()
    copy = tmp_path / path.name
    try:
        document = tolerant_loads(data)
    except ValueError:
        lines = [tolerant_loads(line) for line in data.splitlines() if line.strip()]
        lines[0] = change(lines[0])
        copy.write_bytes(b"\n".join(orjson.dumps(ascending(line) if change is ascending else line) for line in lines))
        assert reader_of(copy) == reader_of(path)
        return
    for indent in (None, 1):
        copy.write_text(json.dumps(change(document), indent=indent))
        assert reader_of(copy) == reader_of(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_few_records_tell_what_all_tell(path: Path) -> None:
    with Source(path) as source:
        head = source.head()
        early = claim_head(head) if head is not None else None
        probe = source.probe()
        assert claim(probe) == claims(probe)[0][0]
        assert early is None or early == claim(probe)


def test_what_the_first_records_tell_stands_whatever_follows(tmp_path: Path) -> None:
    user = {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "hi"}}
    header = {"type": "header", "format": "loopaudit", "version": 1}
    for first, second, expected in ((user, header, "claude-code"), (header, user, "native")):
        path = tmp_path / "x.jsonl"
        path.write_bytes(b"\n".join(map(orjson.dumps, [*[first] * HEAD_RECORDS, *[second] * 3])))
        with Source(path) as source:
            assert recognise(source).id == expected
        with Source(path) as source:
            found = claim(source.probe())
        assert found is not None
        assert found.id == expected


def test_a_large_log_is_known_by_its_members_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.json"
    log = {"samples": ["n" * 300_000], "version": 2, "eval": {"task": "t", "model": "m"}, "status": "success"}
    path.write_text(json.dumps(log, indent=1))
    with Source(path) as source, monkeypatch.context() as patch:
        patch.setattr("loopaudit.readers.probe.outline", None)
        assert recognise(source).id == "inspect-ai"
    with Source(path) as source:
        assert source.probe().document == log


def test_only_the_readers_of_folders_claim_one() -> None:
    folders = [p for p in (SAMPLES / "formats").iterdir() if p.is_dir()]
    for folder in folders:
        with Source(folder) as source:
            probe = source.probe()
        found = [name for name in readers().module_names() if readers().load(name).sniff(probe) is not None]
        assert set(found) <= set(FOLDERS)
    empty = Probe("directory")
    assert not [name for name in readers().module_names() if readers().load(name).sniff(empty) is not None]


def test_few_readers_have_a_quick_look() -> None:
    quick = {name for name in readers().module_names() if readers().load(name).sniff_head is not None}
    assert quick == {*COMMON, *HEADED}


def test_readers_of_marked_inputs_are_asked_first() -> None:
    asked = set()
    for path in FILES:
        with Source(path) as source:
            probe = source.probe()
        first = next((r for r in in_order(probe.shape, probe.members()) if r.sniff_head is None), None)
        if first is not None and first.id.replace("-", "_") in MARKED:
            assert first.sniff(probe) is not None
            asked.add(first.id.replace("-", "_"))
    assert asked == set(MARKED)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_reader_claims_nothing_without_the_members_that_it_names(path: Path) -> None:
    with Source(path) as source:
        probe = source.probe()
    for name in readers().module_names():
        reader = readers().load(name)
        assert reader.may_claim(probe.members()) or reader.sniff(probe) is None
        left = Probe(probe.shape)
        left.records = [without(record, reader.members) for record in probe.records]
        left.document = without(probe.document, reader.members)
        if reader.members and left.members() is not None:
            assert reader.sniff(left) is None
            assert not reader.may_claim(left.members())


def without(value: Any, members: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [without(entry, members) for entry in value]
    if not isinstance(value, dict):
        return value
    return {name: member for name, member in value.items() if name not in members}


def test_no_line_is_decoded_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def loads(data: bytes) -> Any:
        asked.append(data)
        return tolerant_loads(data)

    monkeypatch.setattr("loopaudit.readers.source.tolerant_loads", loads)
    for name, text in {
        "lines": "\n".join(json.dumps({"n": n}) for n in range(200)),
        "one line": json.dumps({"a": [1, 2], "b": "text"}),
    }.items():
        asked.clear()
        path = tmp_path / "x"
        path.write_text(text)
        with Source(path) as source:
            source.head()
            source.probe()
            list(source.records())
        assert len(asked) == len(set(asked)) == len(text.splitlines()), name
    for indent in (None, 1):
        asked.clear()
        path.write_text(json.dumps({"a": [1, 2], "b": "text"}, indent=indent))
        with Source(path) as source:
            source.probe()
            assert source.document() == {"a": [1, 2], "b": "text"}
        assert len([data for data in asked if len(data) > 5]) == 1


@pytest.mark.parametrize(
    "first", [b"{", b"[", b"[{", b'{"a": 1}', b'{"a": [', b'{"a": 1},', b' {"a": 1}', b'{"a": 1} x']
)
@pytest.mark.parametrize("second", [b'{"b": 2}', b'{"b": 2},', b'"b": 2}', b'{"b": {', b"{'b'}", b"]", b'{"b": 2} '])
def test_lines_of_records_are_told_from_a_document_at_a_glance(first: bytes, second: bytes) -> None:
    """The glance sees only lines as writers write them; with a blank before each they are looked at closely."""

    def value(line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError:
            return None

    found = is_spread(first + b"\n", second + b"\n", lambda: value(first))
    assert found == is_spread(b" " + first + b"\n", b" " + second + b"\n", lambda: value(first))
