"""Results that a harness puts aside, with a preview: to read them as a whole puts them aside once more."""

from __future__ import annotations

from typing import Final

import msgspec

from loopaudit.core.events import Call
from loopaudit.core.regex import Phrase
from loopaudit.hindsight.calls.footers import Footers
from loopaudit.hindsight.calls.noise import remove_all
from loopaudit.hindsight.calls.outputs import Held, KnownCall, as_letters, text_of

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


LEAST: Final = 24
"""Characters or bytes in which results begin alike that may show one preview."""


class _Aside(msgspec.Struct):
    place: str
    preview: str
    batch: int
    number: int
    again: int = 0


def _begin_alike(one: Held, other: Held) -> bool:
    """Whether two results may show the same preview: a quick look that decodes nothing."""
    if isinstance(one, tuple) or isinstance(other, tuple) or abs(len(one) - len(other)) > LOOKED_AT:
        return False
    return one[:LEAST] == other[:LEAST]


def _may_be_aside(held: Held) -> bool:
    """Whether a short result may name a place where it was put: a quick look, since blocks of content begin alike."""
    if isinstance(held, tuple):
        return False
    ends = as_letters(held[:LOOKED_AT])
    if len(held) > LOOKED_AT:
        ends += as_letters(held[-LOOKED_AT:])
    return _PLACE.may_match(ends.lower())


def _aside(held: Held, number: int, batch: int) -> _Aside | None:
    """What a result says to be put aside; ``None`` where it does not."""
    low = (text_of(held) or "").lower()
    place = _PLACE.search(low[:LOOKED_AT]) or _PLACE.search(low[-LOOKED_AT:])
    if place is None or _WHOLE.search(low) is None:
        return None
    where = place.group(1).rstrip(".")
    return _Aside(where, remove_all(low.replace(where, "<place>")), batch, number)


class PutAside:
    """The last result of one agent that was put aside. ``first`` is the call that had it first."""

    __slots__ = ("_before", "_held", "_last", "_whole", "first")

    def __init__(self) -> None:
        self._before: tuple[str | bytes, str | bytes, int, int] | None = None
        """How the last result begins, the result, its call and its response, if it is as long as a preview may be.

        It is looked into when the next result begins like it.
        """
        self._whole: Held = ""
        """The last result that was found to name no place: blocks of content begin alike, and each is met twice."""
        self._last: _Aside | None = None
        self._held: Held = ""
        self.first = 0

    def clear(self) -> None:
        """A person asked for something new."""
        self._before = self._last = None
        self._whole = ""

    def again(self, entry: KnownCall, call: Call, footers: Footers) -> int:
        """How many calls, of different responses, asked for what was put aside and got the same preview.

        The place is another one each time; but for that, for ``footers`` and for noise, the answers are equal.
        """
        held, before, last = entry.held, self._before, self._last
        if isinstance(held, tuple) or not LEAST <= len(held) <= MAX_PREVIEW:
            self._before = None  # a longer one is no preview, and not held on to
        else:
            self._before = held[:LEAST], held, entry.last, entry.batch
        if last is None and (before is None or before[0] != held[:LEAST]):
            return 0  # as nearly always; no more than their beginnings is looked at
        if last is None or not _begin_alike(self._held, held):
            if before is None or before[1] is self._whole or not _begin_alike(before[1], held):
                return 0
            for result in (held, before[1]):
                if not _may_be_aside(result):
                    self._whole = result
                    return 0
            last = _aside(footers.plain(before[1]), before[2], before[3])
        now = None if last is None else _aside(footers.plain(held), entry.last, entry.batch)
        if last is None or now is None:
            return 0
        self._last, self._held = now, held
        if last.preview != now.preview or last.place not in call.raw_arguments.lower():
            return 0
        now.again = last.again + (last.batch != entry.batch)
        self.first = now.number = last.number
        return now.again
