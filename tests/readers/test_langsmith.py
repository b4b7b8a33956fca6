"""Runs of LangSmith."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.formats.langsmith import READER
from tests.readers.kit import Document, claimed, write
from tests.readers.shown import read
from tests.readers.spans import run


def lc(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


def generation(message: dict[str, Any]) -> dict[str, Any]:
    return {"generations": [[{"text": message["kwargs"]["content"], "message": message}]], "llm_output": None}


HUMAN = lc("HumanMessage", content="Translate page 1.")
CALL = {"name": "translate", "args": {"page": 1}, "id": "c1", "type": "tool_call"}
USED = {"input_tokens": 75, "output_tokens": 31, "input_token_details": {"cache_read": 20}}
ASKED = lc("AIMessage", content="", tool_calls=[CALL], usage_metadata=USED)
ROOT = run("root", "chain", 0, parent=None, inputs={"messages": [HUMAN]})
MODEL = run("m", "llm", 1, inputs={"messages": [[HUMAN]]}, outputs=generation(ASKED))


def tool(**more: Any) -> dict[str, Any]:
    return run("translate", "tool", 3, inputs={"input": "{'page': 1}"}, **more)


def told(*runs: Any) -> list[Any]:
    return read(READER, write(Document(list(runs))))[0]


@pytest.mark.parametrize(
    "output",
    [
        {"output": lc("ToolMessage", content="soup", tool_call_id="c1", name="translate", status="success")},
        {"output": {"type": "tool", "content": "soup", "tool_call_id": "c1", "status": "success"}},
        {"output": "soup"},
    ],
    ids=["serialised", "message", "text"],
)
def test_a_tool_run_answers_the_call_of_the_model(output: Any) -> None:
    events, problems, (total,) = read(READER, write(Document([ROOT, MODEL, tool(outputs=output)])))
    assert events == ["turn Translate page 1.", [("translate", {"page": 1}, "ok soup")]]
    assert (total.input_tokens, total.output_tokens, total.cache_read_tokens) == (75, 31, 20)
    assert not problems.counts


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("ValueError('no page')", "error flag ValueError('no page')"),
        ("GraphInterrupt((Interrupt(value='ok?'),))", "cancelled flag GraphInterrupt((Interrupt(value='ok?'),))"),
    ],
)
def test_an_error_is_a_flag_and_an_interruption_is_none(error: str, outcome: str) -> None:
    assert told(ROOT, MODEL, tool(error=error))[1] == [("translate", {"page": 1}, outcome)]


def test_the_status_of_a_tool_message_is_a_flag() -> None:
    message = lc("ToolMessage", content="no page", tool_call_id="c1", status="error")
    assert told(ROOT, MODEL, tool(outputs={"output": message}))[1] == [("translate", {"page": 1}, "error flag no page")]


def test_batches_of_the_sdk_are_merged_by_id() -> None:
    begun = {**tool(), "end_time": None}
    ended = {"id": "translate", "outputs": {"output": "soup"}, "end_time": "2026-02-03T10:05:04"}
    batches = [{"post": [ROOT, MODEL], "patch": []}, {"post": [begun], "patch": []}, {"post": [], "patch": [ended]}]
    assert claimed("langsmith", batches)
    expected = ["turn Translate page 1.", [("translate", {"page": 1}, "ok soup")]]
    assert read(READER, batches)[0] == expected
    # Without its end the call has no result.
    assert read(READER, batches[:2])[0] == [expected[0], [("translate", {"page": 1}, None)]]


SHAPES: dict[str, Any] = {
    "lines": lambda runs: runs,
    "list": Document,
    "runs": lambda runs: Document({"runs": runs}),
    "nested": lambda runs: Document({**runs[0], "child_runs": runs[1:]}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_container_is_claimed_and_read(shape: str) -> None:
    content = SHAPES[shape]([ROOT, tool(outputs={"output": "soup"}), MODEL])
    assert claimed("langsmith", content)
    assert read(READER, write(content))[0] == ["turn Translate page 1.", [("translate", {"page": 1}, "ok soup")]]


def test_the_dotted_order_stands_in_for_times_and_parents() -> None:
    def bare(record: dict[str, Any], order: str) -> dict[str, Any]:
        gone = ("trace_id", "parent_run_id", "start_time")
        return {**{k: v for k, v in record.items() if k not in gone}, "dotted_order": order}

    root = "20260203T100500000000Zroot"
    inner = run("m2", "llm", 5, inputs={"messages": [HUMAN]}, outputs=generation(lc("AIMessage", content="fine")))
    runs = [
        bare(inner, f"{root}.20260203T100503000000Ztranslate.20260203T100503500000Zm2"),
        bare(tool(outputs={"output": "soup"}), f"{root}.20260203T100503000000Ztranslate"),
        bare(MODEL, f"{root}.20260203T100501000000Zm"),
        bare(ROOT, root),
    ]
    assert read(READER, runs)[0] == [
        "turn Translate page 1.",
        ("translate", "turn Translate page 1."),
        [("translate", {"page": 1}, "ok soup")],
        ("translate", ["fine"]),
    ]


def test_plain_completions_are_read() -> None:
    plain = {"inputs": {"prompts": ["Go on."]}, "outputs": {"generations": [[{"text": "Gone.", "type": "Generation"}]]}}
    assert told(ROOT, {**MODEL, **plain}) == ["turn Go on.", ["Gone."]]


def test_a_thread_joins_traces() -> None:
    about = {"extra": {"metadata": {"thread_id": "th-1", "ls_model_name": "m-1"}}}
    again = {
        **MODEL,
        **about,
        "id": "m2",
        "trace_id": "other",
        "parent_run_id": None,
        "start_time": "2026-02-03T11:00:00",
    }
    again["inputs"] = {"messages": [[HUMAN, lc("AIMessage", content="Done."), lc("HumanMessage", content="And 2?")]]}
    events, _, totals = read(READER, [{**MODEL, **about}, again])
    assert [event for event in events if isinstance(event, str)] == ["turn Translate page 1.", "turn And 2?"]
    assert [total.models for total in totals] == [{"m-1": 2}]


def test_tools_of_the_invocation_are_schemas() -> None:
    tools = [{"type": "function", "function": {"name": "translate", "parameters": {"type": "object"}}}]
    _, _, (total,) = read(READER, [{**MODEL, "extra": {"invocation_params": {"tools": tools, "model": "m-2"}}}])
    assert total.schemas == {"translate": {"type": "object"}}
    assert total.models == {"m-2": 1}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"run_type": "brand_new"}, "unknown_record"),
        ({"run_type": 3}, "no_type"),
        ({"id": None}, "malformed_record"),
        ({"start_time": "soon"}, "malformed_record"),
        ({"child_runs": 3}, "malformed_record"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_counted(change: dict[str, Any], kind: str) -> None:
    _, problems, _ = read(READER, [{**MODEL, **change}])
    assert problems.counts == {kind: 1}
    assert problems.damaged == (kind != "unknown_record")


@pytest.mark.parametrize("root", [[], {}, 3, [[3]], {"post": 3}, {"runs": [3]}], ids=str)
def test_other_roots_are_told(root: Any) -> None:
    _, problems, totals = read(READER, write(Document(root)))
    assert problems.damaged == 1
    assert totals == []
