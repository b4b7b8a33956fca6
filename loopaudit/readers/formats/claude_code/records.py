"""The records of Claude Code, typed: only what a replay reads of them.

:func:`line_decoder` decodes a line into a :class:`Line` that holds only what a replay reads.
Arguments and outputs stay as :class:`msgspec.Raw` slices of the line, everything else (above
all ``toolUseResult``, which repeats each result) is checked for syntax and skipped. A line
with a field of an unexpected type does not fit; :func:`line_from` then makes a :class:`Line`
of its decoded value, where such a field counts as absent.

The fields stand in the order in which the writer writes them, which decodes fastest.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from loopaudit.core.canonical import unsigned_zero, written

NOTHING: Final = Raw(b"")
"""A field that is not there; every recorded JSON value has at least one byte."""


class Block(Struct, gc=False):
    """One content block of a message, whatever its type."""

    type: str | None = None
    tool_use_id: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    text: str | None = None
    content: Raw = NOTHING
    is_error: bool | None = None


class Tokens(Struct, gc=False):
    """The part of ``usage`` that counts tokens."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class Message(Struct, gc=False):
    """A message of the Messages API. ``content`` is ``None`` where it is absent or unusable."""

    model: str | None = None
    id: str | None = None
    role: str | None = None
    content: str | list[Block] | None = None
    usage: Tokens | None = None


class Details(Struct, gc=False):
    """What is read of ``attachment`` and ``compactMetadata``."""

    hookName: str | None = None  # noqa: N815 - the recorded name
    trigger: str | None = None


class Progress(Struct, gc=False):
    """``data`` of a progress record; ``message`` is a sub-agent's whole record."""

    message: Line | str | None = None
    type: str | None = None
    hookName: str | None = None  # noqa: N815
    agentId: str | None = None  # noqa: N815


class Line(Struct, gc=False):
    """One record of a session file, and one record nested in a progress record."""

    parentUuid: str | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    sessionId: str | None = None  # noqa: N815
    agentId: str | None = None  # noqa: N815
    type: str | None = None
    subtype: str | None = None
    data: Progress | None = None
    message: Message | None = None
    requestId: str | None = None  # noqa: N815
    parentToolUseID: str | None = None  # noqa: N815
    attachment: Details | None = None
    compactMetadata: Details | None = None  # noqa: N815
    isMeta: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    uuid: str | None = None
    timestamp: str | None = None
    toolDenialKind: str | None = None  # noqa: N815
    isApiErrorMessage: bool | None = None  # noqa: N815


def line_decoder() -> msgspec.json.Decoder[Line]:
    """A decoder from the bytes of a line to a :class:`Line`."""
    return msgspec.json.Decoder(Line)


# -- tolerant conversion -------------------------------------------------------------------


def line_from(value: Any, depth: int = 0) -> Line:
    """Make a :class:`Line` of a decoded record; fields of a wrong type count as absent.

    Raises:
        TypeError: the value is no object.
    """
    if not isinstance(value, dict):
        raise TypeError("a record is an object")
    flags = {name: value[name] for name in _FLAGS if isinstance(value.get(name), bool)}
    data = value.get("data")
    return Line(
        message=_message(value.get("message")),
        data=_progress(data, depth) if isinstance(data, dict) else None,
        attachment=_details(value.get("attachment")),
        compactMetadata=_details(value.get("compactMetadata")),
        **_strings(value, _LINE_STRINGS),
        **flags,
    )


_LINE_STRINGS: Final = (
    "type",
    "subtype",
    "uuid",
    "parentUuid",
    "sessionId",
    "agentId",
    "requestId",
    "parentToolUseID",
    "timestamp",
    "toolDenialKind",
)
_FLAGS: Final = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
_COUNTS: Final = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _strings(value: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value[name] for name in names if isinstance(value.get(name), str)}


def _details(value: Any) -> Details | None:
    return Details(**_strings(value, ("hookName", "trigger"))) if isinstance(value, dict) else None


def _progress(value: dict[str, Any], depth: int) -> Progress:
    nested = value.get("message")
    message = line_from(nested, depth + 1) if isinstance(nested, dict) and depth < 2 else None
    return Progress(message=message, **_strings(value, ("type", "agentId", "hookName")))


def _message(value: Any) -> Message | None:
    if not isinstance(value, dict):
        return None
    content = value.get("content")
    if isinstance(content, list):
        content = [_block(item) for item in content]
    elif not isinstance(content, str):
        content = None
    usage = value.get("usage")
    counts = {}
    if isinstance(usage, dict):
        counts = {k: unsigned_zero(usage.get(k)) for k in _COUNTS}
        counts = {k: v for k, v in counts.items() if isinstance(v, int) and not isinstance(v, bool)}
    tokens = Tokens(**counts) if isinstance(usage, dict) else None
    return Message(content=content, usage=tokens, **_strings(value, ("id", "role", "model")))


def _block(value: Any) -> Block:
    if isinstance(value, str):
        return Block(type="text", text=value)
    if not isinstance(value, dict):
        return Block()
    failed = value.get("is_error")
    return Block(
        input=_raw(value, "input"),
        content=_raw(value, "content"),
        is_error=failed if isinstance(failed, bool) else None,
        **_strings(value, ("type", "id", "name", "text", "tool_use_id")),
    )


def _raw(value: dict[str, Any], name: str) -> Raw:
    return Raw(written(value[name])) if name in value else NOTHING
