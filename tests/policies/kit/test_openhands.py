"""How events of OpenHands are compared."""

from __future__ import annotations

import pytest

from loopaudit.core.events import Batch, Result
from loopaudit.policies.kit.openhands import Observation, alike, alike_two_apart, thought


def failure(output: str, error: str | None = None, *, worded: bool = True) -> Result:
    result = Result(output, True, "error", "flag")
    result.has_error = worded
    result.error_source = error
    return result


def seen(result: Result, about: str = "read") -> Observation:
    return Observation(result, about, is_error=result.failed)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (seen(Result("x")), seen(Result("x")), True),
        (seen(Result("x")), seen(Result("y")), False),
        (seen(Result("x")), seen(Result("x"), "edit"), False),
        (seen(Result("x")), seen(failure("x")), False),
        (seen(failure("x")), seen(failure("x")), True),
        (seen(failure("x")), seen(failure("x"), "edit"), True),
        (seen(failure("x", "boom")), seen(failure("y", "boom")), True),
        (seen(failure("x", "boom")), seen(failure("x", "bang")), False),
        (seen(failure("x", worded=False)), seen(failure("y", worded=False)), True),
        (seen(failure("x", worded=False)), seen(failure("", "")), True),
    ],
)
def test_observations(one: Observation, other: Observation, equal: bool) -> None:
    assert (one == other) is equal
    assert (other == one) is equal


def test_an_observation_equals_nothing_else() -> None:
    assert seen(Result("x")) != ("read", "x")


def test_alike() -> None:
    assert alike("xaaa", 3)
    assert not alike("xaaa", 4)
    assert not alike("aa", 3)


def test_alike_two_apart() -> None:
    assert alike_two_apart("xababab", 6)
    assert alike_two_apart("aaaaaa", 6)
    assert not alike_two_apart("babab", 6)
    assert not alike_two_apart("aabbab", 6)
    assert not alike_two_apart("bbabab", 6)


def test_only_the_first_call_carries_the_thought() -> None:
    batch = Batch("s", "", 1, [], "hm")
    assert [thought(batch, position) for position in range(2)] == ["hm", ""]
