"""Finds the records in lines that are no JSON: several in one line, one behind a cut one, one over several lines."""

from __future__ import annotations

import json
from typing import Final

from msgspec import Struct

from loopaudit.core import regex
from loopaudit.core.json import exact_loads

MAX_TRIES: Final = 16
"""Places of a line at which another record is looked for, at most."""

MAX_LINES: Final = 1000
MAX_BYTES: Final = 1 << 22
"""Lines and bytes that a record with raw line breaks may go over, at most."""

_OPENING: Final = regex.lazy(r'\{\s*"(?:[^"\\]|\\.){1,100}"\s*:')
"""How a record begins: with its first key."""

_DECODER: Final = json.JSONDecoder(strict=False)


class Apart(Struct, frozen=True):
    """The whole records of a line, and whether something of it belongs to none of them."""

    records: list[bytes]
    rest: bool


def records_in(line: bytes) -> Apart:
    """Distinguish several records in one line.

    Behind a record that is cut off, one counts that begins with the same key, is no value inside that one, and goes up
    to the end of the line.
    """
    text = line.decode("utf-8", "replace").strip()
    opening = _OPENING.match(text)
    if opening is None:
        return Apart([], True)
    found: list[bytes] = []
    at = tries = 0
    rest = False
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at
        if isinstance(value, dict) and not (rest and _is_part(text, at)):
            found.append(text[at:end].encode("utf-8", "replace"))
            at = _after_blanks(text, end)
            continue
        rest = True
        tries += 1
        at = text.find(opening.group(), at + 1)
        if at < 0 or tries > MAX_TRIES:
            break
    whole = at >= len(text)
    if (rest and not whole) or (len(found) < 2 and not rest):
        # What stands behind the last record was cut off, or there is nothing to tell apart.
        return Apart(found if found and at < 0 and _begins_whole(text, found) else [], True)
    return Apart(found, rest)


def _begins_whole(text: str, found: list[bytes]) -> bool:
    """Whether the records found stand at the beginning of the line, so that only what follows them is cut off."""
    return text.encode("utf-8", "replace").startswith(found[0])


def _after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _is_part(text: str, at: int) -> bool:
    """Whether what stands at a place is a value inside the record before it."""
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return at > 0 and text[at - 1] in ":,["


def is_open(error: Exception) -> bool:
    """Whether a line is no JSON because a text in it does not end."""
    return isinstance(error, json.JSONDecodeError) and error.msg.startswith("Unterminated string")


class Joined:
    """A record whose text has raw line breaks, put together of the lines that it goes over."""

    def __init__(self, line: bytes) -> None:
        self._lines = [line]
        self._size = len(line)
        self._tries = 0
        self._is_over = False

    @property
    def record(self) -> bytes:
        """All lines of it."""
        return b"".join(self._lines)

    @property
    def wants_more(self) -> bool:
        """Whether another line may belong to it."""
        return not self._is_over and len(self._lines) < MAX_LINES and self._size < MAX_BYTES

    def add(self, line: bytes) -> bool:
        """Add a line; whether the record is whole now. A line that begins a record itself belongs to no text."""
        if line.startswith(b'{"'):
            self._is_over = True
            return False
        self._lines.append(line)
        self._size += len(line)
        # A text that is open ends at a quote, and a record at a bracket.
        if b'"' not in line or not line.rstrip().endswith((b"}", b"]")):
            return False
        self._tries += 1
        try:
            exact_loads(self.record)
        except ValueError as error:
            self._is_over = not is_open(error) or self._tries >= MAX_TRIES
            return False
        return True
