"""Form and canonical key of recorded arguments: what makes two calls the same.

The hottest functions of the program: each call passes through one of them once.
"""

from __future__ import annotations

import re
from typing import Any, Final

from orjson import OPT_SORT_KEYS, dumps, loads

from loopaudit.core import canonical, regex
from loopaudit.core.canonical import KEY_BYTES
from loopaudit.core.digests import blake2b
from loopaudit.core.events import SLICE, TEXT, VALUE, decode_value

WEAK_ID: Final = regex.lazy(
    r"(?:(?:call|tool|tool_?call|fn|func|function)[_-]?)?\d?|REDACTED|\[redacted\]", re.IGNORECASE
)
"""Ids that are plainly no identities (``call_0``), or were blanked by a publisher."""

_SHALLOW: Final = 2 * canonical.MAX_DEPTH
"""Characters that cannot nest too deeply."""

_MINUS: Final = ord("-")
"""Looked for before ``-0``: one byte is found many times faster than two."""


def of_arguments(name: str, arguments: Any) -> tuple[int, Any, bool, bytes]:
    """Form, source, whether it is JSON, and the canonical key of recorded arguments.

    Bytes are taken as a JSON string, which is the text that the model sent.
    """
    if isinstance(arguments, bytes):
        try:
            arguments = loads(arguments)
        except ValueError:
            arguments = decode_value(arguments)
    if isinstance(arguments, str):
        return of_text(name, arguments)
    value = canonical.keep_decoded(arguments)
    return VALUE, value, True, canonical.call_key(name, value)


def of_text(name: str, sent: str) -> tuple[int, Any, bool, bytes]:
    """The same for the text that the model sent: :func:`canonical.parse` and its key at their fastest."""
    if ("-" not in sent or "-0" not in sent) and (
        len(sent) <= _SHALLOW or sent.count("[") + sent.count("{") <= canonical.MAX_DEPTH
    ):
        try:
            spelling = dumps((name, loads(sent)), option=OPT_SORT_KEYS)
            return TEXT, sent, True, blake2b(spelling, digest_size=KEY_BYTES).digest()
        except (ValueError, TypeError, RecursionError):
            pass
    value = canonical.parse(sent)
    if value is canonical.NOT_JSON:
        return TEXT, sent, False, canonical.text_key(name, sent)
    return TEXT, sent, True, canonical.call_key(name, value)


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
