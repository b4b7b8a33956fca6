"""Pieces that readers of whole documents share: ids, names, token counts, notices of guards."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.errors import InputError
from loopaudit.core.events import Usage
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.pairing import Waiting
from loopaudit.readers.kit.whole import Fresh, Names, guard_notice, records, tokens
from loopaudit.readers.source import Source


def objects(data: bytes) -> tuple[list[tuple[Any, int]], dict[str, int]]:
    with Source(None, stream=io.BytesIO(data)) as source:
        emit = Emitter(lambda event: None, source.problems)
        return [(record, emit.line) for record in records(source, emit)], source.problems.counts


@pytest.mark.parametrize(
    ("data", "expected", "problems"),
    [
        (b'{"a":1}\n{"a":2}\n', [1, 2], {}),
        (b'[{"a":1},{"a":2}]', [1, 2], {}),
        (b'[\n {"a": 1},\n 7,\n {"a": 2}\n]\n', [1, 2], {"not_a_record": 1}),
        (b'{\n "a": 1\n}\n', [1], {}),
        (b'{"a":1}\n3\n[]\n{"a":2}\n', [1, 2], {"not_a_record": 2}),
        (b'{"a":1}\n[{"a":2}]\n', [1, 2], {}),
    ],
)
def test_lines_and_lists_give_their_objects(data: bytes, expected: list[int], problems: dict[str, int]) -> None:
    found, told = objects(data)
    assert [record["a"] for record, _ in found] == expected
    assert told == problems


def test_lines_have_numbers_and_documents_have_none() -> None:
    assert [line for _, line in objects(b'{"a":1}\n\n{"a":2}\n')[0]] == [1, 3]
    assert [line for _, line in objects(b'[\n{"a": 1}\n]')[0]] == [0]


def test_a_directory_is_no_file(tmp_path: Any) -> None:
    with Source(tmp_path) as source, pytest.raises(InputError, match="a directory"):
        list(records(source, Emitter(lambda event: None)))


@given(st.lists(st.none() | st.integers() | st.sampled_from(["", "a", "b", "a~2", "REDACTED"])))
def test_an_id_is_given_once(values: list[Any]) -> None:
    fresh = Fresh()
    given_ids = [found for found in map(fresh.id, values) if found is not None]
    assert len(set(given_ids)) == len(given_ids)
    assert set(given_ids) == {v for v in values if isinstance(v, str) and v}


def test_a_waiting_call_is_taken_once_and_the_oldest_first() -> None:
    waiting = Waiting()
    waiting.add("1", "name", "id 1")
    waiting.add("2", "name", "id 2")
    waiting.add("3", "name", "id 2")
    assert [waiting.take("none", "id 2"), waiting.take("name"), waiting.take("id 1", "name"), waiting.take("name")] == [
        "2",
        "1",
        "3",
        None,
    ]


@given(st.lists(st.sampled_from(["", "a", "a~2", "a~2~2", "b"])))
def test_names_are_unique_and_the_first_keeps_its_own(values: list[str]) -> None:
    names = Names()
    found = [names.unique(value) for value in values]
    assert len(set(found)) == len(found)
    assert all(name.startswith(value) for name, value in zip(found, values, strict=True))


@pytest.mark.parametrize(
    ("given_counts", "more", "expected"),
    [
        ((10, 5), {}, Usage(10, 5)),
        ((None, None), {}, None),
        ((-1, "5"), {}, None),
        ((0, 0), {}, Usage(0, 0)),
        ((10, 5), {"thoughts": 3}, Usage(10, 5)),
        ((10, 5), {"thoughts": 3, "total": 15}, Usage(10, 5)),
        ((10, 5), {"thoughts": 3, "total": 18}, Usage(10, 8)),
        ((10, 5), {"thoughts": 3, "total": 118, "read": 90, "written": 10}, Usage(10, 8, 90, 10)),
        ((10, 5), {"thoughts": 3, "total": 18, "read": 9}, Usage(10, 8, 9)),
    ],
)
def test_tokens(given_counts: tuple[Any, Any], more: dict[str, Any], expected: Usage | None) -> None:
    assert tokens(*given_counts, **more) == expected


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("a loop was detected in the calls", True),
        ("We detected a loop.", True),
        ("app.loop_detected", True),
        ("permission doom_loop", True),
        ("AgentStuckInLoopError", True),
        ("reached maximum iteration: 50", True),
        ("the maximum number of turns", True),
        ("the event loop is closed", False),
        ("detected: three files. A loop over them", False),
        ("maximum size", False),
        ("", False),
    ],
)
def test_notices_of_guards(text: str, speaks: bool) -> None:
    assert guard_notice(text) == (text if speaks else None)
