"""The call that is being judged: what it asks for, with its arguments parsed once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from loopaudit.core import canonical, regex
from loopaudit.core.events import SLICE, TEXT, VALUE, Call
from loopaudit.core.tools import Kind, kind_of
from loopaudit.hindsight.calls.alternatives import arguments_in_order, command_in_order, may_hold_alternatives
from loopaudit.hindsight.calls.effects import (
    BRIEF_LABELS,
    COMMAND_NAMES,
    LABELS,
    META,
    NO_ARGUMENTS,
    PAUSED,
    THOUGHT_LABELS,
    Identity,
    Nature,
    Natures,
    command_of,
    effect_of,
    effect_of_command,
    may_have_labels,
    program_of,
    shown_by,
    takes_output,
)
from loopaudit.hindsight.calls.ranges import ReadRange, path_of
from loopaudit.hindsight.calls.shell_ranges import may_show_lines
from loopaudit.hindsight.shell.programs import EFFECT_LOOKS, CommandEffect

_TELLS_EDIT: Final = frozenset({"command"})
"""The arguments by which editing tools that do several things are distinguished."""

TAKES_OUTPUT: Final = CommandEffect(EFFECT_LOOKS, waits=True)
"""What a call does that only waits for further output of what runs."""

_POLLED: Final = META | PAUSED

_BRIEF: Final = frozenset({"prompt"})
"""The argument of a tool for sub-agents beside which a description is but the title that people see."""

_THOUGHT_NUMBERS: Final = ("thoughtNumber", "thought_number")

_PAUSE: Final = regex.lazy(r"sleep +\d{1,6}(?:\.\d{1,6})?[smh]?\s*(?:;|&&|\n)\s*(?=\S)")
"""A pause before a command."""

_NO_CALL: Final = Call("", 0, "", TEXT, "", b"", False)


MAY_BRING_NOTHING: Final = frozenset({"shell", "think", "plan"})
"""Kinds of which :meth:`Subject.brings_nothing` may hold."""


class Subject:
    """One call at a time. ``kind`` is that of the tool's name until :meth:`kind_by_arguments` is asked.

    ``command`` is the command of a call of a shell tool.
    """

    __slots__ = ("_parsed", "_parsed_for", "call", "command", "identity", "kind", "nature", "natures")

    def __init__(self, natures: Natures) -> None:
        self.natures = natures
        self._parsed_for = _NO_CALL
        self._parsed: Any = None
        self.call = _NO_CALL
        self.command: str | None = None
        self.identity: Identity = b""
        self.nature = natures[""]
        self.kind: Kind = "other"

    def take(self, call: Call) -> Identity:
        """Look at the next call, and tell what it asks for.

        That is its canonical key, or one without the arguments that say nothing. No arguments
        at all, an empty object and an empty text are the same. Labels are left out, and for
        shell and looking tools all of :data:`~loopaudit.hindsight.calls.effects.META`.
        """
        name = call.name
        self.nature = nature = self.natures[name]
        self.kind = nature.kind
        self.call = call
        source = call.source
        identity: Identity
        if (
            not source and not isinstance(source, (int, float))
            if call.form == VALUE
            else len(source) <= 8 and source.strip() in NO_ARGUMENTS
        ):
            identity = ("", name)
        else:
            identity = _identity_by(nature)(self, call)
        self.identity = identity
        return identity

    def release(self) -> None:
        """Let go of the call, its result and its arguments."""
        self.call = self._parsed_for = _NO_CALL
        self._parsed = self.command = None

    def _without(self, names: frozenset[str]) -> Identity:
        """The canonical key of the call without some arguments."""
        call = self.call
        arguments = self.arguments()
        if not isinstance(arguments, dict) or names.isdisjoint(arguments):
            return call.key
        return canonical.call_key(call.name, {k: v for k, v in arguments.items() if k not in names})

    # Each of the ways below makes the identity of a call; :func:`_identity_by` tells of the calls of which tools.

    def _of_any(self, call: Call) -> Identity:
        return self._without(LABELS) if may_have_labels(call.source) else call.key

    def _of_decoded(self, call: Call) -> Identity:
        # Arguments that are decoded anyway need not be searched for labels as they stand.
        return self._without(LABELS) if self.has_any(LABELS) else call.key

    def _of_look(self, call: Call) -> Identity:
        if call.form != VALUE and call.source.count(b'":' if call.form == SLICE else '":') < 2:
            return call.key
        return self._without(META)

    def _of_search(self, call: Call) -> Identity:
        nature = self.nature
        if may_hold_alternatives(call.source):
            ordered = arguments_in_order(self.arguments())
            if ordered is not None:
                left_out = META if nature.has_meta else LABELS
                return canonical.call_key(call.name, {k: v for k, v in ordered.items() if k not in left_out})
        return self._of_look(call) if nature.has_meta else self._of_decoded(call)

    def _of_handover(self, call: Call) -> Identity:
        return self._without(self.nature.labels)

    def _of_brief(self, call: Call) -> Identity:
        return self._without(BRIEF_LABELS) if self.has_any(_BRIEF) else self._of_any(call)

    def _of_poll(self, call: Call) -> Identity:
        return self._without(_POLLED)

    def _of_thought(self, call: Call) -> Identity:
        """The canonical key of a thought without its number, wherever that stands."""
        arguments = self.arguments()
        if isinstance(arguments, dict) and isinstance(text := arguments.get("thought"), str):
            number = next((arguments[name] for name in _THOUGHT_NUMBERS if name in arguments), None)
            if isinstance(number, int) and (plain := without_number(text, number)) != text:
                kept = {k: v for k, v in arguments.items() if k not in THOUGHT_LABELS}
                return canonical.call_key(call.name, kept | {"thought": plain})
        return self._without(THOUGHT_LABELS)

    def _of_command(self, call: Call) -> Identity:
        self._parsed = arguments = call.arguments
        self._parsed_for = call
        if not isinstance(arguments, dict):
            self.command = command_of(call.name, arguments)
            return call.key
        value = arguments.get("command")
        if value is None:
            value = arguments.get("cmd")
        # Nearly all tools name it in one of these ways; the others are looked for.
        self.command = command = value if isinstance(value, str) else command_of(call.name, arguments)
        if command is None:
            return self._without(META)
        paused = _PAUSE.match(command) if command.startswith("sleep ") else None
        if paused is not None and effect_of_command(command).effect is EFFECT_LOOKS:
            command = f"sleep; {command[paused.end() :]}"  # how long a look waits says nothing about what it asks for
        if "|" in command and (ordered := command_in_order(command)) != command:
            command = ordered
        asked = _asked_by(tuple(arguments))
        if len(asked) == 1:
            return hash((call.name, command))
        if len(asked) == 2:  # mostly a folder beside the command
            beside = asked[asked[0] in COMMAND_NAMES]
            value = arguments[beside]
            if beside not in COMMAND_NAMES and isinstance(value, str):
                return hash((call.name, command, beside, value))
        if command is self.command:
            return self._without(META)
        return canonical.call_key(
            call.name, {name: command if arguments[name] == self.command else arguments[name] for name in asked}
        )

    def arguments(self) -> Any:
        """The arguments of the call."""
        call = self.call
        if self._parsed_for is not call:
            self._parsed = call.arguments
            self._parsed_for = call
        return self._parsed

    def kind_by_arguments(self) -> Kind:
        """The kind of the call itself, where its tool does several things."""
        nature = self.nature
        if nature.varies and (nature.kind != "edit" or self.has_any(_TELLS_EDIT)):
            self.kind = kind_of(self.call, self.arguments)
        return self.kind

    def has_any(self, names: frozenset[str]) -> bool:
        """Whether the call has an argument of one of these names."""
        arguments = self.arguments()
        return isinstance(arguments, dict) and not names.isdisjoint(arguments)

    def effect(self) -> CommandEffect:
        """What the call may have done to the world."""
        if self.kind == "shell" and self.command is not None:
            if not self.command.strip() and takes_output(self.arguments()):
                return TAKES_OUTPUT
            return effect_of_command(self.command)
        return effect_of(self.call.name, self.arguments(), self.nature, self.kind)

    def may_only_wait(self) -> bool:
        """Whether :meth:`effect` may tell that the call does nothing but wait; spares reading most commands."""
        command = self.command
        if self.kind != "shell" or command is None or not command.strip():
            return True
        low = command.lower()
        return "sleep" in low or "wait" in low

    def brings_nothing(self) -> bool:
        """Whether the call can bring no information by its nature: a thought, a plan, a pause."""
        kind = self.kind
        if kind == "shell":
            return self.command is not None and self.command.lstrip().startswith("sleep ")
        return kind in ("think", "plan")

    def scope(self) -> str:
        """What has to succeed for a failure to be over: the tool; in a shell the program, of an editor its command."""
        if self.nature.kind == "shell":
            return f"{self.call.name}\0{program_of(self.command or '')}"
        if self.nature.varies and self.has_any(_TELLS_EDIT):
            return f"{self.call.name}\0{self.arguments()['command']}"
        return self.call.name

    def shown(self) -> ReadRange | None:
        """The lines that a shell call shows, if it shows a range of one file and nothing else."""
        command = self.command
        return shown_by(command, self.arguments()) if command is not None and may_show_lines(command) else None

    def path(self) -> str | None:
        """The file that a reading tool looks at; ``None`` for anything else."""
        if self.kind != "read":
            return None
        arguments = self.arguments()
        return path_of(arguments) if isinstance(arguments, Mapping) else None


@lru_cache(maxsize=256)  # a tool is called with one of a few sets of arguments
def _asked_by(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those arguments of a looking or shell tool that say what is asked."""
    return tuple(name for name in names if name not in META)


@lru_cache(maxsize=512)
def _identity_by(nature: Nature) -> Callable[[Subject, Call], Identity]:
    """How the identity of the calls of a tool is made, where they have arguments."""
    if nature.rewordable:
        return Subject._of_search
    if nature.has_meta:
        ways = {"think": Subject._of_thought, "shell": Subject._of_command, "poll": Subject._of_poll}
        return ways.get(nature.kind, Subject._of_look)
    if nature.hands_over:
        return Subject._of_handover
    if nature.decoded:
        return Subject._of_decoded
    return Subject._of_brief if nature.kind == "agent" else Subject._of_any


def without_number(thought: str, number: int) -> str:
    """A thought without its own number before or behind it (``Thought 3: …``, ``… (3)``, ``… [3/9]``)."""
    counted = rf"{number}(?:\s?(?:/|of)\s?\d{{1,4}})?"
    thought = re.sub(rf"\A\s*(?:(?:thought|step)\s|#)?\s?{counted}\s?[:.)\]-]\s*", "", thought, flags=re.IGNORECASE)
    return re.sub(rf"\s*(?:[(\[]\s?{counted}\s?[)\]]|#{counted})\s*\Z", "", thought)
