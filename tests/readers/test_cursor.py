"""Cursor: agent transcripts, and the stream of its command line."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.registry import readers
from tests import corpus
from tests.readers.claude_records import text
from tests.readers.kit import Read, claimed

ID = "cursor"
STREAM = "cursor-stream"


def said(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(blocks)}}


def call(name: str, id: str | None = None) -> dict[str, Any]:
    block = {"type": "tool_use", "name": name, "input": {"path": name}}
    return block if id is None else {**block, "id": id}


# -- transcripts ---------------------------------------------------------------------------


def test_calls_without_ids_and_results() -> None:
    found = Read(ID, [said("user", text("<user_query>\ngo\n</user_query>")), said("assistant", call("a"), call("a"))])
    assert found.shape == ["turn: go", "#1?+#2?"]
    assert found.total.success_known is False


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("<external_links>\nx\n</external_links>\n<user_query>\ngo\n</user_query>", "go"),
        ("<user_query>one</user_query> <user_query>two</user_query>", "one\ntwo"),
        ("<system-reminder>x</system-reminder>go", "go"),
        ("go", "go"),
    ],
)
def test_what_a_person_typed(words: str, typed: str) -> None:
    assert Read(ID, [said("user", text(words))]).shape == [f"turn: {typed}"]


def test_results_answer_by_id_or_in_order() -> None:
    told = {"type": "tool_result", "content": "x"}
    by_id = [said("assistant", call("a", "i"), call("b", "j")), said("user", {**told, "tool_use_id": "j"})]
    assert Read(ID, by_id).shape == ["i?+j"]
    in_order = [said("assistant", call("a"), call("b")), said("user", told, {**told, "is_error": True}, told)]
    found = Read(ID, in_order)
    assert found.shape == ["#1+#2!"]
    assert found.total.orphan_results == 1


@pytest.mark.parametrize(
    ("records", "is_claimed"),
    [
        ([said("user", text("x"))], True),
        ([{"role": "user", "message": {"role": "user", "content": "x"}}], False),
        ([{"role": "user", "content": "x"}], False),
        ([{**said("user", text("x")), "sessionId": "s"}], False),
    ],
)
def test_claims(records: list[Any], is_claimed: bool) -> None:
    assert (claimed(ID, records) is not None) is is_claimed


@pytest.mark.parametrize("row", corpus.params(ID))
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(readers().get(ID), corpus.path_of(row))
    assert corpus.differences(row, counts) == {}


# -- the stream ----------------------------------------------------------------------------


def tool(state: str, id: str, result: Any = None, response: str | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"args": {"command": id}}
    if result is not None:
        body["result"] = result
    record = {"type": "tool_call", "subtype": state, "call_id": id, "tool_call": {"shellToolCall": body}}
    return record if response is None else {**record, "model_call_id": response}


DONE = {"success": {"exitCode": 0, "stdout": "x"}}


def test_a_call_and_its_completion_are_one() -> None:
    found = Read(STREAM, [tool("started", "a"), tool("completed", "a", DONE)])
    assert found.shape == ["a"]
    assert (found.calls[0].name, found.calls[0].arguments) == ("shell", {"command": "a"})
    assert not found.problems.counts
    assert Read(STREAM, [tool("completed", "a", DONE)]).shape == ["a"]
    assert Read(STREAM, [tool("started", "a")]).shape == ["a?"]


def test_batches_by_response_else_by_what_ran_at_once() -> None:
    both = [tool("started", "a"), tool("started", "b"), tool("completed", "a", DONE), tool("completed", "b", DONE)]
    assert Read(STREAM, [*both, tool("started", "c")]).shape == ["a+b", "c?"]
    named = [
        tool("started", "a", response="r"),
        tool("completed", "a", DONE, "r"),
        tool("started", "b", response="r"),
        tool("completed", "b", DONE, "r"),
    ]
    assert Read(STREAM, named).shape == ["a+b"]


@pytest.mark.parametrize(
    ("result", "status", "code"),
    [
        (DONE, "ok", 0),
        ({"failure": {"exitCode": 2}}, "error", 2),
        ({"error": {"error": "x"}}, "error", None),
        ({"rejected": {"reason": "x"}}, "denied", None),
        ({"permissionDenied": {}}, "denied", None),
        ({"aborted": {}}, "cancelled", None),
        ({"success": {"isError": True}}, "error", None),
    ],
)
def test_how_a_call_ended(result: Any, status: str, code: int | None) -> None:
    (only,) = Read(STREAM, [tool("started", "a"), tool("completed", "a", result)]).calls
    assert (only.result.status, only.result.exit_code) == (status, code)


def test_a_function_is_named_inside() -> None:
    record = tool("started", "a")
    record["tool_call"] = {"function": {"name": "find", "arguments": '{"b": 1}'}}
    (only,) = Read(STREAM, [record]).calls
    assert (only.name, only.arguments) == ("find", {"b": 1})
