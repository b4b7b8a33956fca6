"""goose sessions: files, exports and streams, both shapes of results, refusals."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.readers.formats.goose import READER
from tests.readers.shown import jsonl, read

HEADER = {"working_dir": "/w", "message_count": 3, "description": "d"}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def message(role: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "created": 1748000000, "content": list(blocks), **more}


def request(id: str, **arguments: Any) -> dict[str, Any]:
    call = {"status": "success", "value": {"name": "developer__shell", "arguments": arguments}}
    return {"type": "toolRequest", "id": id, "toolCall": call}


def response(id: str, **result: Any) -> dict[str, Any]:
    return {"type": "toolResponse", "id": id, "toolResult": result}


GOOD = response("a", status="success", value=[text("x")])


@pytest.mark.parametrize(
    "data",
    [
        jsonl([HEADER, message("user", text("go")), message("assistant", request("a")), message("user", GOOD)]),
        orjson.dumps(
            {
                "id": "s",
                "conversation": [
                    message("user", text("go")),
                    message("assistant", request("a")),
                    message("user", GOOD),
                ],
            }
        ),
        jsonl(
            {"type": "message", "message": m}
            for m in (message("user", text("go")), message("assistant", request("a")), message("user", GOOD))
        ),
    ],
    ids=["file", "export", "stream"],
)
def test_containers(data: bytes) -> None:
    events, problems, _ = read(READER, data)
    assert events == ["turn go", [("developer__shell", {}, "ok x")]]
    assert not problems


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (GOOD, "ok x"),
        (response("a", status="success", value={"content": [text("x")], "isError": False}), "ok x"),
        (response("a", status="success", value={"content": [text("x")], "isError": True}), "error flag x"),
        (response("a", status="error", error="gone"), "error flag gone"),
        (response("a", status="success", value=[text("The user has declined to run this tool.")]), "denied flag"),
    ],
)
def test_how_a_call_ended(answer: dict[str, Any], outcome: str) -> None:
    found = read(READER, [HEADER, message("assistant", request("a")), message("user", answer)])[0][0][0][2]
    assert found.startswith(outcome)


def test_a_call_that_the_model_wrote_wrongly_is_a_call() -> None:
    wrong = {"type": "toolRequest", "id": "a", "toolCall": {"status": "error", "error": "no such name"}}
    answer = response("a", status="error", error="no such name")
    events, problems, _ = read(READER, [HEADER, message("assistant", wrong), message("user", answer)])
    assert events == [[("", {"error": "no such name"}, "error flag no such name")]]
    assert not problems


def test_pieces_of_one_message_are_one_batch() -> None:
    pieces = [message("assistant", block, id="m1") for block in (text("I "), request("a"), request("b"))]
    assert len(read(READER, [{"type": "message", "message": piece} for piece in pieces])[0]) == 1
    pieces = [message("assistant", request(i)) for i in "ab"]
    assert len(read(READER, [HEADER, *pieces])[0]) == 2


def test_messages_that_the_person_does_not_see_are_no_turns() -> None:
    hidden = message("user", text("summary"), metadata={"userVisible": False, "agentVisible": True})
    compacted = message("assistant", {"type": "conversationCompacted", "msg": "done"})
    assert read(READER, [HEADER, hidden, compacted, message("user", text("go"))])[0] == ["compaction", "turn go"]


def test_guards_of_the_program_are_told() -> None:
    refused = response("a", status="error", error="The tool exceeded its allowed repetitions")
    events, _, _ = read(READER, [HEADER, message("assistant", request("a")), message("user", refused)])
    assert events[1] == "recorded_guard The tool exceeded its allowed repetitions"


def test_the_end_of_a_stream() -> None:
    stream = [{"type": "message", "message": message("user", text("go"))}, {"type": "complete", "input_tokens": 5}]
    assert read(READER, stream)[2][0].input_tokens == 5
    assert read(READER, [*stream[:1], {"type": "error", "error": "quota"}])[0][1] == "end quota"
