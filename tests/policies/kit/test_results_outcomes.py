"""Runs of equal results by key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.events import TOKEN_LIMIT, Result
from loopaudit.policies.kit.results import CAP, Outcomes

steps = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["x", "y", "X"]), st.booleans()), max_size=40)


@given(steps)
def test_counts_equal_results_in_a_row(made: list[tuple[int, str, bool]]) -> None:
    outcomes: Outcomes[int] = Outcomes()
    past: dict[int, list[tuple[str, bool]]] = {}
    for key, output, failed in made:
        seen = past.setdefault(key, [])
        seen.append((output, failed))
        run = 0
        while run < len(seen) and seen[-1 - run] == seen[-1]:
            run += 1
        assert outcomes.push(key, Result(output, failed)) == run
        assert outcomes.count(key) == run


def test_results_are_compared_by_their_normal_spelling() -> None:
    outcomes: Outcomes[str] = Outcomes(str.lower)
    assert [outcomes.push("k", Result(text)) for text in ("ab", "AB", "aB", "abc")] == [1, 2, 3, 1]


def test_large_outputs_are_compared_as_they_are_also_when_they_have_been_shrunk() -> None:
    outcomes: Outcomes[str] = Outcomes(str.lower)
    counts = []
    for text in ("x", "x", "X"):
        result = Result(text * (TOKEN_LIMIT + 1))
        counts.append(outcomes.push("k", result))
        result.shrink()
    assert counts == [1, 2, 1]


@pytest.mark.parametrize("forget", ["drop", "clear"])
def test_forgets(forget: str) -> None:
    outcomes: Outcomes[str] = Outcomes()
    outcomes.push("k", Result("x"))
    assert outcomes
    if forget == "drop":
        outcomes.drop("k")
    else:
        outcomes.clear()
    assert not outcomes
    assert outcomes.count("k") == 0
    assert outcomes.push("k", Result("x")) == 1


def test_the_newest_keys_are_remembered() -> None:
    outcomes: Outcomes[int] = Outcomes()
    for key in range(5 * CAP):
        outcomes.push(key, Result("x"))
    assert all(outcomes.count(key) == 1 for key in range(4 * CAP + 1, 5 * CAP))
    assert outcomes.count(0) == 0
