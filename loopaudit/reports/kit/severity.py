"""How grave a firing is, in the words of each kind of pipeline.

The action alone decides: it is what the run would have felt. Whether the guard was right is
hindsight's grade and stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from loopaudit.core.findings import Action, Finding
from loopaudit.core.report import Report, TranscriptResult


class Severity(Struct, frozen=True):
    """One grade of severity: for SARIF a level, for GitHub a command, for GitLab a severity."""

    sarif: str
    github: str
    gitlab: str


_NOTE: Final = Severity("note", "notice", "info")
_MILD: Final = Severity("warning", "warning", "minor")
_GRAVE: Final = Severity("error", "error", "major")
_END: Final = Severity("error", "error", "critical")

SEVERITIES: Final[Mapping[Action, Severity]] = {
    Action.ALLOW: _NOTE,
    Action.OBSERVE: _NOTE,
    Action.WARN: _MILD,
    Action.NUDGE: _MILD,
    Action.ASK: _MILD,
    Action.REJECT: _GRAVE,
    Action.BLOCK: _GRAVE,
    Action.STRIP_TOOLS: _GRAVE,
    Action.STOP: _END,
}
"""Watching is a note, talking a warning, refusing an error, ending the turn the gravest."""


def severity(finding: Finding) -> Severity:
    """How grave a firing is."""
    return SEVERITIES[finding.action]


def numbered(report: Report) -> Iterator[tuple[TranscriptResult, Finding, str]]:
    """Every kept firing of the policies, with a name that no other firing of its file has.

    The name is the fingerprint and its how manieth firing in the file it is, from 1. It holds
    no position, so that it stays as it is when other calls are added before.
    """
    seen: dict[tuple[str, str], int] = {}
    for transcript in report.transcripts:
        for policy in transcript.policies:
            for finding in policy.findings:
                key = (transcript.path, finding.fingerprint)
                seen[key] = times = seen.get(key, 0) + 1
                yield transcript, finding, f"{key[1]}:{times}"
