"""Kimi Code's wire log: steps, prompts, refusals, sub-agents, and the shared corpus."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.registry import readers
from tests import corpus
from tests.readers.claude_records import text
from tests.readers.kit import Read, claimed

ID = "kimi-wire"
HEAD = {"type": "metadata", "protocol_version": "1.4", "created_at": 1785612803281}


def record(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields, "time": 1785612803281}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return record("context.append_loop_event", event={"type": kind, **fields})


def call(id: str, step: str = "s") -> dict[str, Any]:
    return event("tool.call", toolCallId=id, name="Bash", args={"command": id}, stepUuid=step)


def result(id: str, output: Any = "x", **fields: Any) -> dict[str, Any]:
    return event("tool.result", toolCallId=id, result={"output": output, **fields})


def prompt(words: str, origin: str = "user", **fields: Any) -> dict[str, Any]:
    return record("turn.prompt", input=[text(words)], origin={"kind": origin, **fields})


def test_a_step_is_a_batch_and_its_tokens_count() -> None:
    part = event("content.part", stepUuid="s", part={"type": "text", "text": "hm"})
    end = event("step.end", uuid="s", usage={"inputOther": 3, "output": 4, "inputCacheRead": 5})
    found = Read(ID, [HEAD, prompt("go"), part, call("a"), call("b"), result("b"), result("a"), end, call("c", "t")])
    assert found.shape == ["turn: go", "a+b hm", "c?"]
    assert (found.total.input_tokens, found.total.output_tokens, found.total.cache_read_tokens) == (3, 4, 5)
    assert found.total.cache_write_tokens is None


def test_the_same_prompt_twice_is_two_turns() -> None:
    assert Read(ID, [HEAD, prompt("hi"), prompt("hi")]).total.turns == 2


def test_a_sub_agents_file_has_no_turns_of_the_main_agent() -> None:
    found = Read(ID, [HEAD, prompt("find", "system_trigger", name="subagent"), call("a"), result("a")])
    assert found.shape == ["subagent| turn: find", "subagent| a"]
    assert (found.total.turns, found.total.sidechain_calls) == (0, 1)


def test_a_trigger_in_the_main_agents_file_is_no_turn() -> None:
    found = Read(ID, [HEAD, prompt("go"), prompt("wake up", "system_trigger", name="cron")])
    assert found.shape == ["turn: go"]


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({}, "ok", None),
        ({"isError": False}, "ok", None),
        ({"isError": True}, "error", None),
        ({"output": "no\nCommand failed with exit code: 3.", "isError": True}, "error", 3),
        ({"output": "the log says: exit code: 3"}, "ok", None),
    ],
)
def test_how_a_result_ended(fields: dict[str, Any], status: str, code: int | None) -> None:
    told = event("tool.result", toolCallId="a", result={"output": "x", **fields})
    (only,) = Read(ID, [HEAD, call("a"), told]).calls
    assert (only.result.status, only.result.exit_code) == (status, code)


def test_a_call_that_was_not_approved() -> None:
    no = record("permission.record_approval_result", toolCallId="a", result={"decision": "rejected"})
    (only,) = Read(ID, [HEAD, call("a"), no, result("a", isError=True)]).calls
    assert only.result.status == "denied"


def test_boundaries_schemas_and_unknown_records() -> None:
    tools = [{"name": "Bash", "parameters": {"type": "object"}}]
    records = [
        record("llm.tools_snapshot", tools=tools),
        record("context.apply_compaction", summary="x"),
        record("context.clear"),
        record("turn.cancel"),
        record("garden.opened"),
        event("garden.closed"),
    ]
    found = Read(ID, [HEAD, *records])
    assert found.shape == ["-- compaction", "-- clear", "-- interrupt"]
    assert list(found.total.schemas) == ["Bash"]
    assert [(p.kind, p.line, p.damage) for p in found.problems.kept] == [
        ("unknown_record", 6, False),
        ("unknown_record", 7, False),
    ]


def test_claims() -> None:
    assert claimed(ID, [HEAD])
    assert claimed(ID, [call("a")])
    assert claimed(ID, [{"type": "metadata"}]) is None


@pytest.mark.parametrize("row", corpus.params(ID))
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(readers().get(ID), corpus.path_of(row))
    assert corpus.differences(row, counts) == {}
