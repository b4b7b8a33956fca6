"""Masks what has the shape of a known secret: keys, tokens, passwords in assignments, URLs and commands.

A shape is recognised by what stands in front of it or by its first letters, never by how random it
looks, so hashes and ids stay readable. All patterns are bounded: no part of one repeats without a limit or can
match the same text in two ways, so the time grows with the text alone. What is masked shows as
:data:`MASK`; masking again changes nothing.
"""

from __future__ import annotations

import re
from typing import Final

from loopaudit.core import regex
from loopaudit.core.regex import Phrase

MASK: Final = "[masked]"

_TOKENS: Final = Phrase(
    "sk-|sk_|rk_|pk_|whsec_|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-|glagent-"
    "|xox|xapp-|AKIA|ASIA|AIDA|AROA|ABIA|ACCA|AIza|ya29.|GOCSPX-|hf_|api_org_|npm_|pypi-|gsk_|r8_|tgp_v1_|fal_|lin_api_"
    "|lin_oauth_|ntn_|figd_|dckr_pat_|dop_v1_|doo_v1_|dor_v1_|shpat_|shpca_|shppa_|shpss_|sbp_|re_|pat_|nfp_|rnd_|vcp_"
    "|cfut_|CFPAT_|PMAK|ops_|glsa_|lsv2_pt_|lsv2_sk_|phc_|phx_|sntrys_|sntryu_|pplx|tvly|xai|nvapi|fw|csk|dapi|ATATT3x"
    "|AGE-SECRET-KEY|hvs.|hvb.|SG.|:AA|eyJ",
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{8,400}"  # OpenAI, Anthropic, OpenRouter and others
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8,400}|whsec_[A-Za-z0-9+/=]{8,400}"  # Stripe
    r"|(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{8,400}|github_pat_[A-Za-z0-9_]{8,400}"
    r"|gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_.-]{8,400}"  # GitLab
    r"|xox[abeoprs]-[A-Za-z0-9-]{8,400}|xapp-[A-Za-z0-9-]{8,400}"  # Slack
    r"|(?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{8,128}"  # AWS
    r"|AIza[A-Za-z0-9_-]{16,400}|ya29\.[A-Za-z0-9_-]{8,400}|GOCSPX-[A-Za-z0-9_-]{8,400}"  # Google
    r"|(?:hf|api_org)_[A-Za-z0-9]{12,400}|npm_[A-Za-z0-9]{12,400}|pypi-[A-Za-z0-9_-]{16,400}"
    r"|(?:gsk|r8|tgp_v1|fal|lin_api|lin_oauth|ntn|figd|dckr_pat|dop_v1|doo_v1|dor_v1|shpat|shpca|shppa|shpss|sbp|re|pat"
    r"|nfp|rnd|vcp|cfut|CFPAT|PMAK|ops|glsa|lsv2_pt|lsv2_sk|phc|phx|sntrys|sntryu)_[A-Za-z0-9_=.-]{16,400}"
    r"|(?:pplx|tvly|xai|nvapi|fw|csk|PMAK|dapi|ATATT3x|AGE-SECRET-KEY|hvs\.|hvb\.|SG\.)[A-Za-z0-9_.=-]{16,400}"
    r"|[0-9]{6,12}:AA[A-Za-z0-9_-]{20,60}"  # Telegram
    r"|eyJ[A-Za-z0-9_-]{8,8000}(?:\.[A-Za-z0-9_-]{0,8000}){1,4}"  # JWT, JWE
    r")",
)

_LONG: Final = regex.lazy(r"[A-Za-z0-9_.=+/:-]{11,}")
"""Whatever is one of these is part of one: few texts hold many, and looking for all their beginnings takes long."""

_KEYWORD: Final = (
    r"(?:pass(?:word|wd|phrase|code)|(?<![A-Za-z])pass|pwd|secret|token|api[_.-]?key|access[_.-]?key|private[_.-]?key"
    r"|account[_.-]?key|signing[_.-]?key|encryption[_.-]?key|credentials?|auth[_.-]?key|(?<![A-Za-z])(?:signature|sig)"
    r"|sessionid|session[_.-]?(?:id|key|cookie)|connection[_.-]?string)"
)
_QUOTE: Final = r"\\{0,3}[\"'`]"
_REFERENCE: Final = (
    r"(?!\[masked\]|\$[A-Za-z_{(]|\{\{|<|%[A-Za-z_]|os\.|process\.|getenv|env[.(\[]|None\b|null\b|undefined\b|true\b"
    r"|false\b|string\b|str\b)"
)
"""What stands in an assignment and is no secret: a variable, a placeholder, a type."""

_ASSIGNED: Final = Phrase(
    "pass|pwd|secret|token|key|credential|sig|session|connection",
    rf"(?i)({_KEYWORD}(?!s\b|s[\"'_])(?:[_.-][A-Za-z0-9_.-]{{0,40}}|[0-9]{{0,3}})?(?:{_QUOTE})?"
    rf"[ \t]{{0,8}}(?>=>|:=|[=:])[ \t]{{0,8}}+(?:[bru]{{0,2}}(?={_QUOTE}))?)"
    rf"(?:({_QUOTE}){_REFERENCE}([^\"'`\\\n]{{1,4000}})|{_REFERENCE}([^\s\"'`\\,;&|(){{}}<>\[\]]{{1,4000}}))",
)
_MAY_BE_ASSIGNED: Final = regex.lazy(rf"(?:{'|'.join(_ASSIGNED.words)})[\w.\\\"'` \t-]{{0,64}}[:=]")
"""What a text in lower case holds that matches: a word of it, and a sign of assignment not far behind."""

_NAMED: Final = regex.lazy(
    "pass|pwd|secret|token|a(?:pi|ccess|ccount|uth)|private|sig|encryption|credential|session|connection"
)
"""How the names of secrets begin in lower case."""

_COUNTED: Final = regex.lazy(r"(?i)^(?:token|pass|pwd)[_.-]?(?:count|limit|usage|type|budget|ids?\b)")

_OPTION: Final = Phrase(
    "-pass|-secret|-token|-api|-access",
    r"(?i)(--?(?:[a-z0-9-]{0,24}-)?(?:password|passwd|passphrase|pass|secret|token|api-?key|access-?key|secret-key)"
    rf"[ \t]{{1,4}})(?:({_QUOTE}){_REFERENCE}([^\"'`\\\n]{{1,4000}})|{_REFERENCE}(?!-)([^\s\"'`\\,;&|()<>]{{1,4000}}))",
)
_BASIC: Final = Phrase(
    "-u",
    rf"((?<![A-Za-z0-9-])(?:-u|--user|--proxy-user)[ \t=]{{0,4}}(?:{_QUOTE})?[^\s:\"'`\\]{{1,64}}:)"
    r"([^\s\"'`\\]{1,400})",
)
_IDENTIFIED: Final = Phrase(
    "identified", rf"(?i)(identified[ \t]{{1,4}}by[ \t]{{1,4}}(?:password[ \t]{{1,4}})?{_QUOTE})([^\"'`\\\n]{{1,400}})"
)
_HEADER: Final = Phrase(
    "authorization|cookie",
    rf"(?i)((?:authorization|(?:set-)?cookie)(?:{_QUOTE})?[ \t]{{0,4}}[:=][ \t]{{0,4}}(?:{_QUOTE})?"
    r"(?:(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,4}+)?+)(?!\[masked\])([^\s\"'`\\][^\"'`\\\r\n]{0,4000})",
)
_BEARER: Final = Phrase("bearer|basic", r"(?i)(\b(?:bearer|basic)[ \t]{1,4})([A-Za-z0-9._~+/=-]{12,4000})")
_USERINFO: Final = Phrase("://", r"://([^\s/\"'`<>\\]{1,400})@")
_HOOK: Final = Phrase(
    "hooks", r"(hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)[A-Za-z0-9/_-]{8,200}"
)
_FOLDED: Final = {0x17F: "s", 0x131: "i", 0x307: None}
"""Letters that match ``s`` and ``i`` where case does not matter, and the dot that the lower case of one leaves."""

_KEY_BEGIN: Final = "-----BEGIN "
_KEY_LABEL: Final = regex.lazy(r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----")


def mask(text: str) -> str:
    """The text with everything that looks like a secret replaced by :data:`MASK`."""
    if len(text) < 4:
        return text
    low = text.lower()
    if not low.isascii():
        low = low.translate(_FOLDED)
    # Each pattern is compiled and searched for in the texts that hold one of its words; most texts hold none.
    if _KEY_BEGIN in text:
        text = _without_keys(text)
    if _USERINFO.may_match(text):
        text = _USERINFO.pattern.sub(_userinfo, text)
        if _HOOK.may_match(text):
            text = _HOOK.pattern.sub(rf"\1{MASK}", text)
    if _BEARER.may_match(low):
        text = _BEARER.pattern.sub(rf"\1{MASK}", text)
    if (long := _LONG.findall(text)) and _TOKENS.may_match("\n".join(long)):
        text = _TOKENS.pattern.sub(MASK, text)
    if _OPTION.may_match(low):
        text = _OPTION.pattern.sub(_assigned, text)
    if _ASSIGNED.may_match(low) and _MAY_BE_ASSIGNED.search(low) is not None:
        text = _without_assigned(text)
    if _BASIC.may_match(text):
        text = _BASIC.pattern.sub(_second, text)
    if _IDENTIFIED.may_match(low):
        text = _IDENTIFIED.pattern.sub(_second, text)
    # Last, for its value may reach over what the others find.
    if _HEADER.may_match(low):
        text = _HEADER.pattern.sub(rf"\1{MASK}", text)
    return text


def _without_assigned(text: str) -> str:
    """A text in which values that are assigned to the name of a secret are masked."""
    # Where such a name may begin is found ten times as fast as the pattern is tried at each letter.
    low = regex.folded(text)
    parts: list[str] = []
    at = 0
    begin = _NAMED.search(low)
    while begin is not None:
        position = begin.start()
        match = _ASSIGNED.pattern.match(text, position)
        if match is None:
            position += 1
        else:
            parts += (text[at:position], _assigned(match))
            at = position = match.end()
        begin = _NAMED.search(low, position)
    return "".join((*parts, text[at:]))


def _without_keys(text: str) -> str:
    """Bodies of private keys, also of one that is cut off, leave their first and last line."""
    parts: list[str] = []
    at = 0
    for match in _KEY_LABEL.finditer(text):
        if match.start() < at:
            continue
        end = text.find(f"-----END {match.group(1)}-----", match.end())
        parts += [text[at : match.end()], MASK]
        at = len(text) if end < 0 else end
        if end < 0:
            break
    parts.append(text[at:])
    return "".join(parts)


def _userinfo(match: re.Match[str]) -> str:
    user, colon, password = match.group(1).partition(":")
    if colon:
        return f"://{user}:{MASK}@" if password else match.group()
    # A name alone (git@) is none; a token in its place is.
    return f"://{MASK}@" if len(user) >= 16 and user != MASK else match.group()


def _assigned(match: re.Match[str]) -> str:
    if _COUNTED.match(match.group(1)):
        return match.group()
    return f"{match.group(1)}{match.group(2) or ''}{MASK}"


def _second(match: re.Match[str]) -> str:
    return match.group() if match.group(2).startswith(MASK) else f"{match.group(1)}{MASK}"
