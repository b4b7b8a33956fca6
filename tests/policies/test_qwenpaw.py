"""The QwenPaw guard: three equal calls at the end of a batch, and how texts are cut."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.canonical import call_key
from loopaudit.core.events import SLICE, TEXT, VALUE, Call
from loopaudit.policies.guards.qwenpaw import POLICY, QwenpawParams, same_beginning
from loopaudit.policies.kit.json_dialects import py_text
from tests.policies.guard_streams import USER, C, said

READ = C("read", '{"a":1}')


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([READ] * 4, [".", ".", ".", "/nudge", ".", "/halt"], id="nudge, then halt"),
        pytest.param([[READ] * 4], [*["."] * 4, "/nudge"], id="once per batch"),
        pytest.param([READ, READ, [READ, C("ls")]], ["."] * 4, id="only at the end"),
        pytest.param([READ] * 3 + [C("ls")] + [READ] * 3, [".", ".", ".", "/nudge", *["."] * 4, "/nudge"], id="anew"),
        pytest.param([READ] * 3 + [[], READ], [".", ".", ".", "/nudge", ".", "/halt"], id="a reply keeps the hits"),
        pytest.param([READ] * 3 + [USER] + [READ] * 2, [".", ".", ".", "/nudge", ".", "."], id="a message does not"),
        pytest.param([READ, C("read", '{"a": 1}')] * 3, ["."] * 6, id="spelling counts"),
        pytest.param([C("read", "{}", None)] * 3, [".", ".", ".", "/nudge"], id="results do not"),
    ],
)
def test_hits(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


def test_hits_go_on_in_shadow_mode() -> None:
    assert said(POLICY, [READ] * 6, enforced=False) == [".", ".", ".", "/nudge", *[".", "/halt"] * 3]


@pytest.mark.parametrize(
    ("changed", "items", "expected"),
    [
        ({"window": 2}, [READ] * 3, [".", ".", ".", "/nudge"]),
        ({"window": 4}, [READ] * 4, [*["."] * 4, "/halt"]),
        ({"nudge_at": 4, "halt_at": 5}, [READ] * 5, [*["."] * 4, "/nudge", ".", "/halt"]),
        ({"prefix": 7}, [C("r", '{"a":"x"}'), C("r", '{"a":"y"}')] * 2, ["."] * 4),
        ({"prefix": 6}, [C("r", '{"a":"x"}'), C("r", '{"a":"y"}')] * 2, [".", ".", ".", "/nudge", ".", "/halt"]),
    ],
)
def test_thresholds(changed: dict[str, int], items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items, QwenpawParams(**changed)) == expected


@pytest.mark.parametrize(("length", "same"), [(2047, False), (2048, True)])
def test_only_the_beginning_is_compared(length: int, same: bool) -> None:
    texts = ["x" * length + end for end in "abc"]
    assert ("/nudge" in said(POLICY, [C("write", text) for text in texts])) == same


strings = st.text('ab"\\\n\u00e9\U0001f600', max_size=8).map(lambda text: text * 30) | st.sampled_from(
    ["x" * 300, "x" * 301]
)
objects = st.dictionaries(st.sampled_from(["a", "b", "k" * 200, "é" * 99]), strings | st.integers(0, 3), max_size=3)


@given(objects, objects, st.integers(0, 3000), st.booleans())
def test_values_are_compared_as_their_texts(one: Any, other: Any, size: int, sliced: bool) -> None:
    calls = []
    for value in (one, other):
        source = py_text(value).encode() if sliced else value
        calls.append(Call("c", 1, "t", SLICE if sliced else VALUE, source, call_key("t", value)))
    texts = [call.raw_arguments[:size] for call in calls]
    assert same_beginning(calls[0], calls[1], size) == (texts[0] == texts[1])
    sent = [Call("c", 1, "t", TEXT, call.raw_arguments, call.key) for call in calls]
    assert same_beginning(sent[0], sent[1], size) == (texts[0] == texts[1])
    assert same_beginning(sent[0], calls[1], size) == (texts[0] == texts[1])
