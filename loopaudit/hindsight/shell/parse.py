"""Reads shell commands: what a command line would run, as far as that is plain.

:func:`parse` splits a command into pipelines of simple commands, with the text of command
substitutions as pipelines of their own. It understands quotes, ``;``, ``&&``, ``||``,
pipes, subshells, braces, redirections, here-documents, and the words of ``for``, ``while``
and ``if``. What it does not understand it refuses (``None``), and whoever asked must then
assume the worst. Nothing is expanded and nothing is ever run.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from loopaudit.core import regex

MAX_COMMAND: Final = 8192
"""Longest command in characters that is read at all."""

MAX_DEPTH: Final = 6
"""Deepest nesting of command substitutions that is read."""

MAX_HEREDOCS: Final = 4
"""Most here-documents that may begin on one line."""

_TOKEN: Final = regex.lazy(
    # First the commonest: a piece of ``plain`` that begins as nothing else does.
    r"(?P<word>[A-Za-z_./=,:@%+~^\[\]*?-][^\s'\"\\`$&|;<>()]*)"
    r"|(?P<space>[ \t]+|\\\r?\n)"
    r"|(?P<comment>(?<![^\s;&|()])#[^\n]*)"
    r"|(?P<heredoc><<-?(?!<)[ \t]*(?P<quote>['\"]?)(?P<end>[A-Za-z_][\w.-]*)(?P=quote))"
    r"|(?P<herestring><<<)"
    r"|(?P<duplicate>\d?(?:>&|<&)(?:\d|-)(?![\w-]))"
    r"|(?P<redirect>&>>|&>|\d?>>|\d?>\||\d?<>|\d?>&|\d?>)"
    r"|(?P<input>\d?<(?!\())"
    r"|(?P<operator>\r?\n|&&|\|\||\|&|;;|;|\||&|\(|\))"
    r"|(?P<process><\(|>\()"
    r"|(?P<single>'[^']*')"
    r'|(?P<double>"(?:[^"\\]++|\\.)*+")'
    r"|(?P<ansi>\$'(?:[^'\\]++|\\.)*+')"
    r"|(?P<arithmetic>\$\(\([^()]*(?:\([^()]*\)[^()]*)*\)\))"
    r"|(?P<substitution>\$\()"
    r"|(?P<backtick>`[^`]*`)"
    r"|(?P<variable>\$\{[^{}`]*\}|\$\w+|\$[?!#@*$-]|\$)"
    r"|(?P<escape>\\.)"
    r"|(?P<plain>[^\s'\"\\`$&|;<>()]+)",
    re.DOTALL,
)

_WORDS: Final = regex.lazy(r"[ \t]*+(?:(?:[A-Za-z_./=,:@%+~^\[\]*?-][^\s'\"\\`$&|;<>()]*+|\d++)[ \t]++)++")
"""Whole words in a row as ``word`` and ``plain`` tell them, each with blanks behind it: most of most commands."""

_LETTERS: Final = r"[!%*+,./0-9:=?@A-Z\[\]^_a-z{}~-]"
"""What words are written with, spelled out: a class is looked through much faster without ``\\w`` and ``\\s``."""

_PIECE: Final = regex.lazy(
    r"2>&1(?![\w-])|2>/dev/null(?![^ \t\n;|])|\|\|?|&&|[;\n]"
    rf"|{_LETTERS}++(?!['\"])|(?:{_LETTERS}++|'[^']*+'|\"[^\"\\`$]*+\")++|[^ \t]"
)
"""A whole word, an operator or a redirection of an easy command; of any other command also what is neither."""

_PART: Final = regex.lazy(r"'([^']*+)'|\"([^\"]*+)\"|([^'\"]++)")
_BETWEEN: Final = frozenset({"|", "||", "&&", ";", "\n"})
_ODD: Final = frozenset("'\"\\`$&<>()#\r\f\v") | {chr(code) for code in (*range(9), *range(14, 32), 127)}

MAX_EASY: Final = 1024
"""Longest command in characters that is looked at for being easy to read."""

_ESCAPED: Final = regex.lazy(r"\\([\"\\$`\n])")
_INNER: Final = regex.lazy(r"\$\((?!\()|`")


class Simple(msgspec.Struct, gc=False):
    """One simple command: its words, unquoted, and where its output is redirected to.

    ``outputs`` holds the targets of output redirections except duplicated descriptors;
    ``open_words`` means that a word held a variable or a substitution, so that its value is
    not known.
    """

    words: list[str]
    outputs: list[str]
    open_words: bool = False
    heredoc: bool = False


class Parsed(msgspec.Struct, gc=False):
    """A command line: ``pipelines`` in order, those of substitutions in ``nested``."""

    pipelines: list[list[Simple]]
    nested: list[list[Simple]]

    def all(self) -> list[Simple]:
        """Every simple command of the line."""
        return [simple for line in (*self.pipelines, *self.nested) for simple in line]


class _UnreadableError(Exception):
    """The command is not plain enough."""


def parse(command: str) -> Parsed | None:
    """Read a command line, or return ``None`` where it is not plain enough. Never raises."""
    if len(command) > MAX_COMMAND:
        return None
    if len(command) <= MAX_EASY and command.isascii() and "<<" not in command and (easy := _easy(command)) is not None:
        return easy
    result = Parsed([], [])
    try:
        _Reader(command, result, 0).run(result.pipelines)
    except _UnreadableError:
        return None
    return result


def _easy(command: str) -> Parsed | None:
    """The same for a command of words and the commonest operators, without expansions; ``None`` for any other.

    Most commands are so; read piece by piece they take a third of the time.
    """
    pipelines: list[list[Simple]] = []
    pipeline: list[Simple] = []
    simple = Simple([], [])
    for piece in _PIECE.findall(command):
        if piece in _BETWEEN:
            if simple.words or simple.outputs:
                pipeline.append(simple)
                simple = Simple([], [])
            if piece != "|" and pipeline:
                pipelines.append(pipeline)
                pipeline = []
        elif piece in _ODD:
            return None
        elif piece == "2>/dev/null":
            simple.outputs.append("/dev/null")
        elif piece != "2>&1":
            simple.words.append(_unquoted(piece) if "'" in piece or '"' in piece else piece)
    if simple.words or simple.outputs:
        pipeline.append(simple)
    if pipeline:
        pipelines.append(pipeline)
    return Parsed(pipelines, [])


def _unquoted(word: str) -> str:
    """A word without the quotes in it, which hold no expansions."""
    if word[0] == word[-1] and word.count(word[0]) == 2 and word[0] in "'\"":
        return word[1:-1]
    return "".join(single or double or plain for single, double, plain in _PART.findall(word))


class _Reader:
    """One pass over one command text."""

    def __init__(self, text: str, result: Parsed, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise _UnreadableError
        self.text = text
        self.result = result
        self.depth = depth
        self.pipeline: list[Simple] = []
        self.simple = Simple([], [])
        self.word: list[str] | None = None
        self.to_output = False
        self.to_input = False
        self.ends: list[tuple[str, bool]] = []

    def run(self, into: list[list[Simple]]) -> None:
        position = 0
        text = self.text
        while position < len(text):
            if self.word is None and not (self.to_output or self.to_input):
                words = _WORDS.match(text, position)
                if words is not None:
                    self.simple.words += words.group().split()
                    position = words.end()
                    continue
            match = _TOKEN.match(text, position)
            if match is None:
                raise _UnreadableError
            position = match.end()
            kind = match.lastgroup
            if kind == "word":
                self._add(match.group())
                continue
            if kind in ("space", "duplicate"):
                if self.word is not None:
                    self._end_word()
                continue
            token = match.group(kind) if kind else ""
            if kind == "operator":
                position = self._operator(token, position, into)
                continue
            if kind in ("end", "quote"):
                kind, token = "heredoc", match.group("heredoc")
            position = self._token(str(kind), token, match, position, into)
        self._end_pipeline(into)
        if self.ends:
            raise _UnreadableError

    def _token(self, kind: str, token: str, match: re.Match[str], position: int, into: list[list[Simple]]) -> int:
        if kind == "comment":
            self._end_word()
        elif kind == "plain":
            self._add(token)
        elif kind == "single":
            self._add(token[1:-1])
        elif kind == "double":
            inner = token[1:-1]
            open_word = "$" in inner or "`" in inner
            if open_word:
                self._inside(inner)
            self._add(_ESCAPED.sub(r"\1", inner) if "\\" in inner else inner, open_word=open_word)
        elif kind == "ansi":
            self._add(token[2:-1])
        elif kind == "escape":
            self._add(token[1:])
        elif kind in ("variable", "arithmetic"):
            self._add(token, open_word=True)
        elif kind == "backtick":
            self._nested(token[1:-1])
            self._add(token, open_word=True)
        elif kind in ("substitution", "process"):
            end = closing(self.text, position)
            self._nested(self.text[position : end - 1])
            self._add("$()", open_word=True)
            if kind == "process" and token[0] == ">":
                self.simple.outputs.append("$()")
            return end
        elif kind == "heredoc":
            self._end_word()
            self.simple.heredoc = True
            if len(self.ends) == MAX_HEREDOCS:
                raise _UnreadableError
            self.ends.append((match.group("end"), bool(match.group("quote"))))
        else:  # a redirection, from or to a file
            self._end_word()
            self.to_output = kind == "redirect"
            self.to_input = kind != "redirect"
        return position

    def _operator(self, token: str, position: int, into: list[list[Simple]]) -> int:
        self._end_word()
        if token in ("|", "|&"):
            self._end_simple()
        elif token in ("(", ")"):
            if token == "(" and self.simple.words:
                raise _UnreadableError  # a function, or an array
            self._end_pipeline(into)
        else:
            self._end_pipeline(into)
            if token.endswith("\n") and self.ends:
                return self._skip_heredocs(position)
        return position

    def _skip_heredocs(self, position: int) -> int:
        for end, quoted in self.ends:
            match = re.compile(rf"^\t*{re.escape(end)}[ \t]*\r?$", re.MULTILINE).search(self.text, position)
            if match is None:
                raise _UnreadableError
            body = self.text[position : match.start()]
            if not quoted:
                self._inside(body)
            position = match.end()
        self.ends = []
        return position

    def _add(self, piece: str, *, open_word: bool = False) -> None:
        if self.word is None:
            self.word = [piece]
        else:
            self.word.append(piece)
        if open_word:
            self.simple.open_words = True

    def _end_word(self) -> None:
        if self.word is None:
            return
        word = "".join(self.word)
        self.word = None
        if self.to_output:
            self.simple.outputs.append(word)
            self.to_output = False
        elif self.to_input:
            self.to_input = False
        else:
            self.simple.words.append(word)

    def _end_simple(self) -> None:
        self._end_word()
        if self.to_output or self.to_input:
            raise _UnreadableError
        if self.simple.words or self.simple.outputs:
            self.pipeline.append(self.simple)
        self.simple = Simple([], [])

    def _end_pipeline(self, into: list[list[Simple]]) -> None:
        self._end_simple()
        if self.pipeline:
            into.append(self.pipeline)
            self.pipeline = []

    def _nested(self, text: str) -> None:
        _Reader(text, self.result, self.depth + 1).run(self.result.nested)

    def _inside(self, text: str) -> None:
        """Read the substitutions of a double-quoted text or an unquoted here-document."""
        position = 0
        while (match := _INNER.search(text, position)) is not None:
            if match.group() == "`":
                end = text.find("`", match.end()) + 1
                if not end:
                    raise _UnreadableError
                self._nested(text[match.end() : end - 1])
            else:
                end = closing(text, match.end())
                self._nested(text[match.end() : end - 1])
            position = end


_PAREN: Final = regex.lazy(r"'[^']*'|\"(?:[^\"\\]++|\\.)*+\"|\\.|[()]", re.DOTALL)


def closing(text: str, start: int) -> int:
    """The position behind the parenthesis that closes the one before ``start``.

    Raises:
        _UnreadableError: there is none.
    """
    depth = 1
    for match in _PAREN.finditer(text, start):
        token = match.group()
        if token == "(":
            depth += 1
        elif token == ")":
            depth -= 1
            if not depth:
                return match.end()
    raise _UnreadableError
