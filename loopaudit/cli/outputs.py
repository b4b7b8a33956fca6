"""Where reports go, and which findings fail a run: the options ``--report`` and ``--fail-on``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from loopaudit.cli.writing import write_output
from loopaudit.config.actions import lowest_action
from loopaudit.core import log
from loopaudit.core.errors import UsageError, reason_of
from loopaudit.core.report import Report
from loopaudit.reports.contract import Rendering
from loopaudit.reports.kit.private import Privacy, protected
from loopaudit.reports.registry import reports, usable

if TYPE_CHECKING:
    from loopaudit.config.file import Config

GITHUB: Final = "github"

STEP_SUMMARY: Final = 1 << 20
"""Bytes of a step summary that GitHub takes."""


class Output(Struct, frozen=True):
    """One report to write: its id, and a file or ``None`` for standard output."""

    id: str
    file: str | None

    @property
    def is_shown(self) -> bool:
        """Whether people read it on standard output."""
        return self.file is None and reports().get(self.id).show is not None

    def write(self, content: Content, rendering: Rendering) -> None:
        """Write the report where it was asked for.

        Raises:
            UsageError: the file cannot be written.
        """
        start = perf_counter()
        reporter = reports().get(self.id)
        if self.file is None and reporter.show is not None:
            reporter.show(content.of(on_terminal=sys.stdout.isatty()), sys.stdout, rendering)
        else:
            report = content.of(on_terminal=self.file is None and sys.stdout.isatty())
            write_output(reporter.render(report, rendering), self.file)
        log.info(__name__, "%s written in %s ms", self.id, round(1000 * (perf_counter() - start)))

    def write_bytes(self, content: Content, rendering: Rendering) -> None:
        """Write the bytes of the report, also where people would read it on standard output.

        Raises:
            UsageError: the file cannot be written.
        """
        report = content.of(on_terminal=self.file is None and sys.stdout.isatty())
        write_output(reports().get(self.id).render(report, rendering), self.file)


class Content:
    """A finished report as each target may show it: whole on a terminal, without secrets anywhere else.

    With ``redact`` it shows names and sizes alone, with ``show_content`` everything, wherever it goes.
    """

    def __init__(self, report: Report, *, redact: bool = False, show_content: bool = False) -> None:
        self.report = report
        self._redact = redact
        self._show_content = show_content
        self._made: dict[Privacy, Report] = {}

    def of(self, *, on_terminal: bool) -> Report:
        """The report for a terminal, or for anything else."""
        if self._redact:
            privacy = Privacy.HIDDEN
        else:
            privacy = Privacy.SHOWN if self._show_content or on_terminal else Privacy.MASKED
        if privacy not in self._made:
            self._made[privacy] = protected(self.report, privacy)
        return self._made[privacy]


def outputs(specs: Sequence[str]) -> list[Output]:
    """The reports that were asked for.

    Raises:
        UsageError: a report is unknown or cannot be made here, or two go to standard output.
    """
    chosen = []
    for spec in specs:
        name, equals, file = spec.partition("=")
        reporter = usable(name)
        if equals and not file:
            raise UsageError(f"--report {spec}: no file name after =")
        target = file if file and file != "-" else None
        if reporter.binary and target is None and sys.stdout.isatty():
            hint = f"give it a file: --report {name}=findings{reporter.suffix}"
            raise UsageError(f"--report {spec}: {name} is no text, and is not written to a terminal", hint=hint)
        chosen.append(Output(name, target))
    to_screen = [output.id for output in chosen if output.file is None]
    if len(to_screen) > 1:
        raise UsageError(
            f"{len(to_screen)} reports go to standard output: {', '.join(to_screen)}",
            hint="give all but one a file: --report json=out.json",
        )
    return chosen


def check_reports(config: Config) -> None:
    """Check the reports that a configuration names.

    Raises:
        UsageError: one is unknown or cannot be made here; the message has file, line and key.
    """
    assert config.toml is not None
    for index, spec in enumerate(config.reports):
        with config.toml.locating(("reports", index)):
            outputs([spec])


def write_step_summary(report: Report, targets: Iterable[Output], environ: Mapping[str, str] = os.environ) -> None:
    """Add the report as Markdown to the step summary of a GitHub workflow, if the report ``github`` was asked for.

    GitHub refuses a summary of more than 1 MiB as a whole, so what a step wrote before counts.

    Raises:
        UsageError: the file that ``GITHUB_STEP_SUMMARY`` names cannot be written.
    """
    name = environ.get("GITHUB_STEP_SUMMARY")
    if not name or not any(target.id == GITHUB for target in targets):
        return
    from loopaudit.reports.kit.markdown import document

    path = Path(name)
    try:
        used = path.stat().st_size if path.exists() else 0
        text = document(report, STEP_SUMMARY - used - 1)
        with path.open("ab") as file:
            file.write(f"\n{text}".encode() if used and text else text.encode())
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {reason_of(error)}") from None


def gate(words: Iterable[str]) -> Callable[[Report], bool]:
    """Whether a report has a finding that ``--fail-on`` names.

    Raises:
        UsageError: a word is no action.
    """
    lowest, loops = lowest_action(words)

    def failed(report: Report) -> bool:
        for transcript in report.transcripts:
            if loops and any(episode.is_loop for episode in transcript.episodes):
                return True
            for policy in transcript.policies:
                if lowest is not None and any(action >= lowest for action in policy.by_action):
                    return True
        return False

    return failed
