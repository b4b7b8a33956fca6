"""What the readers of traces do only once, or in a shorter way, gives what the long way gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.traces import facts
from loopaudit.readers.kit.traces.facts import grouped, numbered
from loopaudit.readers.kit.traces.histories import NUMBERED, Histories
from loopaudit.readers.kit.traces.messages import messages_of
from loopaudit.readers.kit.traces.spans import ABSENT

ODD: list[Any] = [
    None,
    "text",
    7,
    [],
    {},
    {"type": "text", "text": "a part"},
    {"message": {"role": "user", "content": "inside"}},
    {"role": "nobody"},
    {"role": "user", "kwargs": {}, "content": "x"},
    {"role": "user", "content": "\ud83d"},
    {"role": "tool", "content": 1 << 70},
    '{"role": "user", "content": "text"}',
]
odd = st.sampled_from(ODD)


def fresh(attributes: dict[str, Any]) -> dict[str, Any]:
    """The same as decoded: no two of the values are one object."""
    found: dict[str, Any] = json.loads(json.dumps(attributes))
    return found


usual = st.one_of(
    st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant"]), st.text()),
    st.builds(lambda text: {"role": "user", "parts": [{"type": "text", "content": text}]}, st.text()),
    st.builds(lambda own: {"role": "tool", "tool_call_id": own, "content": "ok"}, st.sampled_from("abc")),
)
entries = st.lists(st.one_of(usual, usual, usual, odd), max_size=4)
ends = st.sampled_from(["", "", "", " ", "\n", ",", "]", "x", "[]"])


@given(st.lists(st.tuples(st.integers(0, 2), entries, ends), max_size=8))
@example([(0, [{"role": "user", "content": "a"}], ""), (0, [], ",")])
@example([(0, [{"role": "user", "content": "a"}], "x"), (0, [{"role": "user", "content": "b"}], "")])
def test_a_text_that_goes_on_is_read_as_if_it_were_new(steps: list[tuple[int, list[Any], str]]) -> None:
    """Several conversations grow in turns; some texts are no JSON, or hold what is no message."""
    histories = Histories()
    grown: list[list[Any]] = [[], [], []]
    for which, added, end in steps:
        grown[which] = grown[which] + added
        text = json.dumps(grown[which]) + end
        for given_text in (text, text[:-1], text.replace(", ", ","), text.replace("]", ",]")):
            decoded = from_text(given_text)
            expected = messages_of(decoded, "user") if isinstance(decoded, list) else None
            assert repr(histories.of_list(given_text)) == repr(expected)


@pytest.mark.parametrize("value", ["-0", "1e999", "18446744073709551617", "NaN", '"a\x01b"', "[" * 1100 + "]" * 1100])
def test_what_needs_tolerance_is_read_with_it_wherever_it_stands(value: str) -> None:
    histories = Histories()
    plain, strange = '{"role": "user", "content": "a"}', f'{{"role": "tool", "content": {value}}}'
    for text in (f"[{plain}]", f"[{plain},{strange}]", f"[{plain},{strange},{plain}]", f"[{plain},{plain}]"):
        decoded = from_text(text)
        expected = messages_of(decoded, "user") if isinstance(decoded, list) else None
        assert repr(histories.of_list(text)) == repr(expected)


def test_what_stood_in_an_earlier_text_is_not_made_again() -> None:
    histories = Histories()
    first, second = {"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}
    before = histories.of_list(json.dumps([first]))
    after = histories.of_list(json.dumps([first, second]))
    assert before is not None
    assert after is not None
    assert after[0] is before[0]
    assert [message.speaker for message in after] == ["user", "assistant"]


steps = st.sampled_from(["0", "1", "2", "10", "message", "role", "content", "", "01", "x"])
names = st.lists(steps, min_size=1, max_size=20).map(lambda path: ".".join(["llm.tools", *path]))
values = st.sampled_from(["text", 1, None, {}, {"0": "in an object"}, {"a": {"0": 1}}, [1], "[]"])


@given(st.dictionaries(st.one_of(names, st.just("llm.tools"), st.just("llm.toolset.0")), values, max_size=8))
@example({"llm.tools.0.role": 1, "llm.tools.0": 2, "llm.tools.0.content": 3})
@example({"llm.tools.0": {"role": 1}, "llm.tools.0.content": 3})
@example({"llm.tools." + "0." * 18 + "a": 1, "llm.tools." + "0." * 17 + "b": 2})
def test_numbered_attributes_make_the_same_tree_in_either_way(attributes: dict[str, Any]) -> None:
    whole = from_text(attributes.get("llm.tools"))
    found = any(name.startswith("llm.tools.") for name in attributes)
    expected = whole if isinstance(whole, list) else general_tree(fresh(attributes)) if found else ABSENT
    for _ in range(2):  # the second time the places of the names are known
        copied = fresh(attributes)
        assert repr(numbered(copied, "llm.tools", grouped(copied))) == repr(expected)


def general_tree(attributes: dict[str, Any]) -> Any:
    """The tree of ``llm.tools``, step by step."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith("llm.tools."):
            *steps, last = name.removeprefix("llm.tools.").split(".")
            place = tree
            for step in steps[: facts.MAX_STEPS]:
                if not isinstance(place.get(step), dict):
                    place[step] = {}
                place = place[step]
            place[last] = value
    return with_lists(tree)


def with_lists(tree: dict[str, Any]) -> Any:
    whole = {name: with_lists(value) if isinstance(value, dict) and value else value for name, value in tree.items()}
    return [whole[name] for name in sorted(whole, key=int)] if all(map(str.isdecimal, whole)) else whole


def test_few_names_of_attributes_are_remembered() -> None:
    for number in range(facts.MAX_PLACES + 10):
        grouped({f"llm.tools.{number}.name": "x", f"{'x' * facts.MAX_NAME}{number}": 1})
    assert 0 < len(facts._places) <= facts.MAX_PLACES
    assert max(map(len, facts._places)) <= facts.MAX_NAME


RESTS = """message.role|message.content|role|content|message.tool_calls.0.tool_call.id|message.tool_call_id|message|0
|message.tool_calls.0.tool_call.function.name|message.contents.0.message_content.text|"""
rests = st.sampled_from(RESTS.replace("\n", "").split("|"))
numbers = st.sampled_from(["0", "0", "1", "1", "2", "10", "01", "x", ""])
written = st.sampled_from(["user", "assistant", "tool", "nobody", "text", '["a"]', "-0"])
others = st.sampled_from([None, 1, True, 1.0, {}, ["a"], {"role": "user"}])
strange = st.one_of(written, written, written, others)
prefixes = st.sampled_from(["llm.input_messages", "llm.input_messages", "gen_ai.prompt"])
numbered_names = st.builds(lambda *steps: ".".join(steps), prefixes, numbers, rests)
other_names = st.sampled_from(["llm.input_messages", "gen_ai.prompt", "gen_ai.prompt_tokens", "llm.input_messages_2.0"])


@given(
    st.lists(
        st.tuples(
            st.dictionaries(numbered_names, written, max_size=6),
            st.dictionaries(st.one_of(numbered_names, other_names), strange, max_size=1),
        ),
        max_size=6,
    )
)
@example(
    [({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "a"}, {}), ({}, {"gen_ai.prompt.0.role": "tool"})]
)
@example([({"gen_ai.prompt.0.role": "user"}, {"gen_ai.prompt.0.content": 1}), ({}, {"gen_ai.prompt.0.content": True})])
def test_numbered_messages_that_repeat_are_read_as_if_they_were_new(spans: list[tuple[Any, Any]]) -> None:
    """Each span has the attributes of the one before and more, and perhaps one that only this span has."""
    histories = Histories()
    attributes: dict[str, Any] = {}
    for added, odd_one in spans:
        attributes = {**attributes, **added}
        every = {**attributes, **odd_one}
        found = [numbered(copied := fresh(every), prefix, grouped(copied)) for prefix in NUMBERED]
        expected = next((messages_of(value, "user") for value in found if value is not ABSENT), None)
        assert repr(histories.of_numbered(every, grouped(every))) == repr(expected)


def test_numbered_messages_that_repeat_are_not_made_again() -> None:
    histories = Histories()
    first = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "one"}
    second = {"llm.input_messages.1.message.role": "assistant", "llm.input_messages.1.message.content": "two"}
    before = histories.of_numbered(first, grouped(first))
    after = histories.of_numbered({**first, **second}, grouped({**first, **second}))
    assert before is not None
    assert after is not None
    assert after[0] is before[0]
    assert [message.content.texts for message in after] == [["one"], ["two"]]
