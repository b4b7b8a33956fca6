"""What the readers of traces do only once, or in a shorter way, gives what the long way gives."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.traces import facts
from loopaudit.readers.kit.traces.facts import numbered
from loopaudit.readers.kit.traces.messages import Histories, messages_of

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
            assert repr(histories.read(given_text)) == repr(expected)


@pytest.mark.parametrize("value", ["-0", "1e999", "18446744073709551617", "NaN", '"a\x01b"', "[" * 1100 + "]" * 1100])
def test_what_needs_tolerance_is_read_with_it_wherever_it_stands(value: str) -> None:
    histories = Histories()
    plain, strange = '{"role": "user", "content": "a"}', f'{{"role": "tool", "content": {value}}}'
    for text in (f"[{plain}]", f"[{plain},{strange}]", f"[{plain},{strange},{plain}]", f"[{plain},{plain}]"):
        decoded = from_text(text)
        expected = messages_of(decoded, "user") if isinstance(decoded, list) else None
        assert repr(histories.read(text)) == repr(expected)


def test_what_stood_in_an_earlier_text_is_not_made_again() -> None:
    histories = Histories()
    first, second = {"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}
    before = histories.read(json.dumps([first]))
    after = histories.read(json.dumps([first, second]))
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
    general = facts._any_tree(copy.deepcopy(attributes), start, found)
    plain = facts._plain_tree(copy.deepcopy(attributes), "llm.tools", found) if found else None
    assert plain is None or repr(plain) == repr(general)
    assert (
        not found
        or isinstance(from_text(attributes.get("llm.tools")), list)
        or (repr(numbered(copy.deepcopy(attributes), "llm.tools", " ".join(attributes))) == repr(general))
    )


def test_numbered_attributes_in_their_usual_order_need_one_look_each() -> None:
    attributes = {"llm.tools.1.name": "b", "llm.tools.0.name": "a", "llm.tools.0.of.0": 1}
    assert facts._plain_tree(attributes, "llm.tools", list(attributes)) == [{"name": "a", "of": [1]}, {"name": "b"}]
