"""Text as JavaScript sees it: in UTF-16 code units, with JavaScript's white space."""

from __future__ import annotations

import re
from typing import Final

from loopaudit.core import regex

SPACE: Final = "\\t-\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
r"""What ``\s`` matches in a JavaScript pattern, to stand inside a character class.

Python's own ``\s`` takes U+001C to U+001F and U+0085 too, and leaves out U+FEFF.
"""

SPACES: Final = regex.lazy(f"[{SPACE}]+")

_ASTRAL: Final = regex.lazy("[\U00010000-\U0010ffff]")


def units(text: str) -> str:
    """The text with one character per UTF-16 code unit: pairs of surrogates for all beyond U+FFFF.

    Lengths, positions and slices of it are those of a JavaScript string.
    """
    if text.isascii() or len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):
        return text
    return _ASTRAL.sub(_pair, text)


def _pair(found: re.Match[str]) -> str:
    beyond = ord(found.group()) - 0x10000
    return chr(0xD800 + (beyond >> 10)) + chr(0xDC00 + (beyond & 0x3FF))


def words(text: str) -> list[str]:
    """The stretches of a text between white space, as ``text.trim().split(/\\s+/)`` has them.

    A blank text has none.
    """
    if _splits_as_here(text):
        return text.split()
    return [word for word in SPACES.split(text) if word]


def last_words(text: str, most: int) -> list[str]:
    """The last of the :func:`words` of a text; the others need not be made."""
    return text.rsplit(None, most)[-most:] if _splits_as_here(text) else words(text)[-most:]


def _splits_as_here(text: str) -> bool:
    """Whether a text has none of the characters at which either Python or JavaScript splits, but not both."""
    # Looking for each takes less than a pattern for all of them.
    if "\x1c" in text or "\x1d" in text or "\x1e" in text or "\x1f" in text:
        return False
    return text.isascii() or not ("\x85" in text or "\ufeff" in text)


BLANKS: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The characters of :data:`SPACE`, one by one."""


def trim(text: str) -> str:
    """The text without white space at its ends, as JavaScript's ``trim`` leaves it."""
    return text.strip(BLANKS)
