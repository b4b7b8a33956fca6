"""What a call is taken to have said."""

from __future__ import annotations

import pytest

from loopaudit.events import TOKEN_LIMIT, Result
from loopaudit.guardkit.result import said


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (Result("out"), "out"),
        (Result(b'"o\\u0075t"'), "out"),
        (Result("out", True, has_error=True), "out"),
        (Result("out", True, has_error=True, error_source="boom"), "boom"),
        (Result("out", True, has_error=False), "out"),
        (Result("out", False, error_source="boom"), "out"),
    ],
)
def test_said(result: Result, text: str) -> None:
    assert said(result) == text


def test_large_outputs_stay_equal_after_they_were_shortened() -> None:
    one, two = Result("x" * (TOKEN_LIMIT + 1)), Result("x" * (TOKEN_LIMIT + 1))
    before = said(one)
    one.shrink()
    assert said(one) == before == said(two)
