"""Builds small conversations in memory, and runs hindsight over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopaudit.core.events import Event, Usage
from loopaudit.core.findings import Action, Finding
from loopaudit.hindsight.observer import Hindsight, HindsightResult
from loopaudit.readers.emit import Emitter

FAIL = "!"
"""An output that begins with this is a failure with the rest as its text."""

NO_RESULT = "?"
"""This output leaves the call without a result."""


class Session:
    """One conversation. Every method returns the session, so that calls can be chained."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._emit = Emitter(self.events.append)
        self._emit.knows_success()
        self._batches = 0
        self._turns = 0
        self._clock = 0.0

    def batch(self, *calls: tuple[str, Any, str], agent: str = "", usage: Usage | None = None) -> Session:
        """Calls of one response: name, arguments, output."""
        self._batches += 1
        key = f"r{self._batches}"
        made = []
        for name, arguments, output in calls:
            self._clock += 1
            call = self._emit.call(name, arguments, key=key, agent=agent, at=self._clock)
            assert call is not None
            made.append((call, output))
        if usage is not None:
            self._emit.usage(usage, agent=agent, key=key)
        for call, output in made:
            if output != NO_RESULT:
                self._clock += 1
                failed = output.startswith(FAIL)
                text = output[1:] if failed else output
                self._emit.result(call.id, text, failed=failed, agent=agent, at=self._clock)
        return self

    def call(
        self, name: str, arguments: Any, output: str, *, times: int = 1, agent: str = "", usage: Usage | None = None
    ) -> Session:
        """The same call in ``times`` responses."""
        for _ in range(times):
            self.batch((name, arguments, output), agent=agent, usage=usage)
        return self

    def sh(self, command: str, output: str = "", *, times: int = 1) -> Session:
        """A shell command."""
        return self.call("bash", {"command": command}, output, times=times)

    def read(self, path: str, output: str = "text", **arguments: Any) -> Session:
        """A read of a file."""
        return self.call("read_file", {"path": path, **arguments}, output)

    def edit(self, path: str, old: str, new: str, output: str = "ok") -> Session:
        """A replacement in a file."""
        return self.call("edit_file", {"path": path, "old_string": old, "new_string": new}, output)

    def write(self, path: str, content: str, output: str = "ok") -> Session:
        """A whole file."""
        return self.call("write_file", {"path": path, "content": content}, output)

    def say(self, text: str = "Done.") -> Session:
        """A reply without calls."""
        self._batches += 1
        self._emit.say(text, key=f"r{self._batches}")
        return self

    def user(self, text: str = "", agent: str = "") -> Session:
        """A person's message."""
        self._turns += 1
        self._emit.turn(text or f"Request {self._turns}.", agent=agent)
        return self

    def boundary(self, kind: Any, reason: str = "") -> Session:
        """A compaction, an interruption and the like."""
        self._emit.boundary(kind, reason)
        return self

    def judged(self) -> HindsightResult:
        """What hindsight says of the conversation. Ends it."""
        self._emit.finish()
        return judge(self.events)

    def classes(self) -> list[str]:
        """The class of each call, in the order of call numbers."""
        result = self.judged()
        return [result.class_of(n).word for n in range(1, self._emit.totals.calls + 1)]

    def kinds(self) -> list[str]:
        """The kinds of the episodes."""
        return [episode.kind for episode in self.judged().episodes]


def judge(events: list[Event]) -> HindsightResult:
    """What hindsight says of events."""
    hindsight = Hindsight()
    hindsight.events(events)
    return hindsight.finish()


def firing(action: Action, call: int, *, agent: str = "", batch: tuple[int, int] | None = None) -> Finding:
    """A firing of some guard at a call, or at a batch of calls."""
    return Finding(
        policy="p",
        action=action,
        own_word=action.slug,
        rule="r",
        count=1,
        tool="t",
        session="",
        agent=agent,
        turn=1,
        batch=1,
        call=call if batch is None else batch[1],
        calls=(call, call) if batch is None else batch,
        whole_batch=batch is not None,
        line=0,
        arguments="",
        message="",
    )


Made = tuple[str, Any, str]
"""A call: name, arguments, output."""

Story = Callable[[], Session]


def run(*calls: Made, request: str = "Please see to it.") -> Session:
    """Calls one after another, after a request."""
    session = Session().user(request)
    for name, arguments, output in calls:
        session.call(name, arguments, output)
    return session
