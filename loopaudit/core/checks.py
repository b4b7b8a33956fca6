"""What ``loopaudit check`` looked at, and how each thing came out."""

from __future__ import annotations

from typing import Literal

import msgspec

CheckKind = Literal["expectation", "baseline", "threshold", "coverage"]

CheckStatus = Literal[
    "covered",
    "quiet",
    "noisy",
    "missed",
    "unchanged",
    "moved",
    "changed",
    "new",
    "vanished",
    "expired",
    "not_checked",
    "passed",
    "failed",
]
"""Of an expectation: the first four. Of a baseline entry: those up to *not_checked*. Of a
threshold and of coverage: the last two."""


class Check(msgspec.Struct):
    """One thing that the gate looked at, and how it came out.

    ``ok`` is false where it fails the run, with ``exit_code`` alone; 0 otherwise. ``path`` is
    the transcript as the report names it, empty where a check is about the whole run.
    ``message`` tells expected and found in a sentence. ``accept`` is the command that accepts
    the outcome. ``calls`` are numbers of calls as found today. ``reason`` is what a person
    wrote beside the expectation or baseline entry, ``source`` the file and line it stands in
    (``suite/x.expect.toml:3``).
    """

    kind: CheckKind
    status: CheckStatus
    ok: bool
    message: str
    exit_code: int = 0
    path: str = ""
    policy: str = ""
    action: str = ""
    rule: str = ""
    fingerprint: str = ""
    calls: tuple[int, ...] = ()
    accept: str | None = None
    reason: str = ""
    source: str = ""


class GateResult(msgspec.Struct):
    """What ``loopaudit check`` decided. ``counts`` are checks by kind and status.

    ``exit_code`` already takes unreadable inputs and crashes of the report into account.
    """

    checks: list[Check]
    counts: dict[str, dict[str, int]]
    exit_code: int = 0

    @property
    def failed(self) -> list[Check]:
        """The checks that fail the run, in order."""
        return [check for check in self.checks if not check.ok]
