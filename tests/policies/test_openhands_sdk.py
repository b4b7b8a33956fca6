"""The OpenHands SDK guard: its scenarios in order, the one nudge, and the view of twenty events."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Batch
from loopaudit.policies.contract import Context
from loopaudit.policies.guards.openhands_sdk import POLICY, OpenhandsSdkParams
from tests.policies.guard_streams import USER, C, call, events, replayed, said

A, B = C("read", '{"a":1}', "x"), C("read", '{"a":2}', "y")
FAIL = C("run", "{}", "", "boom")


def rules(items: list[Any], **settings: Any) -> list[tuple[str, str, int]]:
    guard = POLICY.start(OpenhandsSdkParams(), Context(**settings))
    found = []
    for event in events(items):
        if isinstance(event, Batch):
            found += [(d.own_word, d.rule, d.count) for d in guard.judge(event)]
        else:
            guard.turn(event)  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("items", "found"),
    [
        pytest.param([A] * 3, [], id="three are too few"),
        pytest.param([A] * 4, [("halt", "action_observation", 0)], id="four"),
        pytest.param([A, A, A, A._replace(output="z")], [], id="another output"),
        pytest.param([A, A, A, A._replace(arguments='{"a":1.0}')], [("halt", "action_observation", 0)], id="1 is 1.0"),
        pytest.param([FAIL] * 3, [("nudge", "action_error", 3)], id="three failures"),
        pytest.param(
            [FAIL] * 4, [("nudge", "action_error", 3), ("halt", "action_observation", 0)], id="the fourth is the same"
        ),
        pytest.param(
            [FAIL._replace(error=f"{n}") for n in range(4)],
            [("nudge", "action_error", 3), ("halt", "action_error", 0)],
            id="the fourth with another error",
        ),
        pytest.param([FAIL, FAIL, FAIL._replace(error=None)], [], id="a success"),
        pytest.param([A, B] * 3, [("halt", "alternating_pattern", 0)], id="alternation"),
        pytest.param([A, B, A, B, A, B._replace(output="z")], [], id="alternation with another output"),
        pytest.param(["a", "b", "c"], [("halt", "monologue", 0)], id="monologue"),
        pytest.param(["a", "b", A, "c"], [], id="a call ends a monologue"),
        pytest.param(["a", "b", USER, "c"], [], id="so does a person"),
        pytest.param([A, A, USER, A, A], [], id="the view is cut"),
        pytest.param([A, A, "hm", A, A], [("halt", "action_observation", 0)], id="a message between"),
    ],
)
def test_scenarios(items: list[Any], found: list[tuple[str, str, int]]) -> None:
    assert rules(items) == found


def test_one_nudge_for_a_failure() -> None:
    """A reply leaves the newest failure as it is; the next one is answered anew."""
    assert rules([FAIL, FAIL, FAIL, "hm", "hm"]) == [("nudge", "action_error", 3)]
    again = [FAIL, FAIL, FAIL, A, FAIL, FAIL, FAIL]
    assert rules(again) == [("nudge", "action_error", 3)] * 2


def test_notices_do_not_interrupt_a_monologue() -> None:
    assert rules(["a", [FAIL] * 3, "b", "c"])[-1] != ("halt", "monologue", 0)
    assert rules([[FAIL] * 3, "a", "b", "c"])[-1] == ("halt", "monologue", 0)


def test_events_push_each_other_out_of_the_view() -> None:
    between = [item for n in range(9) for item in ("hm", C("ls", f'{{"n":{n}}}'))]
    assert rules([A, A, A, *between, A]) == []
    wide = [C("read", f'{{"n":{n}}}') for n in range(9)]
    assert rules([[*wide, *[A] * 4]]) == [("halt", "action_observation", 0)]
    assert rules([[*[A] * 4, *wide], [*wide, A]]) == []


def test_the_thought_is_part_of_the_first_action() -> None:
    def judged(*thoughts: str) -> list[str]:
        guard = POLICY.start(OpenhandsSdkParams(), Context())
        batches = [Batch("s", "", n, [call(A)], thought) for n, thought in enumerate(thoughts)]
        return [d.rule for batch in batches for d in guard.judge(batch)]

    assert judged("hm", "hm", "hm", "hm") == ["action_observation"]
    assert judged("hm", "hm", "hm", "aha") == []
    guard = POLICY.start(OpenhandsSdkParams(), Context())
    pairs = [Batch("s", "", n, [call(B), call(A)], f"{n}") for n in range(3)]
    assert [d.rule for batch in pairs for d in guard.judge(batch)] == []


def test_a_call_without_result_is_left_out() -> None:
    unanswered = A._replace(output=None)
    assert rules([A, A, unanswered, A, A]) == [("halt", "action_observation", 0)]
    assert rules([unanswered] * 9) == []
    assert rules(["a", "b", unanswered, "c"]) == []


def test_parameters() -> None:
    params = OpenhandsSdkParams(action_observation=2, action_error=2, monologue=2, alternating_pattern=4)
    assert said(POLICY, [A, A], params) == [".", ".", "/halt"]
    assert said(POLICY, [FAIL, FAIL], params) == [".", ".", "/nudge"]
    assert said(POLICY, ["a", "b", "c"], params) == ["/halt"], "three events at least"
    assert said(POLICY, [A, B, A, B], params) == [".", ".", ".", ".", "/halt"]


def test_shadow_mode_goes_on() -> None:
    assert said(POLICY, [A] * 6, enforced=False) == [".", ".", ".", ".", "/halt", ".", "/halt", ".", "/halt"]
    assert len(replayed(POLICY, events([A] * 6), "shadow").findings) == 3
