"""Where reports go, and which findings fail a run: the options ``--report`` and ``--fail-on``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from loopaudit.errors import UsageError, did_you_mean
from loopaudit.findings import Action
from loopaudit.registry import reports
from loopaudit.report import Report

LOOP: Final = "loop"


@dataclass(frozen=True, slots=True)
class Output:
    """One report to write: its id, and a file or ``None`` for standard output."""

    id: str
    file: str | None

    def render(self, report: Report, options: Mapping[str, str]) -> bytes:
        """The bytes of the report; of the options only those that this report knows count."""
        reporter = reports().get(self.id)
        return reporter.render(report, {k: v for k, v in options.items() if k in reporter.options})


def outputs(specs: Sequence[str]) -> list[Output]:
    """The reports that were asked for.

    Raises:
        UsageError: a report is unknown, or two go to standard output.
    """
    chosen = []
    for spec in specs:
        name, equals, file = spec.partition("=")
        reports().get(name)
        if equals and not file:
            raise UsageError(f"--report {spec}: no file name after =")
        chosen.append(Output(name, file if file and file != "-" else None))
    to_screen = [output.id for output in chosen if output.file is None]
    if len(to_screen) > 1:
        raise UsageError(
            f"{len(to_screen)} reports go to standard output: {', '.join(to_screen)}",
            hint="give all but one a file: --report json=out.json",
        )
    return chosen


def gate(words: Iterable[str]) -> Callable[[Report], bool]:
    """Whether a report has a finding that ``--fail-on`` names.

    Raises:
        UsageError: a word is no action.
    """
    lowest: Action | None = None
    loops = False
    for word in words:
        spelled = word.lower().replace("-", "_")
        if spelled == LOOP:
            loops = True
            continue
        spelled = {"hard_stop": "stop", "halt": "stop", "any": "observe"}.get(spelled, spelled)
        known = [action.slug for action in Action if action]
        if spelled not in known:
            hint = did_you_mean(spelled, [*known, LOOP])
            raise UsageError(f"--fail-on: {word!r} is no action", hint=hint)
        action = Action[spelled.upper()]
        lowest = action if lowest is None else min(lowest, action)

    def failed(report: Report) -> bool:
        for transcript in report.transcripts:
            if loops and any(episode.kind != "waiting" for episode in transcript.episodes):
                return True
            for policy in transcript.policies:
                if lowest is not None and any(Action[a.upper()] >= lowest for a in policy.by_action):
                    return True
        return False

    return failed
