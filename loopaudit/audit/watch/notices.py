"""What a watch reports: a firing as it happens, and everything else that a user has to know."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from loopaudit.core.findings import Action, Finding

NoticeKind = Literal["note", "damage", "failure", "crash"]
"""``damage``: a record is lost. ``failure``: an input cannot be followed. ``crash``: our own code failed."""


class Firing(Struct, frozen=True):
    """A firing with its place. ``shown`` is a short name of the file, ``at`` the time that its call is recorded with.

    ``recorded`` is set for what a guard of the recording harness itself did.
    """

    path: str
    shown: str
    format: str
    finding: Finding
    at: str | float | None = None
    recorded: bool = False


class Notice(Struct, frozen=True):
    """Something about a file, or (with an empty ``path``) about the watch. ``line`` is 1-based, 0 for none."""

    kind: NoticeKind
    path: str
    message: str
    line: int = 0
    hint: str | None = None


class Summary(Struct):
    """What a watch did. ``by_action`` counts what was reported, without firings of recorded guards.

    ``unread`` are files that had grown further when the watch ended, ``unrecognised`` those that are no transcripts.
    """

    files: int = 0
    followed: int = 0
    unrecognised: int = 0
    unread: int = 0
    damaged: int = 0
    recorded: int = 0
    failures: int = 0
    crashes: int = 0
    by_action: dict[Action, int] = field(default_factory=dict)
