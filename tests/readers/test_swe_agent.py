"""The reader of SWE-agent trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopaudit.readers.formats.swe_agent import READER
from tests import corpus
from tests.readers.kit import Document, Read, reason_of

ID = "swe-agent"


def step(action: str, observation: str = "x", thought: str = "t") -> dict[str, Any]:
    return {"action": action, "observation": observation, "response": thought, "thought": thought, "state": "{}"}


def said(action: str, *calls: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    listed = [
        {"id": own, "type": "function", "function": {"name": name, "arguments": args}} for own, name, args in calls
    ]
    found = {"role": "assistant", "content": "t", "thought": "t", "action": action, "agent": "main", **more}
    return {**found, "tool_calls": listed} if calls else found


def person(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, "agent": "main", "message_type": "observation", **more}


def test_steps_are_batches_of_one_call_and_the_task_is_the_turn() -> None:
    history = [{"role": "system", "content": "s"}, person("demo", is_demo=True), person("fix it"), said("ls")]
    run = {"trajectory": [step("ls -F"), step("open a.py 3")], "history": history, "info": {"exit_status": "exit_cost"}}
    read = Read(ID, Document(run))
    assert read.shape == ["turn: fix it", "#1 t", "#2 t", "-- end"]
    assert [(c.name, c.arguments) for c in read.calls] == [
        ("bash", {"command": "ls -F"}),
        ("open", {"command": "open a.py 3"}),
    ]
    assert reason_of(read.events[-1]) == "exit_cost"
    assert not read.problems
    assert not read.total.success_known


def test_function_calls_of_the_history_name_the_steps_that_they_became() -> None:
    history = [
        person("go"),
        said("ls", ("c1", "bash", '{"command":"ls"}')),
        said("open b.py", ("c2", "open", '{"path":"b.py"}')),
    ]
    run = {"trajectory": [step("ls\n"), step("edit 1:1"), step("open b.py")], "history": history}
    assert [(c.id, c.name) for c in Read(ID, Document(run)).calls] == [("c1", "bash"), ("#2", "edit"), ("c2", "open")]


def test_a_step_without_an_action_is_a_response_without_a_command() -> None:
    read = Read(ID, Document({"trajectory": [step(" ", "", "hm"), step("submit")], "history": [person("go")]}))
    assert read.shape == ["turn: go", ". hm", "#1 t"]
    assert read.problems.counts == {"no_action": 1}
    assert read.problems.damaged == 0


def test_a_file_with_a_history_only_is_read_from_it() -> None:
    history = [
        person("go"),
        said("ls", ("c1", "bash", '{"command":"ls"}')),
        {"role": "tool", "content": "a.py", "agent": "main", "message_type": "observation", "tool_call_ids": ["c1"]},
        said("cat a.py"),
        person("text"),
        said(""),
        person("Your output was not formatted correctly."),
        said("submit"),
    ]
    read = Read(ID, Document({"history": history}))
    assert read.shape == ["turn: go", "c1 t", "#2 t", ". t", "#3? t"]
    assert [c.result and c.result.output for c in read.calls] == ["a.py", "text", None]


BOTH = ("c1", "bash", '{"command":"a"}'), ("c2", "bash", '{"command":"b"}')


@pytest.mark.parametrize(
    ("steps", "outputs"),
    [
        ([(BOTH, "1"), ((), "2"), (BOTH, "3")], {"c1": "1", "c2": None, "#3": "2", "#4": "3", "#5": None}),
        ([((), None), (BOTH[:1], "2"), ((), "3")], {"#1": None, "c1": "2", "#3": "3"}),
        ([(BOTH, None), ((), None), ((), "3")], {"c1": None, "c2": None, "#3": None, "#4": "3"}),
    ],
)
def test_what_a_step_shows_answers_the_newest_calls(
    steps: list[tuple[Any, str | None]], outputs: dict[str, str | None]
) -> None:
    history = [person("go"), *(said(f"a{place}", *calls) for place, (calls, _) in enumerate(steps))]
    taken = [step(f"a{place}", shown or "") for place, (_, shown) in enumerate(steps)]
    for one, (_, shown) in zip(taken, steps, strict=True):
        if shown is None:
            del one["observation"]
    read = Read(ID, Document({"trajectory": taken, "history": history}))
    assert {call.id: call.result and call.result.output for call in read.calls} == outputs


def test_one_run_a_line_gives_sessions() -> None:
    runs = [{"trajectory": [step("ls")], "instance_id": "a"}, {"trajectory": [step("ls")], "instance_id": "a"}]
    assert [e.session for e in Read(ID, runs).events] == ["a", "a~2"]


DIFFERENCES = {
    # The manifest counts steps only; this file has none, and its history holds five calls and their results.
    "history-only.traj": {"batches": (0, 5), "calls": (0, 5), "results": (0, 5), "max_parallel": (0, 1)},
}


@pytest.mark.parametrize("row", corpus.params("swe-agent"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(READER, corpus.path_of(row))
    assert corpus.differences(row, counts) == DIFFERENCES.get(Path(row["file"]).name, {})
