"""pi sessions: entries, aborted responses, what is typed by the person."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.formats.pi import READER
from tests import corpus
from tests.readers.shown import read

HEADER = {"type": "session", "id": "s", "timestamp": "t", "cwd": "/w"}


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content, **more}}


def model(*blocks: Any, stop: str = "toolUse") -> dict[str, Any]:
    return message("assistant", list(blocks), model="m", stopReason=stop, usage={"input": 3, "output": 2})


def call(id: str) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": "ls"}}


def result(id: str, output: str, *, error: bool = False) -> dict[str, Any]:
    return message("toolResult", [{"type": "text", "text": output}], toolCallId=id, toolName="bash", isError=error)


TEXT = {"type": "text", "text": "hi"}


def test_a_message_is_a_batch() -> None:
    records = [HEADER, message("user", [TEXT]), model({"type": "thinking"}, TEXT, call("a"), call("b"))]
    events, problems, totals = read(READER, [*records, result("b", "2"), result("a", "1")])
    calls = [("bash", {"command": "ls"}, f"ok {n}") for n in (1, 2)]
    assert events == ["turn hi", ["hi", *calls]]
    assert (totals[0].input_tokens, totals[0].output_tokens) == (3, 2)
    assert not problems


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (result("a", "x"), "ok x"),
        (result("a", "gone", error=True), "error flag gone"),
        (result("a", "no\n\nCommand exited with code 2", error=True), "error flag 2 no"),
        (result("a", "part\n\nCommand aborted", error=True), "cancelled flag part"),
        (result("a", "it says Command exited with code 2"), "ok it says"),
    ],
)
def test_how_a_call_ended(answer: dict[str, Any], outcome: str) -> None:
    assert read(READER, [HEADER, model(call("a")), answer])[0][0][0][2].startswith(outcome)


def test_calls_of_an_aborted_response_stay_unanswered() -> None:
    events, problems, totals = read(READER, [HEADER, model(call("a"), stop="aborted"), message("user", "on")])
    assert events == [[("bash", {"command": "ls"}, None)], "interrupt aborted", "turn on"]
    assert totals[0].unanswered == 1
    assert not problems


def test_entries_that_are_no_turns() -> None:
    records = [
        HEADER,
        {"type": "custom_message", "content": "context"},
        message("bashExecution", None, command="ls"),
        {"type": "compaction", "summary": "x"},
        {"type": "branch_summary", "summary": "x"},
        {"type": "model_change"},
    ]
    events, problems, _ = read(READER, records)
    assert events == ["compaction", "resume branch_summary"]
    assert not problems


@pytest.mark.parametrize("row", corpus.params("pi"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
