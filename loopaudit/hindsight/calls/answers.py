"""Counts how often a tool gives one and the same answer to different questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from loopaudit.hindsight.calls.outputs import Held, digest_of, equal, text_of

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
