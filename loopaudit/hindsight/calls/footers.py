"""What a harness puts before and behind results of whatever tool: what the run has cost, reminders, notices.

Such a footer (or heading) is no part of the answer, but its numbers change with every call, so that equal
answers look different. What a run has cost is known by its words; other footers are learned: a line of the
run's own numbers (steps, turns, time) that stands in the same words at results of two tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from loopaudit.core import regex
from loopaudit.core.regex import Phrase
from loopaudit.hindsight.calls.outputs import BLOCK, MAX_TEXT, Held, differences, text_of
from loopaudit.hindsight.calls.wordings import is_notice

FOOTER: Final = ("footer",)
"""The noise of a result that differs in its footer only."""

MAX_LINE: Final = 240
"""Longest line in characters that may be a footer."""

MAX_BLOCK: Final = 2000
"""Longest block of a reminder in characters."""

MAX_TAG: Final = 40
"""Longest end of a tag in characters, with white space behind it."""

MAX_PIECES: Final = 3
"""Footers that may stand behind one result."""

MAX_LEARNED: Final = 16
"""Different footers that are remembered."""

_SIGNS: Final = ("[", "(", "<", "--", "\u2013", "\u2014", "\u23f1")
"""What the line of a footer begins with: it is set apart from what a tool would write."""

_RAW_SIGNS: Final = (*(sign.encode() for sign in _SIGNS), b"\\u2")

_HEADING_SIGNS: Final = frozenset((b"[", b"(", b"<", b"-", b"{"))
"""What a result as JSON bytes begins with, behind its quote, that may have a heading; a list of blocks as well."""

_BLOCK_SIGNS: Final = _HEADING_SIGNS | {b" ", b"\\", b"\xe2"}
"""The same for the first text of a usual list of blocks; with what may be white space or another sign."""

_COST: Final = Phrase(
    "context|ctx|token|$|\u20ac|\u00a3|spent|budget|cost|left|remaining",
    r"\bcontext(?: window| length| size)?\b[^\n]{0,40}\d ?%|\d ?%[^\n]{0,20}\bcontext\b|\bctx\b[^\n]{0,20}\d"
    r"|\btokens?\b[^\n]{0,20}\b(?:used|left|remaining|so far|total|spent)\b"
    r"|\b(?:used|left|remaining|spent|total|usage)\b[^\n]{0,20}\btokens?\b"
    r"|\btokens?[\"']? ?[:=] ?[\"']?\d|\d ?tokens?\W*\Z"
    r"|[$\u20ac\u00a3] ?\d[\d.,]* (?:so far|spent|used|of (?:the )?budget|left of)"
    r"|\b(?:remaining|left)\b[^\n\d]{0,8}(?:steps|turns|calls|iterations|requests)\b[^\n\d]{0,4}\d"
    r"|\b(?:steps|turns|calls|iterations|requests) (?:left|remaining)\b[^\n\d]{0,4}\d"
    r"|\d{1,6} (?:tool )?(?:steps|turns|calls|iterations|requests) (?:left|remaining)\b"
    r"|\b(?:spent|budget|cost so far|session cost|run cost)\b[^\n]{0,30}\d",
)
"""What a run has cost, and how full its context is: never the answer of a tool where it stands set apart."""

_RUN: Final = regex.lazy(
    r"\b(?:steps?|turns?|calls?|iterations?|rounds?|requests?|actions?|messages?|budget|limit|elapsed|time|clock|uptime"
    r"|session|duration|cost|tokens?|usage|credits?|context|kontext|contexte|contexto|contesto"
    r"|schritte?|aufrufe?|runden?|zeit|étapes?|appels?|tours?|pasos?|llamadas?|turnos?|passos?"
    r"|chamadas?|passi|chiamate|шаг\w{0,3}|вызов\w{0,3}|\d ?m?s)\b|步|轮|次|回|上下文|ステップ|ターン|コンテキスト",
    re.IGNORECASE,
)
"""What a line of a run's own numbers speaks of."""

_BLOCK: Final = regex.lazy(
    r"\s*<((?:system|harness|host|tool|runtime|user|context)?[_-]?(?:reminder|notice|note|message|usage|budget"
    r"|context|environment(?:_details)?|env))\b[^<>\n]{0,200}>(?:(?!<\1)[\s\S]){0,2000}</\1>\s*\Z",
    re.IGNORECASE,
)
_BLOCK_ENDS: Final = (
    "reminder>", "notice>", "note>", "message>", "usage>", "budget>", "context>", "environment>",
    "environment_details>", "env>",
)  # fmt: skip
"""How its closing tag ends in lower case."""

# Begun where a word begins only: else a word without a digit is gone through from each of its letters.
_NUMBER: Final = regex.lazy(r"(?<![\w.,:/+-])(?=[\w.,:/+-]*\d)[\w.,:/+-]+")


_GROWN: Final = regex.lazy(
    r"(?:\b|(?<=_))(?:messages?|turns?|tokens?|calls?|requests?|steps?|used|usage|left|remaining|free|total|percent|pct|chars"
    r"|characters|size|length|fill|full)(?:\b|(?=_))[\w ]{0,24}[\"']? ?[:=]? ?~?\d[\d.,]{0,15} ?[km%]?"
    r"|~?\d[\d.,]{0,15} ?[km]? ?(?:of|/) ?~?\d[\d.,]{0,15} ?[km]?\b"
    r"|~?\d[\d.,]{0,15} ?(?:[km] ?)?(?:%|percent|messages?|turns?|tokens?|calls?|requests?|steps?|characters|chars)",
    re.IGNORECASE,
)
"""How many messages, calls and tokens a context holds, and how full it is."""


def without_fullness(held: Held) -> Held:
    """What a look at the agent's own context showed, without the numbers that grow with each call."""
    text = None if isinstance(held, tuple) or len(held) > MAX_TEXT else text_of(held)
    return held if text is None else _GROWN.sub("0", text)


def may_have_footer(held: Held) -> bool:
    """Whether something may stand behind a kept result; a quick look that decodes nothing."""
    if isinstance(held, tuple) or len(held) > MAX_TEXT:
        return False
    if isinstance(held, str):
        body, feed, line = held.rstrip().rpartition("\n")
        if not feed:
            return False
        return line.lstrip().startswith(_SIGNS) or body.endswith(("\n", "\n---")) or held.lstrip().startswith(_SIGNS)
    at = held.rfind(b"\\n", max(len(held) - 4 * MAX_LINE, 0))
    if at < 0:
        return False
    if held[at - 2 : at] == b"\\n" or held[at - 5 : at] == b"\\n---":
        return True
    if held[at + 2 : at + 6].lstrip().startswith(_RAW_SIGNS):
        return True
    if held.startswith(BLOCK):
        return held[len(BLOCK) : len(BLOCK) + 1] in _BLOCK_SIGNS
    return held[1:2] in _HEADING_SIGNS


def without_block(text: str) -> str:
    """A text without the reminder in a tag of the harness that stands behind it; the same object if none does."""
    end = text[-MAX_TAG:]
    if "</" not in end or (end.isascii() and not end.rstrip().lower().endswith(_BLOCK_ENDS)):
        return text  # most closing tags are those of a page or of some code
    match = _BLOCK.search(text, max(len(text) - MAX_BLOCK, 0))
    return text[: match.start()] if match is not None and match.start() else text


def masked(line: str) -> str:
    """A line without its numbers and ids."""
    return _NUMBER.sub("0", line.strip())


class Footers:
    """What one agent's harness was seen to put behind results of different tools."""

    __slots__ = ("_before", "_learned", "last", "tool")

    def __init__(self) -> None:
        self._learned: set[str] = set()
        self.tool = ""
        """The tool of the last call."""
        self.last: Held = ""
        """The last result, which whoever sees it puts here. It is looked at only if one is compared with another."""
        self._before: Held = ""
        """The last result of another tool."""

    def another(self, tool: str) -> None:
        """The next result is that of another tool."""
        self._before = self.last
        self.tool = tool

    def plain(self, held: Held) -> Held:
        """A result without its footers, or as it is where it has none."""
        if not may_have_footer(held):
            return held
        text = text_of(held) or ""
        plain = self._cut(text)
        return held if plain is text else plain

    def differences(self, before: Held, held: Held) -> tuple[str, ...] | None:
        """The names of the noise in which two results differ that differ in a footer at least; else ``None``."""
        if not (may_have_footer(before) or may_have_footer(held)):
            return None
        known, now = text_of(before), text_of(held)
        if known is None or now is None:
            return None
        self._learn(_last_line, known, now)
        self._learn(_first_line, known, now)
        plain, plain_now = self._cut(known), self._cut(now)
        if plain is known and plain_now is now:
            return None
        if not plain.strip() and not plain_now.strip():
            return None  # what there is to read is all there is
        names = differences(plain, plain_now)
        return None if names is None else tuple(sorted({*names, *FOOTER}))

    def _learn(self, line_of: Callable[[str], str], known: str, now: str) -> None:
        """Note that the last or the first line of two results is one of the harness, if another tool had it, too."""
        shown = line_of(now)
        line = masked(shown)
        if not line or line in self._learned or len(self._learned) >= MAX_LEARNED or masked(line_of(known)) != line:
            return
        before = text_of(self._before)
        if before is not None and masked(line_of(before)) == line and _RUN.search(shown) is not None:
            self._learned.add(line)

    def _cut(self, text: str) -> str:
        """A text without what stands behind it; the same object where nothing does."""
        for _ in range(MAX_PIECES):
            shorter = self._without_last(text)
            if shorter is text:
                break
            text = shorter
        line = _first_line(text)
        if line and (_COST.search(line.lower()) is not None or masked(line) in self._learned):
            return text.lstrip().partition("\n")[2].lstrip()
        return text

    def _without_last(self, text: str) -> str:
        stripped = text.rstrip()
        shorter = without_block(text)
        if shorter is not text:
            return shorter
        line = _last_line(text)
        if not line:
            return text
        if masked(line) in self._learned or (line.startswith(_SIGNS) and _COST.search(line.lower()) is not None):
            return stripped[: -len(line)].rstrip().removesuffix("\n---").rstrip()
        body, gap, last = stripped.rpartition("\n\n")
        return body if gap and body.strip() and is_notice(last) else text


def _last_line(text: str) -> str:
    """The last line of a text that has others, if it is set apart by its first sign or a blank line; else nothing."""
    body, feed, line = text.rstrip().rpartition("\n")
    line = line.strip()
    if not feed or not body.strip() or len(line) > MAX_LINE:
        return ""
    return line if line.startswith(_SIGNS) or body.endswith(("\n", "\n---")) else ""


def _first_line(text: str) -> str:
    """The first line of a text that has others, if it is set apart by its first sign and its last; else nothing."""
    line, feed, behind = text.lstrip().partition("\n")
    line = line.strip()
    if not feed or not behind.strip() or len(line) > MAX_LINE or not line.startswith(_SIGNS):
        return ""
    return line if line[-1] in "])>-\u2013\u2014" else ""
