"""Chanting text: both dialects against a literal version that notes every position at once."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.policies.kit.chanting import Chanting, GeminiChanting, QwenChanting
from loopaudit.policies.kit.utf16 import BLANKS, units

BLANK = re.escape(BLANKS)


class Slowly:
    """The description word for word: a history that is cut in front, and positions that are shifted."""

    bullets = rules = ""
    most = kept = 0

    def __init__(self) -> None:
        self.in_code = False
        self.begin()

    def begin(self) -> None:
        self.history = ""
        self.next = 0
        self.noted: dict[str, list[int]] = {}

    def feed(self, chunk: str) -> bool:
        fences = len(re.findall("```", chunk))
        rule = re.fullmatch(f"[{self.rules}]+", chunk)
        structure = re.search(
            f"(^|\n)[{BLANK}]*(\\|[^\n\r\u2028\u2029]*\\||[|+-]{{3,}}|[{self.bullets}][{BLANK}]|[0-9]+\\.[{BLANK}])"
            f"|(^|\n)(#+|>)[{BLANK}]",
            chunk,
        )
        if fences or rule or structure:
            self.begin()
        before = self.in_code
        self.in_code = before != (fences % 2 == 1)
        if before or self.in_code or rule:
            return False
        self.history += units(chunk)
        if len(self.history) > self.most:
            cut = len(self.history) - self.kept
            self.history = self.history[cut:]
            self.next = max(0, self.next - cut)
            shifted = {p: [n - cut for n in places if n >= cut] for p, places in self.noted.items()}
            self.noted = {p: places for p, places in shifted.items() if places}
        while self.next + 50 <= len(self.history):
            places = self.noted.setdefault(self.history[self.next : self.next + 50], [])
            places.append(self.next)
            if self.chants(places):
                return True
            self.next += 1
        return False

    def chants(self, places: list[int]) -> bool:
        raise NotImplementedError


class SlowGemini(Slowly):
    bullets = "*-+"
    rules = "+-_=*\u2500-\u257f"
    most = kept = 5000

    def chants(self, places: list[int]) -> bool:
        ten = places[-10:]
        gaps = {self.history[a:b] for a, b in pairwise(ten)}
        return len(ten) == 10 and (ten[-1] - ten[0]) / 9 <= 250 and len(gaps) <= 5


class SlowQwen(Slowly):
    bullets = "*+-"
    rules = "+_=*\u2500-\u257f-"
    most, kept = 5000, 4000

    def chants(self, places: list[int]) -> bool:
        window = max(0, len(self.history) - 4000)
        newest = places.pop()
        places[:] = [*(place for place in places if place >= window), newest]
        if len(places) >= 10 and (places[-1] - places[-10]) / 9 <= 75:
            return True
        if len(places) < 3:
            return False
        step = places[-1] - places[-2]
        run = 1
        while run < len(places) and places[-run] - places[-run - 1] == step:
            run += 1
        if run >= 5:
            start = places[-run]
        elif run >= 3 and len(self.history) >= 4000:
            start = window
        else:
            return False
        text = self.history[start : newest + 50]
        return len(text) >= 1000 and all(text[n] == text[n + step] for n in range(len(text) - step))


PAIRS: list[tuple[Callable[[], Chanting], Callable[[], Slowly]]] = [
    (GeminiChanting, SlowGemini),
    (QwenChanting, SlowQwen),
]
both = pytest.mark.parametrize(("quick", "slow"), PAIRS, ids=["gemini-cli", "qwen-code"])

LENGTHS = (1, 3, 20, 49, 50, 51, 60, 74, 75, 76, 90, 150, 199, 249, 250, 251, 300, 571, 1000, 1300)
marks = st.sampled_from(
    ["```", "```x```", "\n- x", "\n* x", "# h\n", " 1. a", "---", "ABC", "12.5", "| a |", "\n> q", ""]
)


@st.composite
def streams(draw: st.DrawFn) -> list[str]:
    letters = draw(st.sampled_from(["ab", "abcdefgh ", "abé😀 "]))
    random = draw(st.randoms(use_true_random=False))
    unit = "".join(random.choice(letters) for _ in range(draw(st.sampled_from(LENGTHS))))
    chunks = []
    for _ in range(draw(st.integers(1, 9))):
        kind = draw(st.integers(0, 9))
        if kind < 6:
            chunk = unit * draw(st.integers(1, max(1, 2400 // len(unit) if kind < 3 else 3)))
        elif kind == 6:
            chunk = "".join(random.choice(letters) for _ in range(draw(st.integers(1, 200))))
        elif kind == 7:
            chunk = unit[: draw(st.integers(0, len(unit)))]
        elif kind == 8:
            chunk = unit + "".join(random.choice(letters) for _ in range(draw(st.integers(1, 60))))
        else:
            chunk = draw(marks)
        chunks.append(chunk)
    return chunks


@pytest.mark.slow
@both
@settings(max_examples=150, deadline=None)
@given(chunks=streams())
def test_agrees_with_noting_every_position(
    quick: Callable[[], Chanting], slow: Callable[[], Slowly], chunks: list[str]
) -> None:
    ours, theirs = quick(), slow()
    for chunk in chunks:
        found = theirs.feed(chunk)
        assert ours.feed(chunk) is found
        if found:
            break


@settings(max_examples=80, deadline=None)
@given(chunks=streams())
def test_goes_on_after_a_first_finding(chunks: list[str]) -> None:
    ours, theirs = GeminiChanting(), SlowGemini()
    for chunk in chunks:
        assert ours.feed(chunk) is theirs.feed(chunk)


@both
@given(chunk=st.text(alphabet="ab1. |+-*#>\n\r\t\u2028\x85`=_\u2501A", max_size=12))
@settings(max_examples=400, deadline=None)
def test_structure_starts_anew(quick: Callable[[], Chanting], slow: Callable[[], Slowly], chunk: str) -> None:
    ours, theirs = quick(), slow()
    for text in ("some words", chunk):
        ours.feed(text)
        theirs.feed(text)
    assert (ours.history, ours._in_code) == (theirs.history, theirs.in_code)


def chanting(tracker: Chanting, text: str, times: int) -> bool:
    return any(tracker.feed(text) for _ in range(times))


@both
def test_code_is_passed_over_and_outlives_clearing(quick: Callable[[], Chanting], slow: Callable[[], Slowly]) -> None:
    words = "the same words over and over again, they never end "
    tracker = quick()
    tracker.feed("look: ```")
    tracker.clear()
    assert not chanting(tracker, words, 40)
    tracker.feed("``` there")
    assert chanting(tracker, words, 40)


def unit(length: int) -> str:
    """Text of a length in which no piece of 50 comes twice."""
    return "".join(f"{number:03x}" for number in range(length))[:length].translate(
        str.maketrans("0123456789", "ghijklmnop")
    )


@pytest.mark.parametrize(
    ("quick", "length", "laps", "expected"),
    [
        pytest.param(GeminiChanting, 250, 11, True, id="gemini: 250 apart"),
        pytest.param(GeminiChanting, 251, 11, False, id="gemini: 251 apart"),
        pytest.param(GeminiChanting, 250, 9, False, id="gemini: nine times"),
        pytest.param(QwenChanting, 75, 11, True, id="qwen: 75 apart"),
        pytest.param(QwenChanting, 76, 11, False, id="qwen: 76 apart, 836 units"),
        pytest.param(QwenChanting, 190, 6, True, id="qwen: 1,000 units from the first of six pieces to the last"),
        pytest.param(QwenChanting, 189, 6, False, id="qwen: 995 units"),
        pytest.param(QwenChanting, 238, 5, True, id="qwen: five pieces"),
        pytest.param(QwenChanting, 250, 4, False, id="qwen: 1,000 units in four laps"),
        pytest.param(QwenChanting, 1000, 4, True, id="qwen: 4,000 units in four laps"),
        pytest.param(QwenChanting, 1333, 3, False, id="qwen: 3,999 units in three laps"),
        pytest.param(QwenChanting, 1334, 3, True, id="qwen: 4,002 units in three laps"),
        pytest.param(QwenChanting, 2000, 2, False, id="qwen: 4,000 units in two laps"),
    ],
)
def test_limits(quick: Callable[[], Chanting], length: int, laps: int, expected: bool) -> None:
    assert quick().feed(unit(length) * laps) is expected


def test_few_different_stretches() -> None:
    """Between ten equal pieces gemini-cli allows five different texts, not six."""
    for kinds, expected in ((5, True), (6, False)):
        text = "".join(unit(50) + "qrstuv"[n % kinds] for n in range(11))
        assert GeminiChanting().feed(text) is expected


@pytest.mark.parametrize("near", range(9))
@pytest.mark.parametrize(("apart", "expected"), [(273, True), (274, False)])
def test_ten_positions_of_which_only_two_are_near(near: int, apart: int, expected: bool) -> None:
    """2,250 units from the first position to the last, wherever the two stand that are within the average."""
    gaps = [apart] * 9
    gaps[near] = 66
    filling = unit(400)
    chunks = ["Q" * 50 + filling[: gap - 50] for gap in [*gaps, 100]]
    ours, theirs, whole = GeminiChanting(), SlowGemini(), GeminiChanting()
    found = [ours.feed(chunk) for chunk in chunks]
    assert found == [theirs.feed(chunk) for chunk in chunks]
    assert any(found) is whole.feed("".join(chunks)) is expected


@pytest.mark.parametrize("quick", [GeminiChanting, QwenChanting])
@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param("\n" * 400_000, id="line feeds"),
        pytest.param(" \n" * 200_000 + "x", id="blank lines"),
        pytest.param("|" + "a" * 400_000, id="half a table row"),
        pytest.param("1" * 400_000, id="digits"),
        pytest.param("#" * 400_000, id="marks"),
        pytest.param("ab" * 200_000, id="two letters"),
        pytest.param("\n|a\r" * 100_000, id="rows that never end"),
    ],
)
def test_time_grows_with_the_text_only(quick: Callable[[], Chanting], chunk: str) -> None:
    def seconds(text: str) -> float:
        tracker = quick()
        tracker.feed("before ")
        started = time.process_time()
        tracker.feed(text)
        return time.process_time() - started

    assert seconds(chunk) < 8 * seconds(chunk[: len(chunk) // 4]) + 0.3


def test_many_small_chunks_cost_what_one_large_one_costs() -> None:
    started = time.process_time()
    for quick in (GeminiChanting, QwenChanting):
        tracker = quick()
        for number in range(20_000):
            tracker.feed(f"step {number * 7919 % 10007} done. ")
    assert time.process_time() - started < 5
