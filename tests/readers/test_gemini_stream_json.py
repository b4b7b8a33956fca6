"""The stream of ``gemini -o stream-json``: pieces of prose, batches without marks, wrapped streams."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.formats.gemini_stream_json import READER
from tests import corpus
from tests.readers.shown import read


def init(session: str = "s1") -> dict[str, Any]:
    return {"type": "init", "session_id": session, "model": "gemini-3"}


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text, **more}


def use(id: str, name: str = "run_shell_command") -> dict[str, Any]:
    return {"type": "tool_use", "tool_name": name, "tool_id": id, "parameters": {"id": id}}


def result(id: str, status: str = "success", output: str = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_id": id, "status": status, "output": output, **more}


def test_pieces_are_put_together_and_calls_before_a_result_are_one_batch() -> None:
    records = [init(), said("user", "go"), said("assistant", "I lo", delta=True), said("assistant", "ok.", delta=True)]
    records += [use("a"), use("b"), result("b", output="2"), result("a", output="1"), use("c"), result("c")]
    events, problems, _ = read(READER, records)
    assert events == [
        "turn go",
        ["I look.", ("run_shell_command", {"id": "a"}, "ok 1"), ("run_shell_command", {"id": "b"}, "ok 2")],
        [("run_shell_command", {"id": "c"}, "ok ok")],
    ]
    assert not problems


def test_a_prompt_that_a_harness_wrote_before_init_is_no_turn() -> None:
    events, problems, totals = read(READER, [said("user", "outer"), init(), said("user", "inner"), use("a")])
    assert events[0] == "turn inner"
    assert problems.counts == {"foreign_record": 1}
    assert totals[0].turns == 1
    assert read(READER, [said("user", "alone"), init(), use("a")])[0][0] == "turn alone"


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        (result("a", output="no\nExit Code: 3"), "error exit_code 3 no\nExit Code: 3"),
        (result("a", "error", "", error={"type": "x", "message": "gone"}), "error flag gone"),
        (result("a", "error", "[Operation Cancelled] Reason: User denied execution."), "denied flag"),
        (result("a", "cancelled", "stopped"), "cancelled flag stopped"),
    ],
)
def test_how_a_call_ended(record: dict[str, Any], outcome: str) -> None:
    assert read(READER, [init(), use("a"), record])[0][0][0][2].startswith(outcome)


def test_the_end_is_told_once_and_its_tokens_count_once() -> None:
    end = {"type": "result", "status": "error", "error": {"message": "quota"}, "stats": {"input_tokens": 9}}
    events, problems, totals = read(READER, [init(), use("a"), result("a"), end, end])
    assert events[-1] == "end error: quota"
    assert totals[0].input_tokens == 9
    assert problems.counts == {"repeated_record": 1}


def test_another_init_begins_another_conversation_and_the_same_one_goes_on() -> None:
    run = [said("user", "go"), use("a"), result("a")]
    assert len(read(READER, [init(), *run, init("s2"), said("user", "go")])[2]) == 2
    assert "resume init" in read(READER, [init(), *run, init(), said("user", "on")])[0]


def test_the_loop_detection_of_the_program_is_told() -> None:
    events, problems, _ = read(READER, [init(), {"type": "error", "message": "a loop was detected"}])
    assert events == ["recorded_guard a loop was detected"]
    assert not problems
    assert read(READER, [init(), {"type": "error", "message": "quota"}])[1].counts == {"recorded_error": 1}


@pytest.mark.parametrize("row", corpus.params("gemini-stream-json"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
