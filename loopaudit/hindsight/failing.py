"""Remembers what fails: the last failure of each tool that has not succeeded since."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from loopaudit.events import Call, Result
from loopaudit.hindsight.changes import Changes
from loopaudit.hindsight.failures import CURELESS, Failure, excerpt, failure_of, same_failure

MAX_FAILING: Final = 256
"""Failing tools remembered per agent."""


def error_text(result: Result) -> str:
    """The words of a failure: its error text, else its output."""
    error = result.error
    return result.output if error is None else error


class Failed(msgspec.Struct):
    """One failure. Its text is looked into only when there is another to compare it with."""

    number: int
    batch: int
    tool: str
    denied: bool
    text: str
    arguments: Any
    known: Failure | None = None

    def failure(self) -> Failure:
        """What identifies it."""
        if self.known is None:
            self.known = failure_of(self.text, self.arguments, denied=self.denied)
            self.text, self.arguments = "", None
        return self.known


class Failing:
    """What fails for one agent."""

    __slots__ = ("_by_scope", "last")

    def __init__(self) -> None:
        self._by_scope: dict[str, Failed] = {}
        self.last: Failed | None = None
        """The agent's last failure, if no call of any tool succeeded since."""

    def __bool__(self) -> bool:
        return bool(self._by_scope)

    def clear(self) -> None:
        """A person asked for something new."""
        self._by_scope.clear()
        self.last = None

    def succeeded(self, scope: str) -> None:
        """A call succeeded: its tool (in a shell, its program) fails no more."""
        self.last = None
        self._by_scope.pop(scope, None)

    def failed(
        self, call: Call, result: Result, arguments: Any, batch: int, scope: str
    ) -> tuple[Failed, Failed | None, Failed | None]:
        """Note a failure. Gives it, the one of its scope before it, and the agent's last one.

        Failures of the same response are no earlier ones: what a sibling met was not known
        when this call was sent.
        """
        before = self._by_scope.get(scope)
        last = self.last
        current = Failed(
            call.number, batch, call.name, result.status == "denied", excerpt(error_text(result)), arguments
        )
        if before is None or before.batch != batch:
            if len(self._by_scope) >= MAX_FAILING:
                self._by_scope.clear()
            self._by_scope[scope] = current
        else:
            before = None
        if last is None or last.batch != batch:
            self.last = current
        else:
            last = None
        return current, before, last


def alike(current: Failed, earlier: Failed, changes: Changes) -> bool:
    """Whether a failure only repeats what an earlier one told."""
    failure = current.failure()
    if not same_failure(failure, earlier.failure(), same_tool=current.tool == earlier.tool):
        return False
    return failure.category in CURELESS or not changes.since(earlier.number, None)
