"""The crush guard: ten steps, one of them more than five times."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import SLICE, Batch, Call, Result
from loopaudit.policies.guards.crush import POLICY, CrushParams
from tests.policies.guard_streams import USER, C, call, context_for, said

A = C("a", '{"n":1}')


def new(count: int) -> list[C]:
    return [C("b", f'{{"n":{i}}}') for i in range(count)]


def stops(items: list[Any], **changed: Any) -> bool:
    return "/halt" in said(POLICY, items, CrushParams(**changed))


@pytest.mark.parametrize(
    ("items", "stopped"),
    [
        pytest.param([A] * 6 + new(4), True, id="six of ten"),
        pytest.param(new(4) + [A] * 6, True, id="six of ten at the end"),
        pytest.param([A] * 5 + new(5), False, id="five of ten"),
        pytest.param([A] * 9, False, id="nine steps"),
        pytest.param([A] * 10, True, id="ten steps"),
        pytest.param([A] * 5 + new(5) + [A], False, id="six of eleven"),
        pytest.param([A] * 5 + new(3) + [USER] + [A] * 2, False, id="not over a message"),
        pytest.param([A, [], A, [], A, [], A, [], A, A], True, id="text steps take places"),
        pytest.param([[]] * 20, False, id="but are no signature"),
        pytest.param([C("a", '{"n":1}', str(i)) for i in range(10)], False, id="outputs count"),
        pytest.param([C("a", '{"n":1}', "", str(i)) for i in range(10)], False, id="error texts count"),
        pytest.param([C("a", '{"n":1}', str(i), "boom") for i in range(10)], True, id="an error hides the output"),
        pytest.param([A, C("a", '{"n": 1}')] * 5, False, id="spelling counts"),
        pytest.param([[A, *new(1)]] * 10, True, id="whole steps"),
        pytest.param([[A, *new(1)], [*new(1), A]] * 5, False, id="in their order"),
        pytest.param([C("a", "{}", None)] * 10, False, id="unanswered steps are not known to be equal"),
        pytest.param([[A, C("a", "{}", None)]] * 10, False, id="not even in part"),
        pytest.param([C("a", "no json")] * 6 + new(4), True, id="text that is no JSON"),
    ],
)
def test_windows(items: list[Any], stopped: bool) -> None:
    assert stops(items) == stopped


def test_thresholds() -> None:
    assert not stops([A] * 6 + new(4), max_repeats=6)
    assert stops([A] * 6 + new(4), max_repeats=5, window=9)
    assert stops([A] * 2, max_repeats=1, window=2)
    assert not stops([A, *new(1)] * 5, max_repeats=5)
    assert stops([A, *new(1)] * 5, max_repeats=4)


def test_shadow_speaks_as_long_as_the_window_holds_it() -> None:
    out = said(POLICY, [A] * 6 + new(6), enforced=False)
    assert out[9:] == [".", "/halt", ".", "."]


def test_values_are_compared_in_their_recorded_order() -> None:
    guard = POLICY.start(CrushParams(), context_for(POLICY))
    spoken = []
    for i in range(10):
        source = b'{"a":1,"b":2}' if i % 2 else b'{"b":2,"a":1}'
        key = call(C("t", '{"a":1,"b":2}')).key
        made = Call(f"c{i}", i, "t", SLICE, source, key, True, Result("ok"))
        spoken += list(guard.judge(Batch("s", "", i, [made])))
    assert not spoken
