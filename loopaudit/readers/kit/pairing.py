"""Pairs results with calls where ids are missing, blanked or used again.

:class:`Pairing` pairs by id, else with the open calls of the newest response, of which
:class:`OpenCalls` finds the first; :class:`Waiting` pairs by any keys, such as name and agent. All take constant
time for a call: a hostile response may have a hundred thousand. An id that a call has for sure needs neither:
the emitter pairs by it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from loopaudit.core.canonical import compact
from loopaudit.core.events import Call, Status, content_text
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Answer
from loopaudit.readers.kit.fields import identifier, malformed
from loopaudit.readers.kit.whole import Fresh


class Waiting:
    """Open calls under several keys (id, name), oldest first. Every step takes constant time."""

    __slots__ = ("_queues", "_taken")

    def __init__(self) -> None:
        self._queues: dict[Hashable, deque[str]] = {}
        self._taken: set[str] = set()

    def add(self, call: str, *keys: Hashable) -> None:
        """Let a call wait under some keys."""
        for key in keys:
            self._queues.setdefault(key, deque()).append(call)

    def take(self, *keys: Hashable) -> str | None:
        """The oldest call of the first key that has one; it waits no longer, under no key."""
        for key in keys:
            queue = self._queues.get(key)
            while queue:
                call = queue.popleft()
                if call not in self._taken:
                    self._taken.add(call)
                    return call
        return None


class OpenCalls:
    """Calls in order, those without a result among them. A step takes constant time, over many of them."""

    __slots__ = ("_by_name", "_calls", "_kept")

    def __init__(self, calls: Iterable[Call] = ()) -> None:
        self._calls = deque(calls)
        self._kept = len(self._calls)
        self._by_name: dict[str, deque[Call]] | None = None

    def add(self, call: Call) -> None:
        """Add the newest call."""
        if len(self._calls) > 2 * self._kept + 64:
            self._calls = deque(self)  # answered ones stand behind one that is open
            self._kept = len(self._calls)
            self._by_name = None
        self._calls.append(call)
        if self._by_name is not None:
            self._by_name.setdefault(call.name, deque()).append(call)

    def __iter__(self) -> Iterator[Call]:
        return (call for call in self._calls if call.result is None)

    def listed(self) -> list[Call]:
        """All without a result, in order."""
        return [call for call in self._calls if call.result is None]

    def first(self, name: Any = None) -> Call | None:
        """The first one without a result of this name, else the first one without a result at all."""
        found = None
        if isinstance(name, str):
            if self._by_name is None:
                self._by_name = {}
                for call in self._calls:
                    self._by_name.setdefault(call.name, deque()).append(call)
            found = _front(self._by_name.get(name))
        return found or _front(self._calls)


def _front(calls: deque[Call] | None) -> Call | None:
    """The first call without a result; those before it are dropped."""
    while calls:
        if calls[0].result is None:
            return calls[0]
        calls.popleft()
    return None


class Pairing:
    """Reports calls and results to an emitter, and remembers the calls that are open."""

    __slots__ = ("_emit", "_fresh", "_key", "_newest", "_open")

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit
        self.begin()

    def begin(self, session: str | None = None) -> None:
        """Begin another conversation; ``None`` goes on with the emitter's."""
        self._fresh = Fresh()
        self._open: dict[str, OpenCalls] = {}
        self._newest = OpenCalls()
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
        agent: str | None = None,
        line: int | None = None,
        at: str | float | None = None,
        model: str | None = None,
    ) -> Call | None:
        """Report a call. A name that is no text, or an id that is neither text nor a number, is damage."""
        if not isinstance(name, str) or not name:
            malformed(self._emit, "a call without the name of its tool", line)
            name = ""
        if agent is None:
            agent = self._emit.agent
        own = fresh = None
        if id is not None:
            own = identifier(id) or None
            fresh = self._fresh.id(own)
            if own is None:
                malformed(self._emit, "a call with an id that is no text", line)
        call = self._emit.call(name, arguments, id=fresh, key=key, agent=agent, line=line, at=at, model=model)
        if call is None:
            return None
        if own is not None:
            waiting = self._open.get(own)
            if waiting is None:
                self._open[own] = OpenCalls((call,))
            else:
                waiting.add(call)
        if (agent, key) != self._key or key is None:
            self._key = (agent, key)
            if key is not None:
                self._newest = OpenCalls((call,))
                return call
        self._newest.add(call)
        return call

    def asked(self, calls: Sequence[Call]) -> None:
        """The calls of a response, reported by others; one without calls changes nothing."""
        if calls:
            self._newest = OpenCalls(calls)

    def waiting(self) -> list[Call]:
        """The open calls of the newest response, in order."""
        return self._newest.listed()

    def is_waiting(self) -> bool:
        """Whether there is any."""
        return self._newest.first() is not None

    def open(self, id: str) -> list[Call]:
        """The open calls of an id, oldest first."""
        waiting = self._open.get(id)
        return [] if waiting is None else waiting.listed()

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
        line: int | None = None,
        at: str | float | None = None,
    ) -> Call | None:
        """Report the result of the call with this id, or without one of a call that waits."""
        own = None if id is None else identifier(id) or None
        if own is None:
            found = self._newest.first(name)
        else:
            waiting = self._open.get(own)
            found = None if waiting is None else waiting.first()
            if waiting is not None and len(list(islice(waiting, 2))) < 2:
                del self._open[own]
        # Nothing waits: under an id that no call has, a result answers no older call by mistake.
        call = found.id if found is not None else own or f"line {self._emit.line if line is None else line}: no call"
        return self._emit.result(
            call, output, failed=failed, status=status, exit_code=exit_code, error=error, line=line, at=at
        )

    def answer_block(self, answer: Answer, *, line: int | None = None, at: str | float | None = None) -> Call | None:
        """Report a result block, see :meth:`answer`."""
        return self.answer(
            answer.call,
            answer.output,
            name=answer.name,
            failed=answer.failed,
            status=answer.status,
            exit_code=answer.exit_code,
            line=line,
            at=at,
        )


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
