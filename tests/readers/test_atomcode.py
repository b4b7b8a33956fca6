"""AtomCode logs: requests that repeat each other, and turns."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.formats.atomcode import READER
from tests import corpus
from tests.readers.shown import read

SYSTEM = {"role": "System", "content": {"Text": "s"}}


def user(text: str) -> dict[str, Any]:
    return {"role": "User", "content": {"Text": text}}


def model(*ids: str, text: str | None = None) -> dict[str, Any]:
    calls = [{"id": i, "name": "bash", "arguments": '{"command": "ls"}'} for i in ids]
    return {"role": "Assistant", "content": {"AssistantWithToolCalls": {"text": text, "tool_calls": calls}}}


def result(id: str, output: str, success: bool | None = True) -> dict[str, Any]:
    return {"role": "Tool", "content": {"ToolResult": {"call_id": id, "output": output, "success": success}}}


HISTORY = [SYSTEM, user("go"), model("call_a1"), result("call_a1", "1"), model("call_b2"), result("call_b2", "2")]


def request(*messages: Any, step: int = 1) -> dict[str, Any]:
    return {"model": "m", "step": step, "messages": list(messages)}


def test_what_requests_repeat_is_told_once() -> None:
    once = read(READER, [request(*HISTORY)])
    growing = read(READER, [request(*HISTORY[:n]) for n in (2, 4, 6)])
    assert once[0] == growing[0]
    assert len(once[0]) == 3
    assert not growing[1]


def test_repeated_messages_of_one_request_are_not_taken_for_copies() -> None:
    longer = [*HISTORY, {"role": "Assistant", "content": {"Text": "ok"}}, user("go")]
    assert read(READER, [request(*HISTORY), request(*longer)])[2][0].turns == 2


def test_a_message_in_other_words_is_no_new_message() -> None:
    rewritten = [*HISTORY[:3], result("call_a1", "(cut)"), *HISTORY[4:]]
    events, problems, totals = read(READER, [request(*HISTORY), request(*rewritten, user("on"))])
    assert totals[0].results == 2
    assert events[-1] == "turn on"
    assert problems.counts == {"rewritten_message": 1}


def test_a_shortened_history_is_a_compaction() -> None:
    short = [
        SYSTEM,
        user("go"),
        *HISTORY[4:],
    ]
    events, _, totals = read(READER, [request(*HISTORY), request(*short[:3])])
    assert events[-1] == "compaction the history was shortened"
    assert totals[0].calls == 2


def test_a_request_that_shares_nothing_is_another_conversation() -> None:
    other = [SYSTEM, user("new"), model("call_c3")]
    assert [t.calls for t in read(READER, [request(*HISTORY), request(*other)])[2]] == [2, 1]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (result("a", "x"), "ok x"),
        (result("a", "x", success=False), "error flag x"),
        (result("a", "x", success=None), "ok x"),
        (result("a", "[elapsed: 1.7s, exit: 101]\nx"), "error exit_code 101 [elapsed: 1.7s, exit: 101]\nx"),
        (result("a", "[elapsed: 1.7s, exit: 0]"), "ok 0 [elapsed: 1.7s, exit: 0]"),
    ],
)
def test_how_a_call_ended(answer: dict[str, Any], outcome: str) -> None:
    assert read(READER, [request(SYSTEM, model("a"), answer)])[0][0][0][2] == outcome


def test_turn_logs_keep_the_order_and_lose_batches() -> None:
    tools = [{"name": "bash", "args": "{}", "result": str(n), "is_error": n == 1} for n in range(3)]
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    turn = {"session_id": "s", "turn_id": "t", "user": "go", "assistant": "done", "tools": tools, "usage": usage}
    events, problems, totals = read(READER, [turn])
    assert events == [
        "turn go",
        [("bash", {}, "ok 0")],
        [("bash", {}, "error flag 1")],
        [("bash", {}, "ok 2")],
        ["done"],
    ]
    assert totals[0].input_tokens == 7
    assert not problems


@pytest.mark.parametrize("row", corpus.params("atomcode"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    path = corpus.path_of(row)
    found = corpus.read_counts(READER, path)
    _, _, totals = corpus.read_events(READER, path)
    # The manifest counts success false only; a failed command's header tells its exit code beside success true.
    found["errors"] -= sum(t.errors_by_level.get("exit_code", 0) for t in totals)
    assert corpus.differences(row, found) == {}
