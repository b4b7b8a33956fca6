"""Qwen Code chats: the envelope, rewinds, telemetry, blanked values."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.formats.qwen_code import READER
from tests import corpus
from tests.readers.shown import read


def record(n: int, kind: str, *parts: Any, **more: Any) -> dict[str, Any]:
    role = "model" if kind == "assistant" else "user"
    body = {"message": {"role": role, "parts": list(parts)}} if parts else {}
    return {"uuid": f"u{n}", "sessionId": "s1", "timestamp": f"t{n}", "type": kind, **body, **more}


def call(id: str) -> dict[str, Any]:
    return {"functionCall": {"id": id, "name": "run_shell_command", "args": {"id": id}}}


def answer(id: str, output: str = "x") -> dict[str, Any]:
    return {"functionResponse": {"id": id, "name": "run_shell_command", "response": {"output": output}}}


USER = record(1, "user", {"text": "go"})


def test_a_batch_is_one_record_and_results_are_paired_by_id() -> None:
    records = [USER, record(2, "assistant", {"text": "hm", "thought": True}, {"text": "Yes."}, call("a"), call("b"))]
    records += [record(3, "tool_result", answer("b", "2")), record(4, "tool_result", answer("a", "1"))]
    events, problems, _ = read(READER, records)
    calls = [("run_shell_command", {"id": i}, f"ok {o}") for i, o in (("a", "1"), ("b", "2"))]
    assert events == ["turn go", ["Yes.", *calls]]
    assert not problems


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ({"status": "success"}, "ok x"),
        ({"status": "error", "error": "gone"}, "error flag x"),
        ({"status": "cancelled"}, "cancelled flag x"),
        ({"status": "error", "error": {"message": "[Operation Cancelled] User denied"}}, "denied flag x"),
        ({}, "ok x"),
    ],
)
def test_how_a_call_ended(told: dict[str, Any], outcome: str) -> None:
    events, _, _ = read(
        READER, [record(1, "assistant", call("a")), record(2, "tool_result", answer("a"), toolCallResult=told)]
    )
    assert events[0][0][2] == outcome


def test_a_rewind_drops_what_follows_its_target() -> None:
    rewind = record(4, "system", subtype="rewind", systemPayload={"targetUuid": "u1"})
    records = [USER, record(2, "assistant", call("a")), record(3, "user", {"text": "no"}), rewind]
    events, problems, _ = read(READER, [*records, record(5, "user", {"text": "yes"})])
    assert events == ["turn go", "turn yes"]
    assert problems.counts == {"rewound": 2}
    lost = record(4, "system", subtype="rewind", systemPayload={"targetUuid": "nowhere"})
    events, problems, _ = read(READER, [*records[:3], lost])
    assert len(events) == 3
    assert problems.counts == {"malformed_record": 1}


def test_boundaries_of_the_system() -> None:
    loop = record(
        2, "system", subtype="ui_telemetry", systemPayload={"uiEvent": {"event.name": "qwen-code.loop_detected"}}
    )
    other = record(
        3, "system", subtype="ui_telemetry", systemPayload={"uiEvent": {"event.name": "qwen-code.tool_call"}}
    )
    events, _, _ = read(READER, [USER, loop, other, record(4, "system", subtype="chat_compression")])
    assert events == ["turn go", "recorded_guard qwen-code.loop_detected", "compaction"]


def test_sub_agents_are_agents_of_their_own() -> None:
    side = {"isSidechain": True, "agentId": "helper"}
    events, _, totals = read(READER, [USER, record(2, "assistant", call("a"), **side)])
    assert events[1] == ("helper", [("run_shell_command", {"id": "a"}, None)])
    assert totals[0].sidechain_calls == 1


def test_copies_are_dropped_but_blanked_names_are_none() -> None:
    assert read(READER, [USER, record(2, "assistant", call("a")), USER])[1].counts == {"repeated_record": 1}
    blank = [{**record(n, "user", {"text": str(n)}), "uuid": "x", "timestamp": "x"} for n in range(4)]
    assert read(READER, blank)[0] == [f"turn {n}" for n in range(4)]


@pytest.mark.parametrize("row", corpus.params("qwen-code"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
