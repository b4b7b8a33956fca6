"""Fits the docstring of a policy to the width of a terminal.

A paragraph is what stands at one indentation between empty lines; an item of a list starts
with ``* `` and goes on under its text. The examples are lines, not paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

WIDEST: Final = 100
"""Columns beyond which lines get no longer: they would be hard to read."""

BULLET: Final = "* "


def reflow(text: str, width: int) -> Iterator[str]:
    """The lines of a docstring, filled anew. A heading stays a line of its own."""
    block: list[str] = []
    hanging = 0
    verbatim = False
    for line in [*text.splitlines(), ""]:
        said = line.lstrip()
        indent = len(line) - len(said)
        starts = not said or verbatim or indent != hanging or said.startswith(BULLET)
        if block and starts:
            yield from fill(" ".join(block), width, hanging)
            block = []
        if not said:
            yield ""
            continue
        if not indent:
            verbatim = said == "Examples"
        if not block:
            hanging = indent + (len(BULLET) if said.startswith(BULLET) else 0)
            block = [line]
            if verbatim:
                hanging += 4
        else:
            block.append(said)


def fill(line: str, width: int, hanging: int) -> list[str]:
    """One line broken to the width, with ``hanging`` spaces before all parts but the first. No word is broken."""
    said = line.lstrip()
    start = line[: len(line) - len(said)]
    if said.startswith(BULLET):
        # The bullet never stands alone, however long the first word is.
        start, said = start + BULLET, said.removeprefix(BULLET)
    return wrap(
        said,
        min(width, WIDEST),
        initial_indent=start,
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
