"""The effects of shell commands: whether one only looks, only checks, or may change something.

The answer is conservative. A command *looks* only if every program in it is on a list, with
none of the options that make that program write, and nothing is redirected into a file. It
*checks* if it runs tests, linters or type checkers, which write their own caches and nothing
an agent reads. Anything else *may change* something. A command that sleeps or follows
something *waits*, whatever else it does.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from loopaudit.core import regex
from loopaudit.hindsight.shell.parse import MAX_COMMAND, Parsed, Simple, parse
from loopaudit.hindsight.shell.programs import (
    CHECK_SCRIPT,
    CHECKING,
    CHECKS,
    CLOSERS,
    EFFECT_LOOKS,
    FOLLOWS,
    HARMLESS_TARGETS,
    KEYWORDS,
    LOOKING,
    LOOKS,
    MAY_CHANGE,
    NOTHING,
    PACKAGE_LOOKS,
    RUNNERS,
    SCRIPT_RUNNERS,
    SHELL_STATE,
    WRAPPERS,
    CommandEffect,
)
from loopaudit.hindsight.shell.rules import RULES, check, help_only

MAX_DEPTH: Final = 8
"""Wrappers and scripts inside one another that are followed."""

_NAME_VALUE: Final = regex.lazy(r"[A-Za-z_]\w*\+?=")
_BARE: Final = regex.lazy(r"[\w./:=+,%@ -]*+")
"""A command without quotes, operators and expansions: its words are what stands between blanks."""

_NOT_PLAIN: Final = regex.lazy(r"--(?:pre|output)|(?<!\w)-[\w-]*['\"]|\btail\b.*-[fFw-]", re.DOTALL)
"""What must not stand in a command that plainly looks: options with which some of its programs write or wait."""


_SLEEPING: Final = frozenset({"sleep", "start-sleep", "wait"})
_LIMITING: Final = frozenset({"timeout", "gtimeout"})
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})
_KNOWN: Final = frozenset().union(
    LOOKING,
    CHECKING,
    RULES,
    RUNNERS,
    WRAPPERS,
    KEYWORDS,
    CLOSERS,
    SHELL_STATE,
    _SLEEPING,
    _LIMITING,
    _SHELLS,
    ["watch"],
)
"""Words that begin what may do less than change something."""

_FOLLOWING: Final = ("tail", "pip", "compose", "kubectl", "helm", "systemctl", "terraform", "brew", "apt")
"""What the names of programs hold that can be told to follow something."""

_QUOTING: Final = "'\"\\$"

_MAX_BEFORE: Final = 8
"""Most comments and changes of the folder that are looked behind without reading a command word by word."""


@cache
def _plain() -> re.Pattern[str]:
    """Commands that plainly look: known programs behind one another, without anything odd."""
    word = r"[^\s|;&<>`$(){}'\"\\#]++"
    segment = (
        r"(?:ls|cat|head|tail|wc|nl|grep|egrep|fgrep|rg|pwd|file|stat|du|tree|diff|uniq|cut|tr|echo"
        r"|find(?!.*-(?:[defxX'\"-]|o[k'\"]))|sort(?!.*-[o'\"-])|sed -n '\d{1,9}(?:,\d{1,9})?p'(?!.*[ '\"]-)"
        rf"|git (?:-C {word} )?(?:status|log|diff|show|blame|rev-parse|ls-files|ls-tree|cat-file))(?![^ |;&\n])"
        r"(?:[^|;&<>`$(){}\n'\"\\#2]++|2(?!>)|'[^']*+'|\"(?:[^\"$`\\]|\\[^$`])*+\""
        r"|2>&1(?![\w-])|2>/dev/null(?![^ |;&\n]))*+"
    )
    # What divides two of them is written as an end of the first, so that the long part is compiled once.
    return re.compile(rf"(?:cd {word} ?(?:&&|;|\n) ?)?(?:{segment}(?:(?:\|\|?|&&|;|\n) ?(?!\Z)|\Z))++", re.DOTALL)


def plainly_looks(command: str) -> bool:
    """Whether a command only looks, of however many characters it is; those that are not plain may as well."""
    return _plain().fullmatch(command) is not None and _NOT_PLAIN.search(command) is None


def command_effect(command: str) -> CommandEffect:
    """What a shell command line does; that it may change something where that is not plain."""
    if _BARE.fullmatch(command) is not None and (words := command.split()):
        return _line([Simple(words, [])], 0)
    if len(command) > MAX_COMMAND:  # the pattern is dear to compile, and short commands are read nearly as fast
        return LOOKS if plainly_looks(command) else MAY_CHANGE
    if surely_changes(command) and not may_wait(command):
        return MAY_CHANGE
    parsed = parse(command)
    return MAY_CHANGE if parsed is None else parsed_command_effect(parsed)


def may_wait(command: str) -> bool:
    """Whether a command may wait for something, as :func:`command_effect` tells; a quick look for the words for it."""
    low = _unquoted(command).lower()
    if "sleep" in low or "wait" in low or "watch" in low:
        return True
    return ("-f" in low or "-w" in low) and any(program in low for program in _FOLLOWING)


def surely_changes(command: str) -> bool:
    """Whether a command runs first what nothing is known of, so that it may change something whatever it goes on with.

    Behind changes of the folder and comments, that is; nor does it ask for a version or for help. It may wait as well.
    """
    rest = command.lstrip(" \t\n")
    for _ in range(_MAX_BEFORE):  # each copies the rest, so that very many would take time by the square of them
        if rest.startswith("#"):
            rest = rest.partition("\n")[2].lstrip(" \t\n")
        elif rest.startswith("cd ") and _BARE.fullmatch(folder := rest.partition("&&")[0]) is not None:
            rest = rest[len(folder) + 2 :].lstrip(" \t\n")
        else:
            break
    else:
        return False
    first = rest.partition(" ")[0]
    if not first or "=" in first or _BARE.fullmatch(first) is None or _program(first) in _KNOWN:
        return False
    plain = _unquoted(command)
    return not ("--help" in plain or "-version" in plain or "-V" in plain)


def _unquoted(command: str) -> str:
    """A command without all quoting: a word may be put together of pieces."""
    for sign in _QUOTING:  # much faster than to translate what is not all ASCII
        if sign in command:
            command = command.replace(sign, "")
    return command


@lru_cache(maxsize=512)
def cached_command_effect(command: str) -> CommandEffect:
    """:func:`command_effect`, remembering the last few hundred commands; for short ones."""
    return command_effect(command)


def parsed_command_effect(parsed: Parsed, depth: int = 0) -> CommandEffect:
    """What a command line that was read does."""
    return _line(parsed.all(), depth)


def _line(simples: list[Simple], depth: int) -> CommandEffect:
    effect = EFFECT_LOOKS
    waits = False
    only_waits = True
    if simples and all(simple.words[:1] and simple.words[0] in SHELL_STATE for simple in simples):
        return CHECKS  # nothing but a change of the shell's own state, for the commands after it
    for simple in simples:
        found = _simple(simple, depth)
        effect = max(effect, found.effect)
        waits = waits or found.waits
        only_waits = only_waits and found.only_waits
    return CommandEffect(effect, waits, only_waits and waits and effect == EFFECT_LOOKS)


def _simple(simple: Simple, depth: int) -> CommandEffect:
    for target in simple.outputs:
        if target not in HARMLESS_TARGETS:
            return MAY_CHANGE
    words = simple.words
    while words and (words[0] in KEYWORDS or _NAME_VALUE.match(words[0])):
        words = words[1:]
    if not words or words[0] in CLOSERS:
        return NOTHING
    return _words(words, simple, depth)


def _words(words: list[str], simple: Simple, depth: int) -> CommandEffect:
    """Judge a simple command by its words, program first."""
    if depth > MAX_DEPTH:
        return MAY_CHANGE
    program = _program(words[0])
    arguments = words[1:]
    if program in _SLEEPING:
        return CommandEffect(EFFECT_LOOKS, waits=True, only_waits=True)
    if program in _LIMITING:
        return _rest(after_options(arguments, frozenset({"-s", "-k", "--signal"}))[1:], simple, depth)
    if program in WRAPPERS:
        return _rest(after_options(arguments, WRAPPERS[program]), simple, depth)
    if program == "watch":
        inner = _rest(after_options(arguments, frozenset({"-n", "--interval"})), simple, depth)
        return CommandEffect(inner.effect, waits=True)
    if program in _SHELLS:
        return _script(arguments, depth)
    if program in LOOKING:
        if program in ("rg", "ag", "ack") and any(a.startswith("--pre") for a in arguments):
            return MAY_CHANGE
        return CommandEffect(EFFECT_LOOKS, waits=program == "tail" and not FOLLOWS.isdisjoint(arguments))
    rule = RULES.get(program)
    if rule is not None:
        return rule(arguments, lambda inner: _rest(inner, simple, depth))
    if program in CHECKING:
        return check(arguments)
    if help_only(arguments) and not simple.open_words:
        return LOOKS
    if program in RUNNERS:
        return _runner(program, arguments, simple, depth)
    return MAY_CHANGE


def _program(word: str) -> str:
    """The name of the program that a word names, in whatever folder."""
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").lower()


def _rest(words: list[str], simple: Simple, depth: int) -> CommandEffect:
    """Judge what a wrapper runs; a wrapper alone does nothing."""
    while words and _NAME_VALUE.match(words[0]):
        words = words[1:]
    return _words(words, simple, depth + 1) if words else LOOKS


def after_options(arguments: list[str], with_value: frozenset[str]) -> list[str]:
    """The arguments behind the leading options, of which some take a value."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        if arguments[position] == "--":
            return arguments[position + 1 :]
        position += 2 if arguments[position] in with_value else 1
    return arguments[position:]


def _script(arguments: list[str], depth: int) -> CommandEffect:
    """``bash -c TEXT``: judged by its text; a script file may do anything."""
    for position, argument in enumerate(arguments[:-1]):
        if argument.startswith("-") and not argument.startswith("--") and argument.endswith("c"):
            parsed = parse(arguments[position + 1])
            return MAY_CHANGE if parsed is None or depth > MAX_DEPTH else parsed_command_effect(parsed, depth + 2)
    return MAY_CHANGE


def _runner(program: str, arguments: list[str], simple: Simple, depth: int) -> CommandEffect:
    """``npm test``, ``poetry run pytest``, ``uv run mypy`` and the like."""
    options = frozenset({"--prefix", "-C", "--dir", "--filter", "-w", "--workspace", "--project"})
    words = after_options(arguments, options)
    if not words:
        return MAY_CHANGE
    verb = words[0].lower()
    by_script = program in SCRIPT_RUNNERS
    if verb in ("run", "exec", "dlx", "x"):
        words = after_options(words[1:], frozenset({"--with", "--python", "--group", "--extra"}))
        if words and by_script and CHECK_SCRIPT.fullmatch(words[0]):
            return check(words[1:])
        return MAY_CHANGE if verb == "run" and by_script else _rest(words, simple, depth)
    if verb in ("test", "t") or (by_script and program != "npm" and CHECK_SCRIPT.fullmatch(verb)):
        return check(words[1:])
    if verb in PACKAGE_LOOKS:
        return MAY_CHANGE if "fix" in words or "--fix" in words else LOOKS
    if verb == "config" and len(words) > 1 and words[1] in ("get", "list", "ls"):
        return LOOKS
    return MAY_CHANGE
