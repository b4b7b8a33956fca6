"""Recognises a failure that only the words of a result tell: the weakest of the three levels.

Words are a poor witness (a log that mentions errors is not a failure), so this is used only
when the user asks for it, and looks only at how a short beginning of the text starts.
"""

from __future__ import annotations

import re
from typing import AnyStr

from loopaudit.core import regex

HEAD = 400
"""Characters of the text that are looked at."""

_STARTS = regex.lazy(
    r"\s*(?:<(?:tool_use_)?error>|\[?error\]?\b\s*[:!-]|error (?:executing|running|calling|while)\b"
    r"|fatal:|traceback \(most recent call last\)|exception:|uncaught \w*|failed to\b|failure:"
    r"|permission denied|access denied|command not found|unknown tool\b|no such tool\b"
    r"|tool \S+ (?:not found|does not exist|is not available)|invalid (?:arguments?|parameters?|input)\b"
    r"|missing required\b|apply_patch verification failed|no such file or directory"
    r"|failed in sandbox\b|execution error:|tool call error:)"
    r"|\s*\{\s*\"(?:error|errors)\"\s*:\s*(?!null|\[\]|\"\"|false)"
    r"|[^\n]{0,120}: (?:no such file or directory|command not found|permission denied)\s*(?:\n|$)",
    re.IGNORECASE,
)

_NEEDLES = (
    "error", "fatal:", "traceback", "exception:", "uncaught", "failed", "failure:", "denied", "not found", "no such",
    "not exist", "not available", "invalid", "missing required",
    "unknown tool",
)  # fmt: skip
"""What a text in lower case must hold for the pattern to match."""

_RAW_NEEDLES = tuple(words.encode() for words in _NEEDLES)


def may_say_failure(source: str | bytes) -> bool:
    """Whether a result as recorded may read like a failure; ``False`` is certain, and spares decoding most.

    Other letters than ASCII ones may match those of the words where case does not matter.
    """
    if isinstance(source, str):
        head = source[:HEAD]
        if not head.isascii():
            return True
        return _holds(head.lower(), _NEEDLES)
    raw = source[: 2 * HEAD + 1]  # no character of ASCII takes more than an escape of two bytes, but for ``\\u``
    if raw[:1] != b'"' or not raw.isascii() or b"\\u" in raw:
        return True
    return _holds(raw.lower(), _RAW_NEEDLES)


def _holds(low: AnyStr, needles: tuple[AnyStr, ...]) -> bool:
    for needle in needles:  # no generator: this is asked of every result
        if needle in low:
            break
    else:
        return False
    return True


def says_failure(output: str | bytes) -> bool:
    """Whether a result without flag and exit code reads like a failure."""
    if isinstance(output, bytes):
        from loopaudit.core.events import decode_text

        output = decode_text(output)
    return _STARTS.match(output[:HEAD]) is not None
