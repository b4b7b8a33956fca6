"""Contents of the Gemini API: pairing without ids, what is a turn, containers."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.readers.formats.gemini_contents import READER
from tests import corpus
from tests.readers.shown import read


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


def call(name: str, n: int, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"n": n}, **more}}


def answer(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


ENTRIES = [user("go"), model("Well.", call("a", 1)), user(answer("a", {"output": "x"}))]


@pytest.mark.parametrize(
    "data",
    [
        orjson.dumps(ENTRIES),
        orjson.dumps(ENTRIES, option=orjson.OPT_INDENT_2),
        b"\n".join(map(orjson.dumps, ENTRIES)),
        orjson.dumps({"history": ENTRIES, "authType": "x"}),
        orjson.dumps({"contents": ENTRIES}),
    ],
    ids=["line", "indented", "lines", "history", "contents"],
)
def test_containers(data: bytes) -> None:
    assert read(READER, data)[0] == ["turn go", ["Well.", ("a", {"n": 1}, "ok x")]]


@pytest.mark.parametrize(
    ("calls", "answers", "outcomes"),
    [
        ([call("a", 1), call("b", 2)], [answer("b", {"output": "2"}), answer("a", {"output": "1"})], ["1", "2"]),
        ([call("a", 1), call("a", 2)], [answer("a", {"output": "1"}), answer("a", {"output": "2"})], ["1", "2"]),
        ([call("a", 1, id="i"), call("a", 2, id="k")], [answer("a", {"output": "2"}, id="k")], [None, "2"]),
        ([call("a", 1), call("a", 2)], [answer("a", {"output": "1"}, id="new")], ["1", None]),
        ([call("a", 1, id="X"), call("a", 2, id="X")], [answer("a", {"output": o}, id="X") for o in "12"], ["1", "2"]),
    ],
    ids=["by name", "by order", "by id", "id in the answer only", "blanked ids"],
)
def test_pairing(calls: list[Any], answers: list[Any], outcomes: list[str | None]) -> None:
    events, problems, _ = read(READER, [model(*calls), user(*answers)])
    assert [c[2] for c in events[0]] == [o and f"ok {o}" for o in outcomes]
    assert not problems


def test_an_answer_to_no_call_is_an_orphan() -> None:
    _, problems, totals = read(READER, [model(call("a", 1)), user(answer("b", {"output": "x"}, id="q"))])
    assert totals[0].orphan_results == 1
    assert problems.counts == {"orphan_result": 1}


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ({"output": "x"}, "ok x"),
        ({"error": "gone"}, "error flag gone"),
        ({"error": {"message": "gone"}}, "error flag gone"),
        ({"error": "[Operation Cancelled] Reason: User denied execution."}, "denied flag"),
        ({"temperature": 3}, 'ok {"temperature":3}'),
        (None, "ok"),
    ],
)
def test_how_a_call_ended(response: Any, outcome: str) -> None:
    assert read(READER, [model(call("a", 1)), user(answer("a", response))])[0][0][0][2].startswith(outcome)


def test_context_is_no_turn_and_a_snapshot_is_a_compaction() -> None:
    events, _, _ = read(READER, [user("<session_context>\nx"), user("<state_snapshot>\nx"), user("hello")])
    assert events == ["compaction state_snapshot", "turn hello"]


@pytest.mark.parametrize("row", corpus.params("gemini-contents"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    path = corpus.path_of(row)
    found = corpus.read_counts(READER, path)
    _, _, totals = corpus.read_events(READER, path)
    found["errors"] -= sum(t.errors_by_level.get("exit_code", 0) for t in totals)
    # The manifest counts the program's session context and a compaction's snapshot as turns.
    entries = orjson.loads(path.read_bytes())
    texts = [str(e["parts"][0].get("text")) for e in entries if e["role"] == "user"]
    found["turns"] += sum(t.startswith(("<session_context>", "<state_snapshot>")) for t in texts)
    assert corpus.differences(row, found) == {}
