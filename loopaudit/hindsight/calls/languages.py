"""How people ask for repeats, for patience, or only to go on, language by language.

A language is added here alone. All patterns are for texts in lower case; each stands behind the words
without which it cannot match, so that a request costs what the languages of its own words cost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from loopaudit.core.regex import Phrase

Phrases = tuple[Phrase, ...]


class Language(NamedTuple):
    """What of one language is read.

    ``numbers`` are rows divided by ``|``, each a number and its words; a word with ``*`` says *times* already.
    ``times`` are the words behind a number of times, ``times_words`` what one of them must hold.
    ``endless`` asks to repeat without end or until something happens, unless ``works`` says that it is
    something's success; ``several`` asks for a few runs, ``patient`` to keep looking, ``go_on`` (as a whole
    message) for nothing new; ``unsteady`` speaks of what fails only now and then. ``spaced`` is whether words
    stand apart.
    """

    name: str
    numbers: str = ""
    times: str = ""
    times_words: str = ""
    endless: Phrases = ()
    works: Phrase | None = None
    several: Phrases = ()
    patient: Phrases = ()
    unsteady: Phrases = ()
    go_on: Phrases = ()
    spaced: bool = True


_PLEASE: Final = r"(?:please|ok|okay|yes|sure|go)?[,.! ]*(?:please )?"
_SIGNS: Final = r"[.!。！ ]*"


def _go_on(words: str, said: str, behind: str = "") -> Phrases:
    """A whole message that says ``said``, with a courtesy before and one of ``behind``, or of English, after it."""
    after = "|".join(filter(None, (r"please|working|on", behind)))
    return (Phrase(words, rf"{_PLEASE}(?:{said})(?:,? (?:{after}))*{_SIGNS}"),)


PROOF: Final = Phrase(
    "catch|repro|prove|proof|show that|show it|demonstrat|holds|stable|stabil|nachweis|zeig|beweis|fang|montre|muestra"
    "|demuestra|mostra|dimostra|riprodu|estab|estável|复现|重现|证明|稳定|抓|再現|証明|安定|воспроизв|докаж|покаж|стабил|пойма",
    r"\b(?:catch|repro|prove[ns]?\b|proof|show (?:that|it)\b|demonstrat|holds\b|stable\b|stabil|nachweis|zeig|beweis"
    r"|fang|montre|muestra|demuestra|mostra|dimostra|riprodu|estable|estável|воспроизв|докаж|покаж|стабил|пойма)"
    r"|复现|重现|证明|稳定|抓|再現|証明|安定",
)
"""That something is to be seen, or shown to be gone, in the languages that have ``unsteady``."""


ENGLISH: Final = Language(
    "English",
    numbers="2 two twice*|3 three thrice*|4 four|5 five|6 six|7 seven|8 eight|9 nine|10 ten|11 eleven|12 twelve dozen"
    "|15 fifteen|20 twenty|30 thirty|40 forty|50 fifty|100 hundred|1000 thousand",
    times=r"(?:[- ](?:more|further|other|consecutive|separate|of))?[- ]?"
    r"(?:times|runs|repetitions?|repeats|rounds|executions)\b",
    times_words="times|runs|repe|rounds|executions",
    endless=(
        Phrase(
            "keep",
            r"\bkeeps? (?:on )?(?:running|re-?running|repeating|executing|testing|pressing|clicking|sending|hitting"
            r"|looping)\b",
        ),
        Phrase(
            "until i|until we|until you|until one|until th|over and over|again and again|repeatedly|in a loop"
            "|indefinitely|forever|as often|as many",
            r"\b(?:re-?run|run|repeat|execute|call|press|click|loop|send|try|do)\b(?:(?!fix|chang|edit|implement|modif"
            r"|correct|improv)[^.;!?\n]){0,80}?"
            r"\b(?:until (?:i|we|you|it|one|that|the (?:test|bug|error|crash|run|call|command|request))\b"
            r"(?! (?:is |are |goes |finally )?(?:pass|work|succe|compil|build|green|fixed|done|ok\b))"
            r"|over and over|again and again|repeatedly|in a loop|indefinitely|forever|as (?:often|many times) as)",
        ),
        Phrase(
            "over and over|again and again|until i ",
            r"\b(?:over and over|again and again|until i (?:say|stop|tell|interrupt))\b",
        ),
        Phrase(
            # By 0.1 mm per step, stop at 0.5 N. Rarer words than those for the end: *till* stands in *still*.
            "per step|a step|each step|every step|per time|a time|each time|every time|per move|a move|each move"
            "|every move| steps| increments",
            r"(?:\d\S{0,8} ?\w{0,12} (?:per|a|each|every) (?:step|time|move)\b|\d\S{0,8} ?\w{0,12} at a time\b"
            r"|\bin (?:steps|increments) of \d\S{0,8}|\bin \d\S{0,8} ?[\w-]{0,12} (?:steps|increments)\b)"
            r"[^.;!?\n]{0,60}?\b(?:until|till|stop (?:at|when|once|if|as soon))\b",
        ),
    ),
    several=(
        Phrase(
            "times|runs",
            r"\b(?:run|repeat|execute|do|try|press|click|call|send)\b[^.;!?\n]{0,40}? (?:several|multiple|many|a (?:few"
            r"|couple of|number of)|some more) (?:more )?(?:times|runs)\b",
        ),
    ),
    patient=(
        Phrase(  # and not a monitor, the polls, or hosts that are monitored
            "poll|monitor",
            r"(?:(?:\A|[.!?;:,\n(-])\s{0,3}|\b(?:to|and|please|then|should|must|will|can|just|also|or|now|you) )"
            r"(?:poll|monitor)\b",
        ),
        Phrase("keep ", r"\bkeep (?:checking|polling|watching|calling|trying|retrying|looking|an eye)\b"),
        Phrase("watch ", r"\bwatch (?:it|the|for|over)\b"),
        Phrase("every |each ", r"\b(?:every|each) (?:\w{1,12} )?(?:s|sec|second|min|minute|hour)s?\b"),
    ),
    go_on=_go_on(
        "continue|go on|keep |proceed|resume|carry on|go ahead|retry|try again",
        r"continue|go on|keep going|keep working|proceed|resume|carry on|go ahead|retry|try again",
        r"with (?:the|your|this) (?:task|work|plan|next (?:step|task|item))"
        r"|(?:on|to) (?:the|your) (?:task|next step|work)"
        r"|until (?:it is |it's |you are |you're )?(?:done|finished|complete)"
        r"|using your best judge?ment|as you (?:see fit|think best)|from where you (?:left off|stopped)"
        r"|if (?:needed|necessary|you (?:can|want|have (?:more|unmet|unanswered) \S{1,40}(?: \S{1,40}){0,3}))",
    ),
    unsteady=(
        Phrase("flak", r"\bflak(?:e|es|ed|y|ey|iness|ing)\b"),
        Phrase("intermittent|sporadic|deterministic", r"\b(?:intermittent|sporadic|non-?deterministic)"),
        Phrase(
            "sometimes|occasional|now and then|once in a while|random",
            r"\b(?:(?:sometimes|occasionally|now and then) (?:fails?|breaks?|hangs?|crashes|times out|goes red)"
            r"|(?:fails?|breaks?|hangs?|crashes|red) (?:only )?(?:sometimes|occasionally|(?:every )?now and then"
            r"|once in a while|at random|randomly))\b",
        ),
        Phrase(
            " in | of ",
            r"\b(?:one|1|once|two|2) (?:(?:run|time|build) )?(?:in|out of) (?:every )?"
            r"(?:\d{1,3}|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty) ?(?:runs|times|builds)?\b",
        ),
    ),
)

GERMAN: Final = Language(
    "German",
    numbers="2 zwei zweimal*|3 drei dreimal*|4 vier viermal*|5 fünf fünfmal*|6 sechs sechsmal*|7 sieben siebenmal*"
    "|8 acht achtmal*|9 neun neunmal*|10 zehn zehnmal*|11 elf elfmal*|12 zwölf zwölfmal* dutzend"
    "|15 fünfzehn fünfzehnmal*|20 zwanzig zwanzigmal*|30 dreißig dreissig dreißigmal* dreissigmal*|40 vierzig"
    "|50 fünfzig fünfzigmal*|100 hundert hundertmal*|1000 tausend",
    times=r"(?:(?: (?:weitere|andere))? |-)?(?:mal|läufe|durchläufe|durchgänge|wiederholungen|runden)\b",
    times_words=" mal|-mal|0mal|1mal|2mal|3mal|4mal|5mal|6mal|7mal|8mal|9mal|zigmal|ndmal|läufe|durchg|wiederhol"
    "|runden",
    endless=(
        Phrase("immer wieder|schleife", r"\b(?:immer wieder|in (?:einer )?(?:dauer)?schleife)"),
        Phrase(
            " bis|bis ich",
            r"\b(?:wiederhol\w{0,3}[^.;!?\n]{0,80}? bis\b|so ?lange[^.;!?\n]{0,60}? bis\b"
            r"|(?:lass|lasse|lassen|führe?|starte|ruf\w?|probier\w?|versuch\w?)[^.;!?\n]{0,80}? bis (?:er|sie|es|ich|du"
            r"|wir|der|die|das|einer)\b"
            r"|bis ich (?:stopp|halt|abbrech|dich|etwas))",
        ),
    ),
    several=(Phrase("mehrmals|mehrfach|paar|etliche", r"\b(?:mehrmals|mehrfach|ein paar ?mal|etliche male)\b"),),
    patient=(
        Phrase(
            "überwach|beobacht|auge|immer wieder ab|regelmäßig|alle |jede ",
            r"\b(?:überwach(?:e|en|st)?|beobacht(?:e|en|est)|im auge behalten|behalte \S{1,30} im auge"
            r"|frag\w{0,2} \S{1,40} (?:regelmäßig|immer wieder) ab"
            r"|alle (?:\w{1,12} )?(?:sekunden?|minuten?|stunden?)|jede (?:sekunde|minute|stunde|halbe stunde))\b",
        ),
    ),
    go_on=_go_on(
        "weiter|fort",
        r"(?:bitte )?(?:weiter(?:machen)?|mach(?:e|en sie)? (?:bitte )?weiter|fahr(?:e|en sie)? (?:bitte )?fort)",
        "bitte",
    ),
    unsteady=(
        Phrase(
            "sporadisch|manchmal|gelegentlich|ab und zu|flack|wackel|unregelmäßig|hin und wieder|mal rot",
            r"\b(?:sporadisch|flackert?|wackelt|wackelig|(?:manchmal|gelegentlich|ab und zu|hin und wieder"
            r"|unregelmäßig) (?:rot|fehl|fäll|schläg|scheiter|hängt|bricht)|(?:fehl|fäll|schläg|scheiter|hängt"
            r"|bricht)\w{0,4} (?:\w{1,12} ){0,3}?(?:manchmal|gelegentlich|ab und zu|hin und wieder))",
        ),
    ),
)

FRENCH: Final = Language(
    "French",
    numbers="2 deux|3 trois|4 quatre|5 cinq|6 six|7 sept|8 huit|9 neuf|10 dix|11 onze|12 douze douzaine"
    "|15 quinze quinzaine|20 vingt vingtaine|30 trente|40 quarante|50 cinquante|100 cent centaine|1000 mille",
    times=r"(?: (?:de|d'))?[- ]?(?:fois|exécutions|répétitions|passages)\b",
    times_words="fois|exécut|répét|passages",
    endless=(
        Phrase("boucle|encore et|sans arrêt", r"\b(?:en boucle|encore et encore|sans arrêt)"),
        Phrase(
            "jusqu",
            r"\b(?:répète|répétez|relance|relancez|lance|lancez|exécute|exécutez|continue|essaie)"
            r"[^.;!?\n]{0,80}? jusqu['’]à ce qu",
        ),
    ),
    several=(Phrase("fois", r"\b(?:plusieurs|quelques) fois\b"),),
    patient=(
        Phrase(
            "surveille|un œil|toutes les|chaque ",
            r"\b(?:surveille[rz]?|garde[rz]? un œil|toutes les (?:\w{1,12} )?(?:secondes?|minutes?|heures?)"
            r"|chaque (?:seconde|minute|heure))\b",
        ),
    ),
    go_on=_go_on(
        "continue|poursui|vas-y|allez-y",
        r"(?:s'il (?:te|vous) pla[iî]t,? )?(?:continue[rz]?|poursui[st]|poursuivez|vas-y|allez-y)",
    ),
    unsteady=(
        Phrase(
            "intermitt|parfois|aléatoire|de temps en temps|sporadique|instable",
            r"\b(?:intermittent|sporadique|instable|échoue (?:parfois|aléatoirement|de temps en temps)"
            r"|(?:parfois|de temps en temps) (?:échou|rouge|plante))",
        ),
    ),
)

SPANISH: Final = Language(
    "Spanish",
    numbers="2 dos|3 tres|4 cuatro|5 cinco|6 seis|7 siete|8 ocho|9 nueve|10 diez|11 once|12 doce docena|15 quince"
    "|20 veinte veintena|30 treinta|40 cuarenta|50 cincuenta|100 cien centenar ciento|1000 mil",
    times=r"(?: de)?[- ]?(?:veces|ejecuciones|repeticiones|vueltas|pasadas)\b",
    times_words="veces|ejecuc|repetic|vueltas|pasadas",
    endless=(
        Phrase("otra vez|bucle|sin parar", r"\b(?:una y otra vez|en bucle|sin parar)"),
        Phrase(
            "hasta que",
            r"\b(?:repite|repita|ejecuta|ejecute|corre|lanza|sigue|prueba|vuelve)[^.;!?\n]{0,80}? hasta que\b",
        ),
    ),
    several=(Phrase("veces", r"\b(?:varias|algunas|muchas) veces\b"),),
    patient=(
        Phrase(
            "vigil|monitor|supervis|cada ",
            r"\b(?:vigil[ae]r?|monitor(?:iza|ea|e|iza|ize)r?|supervis[ae]r?"
            r"|cada (?:\w{1,12} )?(?:segundos?|minutos?|horas?))\b",
        ),
    ),
    go_on=_go_on(
        "contin|sigue|siga|adelante|prosi", r"(?:por favor,? )?(?:contin[uú][ae]|sigue|siga|adelante|prosiga)"
    ),
    unsteady=(
        Phrase(
            "intermiten|a veces|de vez en cuando|aleatori|esporádic|inestable",
            r"\b(?:intermitente|esporádic|inestable|falla (?:a veces|de vez en cuando|aleatoriamente)"
            r"|(?:a veces|de vez en cuando) (?:falla|se cuelga|rompe))",
        ),
    ),
)

PORTUGUESE: Final = Language(
    "Portuguese",
    numbers="2 dois duas|3 três|4 quatro|5 cinco|6 seis|7 sete|8 oito|9 nove|10 dez|12 doze dúzia|15 quinze|20 vinte"
    "|30 trinta|40 quarenta|50 cinquenta|100 cem cento|1000 mil",
    times=r"(?: de)?[- ]?(?:vezes|execuções|repetições)\b",
    times_words="vezes|execu|repeti",
    endless=(Phrase("até que", r"\b(?:repita|repete|execute|rode)[^.;!?\n]{0,80}? até que\b"),),
    several=(Phrase("vezes", r"\b(?:várias|algumas) vezes\b"),),
    patient=(Phrase("cada ", r"\bcada (?:\w{1,12} )?(?:segundos?|minutos?|horas?)\b"),),
    go_on=_go_on("contin|prossiga|adiante", r"(?:por favor,? )?(?:contin[uú][ae]|prossiga|adiante)"),
    unsteady=(
        Phrase(
            "intermiten|às vezes|de vez em quando|aleatori|esporádic|instável",
            r"\b(?:intermitente|esporádic|instável|falha (?:às vezes|de vez em quando|aleatoriamente)"
            r"|(?:às vezes|de vez em quando) (?:falha|quebra|trava))",
        ),
    ),
)

ITALIAN: Final = Language(
    "Italian",
    numbers="2 due|3 tre|4 quattro|5 cinque|6 sei|7 sette|8 otto|9 nove|10 dieci|11 undici|12 dodici dozzina"
    "|15 quindici|20 venti|30 trenta|40 quaranta|50 cinquanta|100 cento|1000 mille",
    times=r"[- ]?(?:volte|esecuzioni|ripetizioni)\b",
    times_words="volte|esecuz|ripetiz",
    endless=(
        Phrase("loop|ancora e", r"\b(?:in (?:un )?loop|ancora e ancora)"),
        Phrase("finché", r"\b(?:ripeti|esegui|lancia|continua)[^.;!?\n]{0,80}? finché\b"),
    ),
    several=(Phrase("volte", r"\b(?:più|alcune) volte\b"),),
    patient=(
        Phrase(
            "controlla|sorveglia|ogni |d'occhio",
            r"\b(?:controlla ogni|sorveglia|tieni d'occhio|ogni (?:\w{1,12} )?(?:second[oi]|minut[oi]|or[ae]))\b",
        ),
    ),
    go_on=_go_on("avanti|prosegui|continua", r"(?:per favore,? )?(?:vai avanti|prosegui|avanti|continua)"),
    unsteady=(
        Phrase(
            "intermitten|a volte|ogni tanto|casual|sporadic|instabile",
            r"\b(?:intermittent|sporadic|instabile|fallisce (?:a volte|ogni tanto|in modo casuale)|(?:a volte"
            r"|ogni tanto) (?:fallisce|si blocca))",
        ),
    ),
)

CHINESE: Final = Language(
    "Chinese",
    numbers="2 两 兩 二|3 三|4 四|5 五|6 六|7 七|8 八|9 九|10 十|12 十二 一打|15 十五|20 二十|30 三十|40 四十|50 五十"
    "|100 百 一百|1000 千",
    times="[ 个]?(?:次|遍|回|趟|轮)(?![目数])",
    times_words="次|遍|回|趟|轮",
    endless=(
        Phrase(
            "直到",
            r"(?:运行|執行|执行|重复|重試|重试|跑|测试|試|试|尝试|调用)[^。；！？\n]{0,40}?直到|直到[^。；！？\n]{0,40}?(?:为止|失败|停)",
        ),
        Phrase(
            "反复|不断|一直|循环",
            "反复|不断地?(?:运行|执行|跑|测试|重试)|一直(?:运行|跑|执行|测|试|重试)|循环(?:运行|执行|跑)",
        ),
    ),
    several=(Phrase("次", "[多几好]几?次"),),
    patient=(
        Phrase(
            "每|监|盯着|留意",
            r"每(?:隔)?(?:\d{1,4}|[一二三四五六七八九十几半]{1,3})?(?:个)?(?:秒|分钟|小时)"
            r"|(?<![被受])(?:监控|监视)(?!的|系统|平台|软件|室|主机|设备|工具|指标)|盯着|留意",
        ),
    ),
    go_on=_go_on("继续|繼續|接着", "(?:请|請)?(?:继续|繼續|接着做|继续吧)"),
    spaced=False,
    unsteady=(
        Phrase(
            "偶尔|偶发|间歇|不稳定|时好时坏|随机失败",
            r"偶尔|偶发|间歇|不稳定|时好时坏|随机失败",
        ),
    ),
)

JAPANESE: Final = Language(
    "Japanese",
    numbers="2 二|3 三|4 四|5 五|6 六|7 七|8 八|9 九|10 十|12 十二|15 十五|20 二十|30 三十|40 四十|50 五十|100 百"
    "|1000 千",
    times=" ?回(?![目数])",
    times_words="回",
    endless=(
        Phrase("まで|ように", r"(?:まで|ように)[^。！？\n]{0,20}?(?:繰り返|実行し続|走らせ|回し続|試し続|続けて実行)"),
        Phrase("何度も|繰り返し|ループで", "何度も|繰り返し(?:実行|走)|ループで"),
    ),
    several=(Phrase("数回|何回か", "数回|何回か"),),
    patient=(
        Phrase(
            "ごと|毎|おき|監視|見張",
            r"(?:\d{1,4}|[一二三四五六七八九十数]{1,3})?(?:秒|分|時間)(?:ごと|毎|おき)|毎(?:秒|分|時)"
            r"|監視(?!対象|され|システム|カメラ|ツール)|見張",
        ),
    ),
    go_on=_go_on("続け|続行|続き", "続けて(?:ください|下さい)?|続行(?:して(?:ください)?)?|続きを?(?:お願いします)?"),
    spaced=False,
    unsteady=(
        Phrase(
            "たまに|時々|ときどき|不安定|フレーキー|まれに|断続",
            r"(?:たまに|時々|ときどき|まれに)[^。\n]{0,12}(?:失敗|落ち|こけ|赤)|不安定|フレーキー|断続",
        ),
    ),
)

RUSSIAN: Final = Language(
    "Russian",
    numbers="2 два две дважды*|3 три трижды*|4 четыре|5 пять|6 шесть|7 семь|8 восемь|9 девять|10 десять|12 двенадцать"
    "|15 пятнадцать|20 двадцать|30 тридцать|50 пятьдесят|100 сто",
    times=r"[ -]?(?:раза?|прогон\w{0,3}|запуск\w{0,3}|повтор\w{0,4})(?!\w)",
    times_words="раз|прогон|запуск|повтор",
    endless=(
        Phrase("снова и снова|раз за разом", "снова и снова|раз за разом"),
        Phrase(
            "пока ",
            r"(?<!\w)(?:запускай|повторяй|гоняй|выполняй|пробуй|проверяй)\w{0,4}[^.;!?\n]{0,80}? пока (?:не|я)",
        ),
    ),
    works=Phrase("прой|прош|зараб|испр|почин|успе", "пройд|прош[лё]|зарабо|исправ|почин|успе[хш]"),
    patient=(
        Phrase(
            "кажд|следи|монитор",
            r"(?<!\w)(?:кажд(?:ые|ую) (?:\d{1,4} |несколько |пол)?(?:секунд|минут|час)\w{0,2}|следи\w{0,4}"
            r"|мониторь\w{0,2})",
        ),
    ),
    go_on=_go_on(
        "продолжай|дальше",
        "(?:пожалуйста,? )?(?:продолжай(?:те)?|дальше|давай дальше|поехали дальше)(?:,? пожалуйста)?",
    ),
    unsteady=(
        Phrase(
            "иногда|через раз|время от времени|нестабил|флак|мига|периодически|плавающ",
            r"\b(?:нестабил|флак|мигающ|плавающ|(?:иногда|время от времени|периодически) (?:падает|ломается"
            r"|краснеет|зависает)|(?:падает|ломается) (?:иногда|время от времени|через раз))",
        ),
    ),
)

UKRAINIAN: Final = Language(
    "Ukrainian",
    numbers="2 два двічі*|3 три тричі*|4 чотири|5 п'ять|6 шість|7 сім|8 вісім|9 дев'ять|10 десять|12 дванадцять"
    "|15 п'ятнадцять|20 двадцять|30 тридцять|50 п'ятдесят|100 сто",
    times=r"[ -]?(?:разів|рази|раз|запуск\w{0,3}|повтор\w{0,4})(?!\w)",
    times_words="раз|запуск|повтор",
    endless=(Phrase("знову і", "знову і знову"),),
    patient=(Phrase("кожні", r"(?<!\w)кожні (?:\d{1,4} )?(?:секунд|хвилин|годин)\w{0,2}"),),
    go_on=_go_on("продовжуй", "продовжуй(?:те)?"),
)

POLISH: Final = Language(
    "Polish",
    numbers="2 dwa dwukrotnie*|3 trzy trzykrotnie*|4 cztery|5 pięć|6 sześć|7 siedem|8 osiem|9 dziewięć|10 dziesięć"
    "|12 dwanaście|15 piętnaście|20 dwadzieścia|30 trzydzieści|50 pięćdziesiąt|100 sto",
    times=r"[ -]?(?:razy|raz|przebieg\w{0,3}|powtórze\w{0,3})(?!\w)",
    times_words="raz|przebieg|powtórze",
    endless=(
        Phrase("w kółko", r"(?<!\w)w kółko"),
        Phrase(" aż| dopóki", r"(?<!\w)(?:uruchamiaj|powtarzaj|próbuj)[^.;!?\n]{0,80}? (?:aż|dopóki)"),
    ),
    works=Phrase("przejd|zadział", "przejd|zadział"),
    patient=(Phrase("co ", r"(?<!\w)co (?:\d{1,4} )?(?:sekund|minut|godzin)\w{0,2}"),),
    go_on=_go_on("kontynuuj|dalej", "(?:proszę )?(?:kontynuuj|dalej)"),
)

CZECH: Final = Language(
    "Czech",
    numbers="2 dva dvakrát*|3 tři třikrát*|4 čtyři|5 pět|6 šest|7 sedm|8 osm|9 devět|10 deset|12 dvanáct|15 patnáct"
    "|20 dvacet|30 třicet|50 padesát|100 sto",
    times=r"[ -]?(?:krát|opakování)(?!\w)",
    times_words="krát|opakov",
    endless=(Phrase("pořád dokola", r"(?<!\w)pořád dokola"),),
    works=Phrase("projd|oprav", "projd|oprav"),
    patient=(Phrase("každ", r"(?<!\w)každ(?:ých|ou|é) (?:\d{1,4} )?(?:sekund|minut|hodin)\w{0,2}"),),
    go_on=_go_on("pokračuj", "pokračuj(?:te)?"),
)

DUTCH: Final = Language(
    "Dutch",
    numbers="2 twee|3 drie|4 vier|5 vijf|6 zes|7 zeven|8 acht|9 negen|10 tien|12 twaalf|15 vijftien|20 twintig"
    "|30 dertig|50 vijftig|100 honderd",
    times=r"[ -]?(?:keer|maal)(?!\w)",
    times_words="keer|maal",
    endless=(
        Phrase("keer op keer", "(?<!\\w)keer op keer"),
        Phrase("blijf|herhaal|voer", r"(?<!\w)(?:blijf|herhaal|voer)[^.;!?\n]{0,80}? tot(?:dat)? (?:het|hij|ik|de)"),
    ),
    works=Phrase("slaag|slagen|werkt|lukt", "slaag|slagen|werkt|lukt"),
    patient=(Phrase("elke |iedere |om de ", r"(?<!\w)(?:elke|iedere|om de) (?:\d{1,4} )?(?:second|minu|uur)\w{0,4}"),),
    go_on=_go_on("door|verder", "(?:ga|werk) (?:door|verder)|verder"),
)

SWEDISH: Final = Language(
    "Swedish",
    numbers="2 två|3 tre|4 fyra|5 fem|6 sex|7 sju|8 åtta|9 nio|10 tio|12 tolv|15 femton|20 tjugo|30 trettio|50 femtio"
    "|100 hundra",
    times=r"[ -]?gånger(?!\w)",
    times_words="gånger",
    endless=(
        Phrase("om och om igen", r"(?<!\w)om och om igen"),
        Phrase("tills", r"(?<!\w)(?:kör|upprepa|fortsätt)[^.;!?\n]{0,80}? tills"),
    ),
    works=Phrase("lyckas|fungerar|går igenom", "lyckas|fungerar|går igenom"),
    patient=(
        Phrase("var ", r"(?<!\w)var (?:\d{1,4}:?[ea]? )?(?:sekund|minut|timme)"),
        Phrase("varje ", r"(?<!\w)varje (?:sekund|minut|timme)"),
    ),
    go_on=_go_on("fortsätt", "fortsätt"),
)

DANISH: Final = Language(
    "Danish and Norwegian",
    numbers="2 to|3 tre|4 fire|5 fem|6 seks|7 syv sju|8 otte åtte|9 ni|10 ti|12 tolv|15 femten|20 tyve tjue|30 tredive"
    "|100 hundrede hundre",
    times=r"[ -]?(?:gange|ganger)(?!\w)",
    times_words="gange",
    endless=(
        Phrase("igen og igen", r"(?<!\w)igen og igen"),
        Phrase("kør|kjør|gentag|gjenta", r"(?<!\w)(?:kør|kjør|gentag|gjenta)[^.;!?\n]{0,80}? (?:til|indtil)"),
    ),
    works=Phrase("virker|bestå|består|går igenom", "virker|bestå|består|går igenom"),
    patient=(Phrase("hver", r"(?<!\w)hvert? (?:\d{1,4}\.? )?(?:sekund|minut|time)"),),
    go_on=_go_on("fortsæt|fortsett", "fortsæt|fortsett"),
)

TURKISH: Final = Language(
    "Turkish",
    numbers="2 iki|3 üç|4 dört|5 beş|6 altı|7 yedi|8 sekiz|9 dokuz|10 on|20 yirmi|30 otuz|50 elli|100 yüz",
    times=r"(?:[ -]?(?:kez|kere|sefer)|[ -]defa)(?!\w)",
    times_words="kez|kere|sefer| defa|-defa",  # not in ``default``
    endless=(
        Phrase("tekrar tekrar|sürekli", "(?<!\\w)(?:tekrar tekrar|sürekli (?:çalıştır|dene|tekrarla))"),
        Phrase(" kadar ", r"[^.;!?\n]{1,40}? kadar (?:tekrarla|çalıştır|dene)\w{0,4}"),
    ),
    works=Phrase("geç|düzel|çözül", "geç|düzel|çözül"),
    patient=(
        Phrase("saniye|dakika|saat|izle", r"(?<!\w)(?:her (?:\d{1,4} )?(?:saniye|dakika|saat)\w{0,3}|izle\w{0,3})"),
    ),
    go_on=_go_on("devam", r"(?:lütfen )?devam(?: et(?:in)?)?"),
)

KOREAN: Final = Language(
    "Korean",
    numbers="2 두|3 세|4 네|5 다섯|6 여섯|7 일곱|8 여덟|9 아홉|10 열|12 열두|15 열다섯|20 스무|30 서른|50 쉰|100 백",
    times=" ?(?:번|회|차례)",
    times_words="번|회|차례",
    endless=(Phrase("반복|실행|돌려|시도", r"(?:때까지|계속)[^.!?\n]{0,20}(?:반복|실행|돌려|시도)|반복해서"),),
    works=Phrase("통과|성공|고쳐|고칠|해결", "통과|성공|고쳐|고칠|해결"),
    patient=(Phrase("마다|매|모니터링|지켜봐", r"\d{1,4} ?(?:초|분|시간) ?마다|매(?:초|분|시간)|모니터링|지켜봐"),),
    go_on=_go_on("계속", "계속(?: ?(?:해(?: ?(?:줘|주세요))?|하세요|진행(?:해(?: ?(?:줘|주세요))?)?))?"),
)

LANGUAGES: Final = (
    ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, CHINESE, JAPANESE, RUSSIAN, UKRAINIAN, POLISH, CZECH, DUTCH,
    SWEDISH, DANISH, TURKISH, KOREAN,
    Language("Arabic", times=r"[ -]?(?:مرات|مرة)(?!\w)", times_words="مرات|مرة"),
    Language("Hindi", times=r"[ -]?बार(?!\w)", times_words="बार"),
    Language("Vietnamese", times=r"[ -]?lần(?!\w)", times_words="lần"),
    Language("Finnish", times=r"[ -]?kertaa(?!\w)", times_words="kertaa"),
)  # fmt: skip


def _numbers() -> dict[str, int]:
    found: dict[str, int] = {}
    for language in LANGUAGES:
        for row in filter(None, language.numbers.split("|")):
            value, _, words = row.partition(" ")
            found.update(dict.fromkeys(words.replace("*", "").split(), int(value)))
    return found


GO_ON: Final[Phrases] = tuple(phrase for language in LANGUAGES for phrase in language.go_on)
"""Messages that as a whole say no more than *go on*."""

GO_ON_ALONE: Final = frozenset({"continue", "proceed", "go on", "keep going", "please continue", "weiter", "resume"})
"""The commonest of them."""

GO_ON_WORDS: Final = frozenset(
    """
    please ok okay yes sure go
    working on continue keep going proceed resume carry ahead retry try again with the your this task work plan next
    step item to until it is it's you are you're done finished complete using best judgment judgement as see fit think
    from where left off stopped if needed necessary can want
    bitte weiter weitermachen mach mache machen sie fahr fahre fahren fort
    s'il te vous plait continuer continuez poursuis poursuit poursuivez vas-y allez-y
    por favor continua sigue siga adelante prosiga prossiga adiante per favore vai avanti prosegui
    kontynuuj dalej ga werk door verder fortsett devam et etin
    """.split()
)
"""Every word behind the first one of which such a message may consist, if it is ASCII."""

NUMBERS: Final[Mapping[str, int]] = _numbers()
"""Numbers by their words, in lower case."""

OTHER_SENSE: Final = frozenset(
    {"once", "sei", "due", "cent", "mil", "mille", "on", "fire", "sex", "ti", "ni", "to", "sto", "elli"}
)
"""Words for numbers that are other words in another language; they count before a word for *times* alone."""


class Count(NamedTuple):
    """The ``phrase`` that names a number of times in one language, and the words for ``numbers`` that it may hold.

    The number is the group that the phrase finds; it may always stand in digits.
    """

    phrase: Phrase
    numbers: tuple[str, ...]

    def may_count(self, low: str) -> bool:
        """Whether a text holds a number at all, be it as a part of another word."""
        return any(map(str.isdigit, low)) or any(word in low for word in self.numbers)


@cache
def counts() -> tuple[Count, ...]:
    """What names a number of times, ``20x`` in any language among it.

    Built when a request is first asked for numbers, as few are.
    """
    return (*(_count(language) for language in LANGUAGES if language.times), SIGN)


def _count(language: Language) -> Count:
    rows = [word for row in language.numbers.split("|") for word in row.split()[1:]]
    said = [word.rstrip("*") for word in rows if word.endswith("*")]
    words = sorted({re.escape(word) for word in rows if not word.endswith("*")}, key=lambda word: (-len(word), word))
    count = "|".join([r"\d{1,4}", *words])
    before = r"(?<![\w.])" if language.spaced else r"(?<![a-z\u00c0-\u024f0-9_.])"
    alone = rf"|(?<!\w)({'|'.join(said)})(?!\w)" if said else ""
    return Count(
        Phrase("|".join([language.times_words, *said]), rf"{before}({count})(?:{language.times}){alone}"),
        tuple(word.rstrip("*") for word in rows),
    )


_TIMES_SIGN: Final = Phrase(
    "|".join(
        [f"{digit}{blank}x" for digit in range(10) for blank in ("", " ")]
        + [f"x{digit}" for digit in range(10)]
        + ["×"]
    ),
    r"(?<![a-z\u00c0-\u024f0-9_.])(\d{1,4}) ?[x×](?![\w]| ?(?:codes?|errors?|status|responses?|faster|slower|more"
    r"|larger|smaller|zoom))|(?<!\w)[x×](\d{1,4})\b",
)

SIGN: Final = Count(_TIMES_SIGN, ())


def may_hold_sign(low: str) -> bool:
    """Whether a text may hold a word of :data:`SIGN`: few hold a digit beside an x, but each is asked for thirty."""
    before, *behind = low.split("x")
    for part in behind:
        if part[:1].isdecimal() or before.rstrip()[-1:].isdecimal():
            return True
        before = part
    return "×" in low
