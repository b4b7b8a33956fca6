"""Several processes give what one gives."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from loopaudit import pool
from loopaudit.audit import audit
from loopaudit.discover import Input
from loopaudit.fileaudit import FileAudit, Options
from loopaudit.selection import select
from tests.test_cli import SAMPLES, run


def test_the_report_does_not_depend_on_the_number_of_jobs(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_bytes(b"hello\n")
    one, two = (
        run("replay", SAMPLES, tmp_path / "broken.jsonl", "--report", "json", "--jobs", jobs) for jobs in ("1", "2")
    )
    assert one.stdout == two.stdout
    assert one.returncode == two.returncode == 4


def test_tasks_hold_every_input_once_and_the_largest_come_first() -> None:
    sizes = [5, 20 << 20, 3 << 20, 0, 7 << 20, 6 << 20]
    tasks = pool._tasks([Input(Path(str(n)), named=True, size=size) for n, size in enumerate(sizes)])
    assert sorted(i for task in tasks for i in task) == list(range(len(sizes)))
    assert tasks[0] == [1]
    assert all(sum(sizes[i] for i in task) <= max(pool.TASK_BYTES, sizes[task[0]]) for task in tasks)


def test_a_killed_worker_costs_its_own_input_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.jsonl").write_bytes((SAMPLES / "invoices-same-grep.jsonl").read_bytes())
    monkeypatch.setattr(pool, "_task", _kill_or_work)
    inputs = [Input(tmp_path / f"{name}.jsonl", named=True, size=9 << 20) for name in ("a", "killer", "b", "c")]
    done = pool.audit_inputs(inputs, Options(policies=select(["koda"])), 2)
    assert [bool(d.transcripts) for d in done] == [True, False, True, True]
    assert done[1].failure is not None and "killed" in done[1].failure.message


def _kill_or_work(inputs: list[Input], work: Callable[[Input], FileAudit]) -> list[FileAudit]:
    """Stands in for a worker's task: the system kills it at one input."""
    if any(item.name.endswith("killer.jsonl") for item in inputs):
        os.kill(os.getpid(), signal.SIGKILL)
    return [work(item) for item in inputs]


def test_every_finished_input_is_told_once() -> None:
    told: list[str] = []
    options = Options(policies=select(["koda"]))
    audit([str(SAMPLES)], options, jobs=2, on_file=lambda item, _: told.append(item.name))
    assert len(told) == len(set(told)) > 10
