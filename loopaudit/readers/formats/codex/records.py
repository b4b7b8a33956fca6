"""What the Codex rollout reader decodes: typed records of a line, text, and tool declarations.

:class:`Line` holds only what a replay reads; outputs and other large fields stay
:class:`msgspec.Raw` slices of the line, everything else is checked for syntax and skipped. A
line with a field of an unexpected type does not fit; :func:`line_from` then makes a
:class:`Line` of its decoded value, where such a field counts as absent.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from msgspec import Raw, Struct

from loopaudit.core.canonical import keep_decoded, unsigned_zero
from loopaudit.core.events import content_text, decode_value
from loopaudit.core.json import exact_loads
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.kit.fields import identifier
from loopaudit.readers.kit.fitting import NOTHING, fitting


class Tokens(Struct, gc=False):
    """Token counts; ``input_tokens`` include the cached ones."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None


class TokenInfo(Struct, gc=False):
    """``info`` of a ``token_count`` event: the last response's counts, and the thread's sums."""

    total_token_usage: Tokens | None = None
    last_token_usage: Tokens | None = None


class Item(Struct, gc=False):
    """The payload of a record, whatever its type, or a bare item of the oldest rollouts."""

    type: str | None = None
    role: str | None = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    kind: str | None = None
    model: str | None = None
    reason: str | None = None
    num_turns: int | None = None
    success: bool | None = None
    info: TokenInfo | None = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    output: Raw = NOTHING
    content: Any = None
    message: Raw = NOTHING
    tools: Raw = NOTHING
    result: Raw = NOTHING
    dynamic_tools: Raw = NOTHING
    source: Raw = NOTHING


class Envelope(Struct, gc=False):
    """One line as all but the oldest rollouts have it. Of any other it holds next to nothing."""

    timestamp: str | float | None = None
    type: str | None = None
    payload: Item | None = None
    record_type: str | None = None


class Line(Item, gc=False):
    """One line: an envelope with ``payload``, or a bare item of the oldest rollouts."""

    timestamp: str | float | None = None
    record_type: str | None = None
    payload: Item | None = None


@cache
def line_decoder(kind: type[Envelope | Line] = Envelope) -> msgspec.json.Decoder[Envelope | Line]:
    """A decoder from the bytes of a line to an :class:`Envelope`, in half the time of one to a :class:`Line`."""
    return msgspec.json.Decoder(kind)


def whole_line(data: bytes) -> Line:
    """The :class:`Line` that bytes are, which were decoded to an :class:`Envelope` already."""
    try:
        return msgspec.json.decode(data, type=Line)
    except (ValueError, RecursionError):
        return line_from(exact_loads(data))


def line_from(value: Any) -> Line:
    """Make a :class:`Line` of a decoded record; fields of a wrong type count as absent.

    An id that is an integer is the text of it.

    Raises:
        TypeError: the value is no object.
    """
    line = fitting(Line, value)
    line.call_id = identifier(unsigned_zero(value.get("call_id")))
    if line.payload is not None:
        line.payload.call_id = identifier(unsigned_zero(value["payload"].get("call_id")))
    return line


# -- text -------------------------------------------------------------------------------------


def item_text(value: Any) -> str:
    """The text of a message's content, or of any other recorded text."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        text = value[0].get("text")
        if isinstance(text, str):
            return text
    return value if isinstance(value, str) else content_text(keep_decoded(value))


def parent_of(meta: Item) -> str | None:
    """The thread that spawned the sub-agent whose thread a ``session_meta`` begins."""
    value = decode_value(bytes(meta.source)) if meta.source else None
    for name in ("subagent", "thread_spawn"):
        value = value.get(name) if isinstance(value, dict) else None
    parent = value.get("parent_thread_id") if isinstance(value, dict) else None
    return parent if isinstance(parent, str) and parent else None


# -- tools ---------------------------------------------------------------------------------


def full_name(namespace: str | None, name: str) -> str:
    """A tool's name with the namespace it was called in, joined as Codex itself joins them."""
    return f"{namespace.rstrip('_')}__{name.lstrip('_')}" if namespace else name


def declared_tools(raw: Raw) -> dict[str, Any]:
    """Argument schemas by full name from ``dynamic_tools``, which may group them in namespaces."""
    declared = decode_value(bytes(raw))
    if not isinstance(declared, list):
        return {}
    schemas = declared_schemas([tool for tool in declared if not _group(tool)])
    for tool in declared:
        if _group(tool):
            inner = declared_schemas(tool["tools"])
            schemas.update((full_name(str(tool.get("name", "")), name), schema) for name, schema in inner.items())
    return schemas


def _group(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("tools"), list)
