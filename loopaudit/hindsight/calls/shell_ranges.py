"""Which lines of a file a shell command shows: ``sed -n``, ``head``, ``tail``, ``cat``, ``nl``."""

from __future__ import annotations

from typing import Final

from loopaudit.core import regex
from loopaudit.hindsight.calls.ranges import END, ReadRange, normal_path
from loopaudit.hindsight.shell.parse import Simple, parse

MAX_SHOWN: Final = 600
"""Longest command in characters that is looked at."""

_MAY: Final = regex.lazy(
    r"\s*+(?:cd [^\s;&|]{1,300} && ?){0,3}(?:sed|cat|head|tail|nl|bat|less|more) (?!>>? ?(?!/dev/null)[\w./~])"
)
"""How a command begins that may show lines: with such a program whose output is not written to a file."""

_PLAIN_SED: Final = regex.lazy(r"sed -n ['\"]?(\d{1,9}),(\d{1,9})p['\"]? ([\w@%+=:,./-]+)")
_PLAIN_CAT: Final = regex.lazy(r"cat ([\w@%+=:,./][\w@%+=:,./-]*)(?: 2>&1| 2>/dev/null)?")
_PLAIN_PART: Final = regex.lazy(
    r"(?:cd ([\w@%+=:,./-]+) && )?(?:(cat|cat -n|nl -ba)|sed -n '(\d{1,9}),(\d{1,9})p') "
    r"(?!'?(?:[-+\d]|[at](?:'| |\Z)))(?:([\w@%+=:,./-]+)|'([^'*?\[{~$]+)')"
    r"(?(2)(?: \| sed -n '(\d{1,9}),(\d{1,9})p')?)"
)
"""The commonest of all others: a folder, a path in quotes, or lines of what is numbered first."""

_SED: Final = regex.lazy(r"(\d{1,9})(?:,(\+?\d{1,9}|\$))?p?(?:;(\d{1,9})q)?")
_GLOB: Final = regex.lazy(r"[*?\[{~$]")
_WHOLE: Final = frozenset({"cat", "nl", "bat", "less", "more"})
_NUMBERING: Final = (["cat", "-n"], ["bat", "-n"], ["cat", "-b"])


def may_show_lines(command: str) -> bool:
    """A quick look whether a command can be one of the shell forms; spares parsing most."""
    return len(command) <= MAX_SHOWN and _MAY.match(command) is not None


def shell_range(command: str) -> ReadRange | None:
    """The lines that a command shows, if it shows a range of one file and nothing else."""
    if command.startswith("sed -n ") and (plain := _PLAIN_SED.fullmatch(command)) is not None:
        first, last = int(plain.group(1)), int(plain.group(2))
        return ReadRange(normal_path(plain.group(3)), first, last) if last >= first else None
    if command.startswith("cat ") and (plain := _PLAIN_CAT.fullmatch(command)) is not None:
        return ReadRange(normal_path(plain.group(1)))
    if ("sed -n '" in command or "nl -ba " in command) and (plain := _PLAIN_PART.fullmatch(command)) is not None:
        return _plain_part(*plain.groups())
    parsed = parse(command)
    if parsed is None or parsed.nested or not parsed.pipelines:
        return None
    *before, line = parsed.pipelines
    folder = ""
    for earlier in before:
        words = earlier[0].words
        if len(earlier) != 1 or len(words) != 2 or words[0] != "cd":
            return None
        folder = words[1] if words[1].startswith("/") or not folder else f"{folder}/{words[1]}"
    if not 1 <= len(line) <= 3 or any(s.outputs not in ([], ["/dev/null"]) or s.heredoc for s in line):
        return None
    shown = _source(line[0])
    for step in line[1:]:
        if shown is None:
            return None
        shown = _narrowed(shown, step)
    if shown is None:
        return None
    path = shown.path if not folder or shown.path.startswith("/") else f"{folder}/{shown.path}"
    numbered = any(s.words[:1] == ["nl"] or s.words[:2] in _NUMBERING for s in line)
    return ReadRange(normal_path(path), shown.first, shown.last, numbered)


def _plain_part(
    folder: str | None, program: str | None, first: str | None, last: str | None, bare: str | None, quoted: str | None,
    cut_first: str | None, cut_last: str | None,
) -> ReadRange | None:  # fmt: skip
    if program is not None:
        first, last = cut_first, cut_last
    low, high = (1, END) if first is None or last is None else (int(first), int(last))
    path = bare or quoted or ""
    path = path if folder is None or path.startswith("/") else f"{folder}/{path}"
    return ReadRange(normal_path(path), low, high, program not in (None, "cat")) if high >= low else None


def _source(simple: Simple) -> ReadRange | None:
    words = simple.words
    if simple.open_words or not words:
        return None
    if words[0] in _WHOLE:
        files = [w for w in words[1:] if not w.startswith("-")]
        if words[0] == "nl":
            files = [w for w in files if w not in ("a", "t")]  # values of -b
        return ReadRange(files[0]) if len(files) == 1 and not _GLOB.search(files[0]) else None
    *options, file = words[1:] if len(words) > 1 else ["", "-"]
    if file.startswith("-") or _GLOB.search(file) or file.lstrip("+").isdecimal():
        return None
    return _narrowed(ReadRange(file), Simple([words[0], *options], []))


def _narrowed(shown: ReadRange, simple: Simple) -> ReadRange | None:
    """The part of the lines that a filter lets through, where that is a plain range."""
    words = simple.words
    if not words or simple.open_words:
        return None
    program, options = words[0], words[1:]
    if program in _WHOLE:
        return shown if all(o.startswith("-") or o in ("a", "t") for o in options) else None
    if program == "sed":
        return _sed_range(shown, options)
    if program not in ("head", "tail"):
        return None
    number = _count(options)
    if number is None:
        return None
    count, from_line = number
    if program == "head":
        return None if from_line else _cut_to(shown, 1, count)
    if from_line:
        return _cut_to(shown, count, END)
    return ReadRange(shown.path, -count, -1) if shown.last == END and shown.first == 1 else None


def _sed_range(shown: ReadRange, options: list[str]) -> ReadRange | None:
    if not options or options[0] not in ("-n", "-ne", "-nE", "-En") or len(options) not in (2, 3):
        return None
    script = options[-1] if len(options) == 2 or options[1] == "-e" else None
    match = _SED.fullmatch(script.replace(" ", "")) if script is not None and "p" in script else None
    if match is None:
        return None
    first = int(match.group(1))
    end = match.group(2)
    last = first if end is None else END if end == "$" else first + int(end) if end[0] == "+" else int(end)
    return _cut_to(shown, first, last)


def _count(options: list[str]) -> tuple[int, bool] | None:
    """The number of lines of ``head`` and ``tail``, and whether it is a first line (``+5``)."""
    text = "".join(options).removeprefix("--lines").removeprefix("-n").lstrip("=")
    if not options:
        return 10, False
    plus = text.startswith("+")
    text = text.lstrip("+-")
    return (int(text), plus) if text.isdecimal() and len(text) < 10 else None


def _cut_to(shown: ReadRange, first: int, last: int) -> ReadRange | None:
    if shown.first < 1:
        return None
    low = shown.first + first - 1
    high = END if last == END else shown.first + last - 1
    high = min(high, shown.last)
    return ReadRange(shown.path, low, high) if high >= low else None
