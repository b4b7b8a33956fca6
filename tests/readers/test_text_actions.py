"""The reader of chats with calls in the text, and of annotated multi-agent chats."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.formats.text_actions import READER
from tests import corpus
from tests.readers.kit import Document, Read, claimed

ID = "text-actions"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def say(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


LS = say("Look.\n<function=bash>\n<parameter=command>ls</parameter>\n</function>")


def test_the_next_user_message_is_the_result() -> None:
    system = {"role": "system", "content": "<function=example></function>"}
    read = Read(
        ID,
        Document([system, user("go"), LS, user("OBSERVATION:\na.py"), LS, user("b.py"), say("Done."), user("thanks")]),
    )
    assert read.shape == ["turn: go", "#1 Look.", "#2 Look.", ". Done.", "turn: thanks"]
    assert [c.result.output for c in read.calls] == ["a.py", "b.py"]
    assert not read.problems


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        ("EXECUTION RESULT of [bash]:\nx\n[Command finished with exit code 3]", 3),
        ("EXECUTION RESULT of [bash]:\nx\n[The command completed with exit code 0.]", 0),
        ("EXECUTION RESULT of [bash]:\n[Command finished with exit code 3] was printed", None),
    ],
)
def test_exit_codes_that_the_scaffold_wrote(text: str, exit_code: int | None) -> None:
    assert Read(ID, Document([user("go"), LS, user(text)])).calls[0].result.exit_code == exit_code


def test_two_calls_and_their_results_by_name() -> None:
    both = say("<function=a></function><function=b></function>")
    results = [user("EXECUTION RESULT of [b]:\n2"), user("EXECUTION RESULT of [a]:\n1")]
    assert [c.result.output for c in Read(ID, Document([user("go"), both, *results])).calls] == ["1", "2"]


def test_what_a_scaffold_says_to_a_response_without_a_call_is_no_turn() -> None:
    nudge = user("Please continue working on the task on whatever approach you think is suitable.")
    read = Read(ID, Document([user("go"), say("Hm."), nudge, LS]))
    assert read.total.turns == 1
    assert read.problems.counts == {"no_call": 1}


def test_code_for_a_person_is_no_call() -> None:
    chat = [
        user("write it"),
        say("Here:\n```python\nprint(1)\n```"),
        user("and in C?"),
        say("```c\nputs();\n```\nThat is all."),
    ]
    read = Read(ID, Document(chat))
    assert (read.total.turns, read.total.calls) == (2, 0)


def test_the_scaffold_of_ai_rows_takes_the_last_block_wherever_it_stands() -> None:
    texts = ["```\nls\n```\nThis lists it.", "```python\nopen x\n```", "no block"]
    rows = [{"role": "user", "text": "go"}]
    rows += [m for text in texts for m in ({"role": "ai", "text": text}, {"role": "user", "text": "ok"})]
    read = Read(ID, Document([{"trajectory": rows}]))
    assert [c.name for c in read.calls] == ["bash", "open"]


@pytest.mark.parametrize(
    ("text", "name"),
    [("<execute>\nprint(1)\n</execute>", "execute"), ("<execute_bash>ls</execute_bash>", "execute_bash")],
)
def test_code_as_actions_in_blocks_of_text(text: str, name: str) -> None:
    blocks = [{"type": "text", "text": text}]
    chat = [user("go"), {"role": "assistant", "content": blocks}, user("Observation:\n1")]
    assert claimed(ID, Document(chat))
    (call,) = Read(ID, Document(chat)).calls
    assert (call.name, call.result.output) == (name, "1")


def test_rows_are_sessions() -> None:
    rows = [
        {"instance_id": "i", "messages": [user("go"), LS]},
        {
            "trajectory": [{"role": "user", "text": "go"}, {"role": "ai", "text": "```\nls\n```"}],
            "exit_status": "early",
        },
    ]
    for content in (rows, Document(rows)):
        read = Read(ID, content)
        assert [e.session for e in read.events] == ["i", "i", "2", "2", "2"]
        assert read.shape[-1] == "-- end"


def test_annotated_chats_of_several_agents() -> None:
    history = [
        {"role": "human", "content": "find it"},
        {"role": "Orchestrator (thought)", "content": "plan"},
        {"role": "Orchestrator (-> Surfer)", "content": "search"},
        {"role": "Surfer", "content": "found"},
        {"role": "assistant", "content": "TERMINATE"},
    ]
    read = Read(ID, Document({"history": history, "mistake_agent": "Surfer", "question_ID": "q1"}))
    assert sorted(read.shape) == [
        ". TERMINATE",
        "Orchestrator| . plan",
        "Orchestrator| . search",
        "Surfer| . found",
        "turn: find it",
    ]
    assert {e.session for e in read.events} == {"q1"}


@pytest.mark.parametrize("row", [*corpus.params("adp-raw"), *corpus.params("who-and-when")])
def test_corpus_counts(row: dict[str, Any]) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
