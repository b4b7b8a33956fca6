"""Reads the beginning of a JSON text: what is complete of a cut, a damaged or a very large document.

One pass over the bytes finds the last place at which the text could be closed, closes the
open strings, arrays and objects there, and decodes the result. Where that fails, the text is
damaged before this place, and what stands before the damage is read in the same way.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from loopaudit.core import regex

_TOKEN = regex.lazy(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)
"""A string (also one that the end of the text cuts off, so that no quote is tried twice) or a mark."""


def complete_prefix(data: bytes) -> Any:
    """The value that a prefix of a JSON document holds, up to the first damage in it; ``None`` where there is none.

    The last value of the innermost open container may be missing; a string that is cut is
    dropped together with its key, everything before it is kept.
    """
    return _closed(data, is_damaged=False)


def _closed(data: bytes, *, is_damaged: bool) -> Any:
    """The value of a text that is closed where it can be; ``is_damaged`` says that it ends at damage.

    The last string before damage is dropped: where a quote is missing, it is of another text.
    """
    end = len(data.rstrip()) if is_damaged else -1
    stack: list[bytes] = []
    cut = 0
    expect_value = False
    for match in _TOKEN.finditer(data):
        token = match.group()
        first = token[:1]
        if first in b"{[":
            stack.append(b"}" if first == b"{" else b"]")
            cut = match.end()
            expect_value = False
        elif first in b"}]":
            if not stack or stack[-1] != first:
                break
            stack.pop()
            cut = match.end()
            expect_value = False
            if not stack:
                break
        elif first == b",":
            # Everything before a comma is a complete member or item.
            cut = match.start()
            expect_value = False
        elif first == b":":
            expect_value = True
        elif match.end() == len(data) and not _terminated(token):
            break
        elif expect_value and match.end() != end:
            # A complete string as the value of a key.
            cut = match.end()
            expect_value = False
    if not cut:
        return None
    # Whatever opened or closed a container also moved the cut, so that these are its open ones.
    text = data[:cut] + b"".join(reversed(stack))
    try:
        return orjson.loads(text)
    except ValueError:
        decoded = text.decode("utf-8", "replace")
        try:
            return json.loads(decoded, strict=False)
        except json.JSONDecodeError as error:
            # What stands before the damage has none, so that this is done once.
            return None if is_damaged else _closed(decoded[: error.pos].encode("utf-8", "replace"), is_damaged=True)
        except (ValueError, RecursionError):
            return None


def _terminated(token: bytes) -> bool:
    """Whether a string token at the end of the text has its closing quote."""
    if len(token) < 2 or token[-1:] != b'"':
        return False
    before = token[:-1]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 0
