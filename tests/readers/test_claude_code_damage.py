"""The Claude Code reader: what cannot be used is a located problem, and nothing is lost in silence."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.readers.formats.claude_code import branches
from loopaudit.readers.formats.claude_code.reader import READER
from loopaudit.readers.kit.claude_words import blanked, exit_code, refusal, typed
from loopaudit.readers.source import Source
from tests import corpus
from tests.readers.claude_records import (
    REMINDER,
    SESSION,
    Json,
    Log,
    batches,
    call,
    every_kind,
    lines,
    little_session,
    read,
    shape,
)

pytestmark = [pytest.mark.usefixtures("untraced"), pytest.mark.slow]  # damages every sample in many ways

# -- what cannot be used -------------------------------------------------------------------------


def test_record_types_without_a_message_are_skipped_and_unknown_ones_counted() -> None:
    log = little_session()
    expected = shape(read(log)[0])
    silent = ["summary", "file-history-snapshot", "queue-operation", "pr-link", "last-prompt", "permission-mode"]
    for kind in [*silent, "mode", "ai-title", "custom-title", "system", "attachment"]:
        log.records.insert(1, {"type": kind, "sessionId": SESSION})
    assert not read(log)[1]
    log.records.insert(2, {"type": "telepathy\x1b[2J", "sessionId": SESSION})
    events, problems, _ = read(log)
    assert shape(events) == expected
    assert problems.counts == {"unknown_record": 1}
    assert (problems.damaged, problems.kept[0].line) == (0, 3)
    assert "\x1b" not in problems.kept[0].message


def _with(**message: Any) -> Json:
    return {"type": "assistant", "sessionId": SESSION, "message": {"role": "assistant", "id": "m9", **message}}


@pytest.mark.parametrize(
    ("record", "kind", "damaged"),
    [
        ({"type": "assistant", "sessionId": SESSION}, "no_message", 1),
        ({"type": "user", "message": "words"}, "no_message", 1),
        (_with(content=None), "no_message", 1),
        (_with(content={"type": "tool_use"}), "no_message", 1),
        (_with(content=[{"type": "tool_use", "id": "x", "input": {}}]), "call_without_name", 1),
        (_with(content=[{"type": "tool_use", "name": "Bash", "input": {}}]), "call_without_id", 1),
        (_with(content=[{"type": "tool_use", "name": "Bash", "id": "x"}]), "call_without_input", 1),
        (_with(content=[{"type": "tool_result", "content": "x"}]), "result_without_id", 1),
        (_with(content=[{"text": "x"}]), "no_block_type", 1),
        (_with(content=[3]), "no_block_type", 1),
        (_with(content=[{"type": "hologram"}]), "unknown_block", 0),
        ({"type": "user", "message": {"role": "user", "content": [call("x")]}}, "unknown_block", 1),
        ({"type": "telepathy", "message": {"content": "x"}}, "unknown_record", 1),
        ({"type": "summary", "message": {"content": [call("x")]}}, "unknown_record", 1),
        ({"type": 7, "sessionId": SESSION}, "no_type", 0),
        ({"type": "progress", "data": None}, "no_data", 0),
        ({"type": "progress", "data": {"type": "agent_progress"}}, "no_message", 0),
        ({"type": "progress", "data": {"type": "agent_progress", "message": {"type": "user"}}}, "no_message", 1),
        ({"type": "progress", "data": {"message": {"type": "x", "message": {}}}}, "unknown_record", 1),
        ([1, 2], "not_a_record", 1),
        ("words", "not_a_record", 1),
        (None, "not_a_record", 1),
    ],
)
def test_records_that_lack_what_they_must_have(record: Any, kind: str, damaged: int) -> None:
    log = little_session()
    content = lines([*log.records[:3], record, *log.records[3:]])
    events, problems, _ = read(content)
    assert problems.counts == {kind: 1}
    assert (problems.damaged, problems.kept[0].line) == (damaged, 4)
    told = shape(events)
    assert told[0] == "turn: go" and "01a I look." in told


def test_lines_that_are_no_json() -> None:
    log = little_session()
    good = log.bytes().splitlines(keepends=True)
    damaged = [good[0], b"npm warn something\n", *good[1:3], b'{"type":"assistant",\n', *good[3:5], good[5][:-30]]
    events, problems, _ = read(b"".join(damaged))
    assert shape(events) == ["turn: go", "01a I look.", ". done"]
    assert problems.counts == {"not_json": 1, "bad_line": 1, "cut_last_line": 1}
    assert [p.line for p in problems.kept] == [2, 5, 8]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"I look.", b"I \\ud83d look."),
        (b"run toolu_01a", b"run \\udc00"),
        (b'"done"', b'"\\ud83d"'),
        (b'"output_tokens":1}', b'"output_tokens":NaN}'),
        (b'"output_tokens":9}', b'"output_tokens":"many"}'),
        (b'"isSidechain":false', b'"isSidechain":"no"'),
        (b'"cwd":"/home', b'"cwd":"\xff\xfe/home'),
        (b"run toolu_01a", b"run \xff"),
        (b'"gitBranch":"main"', b'"gitBranch":Infinity'),
        (b'"version":"2.1.37"', b'"agentId":null,"isMeta":0,"data":[],"attachment":"x"'),
    ],
)
def test_odd_lines_are_read_like_plain_ones(old: bytes, new: bytes) -> None:
    plain = little_session().bytes()
    odd = plain.replace(old, new)
    assert odd != plain
    events, problems, totals = read(odd)
    assert len(shape(events)) == len(shape(read(plain)[0]))
    assert (totals.calls, totals.results, totals.turns) == (1, 1, 2)
    assert not problems
    arguments = batches(events)[0].calls[0].arguments
    assert isinstance(arguments, dict) and list(arguments) == ["command"]


def test_crlf_and_byte_order_mark_and_blank_lines() -> None:
    plain = little_session().bytes()
    odd = b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n\r\n")
    assert shape(read(odd)[0]) == shape(read(plain)[0])


def test_deeply_nested_arguments_neither_crash_nor_vanish() -> None:
    log = Log()
    log.model("m1", call("toolu_01a"))
    deep = b"[" * 5000 + b"]" * 5000
    events, problems, _ = read(log.bytes().replace(b'"run toolu_01a"', deep))
    assert batches(events) or problems.damaged


def test_a_record_without_a_type_is_told_by_its_role() -> None:
    log = little_session()
    for record in log.records:
        del record["type"]
    assert shape(read(log)[0]) == shape(read(little_session())[0])


# -- damage at random ----------------------------------------------------------------------------


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterable[tuple[Any, ...]]:
    """Paths to every member and item inside a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


PLACES = [(n, path) for n, record in enumerate(every_kind()) for path in places(record)]
ODD = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        2.5,
        10**30,
        "",
        "x",
        "user",
        "assistant",
        "tool_use",
        "\x1b[31m",
        [],
        {},
        [None],
        {"a": 1},
    ]
)


def check_nothing_is_lost(content: bytes) -> None:
    """Every line that holds a call or a result is one in the events, or has a problem."""
    events, problems, _ = corpus.read_events(READER, content)
    found = {problem.line for problem in problems.kept}
    for batch in batches(events):
        for made in batch.calls:
            found.add(made.line)
            if made.result is not None:
                found.add(made.result.line)
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            record = json.loads(line)
        except ValueError:
            assert number in found or not line, line
            continue
        data = record.get("data")
        for message in (record.get("message"), data.get("message") if isinstance(data, dict) else None):
            if any(holds_work(value) for value in inside(message)):
                assert number in found, line


def holds_work(value: Any) -> bool:
    """Whether a value is a block of a call or a result (not the message around it)."""
    kind = value.get("type") if isinstance(value, dict) and value.keys().isdisjoint({"role", "message"}) else None
    return isinstance(kind, str) and kind.endswith(("tool_use", "tool_result"))


def inside(value: Any) -> Iterable[Any]:
    yield value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for inner in items:
        yield from inside(inner)


@given(
    st.lists(st.tuples(st.sampled_from(PLACES), st.one_of(ODD, st.just("gone"))), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=3),
)
def test_changed_values_and_swapped_lines_lose_nothing(
    changes: list[tuple[tuple[int, tuple[Any, ...]], Any]], swaps: list[tuple[int, int]]
) -> None:
    records: list[Any] = every_kind()
    for (number, path), new in changes:
        holder: Any = records[number]
        try:
            for key in path[:-1]:
                holder = holder[key]
            if new == "gone":
                del holder[path[-1]]
            else:
                holder[path[-1]] = new
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change has taken this place away
    for swap in swaps:
        one, two = (place % len(records) for place in swap)
        records[one], records[two] = records[two], records[one]
    check_nothing_is_lost(b"".join(_dump(record) for record in records))


def _dump(record: Any) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


@given(st.integers(0, len(lines(every_kind()))), st.integers(0, 255), st.booleans())
def test_cut_and_broken_bytes_never_raise(at: int, byte: int, cut: bool) -> None:
    content = lines(every_kind())
    broken = content[:at] if cut else content[:at] + bytes([byte]) + content[at + 1 :]
    corpus.read_events(READER, broken)
    if cut:
        check_nothing_is_lost(broken)


KEYS = sorted({key for _, path in PLACES for key in path if isinstance(key, str)})


@given(st.lists(st.recursive(ODD, lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)), max_size=5))
def test_any_json_never_raises(records: list[Any]) -> None:
    content = b"".join(_dump(record) for record in records)
    corpus.read_events(READER, content)
    with Source(None, stream=io.BytesIO(content)) as source:
        READER.sniff(source.probe())


@given(st.text(max_size=60))
def test_words_are_judged_without_trouble(words: str) -> None:
    assert words.endswith(typed(words))
    assert refusal(words) in (None, "denied", "cancelled")
    assert exit_code(words) is None or "Exit code" in words
    assert blanked(words) in (True, False)


def test_typed_is_linear_in_the_number_of_elements() -> None:
    assert typed(REMINDER * 20_000 + "x") == "x"


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.booleans()), max_size=4),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=3),
)
def test_what_a_look_ahead_spares_changes_nothing(
    copies: list[tuple[int, int, bool]], parents: list[tuple[int, int]]
) -> None:
    """Records may be copied, under the parent of another one, and turns may go back, in files with nested records."""
    records = every_kind()
    for which, other in parents:
        at, to = which % len(records), other % len(records)
        records[at] = records[at] | {"parentUuid": records[to].get("uuid")}
    for which, to, is_moved in copies:
        copied = dict(records[which % len(records)])
        if is_moved:
            copied["parentUuid"] = records[-1].get("uuid")
            if "data" in copied:
                copied["uuid"] = f"another {to}"  # around the same record of a sub-agent
        records.insert(to % (len(records) + 1), copied)
    content = lines(records)
    spared = read(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branches, "_has_unique_ids", lambda *_: False)
        remembered = read(content)
    assert spared[0] == remembered[0]
    assert spared[1].counts == remembered[1].counts
