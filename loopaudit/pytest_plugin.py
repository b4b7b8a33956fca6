"""A pytest plugin: every ``*.expect.toml`` becomes a file of tests, one for each expectation.

It does nothing until asked for: by ``pytest --loopaudit``, or by ``loopaudit_expectations = true``
in pytest's configuration. Policies and settings come from the loopaudit configuration above
pytest's root folder; where there is none, the policies that the expectations name are replayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from loopaudit.core.report import Check

SUFFIX = ".expect.toml"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option and the setting that switch the plugin on."""
    group = parser.getgroup("loopaudit")
    group.addoption("--loopaudit", action="store_true", help=f"run the expectations in *{SUFFIX} as tests")
    parser.addini("loopaudit_expectations", f"run the expectations in *{SUFFIX} as tests", type="bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file of expectations as a file of tests."""
    config = parent.config
    if not file_path.name.endswith(SUFFIX):
        return None
    if not (config.getoption("loopaudit") or config.getini("loopaudit_expectations")):
        return None
    return ExpectationFile.from_parent(parent, path=file_path)


class ExpectationFile(pytest.File):
    """The expectations beside one transcript."""

    def collect(self) -> Iterable[pytest.Item]:
        """Replay the transcript, and make a test of each check about it."""
        from loopaudit.core.errors import LoopauditError

        try:
            checks = self._checks()
        except LoopauditError as error:
            raise self.CollectError(f"{error.message}\n{error.hint or ''}".strip()) from None
        names: dict[str, int] = {}
        for check in checks:
            name = " ".join(part for part in (check.kind, check.policy, check.action, check.rule) if part)
            names[name] = again = names.get(name, 0) + 1
            yield ExpectationItem.from_parent(self, name=name if again == 1 else f"{name} {again}", check=check)

    def _checks(self) -> list[Check]:
        """The checks of the expectations, and of whatever else fails about the transcript.

        Raises:
            LoopauditError: the expectations, the configuration or the transcript are wrong.
        """

        from loopaudit.cli.options import InputOptions, ReplayOptions, SelectionOptions, replay_options
        from loopaudit.config import file as configs
        from loopaudit.config.gate import GateSettings
        from loopaudit.core.errors import InputError
        from loopaudit.gate import expectations
        from loopaudit.gate.check import check
        from loopaudit.gate.inputs import Inputs

        folder = self.path.parent
        beside = sorted(
            path for path in folder.iterdir() if path != self.path and expectations.beside(path) == self.path
        )
        if not beside:
            raise InputError(f"{self.path.name}: there are expectations, but no transcript beside them")
        config = configs.load_config(None, self.config.rootpath)
        named = {item.policy: None for item in expectations.read(self.path, beside[0]).items}
        selection = SelectionOptions(policy=None if config.policy else list(named))
        options = replay_options(selection, ReplayOptions(), InputOptions(), config)
        settings = GateSettings(max_damaged=config.gate.max_damaged, allow_unevaluated=config.gate.allow_unevaluated)
        paths = [str(path) for path in beside]
        report = check(paths, options, config, Inputs(settings))
        assert report.gate is not None
        return [one for one in report.gate.checks if one.kind == "expectation" or not one.ok]


class ExpectationItem(pytest.Item):
    """One expectation."""

    def __init__(self, *, check: Check, **given: object) -> None:
        super().__init__(**given)  # type: ignore[arg-type]
        self.check = check

    def runtest(self) -> None:
        """Fail as the check does."""
        if self.check.status == "not_checked" and self.check.ok:
            pytest.skip(self.check.message)
        if not self.check.ok:
            raise UnmetExpectationError

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """What was expected, what was found, and how to accept it."""
        if not excinfo.errisinstance(UnmetExpectationError):
            return str(super().repr_failure(excinfo))
        from loopaudit.core.text import visible
        from loopaudit.reports.kit.wording import describe_check

        place = f"{self.check.source}: " if self.check.source else ""
        return visible(f"{place}{describe_check(self.check)}")

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The place in the file of expectations; the line from 0."""
        line = self.check.source.rpartition(":")[2]
        return self.path, int(line) - 1 if line.isdecimal() else None, self.name


class UnmetExpectationError(Exception):
    """A check about a transcript failed."""
