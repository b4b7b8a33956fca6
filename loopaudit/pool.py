"""Audits many inputs with several processes; the result does not depend on how many.

Inputs are grouped into tasks of about :data:`TASK_BYTES`, the largest first, and results are
put back into the order of the inputs. Threads would not help: decoding holds the interpreter's
lock. Workers are started afresh (``spawn``) and import only the engine. A worker that is killed
takes its pool with it; what was not finished is then tried again one input at a time, so that
only the input that kills its worker is lost, and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Final

from loopaudit.audit import FileAudit, Options, audit_input
from loopaudit.discover import Input
from loopaudit.errors import ExitCode
from loopaudit.report import FileProblem

TASK_BYTES: Final = 8 << 20
"""Input of one task, about; a task per small file would cost 40 % more."""


def audit_inputs(
    inputs: Sequence[Input],
    options: Options,
    jobs: int,
    on_file: Callable[[Input, FileAudit], None] | None = None,
) -> list[FileAudit]:
    """Audit inputs with ``jobs`` processes; results stand in the order of ``inputs``.

    ``on_file`` is called for each finished input, in the order in which they finish.
    """
    done: dict[int, FileAudit] = {}

    def finished(task: Sequence[int], results: Sequence[FileAudit]) -> None:
        for index, result in zip(task, results, strict=True):
            done[index] = result
            if on_file is not None:
                on_file(inputs[index], result)

    _run(_tasks(inputs), inputs, options, jobs, finished)
    # Each of what a broken pool left behind, in a pool of its own.
    for index in [i for i in range(len(inputs)) if i not in done]:
        _run([[index]], inputs, options, 1, finished)
        if index not in done:
            finished([index], [_killed(inputs[index])])
    return [done[index] for index in range(len(inputs))]


def _run(
    tasks: Sequence[Sequence[int]],
    inputs: Sequence[Input],
    options: Options,
    jobs: int,
    finished: Callable[[Sequence[int], Sequence[FileAudit]], None],
) -> None:
    """Run tasks until all are done or the pool breaks."""
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn"))
    try:
        running: dict[Future[list[FileAudit]], Sequence[int]] = {}
        for task in tasks:
            running[pool.submit(_audit, [inputs[i] for i in task], options)] = task
        while running:
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                task = running.pop(future)
                try:
                    finished(task, future.result())
                except BrokenProcessPool:
                    return
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _audit(inputs: Sequence[Input], options: Options) -> list[FileAudit]:
    """One task, in a worker."""
    return [audit_input(item, options) for item in inputs]


def _tasks(inputs: Sequence[Input]) -> list[list[int]]:
    """Indexes of inputs in tasks, the largest inputs first."""
    tasks: list[list[int]] = []
    room = 0
    for index in sorted(range(len(inputs)), key=lambda i: (-inputs[i].size, i)):
        size = inputs[index].size
        if not tasks or room < size:
            tasks.append([])
            room = TASK_BYTES
        tasks[-1].append(index)
        room -= size
    return tasks


def _killed(item: Input) -> FileAudit:
    message = f"{item.name}: the process that read it was killed"
    hint = "out of memory? try it alone with --jobs 1"
    return FileAudit(failure=FileProblem(item.name, message, hint, ExitCode.INTERNAL))
