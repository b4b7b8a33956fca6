"""Named noise: what may differ between two results that tell the same.

Noise is removed only when the same call was seen before and its results differ, and only in
the lines that differ. Each kind of noise has a name, so that a report can say what was left
out. All other numbers stay: ``step 3/9`` and ``step 4/9`` are progress, and so are the
numbers of jobs, tasks, items and bytes.

The expressions are linear: no repetition holds another one over the same characters, and
every open-ended one is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal

import orjson

from loopaudit.core import regex
from loopaudit.core.prefix import common_prefix
from loopaudit.core.regex import Phrase

MAX_LINES: Final = 200
"""Differing lines that are compared, at most; with more the results count as different."""

MAX_SPAN: Final = 8192
"""Longest differing part of a line in characters from which noise is removed."""

CONTEXT: Final = 80
"""Characters of equal text kept before and behind the differing part of a long line."""

_MONTH: Final = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_UNIT: Final = (
    "(?:ns|µs|us|ms|msecs?|milliseconds?|microseconds?|nanoseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)"
)
_IS: Final = r"[\"']?[ ]?[:=#]?[ ]?"
"""What stands between the name of a value and the value: ``: ``, ``=``, ``": ``, a blank."""

_PHRASES: Final[Mapping[str, tuple[Phrase, ...]]] = {
    # 2031-05-01T10:20:30.123Z · May  1 10:20:30 2031 · Thu, 01 May 2031 10:20:30 GMT · 10:20:30,123
    "timestamp": (
        Phrase(
            "-|/|.",
            r"\b\d{4}[-/.]\d\d[-/.]\d\d(?:[t ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?"
            r"(?: ?(?:z|utc|gmt|[+-]\d\d:?\d\d)\b)?",
        ),
        Phrase(
            "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
            rf"\b(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{{0,6}},? )?(?:\d{{1,2}} {_MONTH}|{_MONTH} {{1,2}}\d{{1,2}})"
            r"(?:,? \d{4})?,? \d\d:\d\d(?::\d\d)?(?: (?:[a-z]{3,4}|[+-]\d{4})\b)?(?: \d{4}\b)?",
        ),
        Phrase(":", r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?[ap]m\b)?"),
        Phrase(
            "ts|time|epoch|date|now|created|served|generated",
            rf"\b(?:ts|time|timestamp|epoch|date|now|(?:created|updated|served|generated)(?:_at)?){_IS}\d{{10,19}}\b",
        ),
    ),
    # 0.42s · 12 ms · 1m 3.5s · real 0m1.204s · Duration: 3.1
    "duration": (
        Phrase(
            "duration|elapsed|latency|took|time",
            r"\b(?:duration|elapsed|latency|took|(?:wall|run|total|response|query)?[_ ]?time)"
            rf"(?:[_ ]?(?:ms|seconds|secs?|s))?{_IS}\d{{1,12}}(?:\.\d{{1,12}})?(?: ?{_UNIT})?\b(?!:\d\d)",
        ),
        Phrase(
            "age_ms|age ms|agems|age_sec|age sec|agesec|age_min|age min|agemin|age_for|age for|agefor"
            "|idle|uptime|waited|waiting|queued",
            r"\b(?:age|idle|uptime|waited|waiting|queued)(?:[_ ]?for)?[_ ]?"
            r"(?:ms|seconds|secs?|minutes|mins?)"
            rf"{_IS}\d{{1,12}}(?:\.\d{{1,12}})?\b",
        ),
        Phrase(
            "n|u|m|s|h",
            rf"\b\d{{1,6}}m\d{{1,6}}(?:\.\d{{1,9}})?s\b|\b\d{{1,12}}(?:[.,]\d{{1,12}})? ?{_UNIT}\b",
        ),
    ),
    "pid": (
        Phrase(
            "pid|process|tid|thread_id|thread id",
            rf"\b(?:p?pid|process[_ ]id|tid|thread[_ ]id){_IS}\d{{1,10}}\b|\bprocess{_IS}\d{{3,10}}\b",
        ),
        Phrase("] ", r"\[\d{1,3}\] \d{2,8}\b"),
    ),
    "session": (
        Phrase(
            "session|terminal|shell|sandbox|container|connection",
            rf"\b(?:session|terminal|shell|sandbox|container|connection)(?:[_ -]?(?:name|id))?{_IS}[\"']?"
            r"(?:[a-z]{2,16}-[a-z]{2,16}(?:-[a-z0-9]{1,16})?|[a-z]{0,8}[_-]?(?=[0-9a-f]{0,31}\d)[0-9a-f]{6,40}|\d{1,12})\b",
        ),
    ),
    "counter": (
        Phrase(
            "attempt|retry|retries|tries|try",
            rf"\b(?:attempts?|retry|retries|tries|try)(?:[_ ](?:no\.?|number|count))?{_IS}\d{{1,9}}"
            r"(?: ?(?:/|of) ?\d{1,9})?\b",
        ),
        Phrase(
            "request|call|invocation",
            rf"\b(?:request|call|invocation)s?[_ ](?:no\.?|number|count){_IS}\d{{1,9}}\b",
        ),
        Phrase(
            " times",
            r"\b(?:called|repeated|tried|attempted|seen|run|ran|made|issued)\b[^\n\d]{0,40}"
            r"\d{1,9} (?:consecutive )?times\b",
        ),
        Phrase(
            "thoughts|number|history", rf"\b(?:thought|total)[_ ]?(?:thoughts|number|history_?length){_IS}\d{{1,9}}\b"
        ),
        Phrase("st |nd |rd |th ", r"\b\d{1,9}(?:st|nd|rd|th) (?:attempt|retry|try|time|call|request)\b"),
        Phrase(" tool use| tool call", r"\(\d{1,9} tool (?:uses?|calls?)\b[^()\n]{0,60}\)"),
        Phrase(
            " left| remaining| used| made| so far| ago",
            r"\b\d{1,9} (?:more )?(?:attempts?|retries|tries|calls?|requests?|tokens?) "
            r"(?:left|remaining|used|made|so far|ago)\b",
        ),
        Phrase(
            "left|remaining|used|made",
            r"\b(?:attempts?|retries|calls?|requests?|tokens?|quota|rate[_ ]?limit)[_ ]"
            rf"(?:left|remaining|used|made){_IS}\d{{1,12}}\b",
        ),
    ),
    # "usage": {"prompt_tokens": 812, "completion_tokens": 5} · "cost_usd": 0.0031
    "usage": (
        Phrase(
            "tokens",
            r"\b(?:prompt|completion|input|output|total|cached?|reasoning|(?:cache_(?:read|creation)_)?input)_?tokens"
            rf"(?:_used|_count)?{_IS}\d{{1,9}}\b|\btokens_used{_IS}\d{{1,9}}\b",
        ),
        Phrase("cost_", rf"\bcost_(?:usd|eur|cents){_IS}\d{{1,9}}(?:\.\d{{1,12}})?\b"),
    ),
    "attempt": (
        Phrase(
            "versuch|tentativ|intento|essai|попытка",
            rf"\b(?:versuch|tentativ[aeo]|intento|essai|попытка){_IS}(?:(?:nr|no|n)[.º°]? ?)?\d{{1,9}}"
            r"(?: ?(?:/|von|sur|de|di) ?\d{1,9})?\b",
        ),
        Phrase("第", r"第 ?\d{1,9} ?(?:次|回)(?:目の)?(?:尝试|重试|試行|リトライ)"),
    ),
    "temporary path": (
        Phrase(
            "/tmp/|/var/folders/|/dev/shm/",
            r"(?:/private)?(?:/var/tmp|/tmp|/var/folders|/dev/shm)/[^\s\"':;,)\]]{1,200}",
        ),
        Phrase("saved to: ", r"(?<=saved to: )[^\n]{1,300}"),
        Phrase("/tool-results/", r"/tool-results/[^\s\"':;,)\]]{1,200}"),
        Phrase(
            "screen|capture|shot|frame",
            r"\b(?:screenshot|screen|capture|shot|snapshot|frame)[_-]?[\d_-]{1,32}\.(?:png|jpe?g|webp|html|txt|json)\b",
        ),
        Phrase("\\temp\\", r"\b[a-z]:\\[^\s\"':;,)]{0,100}\\temp\\[^\s\"':;,)]{1,100}"),
        Phrase("tmp", r"\btmp[._-]?(?=[a-z_]{0,15}\d)[a-z0-9_]{6,16}\b"),
    ),
    "request id": (
        Phrase(
            "req|trace|span|correlation|transaction|message|msg|event|response|log|ray|nonce|random|uid|etag",
            r"\b(?:x-)?(?:request|req|trace|span|correlation|transaction|message|msg|event|response|log|ray|nonce"
            r"|random|uid|uuid|etag)"
            rf"(?:[_ -]?(?:id|key))?{_IS}[\"']?(?=[a-z_-]{{0,63}}[0-9])[a-z0-9_-]{{8,64}}\b",
        ),
        Phrase(
            "id=|id:|id\"|id'|id ",
            r"\bid=?[\"']?[ ]?[:=][ ]?[\"'](?=[g-z_-]{0,31}[0-9a-f])[0-9a-f]{12,64}\b",
        ),
        Phrase("-id:|-id=", r"\b(?:x-)?(?:request|trace|correlation)-id[:=] ?[\w-]{1,64}"),
        Phrase("-", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
        Phrase("chunk", r"\bchunk[_ ]id[:=] ?[0-9a-f]{4,32}\b"),
        Phrase(
            "req_|msg_|trace_|call_|chatcmpl_|resp_|evt_",
            r"\b(?:req|msg|trace|call|chatcmpl|resp|evt)_[a-z0-9]{6,64}\b",
        ),
    ),
    # Dropped refs/stash@{0} (2b3c…) · Saved working directory and index state WIP on main: 2b3c4d5 Message
    "stash": (
        Phrase("stash@", r"\bdropped refs/stash@\{\d{1,4}\} \([0-9a-f]{7,40}\)"),
        Phrase("index state wip", r"\bsaved working directory and index state wip on [^\s:]{1,100}: [0-9a-f]{7,40}\b"),
    ),
    "address": (Phrase("0x", r"\b0x[0-9a-f]{5,16}\b"),),
    # uid=12_3 · [ref=e47] · "ref": "s2e14" · "backendNodeId": 812
    "element reference": (
        Phrase(
            "uid=|ref=|ref_|mmid=",
            r"\buid=\d{1,6}_\d{1,6}\b|\b(?:aria-?)?ref=\"?(?:f\d{1,4})?(?:s\d{1,4})?e?\d{1,6}\b"
            r"|\bref_\d{1,6}\b|\bmmid=\"?\d{1,6}\b",
        ),
        Phrase('"ref":', r"\"ref\": ?\"(?:f\d{1,4})?(?:s\d{1,4})?e\d{1,6}\""),
        Phrase("nodeid", r"\bbackend_?nodeid\"?[:=] ?\d{1,9}\b"),
    ),
    # Console: 1 errors, 2 warnings · (8110 visits)
    "page counter": (
        Phrase("console", r"\bconsole(?: messages)?: \d{1,6} errors?, \d{1,6} warnings?"),
        Phrase(
            "views|visit|reads|vistas|visual|acessos|aufrufe|besuche|vues|lectures|weergaven|visningar|odsłon|просмотр",
            r"[(\u00b7|\u2022\u2013\u2014] ?\d{1,3}(?:[.,]?\d{3}){0,3} (?:page ?)?(?:views|visits|visitors|reads"
            r"|visitas|vistas|visualizaciones|visualizações|acessos|aufrufe|besuche|besucher|vues|visites|lectures|visite"
            r"|visualizzazioni|weergaven|visningar|odsłony?|просмотр(?:ов|а)?)\b",
        ),
        Phrase("浏览|阅读|访问", r"(?:浏览|阅读|访问)(?:量|次数)?[:：]? ?\d{1,9}"),
        Phrase("次浏览|次阅读|次访问|回視聴|回表示", r"\d{1,9} ?(?:次浏览|次阅读|次访问|回視聴|回表示)"),
    ),
}
"""What each kind of noise looks like, in lower case. Few phrases can stand in one line; only these are compiled."""

PATTERNS: Final[Mapping[str, str]] = {
    name: "|".join(phrase.pattern.pattern for phrase in phrases) for name, phrases in _PHRASES.items()
}
"""Regular expressions by the name of the noise; case does not matter."""

_ORDER: Final = (
    "stash", "timestamp", "request id", "temporary path", "address", "element reference", "counter", "usage",
    "page counter", "attempt", "pid", "session", "duration",
)  # fmt: skip


_NEEDLES: Final[Mapping[str, tuple[str, ...]]] = {
    "request id": (
        "req", "trace", "span", "correlation", "transaction", "message", "msg", "event", "resp", "log", "ray", "nonce",
        "random", "uid", "etag", "chunk", "call_", "chatcmpl_", "evt_",
    ),
    "temporary path": (
        "tmp", "/var/folders/", "/dev/shm/", "saved to: ", "/tool-results/", "screen",
        "capture", "shot", "frame", "\\temp\\",
    ),
    "address": ("0x",),
    "element reference": ("uid=", "ref=", "ref_", "mmid=", "\"ref\":", "nodeid"),
    "page counter": (
        "console", " visit", " view", " reads", " vist", " visual", " acess", " aufruf", " besuch", " vue", " lect",
        " weerg", " visning", " ods",
    ),
    "stash": ("stash@", "index state wip"),
    "counter": ("tool use", "attempt", "retr", "try", "tries", "request", "call", "invocation", "time", "thought"),
    "usage": ("tokens", "cost_"),
    "attempt": ("versuch", "tentativ", "intento", "essai"),
    "pid": ("pid", "process", "tid", "thread_id", "thread id"),
    "session": ("session", "terminal", "shell", "sandbox", "container", "connection"),
    "duration": ("idle", "uptime", "wait", "queued", "age_", "duration", "elapsed", "latency", "took", "time"),
}  # fmt: skip
"""What a line in lower case must hold for a kind of noise; one of them, or one of the shapes below."""

_NO_NOISE: Final = frozenset[str]()

_TIME_SHAPE: Final = regex.lazy(r"\d\d[-/.:]\d\d")
_LONG_NUMBER: Final = regex.lazy(r"\d{10}")
_CLOCKS: Final = ("ts", "time", "epoch", "date", "now", "created", "served", "generated")
_DIGIT: Final = regex.lazy(r"\d")
_NUMBER_SHAPE: Final = regex.lazy(r"\d ?[numsh\xb5]")
_ID_SHAPE: Final = regex.lazy(r"\d(?:[a-z0-9_-]{4}|(?<=[a-z0-9_-]{5}))")
"""A digit with four more characters of an id on one side, as it has in each of eight and more."""

_ID_WORDS: Final = ("-id", "k id", "k_id", "req_", "msg_", "trace_", "call_", "chatcmpl_", "resp_", "evt_")
"""How the request ids are marked that may have no digit."""

_WITHOUT_DIGITS: Final = ("request id", "temporary path", "session")
"""The kinds of noise that may hold no digit."""

_JOB_SHAPE: Final = regex.lazy(r"\[\d{1,3}\] \d")
_HEX_SHAPE: Final = regex.lazy(r"[0-9a-f]{12}")
_COUNTED_PAGES: Final = ("浏", "阅", "访", "視", "表示", "просмотр")
"""What a line in another script holds that counts who has seen a page."""

_FOLDED: Final = ("\u017f", "\u0130", "\u0131")
"""Letters that match ``s`` and ``i`` where case does not matter, but have another lower case."""

_FOLDED_ELSEWHERE: Final = dict(zip((0x3BC, 0x39C, *range(0x1C80, 0x1C87)), "\xb5\xb5вдосттъ", strict=True))
"""Letters that so match ``µ`` and Cyrillic ones, and these."""


def folds_oddly(text: str) -> bool:
    """Whether a search in the lower case of a text may miss what one without case finds."""
    return any(letter in text for letter in _FOLDED)


def _shaped(name: str, line: str, low: str) -> bool:
    """Whether a line has the shape of a kind of noise that no word of :data:`_NEEDLES` tells."""
    if name == "timestamp":
        if ("-" in low or ":" in low or "/" in low or "." in low) and _TIME_SHAPE.search(line) is not None:
            return True
        return any(word in low for word in _CLOCKS) and _LONG_NUMBER.search(line) is not None
    if name == "request id":
        return ("-" in low or "id" in low) and _HEX_SHAPE.search(low) is not None
    if name == "counter":
        counted = "token" in low or "quota" in low or "limit" in low
        return counted and any(word in low for word in ("left", "remaining", "used", "made", "so far", "ago"))
    if name == "attempt":
        return not line.isascii() and ("第" in line or "попытк" in line.lower())
    if name == "page counter":
        return not line.isascii() and any(word in line.lower() for word in _COUNTED_PAGES)
    if name == "pid":
        return _JOB_SHAPE.search(line) is not None
    if name == "duration":
        return _NUMBER_SHAPE.search(low if line.isascii() else line.lower().replace("\u03bc", "\xb5")) is not None
    return False


_SHAPED: Final = frozenset({"timestamp", "request id", "counter", "attempt", "page counter", "pid", "duration"})
_KINDS: Final = tuple((name, _NEEDLES.get(name, ()), name in _SHAPED) for name in _ORDER)
_KINDS_WITHOUT_DIGITS: Final = tuple(kind for kind in _KINDS if kind[0] in _WITHOUT_DIGITS)
"""The kinds of noise in their order, their needles, and whether they may have a shape without one."""


def _possible(line: str) -> list[str]:
    """The kinds of noise that a line may hold, in their order; spares most searches."""
    low = line.lower()
    if not low.isascii():
        if folds_oddly(line):
            return list(_ORDER)
        low = low.encode("ascii", "replace").decode()  # the words below are found faster in it
    found = []
    for name, needles, shaped in _KINDS if _DIGIT.search(line) is not None else _KINDS_WITHOUT_DIGITS:
        for needle in needles:
            if needle in low:
                if name != "request id" or _may_hold_id(low) or _shaped(name, line, low):
                    found.append(name)
                break
        else:
            if shaped and _shaped(name, line, low):
                found.append(name)
    return found


def _may_hold_id(low: str) -> bool:
    """Whether a line may hold a value that is long enough for a request id, or one that is marked as such."""
    return _ID_SHAPE.search(low) is not None or any(word in low for word in _ID_WORDS)


def remove(line: str, names: set[str]) -> str:
    """A line with each piece of noise replaced by its name; the names are added to ``names``.

    The leftmost piece counts, and of several at one place the first kind in order.
    """
    plain, found = _removed(line)
    names |= found
    return plain


@lru_cache(maxsize=256)  # the error texts of one tool have most of their lines in common
def without_noise(line: str) -> str:
    """A line with each piece of noise replaced by its name."""
    return _removed_by_search(line)[0]


def remove_all(text: str) -> str:
    """A short text with each piece of noise replaced by its name; no piece goes beyond its line."""
    return "\n".join([without_noise(line) for line in text.split("\n")])


_COMMON: Final = regex.lazy(
    r"(Wall time: \d{1,6}\.\d{1,12} seconds)|(Chunk ID: [0-9a-f]{4,32})|Original token count: \d{1,9}", re.ASCII
)
"""Lines before every result of an agent with many users: a duration and a request id as a whole, and no noise.

They alone are most of the lines that noise is looked for in. Whatever else is changed here, :func:`remove` has to
give the same without this.
"""


@lru_cache(maxsize=64)  # a result is compared with those before it, and then the next one with it
def _removed(line: str) -> tuple[str, frozenset[str]]:
    common = _COMMON.fullmatch(line)
    if common is not None:
        if common.lastindex is None:
            return line, _NO_NOISE
        name = "duration" if common.lastindex == 1 else "request id"
        return (f"<{name}>", frozenset({name}))
    return _removed_by_search(line)


def _removed_by_search(line: str) -> tuple[str, frozenset[str]]:
    # Without regard to case a search takes two to four times as long.
    low = line.lower() if line.isascii() else regex.folded(line.translate(_FOLDED_ELSEWHERE))
    ahead: list[tuple[str, re.Pattern[str], re.Match[str]]] = []
    for name in _possible(line):
        for phrase in _PHRASES[name]:
            match = phrase.search(low)
            if match is not None:
                ahead.append((name, phrase.pattern, match))
    if not ahead:
        return line, _NO_NOISE
    names = set()
    pieces: list[str] = []
    position = 0
    while ahead:
        name, _, match = min(ahead, key=lambda found: found[2].start())  # the first of equals
        names.add(name)
        pieces += (line[position : match.start()], "<", name, ">")
        position = match.end()
        ahead = [
            (kind, pattern, later)
            for kind, pattern, found in ahead
            if (later := found if found.start() >= position else pattern.search(low, position)) is not None
        ]
    pieces.append(line[position:])
    return "".join(pieces), frozenset(names)


def same_but_for_noise(one: str, other: str) -> tuple[str, ...] | None:
    """The names of the noise in which two different texts differ, or ``None``.

    ``None`` means that they differ in more than noise: in the number of lines, in anything
    that is no known noise, or in too much to look at.
    """
    if _line_feeds(one) != _line_feeds(other):
        return None
    left = _lines(one)
    right = _lines(other)
    names: set[str] = set()
    differing = 0
    for line, counterpart in zip(left, right, strict=True):
        if line == counterpart:
            continue
        differing += 1
        if differing > MAX_LINES:
            return None
        if not alike_lines(line, counterpart, names):
            return None
    return tuple(sorted(names))


_HEADER: Final = regex.lazy(
    rb'"(Chunk ID: [0-9a-f]{4,32})\\n(Wall time: \d{1,6}\.\d{1,12} seconds)\\n'
    rb"(?:(Process [^\\\"]{1,64})\\n)?(?:(Original token count: \d{1,9})\\n)?"
)
"""These lines as JSON bytes, where results begin with them."""


def same_behind_header(one: bytes, other: bytes) -> tuple[str, ...] | Literal[False] | None:
    """The names of the noise in which the headers of two results differ, if nothing else does.

    ``False`` where they count other tokens, which is no noise; ``None`` where more has to be looked at. Most polls and
    commands of one agent with many users are told apart in that way, and need not be decoded.
    """
    if not (one.startswith(b'"Chunk ID: ') and other.startswith(b'"Chunk ID: ')):
        return None
    head, counterpart = _HEADER.match(one), _HEADER.match(other)
    if head is None or counterpart is None or head[3] != counterpart[3]:
        return None
    if head[4] != counterpart[4]:
        return None if head[4] is None or counterpart[4] is None else False
    if one[head.end() :] != other[counterpart.end() :]:
        return None
    names = [name for group, name in ((2, "duration"), (1, "request id")) if head[group] != counterpart[group]]
    return tuple(names)


def alike_lines(line: str, counterpart: str, names: set[str]) -> bool:
    """Whether two different lines differ in noise only, whose names are added to ``names``."""
    a, b = _differing_part(line, counterpart)
    if len(a) > MAX_SPAN or len(b) > MAX_SPAN:
        return False
    plain, found = _removed(a)
    if not found and "<" not in a:
        return False  # the other one differs as it is, and with noise removed it has a sign that this one has not
    names |= found
    return plain == remove(b, names)


def _line_feeds(text: str) -> int:
    """How many line feeds stand between the :func:`_lines` of a text."""
    count = text.count("\n")
    return count if count >= 8 else count + text.count("\\n")


def _lines(text: str) -> list[str]:
    """The lines of a text, and of the texts inside a JSON document on one line."""
    if "\\n" in text and text.count("\n") < 8:
        text = text.replace("\\n", "\n")
    return text.split("\n")


def _differing_part(one: str, other: str) -> tuple[str, str]:
    """Two lines; long ones without their common beginning and end, save some context."""
    if len(one) <= 2 * CONTEXT or len(other) <= 2 * CONTEXT:
        return one, other
    shorter = min(len(one), len(other))
    start = max(common_prefix(one, other) - CONTEXT, 0)
    behind = max(common_prefix(one[::-1], other[::-1]) - CONTEXT, 0)
    behind = min(behind, shorter - start)
    return one[start : len(one) - behind], other[start : len(other) - behind]


MAX_LINE: Final = 1024
"""Longest line in bytes that is looked at."""


MAX_LOOKED: Final = 4
"""Lines that are looked at, from the first difference on."""


_FEED: Final = b"\\n"
"""A line feed in JSON text."""


def begins_otherwise(one: bytes, other: bytes) -> bool:
    """Whether two different texts, as JSON bytes, differ in more than noise already in their first lines.

    Most texts that differ can be distinguished by that, without decoding, counting and splitting
    all of them. ``False`` proves nothing.
    """
    if one[:1] != b'"' or other[:1] != b'"':
        return False
    here = at = one.rfind(_FEED, 0, first_difference(one, other)) + 2
    if _odd(one, 0, at):
        return False
    for _ in range(MAX_LOOKED):
        end, behind = one.find(_FEED, at), other.find(_FEED, here)
        last = end < 0 or behind < 0
        end = len(one) - 1 if end < 0 else end
        behind = len(other) - 1 if behind < 0 else behind
        if max(end - at, behind - here) > MAX_LINE or _odd(one, at, end + 2) or _odd(other, here, behind + 2):
            return False
        line, counterpart = one[at:end], other[here:behind]
        if line != counterpart:
            if not _may_be_alike(line, counterpart):
                return True
            if one[end:] == other[behind:]:
                return False
        if last:
            return False
        at, here = end + 2, behind + 2
    return False


def _odd(raw: bytes, start: int, end: int) -> bool:
    """Whether it is hard to see where lines end: a backslash before an ``n``, or one or a line feed spelled in hex."""
    # Not ``in``, which in Python 3.11 first makes an error of what is no number.
    return any(raw.find(spelled, start, end) >= 0 for spelled in (b"\\\\n", b"\\u000", b"\\u005"))


def _may_be_alike(raw: bytes, counterpart: bytes) -> bool:
    """Whether two different lines of JSON text may differ in noise only."""
    try:
        line, now = orjson.loads(b'"%b"' % raw), orjson.loads(b'"%b"' % counterpart)
    except ValueError:
        return True
    return line == now or alike_lines(line, now, set())


def first_difference(one: bytes, other: bytes) -> int:
    """The place from 0 where two different byte strings differ first, or the length of a shorter one."""
    limit = min(len(one), len(other))
    low, step = 0, 32
    while low < limit and one[low : low + step] == other[low : low + step]:
        low += step
        step *= 4
    if low >= limit:
        return limit
    high = min(low + step, limit)
    return low + common_prefix(one[low:high], other[low:high])
