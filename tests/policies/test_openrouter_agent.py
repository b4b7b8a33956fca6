"""The OpenRouter agent's guard: rounds per tool, and repeated text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.events import Batch
from loopaudit.policies.contract import Context
from loopaudit.policies.guards.openrouter_agent import (
    POLICY,
    WINDOW_UNITS,
    OpenrouterAgentParams,
    repeats_at_end,
    tail_words,
)
from tests.policies.guard_streams import USER, C, events, replayed, said

A, B, LS = C("read", '{"a":1}'), C("read", '{"a":2}'), C("ls")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([A] * 7, [".", "observe", *["block"] * 3, "stop", "."], id="the ladder"),
        pytest.param([A, LS] * 3, [".", ".", "observe", "observe", "block", "block"], id="other tools do not matter"),
        pytest.param([A, B] * 3, ["."] * 6, id="another call of the tool does"),
        pytest.param([[A, B], [B], [B, A], [A]], [".", ".", "observe", "block", ".", "observe"], id="each call apart"),
        pytest.param([[A, A], [A, A]], [".", ".", "observe", "observe"], id="a round counts once"),
        pytest.param([A, A, USER, A], [".", "observe", "block"], id="a person's message changes nothing"),
        pytest.param([A, "text", A], [".", "observe"], id="nor does a reply"),
        pytest.param([C("read", '{"x":1,"y":2}'), C("read", '{"y":2.0,"x":1}')], [".", "observe"], id="key order"),
        pytest.param([C("read", "{}", None)] * 3, [".", "observe", "block"], id="results are not looked at"),
        pytest.param(
            [A, *[[A, LS]] * 5],
            [".", "observe", ".", *["block", "observe"], *["block", "block"] * 2, "stop", "block"],
            id="the rest of the round is judged",
        ),
    ],
)
def test_calls(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


def test_parameters() -> None:
    assert said(POLICY, [A] * 4, OpenrouterAgentParams(observe=3, block=4)) == [".", ".", "observe", "block"]


def test_shadow_mode() -> None:
    assert said(POLICY, [A] * 8, enforced=False) == [".", "observe", *["block"] * 3, *["stop"] * 3]


def test_a_refused_call_is_counted() -> None:
    result = replayed(POLICY, events([A] * 9))
    assert (result.blocked_calls, result.avoided_calls) == (3, 3)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["same"] * 6, ["/observe"] * 4 + ["/stop"]),
        (["same", " same\n"], ["/observe"]),
        (["same", "other", "same"], []),
        (["no " * 11], []),
        (["no " * 12], ["/stop"]),
        (["a b c " * 3], []),
        (["a b c " * 4], ["/observe"]),
        (["x a b c " + "a b c " * 5], ["/stop"]),
    ],
)
def test_text(texts: list[str], expected: list[str]) -> None:
    assert said(POLICY, texts) == expected


def test_blank_text_is_stepped_over_and_the_stronger_finding_wins() -> None:
    guard = POLICY.start(OpenrouterAgentParams(), Context())
    text = "go on " * 6
    found = [
        [(d.rule, d.own_word, d.count) for d in guard.judge(Batch("s", "", n, [], said))]
        for n, said in enumerate([text, " \n", "", text], 1)
    ]
    assert found == [[("text-repetition", "stop", 6)], [], [], [("text-repetition", "stop", 6)]]
    short = "go on and on " * 4
    rules = [d.rule for n in range(6) for d in guard.judge(Batch("s", "", n, [], short))]
    assert rules == ["text-repetition"] * 5 + ["text-streak"], "on a tie the repetition is told"


def slowly(words: list[str]) -> int:
    """Every block length in turn, word for word."""
    best = (0, 0)
    if len(words) >= 12:
        for length in range(1, 17):
            times = 1
            while (times + 1) * length <= len(words) and words[-(times + 1) * length :][:length] == words[-length:]:
                times += 1
            if times >= 4 and times * length >= 12 and times * length > best[0]:
                best = (times * length, times)
    return best[1]


@given(st.lists(st.sampled_from("ab"), max_size=30), st.lists(st.sampled_from("abc"), max_size=18), st.integers(0, 9))
def test_repetition_at_the_end(before: list[str], block: list[str], times: int) -> None:
    words = before + block * times
    assert repeats_at_end(words) == slowly(words)


@pytest.mark.parametrize("character", ["x", "😀", "é"])
def test_only_the_last_units_are_looked_at(character: str) -> None:
    """A word is cut by units of UTF-16, in the middle of a character if need be."""
    width = len(character.encode("utf-16-le")) // 2
    long = character * (WINDOW_UNITS // width)
    words = [long, "end"]
    tail = tail_words(words, len(" ".join(words)))
    assert tail[-1] == "end"
    assert sum(len(word.encode("utf-16-le", "surrogatepass")) // 2 for word in tail) == WINDOW_UNITS - 1
    exact = [character * ((WINDOW_UNITS - 4) // width), "end"]
    assert list(tail_words(exact, len(" ".join(exact)))) == exact


def test_only_the_last_words_are_looked_at() -> None:
    words = [str(n) for n in range(500)]
    assert list(tail_words(words, len(" ".join(words)))) == words[100:]
