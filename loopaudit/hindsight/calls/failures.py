"""Error classes: when two failures of one tool are the same failure in other words.

A failure is known by the status, the flag or the exit code of its result, never by words. Its
text only says *which* failure it is: the text without noise and without the call's own
arguments in it, and a category that says whether trying again can help.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote_plus

import msgspec
import orjson

from loopaudit.core import regex
from loopaudit.core.events import decode_text
from loopaudit.core.regex import Caseless, Phrase
from loopaudit.hindsight.calls.effects import WORDINGS, host_of, nature_of
from loopaudit.hindsight.calls.footers import without_block
from loopaudit.hindsight.calls.noise import PATTERNS, remove_all, without_noise
from loopaudit.hindsight.calls.outputs import as_letters
from loopaudit.hindsight.calls.ranges import PATCHES, normal_path, patched_paths, path_of

Category = Literal[
    "unknown_tool",
    "invalid_args",
    "unmet",
    "rejected",
    "denied",
    "auth",
    "quota",
    "outage",
    "not_found",
    "no_match",
    "other",
]

CURELESS: Final = frozenset({"unknown_tool", "invalid_args", "denied", "auth", "quota"})
"""Categories that no repetition and no rewording of the same request can cure."""

HEAD: Final = 400
TAIL: Final = 200
"""Characters of an error text that are looked at, from its beginning and from its end."""

_STOP: Final = regex.lazy(r"[,.:;](?=\s|$)|[`\"]")
"""Where a first phrase ends; behind it stands what was sent."""

_HEADERS: Final = ("Exit code", "Chunk ID", "Wall time", "Process exited", "Original token", "<session>", "Output:")
"""How lines begin that a harness puts before the output of a command."""

LEAD: Final = 16
"""Least characters of a first line that can tell a failure."""

_PIECE: Final = 1024
"""Bytes of a long error text that are decoded, at its beginning and at its end."""

_CATEGORIES: Final[Mapping[Category, tuple[Phrase, ...]]] = {
    "unknown_tool": (
        Phrase(
            "unknown |unsupported |unregistered |undefined |invalid ",
            r"\b(?:unknown|unsupported|unregistered|undefined|invalid) (?:tool|function)\b"
            r"(?! (?:argument|parameter|input|call))",
        ),
        Phrase(
            "unsupported call|no such tool|no such function|no tool |no function ",
            r"\b(?:unsupported call\b|no such (?:tool|function)\b|no (?:tool|function) (?:named|called|with)\b)",
        ),
        Phrase(
            "not found|not exist|n't exist|unavailable|not available|not registered|not defined|not a valid"
            "|not recognized|not supported",
            r"\b(?:tool|function) (?:\S{1,80} )?(?:is |was )?(?:not found|does not exist|doesn't exist|unavailable|"
            r"not (?:available|registered|defined|a valid|recognized|supported))",
        ),
        Phrase(
            "not a valid tool|not a known tool|not an available tool", r"\bnot (?:a valid|a known|an available) tool\b"
        ),
    ),
    "invalid_args": (
        Phrase(
            "invalid |malformed |bad |unexpected |unrecognized |illegal ",
            r"\b(?:invalid|malformed|bad|unexpected|unrecognized|illegal) (?:\S{1,40} )?"
            r"(?:arguments?|parameters?|params|inputs?|json|tool call)\b",
        ),
        Phrase(
            "missing ",
            r"\bmissing (?:\d{1,3} )?(?:required |mandatory )?(?:\S{1,40} )?"
            r"(?:arguments?|parameters?|fields?|property|properties|keys?|input)\b",
        ),
        Phrase(
            "required|missing|invalid",
            r"\b(?:argument|parameter|field|property)s? (?:\S{1,60} )?(?:is |are |was )?(?:required|missing|invalid)\b",
        ),
        Phrase(
            "required |validation|json",
            r"\b(?:required (?:parameter|argument|property|field)\b|validation ?error|json ?(?:parse|decode|syntax))",
        ),
        Phrase("parse|decode", r"\b(?:failed|unable|could not|cannot) (?:to )?(?:parse|decode)\b"),
        Phrase(
            "malformed |invalid |bad ",
            r"\b(?:malformed|invalid|bad) "
            r"(?:filter|query|expression|regex|regular expression|patch|hunk|selector|diff)\b",
        ),
        Phrase(
            "was missing|failed in parsing|schema|inputvalidation|unexpected end of json",
            r"\b(?:was missing\b|failed in parsing\b|does not match the (?:required )?schema\b)"
            r"|inputvalidation|schema validation|unexpected end of json",
        ),
    ),
    "unmet": (
        Phrase(
            "has not |have not |was not |were not ",
            r"\b(?:has|have|was|were) not (?:yet )?(?:been )?(?:read|opened|viewed|loaded|initiali[sz]ed|connected"
            r"|started|selected|activated|configured)\b",
        ),
        Phrase(
            "modified since|changed since",
            r"\bmodified since\b|\bchanged since (?:it was |you |the )?(?:last )?read",
        ),
        Phrase("read it |file ", r"\bread (?:it|the file|this file) (?:first|again|before)"),
        Phrase(
            "must ",
            r"\bmust (?:first )?(?:read|view|open|connect|call|start|select|initiali[sz]e"
            r"|be read|be opened|be viewed)\b",
        ),
        Phrase("connected|initiali", r"\bnot (?:yet )?(?:connected|initiali[sz]ed)\b"),
        Phrase(" first| before", r"\b(?:connect|call|open|start|select|initiali[sz]e|run) \S{1,60} (?:first|before)\b"),
        Phrase(
            "no active |no open |no current |no running ",
            r"\bno (?:active|open|current|running) (?:\S{1,30} )?"
            r"(?:session|page|tab|browser|connection|project|file)\b",
        ),
    ),
    "rejected": (
        Phrase("introduc", r"\bintroduced? (?:a )?new (?:syntax|lint\w{0,4}|type|parse) errors?"),
        Phrase("would introduce |would break |would leave ", r"\bwould (?:introduce|break|leave) "),
        Phrase(
            "syntax error|syntaxerror",
            r"\bsyntax ?errors? (?:in|after|caused by) (?:your|the|this) (?:\S{1,30} )?(?:edit|patch|change)",
        ),
        Phrase(
            "rejected|reverted|rolled back|not applied",
            r"\b(?:edit|patch|change)s? (?:was |were |has been |have been )?"
            r"(?:rejected|reverted|rolled back|not applied)",
        ),
    ),
    "quota": (
        Phrase(
            "daily|weekly|monthly",
            r"(?<![a-z])(?:daily|weekly|monthly)(?![a-z])[^\n]{0,60}(?<![a-z])(?:quota|limit|allowance)(?![a-z])",
        ),
        Phrase(
            "insufficient|not enough|out of credit",
            r"\b(?:(?:insufficient|not enough)[_ ](?:quota|credits?|balance|funds)\b|out of credits?\b)",
        ),
        Phrase("quota", r"\bquota\b[^\n]{0,40}\b(?:exhausted|used up)\b"),
        Phrase(
            "reset in |resets in |try again in |retry in |try again tomorrow",
            r"\b(?:(?:resets?|try again|retry) in \d{1,4} ?(?:h|hours?|d|days?)\b|try again tomorrow\b)",
        ),
    ),
    "outage": (
        Phrase("429|502|503|504|529", r"\b(?:429|502|503|504|529)\b"),
        Phrase(
            "too many requests|limit|service unavailable|gateway|temporar|overloaded|try again later|retry after",
            r"\b(?:too many requests\b|rate.?limit|service unavailable\b|bad gateway\b|gateway time"
            r"|temporar(?:y|ily)\b|overloaded\b|try again later\b|retry after\b)",
        ),
        Phrase(
            "connection |econnre|etimedout|eai_again|network |socket hang up|host |no response",
            r"\b(?:connection (?:reset|refused|aborted|closed|timed)|econnre|etimedout\b|eai_again\b"
            r"|network (?:is )?(?:unreachable|timeout|error)|socket hang up\b|host (?:is )?(?:unreachable|down)\b"
            r"|no response\b)",
        ),
        Phrase(
            "timed out|timedout|timeout|time out|deadline exceeded",
            r"\b(?:(?:request|connect|read|operation|network)(?:ion)? ?timed? ?out\b|deadline exceeded\b)",
        ),
        Phrase(
            "lock",
            r"\b(?:(?:could not|cannot|unable to|failed to) (?:get|acquire|obtain) (?:the |a )?(?:\S{1,40} )?lock\b"
            r"|(?:database|index|table|file) is locked\b|lock(?:ed)? (?:is )?(?:currently )?held by\b)",
        ),
        Phrase(
            "another ",
            r"\banother (?:\S{1,40} )?(?:process|instance|operation) (?:is|seems|currently|has the lock)\b",
        ),
        Phrase("packet loss", r"\b100(?:\.0)?% packet loss\b"),
    ),
    "auth": (
        Phrase("401|403", r"\b(?:401|403)\b"),
        Phrase(
            "unauthori|unauthenticated|forbidden|authentication |not logged in|bad credentials",
            r"\b(?:unauthori[sz]ed\b|unauthenticated\b|forbidden\b|authentication (?:failed|required|error)"
            r"|not logged in\b|bad credentials\b)",
        ),
        Phrase(
            "token|credential|api key|session|password",
            r"\b(?:(?:token|credentials?|api key|session|password) (?:is |are |has |have )?(?:been )?"
            r"(?:expired|invalid|missing|revoked|incorrect)|invalid (?:api key|credentials?|token|password)\b)",
        ),
    ),
    "denied": (
        Phrase(
            "denied|not permitted",
            r"\b(?:permission (?:\S{1,40} ){0,8}(?:was |is |has been )?denied\b|access denied\b"
            r"|operation not permitted\b)",
        ),
        Phrase(
            "denied |rejected |blocked |refused |declined |disallowed ",
            r"\b(?:denied|rejected|blocked|refused|declined|disallowed) (?:by|while|because|in)\b",
        ),
        Phrase(
            "user |person |operator ",
            r"\b(?:user|person|operator) (?:has )?(?:denied|rejected|declined|refused)",
        ),
        Phrase(
            "want to |not allowed|not permitted|approval|granted",
            r"\b(?:doesn't want to (?:proceed|take)\b|not (?:allowed|permitted)\b|requires? approval\b"
            r"|haven't granted\b)",
        ),
    ),
    "no_match": (
        Phrase(
            "not found|no match|did not match|not be found|0 occurrences|0 matches",
            r"\b(?:old_?str(?:ing)?|oldtext|search (?:text|block|string)|string to replace|context|pattern|"
            r"text to replace)\b.{0,80}?\b"
            r"(?:not found|no match|did not match|could not be found|0 (?:occurrences|matches))",
        ),
        Phrase(
            " occurrence| match",
            r"\b(?:0|no|multiple|\d{1,6}) (?:occurrences?|matches|match(?:es)? (?:found|of|for the string))\b",
        ),
        Phrase(" match any", r"\b(?:does not|doesn't|did not|didn't) match any(?:thing|\b)"),
        Phrase(
            "no replacement|verbatim|match found|not unique|failed to find |patch ",
            r"\b(?:no replacement was (?:performed|made)\b|did not appear verbatim\b"
            r"|no (?:exact |sufficiently |similar ){0,2}match found\b|not unique\b"
            r"|failed to find (?:expected lines|context)|patch (?:failed|does not apply|verification failed))"
            r"|apply_patch verification failed",
        ),
    ),
    "not_found": (
        Phrase(
            "404|enoent|no such |not exist|n't exist|not found|cannot find|could not ",
            r"\b(?:(?:404|enoent)\b|no such (?:file|directory|object|key|entry|container|host)"
            r"|(?:does not|doesn't|do not) exist\b|not found\b|cannot find\b|could not (?:find|be found)\b)",
        ),
    ),
}
"""What tells a category. Each phrase is compiled when it first could match, so most of them in no run."""

_NEEDLES: Final[Mapping[Category, tuple[str, ...]]] = {
    "unknown_tool": ("tool", "function", "unsupported call"),
    "invalid_args": (
        "invalid", "malformed", "bad ", "unexpected", "unrecognized", "illegal", "missing", "required", "validation",
        "schema", "failed", "unable", "could not", "cannot", "json",
    ),
    "unmet": (
        "not been", "not yet", "was not", "were not", "since", "read ", "must ", "connected", "initial", " first",
        " before", "no active", "no open", "no current", "no running", "has not", "have not",
    ),
    "rejected": ("introduc", "would ", "syntax", "rejected", "reverted", "rolled back", "not applied"),
    "quota": ("quota", "limit", "allowance", "credit", "balance", "funds", "reset", "try again", "retry in"),
    "outage": (
        "429", "502", "503", "504", "529", "too many", "limit", "unavailable", "gateway", "temporar", "overloaded",
        "later", "retry after", "connection", "econn", "etimedout", "eai_again", "network", "socket hang", "timeout",
        "time out", "timed", "deadline", "lock", "another ", "packet loss", "unreachable", "host is down", "host down",
        "no response",
    ),
    "auth": (
        "401", "403", "unauthor", "unauthent", "forbidden", "authentic", "logged", "credential", "expired",
        "invalid", "missing", "revoked", "incorrect",
    ),
    "denied": (
        "denied", "not permitted", "rejected", "blocked", "refused", "declined", "disallowed", "want to", "not allowed",
        "approval", "granted",
    ),
    "no_match": (
        "not found", "match", "no replacement", "verbatim", "could not be found", "occurrence", "unique", "to find",
        "patch",
    ),
    "not_found": ("404", "enoent", "no such", "not exist", "n't exist", "not found", "cannot find", "could not"),
}  # fmt: skip
"""What a text must hold for a phrase of a category to match; spares most searches. Their order counts."""

_REASON: Final = Caseless(
    r"read-only file ?system|no space left on device|disk quota exceeded|permission denied|operation not permitted"
    r"|access (?:is )?denied|device or resource busy|\b(?:erofs|enospc|eacces|eperm|edquot|ebusy)\b",
)
_PATH: Final = regex.lazy(r"(?<![\w.])(?:/[\w.@+-]{1,100}){2,20}")


_OBSTACLES: Final = (
    "ead-only file", "o space left", "quota exceeded", "denied", "not permitted", "resource busy", "EROFS", "ENOSPC",
    "EACCES", "EPERM", "EDQUOT", "EBUSY",
)  # fmt: skip
"""What a text must hold for :data:`_REASON` to match."""

_MOST: Final = 12
"""Most bytes of a character in a JSON string: two escapes."""


def may_be_obstacle(source: str | bytes) -> bool:
    """Whether the :func:`excerpt` of a result as recorded may hold a reason of :func:`obstacle_of`; spares decoding."""
    if isinstance(source, bytes):
        if len(source) > _MOST * (HEAD + TAIL) and source[:1] == b'"':
            source = source[: _MOST * HEAD] + source[-_MOST * TAIL :]
        source = as_letters(source)
    return any(map(source.__contains__, _OBSTACLES))


def obstacle_of(text: str, command: str) -> str:
    """What stands in the way of any program: the reason of the system, and the place. Empty where that is not told.

    The place is a path in the error text, else in the command, cut to two folders.
    """
    reason = _REASON.search(text)
    if reason is None:
        return ""
    paths = _PATH.findall(text) or _PATH.findall(command)
    return f"{reason.group().lower()}\0{'/'.join(paths[-1].split('/')[:3])}" if paths else ""


_EMPTY_WORDS: Final = frozenset(
    """
    error failed failure command process shell program exited returned terminated finished completed with exit return
    status code non zero no output empty stdout stderr the and returncode exit_code
    """.split()
)
"""What an error text consists of, beside numbers, that tells no more than a failure and its exit code."""

_WORD: Final = regex.lazy(r"\w+")
_DIGITS: Final = regex.lazy(r"\d+")


class Failure(msgspec.Struct, gc=False):
    """One failure: what identifies it, and where it happened.

    ``plain`` is the error text without noise and arguments. ``names_target`` means that one
    of the call's own arguments stood in it: the answer may then be about that target only.
    ``target`` is what the call was about (a file, an address, an id), ``place`` only the
    host or the id in it.
    """

    category: Category
    plain: str
    names_target: bool
    target: str | None = None
    place: str | None = None


def excerpt(text: str) -> str:
    """The part of an error text that is looked at."""
    if len(text) <= HEAD + TAIL:
        return text
    return f"{text[:HEAD]}\n…\n{text[-TAIL:]}"


def ends_of(raw: bytes) -> str | None:
    """The :func:`excerpt` of a long text from its JSON bytes, decoding both ends only; ``None`` if that is not plain.

    Both pieces are cut at a blank, which is part of no escape and of no other character.
    """
    if len(raw) <= 3 * _PIECE or raw[:1] != b'"' or raw[-1:] != b'"':
        return None
    head_end = raw.rfind(b" ", 1, _PIECE)
    tail_start = raw.find(b" ", len(raw) - _PIECE)
    if head_end < 0 or tail_start < 0:
        return None
    try:
        head = orjson.loads(raw[:head_end] + b'"')
        tail = orjson.loads(b'"' + raw[tail_start:])
    except ValueError:
        return None
    if len(head) < HEAD or len(tail) < TAIL:
        return None
    return f"{head[:HEAD]}\n…\n{tail[-TAIL:]}"


def category_of(text: str) -> Category:
    """The category of an error text: the first in order that a word in it tells."""
    return _category_of(excerpt(text))


@lru_cache(maxsize=64)  # what fails again mostly fails in the same words
def _category_of(text: str) -> Category:
    short = text.lower()
    letters = short if short.isascii() else short.encode("ascii", "replace").decode()  # words are found faster in it
    for name, needles in _NEEDLES.items():
        for needle in needles:
            if needle in letters:
                for phrase in _CATEGORIES[name]:
                    if phrase.may_match(letters) and phrase.pattern.search(short) is not None:
                        return name
                break
    return "other"


_RAISED: Final = regex.lazy(r"^([A-Za-z_][\w.]{0,100}(?:Error|Exception|Interrupt|Warning): \S.*)$", re.MULTILINE)
_ARGUMENT: Final = "<argument>"
_ARGUMENTS: Final = regex.lazy(r"<argument>(?:[/\\]?<argument>)+")


def _is_trace(text: str) -> bool:
    """Whether a text begins as those of errors that tell at their end what they are."""
    return text.startswith(("Traceback", "-" * 20)) or text.lstrip().startswith(("Cell In[", 'File "'))


def _gist(text: str) -> str:
    """The part of an error text that tells what went wrong: of a trace, its last line."""
    short = without_block(excerpt(text))
    if _is_trace(short):
        raised = _RAISED.findall(short)
        if raised:
            return str(raised[-1])
    return short


def ends_in_error(source: str | bytes) -> bool:
    """Whether an answer, as recorded, is the trace of an error, which tells at its end what it is."""
    if isinstance(source, bytes) and "raceback" not in (head := as_letters(source[:_PIECE])) and "ell In" not in head:
        return False
    short = excerpt(decode_text(source) if isinstance(source, bytes) else source)
    return _is_trace(short) and _RAISED.search(short) is not None


class Gist(NamedTuple):
    """The part of an error text that tells what went wrong, and what of the call's arguments it may echo."""

    text: str
    echoes: list[str]


def gist_of(text: str, arguments: Any) -> Gist:
    """What of an error text is compared."""
    gist = _gist(text)
    return Gist(gist, _echoes(gist, arguments))


def plain_of(gist: Gist, arguments: Any) -> tuple[str, str]:
    """An error text without noise and arguments, and the longest of the arguments that stood in it; empty if none."""
    return _without(arguments, gist.echoes, remove_all(gist.text))


def _without(arguments: Any, texts: list[str], plain: str) -> tuple[str, str]:
    """A text without the arguments of a call, and the longest in it. ``texts`` are those of the arguments."""
    named = ""
    for value in texts:
        if value in plain:
            plain = plain.replace(value, _ARGUMENT)
            named = named or value
    if isinstance(arguments, dict):
        for number in arguments.values():
            if type(number) is int and str(number) in plain:
                plain, times = re.subn(rf"(?<![\w.]){number}(?![\w.])", _ARGUMENT, plain)
                named = named or (str(number) if times else "")
    if named:
        plain = _ARGUMENTS.sub(_ARGUMENT, plain)
    return plain, named


def loose(gist: Gist, arguments: Any) -> str:
    """A text that differs between two failures only if they are different ones, whatever their category.

    It is the :func:`lead` of what :func:`plain_of` gives. Most failures differ in it: nothing else is looked at.
    """
    text, texts = gist
    if not any("\n" in value for value in texts):  # else one may stand on two lines
        for line in text.split("\n"):
            plain = _without(arguments, texts, without_noise(line))[0]
            if len(plain) >= LEAD and not plain.startswith(_HEADERS):
                break
        else:
            plain = plain_of(gist, arguments)[0]
    else:
        plain = plain_of(gist, arguments)[0]
    return _DIGITS.sub("0", _one_line(lead(plain)))


def _one_line(text: str) -> str:
    """A text with one blank for all white space between two words."""
    return " ".join(text.split())


def lead(plain: str) -> str:
    """The first phrase of an error text that says more than how the command ended, or all of it if there is none."""
    position = 0
    while position < len(plain):
        end = plain.find("\n", position)
        end = len(plain) if end < 0 else end
        if end - position >= LEAD and not plain.startswith(_HEADERS, position):
            stop = _STOP.search(plain, position + LEAD, end)
            return plain[position : end if stop is None else stop.start()]
        position = end + 1
    return plain


def failure_of(text: str, arguments: Any, gist: Gist | None = None, *, tool: str = "", denied: bool = False) -> Failure:
    """What identifies a failure with this error text of a call of ``tool`` with these arguments."""
    category: Category = "denied" if denied else category_of(text)
    plain, named = plain_of(gist_of(text, arguments) if gist is None else gist, arguments)
    if category in CURELESS:
        # Positions in broken JSON and counts of missing fields vary with the text sent.
        plain = _DIGITS.sub("0", plain)
    if named and nature_of(tool).rewordable and _is_question(arguments, named):
        named = ""  # in other words it would be the same question
    target, place = _target(arguments, tool)
    if target is None and named:
        target = normal_path(named)
    if category in ("no_match", "rejected"):
        plain = lead(plain)  # behind it stands what was sent
    plain = _one_line(plain)
    if category == "other" and _is_empty(plain):
        plain = ""
    return Failure(category, plain, bool(named), target, place)


def _is_empty(plain: str) -> bool:
    """Whether an error text tells no more than that there was a failure, and its exit code."""
    return all(word in _EMPTY_WORDS or word.isdecimal() for word in _WORD.findall(regex.folded(plain)))


MAX_QUOTED: Final = 120
"""Longest argument in characters that an address in an error may hold."""

MAX_ECHOES: Final = 16
"""Most texts of a call's arguments that are looked for in its error."""

MAX_COMMAND: Final = 2000
"""Longest command in characters whose words are looked for in the text of its failure."""

_PLACE_WORD: Final = regex.lazy(r"(?<![^\s'\"=])(?:\./)?((?=[^\s'\"]{0,200}[/.])[\w~@%+:/.-]{4,200})(?![^\s'\";])")
"""A word of a command that names a file or a place."""


def _is_question(arguments: Any, named: str) -> bool:
    """Whether what an error names is a question in words of one's own, and so no thing of which it tells."""
    if not isinstance(arguments, dict):
        return False
    return any(
        isinstance(value, str) and named in (value, quote_plus(value))
        for name, value in arguments.items()
        if name in WORDINGS
    )


def _echoes(gist: str, arguments: Any) -> list[str]:
    if isinstance(arguments, str):
        return [arguments] if 3 <= len(arguments) <= 400 else []
    if not isinstance(arguments, dict):
        return []
    sent = {v for v in arguments.values() if isinstance(v, str) and 3 <= len(v) <= 400}
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, str) and len(command) <= MAX_COMMAND:
        sent.update(_PLACE_WORD.findall(command)[:MAX_ECHOES])
    found = sent.copy()
    for value in sent:
        if "/" in value or "\\" in value:
            tail = value.replace("\\", "/").rstrip("/").rpartition("/")[2]
            if len(tail) >= 3:
                found.add(tail)
    # An address in the error holds a question as addresses spell it. What is spelled otherwise there has one of these.
    if "%" in gist or "+" in gist or len(found) + len(sent) > MAX_ECHOES:
        found.update(quote_plus(value) for value in sent if len(value) <= MAX_QUOTED)
    if len(found) > MAX_ECHOES:
        found = set(sorted(found, key=_longest_first)[:MAX_ECHOES])
    if _ARGUMENT not in gist:
        found = {v for v in found if v in gist or v in _NAMES or "<" in v or ">" in v}
    return sorted(found, key=_longest_first) if len(found) > 1 else list(found)


def _longest_first(value: str) -> tuple[int, str]:
    return -len(value), value


_NAMES: Final = "\0".join((*PATTERNS, "argument"))
"""What stands between ``<`` and ``>`` in a text without noise and arguments, and not in the text itself."""


_PLACES: Final = (
    "url",
    "uri",
    "host",
    "hostname",
    "address",
    "ip",
    "server",
    "device",
    "endpoint",
    "id",
    "name",
    "number",
)
_LOCATORS: Final = frozenset({"selector", "locator", "xpath", "css", "css_selector", "query_selector"})
"""Arguments that tell how something on a page is found: in other words they may mean the same thing."""

ON_THE_PAGE: Final = "\0on the page"
"""The target of a call that looks for something on the page that is open."""

_CODE: Final = regex.lazy(r"\s*[\w.]{1,60}\(\s*(?:\w{1,30} ?= ?)?['\"]([^'\"\n]{1,300})['\"]")
"""A function call with a text as its first argument."""

_POINTS: Final = Caseless(r"click|tap|press|hover|input|select|scroll|drag|element")
"""What the names of tools hold that point at something on a page."""

_POINTERS: Final = frozenset(
    {"element", "ref", "index", "coordinate", "coordinates", "element_index", "element_id", "mark", "uid", "x"}
)
"""Arguments that point at it, by numbers or names that may serve for other things."""


def _target(arguments: Any, tool: str) -> tuple[str | None, str | None]:
    """What the arguments of a call are about, and the host or the id in it."""
    if isinstance(arguments, str):
        return "\0".join(patched_paths(arguments)) or None, None
    if not isinstance(arguments, dict):
        return None, None
    path = path_of(arguments)
    if path is None:
        for name in PATCHES:
            patch = arguments.get(name)
            if isinstance(patch, list) and patch:
                patch = patch[-1]
            if isinstance(patch, str) and (paths := patched_paths(patch)):
                return "\0".join(paths), None
    if path is not None and "://" not in path:
        return path, None
    if path is None and isinstance(code := arguments.get("code", arguments.get("command")), str):
        called = code.find("(")
        match = _CODE.match(code) if called > 0 and (code[called - 1].isalnum() or code[called - 1] in "_.") else None
        if match is not None:
            return match.group(1), None
    if path is None and (
        not _LOCATORS.isdisjoint(arguments)
        or (not _POINTERS.isdisjoint(arguments) and _POINTS.search(tool) is not None)
    ):
        return ON_THE_PAGE, None
    names = [n for n in _PLACES if n in arguments] or [n for n in arguments if n.endswith(("_id", "Id", "_name"))]
    for name in names:
        value = arguments[name]
        if isinstance(value, (str, int)):
            text = str(value)
            return text, host_of(text) or text
    return path, None


def same_failure(failure: Failure, earlier: Failure, *, same_tool: bool = True) -> bool:
    """Whether a failure with other arguments tells what an earlier one told.

    What retrying cannot cure is the same whatever it is about. That something was not found,
    or an error that names an argument, is the same only for one target. Any other failure is
    the same, unless one tool met it at different hosts or ids.
    """
    if failure.category != earlier.category or failure.plain != earlier.plain or not failure.plain:
        return False  # an exit code alone does not say what failed
    if failure.category in CURELESS:
        return True
    if failure.category in ("unmet", "rejected"):
        return failure.target == earlier.target
    if failure.category in ("not_found", "no_match") or failure.names_target:
        return failure.target is not None and failure.target == earlier.target
    return failure.place == earlier.place or not same_tool
