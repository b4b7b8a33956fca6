"""Reads the beginning of a JSON text: what is complete of a cut or a very large document.

One pass over the bytes finds the last place at which the text could be closed, closes the
open strings, arrays and objects there, and decodes the result.
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
    """The value that a prefix of a JSON document holds, or ``None`` where there is none.

    The last value of the innermost open container may be missing; a string that is cut is
    dropped together with its key, everything before it is kept.
    """
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
        elif expect_value:
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
        try:
            return json.loads(text.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            return None


def _terminated(token: bytes) -> bool:
    """Whether a string token at the end of the text has its closing quote."""
    if len(token) < 2 or token[-1:] != b'"':
        return False
    before = token[:-1]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 0
