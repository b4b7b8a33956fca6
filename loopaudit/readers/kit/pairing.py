"""Pairs answers with the calls of the newest response where ids are missing."""

from __future__ import annotations

from collections.abc import Sequence

from loopaudit.core.events import Call
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Answer, Content


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
