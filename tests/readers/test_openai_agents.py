"""The reader of the Agents SDK's run states and traces."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.formats.openai_agents import READER
from tests import corpus
from tests.readers.kit import Document, Read

ID = "openai-agents"


def call(id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}


def item(kind: str, raw: Any) -> dict[str, Any]:
    return {"type": kind, "agent": {"name": "A"}, "raw_item": raw}


def state(*items: Any, responses: Any = (), given: Any = "go") -> dict[str, Any]:
    return {
        "$schemaVersion": "1.0",
        "original_input": given,
        "generated_items": list(items),
        "model_responses": list(responses),
    }


def test_items_are_told_once_and_responses_give_batches_and_tokens() -> None:
    out = {"type": "function_call_output", "call_id": "1", "output": "x"}
    responses = [
        {"output": [call("1")], "usage": {"input_tokens": 3, "output_tokens": 1}},
        {"output": [call("2")], "usage": {"input_tokens": 4, "output_tokens": 1}},
    ]
    items = [
        item("tool_call_item", call("1")),
        item("tool_call_output_item", out),
        item("tool_call_item", call("2")),
        item("tool_approval_item", call("2")),
    ]
    read = Read(ID, Document(state(*items, responses=responses)))
    assert read.shape == ["turn: go", "1", "2?"]
    assert (read.total.input_tokens, read.total.output_tokens) == (7, 2)
    assert not read.problems


def test_an_input_of_items_and_a_handoff() -> None:
    hand = {"type": "function_call", "call_id": "h", "name": "transfer_to_b", "arguments": "{}"}
    out = {"type": "function_call_output", "call_id": "h", "output": '{"assistant": "B"}'}
    given = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]
    read = Read(ID, Document(state(item("handoff_call_item", hand), item("handoff_output_item", out), given=given)))
    assert read.shape == ["turn: one", "turn: two", "h"]


def span(id: str, kind: str, parent: str | None = None, at: int = 0, error: Any = None, **data: Any) -> dict[str, Any]:
    times = {"started_at": f"2026-01-01T00:00:{at:02d}+00:00", "ended_at": f"2026-01-01T00:00:{at + 1:02d}+00:00"}
    return {
        "object": "trace.span",
        "id": id,
        "trace_id": "t",
        "parent_id": parent,
        **times,
        "span_data": {"type": kind, **data},
        "error": error,
    }


SPANS = [
    span("f2", "function", "a", 4, name="g", input='{"k": 1}', output="2", error={"message": "boom", "data": None}),
    span("a", "agent", None, 0, name="Main"),
    span(
        "g1",
        "generation",
        "a",
        1,
        output=[{"role": "assistant", "content": "So."}],
        model="m",
        usage={"input_tokens": 5, "output_tokens": 1},
    ),
    span("f1", "function", "a", 3, name="f", input="{}", output="1"),
    span("b", "agent", "f1", 3, name="Sub"),
    span("f3", "function", "b", 4, name="inner", input="{}", output="3"),
    span("r1", "response", "a", 8, response_id="resp"),
    span("f4", "function", "a", 9, name="f", input="{}", output="4"),
]


@pytest.mark.parametrize(
    "content", [[{"object": "trace", "id": "t"}, *SPANS], Document(SPANS), Document({"data": SPANS})]
)
def test_spans_are_ordered_by_their_start(content: Any) -> None:
    read = Read(ID, content)
    assert [(c.name, c.result.output, c.result.status) for c in sorted(read.calls, key=lambda c: c.number)] == [
        ("f", "1", "ok"),
        ("g", "2", "error"),
        ("inner", "3", "ok"),
        ("f", "4", "ok"),
    ]
    assert [s for s in read.shape if "|" not in s] == ["#1+#2! So.", "#4"]
    assert [s for s in read.shape if "|" in s] == ["Sub| #3"]
    assert {e.session for e in read.events} == {"t"}
    assert read.total.input_tokens == 5
    assert not read.problems


def test_snapshots_are_sessions() -> None:
    read = Read(ID, [state(item("tool_call_item", call("1"))), state(item("tool_call_item", call("1")))])
    assert [(e.session, s) for e, s in zip(read.events, read.shape, strict=True)] == [
        ("", "turn: go"),
        ("", "1?"),
        ("2", "turn: go"),
        ("2", "1?"),
    ]


def test_traces_are_sessions() -> None:
    read = Read(ID, [SPANS[3], {**SPANS[3], "trace_id": "u"}, SPANS[1]])
    assert [e.session for e in read.events] == ["t", "u"]


@pytest.mark.parametrize("row", corpus.params("openai-agents"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
