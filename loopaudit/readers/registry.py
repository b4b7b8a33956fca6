"""The transcript formats that are there, and the order in which their readers are asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from loopaudit.core.registry import Registry
from loopaudit.readers.contract import Reader

COMMON: Final = ("native", "claude_code", "codex")
"""Asked first: most transcripts are one of these, and no other reader is then imported."""


@cache
def readers() -> Registry[Reader]:
    """The transcript formats."""
    return Registry("readers/formats", "READER", Reader, word="format", entry="reader")


def in_order() -> Iterator[Reader]:
    """Every built-in reader, each imported no earlier than it is asked for.

    The order only saves time: no two readers claim the same transcript, which a test asks of all of them.
    """
    registry = readers()
    names = registry.module_names()
    for name in (*COMMON, *(n for n in names if n not in COMMON)):
        yield registry.load(name)
