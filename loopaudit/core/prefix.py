"""How far two texts agree."""

from __future__ import annotations

from typing import AnyStr


def common_prefix(one: AnyStr, other: AnyStr) -> int:
    """The length of the common beginning of two texts, in characters, or of two byte strings, in bytes.

    Found by halving, since to compare slices takes next to nothing, and to compare characters in Python much.
    """
    if one[:1] != other[:1]:
        return 0  # often, and the longest way by halving
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
