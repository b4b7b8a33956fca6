"""The reader of tau2-bench results."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.formats.tau2_bench import READER
from tests import corpus
from tests.readers.kit import Document, Read

ID = "tau2-bench"


def say(role: str, content: Any = None, *ids: str, **more: Any) -> dict[str, Any]:
    calls = [{"id": own, "name": "f", "arguments": {"a": own}, "requestor": role} for own in ids]
    return {"role": role, "content": content, "tool_calls": calls or None, "turn_idx": 0, **more}


def result(id: str, content: str = "x", *, error: bool = False, requestor: str = "assistant") -> dict[str, Any]:
    return {"role": "tool", "id": id, "content": content, "error": error, "requestor": requestor}


def simulation(*messages: Any, trial: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": "u", "task_id": "t", "trial": trial, "messages": list(messages), **more}


def test_turns_batches_and_the_calls_of_the_simulated_user() -> None:
    run = simulation(
        say("assistant", "Hello"),
        say("user", "hi"),
        say("assistant", None, "1", "2", usage={"prompt_tokens": 9, "completion_tokens": 1}),
        {"role": "tool", "tool_messages": [result("1"), result("2", "Error: no", error=True)]},
        say("user", None, "3", usage={"prompt_tokens": 5, "completion_tokens": 1}),
        result("3", requestor="user"),
        termination_reason="max_steps",
    )
    read = Read(ID, Document({"info": {"agent_info": {"llm": "m"}}, "tasks": [], "simulations": [run]}))
    assert read.shape == [". Hello", "turn: hi", "1+2!", "-- end", "user| 3"]
    assert {e.session for e in read.events} == {"t-trial-0"}
    total = read.total
    assert (total.turns, total.sidechain_calls, total.input_tokens) == (1, 1, 9)
    assert total.models == {"m": 2}
    assert not read.problems


def test_simulations_are_sessions_in_any_container() -> None:
    runs = [simulation(say("user", "go"), trial=n) for n in (0, 1, 1)]
    for content in (runs, Document(runs), Document({"simulations": runs})):
        assert [e.session for e in Read(ID, content).events] == ["t-trial-0", "t-trial-1", "t-trial-1~2"]


def test_ids_used_again_are_calls_of_their_own() -> None:
    run = simulation(say("user", "go"), *[m for n in "ab" for m in (say("assistant", None, "c"), result("c", n))])
    assert [c.result.output for c in Read(ID, Document([run])).calls] == ["a", "b"]


def test_a_voice_run_is_told() -> None:
    read = Read(ID, Document({"simulations": [{"task_id": "t", "ticks": [], "messages": []}]}))
    assert read.problems.counts == {"unknown_record": 1}
    assert not read.events


@pytest.mark.parametrize("row", corpus.params("tau2-bench"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
