"""Remembers what fails: the last failure of each tool that has not succeeded since."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from loopaudit.core import regex
from loopaudit.core.events import Result, decode_text
from loopaudit.core.failure_words import says_failure
from loopaudit.core.regex import Phrase
from loopaudit.hindsight.calls.changes import Changes
from loopaudit.hindsight.calls.failures import (
    CURELESS,
    Failure,
    Gist,
    ends_of,
    excerpt,
    failure_of,
    gist_of,
    loose,
    may_be_obstacle,
    obstacle_of,
    same_failure,
)
from loopaudit.hindsight.calls.outputs import as_letters
from loopaudit.hindsight.calls.subject import Subject
from loopaudit.hindsight.shell.programs import EFFECT_CHANGES

MAX_FAILING: Final = 256
"""Failing tools remembered per agent."""

MAX_WORDS: Final = 8
"""Failing shell programs that a command is searched for before its own program is looked for."""

MAX_OBSTACLES: Final = 64
"""Reasons with their places that are remembered per agent."""

FAIR_WAYS: Final = 3
"""Programs that may meet one obstacle before another try brings nothing."""

MAX_UNREAD: Final = 4096
"""Longest error text, in characters or bytes, that is kept until somebody asks for it; of longer ones an excerpt."""


def error_text(result: Result) -> str:
    """The words of a failure: its error text, else its output."""
    error = result.error
    return result.output if error is None else error


class Failed(msgspec.Struct):
    """One failure. Its text is looked into only when there is another to compare it with.

    ``text`` is the error text, or the JSON bytes of it.
    """

    number: int
    batch: int
    tool: str
    denied: bool
    text: str | bytes
    arguments: Any
    known: Failure | None = None
    loosely: str | None = None
    gist: Gist | None = None
    gropes: int = 0
    """How many failures right before it told the same of other targets."""

    def loose(self) -> str:
        """A text that differs between this and another failure only if they are not alike."""
        loosely = self.loosely
        if loosely is None:
            self.text = excerpt(decode_text(self.text) if isinstance(self.text, bytes) else self.text)
            self.gist = gist_of(self.text, self.arguments)
            self.loosely = loosely = loose(self.gist, self.arguments)
        return loosely

    def failure(self) -> Failure:
        """What identifies it."""
        if self.known is None:
            self.loose()
            self.known = failure_of(str(self.text), self.arguments, self.gist, tool=self.tool, denied=self.denied)
            self.text, self.arguments, self.gist = "", None, None
        return self.known


class Failing:
    """What fails for one agent."""

    __slots__ = ("_by_scope", "_obstacles", "_words", "last", "obstacle")

    def __init__(self) -> None:
        self._by_scope: dict[str, Failed] = {}
        self._obstacles: dict[str, tuple[int, int, int]] = {}
        """What several programs failed of: how many responses did, the last of them, and its call."""
        self.obstacle = ""
        """What the last failure was found to repeat, if that was an obstacle of other programs."""
        self._words: dict[str, str] = {}
        """Of failing shell programs, the word that a command has to hold to run the same one, by scope."""
        self.last: Failed | None = None
        """The agent's last failure, if no call of any tool succeeded since."""

    def __bool__(self) -> bool:
        return bool(self._by_scope) or bool(self._obstacles)

    def clear(self) -> None:
        """A person asked for something new."""
        self._by_scope.clear()
        self._words.clear()
        self._obstacles.clear()
        self.last = None

    def met(self, subject: Subject, result: Result, batch: int) -> int:
        """The call before that failed of what this failure tells, by whatever program; 0 for one of the first ways.

        Three different ways around an obstacle are fair.
        """
        self.obstacle = ""
        if not may_be_obstacle(result.error_source or result.source):
            return 0
        command = subject.command or subject.path() or ""
        obstacle = obstacle_of(excerpt(error_text(result)), command)
        if not obstacle:
            return 0
        times, last, number = self._obstacles.get(obstacle, (0, -1, 0))
        if last != batch:
            if not times and len(self._obstacles) >= MAX_OBSTACLES:
                self._obstacles.clear()
            self._obstacles[obstacle] = (times + 1, batch, subject.call.number)
        if times < FAIR_WAYS:
            return 0
        self.obstacle = obstacle
        return number

    def _overcome(self, subject: Subject) -> None:
        """A call succeeded; one that changed something at the place of an obstacle has overcome it."""
        text = subject.command or subject.path() or ""
        for obstacle in [o for o in self._obstacles if o.partition("\0")[2] in text]:
            if subject.effect().effect == EFFECT_CHANGES:
                del self._obstacles[obstacle]

    def succeeded(self, subject: Subject) -> None:
        """A call succeeded: its tool (in a shell, its program) fails no more."""
        self.last = None
        if self._obstacles:
            self._overcome(subject)
        scopes = self._by_scope
        if not scopes:
            return
        if subject.nature.kind != "shell":
            scopes.pop(subject.scope(), None)
            return
        words = self._words
        if len(words) <= MAX_WORDS:
            # Most commands do not even hold the name of what failed.
            command = subject.command or ""
            for word in words.values():
                if word in command:
                    break
            else:
                return
        scope = subject.scope()
        scopes.pop(scope, None)
        words.pop(scope, None)

    def failed(self, subject: Subject, result: Result, batch: int) -> tuple[Failed, Failed | None, Failed | None]:
        """Note a failure. Gives it, the one of its scope before it, and the agent's last one.

        Failures of the same response are no earlier ones: what a sibling met was not known
        when this call was sent.
        """
        call = subject.call
        scope = subject.scope()
        before = self._by_scope.get(scope)
        last = self.last
        text: str | bytes = result.source
        if result.has_error and result.error_source:
            text = result.error_source
        if len(text) > MAX_UNREAD:
            text = (ends_of(text) if isinstance(text, bytes) else None) or excerpt(error_text(result))
        current = Failed(call.number, batch, call.name, result.status == "denied", text, subject.arguments())
        if before is None or before.batch != batch:
            if len(self._by_scope) >= MAX_FAILING:
                self._by_scope.clear()
                self._words.clear()
            self._by_scope[scope] = current
            if subject.nature.kind == "shell":
                self._words[scope] = scope[len(call.name) + 1 :].partition(" ")[0]
        else:
            before = None
        if last is None or last.batch != batch:
            self.last = current
        else:
            last = None
        return current, before, last


class Erring:
    """What answers one agent's tools give that are not flagged as failures, but read like errors.

    ``first`` is the call that had the answer of the last one first.
    """

    __slots__ = ("_by_scope", "first")

    def __init__(self) -> None:
        self._by_scope: dict[str, tuple[Failed, int, int, str]] = {}
        """By scope the last such answer, how often it came again, the call that had it first, and its first words."""
        self.first = 0

    def __bool__(self) -> bool:
        return bool(self._by_scope)

    def clear(self) -> None:
        """A person asked for something new."""
        self._by_scope.clear()

    def succeeded(self, subject: Subject) -> None:
        """A tool (in a shell, a program) gave another answer."""
        scopes = self._by_scope
        if subject.nature.kind == "shell" and len(scopes) <= MAX_WORDS:
            command = subject.command or ""
            for scope in scopes:
                if scope.rpartition("\0")[2].partition(" ")[0] in command:
                    break
            else:
                return  # most commands do not even hold the name of a program that erred
        scopes.pop(subject.scope(), None)

    def again(self, subject: Subject, text: str, batch: int, changes: Changes) -> int:
        """How many further calls, of different responses, met the error of this one, with no change in between."""
        call = subject.call
        scope = subject.scope()
        current = Failed(call.number, batch, call.name, False, text, subject.arguments())
        words = _DIGITS.sub("0", " ".join(text[: 2 * LOOKED_AT].split(None, 3)[:3]))
        before = self._by_scope.get(scope)
        # What differs in its first words tells something else, or of another target; that spares most comparisons.
        if before is None or before[3] != words or not alike(current, before[0], changes):
            if len(self._by_scope) >= MAX_FAILING:
                self._by_scope.clear()
            self._by_scope[scope] = current, 0, call.number, words
            return 0
        earlier, again, self.first, _ = before
        if earlier.batch == batch:
            return 0
        self._by_scope[scope] = current, again + 1, self.first, words
        return again + 1


_DIGITS: Final = regex.lazy(r"\d+")
_RAISING: Final = (
    "sandbox|execution|runtime|script|kernel|interpreter|evaluation|tool|code|command|python|javascript|js|node|plugin"
    "|server|worker|remote|internal"
)
_BEGINS: Final = (
    Phrase("error|exception", r"\W{0,4}[a-z_][\w.]{0,100}(?:error|exception)\b\s?[:(\[]"),
    Phrase(
        "|".join(f"{name} {what}" for name in _RAISING.split("|") for what in ("error", "exception")),
        rf"\W{{0,4}}(?:{_RAISING}) (?:error|exception)\b\s?[:(\[]",
    ),
    Phrase(
        "mcp error|error executing|error processing|error running|error calling|error invoking|error while|error with",
        r"\W{0,4}(?:mcp error|error (?:executing|processing|running|calling|invoking|while|with))\b",
    ),
)
_BEGINNING: Final = 120
"""Characters in which they match."""

LOOKED_AT: Final = 64
"""Characters or bytes of an answer that are looked at before anything of it is decoded."""

_TRACES: Final = ("Traceback", "Cell In[", "  Cell In[", "--------------------")
_RAW_TRACES: Final = tuple('"' + begin for begin in _TRACES)


def says_error(text: str) -> bool:
    """Whether an answer that is not flagged as a failure is an error by how it begins."""
    if says_failure(text):
        return True
    low = text[:_BEGINNING].lower()
    return any(phrase.match(low) is not None for phrase in _BEGINS)


def may_say_error(source: str | bytes) -> bool:
    """Whether an answer, as recorded, may be an error that says so at once, or a trace; spares decoding most."""
    if isinstance(source, str):
        head = source[:LOOKED_AT]
        return "rror" in head or "xception" in head or head.startswith(_TRACES)
    head = as_letters(source[:LOOKED_AT])
    return "rror" in head or "xception" in head or head.startswith(_RAW_TRACES)


_HEADERS: Final = (b'"Chunk ID: ', b'"Wall time: ', b'"Exit code: ')
_RAW_OUTPUT: Final = b"Output:\\n"
HEADER: Final = 300
"""Most bytes of the lines that Codex puts before the output of a command."""


def behind_header(source: str | bytes) -> str | bytes:
    """The output of a command, as recorded, without the lines that Codex puts before it."""
    if isinstance(source, bytes):
        if source.startswith(_HEADERS):
            end = source.find(_RAW_OUTPUT, 0, HEADER)
            return source if end < 0 else b'"' + source[end + len(_RAW_OUTPUT) :]
    elif source.startswith(("Chunk ID: ", "Wall time: ", "Exit code: ")):
        end = source.find("Output:\n", 0, HEADER)
        return source if end < 0 else source[end + len("Output:\n") :]
    return source


def maybe_error(source: str | bytes, *, of_shell: bool) -> str | bytes | None:
    """An answer, as recorded and without a header, if it :func:`may_say_error`; else ``None``."""
    head = as_letters(source[: HEADER + LOOKED_AT])
    # One of these stands near the beginning of an error; that spares looking for its header in most answers.
    if not ("rror" in head or "xception" in head or "Traceback" in head or "Cell In[" in head or "-----" in head):
        return None
    if of_shell:
        source = behind_header(source)
    return source if may_say_error(source) else None


def gropes(current: Failed, earlier: Failed) -> bool:
    """Whether a failure only tells once more that something is not there, without naming it."""
    if current.loose() != earlier.loose():
        return False
    failure, before = current.failure(), earlier.failure()
    return (
        failure.category == before.category == "not_found"
        and failure.plain == before.plain
        and not failure.names_target
    )


def alike(current: Failed, earlier: Failed, changes: Changes) -> bool:
    """Whether a failure only repeats what an earlier one told."""
    if current.loose() != earlier.loose():
        return False
    failure = current.failure()
    if not same_failure(failure, earlier.failure(), same_tool=current.tool == earlier.tool):
        return False
    return failure.category in CURELESS or not changes.since(earlier.number, None)
