"""The step limit: as many interventions as the policy, placed by nothing but the length of runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.compare.model import Case, Run
from loopaudit.compare.step_limit import Null, again, null_policy, once
from loopaudit.core.findings import Action
from tests.compare.made import ByIdleness, loop


def case(lengths: list[int], actions: list[Action], *, loops: list[tuple[int, int]] | None = None) -> Case:
    """A case with runs of these lengths, each a turn, calls numbered through."""
    runs, call = [], 0
    for turn, length in enumerate(lengths, 1):
        runs.append(Run("", turn, tuple(range(call + 1, call + length + 1))))
        call += length
    marks = bytearray(call)
    for first, last in loops or ():
        marks[first - 1 : last] = bytes([1]) * (last - first + 1)
    episodes = [loop(first, last, turn=0) for first, last in loops or ()]
    return Case("p", "s", runs, episodes, {"a": actions}, ByIdleness(bytes(marks)))


def placed(null: Null) -> list[tuple[int, int, str]]:
    return [(index, f.call, f.action.slug) for index, findings in null.places for f in findings]


WARN, BLOCK, STOP = Action.WARN, Action.BLOCK, Action.STOP


@pytest.mark.parametrize(
    "lengths, actions, limits, calls",
    [
        ([10], [], (None, None), []),
        ([10], [STOP], (9, None), [10]),
        ([10, 4], [STOP], (9, None), [10]),
        ([10, 4], [STOP, STOP], (3, None), [4, 14]),
        ([10], [WARN], (None, 9), [10]),
        ([10], [WARN, WARN], (None, 4), [5, 9]),
        ([10, 10], [WARN], (None, 9), [10]),
        ([3, 10], [BLOCK] * 3, (None, 3), [7, 10, 13]),
        ([3], [BLOCK] * 3, (None, 0), [1, 2, 3]),
        ([2], [BLOCK] * 5, (None, 0), [1, 2]),
        ([10], [STOP, WARN], (9, 9), [10, 10]),
    ],
)
def test_where_it_acts(
    lengths: list[int], actions: list[Action], limits: tuple[int | None, int | None], calls: list[int]
) -> None:
    null = null_policy("a", [case(lengths, actions)], enforced=True)
    assert (null.stop_limit, null.notice_limit) == limits
    assert sorted(call for _, call, _ in placed(null)) == calls
    assert null.wanted == len(actions) and null.judged.interventions == len(calls)


def test_one_limit_for_all_transcripts() -> None:
    cases = [case([20], []), case([6], [WARN, WARN, WARN]), case([7], [])]
    null = null_policy("a", cases, enforced=True)
    assert null.notice_limit == 6
    assert placed(null) == [(0, 7, "warn"), (0, 13, "warn"), (0, 19, "warn")]


def test_it_is_judged_as_the_policy_is() -> None:
    null = null_policy("a", [case([10], [BLOCK, BLOCK], loops=[(8, 10)])], enforced=True)
    assert placed(null) == [(0, 5, "block"), (0, 9, "block")]
    judged = null.judged
    assert (judged.good, judged.wrong, judged.caught, judged.missed, judged.late) == (1, 1, 1, 0, [1])


def test_a_transcript_that_the_policy_cannot_evaluate_is_left_out() -> None:
    blind = case([50], [])
    blind.interventions = {"b": []}
    null = null_policy("a", [blind, case([10], [WARN])], enforced=True)
    assert placed(null) == [(1, 10, "warn")]


def test_it_keeps_the_actions_of_the_policy_in_order() -> None:
    null = null_policy("a", [case([9], [WARN, BLOCK, WARN])], enforced=True)
    assert [slug for _, _, slug in placed(null)] == ["warn", "block", "warn"]


@given(st.lists(st.integers(0, 40), max_size=6), st.integers(0, 8), st.integers(0, 30), st.booleans())
def test_as_many_interventions_as_the_policy_where_there_are_calls(
    lengths: list[int], stops: int, others: int, enforced: bool
) -> None:
    runs = [n for n in lengths if n]
    null = null_policy("a", [case(runs, [STOP] * stops + [WARN] * others)], enforced=enforced)
    actions = [slug for _, _, slug in placed(null)]
    assert actions.count("stop") == min(stops, len(runs))
    assert actions.count("warn") <= others
    if not stops:
        assert actions.count("warn") == min(others, sum(runs))
    notices = [call for _, call, slug in placed(null) if slug == "warn"]
    assert len(set(notices)) == len(notices)


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_higher_limit_never_acts_more_often(length: int, limit: int) -> None:
    for acts in (once, again):
        assert acts(length, limit + 1) <= acts(length, limit) <= length
