"""Tells results apart by their first differing lines, as they were recorded.

A result of many kilobytes is decoded, counted and split for a comparison without noise. Most
results that differ do so in the first line that is not the same already, and that is told
here from a few hundred bytes.
"""

from __future__ import annotations

from typing import Final

import orjson

from loopaudit.hindsight.calls.noise import alike_lines

MAX_LINE: Final = 1024
"""Longest line in bytes that is looked at."""

MAX_LOOKED: Final = 4
"""Lines that are looked at, from the first difference on."""

_FEED: Final = b"\\n"
"""A line feed in JSON text."""


def begins_otherwise(one: bytes, other: bytes) -> bool:
    """Whether two different texts, as JSON bytes, differ in more than noise already in their first lines.

    Most texts that differ can be told apart by that, without decoding, counting and splitting
    all of them. ``False`` tells nothing.
    """
    if one[:1] != b'"' or other[:1] != b'"':
        return False
    here = at = one.rfind(_FEED, 0, first_difference(one, other)) + 2
    if _odd(one[:at]):
        return False
    for _ in range(MAX_LOOKED):
        end, behind = one.find(_FEED, at), other.find(_FEED, here)
        last = end < 0 or behind < 0
        end = len(one) - 1 if end < 0 else end
        behind = len(other) - 1 if behind < 0 else behind
        if max(end - at, behind - here) > MAX_LINE or _odd(one[at : end + 2]) or _odd(other[here : behind + 2]):
            return False
        line, counterpart = one[at:end], other[here:behind]
        if line != counterpart:
            if not _may_be_alike(line, counterpart):
                return True
            if one[end:] == other[behind:]:
                return False
        if last:
            return False
        at, here = end + 2, behind + 2
    return False


def _odd(raw: bytes) -> bool:
    """Whether it is hard to see where lines end: a backslash before an ``n``, or one or a line feed spelled in hex."""
    return b"\\\\n" in raw or b"\\u000" in raw or b"\\u005" in raw


def _may_be_alike(raw: bytes, counterpart: bytes) -> bool:
    """Whether two different lines of JSON text may differ in noise only."""
    try:
        line, now = orjson.loads(b'"%b"' % raw), orjson.loads(b'"%b"' % counterpart)
    except ValueError:
        return True
    return line == now or alike_lines(line, now, set())


def first_difference(one: bytes, other: bytes) -> int:
    """The place from 0 where two different byte strings differ first, or the length of a shorter one."""
    limit = min(len(one), len(other))
    low, step = 0, 32
    while low < limit and one[low : low + step] == other[low : low + step]:
        low += step
        step *= 4
    if low >= limit:
        return limit
    high = min(low + step, limit)
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
