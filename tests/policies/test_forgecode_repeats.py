"""The least period repeated three times, against trying every period on the whole sequence."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.policies.guards.forgecode.repeats import Repetitions, repeated


def slowly(keys: Sequence[int]) -> tuple[int, int] | None:
    """The rule word for word: the first period with three repetitions, and how many there are."""
    total = len(keys)
    for period in range(1, total):
        begun = total % period
        whole_end = total - begun
        count = 0
        if begun:
            if whole_end < period or keys[whole_end:] != keys[whole_end - period : total - period]:
                continue
            count = 1
        block = keys[whole_end - period : whole_end]
        place = whole_end
        while place >= period and keys[place - period : place] == block:
            count += 1
            place -= period
        if count >= 3:
            return period, count
    return None


parts = st.one_of(
    st.lists(st.integers(0, 3), min_size=1, max_size=5),
    st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=7), st.integers(2, 5)).map(lambda p: p[0] * p[1]),
)
sequences = st.lists(parts, min_size=1, max_size=6).map(lambda lists: [key for part in lists for key in part])


def found(repetitions: Repetitions) -> tuple[int, int] | None:
    least = repetitions.least()
    return None if least is None else (least[0], repeated(repetitions.total, *least))


@settings(max_examples=400, deadline=None)
@given(sequences)
def test_agrees_with_trying_every_period(keys: list[int]) -> None:
    repetitions = Repetitions()
    for end, key in enumerate(keys, 1):
        repetitions.push(bytes([key]))
        assert found(repetitions) == slowly(keys[:end]), keys[:end]


@settings(max_examples=80, deadline=None)
@given(sequences, st.lists(st.integers(0, 3), max_size=60))
def test_what_is_found_does_not_depend_on_when_it_is_asked_for(keys: list[int], asked: list[int]) -> None:
    one, other = Repetitions(), Repetitions()
    for place, key in enumerate(keys):
        one.push(bytes([key]))
        other.push(bytes([key]))
        found(one)
        if place in asked:
            found(other)
    assert found(one) == found(other)


@settings(max_examples=80, deadline=None)
@given(st.lists(sequences, min_size=1, max_size=8))
def test_short_periods_are_found_exactly_however_long_the_conversation(runs: list[list[int]]) -> None:
    keys = [key for run in runs for key in run]
    repetitions = Repetitions(kept=24)
    for end, key in enumerate(keys, 1):
        repetitions.push(bytes([key]))
        expected, got = slowly(keys[:end]), found(repetitions)
        if expected is not None and expected[0] <= 24 // 3:
            assert got == expected, keys[:end]
        else:
            assert got is None or got[0] > 24 // 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "key_of",
    [
        pytest.param(lambda n: 0, id="one call"),
        pytest.param(lambda n: n % 7, id="a short cycle"),
        pytest.param(lambda n: n % 500, id="a long cycle"),
        pytest.param(lambda n: n, id="nothing twice"),
        pytest.param(lambda n: bin(n * n).count("1") % 2, id="two calls without order"),
    ],
)
def test_the_cost_of_a_call_does_not_grow(key_of: Callable[[int], int]) -> None:
    repetitions = Repetitions()
    seconds = []
    for start in range(0, 60_000, 20_000):
        before = time.process_time()
        for number in range(start, start + 20_000):
            repetitions.push(key_of(number).to_bytes(4, "big"))
            repetitions.least()
        seconds.append(time.process_time() - before)
    assert seconds[2] < 3 * seconds[1] + 0.5, seconds


def test_a_count_may_be_larger_than_what_is_kept() -> None:
    repetitions = Repetitions(kept=10)
    for number in range(1000):
        repetitions.push(bytes([number % 2]))
        repetitions.least()
    assert found(repetitions) == (2, 500)
