"""Results that a harness puts aside, with a preview: to read them as a whole puts them aside once more."""

from __future__ import annotations

from typing import Final

import msgspec

from loopaudit.core.events import Call
from loopaudit.core.regex import Phrase
from loopaudit.hindsight.calls.noise import remove_all
from loopaudit.hindsight.calls.outputs import Held, as_letters, text_of

LOOKED_AT: Final = 400
"""Characters or bytes at the beginning and at the end of a result in which its place is looked for."""

MAX_PREVIEW: Final = 16_384
"""Longest result in characters or bytes that may be a preview."""

_PLACE: Final = Phrase(
    "saved|written|stored|persisted|moved|offloaded|dumped|spilled|available",
    r"\b(?:saved|written|stored|persisted|moved|offloaded|dumped|spilled|available)"
    r"(?: (?:to|in|into|at|as|under))?(?: (?:the )?(?:file|path|artifact|resource|handle))?(?:\s*[:=]\s*|\s+)"
    r"[`'\"<(\[]?((?=[^\s`'\"<>)\]]*[/\\._:-])[^\s`'\"<>)\],;]{4,300})",
)
"""Where a result was put, in lower case."""

_WHOLE: Final = Phrase(
    "too l|too b|exceed|truncated|preview|full ",
    r"\b(?:too (?:large|long|big)|exceed\w{0,3}|truncated|preview|full (?:output|result|response|content)s?)\b",
)
"""That more was put there than is shown."""


class _Aside(msgspec.Struct):
    place: str
    preview: str
    batch: int
    number: int
    again: int = 0


def _may_be_aside(held: Held) -> bool:
    """A quick look that decodes nothing."""
    if isinstance(held, tuple) or len(held) > MAX_PREVIEW:
        return False
    ends = as_letters(held[:LOOKED_AT])
    if len(held) > LOOKED_AT:
        ends = f"{ends}\n{as_letters(held[-LOOKED_AT:])}"
    return _PLACE.may_match(ends.lower())


class PutAside:
    """The last result of one agent that was put aside. ``first`` is the call that had it first."""

    __slots__ = ("_last", "first")

    def __init__(self) -> None:
        self._last: _Aside | None = None
        self.first = 0

    def clear(self) -> None:
        """A person asked for something new."""
        self._last = None

    def again(self, call: Call, held: Held, batch: int) -> int:
        """How many calls in a row, of different responses, asked for what was put aside and got the same preview.

        The place is another one each time; but for that, and for noise, the answers are equal.
        """
        if not _may_be_aside(held):
            return 0
        text = text_of(held) or ""
        low = text.lower()
        if not _WHOLE.may_match(low):
            return 0
        find = _PLACE.pattern.search  # its words have been looked for
        place = find(low[:LOOKED_AT]) or find(low[-LOOKED_AT:])
        if place is None or _WHOLE.pattern.search(low) is None:
            return 0
        where = place.group(1).rstrip(".")
        preview = remove_all(low.replace(where, "<place>"))
        last = self._last
        if last is None or last.preview != preview or last.place not in call.raw_arguments.lower():
            self._last = _Aside(where, preview, batch, call.number)
            return 0
        again = last.again + (last.batch != batch)
        self._last = _Aside(where, preview, batch, last.number, again)
        self.first = last.number
        return again
