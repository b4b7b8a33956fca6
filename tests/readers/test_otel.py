"""Spans of OpenTelemetry: conversations, agents, batches, results, dialects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.core.events import Batch, Turn
from loopaudit.readers.formats.otel import READER
from tests import corpus
from tests.readers.kit import claimed
from tests.readers.shown import jsonl, read
from tests.readers.spans import BEGIN, asks, chat, gives, otlp, span, text, tool

DIFFERENCES: dict[str, dict[str, tuple[int, int]]] = {
    # The manifest counts no turns in traces.
    "otel/openai_agents_0.24.0_oi_2.5.3.jsonl": {"turns": (0, 1)},
    "otel/pydantic_ai_2.58.0.json": {"turns": (0, 2)},
    "otel/pydantic_ai_2.58.0_delegation.json": {"turns": (0, 1)},
    # It counts the trace of each span; those of summaries and embeddings hold no event.
    "otel/vercel-ai-v6-spans.json": {"turns": (0, 4), "conversations": (10, 4)},
}

ASK = text("user", "Is it raining?")


def told(*spans: dict[str, Any]) -> list[Any]:
    return read(READER, otlp(*spans))[0]


@pytest.mark.parametrize("row", corpus.params("otel"))
def test_a_corpus_file_has_the_counts_of_the_manifest(row: dict[str, Any]) -> None:
    found = corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row)))
    assert found == DIFFERENCES.get(row["file"], {})


def test_a_tool_span_answers_the_call_of_its_id_in_any_order_of_the_file() -> None:
    first = asks(("c1", "look", {"at": "sky"}), ("c2", "look", {"at": "street"}), words="I look.")
    spans = [
        span("m2", chat([ASK, first, gives(("c1", "grey"), ("c2", "wet"))], [text("assistant", "Yes.")]), 5),
        span("t2", tool("look", "c2", {"at": "street"}, "wet"), 3),
        span("t1", tool("look", "c1", {"at": "sky"}, "grey"), 2),
        span("m1", chat([ASK], [first]), 0),
    ]
    assert told(*spans) == [
        "turn Is it raining?",
        ["I look.", ("look", {"at": "sky"}, "ok grey"), ("look", {"at": "street"}, "ok wet")],
        ["Yes."],
    ]


def test_without_tool_spans_results_come_from_later_inputs_and_calls_never_do() -> None:
    one, two = asks(("c1", "look", {})), asks(("c1", "look", {}))
    history = [ASK, one, gives(("c1", "grey"))]
    spans = [
        span("m1", chat([ASK], [one]), 0),
        span("m2", chat(history, [two]), 2),
        span("m3", chat([*history, two, gives(("c1", "dark"))], [text("assistant", "No.")]), 4),
    ]
    # An id that the program uses again is another call.
    assert told(*spans) == [
        "turn Is it raining?",
        [("look", {}, "ok grey")],
        [("look", {}, "ok dark")],
        ["No."],
    ]


@pytest.mark.parametrize("more", [[], [text("assistant", "Hm.")]], ids=["new", "further back"])
def test_a_second_tool_span_of_an_id_waits_for_a_result_in_an_input_too(more: list[Any]) -> None:
    one = asks(("c1", "look", {}))
    spans = [
        span("m1", chat([ASK], [one]), 0),
        span("t1", tool("look", "c1", {}, "grey"), 1),
        span("t2", tool("look", "c1", {}), 2, endTimeUnixNano=None),
        span("m2", chat([ASK, one, gives(("c1", "dark")), *more], [text("assistant", "No.")]), 4),
    ]
    assert told(*spans) == ["turn Is it raining?", [("look", {}, "ok grey")], [("look", {}, "ok dark")], ["No."]]


def test_a_status_error_is_a_flag_and_a_cancelled_call_is_none() -> None:
    failed = {"code": 2, "message": "no network"}
    cancelled = [
        {"name": "exception", "attributes": [{"key": "exception.type", "value": {"stringValue": "CancelledError"}}]}
    ]
    spans = [
        span("m", chat([ASK], [asks(("c1", "a", {}), ("c2", "b", {}), ("c3", "c", {}))]), 0),
        span("t1", tool("a", "c1"), 1, status=failed),
        span("t2", tool("b", "c2"), 1, status={"code": "STATUS_CODE_ERROR"}, events=cancelled),
        span("t3", tool("c", "c3", result="fine"), 1, status={"code": 1}),
    ]
    assert told(*spans)[1] == [
        ("a", {}, "error flag no network"),
        ("b", {}, "cancelled flag CancelledError"),
        ("c", {}, "ok fine"),
    ]


def test_an_agent_inside_a_tool_call_is_a_sub_agent_of_the_same_conversation() -> None:
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper", "gen_ai.conversation.id": "other"}
    boss = {**agent, "gen_ai.agent.name": "boss", "gen_ai.conversation.id": "talk"}
    inner = chat([text("user", "look")], [text("assistant", "wet")])
    spans = [
        span("boss", boss, 0, 9),
        span("m1", chat([ASK], [asks(("c1", "ask", {}))]), 1, parent="boss"),
        span("t1", tool("ask", "c1", {}, "wet"), 2, 6, parent="boss"),
        span("helper", agent, 3, 5, parent="t1"),
        span("m2", inner, 4, parent="helper"),
        span("helper2", agent, 5, 6, parent="t1"),
        span("m3", inner, 5, parent="helper2"),
    ]
    events, _, totals = read(READER, otlp(*spans))
    assert events == [
        "turn Is it raining?",
        ("helper", "turn look"),
        ("helper~2", "turn look"),
        [("ask", {}, "ok wet")],
        ("helper", ["wet"]),
        ("helper~2", ["wet"]),
    ]
    assert len(totals) == 1


def test_agents_one_after_the_other_are_the_main_one_and_those_at_once_are_not() -> None:
    agent = {"gen_ai.operation.name": "invoke_agent"}
    spans = [
        span("wrapper", agent, 0, 9),
        *(
            part
            for name, start, end in (("a", 1, 3), ("b", 4, 6), ("c", 5, 7))
            for part in (
                span(name, {**agent, "gen_ai.agent.name": name}, start, end, parent="wrapper"),
                span(f"m{name}", chat([text("user", name)], [text("assistant", name)]), start, parent=name),
            )
        ),
    ]
    events = told(*spans)
    assert [event for event in events if not isinstance(event, tuple)] == ["turn a", ["a"], "turn b", ["b"]]
    assert [event for event in events if isinstance(event, tuple)] == [("c", "turn c"), ("c", ["c"])]


def test_traces_of_one_conversation_id_are_one_conversation() -> None:
    known = {"gen_ai.conversation.id": "talk"}
    first = [ASK, text("assistant", "No.")]
    spans = [
        span("m1", {**chat([ASK], [first[1]]), **known}, 0),
        {
            **span("m2", {**chat([*first, text("user", "Still?")], [text("assistant", "Yes.")]), **known}, 5),
            "traceId": "b",
        },
        {**span("m3", chat([ASK], [text("assistant", "Hm.")]), 9), "traceId": "c"},
    ]
    events, _, totals = read(READER, otlp(*spans))
    assert events == ["turn Is it raining?", ["No."], "turn Still?", ["Yes."], "turn Is it raining?", ["Hm."]]
    assert len(totals) == 2


def test_of_a_history_from_before_the_trace_only_the_new_message_is_a_turn() -> None:
    history = [ASK, asks(("c0", "look", {})), gives(("c0", "grey")), text("assistant", "No."), text("user", "Still?")]
    assert told(span("m", chat(history, [text("assistant", "No.")]), 0)) == ["turn Still?", ["No."]]


def test_a_response_that_comes_before_the_calls_of_the_last_one_ran_is_a_part_of_it() -> None:
    spans = [
        span("m1", chat([ASK], [asks(("c1", "a", {}))]), 0),
        span("m2", chat([ASK], [asks(("c2", "b", {}))]), 1),
        span("t1", tool("a", "c1", {}, "1"), 2),
        span("t2", tool("b", "c2", {}, "2"), 2),
    ]
    assert told(*spans) == ["turn Is it raining?", [("a", {}, "ok 1"), ("b", {}, "ok 2")]]


def test_tool_spans_alone_are_one_batch_while_they_overlap() -> None:
    spans = [
        span("t1", tool("a", None, {}, "1"), 0, 3),
        span("t2", tool("b", None, {}, "2"), 1, 2),
        span("t3", tool("c", None, {}, "3"), 4, 5),
    ]
    assert told(*spans) == [[("a", {}, "ok 1"), ("b", {}, "ok 2")], [("c", {}, "ok 3")]]


def test_what_was_not_recorded_is_told_and_not_invented() -> None:
    spans = [span("m", chat(None, None), 0), span("t", tool("look"), 2), span("m2", chat(None, None), 4)]
    events, problems, _ = read(READER, otlp(*spans))
    assert events == [[("look", {}, "ok")], []]
    assert problems.counts == {"not_recorded": 6}
    assert problems.damaged == 0


def test_tokens_count_once_for_each_model_span_and_not_for_sums() -> None:
    used = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 3, "gen_ai.response.model": "m-1"}
    spans = [
        span("agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 20}, 0, 9),
        span("m1", {**chat([ASK], [text("assistant", "a")]), **used}, 1, parent="agent"),
        span("m2", {**chat([ASK], [text("assistant", "b")]), **used}, 2, parent="agent"),
    ]
    _, _, (total,) = read(READER, otlp(*spans))
    assert (total.input_tokens, total.output_tokens, total.models) == (20, 6, {"m-1": 2})


def test_a_span_sent_twice_and_a_tool_recorded_inside_itself_are_copies() -> None:
    spans = [
        span("m", chat([ASK], [asks(("c1", "look", {}))]), 0),
        span("m", chat([ASK], [asks(("c1", "look", {}))]), 0),
        span("t", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}, 1, 4),
        span("inner", tool("look", "c1", {}, "wet"), 2, 3, parent="t"),
    ]
    events, problems, _ = read(READER, otlp(*spans))
    assert events == ["turn Is it raining?", [("look", {}, "ok wet")]]
    assert problems.counts == {"repeated_span": 1, "repeated_call": 1}


def test_a_tool_that_calls_itself_with_other_arguments_is_another_call() -> None:
    spans = [
        span("t", tool("sort", None, {"n": 4}, "a"), 0, 5),
        span("u", tool("sort", None, {"n": 2}, "b"), 1, parent="t"),
    ]
    assert told(*spans) == [[("sort", {"n": 4}, "ok a")], ("sort", [("sort", {"n": 2}, "ok b")])]


def test_a_failed_run_ends_with_its_error() -> None:
    agent = {"gen_ai.operation.name": "invoke_agent"}
    spans = [
        span("a", agent, 0, 9, status={"code": 2, "message": "too many steps"}),
        span("m", chat([ASK], [text("assistant", "Hm.")]), 1, parent="a"),
    ]
    assert told(*spans)[-1] == "end too many steps"


# -- dialects ------------------------------------------------------------------------------

CALL = ("look", {"at": "sky"}, "ok grey")


def openinference() -> list[dict[str, Any]]:
    out = "llm.output_messages.0.message"
    return [
        span(
            "m",
            {
                "openinference.span.kind": "LLM",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": "Is it raining?",
                f"{out}.role": "assistant",
                f"{out}.tool_calls.0.tool_call.id": "c1",
                f"{out}.tool_calls.0.tool_call.function.name": "look",
                f"{out}.tool_calls.0.tool_call.function.arguments": '{"at": "sky"}',
                "llm.token_count.prompt": 7,
                "llm.tools.0.tool.json_schema": {"function": {"name": "look", "parameters": {"type": "object"}}},
            },
            0,
        ),
        span(
            "t",
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "look",
                "input.value": '{"at":"sky"}',
                "output.value": "grey",
            },
            1,
        ),
    ]


def vercel() -> list[dict[str, Any]]:
    return [
        span(
            "run", {"ai.operationId": "ai.generateText", "ai.response.text": "sum", "ai.usage.promptTokens": 99}, 0, 9
        ),
        span(
            "m",
            {
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.prompt.messages": [{"role": "user", "content": [{"type": "text", "text": "Is it raining?"}]}],
                "ai.response.toolCalls": [{"toolCallId": "c1", "toolName": "look", "input": '{"at": "sky"}'}],
                "ai.prompt.tools": [
                    json.dumps({"type": "function", "name": "look", "inputSchema": {"type": "object"}})
                ],
                "ai.usage.promptTokens": 7,
            },
            1,
            parent="run",
        ),
        span(
            "t",
            {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "look",
                "ai.toolCall.id": "c1",
                "ai.toolCall.args": {"at": "sky"},
                "ai.toolCall.result": '"grey"',
            },
            2,
            parent="run",
        ),
    ]


def old_pydantic_ai() -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": {"at": "sky"}}}
    events = [
        {"event.name": "gen_ai.user.message", "role": "user", "content": "Is it raining?"},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "tool_calls": [call]}},
    ]
    schema = {"name": "look", "parameters_json_schema": {"type": "object"}}
    return [
        span(
            "m",
            {
                "gen_ai.operation.name": "chat",
                "events": events,
                "gen_ai.usage.input_tokens": 7,
                "model_request_parameters": {"function_tools": [schema]},
            },
            0,
        ),
        span(
            "running tool: look",
            {
                "gen_ai.tool.name": "look",
                "gen_ai.tool.call.id": "c1",
                "tool_arguments": {"at": "sky"},
                "tool_response": "grey",
            },
            1,
        ),
    ]


def span_events() -> list[dict[str, Any]]:
    def event(name: str, **attributes: Any) -> dict[str, Any]:
        return {"name": name, "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()]}

    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}
    made = json.dumps({"role": "assistant", "tool_calls": [call]})
    known = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 7}
    user = event("gen_ai.user.message", content="Is it raining?")
    tools = [{"name": "look", "parameters": {"type": "object"}}]
    return [
        span("m", {**known, "gen_ai.tool.definitions": tools}, 0, events=[user, event("gen_ai.choice", message=made)]),
        span("m2", known, 3, events=[user, event("gen_ai.tool.message", content="grey", id="c1")]),
    ]


def openllmetry() -> list[dict[str, Any]]:
    return [
        span(
            "m",
            {
                "traceloop.span.kind": "llm",
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": "Is it raining?",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.tool_calls.0.id": "c1",
                "gen_ai.completion.0.tool_calls.0.name": "look",
                "gen_ai.completion.0.tool_calls.0.arguments": '{"at": "sky"}',
                "gen_ai.usage.prompt_tokens": 7,
                "llm.request.functions.0.name": "look",
                "llm.request.functions.0.parameters": '{"type": "object"}',
            },
            0,
        ),
        span(
            "t", {"traceloop.span.kind": "tool", "traceloop.entity.name": "look", "traceloop.entity.output": "grey"}, 1
        ),
    ]


def adk() -> list[dict[str, Any]]:
    contents = [{"role": "user", "parts": [{"text": "Is it raining?"}]}]
    part = {"function_call": {"id": "c1", "name": "look", "args": {"at": "sky"}}}
    return [
        span(
            "call_llm",
            {
                "gen_ai.system": "gcp.vertex.agent",
                "gen_ai.request.model": "m-1",
                "gcp.vertex.agent.llm_request": {"model": "m-1", "config": {}, "contents": contents},
                "gcp.vertex.agent.llm_response": {"content": {"role": "model", "parts": [part]}},
                "gen_ai.usage.input_tokens": 7,
                "gen_ai.tool.definitions": [{"name": "look", "parameters": {"type": "object"}}],
            },
            0,
        ),
        span("t", {**tool("look", "c1"), "gcp.vertex.agent.tool_response": "grey"}, 1),
    ]


def strands() -> list[dict[str, Any]]:
    def event(name: str, **attributes: Any) -> dict[str, Any]:
        written = {k: v if isinstance(v, str) else json.dumps(v) for k, v in attributes.items()}
        return {"name": name, "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in written.items()]}

    use = {"toolUse": {"toolUseId": "c1", "name": "look", "input": {"at": "sky"}}}
    tools = [{"name": "look", "parameters": {"type": "object"}}]
    known = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 7, "gen_ai.tool.definitions": tools}
    return [
        span(
            "m",
            known,
            0,
            events=[
                event("gen_ai.user.message", content=[{"text": "Is it raining?"}]),
                event("gen_ai.choice", message=[use], finish_reason="tool_use"),
            ],
        ),
        span("t", tool("look", "c1"), 1, events=[event("gen_ai.choice", message=[{"text": "grey"}], id="c1")]),
    ]


@pytest.mark.parametrize("dialect", [openinference, vercel, old_pydantic_ai, span_events, openllmetry, adk, strands])
def test_every_dialect_tells_the_same(dialect: Any) -> None:
    events, problems, totals = read(READER, otlp(*dialect()))
    output = 'ok "grey"' if dialect is vercel else "ok grey"
    assert events[0] == "turn Is it raining?"
    name, arguments, outcome = events[1][0]
    assert (name, arguments, outcome) == ("look", {"at": "sky"}, output)
    assert problems.damaged == 0
    assert totals[0].schemas == {"look": {"type": "object"}}
    assert totals[0].input_tokens in (7, 14)


def exported(style: str) -> list[Any]:
    """A model and a tool span as an SDK's own exporter writes them."""
    made = json.dumps([asks(("c1", "look", {"at": "sky"}))])
    spans: list[dict[str, Any]] = []
    for number, attributes in enumerate(
        ({"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": made},
         {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c1",
          "gen_ai.tool.call.result": "grey"})
    ):  # fmt: skip
        ids = {"trace_id": "0xab", "span_id": f"0x{number}"}
        if style == "python":
            place: dict[str, Any] = {"context": ids, "start_time": f"2026-01-01T09:00:0{number}.000000Z"}
            end: dict[str, Any] = {"end_time": "2026-01-01T09:00:09.000000Z", "status": {"status_code": "UNSET"}}
        elif style == "javascript":
            place = {"spanContext": {"traceId": "ab", "spanId": str(number)}, "startTime": [BEGIN + number, 5]}
            end = {"endTime": [BEGIN + 9, 0], "status": {"code": 0}}
        else:
            place = {**ids, "start_time": (BEGIN + number) * 1000}
            end = {"end_time": (BEGIN + 9) * 1000, "status": "OK"}
        spans.append({"name": "x", **place, **end, "attributes": attributes})
    return spans


@pytest.mark.parametrize("style", ["python", "javascript", "flat"])
@pytest.mark.parametrize("wrap", [lambda s: s, lambda s: [s], lambda s: [{"spans": s}]], ids=["lines", "list", "spans"])
def test_lists_of_spans_are_read_and_claimed(style: str, wrap: Any) -> None:
    content = wrap(exported(style))
    assert claimed("otel", content)
    events, problems, (total,) = read(READER, content)
    assert events == ["turn Is it raining?", [CALL]]
    assert not problems.counts
    assert total.started == BEGIN


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"attributes": 7}, "malformed_record"),
        ({"startTimeUnixNano": "soon"}, "malformed_record"),
        ({"spanId": None}, "malformed_record"),
        ({"status": {"code": "zzz"}}, "malformed_record"),
        ({"attributes": [{"key": "http.method", "value": {"stringValue": "GET"}}]}, "unknown_record"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_counted(change: dict[str, Any], kind: str) -> None:
    _, problems, _ = read(READER, otlp({**span("m", chat([ASK], [text("assistant", "Hm.")]), 0), **change}))
    assert problems.counts[kind] == 1
    assert problems.damaged == (problems.counts[kind] if kind == "malformed_record" else 0)


def test_a_tool_span_may_have_arguments_result_and_failure_in_other_places() -> None:
    def event(name: str, field: str, value: str) -> dict[str, Any]:
        return {"name": name, "attributes": [{"key": field, "value": {"stringValue": value}}]}

    events = [event("gen_ai.tool.message", "content", '{"at": "sky"}'), event("gen_ai.choice", "message", "grey")]
    assert told(span("t", {**tool("look", "c1"), "gen_ai.tool.status": "error"}, 0, events=events)) == [
        [("look", {"at": "sky"}, "error flag grey")]
    ]


def test_parents_in_a_circle_are_told() -> None:
    spans = [span("a", tool("x", None, {}, "1"), 0, parent="b"), span("b", tool("y", None, {}, "2"), 1, parent="a")]
    _, problems, totals = read(READER, otlp(*spans))
    assert problems.counts == {"circle": 1}
    assert sum(total.calls for total in totals) == 2


@settings(max_examples=50, deadline=None)
@given(st.permutations(range(9)))
def test_the_order_of_the_file_does_not_matter(order: list[int]) -> None:
    one, two = asks(("c1", "a", {}), ("c2", "b", {})), asks(("c3", "a", {}))
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    spans = [
        span("m1", chat([ASK], [one]), 0),
        span("t1", tool("a", "c1", {}, "1"), 1),
        span("t2", tool("b", "c2", {}, "2"), 2),
        span("m2", chat([ASK, one, gives(("c1", "1"))], [two]), 4),
        span("t3", tool("a", "c3", {}, "3"), 5, 9),
        span("h", agent, 6, 8, parent="t3"),
        span("m3", chat([text("user", "go")], [text("assistant", "gone")]), 7, parent="h"),
        span("m4", chat([ASK], [text("assistant", "done")]), 10),
        span("m5", chat([ASK, text("user", "more")], [text("assistant", "no")]), 11),
    ]
    assert told(*(spans[place] for place in order)) == told(*spans)


KEYS = [
    "role",
    "type",
    "parts",
    "content",
    "tool_calls",
    "message",
    "messages",
    "kwargs",
    "id",
    "output",
    "name",
    "text",
]
WORDS = ["user", "assistant", "tool", "text", "tool_call", "tool_call_response", "tool_result", "ai", "function_call"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=16,
)


@settings(max_examples=100, deadline=None)
@given(json_values, json_values)
def test_any_message_is_read_without_an_exception(given_: Any, made: Any) -> None:
    attributes = {"gen_ai.operation.name": "chat", "input.value": json.dumps(given_), "output.value": json.dumps(made)}
    _, problems, totals = read(READER, jsonl(otlp(span("m", attributes, 0))))
    assert problems.damaged <= sum(problems.counts.values())
    assert len(totals) <= 1


def test_spans_of_monocle() -> None:
    def monocle(id: str, kind: str, start: float, parent: str, data: dict[str, Any], **entities: str) -> Any:
        own = {"monocle_apptrace.version": "0.8", "span.type": kind, "scope.agentic.session": "s7"}
        own |= {name.replace("_", "."): value for name, value in entities.items()}
        events = [{"name": name, "attributes": value} for name, value in data.items()]
        plain = span(id, {}, start, parent=parent)
        return {**plain, "attributes": own, "events": events}

    def asks(name: str, args: Any) -> dict[str, Any]:
        return {"response": json.dumps({"ai": {"name": name, "args": args, "id": "c1", "type": "tool_call"}})}

    def tool(id: str, start: float, given: str, made: str) -> Any:
        data = {"data.input": {"input": given}, "data.output": {"response": made}}
        return monocle(id, "agentic.tool.invocation", start, "g", data, entity_1_type="tool.x", entity_1_name="fetch")

    history = {"input": [json.dumps({"system": "be brief"}), json.dumps({"human": "fetch both"})]}
    model = {"entity_1_type": "model.llm.m", "entity_1_name": "m"}
    first = {"data.input": history, "data.output": asks("fetch", {"at": 2}), "metadata": {"prompt_tokens": 9}}
    last = {"data.input": history, "data.output": {"response": json.dumps({"ai": "Both are there."})}}
    spans = [
        monocle("g", "agentic.invocation", 0, "", {}, entity_1_type="agent.x", entity_1_name="graph"),
        monocle("m1", "inference.framework", 1, "g", first, **model),
        monocle("m2", "inference.modelapi", 1.1, "m1", {}),
        tool("t1", 3, "{'at': 1}", "one"),
        tool("t2", 3.1, "{'at': 2}", "two"),
        tool("t3", 3.2, "{'at': object}", "three"),
        monocle("m3", "inference.framework", 6, "g", last, **model),
    ]
    events, problems, _ = corpus.read_events(READER, json.dumps(spans).encode())
    calls = [c for e in events if isinstance(e, Batch) for c in e.calls]
    found = {(c.name, str(c.arguments), c.result.output if c.result else None) for c in calls}
    assert found == {("fetch", "{'at': 1}", "one"), ("fetch", "{'at': 2}", "two"), ("fetch", "{'at': object}", "three")}
    assert [e.text for e in events if isinstance(e, Turn)] == ["fetch both"]
    assert {e.session for e in events} == {"s7"}
    assert not problems.counts
