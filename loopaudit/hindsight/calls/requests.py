"""What a person's message means for the calls after it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from loopaudit.core import regex
from loopaudit.core.regex import Index, Phrase
from loopaudit.hindsight.calls.languages import (
    GO_ON,
    GO_ON_ALONE,
    GO_ON_WORDS,
    LANGUAGES,
    NUMBERS,
    OTHER_SENSE,
    PROOF,
    SIGN,
    Count,
    counts,
    may_hold_sign,
)

MAX_REQUEST: Final = 1200
"""Characters of a request that are read, half of them at its beginning and half at its end."""

_NAMED: Final = regex.lazy(
    r"[两兩二三四五六七八九十百]{1,3}(?=[个個条件封下张張份只つ])"
    r"|(?<![a-z\u00c0-\u024f0-9_.])\d{1,4}(?![.,]?[a-z0-9_])|(?<![\w.])[^\W\d_]+(?!\w)"
)
"""A number in digits or a word; of Chinese and Japanese one before a word for counting."""

_MEASURES: Final = regex.lazy(
    r" ?(?:[:/.,-]\d|%|€|\$|£|°|º)|[-/]\d"
    r"| ?(?:euros?|eur|usd|dollars?|pounds?|cents?|percent|prozent|por ?ciento|pour ?cent|degrees?|grad|grados|degrés"
    r"|uhr|a\.?m\.?|p\.?m\.?|o'clock|heures?|horas?|ore|hours?|h|hrs?|minutes?|minuten?|minutos?|minuti|mins?|min"
    r"|seconds?|sekunden?|segundos?|secondes?|secondi|secs?|s|ms|days?|tage?n?|días?|jours?|giorni|dias?|weeks?|wochen?"
    r"|semanas?|months?|monate?n?|meses|years?|jahre?n?|años?|kg|g|km|m|cm|mm|l|liters?|litres?|mb|gb|tb|kb|px|dpi|kwh"
    r"|people|personen|persons?|personas|personnes"
    r"|(?:st|nd|rd|th|\.)? ?(?:of )?(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|ene|abr|ago|dic|janv"
    r"|févr|avr|juin|juil|août|déc)[a-zäéû]{0,8})(?!\w)"
    r"|(?:st|nd|rd|th)\b|[年月日点時时分号號岁歳円元]",
)
"""What behind a number shows that it counts no things: a time, a date, a price, a measure."""

_CALLED: Final = regex.lazy(
    r"(?:[#$€£/-]|\d:|\b(?:n[o°º]|nr|num(?:ber)?|room|raum|zimmer|page|line|issue|order|ticket|version|step|chapter|section"
    r"|table|port|account|route|bus|id|at|um|by|until|till|before|after|seite|zeile|auftrag|konto|habitación|pedido"
    r"|página|commande|chambre|a las|à|alle|july|june|may|march|april|august|september|october|november|december"
    r"|january|february))[. ]{0,2}\Z"
)
"""What before a number shows the same: something is called by it."""

_IN_GROUPS: Final = regex.lazy(r"\d[ /-]\d|.{0,2}\d{1,4}[ /-]\d")
"""Digits that stand in groups; begun two characters before a number."""

_ONE_BY_ONE: Final = regex.lazy(
    r"\b(?:one|a single one|1|each(?: one)?) (?:\w{1,12} )?(?:per|a|by|at a|in (?:its|a)(?: own| separate)?) "
    r"(?:call|time|one|request|turn|step|message)\b|\bseparate (?:calls?|requests?)\b"
    r"|\bein\w{0,2} (?:\w{1,12} )?(?:pro|je|per) (?:aufruf|mal|schritt|anfrage)\b|\b(?:einzeln|eins nach dem anderen)\b"
    r"|\bun[oea]? (?:\w{1,12} )?(?:por|par|per|à|alla|a la) (?:la )?(?:llamada|appel|chiamata|vez|fois|volta)\b"
    r"|\buma? (?:\w{1,12} )?(?:por|de cada) (?:chamada|vez)\b|\bпо одно(?:му|й)\b"
    r"|每次(?:调用|只)?(?:一|1)|一次(?:调用)?(?:一|1)|逐(?:个|一|次|条)|(?:1|一)(?:回|つ|件|個)ずつ|(?:1|一)回に(?:1|一)",
)
"""That of several things each is to have a call of its own."""

_STROKES: Final = frozenset(
    """
    stro beat ring puls blin flas pres clic taps shot roll thro flip knoc beep buzz chim samp stea schl klic würf töne
    hübe coup impu appu lanc bips golp toqu tira lanz piti camp parp bati colp rint удар импу брос
    """.split()
)
"""How words begin for what is done at one stroke, in whatever language the tool is named."""

MIN_STEM: Final = 4
"""Letters in which the beginnings of two words agree that may be forms of one word."""

BEHIND_NUMBER: Final = 32
"""Characters behind a number in which the word for what it counts is looked for."""

CALLED: Final = 16
"""Characters before a number in which the word for what is called by it is looked for."""

_CAMEL: Final = regex.lazy(r"([A-Z])")
_WORD: Final = regex.lazy(r"[^\W\d_]+")

MANY: Final = 10
"""Runs that a request for several excuses."""

ENDLESS: Final = 1 << 20
"""Runs that a request to go on until something happens excuses."""

_URGE_WORDS: Final = (
    "unfinished|incomplete|uncompleted|unresolved|pending|remaining|outstanding |open |not stop|n't stop|never stop"
    "|keep working|keep going|continue working|not done|not yet|not been|not fully|not finished|not complete|n't done"
    "|n't yet|n't been|n't fully|n't finished|n't complete"
)
_URGE: Final = (
    r"\b(?:(?:unfinished|incomplete|uncompleted|unresolved|pending|remaining|outstanding|open) (?:\w{1,16} ){0,2}"
    r"(?:to-?dos?|tasks?|items?|steps?|work|goals?|objectives?)"
    r"|(?:to-?dos?|tasks?|items?|work|goals?) (?:\w{1,12} ){0,2}(?:unfinished|incomplete|pending|remaining|unresolved)"
    r"|(?:do not|don't|never) stop|(?:keep|continue) working|keep going"
    r"|(?:not|n't)(?: yet| been| fully)? (?:done|finished|completed?)(?: yet)?)\b"
)
"""How a harness urges an agent on that wants to stop."""

_URGES: Final = Phrase(_URGE_WORDS, _URGE)
_ORDERS: Final = regex.lazy(
    r"\b(?:again|re-?run|re-?check|retry|run|test|check|look|status|report|fix|change|write|add|use)\b"
)
"""What a message asks for that does more than urge."""

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
        "no tool |you did not use a tool",
        r"\s*(?:no tool (?:calls? |use )?(?:was |were )?(?:found|detected|used|made)|\[error\] you did not use a tool)",
    ),
)
"""How prompts begin that harnesses send by themselves to keep an agent going."""

_AUTOMATIC_URGE: Final = Phrase(
    _URGE_WORDS,
    r"\s*(?:[\[<(][^\])>\n]{0,24}?"
    r"(?:system|auto|to-?do|continu|remind|orchestrat|supervis|watchdog|runner|harness|scheduler|hook|loop)"
    r"[^\])>\n]{0,40}[\])>]|(?:system|harness|orchestrator|supervisor|watchdog|runner|reminder|automation)"
    rf"(?: \w{{1,16}})? ?[:!-])[^\n]{{0,120}}?{_URGE}",
)
"""The same that begins with its sender and goes on to urge."""

_URGE_BEGINS: Final = (
    "[", "<", "(", "system", "harness", "orchestrator", "supervisor", "watchdog", "runner", "reminder", "automation",
)  # fmt: skip
"""How that begins, behind blanks."""

_SENT_BEGINS: Final = (
    *_URGE_BEGINS, "please", "stop", "subagent", "pre", "post", "session", "user", "automat", "no tool",
)  # fmt: skip
"""How all begins that harnesses send by themselves, behind blanks."""

_BEGINS: Final = frozenset(
    (
        "ade adi all aut ava bit car con dal dev fah for har kee kon mac orc per ple pok por pos pou pre pro rem res "
        "ret run s'i ses sig sto sub sup sur sys try use vai vas ver wat wei wer yes"
    ).split()
)
"""The first three letters of all these phrases in lower case, beside those that begin with :data:`_BEGIN_SHORT`."""

_BEGIN_SHORT: Final = ("ga ", "go", "no ", "ok", "[", "<", "(", ",", ".", "!")

MAX_GO_ON: Final = 160
"""Longest message in characters that may say no more than *go on*."""

NOTICE: Final = 400
"""Characters of a message in which a guard speaks of repeats."""

_SIGNS: Final = ("[", "<", "(", "*", "#", "\u26a0", "\U0001f6d1")
_NOTICE: Final = regex.lazy(r"(?:system|notice|warning|guard|harness|loop detect\w{1,4})\b ?[:!-]")
_NOTICE_BEGINS: Final = (*_SIGNS, "system", "notice", "warning", "guard", "harness", "loop detect")
"""How a notice begins that is one by its sign or its first words."""

_OF_REPEATS: Final = Phrase(
    "loop|repe|stuck|identical|same",
    r"\bloop(?:s|ing)?\b|\brepeat(?:ed|ing|s|edly)?\b|\brepetiti\w{1,4}\b|\bstuck\b|\bidentical\b"
    r"|\bsame (?:tool )?call",
)

_MARKED: Final = _BEGINS | {begun[:3] for begun in _NOTICE_BEGINS}
_MARKED_SHORT: Final = tuple(begun for begun in _BEGIN_SHORT if begun[0].isalnum())
"""How messages begin with a letter that may ask to go on or be a notice: their first three letters, or fewer."""

BEFORE: Final = 32
BEHIND: Final = 24
"""Characters before and behind a word of counting in which the count is looked for."""


def plainly_asks(message: str) -> bool:
    """Whether the first letters of a message show that it neither asks to go on nor is a notice, as of most."""
    begins = message[:3].lower()
    return begins not in _MARKED and begins.isascii() and begins[:1].isalnum() and not begins.startswith(_MARKED_SHORT)


def asks_to_go_on(message: str) -> bool:
    """Whether a message asks for nothing new: ``please continue``, or what a harness sends by itself."""
    head = message[:MAX_GO_ON].lower()
    words = head.strip()
    begins = words[:3]
    if begins not in _BEGINS and begins.isascii() and not begins.startswith(_BEGIN_SHORT):
        return False  # as most messages; nothing need be looked for
    if len(message) <= MAX_GO_ON and _may_go_on(words):
        if words in GO_ON_ALONE:
            return True
        for phrase in GO_ON:
            if phrase.fullmatch(words) is not None:
                return True
    if not words.startswith(_SENT_BEGINS):
        return False  # as what people begin with *yes* or *ok*
    for phrase in _AUTOMATIC:
        if phrase.match(head) is not None:
            return True
    return words.startswith(_URGE_BEGINS) and _AUTOMATIC_URGE.match(head) is not None


def _may_go_on(words: str) -> bool:
    """Whether a message holds no other words than those of *go on*; of such as are not ASCII nothing is said.

    Nearly every message that begins like one goes on with something else, for which no pattern need be compiled. The
    first word is not looked at, because a courtesy may stand right before it; nor is what may be named freely.
    """
    if not words.isascii() or "if you have" in words:
        return True
    # Of three characters each is replaced by itself: a translation asks for every character of the text.
    blanked = words.replace(",", " ").replace(".", " ").replace("!", " ")
    return GO_ON_WORDS.issuperset(blanked.split()[1:])


def urges_on(message: str) -> bool:
    """Whether a message urges an agent on that wants to stop, and asks for nothing in particular.

    People write that, too; but not in the very words of their last message.
    """
    low = message[:NOTICE].lower()
    return _URGES.search(low) is not None and _ORDERS.search(low) is None


def is_guard_notice(message: str) -> bool:
    """Whether a message is a guard's notice that was recorded as a person's.

    It has to look written by a machine and to speak of repeats; a person who complains
    about a loop is a person.
    """
    low = message[:NOTICE].lower()
    begins = low.lstrip()
    if not begins.startswith(_NOTICE_BEGINS) or _OF_REPEATS.search(low) is None:
        return False
    return begins.startswith(_SIGNS) or _NOTICE.match(begins) is not None


def runs_asked(request: str) -> int:
    """How many runs of one call a request asks for (``run it ten times``, ``20x``, ``until it fails``); 1 if none.

    Read in the languages of :mod:`loopaudit.hindsight.calls.languages`.
    """
    if not request:
        return 1
    low, read = _read(request)
    for phrase, works in _endless().possible(read):
        if phrase.search(low) is not None and (works is None or works.search(low) is None):
            return ENDLESS
    named = _counts().possible(read)
    if may_hold_sign(low):
        named.append(SIGN)
    most = max((_times_said(low, count) for count in named), default=1)
    if most > 1:
        return most
    return MANY if any(phrase.search(low) is not None for phrase in _several().possible(read)) else 1


@lru_cache(maxsize=1)  # a request is asked for one thing after another
def _read(request: str) -> tuple[str, set[int]]:
    """What is read of a request, in lower case, and its pieces."""
    low = _ends(request).lower()
    return low, regex.pieces(low)


# Made when a request is first looked into, as few are.


@cache
def _endless() -> Index[tuple[Phrase, Phrase | None]]:
    return Index((phrase, (phrase, language.works)) for language in LANGUAGES for phrase in language.endless)


@cache
def _counts() -> Index[Count]:
    return Index((count.phrase, count) for count in counts() if count is not SIGN)


@cache
def _several() -> Index[Phrase]:
    return Index((phrase, phrase) for language in LANGUAGES for phrase in language.several)


@cache
def _patient() -> Index[Phrase]:
    return Index((phrase, phrase) for language in LANGUAGES for phrase in language.patient)


def _times_said(low: str, count: Count) -> int:
    """The highest number of times that a text in lower case names by a phrase; 1 if it names none."""
    most = 1
    phrase = count.phrase
    if not phrase.may_match(low):
        return most
    for word in phrase.words:
        at = low.find(word)
        while at >= 0:
            # Only around such a word: ``raz`` is in ``crazy``, too, and numbers are looked for at each letter.
            first, last = max(at - BEFORE, 0), at + len(word) + BEHIND
            if count.may_count(low[first:last]):
                for match in phrase.pattern.finditer(low, first, last):
                    number = match[match.lastindex or 0]
                    most = max(most, NUMBERS.get(number) or int(number))
            at = low.find(word, at + len(word))
    return most


def names_more_than(request: str, count: int) -> bool:
    """Whether a request names a higher number up to 1,000, in digits or in a word: of how many things it may ask for.

    Times of day, dates, prices, measures, digits in groups (*0721 555 014*) and the numbers by which something is
    called (*room 14*) count nothing.
    """
    return any(True for _ in _things_named(_ends(request).lower(), count))


def _things_named(low: str, above: int = 1) -> Iterator[tuple[int, int]]:
    """The numbers ``above`` one and up to 1,000 of a request in lower case that may count things.

    Each comes with the place behind it.
    """
    for match in _NAMED.finditer(low):
        word = match.group()
        number = int(word) if word.isdecimal() else NUMBERS.get(word, 0)
        if not above < number <= 1000 or word in OTHER_SENSE or _MEASURES.match(low, match.end()) is not None:
            continue
        if word.isdecimal() and (word[0] == "0" or _IN_GROUPS.match(low, max(match.start() - 2, 0)) is not None):
            continue  # of a number of a telephone, an account or a card
        if word.isdecimal() and _CALLED.search(low, max(match.start() - CALLED, 0), match.start()) is not None:
            continue
        yield number, match.end()


@lru_cache(maxsize=64)  # asked for each repeat of one call
def runs_named(request: str, tool: str) -> int:
    """How many calls of a tool a request asks for by the number of what they do; 1 if it does not.

    That is so where the number stands before a word of the tool's name (*12 labels*: ``print_label``) or for
    what is done at one stroke (*12 coups*), or where it asks for one a call (*uno por llamada*).
    """
    low = _ends(request).lower()
    things = list(_things_named(low))
    if not things:
        return 1
    if _ONE_BY_ONE.search(low) is not None:
        return max(number for number, _ in things)
    stems = _STROKES | {
        word[:MIN_STEM] for word in _WORD.findall(_CAMEL.sub(r"_\1", tool).lower()) if len(word) >= MIN_STEM
    }
    following = ((number, _WORD.findall(low[end : end + BEHIND_NUMBER])[:2]) for number, end in things)
    return max((number for number, words in following if any(w[:MIN_STEM] in stems for w in words)), default=1)


def _ends(request: str) -> str:
    """The beginning and the end of a long request."""
    if len(request) <= MAX_REQUEST:
        return request
    return f"{request[: MAX_REQUEST // 2]}\n{request[-MAX_REQUEST // 2 :]}"


def asks_for_patience(request: str) -> bool:
    """Whether a request asks to keep looking at something (``poll it``, ``every minute``), in the same languages."""
    low, read = _read(request)
    return any(phrase.search(low) is not None for phrase in _patient().possible(read))


def is_of_flakes(request: str) -> bool:
    """Whether a request asks to catch what fails only now and then, or to show that it no longer does."""
    low = _ends(request).lower()
    if PROOF.search(low) is None:
        return False
    return any(phrase.search(low) is not None for language in LANGUAGES for phrase in language.unsteady)
