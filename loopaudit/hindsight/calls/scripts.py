"""Distinguishes the source of a program from a shell command, where a tool may be given either.

Codex gives its ``exec`` JavaScript that calls other tools; notebooks and interpreters get Python.
Read as shell such a text means something else (``head = rows`` would only look). Where a script runs
nothing but commands that stand in it as they are, these are what it does.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from loopaudit.core import regex
from loopaudit.core.tools import plain_name

MAX_SCRIPT: Final = 16_384
"""Longest script in characters in which commands are looked for."""

_SHELLS: Final = frozenset("bash sh shell zsh fish ksh powershell pwsh cmd console terminal command batch".split())
_LANGUAGES: Final = ("language", "lang", "runtime", "interpreter", "kernel")
_INTERPRETERS: Final = frozenset("python ipython execute_python execute_ipython_cell".split())
_WORD: Final = regex.lazy(r"[a-z]+")

_SCRIPT: Final = regex.lazy(
    r"\s*(?://|/\*|import\s|(?:const|let|var|function|class|async|await|return|try|throw)\b|(?:for|if|while|text|console\.\w+)\s*\()"
    r"|\btools\.\w"
)
"""How JavaScript begins, or the object by which it calls tools."""

_TOOLS: Final = regex.lazy(r"\btools\b")
_COMMAND: Final = regex.lazy(
    r"""\btools\.(?:exec_command|shell_command|shell|local_shell|bash)\s*\(\s*\{\s*"""
    r"""(?:[\w"']{1,40}\s*:\s*[\w."'/~-]{1,200}\s*,\s*){0,6}+["']?(?:cmd|command)["']?\s*:\s*"""
    r"""("(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`[^`\\$]*+`)\s*[,}]""",
)
"""A call of a shell with a command that stands there as it is."""


def is_source(name: str, arguments: Any) -> bool:
    """Whether what a shell-like tool is given as ``code`` or ``script``, or as a bare text, is no shell command."""
    if isinstance(arguments, str):
        plain = plain_name(name)
        return plain in _INTERPRETERS or (plain == "exec" and _SCRIPT.search(arguments, 0, MAX_SCRIPT) is not None)
    for key in _LANGUAGES:
        language = arguments.get(key)
        if isinstance(language, str) and language:
            return _SHELLS.isdisjoint(_WORD.findall(language.lower()))
    return "code" in arguments and _SHELLS.isdisjoint(_WORD.findall(name.lower()))


def command_in(script: str) -> str | None:
    """The commands that a script runs, a line each, if it calls nothing else and they stand in it as they are."""
    if len(script) > MAX_SCRIPT:
        return None
    found = _COMMAND.findall(script)
    if not found or len(found) != len(_TOOLS.findall(script)):
        return None
    commands = [_plain(literal) for literal in found]
    return None if None in commands else "\n".join(filter(None, commands))


def _plain(literal: str) -> str | None:
    """The text of a literal of JavaScript, or ``None`` where its escapes are not those of JSON."""
    inner = literal[1:-1]
    if "\\" not in inner:
        return inner
    if literal[0] == "'":
        inner = re.sub(r"\\'|\"", lambda match: "'" if match[0] == "\\'" else '\\"', inner)
    try:
        return msgspec.json.decode(f'"{inner}"'.encode("utf-8", "surrogatepass"), type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
