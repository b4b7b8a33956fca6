"""The reader of the Vercel AI SDK's messages."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Turn
from tests.readers.kit import Document, Read

ID = "vercel-ui"


def user(text: str) -> dict[str, Any]:
    return {"id": "u", "role": "user", "parts": [{"type": "text", "text": text}]}


def tool(id: str, state: str = "output-available", **more: Any) -> dict[str, Any]:
    return {"type": "tool-f", "toolCallId": id, "state": state, "input": {"a": 1}, **more}


def assistant(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"id": "a", "role": "assistant", "parts": list(parts), **more}


STEP = {"type": "step-start"}
RUN = [
    user("go"),
    assistant(
        STEP,
        {"type": "text", "text": "So."},
        tool("1", output="x"),
        tool("2", output={"n": 1}),
        STEP,
        tool("3", output=[1]),
        STEP,
        {"type": "text", "text": "Done."},
    ),
]


@pytest.mark.parametrize("content", [RUN, Document(RUN), Document({"id": "c", "messages": RUN}), [{"messages": RUN}]])
def test_steps_are_batches(content: Any) -> None:
    read = Read(ID, content)
    assert read.shape == ["turn: go", "1+2 So.", "3", ". Done."]
    assert [c.result.output for c in read.calls] == ["x", '{"n":1}', "[1]"]
    assert not read.problems


@pytest.mark.parametrize(
    ("part", "status", "output"),
    [
        (tool("1", output="x"), "ok", "x"),
        (tool("1", output="x", preliminary=True), None, None),
        (tool("1", "output-error", errorText="boom"), "error", "boom"),
        (tool("1", "output-denied", approval={"approved": False, "reason": "no"}), "denied", "no"),
        (tool("1", "input-streaming"), None, None),
        (tool("1", "input-available"), None, None),
        (tool("1", "approval-requested"), None, None),
        ({**tool("1", output="x"), "type": "dynamic-tool", "toolName": "f"}, "ok", "x"),
        (
            {
                "type": "tool-invocation",
                "toolInvocation": {"state": "result", "toolCallId": "1", "toolName": "f", "args": {}, "result": "x"},
            },
            "ok",
            "x",
        ),
    ],
)
def test_states_of_a_tool_part(part: Any, status: str | None, output: str | None) -> None:
    read = Read(ID, [user("go"), assistant(STEP, part)])
    (call,) = read.calls
    assert call.name == "f"
    assert (call.result and call.result.status, call.result and call.result.output) == (status, output)
    assert not read.problems


def test_messages_of_version_4() -> None:
    def invocation(id: str, step: int, **more: Any) -> dict[str, Any]:
        return {"state": "result", "step": step, "toolCallId": id, "toolName": "f", "args": {}, "result": "x", **more}

    calls = [invocation("1", 0), invocation("2", 0), invocation("3", 1)]
    read = Read(
        ID,
        Document([{"role": "user", "content": "go"}, {"role": "assistant", "content": "", "toolInvocations": calls}]),
    )
    assert read.shape == ["turn: go", "1+2", "3"]


@pytest.mark.parametrize(
    ("result", "status", "output"),
    [
        ({"output": {"type": "text", "value": "x"}}, "ok", "x"),
        ({"output": {"type": "json", "value": {"a": 1}}}, "ok", '{"a":1}'),
        ({"output": {"type": "error-text", "value": "boom"}}, "error", "boom"),
        ({"output": {"type": "error-json", "value": {"e": 1}}}, "error", '{"e":1}'),
        ({"output": {"type": "execution-denied", "reason": "no"}}, "denied", "no"),
        ({"output": {"type": "content", "value": [{"type": "text", "text": "x"}]}}, "ok", "x"),
        ({"result": "x", "isError": True}, "error", "x"),
        ({"result": {"a": 1}}, "ok", '{"a":1}'),
    ],
)
def test_model_messages(result: Any, status: str, output: str) -> None:
    calls = [{"type": "text", "text": "So."}, {"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {}}]
    answer = [{"type": "tool-result", "toolCallId": "1", "toolName": "f", **result}]
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": calls},
        {"role": "tool", "content": answer},
    ]
    read = Read(ID, messages)
    (call,) = read.calls
    assert (call.result.status, call.result.output) == (status, output)
    assert len(read.events) == 2
    assert not read.problems


def test_tokens_times_and_files() -> None:
    message = assistant(
        STEP,
        tool("1", output="x"),
        metadata={"usage": {"inputTokens": 7, "outputTokens": 2}, "createdAt": "2026-01-01T00:00:00Z"},
    )
    picture = {
        "role": "user",
        "parts": [{"type": "file", "mediaType": "image/png", "url": "data:image/png;base64," + "A" * 9999}],
    }
    read = Read(ID, [picture, message])
    (first, *_) = read.events
    assert isinstance(first, Turn) and first.text == "[file image/png]"
    assert (read.total.input_tokens, read.total.output_tokens) == (7, 2)
    assert read.total.started is not None


def test_unknown_parts_and_roles_are_told() -> None:
    read = Read(ID, [user("go"), assistant({"type": "hologram"}), {"role": "oracle", "parts": []}])
    assert read.problems.counts == {"unknown_record": 2}
    assert read.problems.damaged == 0
