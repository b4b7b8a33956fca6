"""Sessions of Cline's SDK: metrics, several queries at once, sub-agents, and the shared corpus."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.registry import readers
from tests import corpus
from tests.readers.claude_records import call, text
from tests.readers.kit import Document, Read, claimed

ID = "cline-session"


def message(role: str, *blocks: Any, **fields: Any) -> dict[str, Any]:
    return {"id": f"m{len(blocks)}{role}", "role": role, "content": list(blocks), "ts": 1767690000000, **fields}


def session(*messages: Any, agent: str = "lead") -> Document:
    return Document({"version": 1, "agent": agent, "sessionId": "s1", "messages": list(messages)})


def answer(content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "a", "name": "run", "content": content, **fields}


def test_a_session() -> None:
    metrics = {"inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 1, "cacheWriteTokens": 0}
    model = message("assistant", call("a"), metrics=metrics, modelInfo={"id": "m"})
    found = Read(ID, session(message("user", text("go")), model, message("user", answer("x"))))
    assert found.shape == ["turn: go", "a"]
    assert (found.total.input_tokens, found.total.output_tokens, found.total.cache_read_tokens) == (9, 2, 1)
    assert found.total.models == {"m": 1}
    assert found.events[0].session == "s1"


@pytest.mark.parametrize(
    ("content", "fields", "failed"),
    [
        ("x", {}, False),
        ("x", {"is_error": True}, True),
        ('{"query": "q", "result": "", "success": false}', {}, True),
        ([{"query": "q", "success": False}, {"query": "r", "success": True}], {}, False),
        ([{"query": "q", "success": False}, {"query": "r", "success": False}], {}, True),
        ([text("x")], {}, False),
        ([], {}, False),
    ],
    ids=["text", "flag", "query", "one of two", "both", "blocks", "empty"],
)
def test_how_a_result_ended(content: Any, fields: dict[str, Any], failed: bool) -> None:
    found = Read(ID, session(message("assistant", call("a")), message("user", answer(content, **fields))))
    assert found.calls[0].result.failed is failed


def test_another_agent_is_a_sub_agent() -> None:
    found = Read(ID, session(message("user", text("go")), message("assistant", call("a")), agent="reviewer"))
    assert found.shape == ["reviewer| turn: go", "reviewer| a?"]
    assert found.total.turns == 0


def test_claims() -> None:
    assert claimed(ID, session(message("user", text("go"))))
    assert claimed(ID, Document({"messages": [message("assistant", call("a"))]})) is None


@pytest.mark.parametrize("row", [p for p in corpus.params("cline") if "ui-" not in p.values[0].get("file", "")])
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(readers().get(ID), corpus.path_of(row))
    assert corpus.differences(row, counts) == {}
