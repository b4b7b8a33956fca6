"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import copy
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core import regex


@given(st.text("ab1 -\n", max_size=8))
def test_a_late_pattern_finds_what_a_pattern_finds(text: str) -> None:
    late, now = regex.lazy(r"(a)(b*)\s?", re.IGNORECASE), re.compile(r"(a)(b*)\s?", re.IGNORECASE)
    for method in ("match", "search", "fullmatch"):
        one, other = getattr(late, method)(text), getattr(now, method)(text)
        assert (one and one.groups(), one and one.span()) == (other and other.groups(), other and other.span())
    assert late.findall(text) == now.findall(text)
    assert [m.span() for m in late.finditer(text)] == [m.span() for m in now.finditer(text)]
    assert late.sub("-", text) == now.sub("-", text)
    assert late.split(text) == now.split(text)
    assert (late.pattern, late.flags) == (now.pattern, now.flags)


def test_a_wrong_pattern_is_told_at_its_first_use() -> None:
    late = regex.lazy("(")
    with pytest.raises(re.error):
        late.match("x")


def test_copies_and_pickles_are_patterns_as_well() -> None:
    late = regex.lazy(b"a+")
    for other in (copy.copy(late), pickle.loads(pickle.dumps(late))):
        assert other.match(b"aa")
    assert late.match(b"aa")
    assert pickle.loads(pickle.dumps(late)).match(b"a")


def test_an_unknown_attribute_is_none_of_a_pattern() -> None:
    with pytest.raises(AttributeError):
        regex.lazy("a").nothing  # type: ignore[attr-defined]  # noqa: B018
