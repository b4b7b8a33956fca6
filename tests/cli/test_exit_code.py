"""The exit code of a run by what it found."""

from __future__ import annotations

import pytest
import typer

from loopaudit.cli.exit_code import end_with, exit_code
from loopaudit.core.errors import ExitCode
from loopaudit.core.report import FileProblem, Report
from tests.reports import sample


def failing(*codes: int) -> Report:
    report = sample.report()
    report.failures = [FileProblem(f"{place}.jsonl", "cannot be read", exit_code=c) for place, c in enumerate(codes)]
    return report


def damaged() -> Report:
    transcript = sample.healthy()
    transcript.damaged = 1
    return sample.report(transcript)


def crashed() -> Report:
    transcript = sample.healthy()
    transcript.policies[0].status = "crashed"
    return sample.report(transcript)


@pytest.mark.parametrize(
    ("report", "asked", "code"),
    [
        (sample.report(sample.healthy()), {}, ExitCode.OK),
        (sample.report(sample.healthy()), {"strict": True}, ExitCode.OK),
        (sample.report(sample.looping()), {"found": True}, ExitCode.FINDING),
        (damaged(), {}, ExitCode.OK),
        (damaged(), {"strict": True}, ExitCode.INPUT),
        (damaged(), {"strict": True, "found": True}, ExitCode.INPUT),
        (failing(4), {"found": True}, ExitCode.INPUT),
        (failing(2), {"found": True}, ExitCode.INPUT),  # a reader of another package may raise any of our errors
        (failing(0), {}, ExitCode.INPUT),
        (failing(4, 5), {}, ExitCode.INTERNAL),
        (crashed(), {"strict": True, "found": True}, ExitCode.INTERNAL),
        (sample.report(), {"crashed": True}, ExitCode.INTERNAL),
        (crashed(), {"crashed": False}, ExitCode.OK),
    ],
)
def test_own_failure_then_input_then_findings(report: Report, asked: dict[str, bool], code: int) -> None:
    assert exit_code(report, **asked) == code


def test_the_worst_code_wins_not_the_greatest() -> None:
    codes = [ExitCode.OK, ExitCode.FINDING, ExitCode.REGRESSION, ExitCode.INPUT, ExitCode.INTERNAL]
    for place, code in enumerate(codes, 1):
        assert ExitCode.worst(codes[:place]) == code
    assert ExitCode.worst([]) == ExitCode.OK


def test_a_command_ends_only_with_a_code_that_says_something() -> None:
    end_with(ExitCode.OK)
    with pytest.raises(typer.Exit) as ended:
        end_with(ExitCode.INPUT)
    assert ended.value.exit_code == ExitCode.INPUT
