"""moltis sessions: results that stand there twice, calls told by their results, notices."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.readers.formats.moltis import READER
from tests.readers.shown import read


def message(role: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "seq": 1, "run_id": "r", "created_at": 1770000000000, **more}


def model(*ids: str) -> dict[str, Any]:
    calls = [{"id": i, "function": {"name": "exec", "arguments": orjson.dumps({"id": i}).decode()}} for i in ids]
    return message("assistant", content="", tool_calls=calls)


def plain(id: str, content: str = "seen") -> dict[str, Any]:
    return message("tool", tool_call_id=id, content=content)


def full(id: str, *, success: bool = True, **more: Any) -> dict[str, Any]:
    return message("tool_result", tool_call_id=id, tool_name="exec", arguments={"id": id}, success=success, **more)


OUT = {"stdout": "out", "stderr": "", "exit_code": 0}


@pytest.mark.parametrize(
    ("answers", "copies"),
    [([full("a", result=OUT)], 0), ([plain("a"), full("a", result=OUT)], 1), ([full("a", result=OUT), plain("a")], 1)],
)
def test_two_records_of_a_result_are_one(answers: list[Any], copies: int) -> None:
    events, problems, totals = read(READER, [message("user", content="go"), model("a"), *answers])
    assert events == ["turn go", [("exec", {"id": "a"}, "ok 0 out")]]
    assert totals[0].results == 1
    assert problems.counts.get("repeated_result", 0) == copies
    assert totals[0].orphan_results == problems.damaged == 0


def test_a_result_that_only_the_model_saw() -> None:
    assert read(READER, [model("a", "b"), plain("a"), plain("b"), model("c")])[0][0][0][2] == "ok seen"


def test_a_result_without_its_call_tells_the_call() -> None:
    events, problems, _ = read(READER, [message("user", content="go"), full("a", success=False, error="gone")])
    assert events == ["turn go", [("exec", {"id": "a"}, "error flag gone")]]
    assert not problems


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (full("a", result={"stdout": "o", "stderr": "e", "exit_code": 2}), "error exit_code 2 o\ne"),
        (full("a", success=False, error="gone"), "error flag gone"),
        (full("a", result={"rows": 3}), 'ok {"rows":3}'),
        (full("a", result="text"), "ok text"),
    ],
)
def test_how_a_call_ended(answer: dict[str, Any], outcome: str) -> None:
    assert read(READER, [model("a"), answer])[0][0][0][2] == outcome


def test_notices() -> None:
    records = [message("notice", content="A loop was detected"), message("notice", content="Model changed")]
    events, problems, _ = read(READER, records)
    assert events == ["recorded_guard A loop was detected"]
    assert not problems
