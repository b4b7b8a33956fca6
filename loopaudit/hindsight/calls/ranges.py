"""Which lines of which file a call asks for, and which lines have been shown already.

Knows the arguments of the usual read tools: offset and limit, start and end line, a view
range. Lines count from 1 and both ends belong to a range; tools that count from 0 are
consistent in themselves, which is all that matters here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from loopaudit.core import regex
from loopaudit.core.failure_words import says_failure
from loopaudit.core.regex import Phrase
from loopaudit.hindsight.calls.wordings import PERSISTED, content_of

END: Final = 1 << 40
"""Stands for the end of a file whose length is not known."""

MAX_PIECES: Final = 64
"""Disjoint ranges kept per file; with more, the smallest are forgotten."""

PAGE: Final = 1999
"""Line feeds from which on a result that claims to be whole may be a first page."""

_PATH, _START, _LAST, _LIMIT, _VIEW, _SPAN_OR_LIMIT = range(6)

_NAMES: Final[Mapping[int, str]] = {
    _PATH: """
        file_path path filePath filepath absolute_path file filename target_file absolutePath AbsolutePath
        relative_path notebook_path TargetFile uri
    """,
    _START: """
        offset start_line startLine line_start start from_line start_line_one_indexed StartLine first_line
        line_number line begin_line lineStart from
    """,
    _LAST: """
        end_line endLine line_end end to_line end_line_one_indexed_inclusive EndLine last_line lineEnd to stop_line
    """,
    _LIMIT: "limit num_lines line_count count max_lines length n_lines numLines",
    _VIEW: "view_range range line_range lineRange",
    _SPAN_OR_LIMIT: "lines",
}
_ROLES: Final[Mapping[str, int]] = {name: role for role, names in _NAMES.items() for name in names.split()}
"""What arguments of file tools mean, by their names in the known harnesses."""

PATH_NAMES: Final = frozenset(name for name, role in _ROLES.items() if role == _PATH)
"""Arguments that name the file which a tool looks at or changes."""

_SPAN: Final = regex.lazy(r"\s*\[?\s*(\d{1,9})\s*[-,:]\s*(-?\d{1,9})\s*\]?\s*")
_PATCHED: Final = regex.lazy(
    r"(?:\*\*\* (?:(?:Update|Add|Delete|Modify|Move|Edit|Replace)(?: File)?: ?|Update )|\+\+\+ (?:b/)?"
    r"|diff --git a/\S{1,500} b/)"
    r"([^\n\t]{1,500})"
)
"""A line of a patch that names a file."""

_PATCH_HEADS: Final = ("*** ", "+++ ", "diff --git ")
"""How such lines begin: found much faster than by trying the pattern at each line."""


PATCHES: Final = ("patch", "diff", "input", "patch_text", "patchText", "patch_content", "command", "cmd")
"""Arguments that may hold a patch."""


class ReadRange(msgspec.Struct, frozen=True, gc=False):
    """The lines ``first`` to ``last`` of ``path`` as a call asks for them.

    ``last`` is :data:`END` where the call asks for everything to the end; negative lines
    count from the end. ``numbered`` means that a shell form shows line numbers, which plain
    text does not.
    """

    path: str
    first: int = 1
    last: int = END
    numbered: bool = False


def normal_path(path: str) -> str:
    """One spelling for a path: forward slashes, no ``./``, no double slashes."""
    if "\\" in path:
        path = path.replace("\\", "/")
    hidden = "/." in path  # mostly the name of a folder that begins with a dot, which stays
    if "//" in path or path[:2] == "./" or (hidden and ("/./" in path or path.endswith(("/", "/.")))):
        path = path.removeprefix("file://")
        absolute = path.startswith("/")
        path = "/".join(part for part in path.split("/") if part not in ("", "."))
        path = "/" + path if absolute else path
    return path


def recorded_path(arguments: Mapping[str, Any]) -> str | None:
    """The file that the arguments of a file tool name, as it is spelled there."""
    for name, value in arguments.items():
        if name in PATH_NAMES and isinstance(value, str) and value:
            return value
    return None


def path_of(arguments: Mapping[str, Any]) -> str | None:
    """The file that the arguments of a file tool name."""
    path = recorded_path(arguments)
    return None if path is None else normal_path(path)


def patched_paths(text: str) -> list[str]:
    """The files that a patch changes, in order; at most twenty."""
    starts = [0] if text.startswith(_PATCH_HEADS) else []
    for head in _PATCH_HEADS:
        at = text.find(f"\n{head}") + 1
        while at:
            starts.append(at)
            at = text.find(f"\n{head}", at) + 1
    matches = (_PATCHED.match(text, at) for at in sorted(starts))
    found = dict.fromkeys(normal_path(m.group(1).strip()) for m in matches if m is not None)
    return list(found)[:20]


def read_range(arguments: Any) -> ReadRange | None:
    """What a read tool with these arguments is asked to show, or ``None`` where that is not plain."""
    if not isinstance(arguments, dict):
        return None
    if len(arguments) == 1:
        path = path_of(arguments)
        return None if path is None else ReadRange(path)
    path = None
    start: int | None = None
    last: int | None = None
    limit: int | None = None
    for name, value in arguments.items():
        role = _ROLES.get(name)
        if role is None or value is None:
            continue
        if role == _PATH:
            if path is None and isinstance(value, str) and value:
                path = normal_path(value)
            continue
        if role >= _VIEW:
            span = _view(value)
            if span is not None:
                start, last = span
                continue
            if role == _VIEW:
                continue
            role = _LIMIT
        number = _number(value)
        if number is None:
            continue
        if role == _START:
            start = number
        elif role == _LAST:
            last = END if number < 0 else number
        else:
            limit = number
    if path is None:
        return None
    if start is None:
        start = 1
    if start < 0:
        return ReadRange(path, start, -1)
    if last is None:
        last = start + limit - 1 if limit is not None and limit > 0 else END
    return ReadRange(path, start, last) if last >= start else None


def _view(value: Any) -> tuple[int, int] | None:
    if isinstance(value, str):
        match = _SPAN.fullmatch(value)
        if match is None:
            return None
        first, last = int(match.group(1)), int(match.group(2))
    elif isinstance(value, list) and len(value) == 2 and all(type(v) is int for v in value):
        first, last = value
    else:
        return None
    if last < 0:
        last = END
    return (first, last) if last >= first >= 0 else None


def _number(value: Any) -> int | None:
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return None


# -- what was shown ------------------------------------------------------------------------

_CUT: Final = (
    Phrase("truncat|[...|output too long|output limit", r"truncat|\[\.\.\.|output (?:too long|limit)"),
    Phrase(
        "clipped|only part of|showing|more lines|remaining lines|line omitted|lines omitted|use offset|use start_line"
        "|use view_range|use the ",
        r"\b(?:clipped\b|only part of\b|showing\b|more lines\b|remaining lines\b|lines? omitted\b)"
        r"|use (?:the )?(?:offset|start_line|view_range)",
    ),
    Phrase(" lines| characters| bytes", r"\bof \d+ (?:lines|characters|bytes)"),
)
_OF: Final = Phrase(" of ", r"\d\s{0,2}[-\u2013]\s{0,2}\d{1,9} of (\d{1,9})\b")
"""``lines 41-80 of 760``."""


class Glimpse(msgspec.Struct, frozen=True, gc=False):
    """The beginning and the end of an output, and how many line feeds it has."""

    head: str
    tail: str
    line_feeds: int


def glimpse_of(source: str | bytes) -> Glimpse:
    """A glimpse of an output as recorded: text, or the JSON bytes of one, not decoded."""
    if isinstance(source, str):
        return Glimpse(source[:200], source[-300:], source.count("\n"))
    head = source[source[:1] == b'"' : 200].decode("utf-8", "replace").replace("\\n", "\n")
    tail = source[-300:].decode("utf-8", "replace").replace("\\n", "\n").replace("\\t", "\t").rstrip('"')
    return Glimpse(head, tail, source.count(b"\\n"))


def is_cut(seen: Glimpse) -> bool:
    """Whether an output says at its beginning or end that it shows only a part."""
    ends = regex.folded(seen.head), regex.folded(seen.tail)
    return any(phrase.search(low) is not None for phrase in _CUT for low in ends)


class Coverage:
    """Lines of one file that were shown, as disjoint ranges in order.

    ``whole`` means that the file was shown from beginning to end. ``end`` is the last line
    of the file where a result told it.
    """

    __slots__ = ("end", "ends", "starts", "whole")

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.whole = False
        self.end = END

    def covers(self, first: int, last: int) -> bool:
        """Whether every line from ``first`` to ``last`` was shown; lines behind the end need not be."""
        if self.whole and first > 0:
            return True
        if first > 0:
            last = min(last, self.end)
            if first > last:
                return bool(self.starts)
        at = bisect_left(self.ends, last)
        return at < len(self.starts) and self.starts[at] <= first

    def add(self, first: int, last: int) -> None:
        """Remember that the lines from ``first`` to ``last`` were shown."""
        starts, ends = self.starts, self.ends
        low = bisect_left(ends, first - 1)
        high = low
        while high < len(starts) and starts[high] <= last + 1:
            first = min(first, starts[high])
            last = max(last, ends[high])
            high += 1
        starts[low:high] = [first]
        ends[low:high] = [last]
        if len(starts) > MAX_PIECES:
            smallest = min(range(len(starts)), key=lambda i: ends[i] - starts[i])
            del starts[smallest], ends[smallest]

    def show(self, asked: ReadRange, seen: Glimpse | None) -> None:
        """Remember what a successful read showed, as far as its output can be trusted to show it.

        Without a glimpse of the output, only a range with both ends counts as shown.
        """
        if seen is not None and (says_failure(content_of(seen.head)) or PERSISTED in seen.head):
            return
        first, last = asked.first, asked.last
        if last != END:
            self.add(first, last)
            total = _OF.search(seen.head) or _OF.search(seen.tail) if seen is not None else None
            if total is not None:
                self.end = int(total.group(1))
        elif seen is None:
            return
        elif seen.line_feeds >= PAGE or is_cut(seen):
            self.add(first, first + seen.line_feeds)
        elif first <= 1:
            self.whole = True
        else:
            self.add(first, END)
