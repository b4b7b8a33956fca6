"""A policy's page fits the terminal."""

from __future__ import annotations

import pytest

from loopaudit.cli.catalogue import WIDEST, docstring, reflow
from loopaudit.policies.registry import policies

TEXT = """A summary that is long
and goes on.

Acts
    * ``one``: a first item that
      goes on;
      and on.
    * ``two``: a second.

    A paragraph.

Examples
    read(a)=x read(a)=x | . block
    read(b)=x | .
"""


def test_paragraphs_and_items_are_filled() -> None:
    assert list(reflow(TEXT, 30)) == [
        "A summary that is long and",
        "goes on.",
        "",
        "Acts",
        "    * ``one``: a first item",
        "      that goes on; and on.",
        "    * ``two``: a second.",
        "",
        "    A paragraph.",
        "",
        "Examples",
        "    read(a)=x read(a)=x | .",
        "        block",
        "    read(b)=x | .",
        "",
    ]


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("name", policies().ids())
def test_nothing_is_lost_and_lines_are_short(name: str, width: int) -> None:
    text = docstring(policies().get(name))
    lines = list(reflow(text, width))
    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= min(width, WIDEST) or len(line.split()) <= 2 for line in lines)
    items = [line for line in text.splitlines() if line.lstrip().startswith("* ")]
    assert sum(line.lstrip().startswith("* ") for line in lines) == len(items)
