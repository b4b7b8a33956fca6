"""Audits many inputs with several processes; the result does not depend on how many.

Inputs are grouped into tasks of about :data:`TASK_BYTES`, the largest first, and results are
put back into the order of the inputs. Threads would not help: decoding holds the interpreter's
lock. Workers are started afresh (``spawn``) and import only the engine.

A worker may be killed at any moment, by the system for want of memory or by a guard. It shares no queue and no lock
with others, as those of ``concurrent.futures`` do, which then may wait for ever: each has a pipe of its own, which ends
with it. What its task held is then tried again one input at a time, so that only the input that kills its worker is
lost, and reported.

Workers that run foreign guards are watched (:mod:`loopaudit.audit.whereabouts`): one that stays in a guard for too long
is killed here, and of one that ended it is known in which guard it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from typing import Any, Final, Protocol, TypeVar

from loopaudit.audit.contained import report_to
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.session import FileAudit
from loopaudit.audit.whereabouts import Inside, Whereabouts
from loopaudit.config import policy_files  # noqa: F401 - says how foreign policies are pickled
from loopaudit.core import interrupt
from loopaudit.core.errors import ExitCode
from loopaudit.core.report import FileProblem

T = TypeVar("T")


class Engine(Protocol):
    """Does work on inputs somewhere: in processes of this machine (:func:`processes`), or on a cluster.

    Results stand in the order of ``inputs``. ``work`` and its results are pickled. ``failed``
    makes the result of an input that the engine could not get done, out of the failure to
    report; it runs in this process. ``on_done`` is called for each finished input, in the order in which they finish.
    """

    def __call__(
        self,
        inputs: Sequence[Input],
        work: Callable[[Input], T],
        failed: Callable[[Input, FileAudit], T],
        on_done: Callable[[Input, T], None] | None = None,
    ) -> list[T]:
        """Do the work on each input."""
        ...


TASK_BYTES: Final = 8 << 20
"""Input of one task, about; a task per small file would cost 40 % more."""


LOOK: Final = 0.2
"""Seconds between two looks at where watched workers are."""


def processes(jobs: int, *, watched: bool = False) -> Engine:
    """The engine that works with ``jobs`` processes on this machine; ``watched`` where they run foreign guards."""
    return partial(work_on, jobs=jobs, watched=watched)


def work_on(
    inputs: Sequence[Input],
    work: Callable[[Input], T],
    failed: Callable[[Input, FileAudit], T],
    on_done: Callable[[Input, T], None] | None = None,
    *,
    jobs: int,
    watched: bool = False,
) -> list[T]:
    """Do ``work`` on each input with ``jobs`` processes, as :class:`Engine` says."""
    done: dict[int, T] = {}

    def finished(task: Sequence[int], results: Sequence[T]) -> None:
        for index, result in zip(task, results, strict=True):
            done[index] = result
            if on_done is not None:
                on_done(inputs[index], result)

    lost = _run(tasks_of(inputs), inputs, work, jobs, watched, finished)
    # Each of what a worker did not get done, in one of its own, unless it was alone already and a guard is to blame.
    for index in [i for i in range(len(inputs)) if i not in done]:
        inside = lost.get((index,))
        if inside is None:
            inside = _run([(index,)], inputs, work, 1, watched, finished).get((index,))
        if index not in done:
            finished([index], [failed(inputs[index], killed(inputs[index], inside))])
    return [done[index] for index in range(len(inputs))]


@dataclass(frozen=True, slots=True)
class _Worker:
    """A process, our end of its pipe, and where it is, if it is watched."""

    link: Connection
    process: SpawnProcess
    whereabouts: Whereabouts | None

    def is_overdue(self) -> bool:
        """Whether it is in a guard for longer than it may be."""
        inside = None if self.whereabouts is None else self.whereabouts.inside()
        return inside is not None and inside.is_overdue

    def outcome(self) -> Any:
        """What it sent; ``None`` where it has ended."""
        try:
            return self.link.recv() if self.link.poll() else None
        except (EOFError, OSError):  # also in the middle of what it sent
            return None

    def end(self) -> Inside | None:
        """End it, and tell in which guard it was."""
        self.link.close()
        if self.process.pid is not None:
            inside = None if self.whereabouts is None else self.whereabouts.inside()
            self.process.kill()
            self.process.join()
        else:
            inside = None
        if self.whereabouts is not None:
            self.whereabouts.close()
        return inside


def _run(
    tasks: Sequence[Sequence[int]],
    inputs: Sequence[Input],
    work: Callable[[Input], T],
    jobs: int,
    watched: bool,
    finished: Callable[[Sequence[int], Sequence[T]], None],
) -> dict[tuple[int, ...], Inside | None]:
    """Run tasks until all are done, but for those whose worker ended; these, each with the guard it was in."""
    waiting = list(reversed(tasks))
    running: dict[_Worker, Sequence[int]] = {}
    idle: list[_Worker] = []
    lost: dict[tuple[int, ...], Inside | None] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                worker = idle.pop() if idle else _started(work, watched)
                running[worker] = task = waiting.pop()
                _hand(worker.link, [inputs[i] for i in task])
            # What a guard has started may hold the pipe open for longer than its worker lives.
            sentinels = [worker.process.sentinel for worker in running if worker.process.pid is not None]
            wait([*[worker.link for worker in running], *sentinels], LOOK if watched else None)
            for worker, task in list(running.items()):
                if not worker.link.poll() and worker.process.is_alive() and not worker.is_overdue():
                    continue
                del running[worker]
                outcome = worker.outcome()
                if outcome is None:
                    lost[tuple(task)] = worker.end()
                    continue
                idle.append(worker)
                if isinstance(outcome, BaseException):
                    raise outcome
                finished(task, outcome)
    finally:
        for worker in [*idle, *running]:
            worker.end()
    return lost


def _started(work: Callable[[Input], T], watched: bool) -> _Worker:
    """A new worker; where it ends before it has started, its pipe is at its end, too."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    whereabouts = Whereabouts.new() if watched else None
    process = context.Process(target=_worker, args=(theirs, work, None if whereabouts is None else whereabouts.path))
    try:
        process.start()
    except BrokenPipeError:
        pass
    finally:
        theirs.close()
    return _Worker(ours, process, whereabouts)


def _hand(link: Connection, inputs: Sequence[Input]) -> None:
    """Hand a task to a worker; that it has ended shows where its results are waited for."""
    with suppress(BrokenPipeError, ConnectionResetError):
        link.send(inputs)


def _worker(link: Connection, work: Callable[[Input], Any], whereabouts: str | None) -> None:
    """Do tasks until the pipe is closed; the answer to each is a list of results, or the exception that ended it."""
    # A guard that never returns must not outlive a run that was killed.
    Thread(target=_end_with_parent, daemon=True).start()
    interrupt.listen()
    if whereabouts is not None:
        report_to(Whereabouts.of_parent(whereabouts))
        with suppress(OSError):
            os.dup2(2, 1)  # standard output is the report's, whatever a guard prints
    try:
        while True:
            inputs = link.recv()
            try:
                link.send([work(item) for item in inputs])
            except Exception as error:  # noqa: BLE001 - raised again in the parent
                link.send(error)
    except (EOFError, OSError, KeyboardInterrupt):
        return  # the parent has ended, or a person ends both


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def tasks_of(inputs: Sequence[Input]) -> list[list[int]]:
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


def killed(item: Input, inside: Inside | None = None) -> FileAudit:
    """The result of an input that took its process with it, which was ``inside`` a guard."""
    message = f"{item.name}: the process that read it was killed"
    hint = "out of memory? try it alone with --jobs 1"
    return FileAudit(failure=FileProblem(item.name, message, hint, ExitCode.INTERNAL), killed=True, inside=inside)
