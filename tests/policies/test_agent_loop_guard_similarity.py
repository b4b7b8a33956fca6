"""Similarity by words and edits, against the definitions written out."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.policies.guards.agent_loop_guard.similarity import (
    EDIT_LIMIT,
    STRIDE,
    WORDS_LIMIT,
    Similarity,
    Text,
    keyed_text,
    levenshtein,
    may_differ,
    must_differ,
    places_that_differ,
    without_ends,
)


def distance(a: str, b: str) -> int:
    """The edit distance by its table."""
    row = list(range(len(b) + 1))
    for i, char in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (char != other))
    return row[-1]


def similarity(a: str, b: str) -> float:
    """The measure by its definition."""
    if a == b:
        return 1.0
    words, others = set(a.split()), set(b.split())
    every = words | others
    shared = len(words & others) / len(every) if every else 1.0
    longer = max(len(a), len(b))
    if longer > EDIT_LIMIT:
        return shared
    edits = distance(a, b) / longer if a and b else 1.0
    return 0.5 * shared + 0.5 * (1.0 - edits)


texts = st.text("ab \n", max_size=30)


@given(texts, texts, st.integers(0, 30))
def test_distance_up_to_a_limit(a: str, b: str, limit: int) -> None:
    exact = distance(a, b)
    assert levenshtein(a, b, limit) == (exact if exact <= limit else None)


@pytest.mark.parametrize("size", [STRIDE - 1, STRIDE, STRIDE + 1, 2 * STRIDE, 2 * STRIDE + 7])
@pytest.mark.parametrize("changes", [1, 9, 40])
def test_distance_of_texts_that_are_gone_through_in_pieces(size: int, changes: int) -> None:
    random = Random(size + changes)
    a = "".join(random.choices("ab \né☃", k=size))
    changed = list(a)
    for _ in range(changes):
        place = random.randrange(len(changed) + 1)
        changed[place : place + random.randrange(2)] = random.choices("ab☃", k=random.randrange(3))
    b = "".join(changed)
    exact = distance(a, b)
    assert levenshtein(a, b, size) == levenshtein(b, a, exact) == exact
    assert levenshtein(a, b, exact - 1) is None


@given(st.text("ab\0ÿ", max_size=9), st.text("ab\0ÿ☃", max_size=9))
def test_places_that_differ(a: str, b: str) -> None:
    assert places_that_differ(a, b) == sum(one != other for one, other in zip(a, b, strict=False))


@pytest.mark.parametrize(
    ("a", "b", "edits"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "abc", 0),
        ("kitten", "sitting", 3),
        ("xaby", "xcdy", 2),
        ("é\U0001f600", "é", 1),
    ],
)
def test_distances(a: str, b: str, edits: int) -> None:
    assert levenshtein(a, b, 99) == levenshtein(b, a, 99) == edits


alike = st.lists(st.sampled_from(["foo", "bar", "12:00", "12:01", "x", "line", ""]), max_size=14)


@given(
    st.lists(st.sampled_from(["line one of it\n", "x = 12;", " ", "another line that is long\n", "ab"]), max_size=12),
    st.lists(st.sampled_from(["line one of it\n", "x = 13;", " ", "another line that is long\n", "b"]), max_size=12),
)
def test_cheap_numbers_hold_the_distance_between_them(ours: list[str], theirs: list[str]) -> None:
    a, b = "".join(ours), "".join(theirs)
    assert must_differ(a, b) <= distance(a, b) <= may_differ(a, b)
    assert must_differ(b, a) == must_differ(a, b)


@given(st.text(alphabet="ab"), st.text(alphabet="ab"), st.text(alphabet="ab"), st.text(alphabet="ab"))
def test_common_ends_do_not_count(start: str, a: str, b: str, end: str) -> None:
    one, other = without_ends(start + a + end, start + b + end)
    assert not one or not other or (one[0] != other[0] and one[-1] != other[-1])
    assert distance(one, other) == distance(start + a + end, start + b + end)


@given(alike, alike, st.sampled_from([0.85, 0.5, 0.7, 1.0, 0.0]))
def test_the_bounds_never_decide_otherwise(a: list[str], b: list[str], threshold: float) -> None:
    first, second = " ".join(a), " ".join(b)
    reached = similarity(first, second) >= threshold
    measure = Similarity(threshold)
    assert measure(Text(first), Text(second)) == reached
    assert measure(Text(first), Text(second)) == reached  # from memory
    assert measure(Text(second), Text(first)) == reached


@given(alike, st.integers(0, 13), st.text("ab ", max_size=6))
def test_a_small_change_inside(words: list[str], place: int, change: str) -> None:
    text = " ".join(words)
    changed = text[:place] + change + text[place + 1 :]
    assert Similarity(0.85)(Text(text), Text(changed)) == (similarity(text, changed) >= 0.85)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ("a a a b cd", "a b b a cd", 0.85),  # the same words, three edits in ten characters
        ("a b", "b a", 0.5 + 0.5 * (1 - 2 / 3)),
        ("", " ", 0.5),  # no words on either side, and one text empty
        ("", "a", 0.0),
    ],
)
def test_exactly_at_the_threshold(a: str, b: str, value: float) -> None:
    assert similarity(a, b) == pytest.approx(value)
    exact = similarity(a, b)
    assert Similarity(exact)(Text(a), Text(b))
    assert not Similarity(exact + 1e-6)(Text(a), Text(b))


def test_long_texts_are_compared_by_words_alone() -> None:
    words = [f"w{i}" for i in range(800)]
    text = " ".join(words)
    assert len(text) > EDIT_LIMIT
    measure = Similarity(0.85)
    assert measure(Text(text), Text(" ".join(reversed(words))))
    assert measure(Text(text), Text(" ".join(words[:680])))
    assert not measure(Text(text), Text(" ".join(words[:679])))
    assert not measure(Text(text), Text(""))


def test_the_edit_limit_is_met_from_both_sides() -> None:
    short, long = "a " * (EDIT_LIMIT // 2), "a " * (EDIT_LIMIT // 2) + "a"
    backwards = " a" * (EDIT_LIMIT // 2)
    measure = Similarity(0.9999)
    assert not measure(Text(short), Text(backwards))  # two edits count
    assert measure(Text(long), Text(backwards))  # one word, whatever the edits


def test_very_long_texts_are_compared_for_equality_only() -> None:
    text = "ab " * (WORDS_LIMIT // 3 + 1)
    assert Similarity(0.85)(Text(text), Text(text + ""))
    assert not Similarity(0.85)(Text(text), Text(text + "ab"))


@pytest.mark.slow
def test_a_pair_of_the_longest_compared_texts_is_quick() -> None:
    # All words are shared and moved as a block: no bound decides, the distance must be worked out.
    words = [f"{i:03d}x" for i in range(400)]
    first = " ".join(words)
    second = " ".join(words[40:] + words[:40])
    assert len(first) <= EDIT_LIMIT
    assert Similarity(0.85)(Text(first), Text(second)) == (similarity(first, second) >= 0.85)
    assert levenshtein(first, second, 10_000) == distance(first, second)
    # The table itself takes seconds here; this only keeps the fast way from turning into it.
    begin = time.process_time()
    levenshtein(first, second, 10_000)
    assert time.process_time() - begin < 0.5


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, ""),
        (None, ""),
        ("text", "text"),
        ([1, "a"], "[1, 'a']"),
        ({"b": 1, "a": "x y"}, "a=x y b=1"),
        ({"n": 1.0, "t": True, "z": None, "o": {"k": [1.5]}}, "n=1.0 o={'k': [1.5]} t=True z=None"),
    ],
)
def test_arguments_as_one_text(arguments: Any, text: str) -> None:
    assert keyed_text(arguments) == text


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    shared=st.integers(0, 500),
    ours=st.integers(0, 300),
    theirs=st.integers(0, 300),
    shuffled=st.randoms(use_true_random=False),
    threshold=st.sampled_from((0.0, 1e-7, 0.3, 0.5, 0.85, 1.0)),
)
def test_words_of_long_texts_in_any_order(
    shared: int, ours: int, theirs: int, shuffled: Random, threshold: float
) -> None:
    both = [f"shared{n}" for n in range(shared)]
    sides = [
        [*both, *(f"{side}{n}" for n in range(count)), " " * EDIT_LIMIT] for side, count in (("a", ours), ("b", theirs))
    ]
    for words in sides:
        shuffled.shuffle(words)
    first, second = (" ".join(words) for words in sides)
    expected = first == second or (shared / (shared + ours + theirs) if shared + ours + theirs else 1.0) >= threshold
    assert Similarity(threshold)(Text(first), Text(second)) == expected
    known = Text(first)
    known.split(20)
    assert known.known <= set(first.split())
    assert known.words == set(first.split())
    assert Similarity(threshold)(Text(second), known) == expected
