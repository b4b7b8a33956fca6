"""Counts how often a tool gives one and the same answer to different questions."""

from __future__ import annotations

from typing import Final

import msgspec

from loopaudit.hindsight.calls.outputs import Held, digest_of, equal

MAX_TOOLS: Final = 512
MAX_ANSWER: Final = 8192
"""Longest answer in characters that is kept as it is; of longer ones length and hash."""


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
