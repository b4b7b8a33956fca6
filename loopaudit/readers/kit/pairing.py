"""Pairs answers with the calls of the newest response where ids are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopaudit.core.canonical import compact
from loopaudit.core.events import Call, Status, content_text
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Answer, Content
from loopaudit.readers.kit.fields import malformed
from loopaudit.readers.kit.whole import Fresh


class Pairing:
    """Remembers the calls of the newest response that has any."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: list[Call] = []

    def asked(self, calls: Sequence[Call]) -> None:
        """The calls of a response; one without calls changes nothing."""
        if calls:
            self._calls = list(calls)

    def open(self) -> list[Call]:
        """Those calls that have no result yet, in order."""
        return [call for call in self._calls if call.result is None]

    def waiting(self, name: str | None = None) -> Call | None:
        """The first open call of a name, else the first open one at all."""
        waiting = self.open()
        named = [call for call in waiting if call.name == name]
        return next(iter((*named, *waiting)), None)

    def answer(self, emit: Emitter, answer: Answer, *, line: int = 0, at: str | float | None = None) -> Call | None:
        """Report an answer: by its id, else as that of a waiting call. Returns the call."""
        call = answer.call
        if call is None:
            open_call = self.waiting(answer.name)
            call = open_call.id if open_call is not None else None
        if call is None:
            # Nothing waits here: under an id that no call has, it answers no older call by mistake.
            call = f"line {line}: no call"
        return emit.result(
            call,
            answer.output,
            failed=answer.failed,
            status=answer.status,
            exit_code=answer.exit_code,
            line=line,
            at=at,
        )

    def answers(self, emit: Emitter, content: Content, *, line: int = 0, at: str | float | None = None) -> None:
        """Report all answers of a message."""
        for answer in content.answers:
            self.answer(emit, answer, line=line, at=at)


class Ledger:
    """Tells an emitter calls and results, and remembers the calls that are open."""

    __slots__ = ("_emit", "_fresh", "_key", "_newest", "_open")

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit
        self.begin()

    def begin(self, session: str | None = None) -> None:
        """Begin another conversation; ``None`` goes on with the emitter's."""
        self._fresh = Fresh()
        self._open: dict[str, list[Call]] = {}
        self._newest: list[Call] = []
        self._key: tuple[str, str | None] | None = None
        if session is not None:
            self._emit.session(session)

    def call(
        self,
        name: Any,
        arguments: Any,
        *,
        id: Any = None,
        key: str | None = None,
        agent: str = "",
        line: int = 0,
        at: str | float | None = None,
        model: str | None = None,
    ) -> Call | None:
        """Report a call. A name that is no text, or an id that is neither text nor a number, is damage."""
        if not isinstance(name, str) or not name:
            malformed(self._emit, "a call without the name of its tool", line)
            name = ""
        own = _id(id)
        if own is None and id is not None:
            malformed(self._emit, "a call with an id that is no text", line)
        call = self._emit.call(
            name, arguments, id=self._fresh.id(own), key=key, agent=agent, line=line, at=at, model=model
        )
        if call is None:
            return None
        if own is not None:
            self._open.setdefault(own, []).append(call)
        if (agent, key) != self._key or key is None:
            waiting = [] if key is not None else [c for c in self._newest if c.result is None]
            self._key, self._newest = (agent, key), waiting
        self._newest.append(call)
        return call

    def waiting(self) -> list[Call]:
        """The open calls of the newest response, in order."""
        return [call for call in self._newest if call.result is None]

    def open(self, id: str) -> list[Call]:
        """The open calls of an id, oldest first."""
        return [call for call in self._open.get(id, ()) if call.result is None]

    def answer(
        self,
        id: Any,
        output: Any,
        *,
        name: Any = None,
        failed: bool | None = None,
        status: Status | None = None,
        exit_code: int | None = None,
        error: str | None = "",
        line: int = 0,
        at: str | float | None = None,
    ) -> Call | None:
        """Report the result of the call with this id, or without one of a call that waits."""
        own = _id(id)
        if own is not None:
            waiting = [call for call in self._open.pop(own, ()) if call.result is None]
            if len(waiting) > 1:
                self._open[own] = waiting
        else:
            waiting = self.waiting()
            waiting = [*(call for call in waiting if call.name == name), *waiting]
        # Nothing waits: under an id that no call has, a result answers no older call by mistake.
        call = waiting[0].id if waiting else own or f"line {line}: no call"
        return self._emit.result(
            call, output, failed=failed, status=status, exit_code=exit_code, error=error, line=line, at=at
        )


def _id(value: Any) -> str | None:
    if isinstance(value, str) and value:
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def value_text(output: Any) -> str:
    """The text of what a function returned: text itself, the text of content blocks, else its JSON."""
    if output is None or isinstance(output, str):
        return output or ""
    if (
        isinstance(output, list)
        and output
        and all(isinstance(b, dict) and isinstance(b.get("type"), str) for b in output)
    ):
        return content_text(output)
    return compact(output)
