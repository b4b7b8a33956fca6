"""pi sessions: entries, aborted responses, what is typed by the person."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.core.arguments import of_arguments, of_slice
from loopaudit.core.events import Batch, Call
from loopaudit.readers.formats.pi import READER
from tests import corpus
from tests.corpus import read_events
from tests.readers.shown import jsonl, read

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


ARGUMENTS = [
    '{"command":"ls","timeout":5,"background":false,"of":["a","-0"],"where":null}',
    '{"edits":[{"oldText":"a","newText":"-0"},{"oldText":"b","lines":[1,2]}]}',
    '{"a":-0}',
    '{"a":[{"b":-0}]}',
    '{"a":{"b":[-0,0,-0.0]}}',
    '{"a":18446744073709551615,"b":18446744073709551616,"c":-9223372036854775809}',
    '{"a":1.5,"b":1e22,"c":[0.1]}',
    '{"a":{"b":{"c":{"d":[{"e":-0}]}}}}',
    '{"a":-0,"a":"x"}',
    '"text as sent"',
    "[-0]",
    "-0",
    "null",
]


@pytest.mark.parametrize("written", ARGUMENTS)
@pytest.mark.parametrize("is_list", [False, True])
def test_numbers_of_arguments_are_read_as_everywhere(written: str, is_list: bool) -> None:
    line = orjson.dumps(model(TEXT, call("a"))).replace(b'{"command":"ls"}', written.encode())
    events, problems, _ = read_events(READER, jsonl([HEADER]) + (b"[" + line + b"]\n" if is_list else line))
    assert isinstance(events[0], Batch)
    made = events[0].calls[0]
    how, source, _, key, _ = (of_arguments if written[0] == '"' else of_slice)("bash", written.encode())
    assert made.key == key
    assert repr(made.arguments) == repr(Call("a", 1, "bash", how, source, key, is_json=written[0] != '"').arguments)
    assert problems.counts == ({} if written[0] in '{"' else {"malformed_record": 1})


@pytest.mark.parametrize("row", corpus.params("pi"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
