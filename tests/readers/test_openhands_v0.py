"""OpenHands 0.x events: three ages of files, rows, exit codes, guards that really fired."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.readers.formats.openhands_v0 import READER
from tests import corpus
from tests.readers.kit import Document, Read
from tests.readers.shown import jsonl, read


def act(n: int, kind: str, source: str = "agent", **args: Any) -> dict[str, Any]:
    return {"id": n, "source": source, "action": kind, "args": args}


def obs(n: int, cause: int | None, kind: str, content: str = "x", **more: Any) -> dict[str, Any]:
    found = {"id": n, "source": "agent", "observation": kind, "content": content, "extras": {}, **more}
    return found if cause is None else {**found, "cause": cause}


def sent(n: int, response: str, name: str, arguments: str) -> dict[str, Any]:
    call = {"id": f"t{n}", "function": {"name": name, "arguments": arguments}}
    body = {"id": response, "model": "m", "choices": [{"message": {"tool_calls": [call]}}]}
    metadata = {"tool_call_id": f"t{n}", "function_name": name, "model_response": body}
    return {**act(n, "run", command="ls", thought="Hm."), "tool_call_metadata": metadata}


TASK = act(1, "message", "user", content="go")
RUN = act(2, "run", command="ls", thought="", timeout=5, security_risk=-1)


def test_events_of_every_container_are_the_same() -> None:
    history = [TASK, RUN, obs(3, 2, "run")]
    expected = ["turn go", [("run", {"command": "ls"}, "ok x")]]
    for value in (history, {"trajectory": history}, {"instance_id": "a", "history": history}, [{"history": history}]):
        assert read(READER, orjson.dumps(value))[0] == expected
        assert read(READER, orjson.dumps(value, option=orjson.OPT_INDENT_2))[0] == expected
    assert read(READER, jsonl(history))[0] == expected
    pairs = [[act(1, "run", command="ls"), obs(2, None, "run")], [act(3, "run", command="ls"), obs(4, None, "run")]]
    assert len(read(READER, orjson.dumps({"history": pairs}))[0]) == 2


def test_name_and_arguments_are_those_that_the_model_sent() -> None:
    events, problems, totals = read(
        READER, [TASK, sent(2, "r1", "bash", '{"command": "ls -a"}'), sent(3, "r1", "bash", "{bad"), obs(4, 2, "run")]
    )
    assert events[1] == ["Hm.\nHm.", ("bash", {"command": "ls -a"}, "ok x"), ("bash", "{bad", None)]
    assert not problems
    assert totals[0].max_parallel == 2


def test_a_tool_of_a_server_is_named_by_itself() -> None:
    call = act(2, "call_tool_mcp", name="web_search", arguments={"query": "a"}, thought="")
    odd = act(4, "call_tool_mcp", name="web_search", arguments="a", thought="")
    events, problems, _ = read(READER, [TASK, call, obs(3, 2, "mcp"), odd])
    assert events[1] == [("web_search", {"query": "a"}, "ok x")]
    assert events[2] == [("call_tool_mcp", {"name": "web_search", "arguments": "a"}, None)]
    assert not problems


@pytest.mark.parametrize(
    ("observation", "outcome"),
    [
        (obs(3, 2, "run", extras={"metadata": {"exit_code": 0}}), "ok 0 x"),
        (obs(3, 2, "run", extras={"metadata": {"exit_code": 2}}, success=False), "error exit_code 2 x"),
        (obs(3, 2, "run", extras={"exit_code": 2}), "error exit_code 2 x"),
        (obs(3, 2, "run", exit_code=2), "error exit_code 2 x"),
        (obs(3, 2, "run", extras={"metadata": {"exit_code": -1}}, success=False), "ok x"),
        (obs(3, 2, "edit", success=False), "error flag x"),
        (obs(3, 2, "edit", success=True), "ok x"),
        (obs(3, 2, "error"), "error flag x"),
        (obs(3, 2, "user_rejected"), "denied flag x"),
    ],
)
def test_how_a_call_ended(observation: dict[str, Any], outcome: str) -> None:
    assert read(READER, [TASK, RUN, observation])[0][1][0][2] == outcome


def test_events_without_ids_are_paired_by_place() -> None:
    flat = [
        {"action": "message", "content": "go"},
        {"action": "run", "command": "a", "thought": "t"},
        {"observation": "run", "command": "a", "content": "1", "exit_code": 0},
        {"action": "finish", "outputs": {}, "thought": ""},
    ]
    events, problems, _ = read(READER, orjson.dumps({"issue": {"number": 1}, "history": flat}))
    assert events == ["turn go", ["t", ("run", {"command": "a"}, "ok 0 1")], [("finish", {"outputs": {}}, None)]]
    assert not problems


def test_what_is_no_call_and_no_result() -> None:
    records = [
        TASK,
        act(2, "recall", "user", query="x"),
        obs(3, 2, "recall"),
        obs(4, None, "agent_state_changed"),
        act(5, "change_agent_state", "environment"),
        obs(6, 5, "null"),
        act(7, "message", content="done"),
        obs(8, 7, "null"),
        act(9, "run", "user", command="ls"),
        obs(10, 9, "run"),
        act(11, "condensation"),
    ]
    events, problems, totals = read(READER, records)
    assert events == ["turn go", ["done"], "compaction"]
    assert problems.counts == {"not_a_call": 1}
    assert totals[0].calls == totals[0].orphan_results == 0


def test_an_error_without_a_cause_is_an_orphan() -> None:
    _, problems, totals = read(READER, [TASK, RUN, obs(3, 2, "run"), obs(4, None, "error")])
    assert totals[0].orphan_results == 1
    assert problems.counts == {"orphan_result": 1}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("AgentStuckInLoopError: stuck", ["recorded_guard AgentStuckInLoopError: stuck"]),
        ("RuntimeError: maximum iteration reached", ["recorded_guard RuntimeError: maximum iteration reached"]),
        ("TimeoutError", ["end TimeoutError"]),
        (None, []),
    ],
)
def test_the_error_of_a_row(error: str | None, expected: list[str]) -> None:
    row = {"instance_id": "a", "history": [TASK], "error": error}
    assert read(READER, [row])[0][1:] == expected


def test_a_guard_told_by_event_and_row_is_told_once() -> None:
    event = obs(2, None, "agent_state_changed", extras={"agent_state": "error", "reason": "AgentStuckInLoopError"})
    events, _, _ = read(READER, [{"history": [TASK, event], "error": "AgentStuckInLoopError"}])
    assert events == ["turn go", "recorded_guard AgentStuckInLoopError"]


def test_rows_of_one_name_are_conversations_of_their_own() -> None:
    row = {"instance_id": "a", "history": [TASK, RUN, obs(3, 2, "run")]}
    assert [t.calls for t in read(READER, [row, row])[2]] == [1, 1]


def test_tools_of_the_system_action_are_declared() -> None:
    tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
    _, _, totals = read(READER, [act(0, "system", content="x", tools=tools), TASK])
    assert totals[0].schemas == {"bash": {"type": "object"}}


@pytest.mark.parametrize("row", corpus.params("openhands-v0"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    path = corpus.path_of(row)
    found = corpus.read_counts(READER, path)
    differences = corpus.differences(row, found)
    # The manifest takes no message without a source for a turn; the first one of a run is its task.
    if row["counts"]["turns"] == 0:
        assert differences.pop("turns") == (0, row["counts"]["conversations"])
    # It does not count results without cause as orphans, and counts commands still running as errors.
    orphans = found["orphan_results"]
    if orphans:
        assert differences.pop("orphan_results") == (0, orphans)
    if "errors" in differences:
        expected, counted = differences.pop("errors")
        assert expected == counted + orphans + path.read_bytes().count(b'"exit_code": -1')
    assert differences == {}


def test_an_acknowledgement_is_skipped() -> None:
    def event(**members: Any) -> dict[str, Any]:
        return {"id": None, "source": "environment", "action": None, "observation": None, "extras": None, **members}

    events = [
        event(action="initialize", extras={"AGENT": "CodeActAgent"}, content=None),
        event(content="ok"),
        event(action="message", source="user", extras={"content": "go"}),
        event(action="run", source="agent", id=1, extras={"command": "ls"}),
        event(observation="run", source="agent", id=2, content="a", extras={"exit_code": 0}),
    ]
    read = Read("openhands-v0", Document([{"id": "1", "trajectory": events}]))
    assert not read.problems
    lost = [*events, event(content=None), event(content="x", extras={"command": "ls"})]
    assert Read("openhands-v0", Document([{"id": "1", "trajectory": lost}])).problems.damaged == 2
