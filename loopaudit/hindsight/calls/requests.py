"""What a person's message means for the calls after it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from loopaudit.core import regex
from loopaudit.hindsight.calls.noise import folds_oddly

MAX_REQUEST: Final = 4000
"""Characters of a request that are read."""

_PATIENT: Final = regex.lazy(
    r"\b(?:poll|monitor|keep (?:checking|polling|watching|trying|retrying|looking)|"
    r"every (?:\d{1,4} )?(?:s|sec|second|min|minute)s?)\b",
    re.IGNORECASE,
)
_TIMES: Final = regex.lazy(
    r"\b(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty) (?:more )?times\b", re.IGNORECASE
)
_NUMBERS: Final[Mapping[str, int]] = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twenty": 20,
    "fifty": 50,
}  # fmt: skip

_TIMES_NEEDLES: Final = (" times",)
_PATIENT_NEEDLES: Final = ("poll", "monitor", "keep ", "every ")
"""What a text in lower case must hold for these patterns to match."""

_GO_ON: Final = regex.lazy(
    r"(?:please|ok|okay|yes|sure|go)?[,.! ]*(?:please )?"
    r"(?:continue|go on|keep going|keep working|proceed|resume|carry on|go ahead|retry|try again"
    r"|(?:bitte )?(?:weiter(?:machen)?|mach(?:e|en sie)? (?:bitte )?weiter|fahr(?:e|en sie)? (?:bitte )?fort)"
    r"|(?:s'il (?:te|vous) pla[iî]t,? )?(?:continue[rz]?|poursui[st]|poursuivez|vas-y|allez-y)"
    r"|(?:por favor,? )?(?:contin[uú][ae]|sigue|siga|adelante|prosiga|prossiga)"
    r"|(?:请|請)?(?:继续|繼續|接着做|继续吧)|続けて(?:ください|下さい)?|続行(?:して(?:ください)?)?|続きを?(?:お願いします)?"
    r"|(?:per favore,? )?(?:vai avanti|prosegui|avanti))"
    r"(?:,? (?:please|working|bitte|on|with (?:the|your|this) (?:task|work|plan|next (?:step|task|item))"
    r"|(?:on|to) (?:the|your) (?:task|next step|work)|until (?:it is |it's |you are |you're )?(?:done|finished"
    r"|complete)"
    r"|using your best judge?ment|as you (?:see fit|think best)|from where you (?:left off|stopped)"
    r"|if (?:needed|necessary|you (?:can|want|have (?:more|unmet|unanswered) \S{1,40}(?: \S{1,40}){0,3}))))*[.!。！ ]*",
    re.IGNORECASE,
)
_AUTOMATIC: Final = regex.lazy(
    r"\s*(?:please continue (?:working )?on the task on whatever approach you think is suitable"
    r"|please proceed to the next step using your best judge?ment"
    r"|(?:stop|subagent ?stop|pre ?tool ?use|post ?tool ?use|session ?start|pre-commit|user ?prompt ?submit)[ -]?hook "
    r"(?:feedback|blocked|error|output|says|message)"
    r"|\[(?:hook|harness|automated|automatic|system (?:message|notification|notice|reminder))\b"
    r"|(?:automated|automatic) (?:message|continuation|reminder|prompt)\b"
    r"|no tool (?:calls? |use )?(?:was |were )?(?:found|detected|used|made)|\[error\] you did not use a tool"
    r"|<(?:stop-hook|hook|harness|environment_details|automatic)[ >-])",
    re.IGNORECASE,
)
"""How prompts begin that harnesses send by themselves to keep an agent going."""

MAX_GO_ON: Final = 160
"""Longest message in characters that may say no more than *go on*."""

_NOTICE: Final = regex.lazy(
    "\\s*(?:[\\[<(*#\u26a0\U0001f6d1]|(?:system|notice|warning|guard|harness|loop detect\\w{1,4})\\b ?[:!-])",
    re.IGNORECASE,
)
_OF_REPEATS: Final = regex.lazy(
    r"\bloop(?:s|ing)?\b|\brepeat(?:ed|ing|s|edly)?\b|\brepetiti\w{1,4}\b|\bstuck\b|\bidentical\b"
    r"|\bsame (?:tool )?call",
    re.IGNORECASE,
)


def says_go_on(message: str) -> bool:
    """Whether a message asks for nothing new: ``please continue``, or what a harness sends by itself."""
    if len(message) <= MAX_GO_ON and _GO_ON.fullmatch(message.strip()) is not None:
        return True
    return _AUTOMATIC.match(message[:MAX_GO_ON]) is not None


def is_guard_notice(message: str) -> bool:
    """Whether a message is a guard's notice that was recorded as a person's.

    It has to look written by a machine and to speak of repeats; a person who complains
    about a loop is a person.
    """
    return _NOTICE.match(message) is not None and _OF_REPEATS.search(message[:400]) is not None


def runs_asked(request: str) -> int:
    """How many runs of one call a request asks for (``run it ten times``); 1 if it names none."""
    request = request[:MAX_REQUEST]
    if not _may_hold(request, _TIMES_NEEDLES):
        return 1
    found = _TIMES.findall(request)
    return max((_NUMBERS.get(n.lower()) or int(n) for n in found), default=1)


def asks_for_patience(request: str) -> bool:
    """Whether a request asks to keep looking at something (``poll it``, ``every minute``)."""
    request = request[:MAX_REQUEST]
    return _may_hold(request, _PATIENT_NEEDLES) and _PATIENT.search(request) is not None


def _may_hold(request: str, needles: tuple[str, ...]) -> bool:
    """Whether a text holds one of some words in any case; spares most searches."""
    if not request.isascii() and folds_oddly(request):
        return True
    low = request.lower()
    return any(needle in low for needle in needles)
