"""The records of Claude Code, typed: only what a replay reads of them.

:func:`line_decoder` decodes a line into a :class:`Line` that holds only what a replay reads.
Arguments and outputs stay as :class:`msgspec.Raw` slices of the line, everything else (above
all ``toolUseResult``, which repeats each result) is checked for syntax and skipped. A line
with a field of an unexpected type does not fit; :func:`line_from` then makes a :class:`Line`
of its decoded value, where such a field counts as absent.

The fields stand in the order in which the writer writes them, which decodes fastest; recorded
names are camel case.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, field

from loopaudit.readers.kit.fitting import fitting
from loopaudit.readers.kit.typed_blocks import Block, Tokens


class Message(Struct, gc=False):
    """A message of the Messages API. ``content`` is ``None`` where it is absent or unusable."""

    model: str | None = None
    id: str | None = None
    role: str | None = None
    content: str | list[Block] | None = None
    usage: Tokens | None = None


class Details(Struct, gc=False, rename="camel"):
    """What is read of ``attachment`` and ``compactMetadata``."""

    hook_name: str | None = None
    trigger: str | None = None


class Progress(Struct, gc=False, rename="camel"):
    """``data`` of a progress record; ``message`` is a sub-agent's whole record."""

    message: Line | str | None = None
    type: str | None = None
    hook_name: str | None = None
    agent_id: str | None = None


class Line(Struct, gc=False, rename="camel"):
    """One record of a session file, and one record nested in a progress record."""

    parent_uuid: str | None = None
    is_sidechain: bool | None = None
    session_id: str | None = None
    agent_id: str | None = None
    type: str | None = None
    subtype: str | None = None
    data: Progress | None = None
    message: Message | None = None
    request_id: str | None = None
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")
    attachment: Details | None = None
    compact_metadata: Details | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    uuid: str | None = None
    timestamp: str | None = None
    tool_denial_kind: str | None = None
    is_api_error_message: bool | None = None


@cache
def line_decoder() -> msgspec.json.Decoder[Line]:
    """A decoder from the bytes of a line to a :class:`Line`."""
    return msgspec.json.Decoder(Line)


def line_from(value: Any) -> Line:
    """Make a :class:`Line` of a decoded record; fields of a wrong type count as absent.

    Raises:
        TypeError: the value is no object.
    """
    return fitting(Line, value)
