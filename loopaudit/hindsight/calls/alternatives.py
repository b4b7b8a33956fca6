"""Searches that ask the same though they are spelled in another way.

In whatever order alternatives stand, they find the same. What quotes, options and a cut behind a search change,
only its result tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core import regex

MAX_LOOKED_AT: Final = 1000
"""Longest command or pattern in characters whose alternatives are put in order."""

_QUOTED: Final = regex.lazy(r"'[^'\n]*'|\"[^\"\n]*\"")
_SPLIT: Final = regex.lazy(r"\\\||\||(?<=\s)OR(?=\s)")

PATTERNS: Final = frozenset({"pattern", "regex", "query", "q", "search", "search_query", "search_term", "text"})
"""Arguments of searching tools that may hold alternatives."""


_GREPS: Final = frozenset("grep egrep fgrep rg ag ack".split())
_PROGRAMS: Final = _GREPS | frozenset("find fd ls tree".split())
_CUTS: Final = frozenset("head tail cat sort less true :".split())
"""Programs behind a search that show less of what it finds, or the same."""

_DISCARDS: Final = frozenset({"", ".", "2>/dev/null", "2>&1", "2>", "/dev/null"})
"""Words that ask for nothing."""

_QUOTES: Final = str.maketrans("'\"\\", "   ")

_GROUPING: Final = frozenset("()[]{}")


def in_order(pattern: str) -> str:
    """A pattern with its alternatives in alphabetical order; as it is where it groups them."""
    if len(pattern) > MAX_LOOKED_AT or not ("|" in pattern or " OR " in pattern):
        return pattern
    if not _GROUPING.isdisjoint(pattern):
        return pattern  # a part of it may be what an alternative is of
    if "\\|" not in pattern and "OR" not in pattern:
        return "|".join(sorted(pattern.split("|")))
    signs = _SPLIT.findall(pattern)
    if len(set(signs)) != 1:
        return pattern  # in one spelling a bar divides, in the other it is a letter
    parts = [part.strip() if signs[0] == "OR" else part for part in _SPLIT.split(pattern)]
    return str(signs[0]).join(sorted(parts))


def command_in_order(command: str) -> str:
    """The command of a search with the alternatives of what it looks for in alphabetical order."""
    if "|" not in command or _program_of(command) not in _GREPS:
        return command
    return _QUOTED.sub(lambda quoted: f"{quoted[0][0]}{in_order(quoted[0][1:-1])}{quoted[0][-1]}", command)


_BEGINNINGS: Final = (*sorted(_PROGRAMS), "git", "cd ")


def may_search(command: str) -> bool:
    """Whether a command may begin with a program that searches or lists: a quick look, asked of every new command."""
    return command.startswith(_BEGINNINGS) or command[:1].isspace()


def _program_of(command: str) -> str:
    """The searching program that a command of a fair length begins with, in whatever folder; empty for any other."""
    if len(command) > MAX_LOOKED_AT or not may_search(command):
        return ""
    begins = (command.partition("&&")[2] if command.startswith("cd ") else command)[:16].split()
    program = "" if not begins else "grep" if begins[:2] == ["git", "grep"] else begins[0]
    return program if program in _PROGRAMS else ""


def is_search(command: str) -> bool:
    """Whether a command begins with a program that searches or lists."""
    return _program_of(command) != ""


def words_of_search(command: str) -> str:
    """The words of a command that searches or lists, without its options and what cuts its output."""
    parts = command.split("|")
    while len(parts) > 1 and (not (last := parts[-1].split()) or last[0] in _CUTS):
        parts.pop()
    words = [word.removeprefix("./").rstrip("/") for word in " ".join(parts).translate(_QUOTES).split()]
    return "\0".join(sorted([word for word in words if word not in _DISCARDS and not word.startswith("-")]))


def may_hold_alternatives(source: Any) -> bool:
    """A quick look at recorded arguments; spares decoding most."""
    if isinstance(source, bytes):
        return source.find(b"|") >= 0 or source.find(b" OR ") >= 0
    return not isinstance(source, str) or "|" in source or " OR " in source


def arguments_in_order(arguments: Any) -> dict[str, Any] | None:
    """The arguments of a searching tool in that form; ``None`` where they are in it."""
    if not isinstance(arguments, Mapping):
        return None
    found = {
        name: ordered
        for name in PATTERNS & arguments.keys()
        if isinstance(value := arguments[name], str) and (ordered := in_order(value)) != value
    }
    return {**arguments, **found} if found else None
