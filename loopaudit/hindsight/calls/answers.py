"""Counts how often a tool gives one and the same answer to different questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any, Final

import msgspec

from loopaudit.core import regex
from loopaudit.core.regex import Phrase
from loopaudit.hindsight.calls.alternatives import words_of_search
from loopaudit.hindsight.calls.choices import words_of
from loopaudit.hindsight.calls.effects import WORDINGS
from loopaudit.hindsight.calls.noise import remove_all
from loopaudit.hindsight.calls.outputs import Held, KnownCall, differences, digest_of, equal, head_of, text_of

MAX_TOOLS: Final = 512
MAX_ANSWER: Final = 8192
"""Longest answer in characters that is kept as it is; of longer ones length and hash."""


MAX_ECHO: Final = 600
"""Longest answer in characters or bytes in which the question is looked for."""


def without_echo(held: Held, arguments: Any) -> Held:
    """An answer without the texts of the question in it (``No results for "…"``)."""
    if isinstance(held, tuple) or len(held) > MAX_ECHO or not isinstance(arguments, Mapping):
        return held
    text = plain = text_of(held) or ""
    for value in arguments.values():
        if isinstance(value, str) and len(value) >= MIN_ECHO:
            plain = plain.replace(value, "<argument>")
    return held if plain is text or plain == text else plain


_LABEL: Final = regex.lazy(
    r"[\w ]{1,32}[\"']?\s{0,4}[:=]\s{0,4}[\"']?\s{0,4}(?:null|none)?[\"']?\s{0,4}(?=[\n,}]|\Z)", re.IGNORECASE
)
"""A label with nothing behind it."""

_VALUE: Final = regex.lazy(r"[^\W_][\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?[ \t]{0,4}(?!null|none)[^\W_]", re.IGNORECASE)
"""A label with something behind it on its line, which stays. Most answers have one near their beginning."""


def only_echoes_back(held: Held, arguments: Any) -> bool:
    """Whether an answer gives the question back, and nothing else but labels (``Question: … Answer:``)."""
    if isinstance(held, tuple) or len(held) > MAX_ECHO:
        return False
    end = held[-MAX_LABEL_END:]
    if end.find(b":") < 0 if isinstance(end, bytes) else ":" not in end:
        return False  # as most do not; nothing need be decoded
    # A key or a name whose value is not set is looked up in the same words.
    asked = (
        {name: value for name, value in arguments.items() if name in WORDINGS} if isinstance(arguments, dict) else {}
    )
    plain = without_echo(held, asked)
    if plain is held or not isinstance(plain, str):
        return False
    rest = plain.replace("<argument>", "")
    return _VALUE.search(rest) is None and not any(map(str.isalnum, _LABEL.sub("", rest)))


MAX_LABEL_END: Final = 24
"""Characters or bytes at the end of an answer in which its last label ends."""

MAX_REPORT: Final = 4096
"""Longest report in characters that is compared without its ids."""

LEAST_REPORT: Final = 4
"""Words that make an answer a report and no mere acknowledgement."""

_FILE: Final = regex.lazy(r"https?://[^\s\"'<>)]{1,300}|[\w/-]{1,200}\.[a-z][a-z0-9]{1,4}\b(?![\w/])")
_ID: Final = regex.lazy(r"\b(?=[\w-]{0,63}[A-Za-z])(?=[\w-]{0,63}\d)[\w-]{4,64}\b")


def is_report(source: str | bytes) -> bool:
    """Whether an answer as recorded has the words of a report at its beginning."""
    return len(head_of(source).split()) >= LEAST_REPORT


MAX_BRIEF: Final = 2048
"""Characters of a text of a brief of which the words are looked at."""

FORM_WORDS: Final = 2
"""Words in which two briefs differ at most that are one form, filled in for two things."""


def brief_words(arguments: Any) -> frozenset[str]:
    """The different words of the texts with which work is given away."""
    texts = arguments.values() if isinstance(arguments, Mapping) else (arguments,)
    found = (words_of(text[:MAX_BRIEF].lower()) for text in texts if isinstance(text, str))
    return frozenset(word for words in found for word in words)


def is_one_form(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two briefs are one form for two things (*the README of a*, *of b*), and so give other work."""
    return one != other and max(len(one - other), len(other - one)) <= FORM_WORDS


def report_in(held: Held) -> str:
    """The text of an answer if it is a report, else nothing."""
    text = text_of(held) or ""
    return "" if len(text) > MAX_REPORT or len(text.split()) < LEAST_REPORT else text


def _plain_report(text: str) -> str:
    """A report without times and ids, but with all that was made: the files and addresses in it."""
    return "\0".join([_ID.sub("0", remove_all(text)), *_FILE.findall(text)])


def may_be_one_report(text: str, other: str) -> bool:
    """Whether two reports may be the same but for times and ids: none of these goes beyond its line."""
    return text.count("\n") == other.count("\n")


def same_report(text: str, other: str) -> bool:
    """Whether two reports are the same but for times and ids."""
    return may_be_one_report(text, other) and _plain_report(text) == _plain_report(other)


class _Report(msgspec.Struct):
    text: str
    batch: int
    number: int
    again: int = 0
    plain: str = ""


class Reports:
    """The last report of each agent to which one agent gave work. ``first`` is the call that had it first.

    Most agents give work away once, or get other reports: one is looked into when another may be the same.
    ``made`` tells that the last one names what was made.
    """

    __slots__ = ("_by_name", "_unread", "first", "made")

    def __init__(self) -> None:
        self._unread: dict[str, KnownCall] = {}
        self._by_name: dict[str, _Report] = {}
        self.first = 0
        self.made = False

    def again(self, name: str, entry: KnownCall, plain: Callable[[Held], Held]) -> int:
        """How many further calls, of different responses, ended in the report of this one."""
        first = self._unread.pop(name, None)
        if first is not None:
            self._keep(name, report_in(plain(first.held)), first)
        elif name not in self._by_name:
            if len(self._unread) >= MAX_TOOLS:
                self._unread.clear()
            self._unread[name] = entry
            return 0
        text = report_in(plain(entry.held))
        if not text:
            return 0
        last = self._by_name.get(name)
        if last is None or not may_be_one_report(last.text, text):
            self._keep(name, text, entry)
            return 0
        now = _plain_report(text)
        last.plain = last.plain or _plain_report(last.text)
        if last.plain != now:
            self._keep(name, text, entry, now)
            return 0
        if last.batch == entry.batch:
            return 0
        last.again += 1
        last.batch = entry.batch
        self.first, self.made = last.number, _FILE.search(text) is not None
        return last.again

    def _keep(self, name: str, text: str, entry: KnownCall, plain: str = "") -> None:
        if text:
            if len(self._by_name) >= MAX_TOOLS:
                self._by_name.clear()
            self._by_name[name] = _Report(text, entry.batch, entry.last, plain=plain)


MIN_ECHO: Final = 3
"""Shortest text of a question that is taken for an echo."""


_QUESTION_WORD: Final = regex.lazy(r"[^\W\d_]{3,}")
_COMMON: Final = frozenset(
    "the and for are was with what how does did can you from that this there any have has into about which when where"
    " who why our your der die das und wie was ist für mit les des est que quoi pour avec los las una por para con come"
    " cosa per quale como qué und oder não sim".split()
)
"""Words that stand in questions about anything."""

LEAST_ASKED: Final = 4
"""Words of a question that is put in a sentence, and not in the keywords of a search."""

LEAST_SHARED: Final = 2
"""Words that tell what a question is about, and that it shares with an earlier one in other words."""

_NOTHING_ELSE: Final = Phrase(
    "no further|no other|no additional|no more|nothing else",
    r"\b(?:no (?:further|other|additional|more) (?!results?\b|matches\b|pages?\b|hits\b|items?\b|rows?\b|records?\b)"
    r"(?:\w{1,24} ){0,3}(?:is|are|exists?|available|installed|configured|registered|defined|supported|offered|known)"
    r"|nothing else (?:is|exists|available))\b",
)


def tells_all(held: Held) -> bool:
    """Whether an answer tells that there is nothing else of its kind: other words bring no other answer."""
    return not isinstance(held, tuple) and _NOTHING_ELSE.search((text_of(held) or "")[:MAX_REPORT].lower()) is not None


def _about(question: str) -> frozenset[str]:
    """The beginnings of the words that tell what a question is about."""
    return frozenset(word[:5] for word in _QUESTION_WORD.findall(question.lower()) if word not in _COMMON)


_YES_OR_NO: Final = regex.lazy(
    r"\W*(?:[\w ]{1,24}[\"']?\s?[:=]\s?[\"']?)?"
    r"(?:yes|no|true|false|ja|nein|oui|non|sí|si|sim|não|да|нет|是|否|有|没有|无|はい|いいえ)(?!\s{0,4}\w)",
    re.IGNORECASE,
)


def _only_yes_or_no(held: Held) -> bool:
    """Whether an answer says no more than yes or no, as many different questions are answered."""
    return not isinstance(held, tuple) and _YES_OR_NO.match(text_of(held) or "") is not None


def _but_for_noise(before: Held, held: Held, asked: str | None) -> bool:
    return asked is not None and differences(before, held) is not None and not _only_yes_or_no(held)


class _Constant(msgspec.Struct):
    held: Held
    batch: int
    number: int
    again: int = 0
    asked: str = ""
    about: frozenset[str] | None = None

    def rephrased(self, asked: str) -> bool:
        """Whether a question was put in other words before."""
        before, self.asked = self.asked, asked
        if len(asked.split()) < LEAST_ASKED:
            return False
        about = _about(before) if self.about is None else self.about
        now = _about(asked)
        self.about = about | now
        shared = len(about & now)
        return shared >= LEAST_SHARED and 2 * shared >= len(now) and not _of_one_form(before, asked)


def _of_one_form(before: str, asked: str) -> bool:
    """Whether two questions differ in one place only, so that they ask the same of different things."""
    one, other = before.lower().split(), asked.lower().split()
    shorter = min(len(one), len(other))
    same = _equal_words(one, other)
    same += _equal_words(one[same:][::-1], other[same:][::-1])
    return same < shorter and 2 * same >= shorter


def _equal_words(one: list[str], other: list[str]) -> int:
    """How many words two lists have in common at their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


class Answers:
    """The last answers of one agent's informing tools. ``first`` is the call that had it first.

    ``rephrased`` tells that the last question was put in other words before.
    """

    __slots__ = ("_by_tool", "first", "rephrased")

    def __init__(self) -> None:
        self._by_tool: dict[str, _Constant] = {}
        self.first = 0
        self.rephrased = False

    def __contains__(self, tool: str) -> bool:
        return tool in self._by_tool

    def clear(self) -> None:
        """A person asked for something new."""
        self._by_tool.clear()

    def forget(self, tool: str) -> None:
        """A tool's last answer says nothing of its next one."""
        self._by_tool.pop(tool, None)

    def again(self, tool: str, held: Held, number: int, batch: int, asked: str | None = None) -> int:
        """How many further questions, of different responses, had the answer of this call.

        ``asked`` is a question in words of one's own, to which noise is no other answer.
        """
        if len(held) < 3:  # nothing, or an empty text
            self._by_tool.pop(tool, None)
            return 0
        if not isinstance(held, tuple) and len(held) > MAX_ANSWER:
            held = digest_of(held)
        last = self._by_tool.get(tool)
        if last is None or not (equal(last.held, held) or _but_for_noise(last.held, held, asked)):
            if len(self._by_tool) >= MAX_TOOLS:
                self._by_tool.clear()
            self._by_tool[tool] = _Constant(held, batch, number, asked=asked or "")
            return 0
        if last.batch == batch:
            return 0
        last.again += 1
        last.batch = batch
        self.rephrased = asked is not None and last.rephrased(asked) and not _only_yes_or_no(held)
        self.first = last.number
        return last.again


class Searches(Answers):
    """What one agent's searches in a shell have found, by their words.

    Few find what another one has found, and only then do their words matter: until then they are kept unread.
    """

    __slots__ = ("_found", "_kinds", "_unread")

    def __init__(self) -> None:
        super().__init__()
        self._found: set[Held] = set()
        self._kinds: set[bool] = set()
        """Whether that is recorded as text, or as JSON: what is recorded in both ways is not found by its hash."""
        self._unread: list[tuple[str, str, Held, int, int]] = []

    def found(self, tool: str, command: str, held: Held, number: int, batch: int) -> str:
        """Note what a search has found: the name to count it by with :meth:`again`, or nothing where it is new."""
        self._kinds.add(held[0] if isinstance(held, tuple) else isinstance(held, str))
        found = self._found
        if held not in found and len(found) < MAX_TOOLS and len(self._kinds) == 1:
            found.add(held)
            self._unread.append((tool, command, held, number, batch))
            return ""
        for earlier, spelled, shown, called, index in self._unread:
            self.again(f"{earlier}\0{words_of_search(spelled)}", shown, called, index)
        self._unread.clear()
        return f"{tool}\0{words_of_search(command)}"
