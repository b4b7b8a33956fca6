"""The DeerFlow guard: sets of calls among the last responses, and how often each tool is used."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.policies.guards.deer_flow import POLICY, DeerFlowParams, stable_key
from tests.policies.guard_streams import USER, C, call, events, findings, replayed, said

LS = C("ls", '{"path":"/a"}')
MAKE = C("bash", '{"command":"make"}')


def spoken(items: list[Any], **changed: int) -> list[str]:
    return [word for word in said(POLICY, items, DeerFlowParams(**changed)) if word != "."]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([LS] * 2, [], id="twice"),
        pytest.param([LS] * 5, ["/warn", "/halt"], id="third and fifth"),
        pytest.param([[LS, MAKE], [MAKE, LS], [LS, MAKE]], ["/warn"], id="in any order"),
        pytest.param([[LS, LS], LS, LS], [], id="a call twice is another set"),
        pytest.param([LS, MAKE] * 5, ["/warn", "/warn", "/halt"], id="anywhere in the window"),
        pytest.param([LS, USER, LS, USER, LS], ["/warn"], id="over messages"),
        pytest.param([*[LS] * 5, USER, LS], ["/warn", "/halt", "/halt"], id="ended again at once"),
        pytest.param([LS, "text", [], LS, "text", LS], ["/warn"], id="replies are not looked at"),
    ],
)
def test_sets_of_calls(items: list[Any], expected: list[str]) -> None:
    assert spoken(items) == expected


def test_a_set_that_left_the_window_may_be_warned_of_again() -> None:
    others = [C("t", f'{{"x":{n}}}') for n in range(4)]
    assert spoken([*[LS] * 3, *others, *[LS] * 3], window_size=4) == ["/warn", "/warn"]
    assert spoken([*[LS] * 3, *others, *[LS] * 3], window_size=20, hard_limit=9) == ["/warn"]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (C("ls", '{"path":"/a","depth":1}'), C("ls", '{"path":"/a"}'), True),
        (C("ls", '{"path":"/a"}'), C("tree", '{"path":"/a"}'), False),
        (C("read_file", '{"path":"a","start_line":1,"end_line":9}'), C("read_file", '{"path":"a"}'), True),
        (C("read_file", '{"path":"a","start_line":200}'), C("read_file", '{"path":"a","start_line":201}'), False),
        (C("read_file", '{"path":"a","start_line":900,"end_line":5}'), C("read_file", '{"path":"a"}'), False),
        (C("read_file", '{"path":"a","end_line":"x","start_line":401}'), C("read_file", '{"path":"a"}'), False),
        (C("write_file", '{"path":"a","content":"1"}'), C("write_file", '{"path":"a","content":"2"}'), False),
        (C("str_replace", '{"a":1,"b":2}'), C("str_replace", '{"b":2,"a":1}'), True),
        (C("t", '{"x":1}'), C("t", '{"x":1.0}'), False),
        (C("t", '{"x":null,"path":null}'), C("t", '{"x":null}'), False),
        (C("t", "no json"), C("t", "no json"), True),
        (C("t", "null"), C("t", "{}"), False),
        (C("t", f'{{"x":"{"a" * 200}"}}'), C("t", f'{{"x":"{"a" * 200}"}}'), True),
        (C("t", f'{{"x":"{"a" * 200}"}}'), C("t", f'{{"x":"{"a" * 200}b"}}'), False),
    ],
)
def test_what_matters_of_the_arguments(first: C, second: C, same: bool) -> None:
    assert (stable_key(call(first)) == stable_key(call(second))) == same


def test_tools_used_often() -> None:
    reads = [C("read", f'{{"path":"{n}"}}') for n in range(60)]
    assert [(f.own_word, f.rule, f.count, f.tool) for f in findings(POLICY, events(reads))] == [
        ("warn", "tool_frequency", 30, "read"),
        ("halt", "tool_frequency", 50, "read"),
    ]
    spread = [C("read" if n % 3 else f"t{n}", f'{{"path":"{n}"}}') for n in range(120)]
    assert [f.count for f in findings(POLICY, events(spread))] == [30]


def test_calls_that_end_the_run_do_not_run() -> None:
    result = replayed(POLICY, events([*[[LS, MAKE]] * 5, LS, USER, MAKE]))
    assert (result.avoided_calls, result.judged_calls) == (3, 11)
