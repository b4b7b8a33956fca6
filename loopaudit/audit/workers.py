"""How the inputs of a run are worked on, whatever is done with them; the report depends on none of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Final

from msgspec import Struct

from loopaudit.audit.inputs.model import Found, Input
from loopaudit.core.errors import UsageError

if TYPE_CHECKING:
    from loopaudit.audit.cache.cache import Cache
    from loopaudit.audit.pool import Engine

SMALL: Final = 64 << 20
"""Bytes of input below which starting processes costs more than it saves."""


class Progress:
    """What a run reports while it works. This one shows nothing."""

    counts_bytes = False
    """Whether :meth:`read` is to be called; asked for when everything was found, because it slows reading."""

    def found(self, found: Found) -> None:
        """Everything was found that there is to read."""

    def read(self, size: int) -> None:
        """``size`` bytes of the current input were read, by this process."""

    def finished(self, item: Input) -> None:
        """An input is finished, or was taken from the cache; several at a time may be under way."""


class Workers(Struct, frozen=True):
    """What works on the inputs of a run, what it knows already, and who watches.

    ``jobs`` is the number of processes; ``None`` takes one for small work and else as many
    as there are cores. ``engine`` works elsewhere instead, and ``jobs`` does not count then.
    ``apart`` runs policies that are not built in in other processes, which they may end: only where this is the program
    itself, because starting a process runs the main module of the caller again.
    ``cache`` has results of earlier runs. ``stream`` is read where standard input is named.
    """

    jobs: int | None = 1
    engine: Engine | None = None
    cache: Cache | None = None
    progress: Progress = Progress()
    stream: IO[bytes] | None = None
    apart: bool = False

    def engine_for(self, inputs: Sequence[Input], *, apart: bool = False) -> Engine | None:
        """What works on the inputs beside this process; ``None`` if this process does it all.

        ``apart`` asks for another process even for a single input, which is watched: the work may end it, or not end.

        Raises:
            UsageError: another engine than this machine's processes is to read standard input.
        """
        from_pipe = any(item.path is None and item.url is None for item in inputs)
        if self.engine is not None:
            if from_pipe:
                raise UsageError(
                    "standard input cannot be read on other machines", hint="save it to a file, or leave out --engine"
                )
            return self.engine if inputs else None
        if not inputs or from_pipe:
            return None
        jobs = default_jobs(sum(item.size for item in inputs)) if self.jobs is None else self.jobs
        if not apart and (jobs == 1 or len(inputs) == 1):
            return None
        from loopaudit.audit.pool import processes  # brings in multiprocessing

        return processes(jobs, watched=apart)


ONE_PROCESS: Final = Workers()
"""This process, with no cache and nobody who watches."""


def default_jobs(total_bytes: int) -> int:
    """How many processes are used where the user does not say: one for small work."""
    if total_bytes < SMALL:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
