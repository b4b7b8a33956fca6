"""Recognises a failure that only the words of a result tell: the weakest of the three levels.

Words are a poor witness (a log that mentions errors is not a failure), so this is used only
when the user asks for it, and looks only at how a short beginning of the text starts.
"""

from __future__ import annotations

from loopaudit.core import regex
from loopaudit.core.regex import Phrase

HEAD = 400
"""Characters of the text that are looked at."""

_WHOLE = (
    "<error>", "<tool_use_error>", "error:", "fatal:", "traceback (most recent call last)", "exception:", "uncaught ",
    "failure:", "permission denied", "access denied", "command not found", "apply_patch verification failed",
    "no such file or directory", "execution error:", "tool call error:",
)  # fmt: skip
"""How a text in lower case begins that tells of a failure, most of them."""

_FIRST = ("error", "[error", "failed ", "unknown tool", "no such tool", "tool ", "invalid ", "missing required")
"""With what one must begin for the next to match; nearly none does."""

_LETTERS = frozenset(begun[0] for begun in (*_WHOLE, *_FIRST))
"""With what all of these begin, and few results do that are no prose."""

_BEGINS = regex.lazy(
    r"\[?error\]?\b\s*[:!-]|error (?:executing|running|calling|while)\b|failed (?:to|in sandbox)\b"
    r"|(?:unknown|no such) tool\b|tool \S+ (?:not found|does not exist|is not available)"
    r"|invalid (?:arguments?|parameters?|input)\b|missing required\b"
)
_HOLDS_ERROR = regex.lazy(  # in lower case; blanks are given up for nothing, else one before the value would match
    r"\{\s*+\"errors?\"\s*+:\s*+(?!(?:null|none|false|0|\[\s*+\]|\{\s*+\}|\"\s*+\")\s*+(?:[,}\]]|\Z))"
)
"""An object that begins with an error, unless that is none."""
_SAYS_WHY = Phrase(
    ": no such file or directory|: command not found|: permission denied",
    r"[^\n]{0,120}: (?:no such file or directory|command not found|permission denied)\s*(?:\n|$)",
)
_WHY = 150
"""Characters in which they match."""


def says_failure(output: str | bytes) -> bool:
    """Whether a result without flag and exit code reads like a failure."""
    if isinstance(output, bytes):
        from loopaudit.core.events import decode_text

        output = decode_text(output)
    low = output[:HEAD].lower()
    begins = low.lstrip()
    return (
        (
            begins[:1] in _LETTERS
            and (begins.startswith(_WHOLE) or (begins.startswith(_FIRST) and _BEGINS.match(begins) is not None))
        )
        or (begins[:1] == "{" and begins[1:].lstrip().startswith('"error') and _HOLDS_ERROR.match(begins) is not None)
        or (_SAYS_WHY.may_match(low[:_WHY]) and _SAYS_WHY.pattern.match(low) is not None)
    )
