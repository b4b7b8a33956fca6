"""Elements like ``<feedback>...</feedback>`` in a text, in time linear in its length."""

from __future__ import annotations

import re
from collections.abc import Iterator


def elements(text: str, opening: re.Pattern[str]) -> Iterator[str]:
    """What stands in the elements that ``opening`` begins, without white space around it.

    ``opening`` has the tag's name as its group ``tag``. An element without an end is none.
    """
    unclosed: set[str] = set()
    at = 0
    while match := opening.search(text, at):
        tag = match["tag"]
        at = match.end()
        if tag in unclosed:
            continue
        end = text.find(f"</{tag}>", at)
        if end < 0:
            # No later one of this tag has an end either: looking again would take quadratic time.
            unclosed.add(tag)
            continue
        yield text[at:end].strip()
        at = end + len(tag) + 3
