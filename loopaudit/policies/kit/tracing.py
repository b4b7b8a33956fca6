"""The decision on a call that a guard lets through; it is made only where the guard is traced."""

from __future__ import annotations

from loopaudit.core.events import Call
from loopaudit.core.findings import Action, Decision


def allow(call: Call, position: int, count: int = 0) -> Decision:
    """Allow a call, with the number that the guard counted."""
    return Decision(Action.ALLOW, "none", position, count=count, own_word="allow", tool=call.name)
