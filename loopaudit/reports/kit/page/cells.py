"""Measures, cuts, pads and wraps text in terminal cells.

A wide East Asian character or emoji takes two cells, a combining mark none, anything else
one. Everything here takes text from a transcript and gives text that is safe to print on one
line: :func:`clean` comes first in each function.
"""

from __future__ import annotations

from typing import Literal
from unicodedata import category, east_asian_width

from loopaudit.core import regex, text

Keep = Literal["head", "tail"]
"""Which end of a cut text stays: the head of a sentence, the tail of a path."""

_BREAKS = regex.lazy(r"[ \t\n]+")


def safe(raw: str) -> str:
    """Visible text on one line, its spaces kept: no control characters, no line breaks."""
    if raw.isascii() and raw.isprintable():
        return raw
    return text.visible(raw).replace("\n", " ").replace("\t", " ")


def clean(raw: str) -> str:
    """Visible text on one line, white space squeezed."""
    if raw.isascii() and raw.isprintable() and "  " not in raw:
        return raw
    return _BREAKS.sub(" ", text.visible(raw)).strip()


def width(clean_text: str) -> int:
    """Cells that a clean text takes."""
    if clean_text.isascii():
        return len(clean_text)
    return sum(map(_cells, clean_text))


def _cells(character: str) -> int:
    if character.isascii():
        return 1
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def fit(raw: str, cells: int, keep: Keep = "head") -> str:
    """Clean text of at most ``cells`` cells; what was cut is an ellipsis."""
    return cut(clean(raw), cells, keep)


def cut(shown: str, cells: int, keep: Keep = "head") -> str:
    """What :func:`fit` does, for text that is safe already; its spaces stay."""
    if cells <= 0:
        return ""
    if width(shown) <= cells:
        return shown
    if keep == "tail":
        return text.ELLIPSIS + _head(shown[::-1], cells - 1)[::-1].lstrip()
    return _head(shown, cells - 1).rstrip() + text.ELLIPSIS


def _head(shown: str, cells: int) -> str:
    """As many leading characters as fit into ``cells``."""
    if shown.isascii():
        return shown[:cells]
    used = 0
    for position, character in enumerate(shown):
        used += _cells(character)
        if used > cells:
            return shown[:position]
    return shown


def pad(clean_text: str, cells: int, *, right: bool = False) -> str:
    """A clean text filled up with spaces to ``cells``; ``right`` puts them before it."""
    space = " " * max(cells - width(clean_text), 0)
    return space + clean_text if right else clean_text + space


def wrap(raw: str, cells: int) -> list[str]:
    """Clean text broken at spaces into lines of at most ``cells``; too long words are cut up.

    No-break spaces hold words together and become spaces.
    """
    cells = max(cells, 1)
    lines: list[str] = []
    line = ""
    for word in clean(raw).split(" "):
        if line and width(line) + 1 + width(word) <= cells:
            line = f"{line} {word}"
            continue
        if line:
            lines.append(line)
        line = word
        while width(line) > cells:
            part = _head(line, cells) or line[0]
            lines.append(part)
            line = line[len(part) :]
    if line:
        lines.append(line)
    return [line.replace("\u00a0", " ") for line in lines]
