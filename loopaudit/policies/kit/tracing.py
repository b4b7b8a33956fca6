"""What a guard says about calls it lets through: nothing, unless it is traced."""

from __future__ import annotations

from collections.abc import Iterable

from loopaudit.core.events import Call
from loopaudit.core.findings import Action, Decision


def allow(call: Call, position: int, count: int = 0) -> Decision:
    """A call that the guard let through, with the number that it counted."""
    return Decision(Action.ALLOW, "none", position, count, "allow", call.name)


def allow_all(calls: Iterable[Call]) -> list[Decision]:
    """All calls of a batch let through by a guard that does not look at single calls."""
    return [allow(call, position) for position, call in enumerate(calls)]
