"""Elements of calls in prose end where a lazy pattern ends them, without the time that it takes."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from loopaudit.readers.kit.text_calls import element_calls, without_thoughts

PATTERNS = {
    "<function=": (
        r"<function=([^>\n]{1,200})>(.*?)(?:</function>|\Z)",
        r"<parameter=([^>\n]{1,200})>(.*?)(?:</parameter>|(?=<parameter=)|\Z)",
    ),
    "<invoke": (
        r'<invoke\s+name="([^">\n]{1,200})"\s*>(.*?)(?:</invoke>|\Z)',
        r'<parameter\s+name="([^">\n]{1,200})"[^>]{0,80}>(.*?)(?:</parameter>|\Z)',
    ),
}

PIECES = """<function= |f>|<function=f>|</function>|<parameter=|a>|<parameter=a>|</parameter>|text|<invoke name="g">
|</invoke>|<parameter name="k">|<parameter name="l" x>|<function_calls>|</function_calls>|<|>|"""
pieces = st.sampled_from([*PIECES.split("|"), "\n"])


def by_patterns(text: str) -> tuple[str, list[tuple[str, dict[str, str]]]]:
    """What the elements are by their patterns, which say it in a line each."""
    text = without_thoughts(text)
    element, parameter = next((both for mark, both in PATTERNS.items() if mark in text), ("", ""))
    calls = []
    for match in re.finditer(element, text, re.DOTALL):
        found = re.finditer(parameter, match[2], re.DOTALL)
        arguments = {inner[1].strip(): inner[2].removeprefix("\n").removesuffix("\n") for inner in found}
        calls.append((match[1].strip(), arguments))
    return re.sub(r"</?function_calls>", "", re.sub(element, "", text, flags=re.DOTALL)).strip(), calls


@given(st.lists(pieces, max_size=14).map("".join))
def test_elements_are_what_their_patterns_say(text: str) -> None:
    if "<function=" in text or "<invoke" in text:
        prose, calls = element_calls(text)
        assert (prose, [(call.name, call.arguments) for call in calls]) == by_patterns(text)


def test_many_elements_without_an_end_take_linear_time() -> None:
    taken = []
    for count in (4_000, 16_000):
        text = "<function=f>" + "<parameter=a>x" * count + "</parameter>" + "<parameter=b>y</parameter>" * count
        begin = time.process_time()
        element_calls(text)
        taken.append(time.process_time() - begin)
    assert taken[1] < 10 * taken[0] + 0.05
