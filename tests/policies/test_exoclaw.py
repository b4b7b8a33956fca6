"""The exoclaw guard: its three limits."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.policies.guards.exoclaw import POLICY, ExoclawParams
from tests.policies.guard_streams import USER, C, said

A = C("read", '{"a":1}')
B = C("read", '{"a":2}')


def new(count: int) -> list[C]:
    return [C("b", f'{{"n":{i}}}') for i in range(count)]


@pytest.mark.parametrize(
    ("items", "stopped"),
    [
        pytest.param([A] * 19, False, id="19 equal"),
        pytest.param([A] * 20, True, id="20 equal"),
        pytest.param([A] * 19 + [B], False, id="another at the end"),
        pytest.param([A] * 19 + [USER, A], False, id="a message"),
        pytest.param([[A] * 20], True, id="in one batch"),
        pytest.param([[A] * 20 + [B]], False, id="but only at its end"),
        pytest.param([A, B] * 9 + [A], False, id="nine laps and a half"),
        pytest.param([A, B] * 10, True, id="ten laps"),
        pytest.param([B, A] * 9 + new(1) + [A, B], False, id="interrupted"),
        pytest.param([A, C("read", '{"a":1.0}')] * 10, True, id="1 and 1.0 differ"),
        pytest.param([C("t", "bad")] * 20, True, id="no JSON"),
        pytest.param([A, B, new(1)[0]] * 12, False, id="three in turn"),
        pytest.param(new(199), False, id="199 responses"),
        pytest.param(new(200), True, id="200 responses"),
        pytest.param([[]] * 200, True, id="without calls, too"),
        pytest.param([*new(199), USER, *new(199)], False, id="per turn"),
    ],
)
def test_limits(items: list[Any], stopped: bool) -> None:
    assert ("/halt" in said(POLICY, items)) == stopped


@pytest.mark.parametrize(
    ("changed", "items", "stopped"),
    [
        ({"critical_threshold": 3}, [A] * 3, True),
        ({"critical_threshold": 31}, [A] * 40, False),
        ({"critical_threshold": 30}, [A] * 30, True),
        ({"ping_pong_laps": 2}, [A, B] * 2, True),
        ({"ping_pong_laps": 16}, [A, B] * 20, False),
        ({"ping_pong_laps": 2, "history_size": 3}, [A, B] * 4, False),
        ({"max_iterations": 3}, new(3), True),
    ],
)
def test_thresholds(changed: dict[str, int], items: list[Any], stopped: bool) -> None:
    assert ("/halt" in said(POLICY, items, ExoclawParams(**changed))) == stopped


def test_shadow_goes_on() -> None:
    assert said(POLICY, [A] * 22, enforced=False)[19:] == [".", "/halt"] * 3
