"""What a call is taken to have result_text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.events import TOKEN_LIMIT, Result
from loopaudit.policies.kit.results import BEGINNING, HEAD, head, result_text


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
    assert result_text(result) == text


def test_large_outputs_stay_equal_after_they_were_shortened() -> None:
    one, two = Result("x" * (TOKEN_LIMIT + 1)), Result("x" * (TOKEN_LIMIT + 1))
    before = result_text(one)
    one.shrink()
    assert result_text(one) == before == result_text(two)


def spellings(text: str) -> list[Result]:
    """One output in the ways that a recording may have it."""
    escaped = json.dumps(text).encode()
    plain = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
    read = Result(escaped)
    assert read.token == text
    blocks = json.dumps([{"type": "text", "text": text}]).encode()
    same = [Result(escaped), Result(escaped.replace(b"/", b"\\/")), Result(text), Result(blocks), read]
    return same if "\ud83d" in text else [*same, Result(plain)]


pieces = st.text(st.sampled_from('ab/ "\\\n\té✓😀\ud83d'), max_size=40)


@given(pieces, st.sampled_from(["", " ", "word " * 60, "é" * 150, "\\" * 150]), pieces)
def test_heads_are_equal_however_an_output_is_spelled(first: str, middle: str, last: str) -> None:
    text = first + middle + last
    assert {head(result) for result in spellings(text)} == {text[:HEAD]}


def test_a_head_is_read_without_the_rest() -> None:
    result = Result(b'"' + b"word " * BEGINNING + b'"')
    assert head(result) == ("word " * HEAD)[:HEAD]
    assert isinstance(result.source, bytes)


@pytest.mark.parametrize("broken", [b"\xff", b"\xe2\x82"])
def test_heads_of_broken_bytes(broken: bytes) -> None:
    source = b'"' + b"word " * 8 + broken + b" rest" * BEGINNING + b'"'
    assert head(Result(source)) == Result(source).output[:HEAD]
    assert head(Result(b'"' + broken + source[1:])) == Result(b'"' + broken + source[1:]).output[:HEAD]


def test_the_head_of_a_large_output_stays() -> None:
    one, two = Result(b'"' + b"x" * TOKEN_LIMIT + b'"'), Result(b'"' + b"x" * TOKEN_LIMIT + b'"')
    before = head(one)
    one.shrink()
    assert head(one) == before == head(two)
