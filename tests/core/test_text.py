"""Nothing from a transcript acts on what shows it."""

from __future__ import annotations

import html as stdlib_html
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core import text

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07after",
    "[/bold][red]x",
    "::error file=a::boom",
    "a\r\n::set-output name=x::y",
    "<script>alert(1)</script>",
    "| a | b |",
    "`code` ``more``",
    "\u202etxet",
    "\ud83d",
    "]]>",
    "\x00\x07\x7f\x9b31m",
    "\U000e0041hidden",
    "a" * 5000,
    "&amp; ' \"",
]


@pytest.mark.parametrize("sample", HOSTILE)
def test_visible_text_has_no_control_characters_and_can_be_encoded(sample: str) -> None:
    shown = text.visible(sample)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in shown)
    assert not set(shown) & set("\x7f\x9b\u202e\u2028\ufeff\U000e0041")
    shown.encode()


@given(st.text(st.characters(blacklist_categories=[])), st.integers(1, 60))
def test_one_line_is_one_line_of_at_most_the_width(sample: str, width: int) -> None:
    line = text.one_line(sample, width)
    assert len(line) <= width and "\n" not in line and "\x1b" not in line
    line.encode()


@given(st.text())
def test_short_plain_text_stays_as_it_is(sample: str) -> None:
    plain = "".join(c for c in sample if c.isascii() and c.isalnum())
    assert text.one_line(plain, 10_000) == plain


@given(st.text(st.characters(blacklist_categories=[])))
def test_xml_can_be_parsed_and_says_the_same(sample: str) -> None:
    parsed = ET.fromstring(f'<a b="{text.xml(sample)}">{text.xml(sample)}</a>')
    expected = text.visible(sample).replace("\t", "\t")
    assert (parsed.text or "") == "".join(c if c in "\t\n" or c >= " " else "\ufffd" for c in expected).replace(
        "\ufffe", "\ufffd"
    ).replace("\uffff", "\ufffd")


@given(st.text(st.characters(blacklist_categories=[])))
def test_html_comes_back_as_the_visible_text(sample: str) -> None:
    assert stdlib_html.unescape(text.html(sample)) == text.visible(sample)
    assert not set(text.html(sample)) & set("<>\"'")


@given(st.text())
def test_workflow_commands_stay_on_one_line(sample: str) -> None:
    assert "\n" not in text.workflow(sample) and "\r" not in text.workflow(sample)
    assert ":" not in text.workflow(sample, is_property=True)


@given(st.text())
def test_code_spans_cannot_be_left(sample: str) -> None:
    span = text.markdown_code(sample)
    if span:
        ticks = len(span) - len(span.lstrip("`"))
        inside = span[ticks : len(span) - ticks]
        assert "`" * ticks not in _runs(inside)
        assert "|" not in inside


def _runs(sample: str) -> list[str]:
    import re

    return re.findall(r"`+", sample)


@given(st.text())
def test_markdown_has_nothing_active(sample: str) -> None:
    shown = text.markdown(sample)
    assert not set(shown) & set("<>|*_`[]\\~@")
    assert "\n" not in shown
