"""The kimi-cli guard: its ladder, repeats inside a step, and lenient arguments."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.findings import Action
from loopaudit.policies.guards.kimi_cli import POLICY, KimiCliParams, lenient_key
from tests.policies.guard_streams import USER, C, call, events, findings, replayed, said

READ = C("read", '{"a":1}')
OTHER = C("read", '{"a":2}')


@pytest.mark.parametrize(
    ("changed", "times", "expected"),
    [
        ({}, 2, [".", "."]),
        ({}, 3, [".", ".", "nudge"]),
        ({"first": 4}, 3, [".", ".", "."]),
        ({"first": 2}, 3, [".", "nudge", "nudge"]),
        ({"stop": 3}, 3, [".", ".", "halt"]),
    ],
)
def test_thresholds(changed: dict[str, int], times: int, expected: list[str]) -> None:
    assert said(POLICY, [READ] * times, KimiCliParams(**changed)) == expected


def test_rules_of_the_ladder() -> None:
    found = findings(POLICY, events([READ] * 13))
    assert [f.rule for f in found] == ["r1"] * 2 + ["r2"] * 3 + ["r3"] * 4 + ["stop"]
    assert [f.count for f in found] == list(range(3, 13))
    assert found[-1].action == Action.STOP


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([READ, OTHER, READ, READ], ["."] * 4, id="another call ends the run"),
        pytest.param([READ, READ, C("read", "not json"), READ], [".", ".", ".", "."], id="so does a step of bad calls"),
        pytest.param([READ, READ, [C("read", "oops"), READ]], [".", ".", ".", "nudge"], id="not beside a good call"),
        pytest.param([READ, READ, [], READ], ["."] * 3, id="and a step without calls"),
        pytest.param([READ, [READ, READ], READ], [".", ".", "dedup", "nudge"], id="repeats in a step count"),
        pytest.param([[READ, OTHER, READ]], [".", ".", "dedup"], id="not only neighbours are repeats"),
        pytest.param([[READ] * 3], [".", "dedup", "dedup"], id="no reminder for a first-time key"),
        pytest.param([READ, READ, USER, READ], ["."] * 3, id="a person's message"),
        pytest.param([C("read", '{"a":1.0}'), READ, C("read", '{"a":true}')], ["."] * 3, id="1.0, 1 and true differ"),
        pytest.param([C("read", "{}", None)] * 3, [".", ".", "nudge"], id="results play no part"),
        pytest.param([READ, READ, [READ, C("ls"), OTHER]], [".", ".", "nudge", ".", "."], id="the rest of a step runs"),
    ],
)
def test_runs(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


def test_a_stop_lets_the_step_finish() -> None:
    items = [READ] * 11 + [[READ, OTHER, READ]]
    assert said(POLICY, items) == [".", ".", *["nudge"] * 9, "halt", ".", "dedup"]
    result = replayed(POLICY, events([*items, READ]))
    assert result.avoided_calls == 1


def test_shadow_goes_on_after_a_stop() -> None:
    assert said(POLICY, [READ] * 14, enforced=False)[11:] == ["halt"] * 3


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a":"x\ty"}', '{"a":"x\\ty"}', True),
        ("", "{}", True),
        ("", " {} ", True),
        ('{"a":NaN}', '{"a": NaN}', True),
        ('{"a":"\ud800"}', '{"a":"\\ud800"}', True),
        ('{"a":"\t"}', '{"a":" "}', False),
    ],
)
def test_lenient_arguments(one: str, other: str, same: bool) -> None:
    keys = [lenient_key(call(C("read", text))) for text in (one, other)]
    assert None not in keys
    assert (keys[0] == keys[1]) == same


@pytest.mark.parametrize("text", [" ", "no", '{"a":1', "{'a':1}", '\ufeff{"a":1}', "[" * 5000])
def test_unreadable_arguments_are_not_counted(text: str) -> None:
    assert lenient_key(call(C("read", text))) is None
    assert said(POLICY, [C("read", text)] * 5) == ["."] * 5
