"""The Gemini CLI guard: cycles, strikes, and text before calls."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Batch
from loopaudit.core.findings import Action
from loopaudit.policies.contract import Context
from loopaudit.policies.guards.gemini_cli import POLICY, GeminiCliParams
from tests.policies.guard_streams import USER, C, call, events, findings, replayed, said

CHANT = "and then it all begins again, the very same words as before, "
READ = C("read", '{"a":1}')


def cycle(length: int, calls: int) -> list[C]:
    return [C("read", f'{{"a":{n % length}}}') for n in range(calls)]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_five_laps_of_a_short_cycle(length: int) -> None:
    calls = 5 * length
    assert said(POLICY, cycle(length, calls)) == ["."] * (calls - 1) + ["nudge"]
    assert said(POLICY, cycle(length, calls - 1)) == ["."] * (calls - 1)


def test_six_calls_are_too_long_a_cycle() -> None:
    assert said(POLICY, cycle(6, 60)) == ["."] * 60


@pytest.mark.parametrize(
    ("params", "items", "expected"),
    [
        ({"laps": 3}, cycle(2, 6), [*["."] * 5, "nudge"]),
        ({"laps": 3, "longest_cycle": 1}, cycle(2, 6), ["."] * 6),
        ({"longest_cycle": 6}, cycle(6, 30), [*["."] * 29, "nudge"]),
    ],
)
def test_parameters(params: dict[str, int], items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items, GeminiCliParams(**params)) == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([READ] * 7, [*["."] * 4, "nudge", "halt", "."], id="the next repeat is the second strike"),
        pytest.param([[READ] * 7], [*["."] * 4, "nudge", ".", "."], id="the rest of the response is dropped"),
        pytest.param([[READ] * 5, READ], [*["."] * 4, "nudge", "halt"], id="what was dropped did not happen"),
        pytest.param([READ] * 5 + [C("ls")] + [READ] * 4, [*["."] * 4, "nudge", *["."] * 5], id="another call between"),
        pytest.param([*[READ] * 5, USER, *[READ] * 5], [*["."] * 4, "nudge", *["."] * 4, "nudge"], id="a new turn"),
        pytest.param([READ, READ, "text", READ, READ, READ], [*["."] * 4, "nudge"], id="text does not interrupt calls"),
        pytest.param([C("read", "{}", None)] * 5, [*["."] * 4, "nudge"], id="calls without result count"),
        pytest.param([C("read", '{"a":1}'), C("read", '{"a":1.0}')] * 3, [*["."] * 4, "nudge", "halt"], id="numbers"),
    ],
)
def test_strikes(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


def test_key_order_matters_inside_a_cycle() -> None:
    one, other = C("read", '{"a":1,"b":2}'), C("read", '{"b":2,"a":1}')
    assert said(POLICY, [one, one, other, one, one, one, one]) == ["."] * 7
    assert said(POLICY, [one, other] * 5) == [*["."] * 9, "nudge"]


def test_shadow_mode_feeds_everything() -> None:
    expected = [*["."] * 4, "nudge", "halt", "halt"]
    assert said(POLICY, [[READ] * 7], enforced=False) == expected
    assert said(POLICY, [READ] * 7, enforced=False) == expected


def test_what_is_dropped_is_counted() -> None:
    result = replayed(POLICY, events([[READ] * 5, [READ] * 3]))
    assert [f.action for f in result.findings] == [Action.NUDGE, Action.STOP]
    assert result.avoided_calls == 2


def batch(text: str, *given: C) -> Batch:
    return Batch("s", "", 1, [call(one, n) for n, one in enumerate(given, 1)], text)


def judged(*batches: Batch, enforced: bool = True) -> list[tuple[str, int, int]]:
    guard = POLICY.start(GeminiCliParams(), Context(enforced=enforced))
    return [(d.own_word, d.position, d.skipped) for one in batches for d in guard.judge(one)]


def test_chanting_drops_the_calls_of_its_response() -> None:
    assert judged(batch(CHANT * 12, READ, READ)) == [("nudge", -1, 2)]
    assert judged(batch(CHANT * 12, *[READ] * 5), enforced=False) == [("nudge", -1, 0), ("halt", 4, 0)]


def test_a_call_starts_the_text_anew() -> None:
    assert judged(*[batch(CHANT * 3)] * 5) == [("nudge", -1, 0), ("halt", -1, 0)]
    assert judged(*[batch(CHANT * 3, C("read", f'{{"a":{n}}}')) for n in range(9)]) == []


def test_findings_are_worded() -> None:
    found = findings(POLICY, events([READ] * 6))
    assert len({f.message for f in found}) == 2
