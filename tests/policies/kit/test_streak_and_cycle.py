"""Runs and cycles at the end of a sequence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.policies.kit.cycles import Cycles, Streak


def test_streak_counts_equal_keys_in_a_row() -> None:
    streak: Streak[str] = Streak()
    assert (streak.count, streak.key) == (0, None)
    assert [streak.push(key) for key in "aabaaa"] == [1, 2, 1, 1, 2, 3]
    streak.clear()
    assert streak.push("a") == 1


def test_streak_counts_a_key_that_is_none() -> None:
    streak: Streak[None] = Streak()
    assert [streak.push(None) for _ in range(3)] == [1, 2, 3]


def tail_of(keys: str, period: int) -> int:
    """The longest end of the keys in which each equals the one a period before, counted naively."""
    longest = min(period, len(keys))
    while longest < len(keys):
        tail = keys[-longest - 1 :]
        if tail[period:] != tail[:-period]:
            break
        longest += 1
    return longest


@given(st.text("abc", max_size=40))
def test_cycles_agree_with_the_naive_count(keys: str) -> None:
    cycles: Cycles[str] = Cycles(5)
    for end in range(len(keys) + 1):
        seen = keys[:end]
        tails = [tail_of(seen, period) for period in range(1, 6)]
        assert [cycles.tail(period) for period in range(1, 6)] == tails
        assert [cycles.laps(period) for period in range(1, 6)] == [t // p for p, t in enumerate(tails, 1)]
        for laps in (2, 3):
            assert cycles.periods(laps) == [p for p, t in enumerate(tails, 1) if t // p >= laps]
        assert cycles.repeating == any(t > min(p, end) for p, t in enumerate(tails, 1))
        if end < len(keys):
            cycles.push(keys[end])


@pytest.mark.parametrize(("window", "tail", "laps"), [(None, 50, 25), (50, 50, 25), (7, 7, 3), (1, 1, 0)])
def test_a_window_bounds_what_is_seen(window: int | None, tail: int, laps: int) -> None:
    cycles: Cycles[str] = Cycles(2, window)
    for key in "ab" * 25:
        cycles.push(key)
    assert (cycles.tail(2), cycles.laps(2)) == (tail, laps)


def test_clear_forgets_the_sequence() -> None:
    cycles: Cycles[str] = Cycles(2)
    for key in "aaaa":
        cycles.push(key)
    cycles.clear()
    assert not cycles.repeating
    cycles.push("a")
    assert (cycles.tail(1), cycles.laps(2)) == (1, 0)


def test_keys_are_compared_as_asked() -> None:
    streak: Streak[str] = Streak(lambda one, other: one.lower() == other.lower())
    assert [streak.push(key) for key in ("a", "A", "b", "B", "b", "a")] == [1, 2, 1, 2, 3, 1]
