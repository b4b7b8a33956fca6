"""Content blocks and tokens of Anthropic's Messages API as records, for formats that are decoded a line at a time."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Raw, Struct

from loopaudit.readers.kit.fitting import NOTHING

NO_OBJECT: Final = "no object"
"""The type of what stands for a block that is no object. Known by identity: a recorded type is never this text."""


class Block(Struct, gc=False):
    """One content block, whatever its type; arguments and outputs are slices of the line."""

    type: str | None = None
    tool_use_id: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    text: str | None = None
    content: Raw = NOTHING
    is_error: bool | None = None

    @classmethod
    def from_other(cls, value: Any) -> Block:
        """A block that is no object: text stands for a text block."""
        return cls(type="text", text=value) if isinstance(value, str) else cls(type=NO_OBJECT)


class Tokens(Struct, gc=False):
    """The part of ``usage`` that counts tokens."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
