"""Factory droid: notices, reminders, batches, and the shared corpus."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.registry import readers
from tests import corpus
from tests.readers.claude_records import call, text
from tests.readers.kit import Read, claimed

ID = "droid"
HEAD = {"type": "session_start", "id": "s1", "owner": "user", "version": 2, "cwd": "/w"}


def said(id: str, role: str, *blocks: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "id": id, "message": {"role": role, "content": list(blocks), **fields}}


def test_a_session() -> None:
    answer = {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True}
    records = [HEAD, said("1", "user", text("go")), said("2", "assistant", text("hm"), call("a"), call("b"))]
    found = Read(ID, [*records, said("3", "user", answer)])
    assert found.shape == ["turn: go", "a!+b? hm"]
    assert found.events[0].session == "s1"


@pytest.mark.parametrize(
    ("record", "shape"),
    [
        (said("1", "user", text("<system-reminder>x</system-reminder>")), []),
        (said("1", "user", text("<system-reminder>x</system-reminder>"), text("go")), ["turn: go"]),
        (said("1", "user", text("limit reached"), visibility="user_only"), []),
        (said("1", "user", text("[Request interrupted by user]")), ["-- interrupt"]),
        ({"type": "compaction_state", "summaryText": "x"}, ["-- compaction"]),
        ({"type": "session_end", "reason": "exit"}, ["-- end"]),
        ({"type": "todo_state", "todos": {}}, []),
    ],
    ids=["reminder", "typed", "notice", "interrupted", "compaction", "end", "list"],
)
def test_what_a_record_means(record: dict[str, Any], shape: list[str]) -> None:
    found = Read(ID, [HEAD, record])
    assert found.shape == shape
    assert not found.problems.counts


def test_repeated_and_odd_records() -> None:
    records = [HEAD, said("1", "user", text("go")), said("1", "user", text("go")), {"type": "x"}, said("2", "robot")]
    found = Read(ID, records)
    assert found.shape == ["turn: go"]
    assert [(p.kind, p.line, p.damage) for p in found.problems.kept] == [
        ("repeated_record", 3, False),
        ("unknown_record", 4, False),
        ("malformed_record", 5, True),
    ]


def test_claims() -> None:
    assert claimed(ID, [HEAD])
    assert claimed(ID, [{"type": "session", "id": "s", "cwd": "/w", "version": 3}]) is None


@pytest.mark.parametrize("row", corpus.params(ID))
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(readers().get(ID), corpus.path_of(row))
    assert corpus.differences(row, counts) == {}
