"""Events of managed agents: wrappers, threads, confirmations, and the shared corpus."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.registry import readers
from tests import corpus
from tests.readers.kit import Read, claimed

ID = "claude-managed-agents"


def event(id: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"sevt_{id}", "type": kind, "processed_at": f"2026-08-01T10:00:0{id % 10}Z", **fields}


START = event(1, "span.model_request_start")
ASK = event(2, "agent.tool_use", name="bash", input={"command": "ls"})
TOLD = event(3, "agent.tool_result", tool_use_id="sevt_2", content=[{"type": "text", "text": "a"}], is_error=False)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda e: e,
        lambda e: {"role": "x", "kind": "y", "time": e["processed_at"], "raw": e},
        lambda e: ["client.beta.sessions.events.stream", e],
    ],
    ids=["plain", "raw", "capture"],
)
def test_events_in_any_wrapper(wrap: Any) -> None:
    records = [wrap(e) for e in (event(0, "user.message", content="go"), START, ASK, TOLD)]
    assert claimed(ID, records)
    found = Read(ID, records)
    assert found.shape == ["turn: go", "sevt_2"]
    assert not found.problems.counts


def test_what_a_capture_sent_is_not_read_twice() -> None:
    message = event(0, "user.message", content="go")
    sent = ["client.beta.sessions.events.send", ["sesn_1", {"events": [{"type": "user.message", "content": "go"}]}]]
    tools = [{"name": "find", "input_schema": {"type": "object"}}, {"type": "agent_toolset"}]
    created = ["client.beta.sessions.create", {"id": "sesn_1", "agent": {"tools": tools}}]
    found = Read(ID, [created, sent, ["client.beta.sessions.events.stream", message]])
    assert found.shape == ["turn: go"]
    assert found.events[0].session == "sesn_1"
    assert list(found.total.schemas) == ["find"]


def test_a_request_is_a_batch_and_its_tokens_count_once() -> None:
    end = event(5, "span.model_request_end", model_request_start_id="sevt_1", model_usage={"output_tokens": 9})
    second = event(4, "agent.custom_tool_use", name="ask", input={})
    reply = event(6, "user.custom_tool_result", custom_tool_use_id="sevt_4", content="yes")
    found = Read(ID, [START, ASK, second, end, end, TOLD, reply])
    assert found.shape == ["sevt_2+sevt_4"]
    assert found.total.output_tokens == 9
    assert found.problems.counts == {"repeated_record": 1}


def test_a_denied_call() -> None:
    no = event(7, "user.tool_confirmation", tool_use_id="sevt_2", result="deny")
    failed = event(3, "agent.tool_result", tool_use_id="sevt_2", content="not today", is_error=True)
    (call,) = Read(ID, [START, ASK, no, failed]).calls
    assert (call.result.status, call.result.level) == ("denied", "flag")


def test_tools_of_servers_are_named_by_them() -> None:
    ask = event(2, "agent.mcp_tool_use", name="find", mcp_server_name="exa", input={})
    told = event(3, "agent.mcp_tool_result", mcp_tool_use_id="sevt_2", content="x")
    (call,) = Read(ID, [START, ask, told]).calls
    assert (call.name, call.result.status) == ("mcp__exa__find", "ok")


def test_other_threads_are_sub_agents() -> None:
    running = event(8, "session.thread_status_running", session_thread_id="main")
    other = event(4, "agent.tool_use", name="bash", input={}, session_thread_id="second")
    found = Read(ID, [running, START, {**ASK, "session_thread_id": "main"}, other])
    assert sorted(found.shape) == ["second| sevt_4?", "sevt_2?"]
    assert found.total.sidechain_calls == 1


def test_boundaries_and_unknown_events() -> None:
    kinds = ["user.interrupt", "agent.thread_context_compacted", "session.status_terminated", "garden.opened"]
    found = Read(ID, [event(n, kind) for n, kind in enumerate(kinds)])
    assert found.shape == ["-- interrupt", "-- compaction", "-- end"]
    assert found.problems.counts == {"unknown_record": 1}


@pytest.mark.parametrize("row", corpus.params(ID))
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(readers().get(ID), corpus.path_of(row))
    assert corpus.differences(row, counts) == {}
