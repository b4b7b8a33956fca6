"""The transcript formats that are there, and the order in which their readers are asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from loopaudit.core.registry import Registry
from loopaudit.readers.contract import Reader

COMMON: Final = ("native", "claude_code", "codex")
"""Asked first: most transcripts are one of these, and no other reader is then imported."""

FREQUENT: Final = tuple(
    "inspect_ai pi swe_agent openhands_v0 otel openai_chat openhands_v1 mini_swe_agent anthropic_messages".split()
)
"""Asked next, those first that tell soonest that a file is none of theirs: asking all readers takes as long as reading
a small document, and imports them all."""

FOLDERS: Final = ("openhands_v1", "opencode")
"""Those that read a folder as one transcript; only they are asked about each folder below a directory."""


@cache
def readers() -> Registry[Reader]:
    """The transcript formats."""
    return Registry("readers/formats", "READER", Reader, word="format", entry="reader")


def common() -> Iterator[Reader]:
    """The readers of the commonest formats."""
    return map(_load, COMMON)


def in_order(shape: str = "") -> Iterator[Reader]:
    """Every built-in reader that reads inputs of a shape, each imported no earlier than it is asked for.

    The order only saves time: no two readers claim the same transcript, which a test asks of all of them.
    """
    return map(_load, FOLDERS if shape == "directory" else _names())


@cache
def _load(module_name: str) -> Reader:
    """One built-in reader; each is asked about nearly every transcript."""
    return readers().load(module_name)


@cache
def _names() -> list[str]:
    """All built-in modules, in the order in which their readers are asked."""
    return list(dict.fromkeys((*COMMON, *FREQUENT, *readers().module_names())))
