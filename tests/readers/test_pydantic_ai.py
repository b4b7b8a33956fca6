"""The reader of Pydantic AI message histories."""

from __future__ import annotations

from typing import Any

import pytest

from tests.readers.kit import Document, Read

ID = "pydantic-ai"


def request(*parts: Any) -> dict[str, Any]:
    return {"kind": "request", "parts": list(parts)}


def response(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "response", "model_name": "m", "parts": list(parts), **more}


def prompt(text: Any) -> dict[str, Any]:
    return {"part_kind": "user-prompt", "content": text}


def call(id: str, args: Any = None, name: str = "f") -> dict[str, Any]:
    return {"part_kind": "tool-call", "tool_name": name, "args": args, "tool_call_id": id}


def returned(id: str, content: Any = "x", **more: Any) -> dict[str, Any]:
    return {"part_kind": "tool-return", "tool_name": "f", "tool_call_id": id, "content": content, **more}


RUN = [
    request({"part_kind": "system-prompt", "content": "s"}, prompt("go")),
    response(
        {"part_kind": "text", "content": "So."},
        call("1", '{"a":1}'),
        call("2", {"a": 2}),
        usage={"input_tokens": 5, "output_tokens": 2},
    ),
    request(returned("2", {"b": 1}), returned("1")),
    response({"part_kind": "text", "content": "Done."}, usage={"request_tokens": 6, "response_tokens": 1}),
]


@pytest.mark.parametrize(
    "content", [RUN, Document(RUN), Document({"messages": RUN}), [RUN], Document([{"message_history": RUN}])]
)
def test_histories_in_their_containers(content: Any) -> None:
    read = Read(ID, content)
    assert read.shape == ["turn: go", "1+2 So.", ". Done."]
    assert [(c.arguments, c.result.output) for c in read.calls] == [({"a": 1}, "x"), ({"a": 2}, '{"b":1}')]
    assert (read.total.input_tokens, read.total.output_tokens) == (11, 3)
    assert not read.problems


@pytest.mark.parametrize(
    ("part", "status"),
    [
        (returned("1"), "ok"),
        (returned("1", outcome="success"), "ok"),
        (returned("1", outcome="failed"), "error"),
        (returned("1", outcome="denied"), "denied"),
        (returned("1", outcome="interrupted"), "cancelled"),
        (
            {
                "part_kind": "retry-prompt",
                "tool_name": "f",
                "tool_call_id": "1",
                "content": [{"type": "missing", "msg": "x"}],
            },
            "error",
        ),
    ],
)
def test_outcomes(part: Any, status: str) -> None:
    read = Read(ID, Document([request(prompt("go")), response(call("1")), request(part)]))
    result = read.calls[0].result
    assert result.status == status
    assert result.level == (None if status == "ok" else "flag")


def test_a_retry_without_a_tool_is_a_nudge() -> None:
    nudge = {"part_kind": "retry-prompt", "content": "Plain text is not allowed.", "tool_call_id": "p"}
    read = Read(
        ID,
        Document(
            [
                request(prompt("go")),
                response({"part_kind": "text", "content": "Hm."}),
                request(nudge),
                response(call("1")),
            ]
        ),
    )
    assert read.shape == ["turn: go", ". Hm.", "1?"]
    assert read.problems.counts == {"retry_prompt": 1}


def test_native_tools_of_the_response_and_a_compaction() -> None:
    native = [{**call("1"), "part_kind": "builtin-tool-call"}, {**returned("1"), "part_kind": "builtin-tool-return"}]
    read = Read(
        ID,
        Document(
            [request(prompt("go")), response(*native), response({"part_kind": "compaction", "content": "s"}, call("2"))]
        ),
    )
    assert read.shape == ["turn: go", "1", "-- compaction", "2?"]


def test_histories_are_sessions() -> None:
    rows = [{"conversation_id": "c", "messages": RUN[:1]}, {"messages": RUN[:1]}]
    for content in (rows, Document(rows)):
        assert [e.session for e in Read(ID, content).events] == ["c", "2"]


def test_unknown_kinds_are_told() -> None:
    read = Read(ID, [*RUN[:1], {"kind": "memo", "parts": []}, response({"part_kind": "hologram"})])
    assert read.problems.counts == {"unknown_record": 2}
    assert [p.line for p in read.problems.kept] == [2, 3]
