"""The reader of mini-swe-agent trajectories."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Boundary
from loopaudit.readers.formats.mini_swe_agent import READER
from tests import corpus
from tests.readers.kit import Document, Read, reason_of

ID = "mini-swe-agent"
TASK = [{"role": "system", "content": "s"}, {"role": "user", "content": "fix it"}]


def act(command: str, language: str = "bash", prose: str = "THOUGHT: so") -> dict[str, Any]:
    return {"role": "assistant", "content": f"{prose}\n```{language}\n{command}\n```"}


def out(code: int, text: str = "x") -> dict[str, Any]:
    return {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n{text}\n</output>"}


def tool_call(*commands: str) -> dict[str, Any]:
    calls = [
        {"id": f"c{c}", "type": "function", "function": {"name": "bash", "arguments": f'{{"command": "{c}"}}'}}
        for c in commands
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, "extra": {"timestamp": 1770400000.5}}


def test_version_1() -> None:
    run = [
        *TASK,
        act("ls"),
        out(0),
        act("false", "mswea_bash_command"),
        out(2),
        act("submit"),
        {"role": "user", "content": ""},
    ]
    read = Read(ID, Document(run))
    assert read.shape == ["turn: fix it", "#1 THOUGHT: so", "#2! THOUGHT: so", "#3 THOUGHT: so"]
    assert [(c.name, c.arguments, c.result.exit_code) for c in read.calls] == [
        ("bash", {"command": "ls"}, 0),
        ("bash", {"command": "false"}, 2),
        ("bash", {"command": "submit"}, None),
    ]
    assert read.calls[1].result.level == "exit_code"
    assert not read.problems


@pytest.mark.parametrize("content", ["no block", "```bash\na\n```\n```bash\nb\n```"])
def test_a_response_that_runs_nothing_and_the_advice_that_follows(content: str) -> None:
    advice = {"role": "user", "content": "Please always provide EXACTLY ONE action."}
    read = Read(ID, Document([*TASK, {"role": "assistant", "content": content}, advice, act("ls"), out(0)]))
    assert read.total.turns == 1
    assert read.total.calls == 1
    assert read.problems.counts == {"no_action": 1}


def test_version_2_pairs_by_id_and_ends_with_exit() -> None:
    extra = {"returncode": 0, "raw_output": "x", "timestamp": 1770400001.0, "exception_info": ""}
    results = [{"role": "tool", "tool_call_id": i, "content": "x", "extra": extra} for i in ("cb", "ca")]
    end = {"role": "exit", "content": "diff", "extra": {"exit_status": "LimitsExceeded"}}
    run = {
        "messages": [*TASK, tool_call("a", "b"), *results, tool_call("z"), end],
        "info": {"exit_status": "LimitsExceeded"},
    }
    read = Read(ID, Document(run))
    assert read.shape == ["turn: fix it", "ca+cb", "cz?", "-- end"]
    assert reason_of(read.events[-1]) == "LimitsExceeded"
    assert read.total.started == 1770400000.5


def test_actions_beside_a_text_are_its_calls() -> None:
    message = {**act("shown"), "extra": {"actions": [{"command": "one"}, {"command": "two"}]}}
    results = [{**out(0), "extra": {"returncode": 0}}, {**out(1), "extra": {"returncode": 1}}]
    read = Read(ID, Document({"messages": [*TASK, message, *results], "trajectory_format": "mini-swe-agent-1.1"}))
    assert [c.arguments["command"] for c in read.calls] == ["one", "two"]
    assert [c.result.exit_code for c in read.calls] == [0, 1]


@pytest.mark.parametrize(
    ("message", "status", "level", "more"),
    [
        (
            {"content": "Command not executed. The user rejected your command with the following message: no"},
            "denied",
            "flag",
            [],
        ),
        ({"content": "no!", "extra": {"interrupt_type": "UserRejection"}}, "denied", "flag", []),
        ({"content": "Interrupted by user: look at b.py"}, "cancelled", "flag", ["-- interrupt", "turn: look at b.py"]),
        ({"content": "Interrupted by user: Temporary interruption caught."}, "cancelled", "flag", ["-- interrupt"]),
        ({"content": "The last command <command>ls</command> timed out and has been killed."}, "error", "flag", []),
        (
            {"content": "<returncode>-1</returncode>", "extra": {"exception_info": "TimeoutExpired"}},
            "error",
            "flag",
            [],
        ),
    ],
)
def test_calls_that_were_refused_interrupted_or_timed_out(
    message: Any, status: str, level: str, more: list[str]
) -> None:
    read = Read(ID, Document([*TASK, act("ls"), {"role": "user", **message}]))
    (call,) = read.calls
    assert call.result.status == status
    assert call.result.level == level
    assert read.shape == ["turn: fix it", "#1! THOUGHT: so", *more]


def test_a_new_task_is_a_turn() -> None:
    read = Read(
        ID,
        Document(
            [*TASK, act("submit"), {"role": "user", "content": "The user added a new task: more"}, act("ls"), out(0)]
        ),
    )
    assert read.shape == ["turn: fix it", "#1? THOUGHT: so", "turn: more", "#2 THOUGHT: so"]


def test_tokens_and_model_of_a_response() -> None:
    response = {
        "model": "m",
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
    }
    read = Read(
        ID,
        Document({"messages": [*TASK, {**act("ls"), "extra": {"response": response}}], "info": {"mini_version": "1"}}),
    )
    total = read.total
    assert (total.input_tokens, total.output_tokens, total.cache_read_tokens, total.models) == (9, 2, 4, {"m": 1})


def test_runs_of_a_list_and_lines_of_messages() -> None:
    run = {"messages": [*TASK, act("ls"), out(0)], "trajectory_format": "mini-swe-agent-1", "instance_id": "i"}
    assert sorted({e.session for e in Read(ID, Document([run, run])).events}) == ["i", "i~2"]
    assert Read(ID, run["messages"]).shape == ["turn: fix it", "#1 THOUGHT: so"]


@pytest.mark.parametrize("row", corpus.params("mini-swe-agent"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
    ends = [e for e in corpus.read_events(READER, corpus.path_of(row))[0] if isinstance(e, Boundary)]
    assert len(ends) == ("exit_status_Submitted" in row["notes"])
