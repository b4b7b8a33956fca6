"""Trajectories and message stores in all their containers are claimed by one reader alone, the right one."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from loopaudit.readers.recognise import claims
from loopaudit.readers.source import Source

Q = {"role": "user", "content": "q"}
CALL = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
OUT = {"type": "function_call_output", "call_id": "a", "output": "z"}
RESPONSE = {"id": "r", "object": "response", "output": [CALL]}
MINI = [
    Q,
    {"role": "assistant", "content": "t\n```bash\nls\n```"},
    {"role": "user", "content": "<returncode>0</returncode>"},
]
XML = [
    Q,
    {"role": "assistant", "content": "<function=ls>\n</function>"},
    {"role": "user", "content": "OBSERVATION:\nx"},
]
AI = [{"role": "user", "text": "q"}, {"role": "ai", "text": "t\n```\nls\n```"}, {"role": "user", "text": "x"}]
HERMES = [
    Q,
    {"role": "assistant", "content": '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'},
    {"role": "tool", "content": "<tool_response>1</tool_response>"},
]
SHARE = [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]
V4 = {"toolCallId": "a", "toolName": "f", "args": {}, "state": "call"}
UI = [{"role": "user", "parts": [{"type": "text", "text": "q"}]}]
UI4 = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "toolInvocations": [V4]}]
MODEL = [
    Q,
    {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "f", "input": {}}]},
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "a", "toolName": "f", "output": {"type": "text"}}],
    },
]
PYDANTIC = [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "q"}]}]
SPAN = {"object": "trace.span", "id": "s", "trace_id": "t", "span_data": {"type": "function", "name": "f"}}
SIMULATION = {
    "id": "s",
    "task_id": "1",
    "trial": 0,
    "messages": [
        {"role": "user", "content": "q", "turn_idx": 0},
        {"role": "assistant", "tool_calls": [{"id": "a", "name": "f", "arguments": {}}], "turn_idx": 1},
        {"role": "tool", "id": "a", "content": "x", "turn_idx": 2},
    ],
}
STEP = {"action": "ls", "observation": "x", "response": "r", "thought": "t", "state": "{}"}
ATIF = {"schema_version": "ATIF-v1.0", "agent": {}, "steps": []}
FAULT = {"history": [{"role": "human", "content": "q"}], "mistake_agent": "A", "mistake_step": "0"}
LOG = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": []}

WRAPPED: dict[str, list[Any]] = {
    "atif": [ATIF],
    "inspect-ai": [LOG],
    "mini-swe-agent": [MINI, {"messages": MINI}, {"messages": XML, "trajectory_format": "mini-swe-agent-2"}],
    "openai-agents": [
        [SPAN],
        {"data": [SPAN]},
        {"$schemaVersion": "1.0", "original_input": "q", "generated_items": []},
    ],
    "openai-responses": [[Q, CALL, OUT], {"items": [Q, CALL]}, RESPONSE, {"input": "q", "output": [CALL]}],
    "pydantic-ai": [PYDANTIC, {"messages": PYDANTIC}, [{"message_history": PYDANTIC}]],
    "sharegpt": [SHARE, {"conversations": SHARE}, [{"conversations": SHARE}], HERMES, {"messages": HERMES}],
    "swe-agent": [{"trajectory": [STEP]}, {"history": [{**Q, "agent": "main", "message_type": "observation"}]}],
    "tau2-bench": [
        SIMULATION,
        [SIMULATION],
        {"simulations": [SIMULATION]},
        {"info": {}, "tasks": [], "simulations": [SIMULATION]},
    ],
    "text-actions": [XML, {"messages": XML}, [{"trajectory": AI}], AI, FAULT, [FAULT]],
    "vercel-ui": [UI, {"id": "c", "messages": UI}, [{"messages": UI}], UI4, MODEL],
}
LINES: dict[str, list[list[Any]]] = {
    "mini-swe-agent": [MINI, [{"messages": MINI}]],
    "openai-agents": [[{"object": "trace", "id": "t", "workflow_name": "w"}, SPAN]],
    "openai-responses": [[Q, CALL, OUT], [RESPONSE], [{"request": {"input": [Q]}, "response": RESPONSE}]],
    "pydantic-ai": [PYDANTIC, [PYDANTIC]],
    "sharegpt": [SHARE, [{"conversations": SHARE}], [{"messages": HERMES}]],
    "swe-agent": [[{"trajectory": [STEP]}, {"trajectory": [STEP]}]],
    "tau2-bench": [[SIMULATION, SIMULATION]],
    "text-actions": [XML, [{"messages": XML}], [{"trajectory": AI}]],
    "vercel-ui": [UI, UI4, MODEL, [{"messages": UI}]],
}


def claimed_by(data: bytes) -> list[str]:
    with Source(None, stream=io.BytesIO(data)) as source:
        return [reader.id for reader, _ in claims(source.probe())]


@pytest.mark.parametrize("indent", [None, 1], ids=["one line", "indented"])
@pytest.mark.parametrize(("id", "value"), [(name, value) for name, values in WRAPPED.items() for value in values])
def test_a_document_is_claimed_by_its_reader_alone(id: str, value: Any, indent: int | None) -> None:
    assert claimed_by(json.dumps(value, indent=indent).encode()) == [id]


@pytest.mark.parametrize(("id", "records"), [(name, records) for name, every in LINES.items() for records in every])
def test_lines_are_claimed_by_their_reader_alone(id: str, records: list[Any]) -> None:
    assert claimed_by(b"\n".join(json.dumps(record).encode() for record in records)) == [id]


STRANGE: tuple[Any, ...] = (
    None,
    7,
    "zzz",
    [],
    {},
    [[1]],
    {"role": []},
    {"type": []},
    {"type": {}},
    {"parts": [{"type": []}]},
)


@pytest.mark.parametrize("value", STRANGE, ids=str)
def test_no_sniffer_stumbles_over_odd_values(value: Any) -> None:
    names = ("messages", "history", "trajectory", "conversations", "items", "input", "output", "simulations", "data")
    for content in (
        value,
        [value],
        [Q, value],
        *({name: value} for name in names),
        *({name: [value]} for name in names),
    ):
        claimed_by(json.dumps(content).encode())
        claimed_by(json.dumps(content, indent=1).encode())
