"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
import re
import string
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import loopaudit
from loopaudit.core import regex
from loopaudit.core.regex import Caseless, Phrase
from loopaudit.hindsight.calls import languages
from tests.spellings import spellings


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


def test_a_letter_stands_in_a_folded_text_where_it_matches_without_regard_to_case() -> None:
    letters = "".join(map(chr, range(0x20000)))  # behind it no letter has a case
    low = regex.folded(letters)
    assert len(low) == len(letters)
    for letter in string.ascii_lowercase:
        matched = re.findall(letter, letters, re.IGNORECASE)
        assert matched == [written for written, each in zip(letters, low, strict=True) if each == letter]


@given(st.text("sSkKiIé\u017f\u0130\u0131\u212a ", max_size=6))
@pytest.mark.parametrize("method", ["search", "match", "fullmatch"])
def test_a_caseless_pattern_finds_what_one_without_case_finds(method: str, text: str) -> None:
    assert len(regex.folded(text)) == len(text)
    for pattern in (r"s(\S+)", r"[i-k]+ ?", r"\bsk\b", "é", r"[^s]i"):
        found = getattr(Caseless(pattern), method)(text)
        general = getattr(re.compile(pattern, re.IGNORECASE), method)(text)
        assert (found and (found.span(), found.regs)) == (general and (general.span(), general.regs))


_Kind = TypeVar("_Kind")


def _all(kind: type[_Kind]) -> dict[str, _Kind]:
    """Everything of a kind in the package, by the place where it stands."""
    found: dict[str, _Kind] = {}

    def look(place: str, value: object) -> None:
        if isinstance(value, kind):
            found[place] = value
        elif isinstance(value, tuple):
            for number, each in enumerate(value):
                look(f"{place}.{number}", each)
        elif isinstance(value, dict):
            for name, each in value.items():
                look(f"{place}.{name}", each)

    for info in pkgutil.walk_packages(loopaudit.__path__, "loopaudit."):
        if not info.name.startswith("loopaudit.integrations"):
            for name, value in vars(importlib.import_module(info.name)).items():
                look(f"{info.name}.{name}", value)
    look("counts", languages.counts())
    return found


def test_caseless_patterns_are_written_in_lower_case() -> None:
    caseless = _all(Caseless)
    assert len(caseless) > 10
    for place, each in caseless.items():
        written = re.sub(r"\\[A-Z]", "", each.pattern.pattern)
        assert written == written.lower(), place


def test_whatever_a_phrase_matches_holds_one_of_its_words() -> None:
    phrases = _all(Phrase)
    assert len(phrases) > 100
    for place, phrase in phrases.items():
        lower = phrase.pattern.flags & re.IGNORECASE
        for text in spellings(phrase.pattern.pattern):
            assert phrase.may_match(text.lower() if lower else text), (place, text)


@given(st.text("abc é€\U0001f6d1\ud800", max_size=12), st.lists(st.text("abc é€\U0001f6d1", min_size=1, max_size=6)))
def test_an_index_passes_over_no_phrase_whose_word_stands_in_the_text(text: str, words: list[str]) -> None:
    phrases = [Phrase(word, re.escape(word)) for word in words]
    index = regex.Index((phrase, place) for place, phrase in enumerate(phrases))
    possible = index.possible(regex.pieces(text))
    assert len(set(possible)) == len(possible)
    assert {place for place, word in enumerate(words) if word in text} <= set(possible)


def test_an_index_passes_over_what_does_not_stand_in_the_text() -> None:
    index = regex.Index([(Phrase("keep|until i", "keep|until i"), 1), (Phrase("over and", "over and"), 2)])
    assert index.possible(regex.pieces("run it until it fails")) == [1]
    assert index.possible(regex.pieces("ove")) == index.possible(regex.pieces("")) == []
