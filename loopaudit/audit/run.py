"""The whole program without its command line: paths and options in, a :class:`Report` out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Final

from loopaudit.audit.inputs.discover import discover
from loopaudit.audit.inputs.model import Found, Input
from loopaudit.audit.inputs.tables.bad_rows import NO_TRANSCRIPT, add_failure
from loopaudit.audit.one import audit_input
from loopaudit.audit.session import FileAudit
from loopaudit.config.options import Options
from loopaudit.core.errors import UsageError
from loopaudit.core.report import PolicyInfo, Report
from loopaudit.version import __version__

if TYPE_CHECKING:
    from loopaudit.audit.cache.cache import Cache, Results
    from loopaudit.audit.pool import Engine

SMALL: Final = 64 << 20
"""Bytes of input below which starting processes costs more than it saves."""


def audit(
    paths: Iterable[str],
    options: Options,
    *,
    stream: IO[bytes] | None = None,
    on_file: Callable[[Input, FileAudit], None] | None = None,
    on_found: Callable[[Found], Callable[[int], None] | None] | None = None,
    jobs: int | None = 1,
    engine: Engine | None = None,
    cache: Cache | None = None,
) -> Report:
    """Find, read and replay everything that ``paths`` name.

    ``jobs`` is the number of processes; ``None`` takes one for small work and else as many
    as there are cores. ``engine`` works elsewhere instead, and ``jobs`` does not count then.
    ``cache`` has results of earlier runs. The report depends on none of them. ``on_found`` is
    told what there is and may return a function that is told the bytes read of the current
    file; ``on_file`` is told of each finished input.

    Raises:
        InputError: a path does not exist.
        UsageError: the engine is to read standard input.
    """
    found = discover(paths, options.columns)
    on_progress = on_found(found) if on_found is not None else None
    report = new_report(options)
    report.ignored = found.ignored
    for result in each(
        found.inputs,
        options,
        jobs,
        engine,
        cache.results(options, found.inputs) if cache is not None else None,
        stream=stream,
        on_file=on_file,
        on_progress=on_progress,
    ):
        add(report, result)
    return report


def each(
    inputs: Sequence[Input],
    options: Options,
    jobs: int | None,
    engine: Engine | None,
    results: Results | None,
    *,
    stream: IO[bytes] | None = None,
    on_file: Callable[[Input, FileAudit], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[FileAudit]:
    """What every input gives, in order: out of ``results`` where it is known, else audited and put there.

    A result is put as soon as it is there, so that the next run goes on where this one was
    stopped.
    """

    def done(item: Input, result: FileAudit) -> None:
        if results is not None:
            results.put(item, result)
        if on_file is not None:
            on_file(item, result)

    known: dict[int, FileAudit] = {}
    try:
        for place, result in results.known(inputs) if results is not None else ():
            known[place] = result
            if on_file is not None:
                on_file(inputs[place], result)
        left = [item for place, item in enumerate(inputs) if place not in known]
        engine = engine_for(Found(left), jobs, engine)
        fresh: Iterator[FileAudit] | None = None
        if engine is not None:
            fresh = iter(engine(left, partial(_audited, options), lambda failure: failure, done))
        for place, item in enumerate(inputs):
            if place in known:
                yield known.pop(place)
            elif fresh is not None:
                yield next(fresh)
            else:
                result = audit_input(item, options, stream=stream, on_progress=on_progress)
                done(item, result)
                yield result
    finally:
        if results is not None:
            results.close()


def engine_for(found: Found, jobs: int | None, engine: Engine | None) -> Engine | None:
    """What works on the inputs beside this process; ``None`` if this process does it all.

    Raises:
        UsageError: another engine than this machine's processes is to read standard input.
    """
    from_pipe = any(item.path is None and item.url is None for item in found.inputs)
    if engine is not None:
        if from_pipe:
            raise UsageError(
                "standard input cannot be read on other machines", hint="save it to a file, or leave out --engine"
            )
        return engine if found.inputs else None
    if jobs is None:
        jobs = default_jobs(sum(item.size for item in found.inputs))
    if jobs == 1 or len(found.inputs) < 2 or from_pipe:
        return None
    from loopaudit.audit.pool import processes  # brings in multiprocessing

    return processes(jobs)


def _audited(options: Options, item: Input) -> FileAudit:
    """:func:`audit_input` with its arguments turned round, to be pickled with the options."""
    return audit_input(item, options)


def default_jobs(total_bytes: int) -> int:
    """How many processes are used where the user does not say: one for small work."""
    if total_bytes < SMALL:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def new_report(options: Options) -> Report:
    """An empty report that names how it was made."""
    infos = [
        PolicyInfo(
            label=s.label,
            policy=s.policy.id,
            title=s.policy.title,
            origin=" ".join(part for part in (s.policy.origin.project, s.policy.origin.version) if part),
            params=s.params.as_dict(),
            rules=dict(s.policy.rules),
            needs={str(need): loss for need, loss in s.policy.needs.items()},
        )
        for s in options.policies
    ]
    return Report(
        version=__version__,
        mode=options.mode,
        tool_names="mapped" if options.map_names else "literal",
        failure_level=options.failure_level,
        policies=infos,
        transcripts=[],
    )


def add(report: Report, result: FileAudit) -> None:
    """Put what one input gave into the report."""
    report.transcripts.extend(result.transcripts)
    if result.failure is not None:
        add_failure(report.failures, result.failure)
    if result.ignored_rows:
        report.ignored[NO_TRANSCRIPT] = report.ignored.get(NO_TRANSCRIPT, 0) + result.ignored_rows
    if result.ignored is not None:
        report.ignored[result.ignored] = report.ignored.get(result.ignored, 0) + 1
