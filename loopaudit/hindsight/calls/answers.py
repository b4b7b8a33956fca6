"""Counts how often a tool gives one and the same answer to different questions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from loopaudit.core import regex
from loopaudit.hindsight.calls.noise import remove_all
from loopaudit.hindsight.calls.outputs import Held, digest_of, equal, head_of, text_of

MAX_TOOLS: Final = 512
MAX_ANSWER: Final = 8192
"""Longest answer in characters that is kept as it is; of longer ones length and hash."""


MAX_ECHO: Final = 600
"""Longest answer in characters or bytes in which the question is looked for."""


def without_echo(held: Held, arguments: Any) -> Held:
    """An answer without the texts of the question in it (``No results for "…"``)."""
    if isinstance(held, tuple) or len(held) > MAX_ECHO or not isinstance(arguments, Mapping):
        return held
    text = plain = text_of(held) or ""
    for value in arguments.values():
        if isinstance(value, str) and len(value) >= MIN_ECHO:
            plain = plain.replace(value, "<argument>")
    return held if plain is text or plain == text else plain


_LABEL: Final = regex.lazy(
    r"[\w ]{1,32}[\"']?\s{0,4}[:=]\s{0,4}[\"']?\s{0,4}(?:null|none)?[\"']?\s{0,4}(?=[\n,}]|\Z)", re.IGNORECASE
)
"""A label with nothing behind it."""


def only_echoes_back(held: Held, arguments: Any) -> bool:
    """Whether an answer gives the question back, and nothing else but labels (``Question: … Answer:``)."""
    if isinstance(held, tuple) or len(held) > MAX_ECHO:
        return False
    end = held[-MAX_LABEL_END:]
    if not (b":" in end if isinstance(end, bytes) else ":" in end):
        return False  # as most do not; nothing need be decoded
    plain = without_echo(held, arguments)
    if plain is held or not isinstance(plain, str):
        return False
    rest = _LABEL.sub("", plain.replace("<argument>", ""))
    return not any(map(str.isalnum, rest))


MAX_LABEL_END: Final = 24
"""Characters or bytes at the end of an answer in which its last label ends."""

MAX_REPORT: Final = 4096
"""Longest report in characters that is compared without its ids."""

LEAST_REPORT: Final = 4
"""Words that make an answer a report and no mere acknowledgement."""

_FILE: Final = regex.lazy(r"https?://[^\s\"'<>)]{1,300}|[\w/-]{1,200}\.[a-z][a-z0-9]{1,4}\b(?![\w/])")
_ID: Final = regex.lazy(r"\b(?=[\w-]{0,63}[A-Za-z])(?=[\w-]{0,63}\d)[\w-]{4,64}\b")


def is_report(source: str | bytes) -> bool:
    """Whether an answer as recorded has the words of a report at its beginning."""
    return len(head_of(source).split()) >= LEAST_REPORT


def report_of(held: Held) -> tuple[str, bool]:
    """A report without times and ids, and whether it names what was made: a file or an address. Empty if it is none."""
    text = text_of(held) or ""
    if not text or len(text) > MAX_REPORT or len(text.split()) < LEAST_REPORT:
        return "", False
    made = _FILE.findall(text)
    return "\0".join([_ID.sub("0", remove_all(text)), *made]), bool(made)


MIN_ECHO: Final = 3
"""Shortest text of a question that is taken for an echo."""


class _Constant(msgspec.Struct):
    held: Held
    batch: int
    number: int
    again: int = 0


class Answers:
    """The last answers of one agent's informing tools. ``first`` is the call that had it first."""

    __slots__ = ("_by_tool", "first")

    def __init__(self) -> None:
        self._by_tool: dict[str, _Constant] = {}
        self.first = 0

    def clear(self) -> None:
        """A person asked for something new."""
        self._by_tool.clear()

    def forget(self, tool: str) -> None:
        """A tool's last answer says nothing of its next one."""
        self._by_tool.pop(tool, None)

    def again(self, tool: str, held: Held, number: int, batch: int) -> int:
        """How many further questions, of different responses, had the answer of this call."""
        if len(held) < 3:  # nothing, or an empty text
            self._by_tool.pop(tool, None)
            return 0
        if not isinstance(held, tuple) and len(held) > MAX_ANSWER:
            held = digest_of(held)
        last = self._by_tool.get(tool)
        if last is None or not equal(last.held, held):
            if len(self._by_tool) >= MAX_TOOLS:
                self._by_tool.clear()
            self._by_tool[tool] = _Constant(held, batch, number)
            return 0
        if last.batch == batch:
            return 0
        last.again += 1
        last.batch = batch
        self.first = last.number
        return last.again
