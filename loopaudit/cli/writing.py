"""What a list says about installed plug-ins that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from loopaudit.cli.writing_ import report_error
from loopaudit.core.errors import ExitCode, LoopauditError


def report_broken(broken: Sequence[LoopauditError]) -> None:
    """Tell each on standard error, and end the command with the exit code for them, if there are any."""
    for error in broken:
        report_error(error.message, error.hint)
    if broken:
        raise typer.Exit(ExitCode.INTERNAL)
