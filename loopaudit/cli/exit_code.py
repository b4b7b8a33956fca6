"""Decides the exit code of a command by what its run found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from loopaudit.core.errors import ExitCode

if TYPE_CHECKING:
    from loopaudit.core.report import Report


def exit_code(report: Report, *, crashed: bool | None = None, strict: bool = False, found: bool = False) -> int:
    """The exit code of a finished report: own failure, then input, then findings.

    ``crashed`` is whether a policy crashed; by default the report's transcripts show it. With ``strict`` an input
    that was only partly read counts as one that could not be read. ``found`` is whether there is a finding that
    fails the run.
    """
    if crashed is None:
        crashed = report.crashed
    # Whatever code a reader of another package gave its error: an input that failed is never code 0.
    codes = {
        ExitCode.INTERNAL if failure.exit_code == ExitCode.INTERNAL else ExitCode.INPUT for failure in report.failures
    }
    if crashed:
        codes.add(ExitCode.INTERNAL)
    if strict and any(t.damaged for t in report.transcripts):
        codes.add(ExitCode.INPUT)
    if found:
        codes.add(ExitCode.FINDING)
    return ExitCode.worst(codes)


def end_with(code: int) -> None:
    """End the command, if the code says anything else than that all is well.

    Raises:
        Exit: typer's way to end the program.
    """
    if code:
        raise typer.Exit(code)
