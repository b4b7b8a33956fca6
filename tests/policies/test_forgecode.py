"""The forgecode guard: a pattern at the end of all calls of the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Batch
from loopaudit.policies.contract import Context
from loopaudit.policies.guards.forgecode.guard import POLICY, ForgecodeParams
from tests.policies.guard_streams import USER, C, events, said


def calls(letters: str) -> list[C]:
    return [C("read", f'{{"a":"{letter}"}}') for letter in letters]


def counts(items: list[Any]) -> list[int]:
    guard = POLICY.start(ForgecodeParams(), Context())
    return [d.count for event in events(items) if isinstance(event, Batch) for d in guard.judge(event)]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("aaa", [3]),
        ("aaaa", [3, 4]),
        ("xaaa", [3]),
        ("ababab", [3]),
        ("ababa", []),
        ("xababa", []),
        ("xababab", [3]),
        ("xyababa", [3]),
        ("abcabcabc", [3]),
        ("abcdefghij" * 3, [3]),
        ("abcabca", []),
        ("xyzabcabca", [3]),
        ("wxyzabcabca", []),
    ],
)
def test_patterns(letters: str, expected: list[int]) -> None:
    """The number of calls before the pattern decides when it is seen."""
    assert counts(calls(letters)) == expected


def test_a_repetition_that_has_only_begun_may_silence_the_guard() -> None:
    """Two blocks and a begun one make three, for which there is no room; longer blocks are not tried."""
    assert counts(calls("abaab" * 2 + "a")) == []


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([calls("aaa")], [".", ".", ".", "/nudge"], id="one batch"),
        pytest.param([*calls("aa"), USER, *calls("a")], [".", ".", ".", "/nudge"], id="across messages"),
        pytest.param([*calls("aaa"), "hm", *calls("b")], [".", ".", ".", "/nudge", "/nudge", "."], id="until it ends"),
        pytest.param([C("read", '{"x":1,"y":2}'), C("read", '{"y":2,"x":1}')] * 2, ["."] * 2 + [".", "/nudge"] * 2,
                     id="key order"),
        pytest.param([C("read", '{"a":1}'), C("read", '{"a":1.0}')] * 2, ["."] * 4, id="1 is not 1.0"),
        pytest.param([C("read", "{}", None)] * 3, [".", ".", ".", "/nudge"], id="results are not looked at"),
    ],
)  # fmt: skip
def test_streams(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected
    assert said(POLICY, items, enforced=False) == expected
