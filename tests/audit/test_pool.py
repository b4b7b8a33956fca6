"""Several processes give what one gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopaudit.audit import pool
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.run import audit
from loopaudit.audit.workers import Progress, Workers
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from tests.cli.test_program import run
from tests.places import SAMPLES

pytestmark = pytest.mark.slow  # starts the program and its workers many times


class Names(Progress):
    """Collects the names of the inputs that are finished."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def finished(self, item: Input) -> None:
        self.names.append(item.name)


def test_the_report_does_not_depend_on_the_number_of_jobs(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_bytes(b"hello\n")
    one, two = (
        run("replay", SAMPLES, tmp_path / "broken.jsonl", "--report", "json", "--jobs", jobs) for jobs in ("1", "2")
    )
    assert one.stdout == two.stdout
    assert one.returncode == two.returncode == 4


def test_tasks_hold_every_input_once_and_the_largest_come_first() -> None:
    sizes = [5, 20 << 20, 3 << 20, 0, 7 << 20, 6 << 20]
    tasks = pool.tasks_of([Input(Path(str(n)), named=True, size=size) for n, size in enumerate(sizes)])
    assert sorted(i for task in tasks for i in task) == list(range(len(sizes)))
    assert tasks[0] == [1]
    assert all(sum(sizes[i] for i in task) <= max(pool.TASK_BYTES, sizes[task[0]]) for task in tasks)


def test_every_finished_input_is_told_once() -> None:
    told: list[str] = []
    options = Options(policies=select(["koda"]))
    audit([str(SAMPLES)], options, Workers(2, progress=Names(told)))
    assert len(told) == len(set(told)) > 10
