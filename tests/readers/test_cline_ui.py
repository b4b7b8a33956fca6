"""Cline's shown messages: calls under shown names, results in the next request, the shared corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopaudit.readers.registry import readers
from tests import corpus
from tests.readers.kit import Document, Read

ID = "cline-ui"


def say(kind: str, text: Any = "", **fields: Any) -> dict[str, Any]:
    return {"ts": 1767690000000, "type": "say", "say": kind, "text": text, **fields}


def ask(kind: str, text: Any = "", **fields: Any) -> dict[str, Any]:
    return {"ts": 1767690000000, "type": "ask", "ask": kind, "text": text, **fields}


def request(text: str = "", **tokens: int) -> dict[str, Any]:
    return say("api_req_started", json.dumps({"request": text, **tokens}))


def tool(name: str, **facts: Any) -> dict[str, Any]:
    return say("tool", json.dumps({"tool": name, "operationIsLocatedInWorkspace": True, **facts}))


def read(*entries: Any) -> Read:
    return Read(ID, Document(list(entries)))


def test_calls_between_two_requests_are_a_batch() -> None:
    found = read(
        say("task", "go"), request(), tool("readFile", path="a"), ask("command", "ls"), request(), say("text", "x")
    )
    assert found.shape == ["turn: go", "#1?+#2?", ". x"]


@pytest.mark.parametrize(
    ("entry", "name", "arguments"),
    [
        (tool("readFile", path="a", content="/w/a"), "read_file", {"path": "a"}),
        (tool("newFileCreated", path="a", content="x"), "write_to_file", {"path": "a", "content": "x"}),
        (
            tool("editedExistingFile", path="a", content="<<<<<<< SEARCH"),
            "replace_in_file",
            {"path": "a", "diff": "<<<<<<< SEARCH"},
        ),
        (tool("editedExistingFile", path="a", content="x"), "write_to_file", {"path": "a", "content": "x"}),
        (tool("searchFiles", path="a", regex="b", content="found"), "search_files", {"path": "a", "regex": "b"}),
        (tool("listFilesRecursive", path="a", content="x"), "list_files", {"path": "a", "recursive": "true"}),
        (tool("updateTodoList", todos=[]), "update_todo_list", {"todos": []}),
        (ask("command", "npm testREQ_APP"), "execute_command", {"command": "npm test"}),
        (
            ask("use_mcp_server", json.dumps({"type": "use_mcp_tool", "serverName": "s", "toolName": "t"})),
            "use_mcp_tool",
            {"server_name": "s", "tool_name": "t"},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_call_as_it_was_sent(entry: Any, name: str, arguments: Any) -> None:
    (call,) = read(request(), entry).calls
    assert (call.name, call.arguments) == (name, arguments)


def test_results_stand_in_the_next_request() -> None:
    text = "[read_file for 'a'] Result:\nx\n\n[execute_command for 'ls'] Result:\nCommand executed.\nOutput:\ny"
    found = read(
        request(), tool("readFile", path="a"), say("command", "ls"), ask("command_output", "part"), request(text)
    )
    assert [c.result.output for c in found.calls] == ["x", "Command executed.\nOutput:\ny"]


def test_else_what_was_shown_is_the_result() -> None:
    found = read(
        request(),
        say("command", "ls"),
        ask("command_output", ""),
        ask("command_output", "y"),
        tool("editedExistingFile", path="a", content="SEARCH"),
        say("diff_error", "no match"),
        tool("searchFiles", path="a", content="Found 1 result."),
        tool("readFile", path="a"),
    )
    told = [None if c.result is None else (c.result.output, c.result.failed) for c in found.calls]
    assert told == [("y", False), ("no match", True), ("Found 1 result.", False), None]


def test_a_failed_call_by_the_fixed_sentence() -> None:
    text = "[read_file for 'a'] Result:\nThe tool execution failed with the following error:\n<error>\nno\n</error>"
    (call,) = read(request(), tool("readFile", path="a"), request(text)).calls
    assert (call.result.status, call.result.level) == ("error", "flag")


def test_cut_entries_never_ran() -> None:
    found = read(request(), {**tool("readFile", path="a"), "partial": True})
    assert found.shape == []
    assert found.problems.counts == {"partial_record": 1}
    assert found.problems.damaged == 0


def test_turns_and_boundaries() -> None:
    found = read(
        say("text", "go"),
        request(tokensIn=3, tokensOut=5),
        say("text", "hm"),
        say("user_feedback", "no"),
        ask("resume_task"),
        ask("mistake_limit_reached", "too many"),
        say("reasoning", "x"),
        say("garden", "x"),
    )
    assert found.shape == ["turn: go", ". hm", "turn: no", "-- resume", "-- recorded_guard"]
    assert (found.total.input_tokens, found.total.output_tokens) == (3, 5)
    assert found.problems.counts == {"unknown_record": 1}


KNOWN = {
    # The task is shown as text there; every result is found in the text of the request after it.
    "ui-messages-2.json": {"turns": (3, 4), "results": (0, 55), "unanswered": (55, 0)},
    "ui-messages-task.json": {"results": (0, 67), "unanswered": (67, 0)},
}


@pytest.mark.parametrize("row", [p for p in corpus.params("cline") if "session" not in p.values[0].get("file", "")])
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(readers().get(ID), corpus.path_of(row))
    assert corpus.differences(row, counts) == KNOWN[Path(row["file"]).name]
