"""The reader of Responses items."""

from __future__ import annotations

from typing import Any

import pytest

from tests.readers.kit import Document, Read

ID = "openai-responses"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def say(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def call(id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "id": f"fc{id}", "call_id": id, "name": "f", "arguments": arguments}


def out(id: str, output: Any = "x", kind: str = "function", **more: Any) -> dict[str, Any]:
    return {"type": f"{kind}_call_output", "call_id": id, "output": output, **more}


ITEMS = [
    user("go"),
    {"type": "reasoning", "summary": []},
    say("So."),
    call("1"),
    call("2"),
    out("2"),
    out("1"),
    call("3"),
    out("3"),
    say("Done."),
]
TOLD = ["turn: go", "1+2 So.", "3", ". Done."]


@pytest.mark.parametrize(
    "content", [ITEMS, Document(ITEMS), Document({"items": ITEMS}), [{"items": ITEMS, "session_id": "s"}]]
)
def test_items_in_their_containers(content: Any) -> None:
    read = Read(ID, content)
    assert read.shape == TOLD
    assert not read.problems


def response(id: str, *output: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "object": "response",
        "model": "m",
        "output": list(output),
        "usage": {"input_tokens": 5, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 1}},
        **more,
    }


def test_a_log_of_growing_requests_is_one_conversation() -> None:
    first, second = [call("1"), call("2")], [say("Done.")]
    inputs = [user("go"), *first, out("1"), out("2")]
    log = [
        {"request": {"input": inputs[:1]}, "response": response("r1", *first)},
        {"request": {"input": inputs}, "response": response("r2", *second)},
    ]
    read = Read(ID, log)
    assert read.shape == ["turn: go", "1+2", ". Done."]
    total = read.total
    assert (total.input_tokens, total.output_tokens, total.cache_read_tokens, total.models) == (10, 4, 2, {"m": 2})


def test_responses_that_name_the_one_before_go_on_and_others_begin_anew() -> None:
    log = [
        {"input": "go", **response("r1", call("1"))},
        {"input": [out("1")], **response("r2", say("Done."), previous_response_id="r1")},
        {"input": "else", **response("r3", say("Yes."))},
    ]
    read = Read(ID, log)
    assert read.shape == ["turn: go", "1", ". Done.", "turn: else", ". Yes."]
    assert len(read.totals) == 2


@pytest.mark.parametrize(
    ("item", "result", "expected"),
    [
        (
            {"type": "custom_tool_call", "call_id": "a", "name": "p", "input": "raw"},
            out("a", kind="custom_tool"),
            ("p", "raw", "ok", None),
        ),
        (
            {"type": "local_shell_call", "call_id": "a", "action": {"command": ["ls"]}},
            out("a", kind="local_shell"),
            ("local_shell", {"command": ["ls"]}, "ok", None),
        ),
        (
            {"type": "shell_call", "call_id": "a", "action": {"commands": ["x"]}},
            out("a", [{"stdout": "", "stderr": "e", "outcome": {"type": "exit", "exit_code": 4}}], "shell"),
            ("shell", {"commands": ["x"]}, "error", 4),
        ),
        (
            {"type": "shell_call", "call_id": "a", "action": {}},
            out("a", [{"stdout": "", "outcome": {"type": "timeout"}}], "shell"),
            ("shell", {}, "error", None),
        ),
        (
            {"type": "apply_patch_call", "call_id": "a", "operation": {"type": "create_file"}},
            out("a", "bad", "apply_patch", status="failed"),
            ("apply_patch", {"type": "create_file"}, "error", None),
        ),
        (call("a"), out("a", "Tool execution was not approved."), ("f", {}, "denied", None)),
        (call("a", "{broken"), out("a"), ("f", "{broken", "ok", None)),
        ({"type": "mcp_call", "id": "a", "name": "m", "arguments": "{}", "output": "y"}, None, ("m", {}, "ok", None)),
        (
            {"type": "mcp_call", "id": "a", "name": "m", "arguments": "{}", "output": None, "error": "no"},
            None,
            ("m", {}, "error", None),
        ),
        (
            {"type": "code_interpreter_call", "id": "a", "code": "1", "outputs": [{"type": "logs", "logs": "1"}]},
            None,
            ("code_interpreter", {"code": "1"}, "ok", None),
        ),
    ],
)
def test_kinds_of_calls(item: Any, result: Any, expected: tuple[Any, ...]) -> None:
    read = Read(ID, [user("go"), item, *([result] if result else [])])
    (found,) = read.calls
    assert (found.name, found.arguments, found.result.status, found.result.exit_code) == expected
    assert not read.problems


@pytest.mark.parametrize("depth", [2, 200])
def test_deep_wrappers_end(depth: int) -> None:
    value: Any = {"items": ITEMS}
    for _ in range(depth):
        value = {"request": value}
    read = Read(ID, [value])
    assert read.shape == (TOLD if depth == 2 else [])
    assert bool(read.problems) == (depth == 200)


def test_what_is_no_call_and_what_is_unknown() -> None:
    read = Read(
        ID,
        [user("go"), {"type": "web_search_call", "status": "completed"}, {"type": "brand_new"}, {"type": "compaction"}],
    )
    assert read.shape == ["turn: go", "-- compaction"]
    assert read.problems.counts == {"unknown_record": 1}
    assert read.problems.kept[0].line == 3
