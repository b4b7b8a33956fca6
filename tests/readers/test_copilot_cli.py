"""Copilot CLI: requests and executions, chunks, refusals, sub-agents, and the shared corpus."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.registry import readers
from tests import corpus
from tests.readers.kit import Read, claimed

ID = "copilot-cli"


def event(kind: str, agent: str | None = None, **data: Any) -> dict[str, Any]:
    record = {"type": kind, "data": data, "timestamp": "2026-04-07T21:07:18.764Z", "parentId": None}
    return record if agent is None else {**record, "agentId": agent}


def message(id: str, *calls: str, content: str = "", **fields: Any) -> dict[str, Any]:
    asked = [{"toolCallId": call, "name": "bash", "arguments": {"command": call}} for call in calls]
    return event("assistant.message", messageId=id, content=content, toolRequests=asked, **fields)


def start(call: str, **fields: Any) -> dict[str, Any]:
    return event("tool.execution_start", toolCallId=call, toolName="bash", arguments={"command": call}, **fields)


def done(call: str, content: str = "x", **fields: Any) -> dict[str, Any]:
    return event("tool.execution_complete", toolCallId=call, success=True, result={"content": content}, **fields)


def failed(call: str, code: str = "failure") -> dict[str, Any]:
    error = {"message": "no", "code": code}
    return event("tool.execution_complete", toolCallId=call, success=False, error=error)


def test_a_request_and_its_execution_are_one_call() -> None:
    found = Read(ID, [message("m", "a", "b", content="hm"), start("a"), start("b"), done("b"), done("a")])
    assert found.shape == ["a+b hm"]
    assert not found.problems.counts


def test_chunks_of_a_response_are_one_batch() -> None:
    records = [message("m", "a", apiCallId="r", outputTokens=3), message("n", "b", apiCallId="r", outputTokens=5)]
    found = Read(ID, [*records, start("a"), start("b"), done("a"), done("b")])
    assert found.shape == ["a+b"]
    assert found.total.output_tokens == 5


def test_an_execution_that_no_message_asked_for_is_a_call() -> None:
    assert Read(ID, [start("a"), done("a")]).shape == ["a"]


def test_what_the_person_ran_is_no_call() -> None:
    found = Read(ID, [event("tool.user_requested", toolCallId="a", toolName="bash"), start("a"), done("a")])
    assert found.shape == []
    assert not found.problems.counts


def test_injected_messages_are_no_turns() -> None:
    records = [event("user.message", content="go"), event("user.message", content="x", source="skill-x")]
    assert Read(ID, records).shape == ["turn: go"]


@pytest.mark.parametrize(
    ("record", "status", "code", "level"),
    [
        (done("a"), "ok", None, None),
        (done("a", "no\n<exited with exit code 2>"), "error", 2, "exit_code"),
        (done("a", "x\n<exited with exit code 0>"), "ok", 0, None),
        (done("a", "<exited with exit code 2> stands in the log"), "ok", None, None),
        (failed("a"), "error", None, "flag"),
        (failed("a", "rejected"), "denied", None, "flag"),
        (failed("a", "denied"), "denied", None, "flag"),
        (failed("a", "cancelled"), "cancelled", None, "flag"),
    ],
)
def test_how_a_call_ended(record: Any, status: str, code: int | None, level: str | None) -> None:
    (only,) = Read(ID, [message("m", "a"), start("a"), record]).calls
    assert (only.result.status, only.result.exit_code, only.result.level) == (status, code, level)


@pytest.mark.parametrize("marks", [{"parentToolCallId": "t"}, {"agent": "t"}], ids=["parent call", "agent id"])
def test_sub_agents_are_agents(marks: dict[str, str]) -> None:
    found = Read(ID, [message("m", "t"), start("t"), message("n", "a", **marks), start("a", **marks), done("t")])
    assert sorted(found.shape) == ["t", "t| a?"]
    assert found.total.sidechain_calls == 1


def test_tokens_per_response_else_per_session() -> None:
    usage: dict[str, Any] = {"inputTokens": 7, "outputTokens": 5, "cacheReadTokens": 1, "cacheWriteTokens": 0}
    shutdown = event("session.shutdown", modelMetrics={"m": {"usage": {**usage, "inputTokens": 9}}})
    both = Read(ID, [message("m", "a", outputTokens=5), event("assistant.usage", **usage), shutdown]).total
    assert (both.input_tokens, both.output_tokens) == (7, 5)
    total = Read(ID, [message("m", "a", outputTokens=5), shutdown]).total
    assert (total.input_tokens, total.output_tokens, total.cache_read_tokens) == (9, 5, 1)


def test_boundaries_and_unknown_events() -> None:
    records = [
        event("session.start", sessionId="s1"),
        event("session.resume"),
        event("session.compaction_complete"),
        event("abort", reason="user_initiated"),
        event("session.shutdown", shutdownType="routine"),
        event("garden.opened"),
        {"type": "user.message"},
    ]
    found = Read(ID, records)
    assert found.shape == ["-- resume", "-- compaction", "-- interrupt", "-- end"]
    assert [(p.kind, p.line, p.damage) for p in found.problems.kept] == [
        ("unknown_record", 6, False),
        ("malformed_record", 7, True),
    ]


def test_claims() -> None:
    assert claimed(ID, [event("session.start", sessionId="s")])
    assert claimed(ID, [event("agent.tool_use")]) is None
    assert claimed(ID, [{"type": "thread.started", "thread_id": "x"}]) is None


@pytest.mark.parametrize("row", corpus.params(ID))
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(readers().get(ID), corpus.path_of(row))
    assert corpus.differences(row, counts) == {}
