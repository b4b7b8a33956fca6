"""Noise: what is removed, what must stay, and that looking for it takes linear time."""

from __future__ import annotations

import re
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core import regex
from loopaudit.hindsight.calls import noise
from loopaudit.hindsight.calls.noise import CONTEXT, MAX_SPAN, PATTERNS, remove, same_but_for_noise

SAME = [
    ("9 failed in 0.42s", "9 failed in 1.07s", ("duration",)),
    ("real\t0m1.204s", "real\t0m9.1s", ("duration",)),
    ("Duration: 3.1", "Duration: 17.25", ("duration",)),
    ('{"elapsed_ms": 12}', '{"elapsed_ms": 7}', ("duration",)),
    ("took 12 ms", "took 3 ms", ("duration",)),
    ("web 3/4 Running 4m", "web 3/4 Running 9m", ("duration",)),
    ("at 2031-05-01T10:20:30.123Z", "at 2031-05-01T10:21:00Z", ("timestamp",)),
    ("May  1 10:20:30 host up", "May  2 11:20:30 host up", ("timestamp",)),
    ("Date: Thu, 01 May 2031 10:20:30 GMT", "Date: Fri, 02 May 2031 09:20:30 GMT", ("timestamp",)),
    ('"ts": 1770436163', '"ts": 1770436199', ("timestamp",)),
    ("session brisk-heron, pid 41007", "session calm-otter, pid 41120", ("pid", "session")),
    ("[1] 12345", "[1] 12399", ("pid",)),
    ("Process running with session ID 27523", "Process running with session ID 83832", ("session",)),
    ("attempt 3 of 10: no", "attempt 4 of 10: no", ("counter",)),
    ("You have called this tool 3 times in a row", "You have called this tool 4 times in a row", ("counter",)),
    ("57 calls left", "56 calls left", ("counter",)),
    ("Versuch 3 von 10", "Versuch 4 von 10", ("attempt",)),
    ("第3次重试失败", "第4次重试失败", ("attempt",)),
    ("wrote /tmp/x81/out.txt", "wrote /tmp/k2/out.txt", ("temporary path",)),
    ("saved screenshot_100.png", "saved screenshot_103.png", ("temporary path",)),
    ('{"request_id":"req_000012ab"}', '{"request_id":"req_98100fff"}', ("request id",)),
    ("Chunk ID: f2c708", "Chunk ID: 395f7d", ("request id",)),
    ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", "7d444840-9dc0-11d1-b245-5ffdce74fad2", ("request id",)),
    ('<<<DATA id="0a1b2c3d4e5f6a7b">>>', '<<<DATA id="ffeeddccbbaa0099">>>', ("request id",)),
    (
        "Dropped refs/stash@{0} (6c0b55ae82c13247e84a77687259e56caedfed89)",
        "Dropped refs/stash@{0} (6696a8836f54763899383ebda0749b2665c86e6d)",
        ("stash",),
    ),
    (
        "Saved working directory and index state WIP on main: 20869b0 reader",
        "Saved working directory and index state WIP on main: d573c48 reader",
        ("stash",),
    ),
    ("object at 0x7f8f39787150", "object at 0x7f8f395fe690", ("address",)),
    ('uid=7_3 link "Home"', 'uid=12_3 link "Home"', ("element reference",)),
    ('button "Next" [ref=e47]', 'button "Next" [ref=s2e51]', ("element reference",)),
    ('{"role": "button", "ref": "e4"}', '{"role": "button", "ref": "e51"}', ("element reference",)),
    ("- Console: 0 errors, 2 warnings", "- Console: 3 errors, 1 warnings", ("page counter",)),
    ("Piscina (8110 visitas)", "Piscina (8111 visitas)", ("page counter",)),
    ("2 days ago · 1,204 views", "2 days ago · 1,209 views", ("page counter",)),
    ("更新 阅读量: 812", "更新 阅读量: 813", ("page counter",)),
    ('{"usage": {"prompt_tokens": 81}}', '{"usage": {"prompt_tokens": 97}}', ("usage",)),
    ('{"cost_usd": 0.0031}', '{"cost_usd": 0.004}', ("usage",)),
    ("Server time 09:16:31", "Server time 09:16:45", ("timestamp",)),
    ('{"out":"a\\nin 0.1s\\nb"}', '{"out":"a\\nin 0.2s\\nb"}', ("duration",)),
]


@pytest.mark.parametrize(("one", "other", "names"), SAME)
def test_noise_is_named(one: str, other: str, names: tuple[str, ...]) -> None:
    assert same_but_for_noise(one, other) == names
    assert same_but_for_noise(f"same\n{one}\nsame", f"same\n{other}\nsame") == names


def test_every_kind_of_noise_is_in_the_table() -> None:
    assert {name for _, _, names in SAME for name in names} == set(PATTERNS)


DIFFERENT = [
    ("step 3/9", "step 4/9"),
    ("step 3 of 9", "step 4 of 9"),
    ("45 %", "46 %"),
    ("8 failed, 1 passed", "7 failed, 2 passed"),
    ("12 items", "13 items"),
    ("task 3 done", "task 4 done"),
    ("job 12 queued", "job 12 running"),
    ("calendar shows October", "calendar shows November"),
    ("viewport 600-1200", "viewport 1200-1800"),
    ("guests: 1", "guests: 2"),
    ("commit 1a2b3c4d", "commit 9f8e7d6c"),
    ("v1.2.3", "v1.2.4"),
    ("page 3", "page 4"),
    ("port 4100", "port 4101"),
    ("uploaded 12 MB", "uploaded 13 MB"),
    ("session expired", "session open"),
    ("ruff: 3 errors, 1 warnings", "ruff: 2 errors, 1 warnings"),
    ('{"visits": 812}', '{"visits": 815}'),
    ("812 views", "815 views"),
    ("uid=501(ann)", "uid=502(bob)"),
    ('{"tokens": 812}', '{"tokens": 815}'),
    ('{"cost": 3}', '{"cost": 4}'),
    ("ref=main", "ref=topic"),
    ("a\nb", "a\nb\nc"),
    ("in 0.1s: ok", "in 0.2s: failed"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_news_is_no_noise(one: str, other: str) -> None:
    assert same_but_for_noise(one, other) is None
    assert same_but_for_noise(other, one) is None


def test_the_differing_part_of_a_long_line_is_enough() -> None:
    long = "x " * MAX_SPAN
    assert same_but_for_noise(f"{long} in 3 ms {long}", f"{long} in 4 ms {long}") == ("duration",)
    assert same_but_for_noise(f"{long} step 3 {long}", f"{long} step 4 {long}") is None


def test_too_much_to_look_at_counts_as_different() -> None:
    many = "\n".join(f"{i} ms" for i in range(300))
    assert same_but_for_noise(many, many.replace("ms", "s")) is None
    apart = "x" * (MAX_SPAN + 2 * CONTEXT)
    assert same_but_for_noise(f"1 ms {apart} 1 ms", f"2 ms {apart} 2 ms") is None


texts = st.text(st.sampled_from("ab1 2:.-/\n\\sidm0x_"), max_size=60)


@given(texts, texts)
def test_comparing_is_symmetric(one: str, other: str) -> None:
    assert same_but_for_noise(one, other) == same_but_for_noise(other, one)


@given(texts)
def test_a_text_differs_from_itself_in_nothing(text: str) -> None:
    assert same_but_for_noise(text, text) == ()


@given(texts, st.integers(0, 10**6), st.integers(0, 10**6))
def test_what_surrounds_noise_does_not_matter(text: str, a: int, b: int) -> None:
    names = same_but_for_noise(f"{text}\ntook {a} ms\n{text}", f"{text}\ntook {b} ms\n{text}")
    assert names == (() if a == b else ("duration",))


EVIL = [
    "a-", "0", "session ", "1 m ", "/tmp/", "id=a-", "1:", "may ", "deadbeef", "session_id='", "tmp_", "12.3", "x-",
    "0x", "call ", "abcdef-", "response_time", "called ", "attempt ", "c:\\temp\\", "2031-", "screenshot_", "request ",
]  # fmt: skip


@pytest.mark.parametrize("piece", EVIL)
def test_removal_is_linear(piece: str) -> None:
    def cost(size: int) -> float:
        text = (piece * size)[:size]
        best = 9.0
        for _ in range(3):
            begun = time.process_time()
            remove(text, set())
            best = min(best, time.process_time() - begun)
        return best

    small, large = cost(2000), cost(16000)
    # Eight times the text; quadratic work would take sixty-four times as long.
    assert large < 30 * max(small, 0.0005)


def test_the_lower_case_of_a_letter_is_what_it_matches() -> None:
    """So noise may be looked for in the lower case of a line."""
    letters = {letter.lower() for pattern in PATTERNS.values() for letter in pattern if letter.isalpha()}
    letters.update(string.ascii_lowercase)
    others = "".join(map(chr, range(0x20000)))  # behind it no letter has a case
    low = regex.folded(others.translate(noise._FOLDED_ELSEWHERE))
    assert len(low) == len(others)
    matched = set(re.findall(f"[{''.join(letters)}]", others, re.IGNORECASE))
    assert matched == {written for written, each in zip(others, low, strict=True) if each in letters}
