"""Text as JavaScript has it: code units and white space."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.policies.kit.utf16 import BLANKS, SPACE, last_words, trim, units, words

odd_texts = st.text(alphabet="ab \t\n\x0b\x1c\x1f\x85\xa0\u180e\u2003\u2028\ufeff\ud800é😀", max_size=30)


@given(st.text())
def test_one_character_per_code_unit(text: str) -> None:
    encoded = text.encode("utf-16-le", "surrogatepass")
    split = units(text)
    assert len(split) == len(encoded) // 2
    assert [ord(c) for c in split] == [int.from_bytes(encoded[i : i + 2], "little") for i in range(0, len(encoded), 2)]


@given(odd_texts)
def test_words_are_cut_at_javascripts_white_space(text: str) -> None:
    assert words(text) == [word for word in re.split(f"[{re.escape(BLANKS)}]+", text) if word]
    for most in (1, 2, 5):
        assert last_words(text, most) == words(text)[-most:]


@given(odd_texts)
def test_trimming_takes_the_same_characters(text: str) -> None:
    trimmed = trim(text)
    assert trimmed in text
    assert words(trimmed) == words(text)
    assert not trimmed or (trimmed[0] not in BLANKS and trimmed[-1] not in BLANKS)


def test_the_two_ways_to_name_white_space_agree() -> None:
    space = re.compile(f"[{SPACE}]")
    assert [c for c in map(chr, range(0x10000)) if space.match(c)] == sorted(BLANKS)


@pytest.mark.parametrize(("character", "splits"), [("\ufeff", True), ("\x85", False), ("\x1f", False), ("\xa0", True)])
def test_where_python_splits_otherwise(character: str, splits: bool) -> None:
    assert words(f"a{character}b") == (["a", "b"] if splits else [f"a{character}b"])
