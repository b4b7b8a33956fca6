"""What the readers of traces do only once, or in a shorter way, gives what the long way gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.traces import facts
from loopaudit.readers.kit.traces.facts import numbered
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
    start = "llm.tools."
    found = [name for name in attributes if name.startswith(start)]
    general = facts._any_tree(fresh(attributes), start, found)
    plain = facts.plain_tree(fresh(attributes), "llm.tools", found) if found else None
    assert plain is None or repr(plain) == repr(general)
    assert (
        not found
        or isinstance(from_text(attributes.get("llm.tools")), list)
        or (repr(numbered(fresh(attributes), "llm.tools", " ".join(attributes))) == repr(general))
    )


def test_numbered_attributes_in_their_usual_order_need_one_look_each() -> None:
    attributes = {"llm.tools.1.name": "b", "llm.tools.0.name": "a", "llm.tools.0.of.0": 1}
    assert facts.plain_tree(attributes, "llm.tools", list(attributes)) == [{"name": "a", "of": [1]}, {"name": "b"}]


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
        names = " ".join(every)
        found = [numbered(fresh(every), prefix, names) for prefix in NUMBERED]
        expected = next((messages_of(value, "user") for value in found if value is not ABSENT), None)
        assert repr(histories.of_numbered(every, names)) == repr(expected)


def test_numbered_messages_that_repeat_are_not_made_again() -> None:
    histories = Histories()
    first = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "one"}
    second = {"llm.input_messages.1.message.role": "assistant", "llm.input_messages.1.message.content": "two"}
    before = histories.of_numbered(first, " ".join(first))
    after = histories.of_numbered({**first, **second}, " ".join([*first, *second]))
    assert before is not None
    assert after is not None
    assert after[0] is before[0]
    assert [message.content.texts for message in after] == [["one"], ["two"]]
