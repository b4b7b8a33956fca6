"""Messages of roles that a chat's API does not have: a sub-agent's, or what a harness wrote for itself.

One of them makes no chat unreadable. Those of a sub-agent belong to it; the others are read around and counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from loopaudit.core import regex
from loopaudit.core.text import one_line
from loopaudit.readers.emit import Emitter

RESULTS: Final = frozenset({"observation", "environment"})
"""Roles of what the world answered: a result while a call waits, else a stray."""

HARNESS: Final = (
    frozenset(
        "session_meta meta metadata info event log debug warning error status progress critic judge reviewer evaluator "
        "verifier exit summary note notification".split()
    )
    | RESULTS
)
"""Roles that harnesses put between the messages of a chat that has no calls otherwise."""

FOREIGN: Final = frozenset(
    {"model", "ai", "gpt", "toolResult", "bashExecution", "custom", "notice", "User", "Assistant", "Tool", "System"}
)
"""Roles by which other formats call their speakers."""

_SUB_AGENT: Final = regex.lazy(
    r"(assistant|user|tool|system)[-_:/ ]?sub[-_ ]?agent(?:[-_:/# ]+(?P<name>[^\n]{1,80}))?\Z", re.IGNORECASE
)


def sub_agent(role: str) -> tuple[str, str] | None:
    """The plain role and the name of the sub-agent, of a role such as ``assistant-subagent-a1``."""
    found = _SUB_AGENT.match(role)
    return (found[1].lower(), found["name"] or "subagent") if found else None


def strays_of(roles: Sequence[str], known: Collection[str]) -> set[str] | None:
    """The roles that are not known; ``None`` where they are another format's, or as many as those that are known."""
    strays = [role for role in roles if role not in known and sub_agent(role) is None]
    return None if 2 * len(strays) >= max(len(roles), 1) or not FOREIGN.isdisjoint(strays) else set(strays)


def unknown_role(emit: Emitter, role: str | None) -> None:
    """Count a message whose role nobody knows."""
    named = "without a role" if role is None else f"of the role {one_line(role, 40)}, which is not known,"
    emit.problem("unknown_role", f"a message {named} was read around")
