"""What the Codex rollout reader decodes: typed records of a line, text, and tool declarations.

:class:`Line` holds only what a replay reads; outputs, contents and other large fields stay
:class:`msgspec.Raw` slices of the line, everything else is checked for syntax and skipped. A
line with a field of an unexpected type does not fit; :func:`line_from` then makes a
:class:`Line` of its decoded value, where such a field counts as absent.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from loopaudit.core.canonical import unsigned_zero, written
from loopaudit.core.events import content_text, decode_value
from loopaudit.core.tools import declared_schemas

NOTHING: Final = Raw(b"")
"""A field that is not there; every recorded JSON value has at least one byte."""


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
    content: Raw = NOTHING
    message: Raw = NOTHING
    tools: Raw = NOTHING
    result: Raw = NOTHING
    dynamic_tools: Raw = NOTHING


class Line(Item, gc=False):
    """One line: an envelope with ``payload``, or a bare item of the oldest rollouts."""

    timestamp: str | float | None = None
    record_type: str | None = None
    payload: Item | None = None


def line_decoder() -> msgspec.json.Decoder[Line]:
    """A decoder from the bytes of a line to a :class:`Line`."""
    return msgspec.json.Decoder(Line)


# -- tolerant conversion -------------------------------------------------------------------

_STRINGS: Final = ("type", "role", "id", "call_id", "name", "namespace", "kind", "model", "reason")
_VALUES: Final = ("arguments", "input", "action")
_RAWS: Final = ("output", "content", "message", "tools", "result", "dynamic_tools")
_COUNTS: Final = ("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens")


def line_from(value: Any) -> Line:
    """Make a :class:`Line` of a decoded record; fields of a wrong type count as absent.

    Raises:
        TypeError: the value is no object.
    """
    if not isinstance(value, dict):
        raise TypeError("a record is an object")
    payload = value.get("payload")
    timestamp = value.get("timestamp")
    record_type = value.get("record_type")
    return Line(
        timestamp=timestamp if isinstance(timestamp, str) else _moment(timestamp),
        record_type=record_type if isinstance(record_type, str) else None,
        payload=Item(**_fields(payload)) if isinstance(payload, dict) else None,
        **_fields(value),
    )


def _fields(value: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value[name] for name in _STRINGS if isinstance(value.get(name), str)}
    fields |= {name: value[name] for name in _VALUES if name in value}
    fields |= {name: Raw(written(value[name])) for name in _RAWS if name in value}
    number = _count(value.get("call_id"))
    if number is not None:
        fields["call_id"] = str(number)
    fields["num_turns"] = _count(value.get("num_turns"))
    if isinstance(value.get("success"), bool):
        fields["success"] = value["success"]
    info = value.get("info")
    if isinstance(info, dict):
        fields["info"] = TokenInfo(_tokens(info.get("total_token_usage")), _tokens(info.get("last_token_usage")))
    return fields


def _tokens(value: Any) -> Tokens | None:
    if not isinstance(value, dict):
        return None
    return Tokens(**{name: _count(value.get(name)) for name in _COUNTS})


def _moment(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(unsigned_zero(value))
    except OverflowError:  # an integer beyond every double is no time
        return None


def _count(value: Any) -> int | None:
    value = unsigned_zero(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# -- text -------------------------------------------------------------------------------------


def item_text(raw: Raw) -> str:
    """The text of a message's content, or of any other recorded text."""
    value = decode_value(bytes(raw)) if raw else ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        text = value[0].get("text")
        if isinstance(text, str):
            return text
    return content_text(value)


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
