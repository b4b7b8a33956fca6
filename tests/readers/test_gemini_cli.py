"""Gemini CLI chats: one document or one record a line, replaced and taken-back messages, statuses."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.core.events import Batch
from loopaudit.readers.formats.gemini_cli import READER
from tests import corpus
from tests.readers.shown import read

HEADER = {"sessionId": "s1", "projectHash": "ab", "startTime": "t"}


def user(id: str, text: Any) -> dict[str, Any]:
    return {"id": id, "type": "user", "content": text}


def call(id: str, status: str, response: Any = None, *, name: str = "run_shell_command") -> dict[str, Any]:
    found: dict[str, Any] = {"id": id, "name": name, "args": {"command": "make"}, "status": status}
    if response is not None:
        found["result"] = [{"functionResponse": {"id": id, "name": name, "response": response}}]
    return found


def model(id: str, text: str = "", *calls: Any, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "gemini", "content": text, "toolCalls": list(calls), **more}


def test_a_document_and_lines_give_the_same() -> None:
    messages = [user("1", [{"text": "go"}]), model("2", "I do.", call("a", "success", {"output": "done"}))]
    expected = ["turn go", ["I do.", ("run_shell_command", {"command": "make"}, "ok done")]]
    assert read(READER, [HEADER, *messages])[0] == expected
    assert read(READER, orjson.dumps({**HEADER, "messages": messages}))[0] == expected
    indented = orjson.dumps({**HEADER, "messages": messages}, option=orjson.OPT_INDENT_2)
    assert read(READER, indented)[0] == expected


@pytest.mark.parametrize(
    ("status", "response", "outcome"),
    [
        ("success", {"output": "fine"}, "ok fine"),
        ("success", {"output": "boom\nExit Code: 2"}, "error exit_code 2 boom\nExit Code: 2"),
        ("success", {"output": "boom\nExit Code: 0"}, "ok 0 boom\nExit Code: 0"),
        ("success", {"output": "Exit Code: 4\nExit Code: 5x\n a\n Exit Code: 6"}, "error exit_code 4 Exit"),
        ("success", {"output": "it says Exit Code: 2 here"}, "ok it says Exit Code: 2 here"),
        ("error", {"error": "no such tool"}, "error flag no such tool"),
        ("cancelled", {"error": "[Operation Cancelled] Reason: User denied execution."}, "denied flag"),
        ("cancelled", {"error": "[Operation Cancelled] Reason: by the user."}, "cancelled flag"),
        ("cancelled", None, "cancelled flag"),
        ("executing", None, None),
        ("awaiting_approval", None, None),
    ],
)
def test_how_a_call_ended(status: str, response: Any, outcome: str | None) -> None:
    found = read(READER, [HEADER, model("1", "", call("a", status, response))])[0][0][0][2]
    assert found == outcome or (outcome is not None and found.startswith(outcome))


def test_only_the_shell_tool_has_exit_codes() -> None:
    events, _, _ = read(READER, [model("1", "", call("a", "success", {"output": "\nExit Code: 2"}, name="read_file"))])
    assert events[0][0][2] == "ok \nExit Code: 2"


def test_a_record_with_a_known_id_replaces_the_earlier_one() -> None:
    first = model("2", "", call("a", "executing"))
    later = model("2", "", call("a", "success", {"output": "x"}), call("b", "success", {"output": "y"}))
    events, problems, _ = read(READER, [HEADER, user("1", "go"), first, user("3", "and on"), later])
    assert [type(e) for e in events] == [str, list, str]
    assert [c[2] for c in events[1]] == ["ok x", "ok y"]
    assert not problems


def test_blanked_ids_lose_no_call() -> None:
    records = [model("x", "", call(f"c{n}", "success", {"output": str(n)})) for n in range(3)]
    events, problems, _ = read(READER, [HEADER, *records])
    assert [batch[0][2] for batch in events] == ["ok 0", "ok 1", "ok 2"]
    assert problems.counts == {"reused_id": 2}


def test_a_rewind_takes_back_a_message_and_all_after_it() -> None:
    records = [HEADER, user("1", "a"), model("2", "b"), user("3", "c"), {"$rewindTo": "2"}, user("4", "d")]
    events, problems, _ = read(READER, records)
    assert events == ["turn a", "turn d"]
    assert problems.counts == {"rewound": 2}
    assert not problems.damaged


def test_a_change_of_all_messages_replaces_them() -> None:
    assert read(READER, [HEADER, user("1", "a"), {"$set": {"messages": [user("2", "b")]}}])[0] == ["turn b"]
    assert read(READER, [HEADER, user("1", "a"), {"$set": {"lastUpdated": "t"}}])[0] == ["turn a"]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("info", "Some loop was detected in the calls.", ["recorded_guard Some loop was detected in the calls."]),
        ("error", "The maximum number of turns is reached", ["recorded_guard The maximum number of turns is reached"]),
        ("info", "Request cancelled.", ["interrupt Request cancelled."]),
        ("info", "Chat history compressed from 9 to 3.", ["compaction"]),
        ("info", "An update is there. It can loop videos.", []),
    ],
)
def test_notices_of_the_program(kind: str, text: str, expected: list[str]) -> None:
    assert read(READER, [HEADER, {"id": "1", "type": kind, "content": text}])[0] == expected


@pytest.mark.parametrize(("total", "output"), [(150, 50), (130, 30), (None, 30)])
def test_thoughts_count_where_the_total_shows_them_beside_the_output(total: int | None, output: int) -> None:
    tokens = {"input": 100, "output": 30, "thoughts": 20, "cached": 90, "total": total}
    events, _, _ = corpus.read_events(READER, orjson.dumps({**HEADER, "messages": [model("1", "x", tokens=tokens)]}))
    batch = events[0]
    assert isinstance(batch, Batch) and batch.usage is not None
    assert (batch.usage.input, batch.usage.output, batch.usage.cache_read) == (100, output, 90)


@pytest.mark.parametrize("row", corpus.params("gemini-cli"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    path = corpus.path_of(row)
    _, _, totals = corpus.read_events(READER, path)
    found = corpus.read_counts(READER, path)
    # The manifest counts flags only; a failed command has status success and an exit code in its text.
    found["errors"] -= sum(t.errors_by_level.get("exit_code", 0) for t in totals)
    assert corpus.differences(row, found) == {}
