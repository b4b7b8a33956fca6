"""Remembers which calls may have changed something, and judges them only when asked.

Most calls are never repeated, so nobody needs to know what they changed. Calls that may
have changed something wait unread; the first question whether anything changed since some
call reads them all, each once. A call that repeats an earlier one with the same result is
not noted: a loop of equal commands must not excuse itself.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core import canonical
from loopaudit.core.events import SLICE, VALUE, Call, decode_value
from loopaudit.core.tools import Kind
from loopaudit.hindsight.calls.edits import edited_paths
from loopaudit.hindsight.calls.effects import Nature, effect_of, effect_of_command
from loopaudit.hindsight.shell.commands import surely_changes
from loopaudit.hindsight.shell.programs import EFFECT_CHANGES, EFFECT_LOOKS, Effect

MAX_WAITING: Final = 512
"""Unread calls; when there are more the oldest count as changes without being read."""

MAX_SOURCE: Final = 4096
"""Longest arguments that wait to be read; longer ones count as a change."""

MAX_PATHS: Final = 2048
"""File names of which the last change is known; with more, all files count as changed."""


MAX_UNKNOWN: Final = 64
"""Tools of unknown kind of which it is learned whether they change anything."""

WITNESSES: Final = 2
"""Looks with the same result across a tool of unknown kind that show it to change nothing."""

MAX_UNREAD_EDITS: Final = 64
"""Failed edits whose files are not looked up before somebody asks."""

_Unread = tuple[int, str, int, Any, Nature, Kind]
"""A call that may have changed something: number, name, form, arguments, nature and kind."""


class Changes:
    """Numbers of the last calls of one agent that changed something.

    A change may matter to any call, have left something behind (no mere check), or have
    changed any file; the last edit of a file is known by its base name, so that different
    spellings of its folder do not matter. Numbers grow.

    What tools of unknown kind do is learned: one across which looks came back
    :data:`WITNESSES` times with the same result, and never with another, changes nothing.
    ``latest`` is the tool of the last call that was noted, empty for a shell and for file tools.
    """

    __slots__ = (
        "_any",
        "_failed",
        "_failing",
        "_lasting",
        "_owed",
        "_path",
        "_same",
        "_strange",
        "_tools",
        "_waiting",
        "_world",
        "latest",
    )

    def __init__(self) -> None:
        self.latest = ""
        self._any = 0
        self._lasting = 0
        self._world = 0
        self._tools: dict[str, int] = {}
        """The last calls of tools of unknown kind, which may have changed something."""
        self._strange = False
        """Whether there was a call of such a tool."""
        self._same: dict[str, int] = {}
        """How many looks came back with the same result across a tool of unknown kind; -1: one with another."""
        self._path: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._failing: list[tuple[int, Any]] = []
        self._waiting: list[_Unread] = []
        self._owed: list[_Unread] = []
        """Unread calls that no question has needed yet, but that have to be read before they are dropped."""

    @property
    def lasting(self) -> int:
        """The last call that left something behind."""
        self.settle()
        return max(self._lasting, self._by_unknown())

    @property
    def world(self) -> int:
        """The last call that may have changed any file, of those that were read."""
        return max(self._world, self._by_unknown())

    def world_since(self, number: int) -> bool:
        """Whether what is known to change more than a file did so after a call; tools of unknown kind aside."""
        self.settle(number)
        return self._world > number

    def harmless(self, tool: str) -> bool:
        """Whether a tool of unknown kind was seen to change nothing."""
        return self._same.get(tool, 0) >= WITNESSES

    def _by_unknown(self) -> int:
        """The last call of a tool of unknown kind that is not known to change nothing."""
        last, same = 0, self._same
        for tool, number in self._tools.items():
            if number > last and same.get(tool, 0) < WITNESSES:
                last = number
        return last

    def witness(self, number: int, path: str | None, *, same: bool) -> None:
        """A look that call ``number`` had made came back, with the same result or with another."""
        if not self._strange:
            return
        self.settle(number)
        if not self._tools or (
            not same and max(self._any if path is None else self._known(path), self._world) > number
        ):
            return
        for tool, last in self._tools.items():
            if last > number:
                seen = self._same.get(tool, 0)
                self._same[tool] = -1 if not same or seen < 0 else seen + 1

    def _known(self, path: str) -> int:
        return self._path.get(base(path), 0)

    def note(self, call: Call, command: str | None, nature: Nature, kind: Kind) -> None:
        """A call with news may have changed something; it is read when somebody asks.

        ``command`` is the command of a shell call; other arguments are decoded when read.
        """
        form, source = call.form, call.source
        self.latest = "" if kind == "shell" else call.name
        if kind == "other" and nature.effect is None:
            self._strange = True
        if kind == "shell":
            form, source = VALUE, command
        elif form == VALUE:
            effect = effect_of(call.name, source, nature, kind).effect
            self._read(call.number, effect, call.name if is_unknown(nature) else "")
            return
        if source is None or len(source) > MAX_SOURCE:
            self._read(call.number, EFFECT_CHANGES)
            return
        if len(self._waiting) >= MAX_WAITING:
            dropped = self._waiting[: MAX_WAITING // 8]
            del self._waiting[: len(dropped)]
            self._read(dropped[-1][0], EFFECT_CHANGES)
        self._waiting.append((call.number, call.name, form, source, nature, kind))

    def edited(self, path: str | None, number: int) -> None:
        """A file tool changed a file (``None``: it is not known which)."""
        self.latest = ""
        if path is None:
            self._read(number, EFFECT_CHANGES)
            return
        paths = self._path
        if len(paths) >= MAX_PATHS:
            paths.clear()
            self._read(number, EFFECT_CHANGES)
        paths[base(path)] = number
        self._any = max(self._any, number)
        self._lasting = max(self._lasting, number)

    def edit_failed(self, number: int, arguments: Any) -> None:
        """An edit failed: nothing changed, but a look at its files is justified."""
        if len(self._failing) >= MAX_UNREAD_EDITS:
            self._read_failing()
        self._failing.append((number, arguments))

    def _read_failing(self) -> None:
        for number, arguments in self._failing:
            for path in edited_paths(arguments):
                if len(self._failed) >= MAX_PATHS:
                    self._failed.clear()
                self._failed[base(path)] = number
        self._failing.clear()

    def failed_edit_since(self, number: int, path: str) -> bool:
        """Whether an edit of this file failed after a call."""
        if self._failing:
            self._read_failing()
        return bool(self._failed) and self._failed.get(base(path), 0) > number

    def settle(self, after: int = 0) -> None:
        """Read what waits behind call ``after``, newest first; what stands before a change need not be read."""
        owed = self._owed
        if self._waiting:
            owed += self._waiting
            self._waiting.clear()
        if len(owed) > MAX_WAITING:
            after = 0
        while owed and owed[-1][0] > after:
            number, name, form, source, nature, kind = owed.pop()
            if kind == "shell":
                effect = EFFECT_CHANGES if surely_changes(source) else effect_of_command(source).effect
            else:
                arguments = decode_value(source) if form == SLICE else canonical.parse(source)
                effect = effect_of(name, arguments, nature, kind).effect
            unknown = is_unknown(nature)
            self._read(number, effect, name if unknown else "")
            if effect == EFFECT_CHANGES and not unknown:
                owed.clear()

    def _read(self, number: int, effect: Effect, unknown: str = "") -> None:
        """Note what a call may have done; ``unknown`` is the name of a tool of which nothing is known."""
        if effect is EFFECT_LOOKS:
            return
        if unknown and effect == EFFECT_CHANGES:
            tools = self._tools
            if unknown in tools or len(tools) < MAX_UNKNOWN:
                tools[unknown] = max(tools.get(unknown, 0), number)
                return
        self._any = max(self._any, number)
        if effect == EFFECT_CHANGES:
            self._lasting = max(self._lasting, number)
            self._world = max(self._world, number)

    def since(self, number: int, path: str | None) -> bool:
        """Whether something changed after a call that matters to a look at ``path``, or at anything."""
        self.settle(number)
        if self._by_unknown() > number:
            return True
        if path is None:
            return self._any > number
        return max(self._world, self._known(path)) > number


def is_unknown(nature: Nature) -> bool:
    """Whether neither the kind nor the name of a tool tells what it does."""
    return nature.kind == "other" and nature.effect is None


def decoded(form: int, source: Any, *, is_json: bool) -> Any:
    """Arguments as :attr:`loopaudit.core.events.Call.arguments` gives them."""
    if form == SLICE:
        return decode_value(source)
    return canonical.parse(source) if form != VALUE and is_json else source


def base(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rpartition("/")[2]
