"""Kiro: kinds of messages, results, exit codes, and the shared corpus."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.registry import readers
from tests import corpus
from tests.readers.kit import Document, Read, claimed

ID = "kiro"


def prompt(words: str) -> dict[str, Any]:
    return {"content": {"Prompt": {"prompt": words}}}


def results(*entries: dict[str, Any], kind: str = "ToolUseResults", **fields: Any) -> dict[str, Any]:
    return {"content": {kind: {**fields, "tool_use_results": list(entries)}}}


def result(id: str, content: Any = None, status: str = "Success") -> dict[str, Any]:
    return {"tool_use_id": id, "content": [{"Text": "x"}] if content is None else content, "status": status}


def uses(*ids: str, content: str = "") -> dict[str, Any]:
    listed = [{"id": own, "name": "execute_bash", "args": {"command": f"run {n}"}} for n, own in enumerate(ids)]
    return {"ToolUse": {"message_id": "m", "content": content, "tool_uses": listed}}


SAID = {"Response": {"message_id": "m", "content": "ready"}}


def read(*pairs: Any) -> Read:
    history = [{"user": user, "assistant": assistant} for user, assistant in pairs]
    return Read(ID, Document({"conversation_id": "c1", "history": history}))


def test_a_conversation() -> None:
    found = read((prompt("go"), uses("a", "b", content="hm")), (results(result("b"), result("a")), SAID))
    assert found.shape == ["turn: go", "a+b hm", ". ready"]
    assert found.events[0].session == "c1"


def test_calls_without_ids_are_answered_in_order() -> None:
    found = read(
        (prompt("go"), uses("", "")), (results(result("", [{"Text": "x"}]), result("", [{"Text": "y"}])), SAID)
    )
    assert [c.result.output for c in found.calls] == ["x", "y"]


def test_entries_may_be_pairs() -> None:
    root = Document({"conversation_id": "c1", "history": [[prompt("go"), SAID]]})
    assert claimed(ID, root)
    assert Read(ID, root).shape == ["turn: go", ". ready"]


@pytest.mark.parametrize(
    ("content", "status", "told", "code"),
    [
        ([{"Text": "x"}], "Error", "error", None),
        ([{"Json": {"exit_status": "0", "stdout": "x"}}], "Success", "ok", 0),
        ([{"Json": {"exit_status": "exit status: 2"}}], "Success", "error", 2),
        ([{"Json": [1]}], "Success", "ok", None),
        (["x"], "Success", "ok", None),
    ],
    ids=["error", "code 0", "code 2", "list", "text"],
)
def test_how_a_result_ended(content: Any, status: str, told: str, code: int | None) -> None:
    (call,) = read((prompt("go"), uses("a")), (results(result("a", content, status)), SAID)).calls
    assert (call.result.status, call.result.exit_code) == (told, code)


def test_cancelled_calls_and_the_prompt_with_them() -> None:
    stopped = results(result("a", status="Error"), kind="CancelledToolUses", prompt="wait")
    found = read((prompt("go"), uses("a")), (stopped, SAID))
    assert found.shape == ["turn: go", "a!", "turn: wait", ". ready"]
    assert found.total.cancelled == 1


def test_unknown_kinds_are_told() -> None:
    found = read((prompt("go"), {"Poem": {}}), ({"content": {"Song": {}}}, SAID), (None, SAID))
    assert found.problems.counts == {"unknown_record": 2}
    assert found.problems.damaged == 0


@pytest.mark.parametrize("row", corpus.params(ID))
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(readers().get(ID), corpus.path_of(row))
    assert corpus.differences(row, counts) == {}
