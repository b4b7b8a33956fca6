"""Cline's API history: calls in XML, results in user text, what a person said."""

from __future__ import annotations

import time
from typing import Any

import pytest

from loopaudit.readers.kit.cline import answers_in, xml_call
from tests.readers.claude_records import call, text
from tests.readers.kit import Document, Read, claimed

ID = "cline-api"
ENVIRONMENT = text("<environment_details>\n# Mode\nACT\n</environment_details>")


def user(*blocks: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks), **fields}


def model(*blocks: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), **fields}


def read(*messages: Any) -> Read:
    return Read(ID, Document(list(messages)))


LIST = text("Let me look.\n<list_files>\n<path>.</path>\n</list_files>")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("<read_file>\n<path>a.ts</path>\n</read_file>", ("read_file", {"path": "a.ts"})),
        ("<read_file><path>a</path></read_file><read_file><path>b</path></read_file>", ("read_file", {"path": "a"})),
        (
            "<attempt_completion>\n<result>\nx\n</result>\n</attempt_completion>",
            ("attempt_completion", {"result": "x"}),
        ),
        (
            "<write_to_file><path>a</path><content>\n<content>x</content>\n</content></write_to_file>",
            ("write_to_file", {"path": "a", "content": "<content>x</content>"}),
        ),
        ("<read_file>\n<path>a.t", None),
        ("<thinking>hm</thinking>", None),
        ("plain words", None),
    ],
    ids=["one", "two", "long", "nested", "cut", "no tool", "prose"],
)
def test_a_call_in_xml(words: str, found: Any) -> None:
    assert xml_call(words) == found


@pytest.mark.parametrize(
    "blocks",
    [
        [text("[list_files for '.'] Result:"), text("a.ts"), ENVIRONMENT],
        [text("[list_files for '.'] Result:\na.ts\n\n" + ENVIRONMENT["text"])],
        [text("[list_files] Result:\na.ts")],
        [text("[list_files for 'a]\nb'] Result:\na.ts")],
    ],
    ids=["blocks", "one text", "bare", "odd name"],
)
def test_a_result_in_user_text(blocks: list[Any]) -> None:
    found = read(user(text("<task>\ngo\n</task>"), ENVIRONMENT), model(LIST), user(*blocks))
    assert found.shape == ["turn: go", "#1 Let me look."]
    assert found.calls[0].result.output == "a.ts"
    assert not found.problems.counts


def test_native_calls_are_answered_by_text_by_name_and_by_blocks_by_id() -> None:
    found = read(
        model(call("a", "read_file"), call("b", "list_files"), call("c", "read_file")),
        user(
            text("[list_files for '.'] Result:\nx"),
            text("[read_file for 'p'] Result:\ny"),
            {"type": "tool_result", "tool_use_id": "c", "content": "z"},
        ),
    )
    assert [(c.id, c.result.output) for c in found.calls] == [("a", "y"), ("b", "x"), ("c", "z")]


def test_a_result_answers_no_older_call_than_the_newest_response() -> None:
    found = read(model(call("a", "read_file")), model(call("b", "list_files")), user(text("[list_files] Result:\nx")))
    assert found.shape == ["a?", "b"]
    found = read(model(LIST), user(text("[list_files] Result:\nx")), user(text("[list_files] Result:\ny")))
    assert found.total.orphan_results == 1


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        ("The tool execution failed with the following error:\n<error>\nno\n</error>", "error", None),
        ("The user denied this operation.", "denied", None),
        ('{"status":"denied","message":"no"}', "denied", None),
        ('{"status": "error", "error": "no"}', "error", None),
        ("Command executed in terminal. Exit code: 2\nOutput:\nno", "error", 2),
        ("Command executed.\nOutput:\nError: x", "ok", None),
        ("Skipping tool due to user rejecting a previous tool.", "cancelled", None),
    ],
)
def test_how_a_result_ended(words: str, status: str, code: int | None) -> None:
    (only,) = read(model(LIST), user(text(f"[list_files for '.'] Result:\n{words}"))).calls
    assert (only.result.status, only.result.exit_code) == (status, code)


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        ("<feedback>\nuse pnpm\n</feedback>", ["turn: use pnpm"]),
        ("<user_message>\nhello\n</user_message>", ["turn: hello"]),
        ("[ERROR] You did not use a tool in your previous response! Retry.", ["-- recorded_guard"]),
        ("[TASK RESUMPTION] This task was interrupted.", ["-- resume"]),
        ("hello", ["turn: hello"]),
        (ENVIRONMENT["text"], []),
    ],
    ids=["feedback", "message", "no tool", "resumed", "plain", "environment"],
)
def test_who_said_it(words: str, shape: list[str]) -> None:
    assert read(model(text("hm")), user(text(words), ENVIRONMENT)).shape == [". hm", *shape]


def test_an_answer_is_a_result_and_a_turn() -> None:
    asked = text("<ask_followup_question>\n<question>which?</question>\n</ask_followup_question>")
    told = text("[ask_followup_question for 'which?'] Result:\n<answer>\nthe red one\n</answer>")
    assert read(model(asked), user(told)).shape == ["#1", "turn: the red one"]


def test_a_file_that_holds_tags_is_no_turn() -> None:
    told = text("[list_files for '.'] Result:\nconst a = '<feedback>x</feedback>';")
    assert read(model(LIST), user(told)).shape == ["#1 Let me look."]


def test_joined_results() -> None:
    joined = (
        "[read_file for 'a'] Result:\nx\n[list_files for '.'] Result:\ny\n<environment_details>z</environment_details>"
    )
    found = answers_in(joined, ["read_file", "search_files", "list_files"])
    assert [a and a.output for a in found] == ["x", None, "y"]


@pytest.mark.parametrize(
    ("content", "is_claimed"),
    [
        ([user(text("<task>go</task>"), ENVIRONMENT)], True),
        ([user(text("go"), ts=1), model(text("hm"), ts=2)], True),
        ([{"role": "user", "content": "[list_files] Result:\nx"}], True),
        ([user(text("<task>go</task>")), model(call("a"))], False),
        ([user(text("go"), ts=1), model(tool_calls=[{"id": "a"}], ts=2)], False),
        ([{"ts": 1, "type": "say", "say": "text", "text": "x"}], False),
    ],
    ids=["task", "times", "old", "plain messages", "calls of the chat API", "shown messages"],
)
def test_claims(content: list[Any], is_claimed: bool) -> None:
    assert (claimed(ID, Document(content)) is not None) is is_claimed
    if is_claimed:
        assert claimed("openai-chat", Document(content)) is None
        assert claimed("anthropic-messages", Document(content)) is None


@pytest.mark.parametrize(
    "words",
    [
        "[list_files " * 60_000,
        "user \n<feedback>" * 60_000,
        "<answer>" * 100_000,
        "user " + " " * 300_000,
        "[ " * 200_000,
    ],
    ids=["headers", "tags", "answers", "spaces", "brackets"],
)
def test_hostile_text_takes_no_quadratic_time(words: str) -> None:
    began = time.perf_counter()
    read(model(LIST, text("<read_file>" * 50_000)), user(text(words), text(f"[list_files] Result:\n{words}")))
    answers_in(words, ["list_files"] * 20)
    assert time.perf_counter() - began < 5
