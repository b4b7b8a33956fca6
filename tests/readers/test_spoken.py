"""Responses that speak of actions: told where no call was read, and never where prose is only prose."""

from __future__ import annotations

import pytest

from loopaudit.core.counts import UNREAD_CALLS
from loopaudit.readers.spoken import LOOKED_AT, answers_action, spoken
from tests.readers.kit import Document, Read

STRONG = [
    "Thought: look at the rows.\nAction: query\nAction Input: SELECT 1",
    "THOUGHT: none\nThought 3: search it\nAction 3: Search[red panda]",
    "Action: get_relations(Barack Obama)",
    "I will look.\n<function=grep>\n<parameter=pattern>x</parameter>\n</function>",
    "<execute>print(1)</execute>",
    "<execute_ipython>1 + 1</execute_ipython>",
    "<tool_call>\n{}\n</tool_call>",
    '```json\n{"name": "lookup", "arguments": {"id": 7}}\n```',
    "{'tool': 'lookup', 'args': {'id': 7}}",
    '```\n{\n  "action": "Search",\n  "action_input": "red panda"\n}\n```',
    '{"analysis": "a", "plan": "b", "commands": [{"keystrokes": "ls\\n", "duration": 0.1}]}',
    "**Thought:** see\n\n**Action:** click the button",
    "x" * (3 * LOOKED_AT) + "\nAction Input: {}",
]

WEAK = [
    "Action: call the office back tomorrow.",
    "Here is the command.\n\n```bash\nnpm install\n```",
    "```\nls -la\n```\n",
    "> Command: ls",
]

PROSE = [
    "",
    "The action of the acid is slow. My first thought: do nothing.",
    "Take action: it is late.",
    "```python\nprint(1)\n```",
    "Run `npm install`:\n\n```bash\nnpm install\n```\n\nThen open the page.",
    'Its manifest is {"name": "left-pad", "version": "1.0.0"}.',
    "a < b and function(x) = 3, so execute(plan) later",
    "Interaction: none. Reaction Input: none",
]


@pytest.mark.parametrize("text", STRONG)
def test_a_call_in_prose_is_plain(text: str) -> None:
    assert spoken(text) == "strong"


@pytest.mark.parametrize("text", WEAK)
def test_what_prose_has_too_is_weak(text: str) -> None:
    assert spoken(text) == "weak"


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_prose(text: str) -> None:
    assert spoken(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "exitcode: 1 (execution failed)\nCode output: Traceback",
        "exitcode: 0 (execution succeeded)\nCode output: 5",
        "\nObservation: no rows",
        "OBSERVATION 3: no rows",
        "EXECUTION RESULT of [run]:\nok",
        "<tool_response>\n{}\n</tool_response>",
        "[Tool result] ok",
        "Command output:\nls",
        "<returncode>0</returncode>",
    ],
)
def test_the_result_of_an_action(text: str) -> None:
    assert answers_action(text)


@pytest.mark.parametrize(
    "text",
    ["", "Observations: none so far.", "What is an exit code: 1 or 2?", "The tool result: ok", "exit code 1 is bad"],
)
def test_a_person_who_speaks_of_results(text: str) -> None:
    assert not answers_action(text)


def chat(*responses: object) -> Document:
    messages: list[object] = []
    for number, response in enumerate(responses):
        messages += [{"role": "user", "content": f"Question {number}."}, {"role": "assistant", "content": response}]
    return Document(messages)


ASKS = '{"name": "lookup", "arguments": {"id": 7}}'


def test_a_conversation_without_calls_says_what_it_speaks_of() -> None:
    read = Read("openai-chat", chat("Hello.", f"I call {ASKS}", "Action: wait"))
    assert read.total.unread_calls == 2
    assert [(p.kind, p.message, p.damage) for p in read.problems.kept] == [
        (UNREAD_CALLS, "2 of 3 responses speak of actions, but no call was read", False)
    ]


@pytest.mark.parametrize(
    "responses", [["Hello."], ["Action: call them back."], ["Run it:\n```bash\nls\n```", "You are welcome."]]
)
def test_a_healthy_chat_says_nothing(responses: list[str]) -> None:
    read = Read("openai-chat", chat(*responses))
    assert not read.total.unread_calls
    assert not read.problems


@pytest.mark.parametrize("before", [0, 31, 32, 100])
def test_responses_are_counted_wherever_they_stand(before: int) -> None:
    said = [*["Hello."] * before, ASKS, "Hello.", ASKS]
    read = Read("openai-chat", chat(*said).value)
    assert read.total.unread_calls == 2
    assert [p.line for p in read.problems.kept] == [2 * before + 2]


def test_one_call_that_was_read_is_enough() -> None:
    called = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "lookup", "arguments": "{}"}}]}
    document = chat(ASKS, ASKS)
    document.value.insert(2, called)
    read = Read("openai-chat", document)
    assert (read.total.calls, read.total.unread_calls) == (1, 0)
    assert UNREAD_CALLS not in read.problems.counts


def test_results_of_actions_without_calls_are_no_clean_bill() -> None:
    """Code that a group of speakers runs: no speaker but the first is the agent, and no call has a shape."""
    messages = [
        {"role": "assistant", "name": "Coder", "content": "Try this:\n```python\nprint(1)\n```"},
        {"role": "user", "name": "Terminal", "content": "exitcode: 0 (execution succeeded)\nCode output: 1"},
        {"role": "user", "name": "Checker", "content": "Once more:\n```python\nprint(1)\n```"},
        {"role": "user", "name": "Terminal", "content": "exitcode: 0 (execution succeeded)\nCode output: 1"},
    ]
    read = Read("openai-chat", Document(messages))
    assert read.total.calls == 0 and read.total.unread_calls == 1
    assert read.problems.counts[UNREAD_CALLS] == 1


def test_each_conversation_of_a_file_is_asked_alone() -> None:
    rows = [{"id": "a", "messages": chat(ASKS).value}, {"id": "b", "messages": chat("Hello.").value}]
    read = Read("openai-chat", Document(rows))
    assert [total.unread_calls for total in read.totals] == [1, 0]


def test_hostile_repetition_takes_no_long_time() -> None:
    for piece in ("Thought: a\n", "Action\n", "```\n", '{"name": "a", ', "> > > *", "\n\n```\n "):
        spoken(piece * 100_000)
