"""What a person's message means for the calls after it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from loopaudit.core import regex
from loopaudit.hindsight.calls.counted import GO_ON, holds, says_endless, says_patient, times_said
from loopaudit.hindsight.calls.noise import folds_oddly

MAX_REQUEST: Final = 1200
"""Characters of a request that are read, half of them at its beginning and half at its end."""

# What begins at a word stands together behind one ``\b``: else each alternative is tried at each character.
_PATIENT: Final = regex.lazy(
    r"\b(?:(?:poll|monitor|keep (?:checking|polling|watching|calling|trying|retrying|looking|an eye)|watch (?:it|the"
    r"|for|over)|"
    r"(?:every|each) (?:\w{1,12} )?(?:s|sec|second|min|minute|hour)s?)\b"
    r"|(?:überwach\w{0,3}|beobacht\w{1,3}|im auge behalten|behalte \S{1,30} im auge"
    r"|frag\w{0,2} \S{1,40} (?:regelmäßig|immer wieder) ab"
    r"|alle (?:\w{1,12} )?(?:sekunden?|minuten?|stunden?)|jede (?:sekunde|minute|stunde|halbe stunde))\b"
    r"|(?:surveille[rz]?|garde[rz]? un œil|toutes les (?:\w{1,12} )?(?:secondes?|minutes?|heures?)"
    r"|chaque (?:seconde|minute|heure))\b"
    r"|(?:vigil[ae]r?|monitor(?:iza|ea|e|iza|ize)r?|supervis[ae]r?|cada (?:\w{1,12} )?(?:segundos?|minutos?|horas?))\b"
    r"|(?:controlla ogni|sorveglia|tieni d'occhio|ogni (?:\w{1,12} )?(?:second[oi]|minut[oi]|or[ae]))\b)"
    r"|每(?:隔)?(?:\d{1,4}|[一二三四五六七八九十几半]{1,3})?(?:个)?(?:秒|分钟|小时)|监控|监视|盯着|留意"
    r"|(?:\d{1,4}|[一二三四五六七八九十数]{1,3})?(?:秒|分|時間)(?:ごと|毎|おき)|毎(?:秒|分|時)|監視|見張",
    re.IGNORECASE,
)

_NUMBER_WORDS: Final = """
    2 two twice zwei zweimal deux dos due duas dois 两 兩 二 2|3 three thrice drei dreimal trois tres tre três 三|4
    four vier viermal quatre cuatro quattro quatro 四|5 five fünf fünfmal cinq cinco cinque 五|6 six sechs
    sechsmal seis sei 六|7 seven sieben siebenmal sept siete sette sete 七|8 eight acht achtmal huit ocho otto
    oito 八|9 nine neun neunmal neuf nueve nove 九|10 ten zehn zehnmal dix diez dieci dez 十|11 eleven elf elfmal
    onze once undici|12 twelve dozen zwölf zwölfmal dutzend douze douzaine doce docena dodici dozzina doze dúzia
    十二 一打|15 fifteen fünfzehn fünfzehnmal quinze quinzaine quince quindici 十五|20 twenty zwanzig zwanzigmal vingt
    vingtaine veinte veintena venti vinte 二十|30 thirty dreißig dreissig dreißigmal trente treinta trenta trinta
    三十|40 forty vierzig quarante cuarenta quaranta quarenta 四十|50 fifty fünfzig fünfzigmal cinquante cincuenta
    cinquanta cinquenta 五十|100 hundred hundert hundertmal cent centaine cien centenar cento cem 百 一百|1000
    thousand tausend mille mil 千
"""


def _numbers() -> dict[str, int]:
    found: dict[str, int] = {}
    for row in _NUMBER_WORDS.split("|"):
        value, *words = row.split()
        found.update(dict.fromkeys(words, int(value)))
    return found


_NUMBERS: Final[Mapping[str, int]] = _numbers()
"""Numbers by their words in seven languages; words that say *times* already are among them."""

_ONCE_SAID: Final = frozenset(word for word in _NUMBERS if word.endswith("mal") or word in ("twice", "thrice"))
_COUNT: Final = r"(\d{1,4}|" + "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True)) + ")"
_TIMES: Final = regex.lazy(
    r"(?<![a-zA-Z\u00c0-\u024f0-9_.])"
    + _COUNT
    + r"(?:(?:[- ](?:more|further|weitere|other|consecutive|separate|de|of|d'))?[- ]?"
    r"(?:times|runs|repetitions?|repeats|rounds|executions"
    r"|mal|läufe|durchläufe|durchgänge|wiederholungen|runden"
    r"|fois|exécutions|répétitions|passages"
    r"|veces|ejecuciones|repeticiones|vueltas|pasadas"
    r"|volte|esecuzioni|ripetizioni|vezes|execuções|repetições)\b"
    r"| ?[x×](?![\w]| ?(?:codes?|errors?|status|responses?|faster|slower|more|larger|smaller|zoom))|[ 个]?(?:次|遍|回"
    r"|趟|轮)(?![目数]))"
    r"|(?<![\w])[x×](\d{1,4})\b"
    r"|\b(" + "|".join(sorted(_ONCE_SAID)) + r")\b",
    re.IGNORECASE,
)
_NAMED: Final = regex.lazy(rf"(?<![\w.])(?:{_COUNT[1:-1]})(?![\w.])")
_OTHER_SENSE: Final = frozenset({"once", "sei", "due", "cent", "mil", "mille"})
"""Words for numbers that are other words in another language."""

_ENDLESS: Final = regex.lazy(
    r"\b(?:(?:keep|keeps) (?:on )?(?:running|re-?running|repeating|executing|testing"
    r"|pressing|clicking|"
    r"sending|hitting|looping)\b"
    r"|(?:re-?run|run|repeat|execute|call|press|click|loop|send|try|do)\b(?:(?!fix|chang|edit|implement|modif"
    r"|correct|improv)[^.;!?\n]){0,80}?"
    r"\b(?:until (?:i|we|you|it|one|that|the (?:test|bug|error|crash|run|call|command|request))\b(?! (?:is |are "
    r"|goes |finally )?(?:pass|work|succe|compil|build|green|fixed|done|ok\b))|over and over"
    r"|again and again"
    r"|repeatedly|in a loop|indefinitely|forever|as (?:often|many times) as)"
    r"|(?:over and over|again and again|until i (?:say|stop|tell|interrupt))\b"
    r"|(?:immer wieder|in (?:einer )?(?:dauer)?schleife|wiederhol\w{0,3}[^.;!?\n]{0,80}? bis\b|(?:so lange"
    r"|solange)[^.;!?\n]{0,60}? bis\b"
    r"|(?:lass|lasse|lassen|führe?|starte|ruf\w?|probier\w?|versuch\w?)[^.;!?\n]{0,80}? bis (?:er|sie|es|ich|du"
    r"|wir|der|die|das|einer)\b"
    r"|bis ich (?:stopp|halt|abbrech|dich|etwas))"
    r"|(?:en boucle|encore et encore|sans arrêt|(?:répète|répétez|relance|relancez|lance|lancez|exécute"
    r"|exécutez|continue|essaie)"
    r"[^.;!?\n]{0,80}? jusqu['’]à ce qu)"
    r"|(?:una y otra vez|en bucle|sin parar|(?:repite|repita|ejecuta|ejecute|corre|lanza|sigue|prueba|vuelve)"
    r"[^.;!?\n]{0,80}? hasta que\b)"
    r"|(?:in (?:un )?loop|ancora e ancora|(?:ripeti|esegui|lancia|continua)[^.;!?\n]{0,80}? finché\b"
    r"|(?:repita|repete|execute|rode)[^.;!?\n]{0,80}? até que\b))"
    r"|(?:运行|執行|执行|重复|重試|重试|跑|测试|試|试|尝试|调用)[^。；！？\n]{0,40}?直到|直到[^。；！？\n]{0,40}?(?:为止|失败|停)|反复|不断(?:地)?(?:运行|执行|跑"
    r"|测试|重试)"
    r"|一直(?:运行|跑|执行|测|试|重试)|循环(?:运行|执行|跑)"
    r"|(?:まで|ように)[^。！？\n]{0,20}?(?:繰り返|実行し続|走らせ|回し続|試し続|続けて実行)|何度も|繰り返し(?:実行|走)|ループで",
    re.IGNORECASE,
)
_ENDLESS_LOW: Final = regex.lower_case(_ENDLESS)
_MANY: Final = regex.lazy(
    r"\b(?:run|repeat|execute|do|try|press|click|call|send)\b[^.;!?\n]{0,40}? (?:several|multiple|many|a (?:few"
    r"|couple of|number of)|some more) (?:more )?(?:times|runs)\b"
    r"|\b(?:mehrmals|mehrfach|ein paar ?mal|etliche male)\b"
    r"|\b(?:plusieurs|quelques) fois\b|\b(?:varias|algunas|muchas) veces\b|\b(?:più|alcune) volte\b|\b(?:várias"
    r"|algumas) vezes\b"
    r"|[多几好]几?次|数回|何回か",
    re.IGNORECASE,
)
_MANY_NEEDLES: Final = (
    "times", "runs", "mehrmals", "mehrfach", "paar", "etliche", "fois", "veces", "volte", "vezes", "次", "数回", "何回",
)  # fmt: skip
MANY: Final = 10
"""Runs that a request for several excuses."""

ENDLESS: Final = 1 << 20
"""Runs that a request to go on until something happens excuses."""

_GO_ON: Final = regex.lazy(
    r"(?:please|ok|okay|yes|sure|go)?[,.! ]*(?:please )?"
    r"(?:continue|go on|keep going|keep working|proceed|resume|carry on|go ahead|retry|try again"
    r"|(?:bitte )?(?:weiter(?:machen)?|mach(?:e|en sie)? (?:bitte )?weiter|fahr(?:e|en sie)? (?:bitte )?fort)"
    r"|(?:s'il (?:te|vous) pla[iî]t,? )?(?:continue[rz]?|poursui[st]|poursuivez|vas-y|allez-y)"
    r"|(?:por favor,? )?(?:contin[uú][ae]|sigue|siga|adelante|prosiga|prossiga)"
    r"|(?:请|請)?(?:继续|繼續|接着做|继续吧)|続けて(?:ください|下さい)?|続行(?:して(?:ください)?)?|続きを?(?:お願いします)?"
    r"|(?:per favore,? )?(?:vai avanti|prosegui|avanti)" + GO_ON + r")"
    r"(?:,? (?:please|working|bitte|on|with (?:the|your|this) (?:task|work|plan|next (?:step|task|item))"
    r"|(?:on|to) (?:the|your) (?:task|next step|work)|until (?:it is |it's |you are |you're )?(?:done|finished"
    r"|complete)"
    r"|using your best judge?ment|as you (?:see fit|think best)|from where you (?:left off|stopped)"
    r"|if (?:needed|necessary|you (?:can|want|have (?:more|unmet|unanswered) \S{1,40}(?: \S{1,40}){0,3}))))*[.!。！ ]*",
    re.IGNORECASE,
)
_GO_ON_LOW: Final = regex.lower_case(_GO_ON)
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

_SIGNS: Final = frozenset(",.!")
_GO_ON_BEGINS: Final = frozenset(
    """
    pl ok ye su go co ke pr re ca tr bi we ma fa s' po va al si ad pe av ko da ga ve fo de
    """.split()
)
_AUTOMATIC_BEGINS: Final = frozenset("psu[an<")
"""The ASCII characters, in lower case, with which a text must begin for these patterns to match: one of
:data:`_SIGNS` or two letters for the first, one for the second."""

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


_TIMES_NEEDLES: Final = (
    "times", "runs", "repe", "rounds", "execut", "mal", "läufe", "durchg", "wiederhol", "runden", "fois", "exécut",
    "répét", "passages", "veces", "ejecuc", "vueltas", "pasadas", "volte", "esecuz", "ripetiz", "vezes", "execu", "次",
    "遍", "回", "趟", "轮", "twice", "thrice", "mehrfach",
)  # fmt: skip
_BY_X: Final = r"\d ?[x×]|[x×]\d"
_NEAR: Final = regex.lazy("|".join(_TIMES_NEEDLES) + "|" + _BY_X)
BEFORE: Final = 32
BEHIND: Final = 16
"""Characters before and behind a word of counting in which the count is looked for."""

_ENDLESS_NEEDLES: Final = (
    "keep", "until", "again and again", "over and over", "repeatedly", "loop", "indefinitely", "forever", " as often",
    " as many", "immer wieder", "schleife", "bis ", "boucle", "encore", "sans arrêt", "jusqu", "otra vez", "bucle",
    "sin parar", "hasta que", "ancora", "finché", "até que", "直到", "反复", "不断", "一直", "循环", "まで", "ように",
    "何度", "繰り返", "ループ",
)  # fmt: skip
_PATIENT_NEEDLES: Final = (
    "poll", "monitor", "keep ", "watch", "every ", "each ", "überwach", "beobacht", "auge", "immer wieder", "alle ",
    "jede ", "surveil", "toutes les", "chaque ", " un œil", "vigil", "supervis", "cada ", "controlla", "sorveglia",
    "ogni ", "d'occhio", "每", "监", "盯", "留意", "ごと", "毎", "おき", "監視", "見張",
)  # fmt: skip
"""What a text in lower case must hold for these patterns to match."""


def asks_to_go_on(message: str) -> bool:
    """Whether a message asks for nothing new: ``please continue``, or what a harness sends by itself."""
    first = message.lstrip()[:2].lower()
    odd = not first.isascii()  # which may match a letter of ASCII where case does not matter
    short = len(message) <= MAX_GO_ON
    if short and (odd or first in _GO_ON_BEGINS or first[:1] in _SIGNS):
        words = message.strip()
        if (_GO_ON_LOW.fullmatch(words.lower()) if words.isascii() else _GO_ON.fullmatch(words)) is not None:
            return True
    return (odd or first[:1] in _AUTOMATIC_BEGINS) and _AUTOMATIC.match(message[:MAX_GO_ON]) is not None


def is_guard_notice(message: str) -> bool:
    """Whether a message is a guard's notice that was recorded as a person's.

    It has to look written by a machine and to speak of repeats; a person who complains
    about a loop is a person.
    """
    return _NOTICE.match(message) is not None and _OF_REPEATS.search(message[:400]) is not None


def runs_asked(request: str) -> int:
    """How many runs of one call a request asks for (``run it ten times``, ``20x``, ``until it fails``); 1 if none.

    Read in English, German, French, Spanish, Italian and Portuguese, Chinese and Japanese, and in the
    languages of :mod:`loopaudit.hindsight.calls.counted`.
    """
    request = _ends(request)
    low = request.lower()
    if holds(low, _ENDLESS_NEEDLES):
        endless = _ENDLESS_LOW.search(low) if request.isascii() else _ENDLESS.search(request)
        if endless is not None:
            return ENDLESS
    if says_endless(low):
        return ENDLESS
    most = times_said(low)
    for near in _near(low):
        match = _TIMES.search(low, max(near.start() - BEFORE, 0), near.end() + BEHIND)
        if match is None:
            continue
        word = (match.group(1) or match.group(2) or match.group(3)).lower()
        most = max(most, _NUMBERS.get(word) or int(word) if word in _NUMBERS or word.isdecimal() else 1)
    if most == 1 and (folds_oddly(request) or holds(low, _MANY_NEEDLES)) and _MANY.search(request) is not None:
        return MANY
    return most


def _near(low: str) -> Iterator[re.Match[str]]:
    """What a search for :data:`_NEAR` finds one after another; its words are looked for one by one, which is faster."""
    places: set[int] = set()
    for word in _TIMES_NEEDLES:
        at = low.find(word)
        while at >= 0:
            places.add(at)
            at = low.find(word, at + 1)
    for sign in "x×":
        at = low.find(sign)
        while at >= 0:
            places.update((max(at - 2, 0), max(at - 1, 0), at))  # a digit may stand before it, with a blank between
            at = low.find(sign, at + 1)
    end = 0
    for at in sorted(places):
        if at >= end and (match := _NEAR.match(low, at)) is not None:
            yield match
            end = match.end()


def most_named(request: str) -> int:
    """The highest number up to 1,000 that a request names, in digits or in a word: how many things it may ask for."""
    words = [word for word in _NAMED.findall(_ends(request).lower()) if word not in _OTHER_SENSE]
    numbers = [_NUMBERS.get(word) or int(word) for word in words]
    return max((number for number in numbers if number <= 1000), default=1)


def _ends(request: str) -> str:
    """The beginning and the end of a long request."""
    if len(request) <= MAX_REQUEST:
        return request
    return f"{request[: MAX_REQUEST // 2]}\n{request[-MAX_REQUEST // 2 :]}"


def asks_for_patience(request: str) -> bool:
    """Whether a request asks to keep looking at something (``poll it``, ``every minute``), in the same languages."""
    request = _ends(request)
    low = request.lower()
    return (holds(low, _PATIENT_NEEDLES) and _PATIENT.search(request) is not None) or says_patient(low)
