"""Remembers which calls may have changed something, and judges them only when asked.

Most calls are never repeated, so nobody needs to know what they changed. Calls that may
have changed something wait unread; the first question whether anything changed since some
call reads them all, each once. A call that repeats an earlier one with the same result is
not noted: a loop of equal commands must not excuse itself.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit import canonical
from loopaudit.events import SLICE, VALUE, Call, decode_value
from loopaudit.hindsight.effects import Nature, effect_of, effect_of_command
from loopaudit.hindsight.programs import Effect
from loopaudit.tools import Kind

MAX_WAITING: Final = 512
"""Unread calls; when there are more the oldest count as changes without being read."""

MAX_SOURCE: Final = 4096
"""Longest arguments that wait to be read; longer ones count as a change."""

MAX_PATHS: Final = 2048
"""File names of which the last change is known; with more, all files count as changed."""


class Changes:
    """Numbers of the last calls of one agent that changed something.

    ``any`` may matter to any call, ``lasting`` left something behind (no mere check),
    ``world`` may have changed any file, and the last edit of a file is known by its base
    name, so that different spellings of its folder do not matter. Numbers grow.
    """

    __slots__ = ("_failed", "_path", "_waiting", "any", "lasting", "world")

    def __init__(self) -> None:
        self.any = 0
        self.lasting = 0
        self.world = 0
        self._path: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._waiting: list[tuple[int, str, int, Any, Nature, Kind]] = []

    def note(self, call: Call, command: str | None, nature: Nature, kind: Kind) -> None:
        """A call with news may have changed something; it is read when somebody asks.

        ``command`` is the command of a shell call; other arguments are decoded when read.
        """
        form, source = call.form, call.source
        if kind == "shell":
            form, source = VALUE, command
        elif form == VALUE:
            self._read(call.number, effect_of(call.name, source, nature, kind).effect)
            return
        if source is None or len(source) > MAX_SOURCE:
            self._read(call.number, Effect.CHANGES)
            return
        if len(self._waiting) >= MAX_WAITING:
            dropped = self._waiting[: MAX_WAITING // 8]
            del self._waiting[: len(dropped)]
            self._read(dropped[-1][0], Effect.CHANGES)
        self._waiting.append((call.number, call.name, form, source, nature, kind))

    def edited(self, path: str | None, number: int) -> None:
        """A file tool changed a file (``None``: it is not known which)."""
        if path is None:
            self._read(number, Effect.CHANGES)
            return
        if len(self._path) >= MAX_PATHS:
            self._path.clear()
            self._read(number, Effect.CHANGES)
        self._path[base(path)] = number
        self.any = max(self.any, number)
        self.lasting = max(self.lasting, number)

    def edit_failed(self, path: str, number: int) -> None:
        """An edit of a file failed: nothing changed, but a look at the file is justified."""
        if len(self._failed) >= MAX_PATHS:
            self._failed.clear()
        self._failed[base(path)] = number

    def failed_edit_since(self, number: int, path: str) -> bool:
        """Whether an edit of this file failed after a call."""
        return bool(self._failed) and self._failed.get(base(path), 0) > number

    def settle(self) -> None:
        """Read what waits, newest first; what stands before a change need not be read."""
        if not self._waiting:
            return
        for number, name, form, source, nature, kind in reversed(self._waiting):
            if kind == "shell":
                effect = effect_of_command(source).effect
            else:
                arguments = decode_value(source) if form == SLICE else canonical.parse(source)
                effect = effect_of(name, arguments, nature, kind).effect
            self._read(number, effect)
            if effect == Effect.CHANGES:
                break
        self._waiting.clear()

    def _read(self, number: int, effect: Effect) -> None:
        if effect == Effect.LOOKS:
            return
        self.any = max(self.any, number)
        if effect == Effect.CHANGES:
            self.lasting = max(self.lasting, number)
            self.world = max(self.world, number)

    def since(self, number: int, path: str | None) -> bool:
        """Whether something changed after a call that matters to a look at ``path``, or at anything."""
        self.settle()
        if path is None:
            return self.any > number
        return max(self.world, self._path.get(base(path), 0)) > number


def base(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rpartition("/")[2]
