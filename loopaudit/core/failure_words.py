"""Recognises a failure that only the words of a result tell: the weakest of the three levels.

Words are a poor witness (a log that mentions errors is not a failure), so this is used only
when the user asks for it, and looks only at how a short beginning of the text starts.
"""

from __future__ import annotations

import re

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


def says_failure(output: str | bytes) -> bool:
    """Whether a result without flag and exit code reads like a failure."""
    if isinstance(output, bytes):
        from loopaudit.core.events import decode_text

        output = decode_text(output)
    return _STARTS.match(output[:HEAD]) is not None
