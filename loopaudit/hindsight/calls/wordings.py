"""What the words of a result tell beside its content: refusals, notices, placeholders, ends of what is waited for.

Recordings often keep no failure signal, append a harness's notice to a result, or put a
placeholder in its place. Each function here looks at one short piece of a text and at how it
begins, because a log that *mentions* errors is no error.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from loopaudit.core import regex
from loopaudit.core.failure_words import says_failure
from loopaudit.core.regex import Caseless, Phrase
from loopaudit.hindsight.calls.outputs import as_letters, head_of

HEAD: Final = 400
"""Characters of a result that are looked at."""

_ENVELOPE: Final = Caseless(
    r"\s*(?:the result of (?:executing )?\S{1,20} (?:last )?(?:command|tool|call) is:\s*)?"
    r"(?:(?:command|tool|function) .{1,80}? (?:returned|said|failed):\s*|(?:result|output|observation"
    r"|tool_result):\s*)?",
)
"""What some harnesses put before every result."""

_ENVELOPES: Final = (
    "the result of ", "command ", "tool ", "function ", "result:", "output:", "observation:", "tool_result:",
)  # fmt: skip
"""How that begins in lower case."""

ENVELOPE: Final = 16
"""Characters that are enough to see it."""

_NAMED: Final = Phrase("] result:", r"\[\w{1,60}(?: for '[^\n]{1,300}?')?\] result:\s*(?:<error_details>\s*)?")
"""What Cline and its kin put there: the name of the tool, and what it was asked about."""

_DONE_WORDS: Final = frozenset(
    "ok done successfully updated applied wrote saved created edited replaced modified inserted".split()
)
"""Words with which a result begins that tells of a success, beside those that begin with ``success``."""

_ACCEPTING: Final = frozenset("the file edit patch change changes".split())
"""Words with which the next begin."""

_ACCEPTS: Final = regex.lazy(
    r"the (?:file|document|record|lines?) \S{0,200} ?(?:has|have|was|were) (?:been )?\w+ed\b"
    r"|(?:file|edit|patch|changes?) (?:was |were |has been |have been )?(?:successfully )?"
    r"(?:created|updated|written|applied|saved|edited|modified|replaced|added)\b"
)
_PLAINLY_ACCEPTS: Final = regex.lazy(
    rb'"(?:The file [!#-\[\]-~]{1,200} has been (?:updated|created|edited)\b|(?:File created|Updated) successfully\b'
    rb"|Success\. Updated\b)"
    rb'|\[\{"type":"text","text":"Successfully [^"\\]*+"\}\]\Z'
)
"""How the results of most edits begin as JSON bytes, or are as a whole: :func:`_accepts` what they are decoded to."""

_REFUSALS: Final = frozenset(
    """
    error failure failed fatal exception traceback invalid rejected refused denied unsupported unknown missing conflict
    cannot
    """.split()
)
"""Words with which a result begins that refuses what was asked for."""

_REFUSING: Final = (
    "can't", "could not", "couldn't", "unable to", "nothing ", "no ", "the tool exec", "tool", "apply_patch", "patch",
    "edit", "hunk",
)  # fmt: skip
"""With what the next begin."""

_REJECTS: Final = regex.lazy(
    r"(?:can't|could not|couldn't|unable to|nothing (?:was |to )?(?:changed|replaced|done|edit)"
    r"|(?:the )?tool execution failed|no (?:(?:sufficiently )?similar )?match"
    r"|no (?:replacement|changes?|occurrence|such)|(?:tool|apply_patch|patch|edit|hunk)\S{0,12} (?:verification )?"
    r"(?:error|failed|rejected|not applied|does not apply))\b",
)
_WORD: Final = regex.lazy(r"\w+")
_SAYS_NOT: Final = (
    Phrase(
        "not|n't",
        r"[^\n]{0,200}?\b(?:did not|didn't|does not|doesn't|(?:was|is|were|are|has|have|had) not(?! only)|wasn't"
        r"|isn't|hasn't|not (?:be )?(?:found|applied|changed|unique|valid|matched|saved))",
    ),
    Phrase(
        "no match|introduced new|no exact match|multiple matches|multiple occurrences|would |is empty|are identical"
        "|verification failed",
        r"[^\n]{0,200}?\b(?:no match(?:es)?\b|introduced new syntax errors?|no exact match"
        r"|multiple (?:matches|occurrences)|would (?:not )?(?:introduce|break)|is empty|are identical"
        r"|verification failed)",
    ),
    Phrase(
        "must |please |already ",
        r"[^\n]{0,200}?\b(?:must (?:be|have|read|provide|first|specify|include)|please (?:provide|read|correct|fix)"
        r"|already (?:exists|applied))",
    ),
    Phrase(
        "discard|revert|rolled|ignored|locked|read-only|reject|refus|declined|unchanged",
        r"[^\n]{0,200}?\b(?:(?:was|were|been|are|is) (?:discarded|reverted|rolled back|ignored|locked|read-only"
        r"|rejected|refused|declined)|(?:left|remains?|is|are|was|were) unchanged)\b",
    ),
)
"""How a call that should change something says that it did not."""

_ELSEWHERE: Final = (
    Phrase(
        "abge|verworfen|zurückgewiesen|gesperrt|fehl|ungültig|unverändert|nicht |konnte|keine ",
        r"\b(?:abgelehnt|abgewiesen|zurückgewiesen|verworfen|gesperrt|fehlgeschlagen|ungültig|unverändert|fehler"
        r"|nicht (?:gefunden|möglich|geändert|angewendet|übernommen|eindeutig)|konnten? nicht"
        r"|keine (?:änderung|übereinstimmung))\b",
    ),
    Phrase(
        "refus|rejet|erreur|échec|échoué|impossible|introuvable|invalide|inchangé|n'a pas|n'ont pas|aucune ",
        r"\b(?:refusée?s?|rejetée?s?|erreur|échec|échoué|impossible|introuvable|invalide|inchangée?s?"
        r"|n'(?:a|ont) pas|aucune (?:modification|correspondance))\b",
    ),
    Phrase(
        "rechazad|falló|fallido|no se |inválid|sin cambios|denegad",
        r"\b(?:rechazad[oa]s?|falló|fallido|no se (?:pudo|puede|encontró|aplicó|modificó)|inválid[oa]|sin cambios"
        r"|denegad[oa])\b",
    ),
    Phrase(
        "rejeitad|erro|falhou|não |sem alterações",
        r"\b(?:rejeitad[oa]s?|erro|falhou|não (?:foi|encontrad|pôde|aplicad)\w{0,4}|sem alterações)\b",
    ),
    Phrase(
        "rifiutat|errore|fallit|non |nessuna ",
        r"\b(?:rifiutat[oa]|errore|fallit[oa]|non (?:trovat|applicat|riuscit|è stat)[oa]?|nessuna modifica)\b",
    ),
    Phrase(
        "ошибка|отклонен|не |недопустим|без изменений",
        "ошибка|отклонен|не найден|не удалось|недопустим|без изменений",
    ),
    Phrase(
        "拒绝|拒絕|失败|失敗|错误|錯誤|找到|不到|无|無|未|拒否|エラー|つかりません|できません",
        "拒绝|拒絕|失败|失敗|错误|錯誤|未找到|找不到|无法|無法|未(?:修改|更改|应用|變更|変更)|无效|拒否|エラー|見つかりません|できません",
    ),
    Phrase("않|실패|오류|거부|없", "변경되지 않|실패|오류|거부|찾을 수 없"),
)
"""Refusals in other languages than English, in the first line of a result."""

_ACCEPTS_ELSEWHERE: Final = regex.lazy(
    r"\W*(?:erfolg|geändert|gespeichert|aktualisiert|erledigt|fertig|réussi|succès|modifié|enregistré|terminé|éxito"
    r"|correctamente|guardad|actualizad|modificad|listo|sucesso|salv|atualizad|feito|riuscit|aggiornat|fatto|готово"
    r"|успешно|成功|已(?:修改|更新|保存|写入|应用)|完了|更新しました|保存しました|성공|완료)",
    re.IGNORECASE,
)

_TROUBLE: Final = Caseless(r"fail|error|exception|\bnot\b|n't\b|cannot|invalid|reject|refus|denied|missing")

_MACHINE_SIGNS: Final = ("[", "<", "(", "{", "*", "#", ">", "=", "-", "\u26a0", "\U0001f6d1", "\U0001f501")
_MACHINE: Final = regex.lazy(
    r"(?:system|notice|note|warning|reminder|important|guard|hint|tip|info|harness|loop)\b[^\n]{0,30}?[:!-]"
)
_OF_REPEATS: Final = regex.lazy(
    r"\bloop|\brepeat|\brepetiti|\bstuck\b|\bidentical\b|\bsame\b|\bduplicat|\balready\b|\bin a row\b|\bconsecutive"
    r"|\bprogress\b|\bdifferent(?:ly)?\b|\bagain\b|\binstead\b|\btimes\b",
)
_ADDRESSES: Final = (
    Phrase(
        "you ",
        r"\byou (?:have|are|already|just|called|keep|should|must|may|can|seem|appear|ran|made)\b",
    ),
    Phrase("you'", r"\byou(?:'ve|'re)\b"),
    Phrase(
        "same |identical |repeated |duplicate ",
        r"\b(?:same|identical|repeated|duplicate) (?:tool |exact )?(?:call|command|arguments?|results?|action"
        r"|request|input)",
    ),
    Phrase("loop detect|loop was detect|in a row", r"\bloop (?:was )?detect|\b(?:times|calls) in a row\b"),
    Phrase(
        "try |take |consider |use ",
        r"\b(?:try|take|consider|use) (?:a|another|some) ?(?:different|other|new)",
    ),
    Phrase("do not |don't |stop ", r"\b(?:do not|don't|stop) (?:repeat|call|retry|run)"),
)
MAX_NOTICE: Final = 1200
"""Longest notice in characters."""

_PLACEHOLDER: Final = (
    Phrase(
        "duplicate|repeated|identical|skipped|cached",
        r"\W*(?:duplicate|repeated|identical|skipped|cached) (?:tool )?(?:call|request|read|result)\b",
    ),
    Phrase(
        "same |identical|unchanged",
        r"\W*(?:same|identical|unchanged) (?:result|output|content|answer|response)?s? ?(?:as|to|since) "
        r"(?:the |your |in )?(?:previous|last|earlier|above|call|result|first|before|message|read)",
    ),
    Phrase(
        "unchanged|not changed",
        r"\W*(?:file |content |result |output )?(?:is |has )?(?:been )?(?:unchanged|not changed) since (?:the "
        r"|your )?(?:last|previous|earlier|first)",
    ),
    Phrase("see ", r"\W*see (?:the |your )?(?:previous|earlier|above|last|first) (?:result|output|call|tool)"),
)
_PLACED: Final = (
    "duplicate", "repeated", "identical", "skipped", "cached", "same", "unchanged", "see ",
    "file ", "content ", "result ", "output ", "is ", "has ", "been ", "not changed",
)  # fmt: skip
"""How what they match begins, behind signs that are no letters."""

_EVICTED: Final = Phrase(
    "evicted|cleared|pruned|removed|elided|omitted|dropped|compacted|trimmed|offloaded|archived|truncated to",
    r"\W*(?:(?:old |older |previous |earlier |stale |large |compacted )?(?:tool )?(?:history |message )?"
    r"(?:results?|outputs?|contents?|arguments?|input|response|observation|history)(?: content)? "
    r"(?:was |were |is |has been |have been )?"
    r"(?:evicted|cleared|pruned|removed|elided|omitted|dropped|compacted|trimmed|offloaded|archived"
    r"|truncated to save)\b"
    r"|(?:evicted|cleared|pruned|elided|omitted|removed) (?:tool )?(?:result|output|content|history|for|to)\b)",
)
MAX_EVICTED: Final = 300
"""Longest text in characters that can stand for one that was evicted."""

PERSISTED: Final = "<persisted-output>"
"""Begins a result that was too large and of which only a preview was shown."""

_ENDED: Final = (
    Phrase(
        "status|state",
        r"\b(?:status|state)\W{1,6}(?:is )?(?:killed|failed|dead|exited|completed|terminated|stopped|crashed"
        r"|cancell?ed|finished|done|success|succeeded|gone|closed|error|timed[_ ]out|not[_ ]found)\b",
    ),
    Phrase(
        "killed|terminated|dead|stopped|closed|cancel|finished|completed|gone|no longer",
        r"\b(?:was|been|is|already) (?:killed|terminated|dead|stopped|closed|cancell?ed|finished|completed|gone"
        r"|no longer running)\b",
    ),
    Phrase(
        "not |no |n't exist|exited|ended|died|unknown |invalid ",
        r"\b(?:not (?:currently )?running|no longer (?:running|exists|active|available)|no such (?:process|session"
        r"|shell|task|job|container|pod)"
        r"|(?:process|session|shell|task|job|terminal|container|pod|agent)(?: \S{1,60})? (?:was |is |could )?"
        r"(?:not (?:be )?found|does not exist|doesn't exist|exited|has ended|died)"
        r"|no (?:process|session|shell|task|job|terminal|container)s? (?:found|with|named|running)"
        r"|(?:unknown|invalid) (?:process|session|shell|task|job)|exited with (?:code|status))\b",
    ),
)
_AT_ONCE: Final = Phrase(
    "return|end |nothing |no |not ",
    r"\b(?:returns?|returned|returning) (?:immediately|at once|right away)\b|\bend (?:your|the|this) (?:turn"
    r"|response|message)\b"
    r"|\bnothing (?:to wait for|is running|pending)\b|\bno (?:running|pending|active|background|outstanding) "
    r"(?:tasks?|jobs?|process(?:es)?|agents?|work|commands?|shells?)\b|\bdoes not (?:block|wait)\b|\bnot waiting\b",
)
_FINISHED: Final = Caseless(
    r"\W*(?:(?:all|the|overall|full|whole) )?(?:\S{1,24} )?(?:is |are |was |has |have |run )?"
    r"(?:passed|completed|complete|finished|succeeded|failed|done|all green)(?: successfully| with errors?)?"
    r"(?: (?:in|after) [\d.:hms ]{1,16})?\W*",
)


def content_of(text: str) -> str:
    """The head of a result without what a harness puts before every result."""
    head = text[: 2 * HEAD].lstrip()
    if head[:1] == "[" and (named := _NAMED.match(head.lower())) is not None:
        return head[named.end() :][:HEAD]
    if not head[:ENVELOPE].lower().startswith(_ENVELOPES):
        return head[:HEAD]
    match = _ENVELOPE.match(head)
    return head[match.end() if match else 0 :][:HEAD]


def rejects(text: str) -> bool:
    """Whether the result of a call that should change something says that it changed nothing.

    For recordings without a failure signal. A success whose snippet holds such words begins
    with the words of a success.
    """
    return _rejects(content_of(text))


@lru_cache(maxsize=256)  # a tool that changes something acknowledges most of its calls in the same words
def _rejects(head: str) -> bool:
    if _accepts(regex.folded(head)):  # what most begin like
        return False
    low = head.lower()
    if "successful" in low[:120] and "unsuccessful" not in low and "not successful" not in low:
        return False
    return (
        _begins_with_rejection(low)
        or any(phrase.match(low) is not None for phrase in _SAYS_NOT)
        or says_failure(head)
        or _rejects_elsewhere(low)
    )


def _accepts(low: str) -> bool:
    """Whether the head of a result, in lower case, begins like a success."""
    begin = _WORD.search(low)
    if begin is None:
        return False
    word = begin.group()
    if word in _DONE_WORDS or word.startswith("success"):
        return True
    return word in _ACCEPTING and _ACCEPTS.match(low, begin.start()) is not None


def _begins_with_rejection(low: str) -> bool:
    begin = _WORD.search(low)
    if begin is None:
        return False
    at = begin.start()
    return begin.group() in _REFUSALS or (low.startswith(_REFUSING, at) and _REJECTS.match(low, at) is not None)


def plainly_accepts(source: str | bytes) -> bool:
    """Whether a result, as recorded, begins as those that :func:`rejects` accepts; spares decoding most of edits."""
    return isinstance(source, bytes) and _PLAINLY_ACCEPTS.match(source) is not None


def _rejects_elsewhere(low: str) -> bool:
    """The same in other languages. The first line has to say it, and not to begin like a success."""
    line = low.lstrip()[:200].partition("\n")[0]
    return any(phrase.search(line) is not None for phrase in _ELSEWHERE) and _ACCEPTS_ELSEWHERE.match(line) is None


_EDIT_REFUSALS: Final = ("proposed edit", "apply_patch verification failed", "No exact match", "No replacement was")


_REFUSED: Final = (
    Phrase(
        "reject|denied|declined|refused|blocked|disallowed|not allowed|not permitted|not approved",
        r"\W{0,4}(?:error:? )?(?:[\w.-]{1,40}:? ){0,2}(?:(?:was|is|has been) )?(?:rejected|denied|declined|refused"
        r"|blocked|disallowed|not (?:allowed|permitted|approved))\b[^\n]{0,160}?"
        r"\b(?:approv\w{1,4}|polic\w{1,3}|permission|user|operator|sandbox|allow-?list|session)\b",
    ),
    Phrase("approval", r"[^\n]{0,100}\brequires? (?:\w{1,20} )?approval\b"),
    Phrase("user |operator ", r"[^\n]{0,100}\b(?:user|operator) (?:has )?(?:denied|rejected|declined|refused)\b"),
)
_REFUSED_WORDS: Final = ("reject", "denied", "declin", "refus", "block", "allow", "permit", "approv")

MAX_REFUSAL: Final = 400
"""Longest result in characters or bytes that may be a harness's refusal to run a command."""


def refuses_command(source: str | bytes) -> bool:
    """Whether the result of a command, as recorded, is its harness's refusal to run it."""
    if len(source) > MAX_REFUSAL:
        return False
    low = as_letters(source[:200]).lower()
    for words in _REFUSED_WORDS:
        if words in low:
            head = head_of(source).lower()
            return any(phrase.match(head) is not None for phrase in _REFUSED)
    return False


def may_refuse_edit(source: str | bytes) -> bool:
    """Whether the result of a command, as recorded, may tell that an edit made through it was refused."""
    head = as_letters(source[:200])
    return any(words in head for words in _EDIT_REFUSALS)


def shows_trouble(text: str) -> bool:
    """Whether the beginning of a result speaks of something that went wrong; a weak sign."""
    return _TROUBLE.search(text[:HEAD]) is not None


def is_notice(text: str) -> bool:
    """Whether a text behind a result speaks to the agent about its repeats, and is no part of the answer."""
    text = text.strip()
    if not text or len(text) > MAX_NOTICE:
        return False
    low = regex.folded(text)
    if any(phrase.search(low) is not None for phrase in _ADDRESSES):
        return True
    by_machine = low.startswith(_MACHINE_SIGNS) or _MACHINE.match(low) is not None
    return by_machine and _OF_REPEATS.search(low) is not None


def is_placeholder(text: str) -> bool:
    """Whether a result only says that the same was asked before (``[Duplicate call …]``)."""
    if len(text) > MAX_NOTICE:
        return False
    low = content_of(text).lower()
    if low[:1].isalnum() and not low.startswith(_PLACED):
        return False  # as nearly always
    return any(phrase.match(low) is not None for phrase in _PLACEHOLDER)


def is_evicted(text: str) -> bool:
    """Whether a text stands for one that the recorder no longer has."""
    if len(text) > MAX_EVICTED or text[:1].isalnum():
        return False  # as nearly all texts are
    return text.strip()[:1] in "[<(…" and _EVICTED.match(text.lower()) is not None


def shows_end(text: str) -> bool:
    """Whether the answer of a poll says that what it looks at is over, dead or unknown."""
    low = text[:HEAD].lower()
    return any(phrase.search(low) is not None for phrase in _ENDED)


def shows_no_wait(text: str) -> bool:
    """Whether the answer of a waiting tool says that nothing was waited for."""
    return _AT_ONCE.search(text[:HEAD].lower()) is not None


PROMPT: Final = 400
"""Characters at the end of an answer in which a question to somebody is looked for."""

_PROMPT: Final = (
    Phrase(
        "[y|(y|[ y|( y",
        r"[\[(] ?y(?:es)? ?[/|] ?no?\b[^\])\n]{0,20}[\])]|\(y\)es\b[^\n]{0,80}\(n\)o\b|\(y\)\Z",
    ),
    Phrase(
        "press |hit |type ",
        r"\bpress (?:any key|enter|return|y)\b|\bhit (?:enter|return)\b|\btype ['\"]?(?:yes|y)['\"]? to\b",
    ),
    Phrase(
        "dialog",
        r"\b(?:alert)?dialog\b[^\n]{0,300}\[(?:ok|yes|no|cancel|allow|deny|retry|close|sign in|log in|continue)\]",
    ),
)
"""Questions that offer their answers."""

_ASKS: Final = regex.lazy(
    r"\b(?:password|passphrase|passcode|username|login|pin)(?: for [^\n]{1,80})?:\Z"
    r"|\benter (?:a |an |the |your )?(?:\w{1,20} )?(?:password|passphrase|choice|selection|code|pin|number)\b"
    r"[^\n]{0,40}:\Z"
    r"|\b(?:overwrite|replace|proceed|continue|remove|delete|reinstall|accept|trust)\b[^\n]{0,120}\?\s*:?\Z"
)
"""A last line that wants an answer; it ends with a sign."""

_CLOSING: Final = regex.lazy(r"</[\w-]{1,40}>\Z")


def _unclosed(text: str) -> str:
    """A text without the white space, back quotes and closing tags at its end, taken off one by one."""
    while text:
        shorter = text.rstrip().rstrip("`")
        if shorter.endswith(">") and (tag := _CLOSING.search(shorter, max(shorter.rfind("<"), 0))) is not None:
            shorter = shorter[: tag.start()]
        if shorter == text:
            break
        text = shorter
    return text


def shows_prompt(text: str) -> bool:
    """Whether what a poll shows ends with a question that somebody would have to answer before it goes on."""
    low = _unclosed(text[-PROMPT:]).lower()
    return any(phrase.search(low) is not None for phrase in _PROMPT) or (
        low.endswith((":", "?")) and _ASKS.search(low) is not None
    )


_BLOCKED: Final = Caseless(
    r"unusual (?:traffic|activity)|not a (?:ro)?bot\b|captcha|are you a robot|checking your browser"
    r"|(?:verify|confirm|prove)(?:ing)? (?:that )?you are (?:a )?human"
    r"|enable (?:javascript|cookies) (?:and cookies )?to|access (?:to this page )?(?:has been )?denied"
    r"|you have been blocked|too many requests|just a moment\.\.\.|attention required"
    r"|(?:sign|log) in to (?:continue|view)",
)


def shows_blocked(text: str) -> bool:
    """Whether a page is no content, but keeps programs or strangers out."""
    return _BLOCKED.search(text[: 2 * HEAD]) is not None


def shows_finish(text: str) -> bool:
    """Whether the last line of a log says that the whole of it is over."""
    last = text.rstrip()[-200:].rpartition("\n")[2]
    return bool(last) and len(last) <= 80 and _FINISHED.fullmatch(last) is not None


MAX_STATES: Final = 1200
"""Longest answer of a poll in characters of which each line may tell that something is complete."""

_DONE: Final = r"(?:completed?|done|finished|succeeded|successful|passed|closed)"
_ALL_DONE: Final = Phrase(
    "complete|done|finish|succe|passed|closed",
    rf"\btotal(?:[_ ]count)?\W{{1,4}}([1-9]\d{{0,6}})\W{{1,4}}{_DONE}(?:[_ ]count)?\W{{1,4}}([1-9]\d{{0,6}})\b"
    rf"|\b{_DONE}(?:[_ ]count)?\W{{1,4}}([1-9]\d{{0,6}})\W{{1,4}}total(?:[_ ]count)?\W{{1,4}}([1-9]\d{{0,6}})\b"
    rf"|\b([1-9]\d{{0,6}}) ?(?:/|of|out of) ?([1-9]\d{{0,6}}) (?:\w+ ){{0,2}}{_DONE}\b"
    rf"|\b{_DONE}\W{{1,3}}([1-9]\d{{0,6}}) ?(?:/|of) ?([1-9]\d{{0,6}})\b",
)
"""How many are complete, and how many there are."""

_STATE: Final = Phrase(
    "complete|succe|fail|pass|skipped|cancel|neutral|done|finished",
    r".*?(?:\A|[\t|,;:\"=]|\s{2})\s*(?:completed|success|succeeded|successful|failure|failed|pass|passed|fail|skipped"
    r"|cancell?ed|neutral|done|finished)\b\s*(?=[\t|,;\"}\])]|\s{2}|\Z)",
)
"""A line with the state of something that has come to its end, in a column of its own."""

_PENDING: Final = Phrase(
    "pending|queued|progress|running|wait|expected|started|blocked|building|scheduled|deploying|uploading|processing",
    r"\b(?:pending|queued|in[_ -]progress|running|wait\w{0,3}|expected|not started|blocked|building|scheduled|deploying"
    r"|uploading|processing)\b",
)


def shows_all_done(text: str) -> bool:
    """Whether the answer of a poll says of everything it lists that it has come to its end."""
    if not text or len(text) > MAX_STATES:
        return False
    low = text.lower().strip()
    if _PENDING.search(low) is not None:
        return False
    counted = _ALL_DONE.search(low)
    if counted is not None:
        one, other = (number for number in counted.groups() if number is not None)
        return one == other
    lines = low.splitlines()
    return bool(lines) and all(_STATE.match(line) is not None for line in lines)


_EXIT: Final = Phrase(
    "exit",
    r"\W*(?:process |command |task |job )?(?:finished |completed )?(?:with )?exit(?:ed)?(?: (?:with )?(?:code|status))*"
    r"[\s:=]{0,3}-?\d{1,3}\W*",
)


def shows_exit(text: str) -> bool:
    """Whether the last line of a log is the exit code of the command that wrote it."""
    last = text.rstrip()[-200:].rpartition("\n")[2].lower()
    return len(last) <= 80 and _EXIT.fullmatch(last) is not None
