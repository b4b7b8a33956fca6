"""TOML as text: where each key stands, and how values are written.

The parser of the standard library gives values without places, so :func:`locate` walks over
a text that it has accepted and notes the line of every key and array element. The writing
half knows just what this program writes: strings, numbers, truth values, dates and flat
lists.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from datetime import date
from typing import Final

from loopaudit.core import regex

Path = tuple[str | int, ...]
"""The way to a value: names of keys, and 0-based places in arrays."""

_BARE: Final = regex.lazy(r"[A-Za-z0-9_-]+")
_SPACE: Final = regex.lazy(r"[ \t]*")
_FILLER: Final = regex.lazy(r"(?:[ \t\r\n]|#[^\n]*)*")
_PLAIN: Final = regex.lazy(r"[^,\]}\n#]+")
_WHERE: Final = regex.lazy(r"\(at (?:line (\d+), column \d+|end of document)\)")


class _Walker:
    """Walks over a text that is known to be valid TOML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._lengths: dict[Path, int] = {}

    def walk(self) -> dict[Path, int]:
        """Every place in the document."""
        table: Path = ()
        self._skip(_FILLER)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_FILLER)
        return self.lines

    def _header(self) -> Path:
        line = self._line()
        several = self.text.startswith("[[", self.at)
        self.at += 2 if several else 1
        names = self._keys()
        self.at += 2 if several else 1
        path: Path = ()
        for name in names[:-1]:
            path = (*path, name)
            self.lines.setdefault(path, line)
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        path = (*path, names[-1])
        self.lines.setdefault(path, line)
        if several:
            number = self._lengths.get(path, 0)
            self._lengths[path] = number + 1
            path = (*path, number)
            self.lines[path] = line
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for name in self._keys():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _keys(self) -> list[str]:
        """A dotted key; stands at what follows it afterwards."""
        names = []
        while True:
            self._skip(_SPACE)
            if self.text[self.at] in "\"'":
                start = self.at
                self._string()
                names.append(str(tomllib.loads(f"x = {self.text[start : self.at]}")["x"]))
            else:
                match = _BARE.match(self.text, self.at)
                assert match is not None, "valid TOML has a key here"
                self.at = match.end()
                names.append(match.group())
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return names
            self.at += 1

    def _value(self, path: Path) -> None:
        opening = self.text[self.at]
        if opening in "\"'":
            self._string()
        elif opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline(path)
        else:
            self._skip(_PLAIN)

    def _array(self, path: Path) -> None:
        self.at += 1
        number = 0
        while True:
            self._skip(_FILLER)
            if self.text[self.at] == "]":
                self.at += 1
                return
            self.lines[*path, number] = self._line()
            self._value((*path, number))
            number += 1
            self._skip(_FILLER)
            if self.text[self.at] == ",":
                self.at += 1

    def _inline(self, path: Path) -> None:
        self.at += 1
        while True:
            self._skip(_FILLER)
            if self.text[self.at] == "}":
                self.at += 1
                return
            self._pair(path)
            self._skip(_FILLER)
            if self.text[self.at] == ",":
                self.at += 1

    def _string(self) -> None:
        quote = self.text[self.at]
        if self.text.startswith(quote * 3, self.at):
            end = self._closing(self.at + 3, quote * 3) + 3
            while end < len(self.text) and self.text[end] == quote:  # up to two belong to the string
                end += 1
            self.at = end
        else:
            self.at = self._closing(self.at + 1, quote) + 1

    def _closing(self, at: int, quotes: str) -> int:
        while not self.text.startswith(quotes, at):
            at += 2 if quotes[0] == '"' and self.text[at] == "\\" else 1
        return at

    def _skip(self, what: re.Pattern[str]) -> None:
        match = what.match(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def _line(self) -> int:
        return bisect_right(self._starts, self.at)


def locate(text: str) -> dict[Path, int]:
    """The 1-based line of every key and array element of a text that ``tomllib`` accepts."""
    return _Walker(text).walk()


def error_place(error: tomllib.TOMLDecodeError, text: str) -> tuple[int, str]:
    """The 1-based line of a syntax error, and what the parser said without the place."""
    message = str(error)
    match = _WHERE.search(message)
    reason = _WHERE.sub("", message).strip()
    if match is None:
        return 0, reason
    return (int(match.group(1)) if match.group(1) else text.count("\n") + 1), reason


# -- writing -------------------------------------------------------------------------------

_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
_SPECIAL: Final = regex.lazy(r'[\\"\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]')

_SURROGATE: Final = regex.lazy(r"[\ud800-\udfff]")


def storable(value: str) -> str:
    """A text as it is read back once it was written: TOML has no lone surrogates."""
    return value if value.isascii() else _SURROGATE.sub("\ufffd", value)


def quoted(value: str) -> str:
    """A basic string. Characters that could mislead a reader are written as escapes."""
    return '"' + _SPECIAL.sub(_escape, value) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if _SURROGATE.match(character):
        return storable(character)
    return _ESCAPES.get(character) or f"\\u{ord(character):04x}"


def key(name: str) -> str:
    """A key, quoted where it must be."""
    return name if _BARE.fullmatch(name) else quoted(name)


def value(item: str | bool | int | float | date | list[str] | list[int]) -> str:
    """A value on one line."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return quoted(item)
    if isinstance(item, date):
        return item.isoformat()
    if isinstance(item, list):
        return "[" + ", ".join(map(value, item)) + "]"
    return repr(item)
