"""The lines of the native format, *loopaudit JSONL v1*, typed; see docs/transcript-format.md.

:func:`line_decoder` decodes a line into one of nine structs, distinguished by ``type``. It is as
lenient as reading can be: unknown fields are skipped, outputs may be any JSON.
:func:`line_from` does the same with a value that only a tolerant decoder could read.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from loopaudit.core.canonical import unsigned_zero
from loopaudit.core.events import BoundaryKind, Level, Status, Usage
from loopaudit.core.marks import Marks

FORMAT: Final = "loopaudit"
VERSION: Final = 1

NO_ARGUMENTS: Final = Raw(b"{}")
NO_OUTPUT: Final = Raw(b'""')

Id = str | int
At = str | int | float


class Line(Struct, gc=False, tag_field="type", kw_only=True):
    """What every line may have: who it belongs to, when it was, and where it came from."""

    agent: str = ""
    session: Id | None = None
    at: At | None = None


class Header(Line, gc=False, tag="header", kw_only=True):
    """Begins a conversation and says what is known of it as a whole."""

    format: str = FORMAT
    version: int = VERSION
    tools: dict[str, Any] | None = None
    knows_success: bool = False


class Declare(Line, gc=False, tag="declare", kw_only=True):
    """The same facts, told in the middle of a conversation."""

    tools: dict[str, Any] | None = None
    knows_success: bool = False


class User(Line, gc=False, tag="user", kw_only=True):
    """A person's message."""

    text: str = ""
    id: Id | None = None


class Assistant(Line, gc=False, tag="assistant", kw_only=True):
    """Prose of a response, or a response without anything."""

    text: str = ""
    batch: Id | None = None
    model: str | None = None
    usage: Usage | None = None


class UsageLine(Line, gc=False, tag="usage", kw_only=True):
    """Tokens of a response, apart from its prose."""

    batch: Id | None = None
    model: str | None = None
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None


class ToolCall(Line, gc=False, tag="tool_call", kw_only=True):
    """One call. ``arguments`` is the recorded value, or a string: the text exactly as sent."""

    name: str
    arguments: Raw = NO_ARGUMENTS
    id: Id | None = None
    batch: Id | None = None
    model: str | None = None


class ToolResult(Line, gc=False, tag="tool_result", kw_only=True):
    """The result of one call."""

    id: Id | None = None
    name: str | None = None
    output: Raw = NO_OUTPUT
    is_error: bool | None = None
    exit_code: int | None = None
    error: str | UnsetType | None = UNSET
    status: Status | None = None


class BoundaryLine(Line, gc=False, tag="boundary", kw_only=True):
    """A compaction, a resumption, an interruption, the end of the run and the like."""

    kind: BoundaryKind
    reason: str = ""


class MarksLine(Line, gc=False, tag="hindsight", kw_only=True):
    """What hindsight found in the conversation while its words were there; see :class:`Marks`."""

    calls: int
    failure_level: Level = "exit_code"
    classes: dict[str, list[int | str]] | None = None
    flags: dict[str, list[int | str]] | None = None
    rests_on: dict[int, int] | None = None
    noise: dict[int, list[str]] | None = None
    episodes: list[dict[str, Any]] | None = None
    unread_calls: int = 0

    def marks(self) -> Marks:
        """The marks of the line."""
        return Marks(
            calls=self.calls,
            failure_level=self.failure_level,
            classes=self.classes or {},
            flags=self.flags or {},
            rests_on=self.rests_on or {},
            noise=self.noise or {},
            episodes=self.episodes or [],
            unread_calls=self.unread_calls,
        )


class Extension(Struct, gc=False):
    """A line of somebody's own, of a type that begins with ``x_``: allowed, and skipped."""


AnyLine = Header | Declare | User | Assistant | UsageLine | ToolCall | ToolResult | BoundaryLine | MarksLine
TYPES: Final[dict[str, Any]] = {
    "header": Header,
    "declare": Declare,
    "user": User,
    "assistant": Assistant,
    "usage": UsageLine,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "boundary": BoundaryLine,
    "hindsight": MarksLine,
}
KINDS: Final[dict[type, str]] = {struct: kind for kind, struct in TYPES.items()}

_RAW: Final = ("arguments", "output")
_NULLS: Final = (*_RAW, "error")
"""Fields in which null is a value; elsewhere it is as good as absent."""


def _zeros(value: Any) -> Any:
    """A field, or an object of counts, with ``-0`` as the integer that the fast decoder makes of it."""
    if isinstance(value, dict):
        return {k: unsigned_zero(v) for k, v in value.items()}
    return unsigned_zero(value)


@cache
def line_decoder() -> msgspec.json.Decoder[AnyLine]:
    """A decoder from the bytes of a line to one of the structs above."""
    return msgspec.json.Decoder(AnyLine)


def line_from(value: Any) -> AnyLine | Extension:
    """Make a line of a decoded value that the fast decoder refuses.

    Raises:
        ValueError: the value is no line of this format.
    """
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise ValueError("a line is an object with a type")
    kind = value["type"]
    if kind.startswith("x_"):
        return Extension()
    if kind not in TYPES:
        raise ValueError(f"no line has the type {kind!r}")
    rest = {k: _zeros(v) for k, v in value.items() if k not in _RAW and (v is not None or k in _NULLS)}
    line: AnyLine = msgspec.convert(rest, TYPES[kind])
    for name in _RAW:
        if name in value and hasattr(line, name):
            setattr(line, name, value[name])
    return line
