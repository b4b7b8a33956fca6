"""Message lists of the Messages API: containers, results, interjections, and the shared corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopaudit.readers.recognise import claims
from loopaudit.readers.registry import readers
from loopaudit.readers.source import Source
from tests import corpus
from tests.readers.claude_records import call, text
from tests.readers.kit import Document, Read, claimed

ID = "anthropic-messages"


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def model(*blocks: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), **fields}


def answer(id: str, content: Any = "done", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **fields}


TALK = [
    {"role": "user", "content": "go"},
    model(text("hm"), call("a"), call("b")),
    user(answer("b"), answer("a", "no", is_error=True)),
    model(text("ready")),
]
SHAPE = ["turn: go", "a!+b hm", ". ready"]


@pytest.mark.parametrize(
    "content",
    [
        TALK,
        Document(TALK),
        Document({"messages": TALK}),
        Document({"request": {"messages": TALK[:-1]}, "response": TALK[-1]}),
        [{"id": "x", "messages": TALK}],
    ],
    ids=["a message a line", "list", "object", "request and response", "a conversation a line"],
)
def test_every_container(content: Any) -> None:
    assert claimed(ID, content)
    found = Read(ID, content)
    assert found.shape == SHAPE
    assert found.total.success_known
    assert not found.problems.counts


def test_a_log_of_requests_goes_on_with_its_session() -> None:
    rows = [{"messages": TALK[:1], "response": TALK[1]}, {"messages": TALK[:3], "response": TALK[3]}]
    found = Read(ID, rows)
    assert found.shape == SHAPE
    assert len(found.totals) == 1


@pytest.mark.parametrize(
    ("block", "shape"),
    [
        (text("and hurry"), ["turn: and hurry"]),
        (text("<system-reminder>x</system-reminder>"), []),
        (text("<environment_details>x</environment_details>"), []),
        (text("Base directory for this skill: /x"), []),
        (text("<task-notification>x</task-notification>"), []),
        ({"type": "image", "source": {}}, []),
    ],
    ids=["words", "reminder", "environment", "skill", "notification", "image"],
)
def test_what_stands_beside_a_result(block: dict[str, Any], shape: list[str]) -> None:
    found = Read(ID, Document([model(call("a")), user(answer("a"), block), model(text("ready"))]))
    assert found.shape == ["a", *shape, ". ready"]


def test_lines_of_prose_belong_to_the_next_line_of_the_model() -> None:
    records = [model(), model(text("one")), model(call("a")), user(answer("a")), model(text("two"))]
    assert Read(ID, records).shape == ["a one", ". two"]
    assert Read(ID, [*records, user(text("thanks"))]).shape == ["a one", ". two", "turn: thanks"]


def test_results_arrive_late_and_out_of_order() -> None:
    found = Read(ID, [model(call("a")), model(call("b")), user(answer("b")), model(call("c")), user(answer("a"))])
    assert found.shape == ["a", "b", "c?"]


def test_odd_blocks_are_told() -> None:
    found = Read(ID, [model(call("a"), 7, {"type": "poem"}, {"text": "x"})])
    assert found.shape == ["a?"]
    assert found.problems.counts == {"bad_block": 2, "unknown_block": 1}
    assert found.problems.kept[0].line == 1


KNOWN = {
    "stripped-claude-code.jsonl": {
        # Two texts of skills and three notices of finished tasks count as turns there.
        "turns": (6, 1),
    },
}


@pytest.mark.parametrize("row", corpus.params(ID))
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    path = corpus.path_of(row)
    with Source(path) as source:
        if [reader.id for reader, _ in claims(source.probe())] != [ID]:
            pytest.skip("the calls of this file are OpenAI's")
    counts = corpus.read_counts(readers().get(ID), path)
    assert corpus.differences(row, counts) == KNOWN.get(Path(row["file"]).name, {})
