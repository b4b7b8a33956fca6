"""OpenCode exports: steps, statuses, blanked ids, injected messages."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.readers.formats.opencode import READER
from tests import corpus
from tests.readers.shown import read


def export(*messages: Any) -> bytes:
    return orjson.dumps({"info": {"id": "ses_1"}, "messages": list(messages)}, option=orjson.OPT_INDENT_2)


def user(*parts: Any) -> dict[str, Any]:
    return {"info": {"role": "user", "id": "m"}, "parts": list(parts)}


def model(*parts: Any, **info: Any) -> dict[str, Any]:
    return {"info": {"role": "assistant", "modelID": "glm", **info}, "parts": list(parts)}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def tool(id: str, status: str = "completed", **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": "bash", "callID": id, "state": {"status": status, "input": {"n": 1}, **state}}


START = {"type": "step-start"}
FINISH = {"type": "step-finish", "tokens": {"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 7, "write": 0}}}


@pytest.mark.parametrize(
    ("part", "outcome"),
    [
        (tool("a", output="x"), "ok x"),
        (tool("a", output="x", metadata={"exit": 0}), "ok 0 x"),
        (tool("a", output="x", metadata={"exit": 2}), "error exit_code 2 x"),
        (tool("a", output="x", metadata={"exit": None}), "ok x"),
        (tool("a", "error", error="File not found"), "error flag File not found"),
        (tool("a", "error", error="The user rejected permission to run"), "denied flag"),
        (tool("a", "error", error="Tool execution aborted"), "cancelled flag"),
        (tool("a", "running"), None),
        (tool("a", "pending"), None),
    ],
)
def test_how_a_call_ended(part: dict[str, Any], outcome: str | None) -> None:
    found = read(READER, export(model(START, part, FINISH)))[0][0][0][2]
    assert found == outcome or (outcome is not None and found.startswith(outcome))


def test_a_step_is_a_batch_and_its_tokens_count_once() -> None:
    parts = [
        START,
        text("one"),
        tool("a", output="1"),
        tool("b", output="2"),
        FINISH,
        START,
        tool("c", output="3"),
        FINISH,
    ]
    events, problems, totals = read(READER, export(user(text("go")), model(*parts, tokens=FINISH["tokens"])))
    assert [len(e) for e in events[1:]] == [3, 1]
    assert (totals[0].input_tokens, totals[0].output_tokens, totals[0].cache_read_tokens) == (10, 4, 14)
    assert not problems
    alone = read(READER, export(model(text("x"), tokens=FINISH["tokens"])))[2][0]
    assert alone.input_tokens == 5


def test_blanked_ids_lose_no_call() -> None:
    parts = [tool("REDACTED", output=str(n)) for n in range(4)]
    events, problems, _ = read(READER, export(model(START, *parts)))
    assert [c[2] for c in events[0]] == ["ok 0", "ok 1", "ok 2", "ok 3"]
    assert not problems


def test_what_a_person_wrote_is_a_turn_and_nothing_else() -> None:
    messages = [
        user(text("go"), text("injected", synthetic=True)),
        user(text("injected", synthetic=True)),
        user({"type": "subtask", "prompt": "review"}),
        user({"type": "file", "filename": "a.txt"}),
        user({"type": "compaction"}),
        model(text("summary"), summary=True),
    ]
    assert read(READER, export(*messages))[0] == ["turn go", "turn [file a.txt]", "compaction", ["summary"]]


def test_aborted_responses_and_the_doom_loop_check() -> None:
    refused = tool("b", "error", error="permission doom_loop: permission denied")
    events, _, _ = read(READER, export(model(START, tool("a", output="x"), refused, tool("c", output="y"), FINISH)))
    assert [len(events[0]), events[1]] == [3, "recorded_guard doom_loop"]
    aborted = model(START, tool("a", "running"), error={"name": "MessageAbortedError", "data": {}})
    assert read(READER, export(aborted))[0][1] == "interrupt MessageAbortedError"


def event(kind: str, **part: Any) -> dict[str, Any]:
    return {"type": kind, "sessionID": "ses_1", "timestamp": 1767036059338, "part": part}


def test_the_events_of_a_run() -> None:
    ended = tool("a", output="x", metadata={"exit": 1})
    records = [
        event("step_start", type="step-start"),
        event("text", **text("I look.")),
        event("tool_use", **tool("a", "running")),
        event("tool_use", **ended),
        event("step_finish", **FINISH),
        event("step_start", type="step-start"),
        event("tool_use", **tool("b", "error", error="gone")),
        {"type": "error", "sessionID": "ses_1", "error": {"name": "APIError"}},
    ]
    events, problems, totals = read(READER, records)
    assert events == [["I look.", ("bash", {"n": 1}, "error exit_code 1 x")], [("bash", {"n": 1}, "error flag gone")]]
    assert problems.counts == {"recorded_error": 1}
    assert totals[0].input_tokens == 5
    assert read(READER, records[:3])[0] == [["I look.", ("bash", {"n": 1}, None)]]


@pytest.mark.parametrize("row", corpus.params("opencode"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    path = corpus.path_of(row)
    found = corpus.read_counts(READER, path)
    _, _, totals = corpus.read_events(READER, path)
    by_code = sum(t.errors_by_level.get("exit_code", 0) for t in totals)
    # The manifest counts only status error; failed commands are completed and stand in its notes.
    assert by_code == row.get("notes", {}).get("exit_nonzero", 0)
    found["errors"] -= by_code
    assert corpus.differences(row, found) == {}
