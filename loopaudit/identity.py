"""Form and canonical key of recorded arguments: what makes two calls the same.

The hottest functions of the program: each call passes through one of them once.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any, Final

from orjson import OPT_SORT_KEYS, dumps, loads

from loopaudit import canonical
from loopaudit.canonical import KEY_BYTES
from loopaudit.events import SLICE, TEXT, VALUE, decode_value

WEAK_ID: Final = re.compile(
    r"(?:(?:call|tool|tool_?call|fn|func|function)[_-]?)?\d?|REDACTED|\[redacted\]", re.IGNORECASE
)
"""Ids that are plainly no identities (``call_0``), or were blanked by a publisher."""

_MINUS: Final = ord("-")
"""Looked for before ``-0``: one byte is found many times faster than two."""


def of_arguments(name: str, arguments: Any) -> tuple[int, Any, bool, bytes]:
    """Form, source, whether it is JSON, and the canonical key of recorded arguments.

    Bytes are taken as a JSON string, which is the text that the model sent.
    """
    if isinstance(arguments, bytes):
        arguments = decode_value(arguments)
    if isinstance(arguments, str):
        value = canonical.parse(arguments)
        if value is canonical.NOT_JSON:
            return TEXT, arguments, False, canonical.text_key(name, arguments)
        return TEXT, arguments, True, canonical.call_key(name, value)
    value = canonical.keep_decoded(arguments)
    return VALUE, value, True, canonical.call_key(name, value)


def of_slice(name: str, raw: bytes) -> tuple[int, Any, bool, bytes]:
    """The same for a JSON slice that is no string: :func:`canonical.call_key` at its fastest."""
    if _MINUS not in raw or b"-0" not in raw:
        try:
            spelling = dumps((name, loads(raw)), option=OPT_SORT_KEYS)
            return SLICE, raw, True, blake2b(spelling, digest_size=KEY_BYTES).digest()
        except (ValueError, TypeError, RecursionError):
            pass
    value = canonical.parse(raw)
    if value is canonical.NOT_JSON:
        value = canonical.keep_decoded(decode_value(raw))
    return VALUE, value, True, canonical.call_key(name, value)
