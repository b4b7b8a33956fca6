"""Form and canonical key of recorded arguments: what makes two calls the same.

The hottest functions of the program: each call passes through one of them once.
"""

from __future__ import annotations

import re
from typing import Any, Final

from orjson import OPT_SORT_KEYS, dumps, loads

from loopaudit.core import canonical, regex
from loopaudit.core.canonical import KEY_BYTES, is_plain
from loopaudit.core.digests import blake2b
from loopaudit.core.events import SLICE, TEXT, VALUE, decode_value

WEAK_ID: Final = regex.lazy(
    r"(?:(?:call|tool|tool_?call|fn|func|function)[_-]?)?\d?|REDACTED|\[redacted\]", re.IGNORECASE
)
"""Ids that are plainly no identities (``call_0``), or were blanked by a publisher."""

_SHALLOW: Final = 2 * canonical.MAX_DEPTH
"""Characters that cannot nest too deeply."""

_KEPT: Final = 8192
"""Bytes of arguments as recorded up to which their value, decoded for the key, stays for whoever asks next."""

_MINUS: Final = ord("-")
"""Looked for before ``-0``: one byte is found many times faster than two."""


Recorded = tuple[int, Any, bool, bytes, Any]
"""Form, source, whether it is JSON, the canonical key, and the value if it was decoded for the key, or ``None``:
what :class:`~loopaudit.core.events.Call` keeps of its arguments."""


def of_arguments(name: str, arguments: Any) -> Recorded:
    """What a call keeps of recorded arguments.

    Bytes are taken as a JSON string, which is the text that the model sent.
    """
    if isinstance(arguments, bytes):
        try:
            arguments = loads(arguments)
        except ValueError:
            arguments = decode_value(arguments)
    if isinstance(arguments, str):
        return of_text(name, arguments)
    value = arguments if is_plain(arguments) else canonical.keep_decoded(arguments)
    return VALUE, value, True, canonical.call_key(name, value), None


def of_text(name: str, sent: str) -> Recorded:
    """The same for the text that the model sent: :func:`canonical.parse` and its key at their fastest."""
    try:
        value = loads(sent)
        if is_plain(value) or (
            ("-" not in sent or "-0" not in sent)
            and (len(sent) <= _SHALLOW or sent.count("[") + sent.count("{") <= canonical.MAX_DEPTH)
        ):
            key = blake2b(dumps((name, value), option=OPT_SORT_KEYS), digest_size=KEY_BYTES).digest()
            return TEXT, sent, True, key, value if len(sent) <= _KEPT else None
    except (ValueError, TypeError, RecursionError):
        pass
    value = canonical.parse(sent)
    if value is canonical.NOT_JSON:
        return TEXT, sent, False, canonical.text_key(name, sent), None
    return TEXT, sent, True, canonical.call_key(name, value), value if len(sent) <= _KEPT else None


def of_slice(name: str, raw: bytes) -> Recorded:
    """The same for a JSON slice that is no string: :func:`canonical.call_key` at its fastest."""
    try:
        value = loads(raw)
        if is_plain(value) or _MINUS not in raw or b"-0" not in raw:
            key = blake2b(dumps((name, value), option=OPT_SORT_KEYS), digest_size=KEY_BYTES).digest()
            return SLICE, raw, True, key, value if len(raw) <= _KEPT else None
    except (ValueError, TypeError, RecursionError):
        pass
    value = canonical.parse(raw)
    if value is canonical.NOT_JSON:
        value = canonical.keep_decoded(decode_value(raw))
    return VALUE, value, True, canonical.call_key(name, value), None
