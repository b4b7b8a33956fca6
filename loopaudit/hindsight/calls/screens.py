"""What is on the screen: whether a click or a key has changed the page or the picture that its answer shows."""

from __future__ import annotations

from typing import Final

from loopaudit.core import regex
from loopaudit.hindsight.calls.noise import remove_all
from loopaudit.hindsight.calls.outputs import Held, equal, text_of

MAX_PAGE: Final = 1 << 14
"""Longest page in characters of which noise is left out; longer ones are compared as they are."""

_PICTURE: Final = regex.lazy(r"\[image [^\]\s]{1,64}\]")
_REFERENCE: Final = regex.Phrase("ref=|uid=", r"\[ref=|\buid=\d|\bref=\"?[a-z]?\d")


class Screens:
    """What one agent has last seen of a screen, and how many acts in a row have left it as it was.

    ``first`` is the call that showed it first.
    """

    __slots__ = ("_batch", "_page", "_still", "first")

    def __init__(self) -> None:
        self._page: Held | None = None
        self._still = 0
        self._batch = -1
        self.first = 0

    def clear(self) -> None:
        """A person asked for something new."""
        self._still = 0

    def saw(self, held: Held, number: int, batch: int) -> bool:
        """Note what an answer shows; whether it is the page that was there before."""
        page = _page_of(held)
        if page is None:
            return False
        if self._page is not None and equal(self._page, page):
            return True
        self._page, self._still, self._batch, self.first = page, 0, batch, number
        return False

    def acted(self, held: Held, number: int, batch: int) -> int:
        """How many acts in a row, of different responses, have left the screen as it was, as their answers show."""
        if not self.saw(held, number, batch) or self._batch == batch:
            return 0
        self._still += 1
        self._batch = batch
        return self._still


def _page_of(held: Held) -> Held | None:
    """The page or the picture in an answer, without noise; ``None`` where it is a mere acknowledgement."""
    text = text_of(held)
    if text is None:
        return held  # of a long one the digest
    pictures = _PICTURE.findall(text)
    if pictures:
        return "\n".join(pictures)
    if _REFERENCE.search(text) is None:
        return None
    return remove_all(text) if len(text) <= MAX_PAGE else text
