"""What a person's message means for the calls after it."""

from __future__ import annotations

from functools import partial
from typing import Final

from loopaudit.core import regex
from loopaudit.core.regex import Phrase
from loopaudit.hindsight.calls.languages import COUNTS, GO_ON, LANGUAGES, NUMBERS, OTHER_SENSE

MAX_REQUEST: Final = 1200
"""Characters of a request that are read, half of them at its beginning and half at its end."""

_NAMED: Final = regex.lazy(r"(?<![\w.])\w+(?![\w.])")
"""A number in digits or a word."""

MANY: Final = 10
"""Runs that a request for several excuses."""

ENDLESS: Final = 1 << 20
"""Runs that a request to go on until something happens excuses."""

_AUTOMATIC: Final = (
    Phrase(
        "on the task on what|to the next step using",
        r"\s*please (?:continue (?:working )?on the task on whatever approach you think is suitable"
        r"|proceed to the next step using your best judge?ment)",
    ),
    Phrase(
        "hook",
        r"\s*(?:(?:stop|subagent ?stop|pre ?tool ?use|post ?tool ?use|session ?start|pre-commit"
        r"|user ?prompt ?submit)[ -]?hook (?:feedback|blocked|error|output|says|message)|\[hook\b"
        r"|<(?:stop-)?hook[ >-])",
    ),
    Phrase(
        "[harness|[automat|[system",
        r"\s*\[(?:harness|automated|automatic|system (?:message|notification|notice|reminder))\b",
    ),
    Phrase("automat", r"\s*(?:(?:automated|automatic) (?:message|continuation|reminder|prompt)\b|<automatic[ >-])"),
    Phrase("<harness|<environment_details", r"\s*<(?:harness|environment_details)[ >-]"),
    Phrase(
        "tool",
        r"\s*(?:no tool (?:calls? |use )?(?:was |were )?(?:found|detected|used|made)|\[error\] you did not use a tool)",
    ),
)
"""How prompts begin that harnesses send by themselves to keep an agent going."""

MAX_GO_ON: Final = 160
"""Longest message in characters that may say no more than *go on*."""

NOTICE: Final = 400
"""Characters of a message in which a guard speaks of repeats."""

_NOTICE: Final = regex.lazy(
    "\\s*(?:[\\[<(*#\u26a0\U0001f6d1]|(?:system|notice|warning|guard|harness|loop detect\\w{1,4})\\b ?[:!-])"
)
_OF_REPEATS: Final = Phrase(
    "loop|repe|stuck|identical|same",
    r"\bloop(?:s|ing)?\b|\brepeat(?:ed|ing|s|edly)?\b|\brepetiti\w{1,4}\b|\bstuck\b|\bidentical\b"
    r"|\bsame (?:tool )?call",
)

BEFORE: Final = 32
BEHIND: Final = 24
"""Characters before and behind a word of counting in which the count is looked for."""


def asks_to_go_on(message: str) -> bool:
    """Whether a message asks for nothing new: ``please continue``, or what a harness sends by itself."""
    head = message[:MAX_GO_ON].lower()
    if len(message) <= MAX_GO_ON:
        words = head.strip()
        for phrase in GO_ON:
            if phrase.fullmatch(words) is not None:
                return True
    return any(phrase.match(head) is not None for phrase in _AUTOMATIC)


def is_guard_notice(message: str) -> bool:
    """Whether a message is a guard's notice that was recorded as a person's.

    It has to look written by a machine and to speak of repeats; a person who complains
    about a loop is a person.
    """
    low = message[:NOTICE].lower()
    return _OF_REPEATS.search(low) is not None and _NOTICE.match(low) is not None


def runs_asked(request: str) -> int:
    """How many runs of one call a request asks for (``run it ten times``, ``20x``, ``until it fails``); 1 if none.

    Read in the languages of :mod:`loopaudit.hindsight.calls.languages`.
    """
    low = _ends(request).lower()
    for language in LANGUAGES:
        for phrase in language.endless:
            if phrase.search(low) is not None and (language.works is None or language.works.search(low) is None):
                return ENDLESS
    most = max(map(partial(_times_said, low), COUNTS))
    if most > 1:
        return most
    several = (phrase for language in LANGUAGES for phrase in language.several)
    return MANY if any(phrase.search(low) is not None for phrase in several) else 1


def _times_said(low: str, count: Phrase) -> int:
    """The highest number of times that a text in lower case names by a phrase; 1 if it names none."""
    most = 1
    if not count.may_match(low):
        return most
    for word in count.words:
        at = low.find(word)
        while at >= 0:
            # Only around such a word: ``raz`` is in ``crazy``, too, and numbers are looked for at each letter.
            for match in count.pattern.finditer(low, max(at - BEFORE, 0), at + len(word) + BEHIND):
                number = match[match.lastindex or 0]
                most = max(most, NUMBERS.get(number) or int(number))
            at = low.find(word, at + len(word))
    return most


def most_named(request: str) -> int:
    """The highest number up to 1,000 that a request names, in digits or in a word: how many things it may ask for."""
    most = 1
    for word in _NAMED.findall(_ends(request).lower()):
        number = int(word) if len(word) <= 4 and word.isdecimal() else NUMBERS.get(word, 0)
        if most < number <= 1000 and word not in OTHER_SENSE:
            most = number
    return most


def _ends(request: str) -> str:
    """The beginning and the end of a long request."""
    if len(request) <= MAX_REQUEST:
        return request
    return f"{request[: MAX_REQUEST // 2]}\n{request[-MAX_REQUEST // 2 :]}"


def asks_for_patience(request: str) -> bool:
    """Whether a request asks to keep looking at something (``poll it``, ``every minute``), in the same languages."""
    low = _ends(request).lower()
    return any(phrase.search(low) is not None for language in LANGUAGES for phrase in language.patient)
