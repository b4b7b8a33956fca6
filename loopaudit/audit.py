"""The whole program without its command line: paths and options in, a :class:`Report` out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import IO, Final

from loopaudit.discover import Found, Input, discover
from loopaudit.fileaudit import FileAudit, Options, audit_input
from loopaudit.report import PolicyInfo, Report
from loopaudit.version import __version__

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
) -> Report:
    """Find, read and replay everything that ``paths`` name.

    ``jobs`` is the number of processes; ``None`` takes one for small work and else as many
    as there are cores. The report does not depend on it. ``on_found`` is told what there is
    and may return a function that is told the bytes read of the current file; ``on_file`` is
    told of each finished input.

    Raises:
        InputError: a path does not exist.
    """
    found = discover(paths)
    on_progress = on_found(found) if on_found is not None else None
    report = new_report(options)
    report.ignored = found.ignored
    if jobs is None:
        jobs = default_jobs(sum(item.size for item in found.inputs))
    from_pipe = any(item.path is None and item.url is None for item in found.inputs)
    if jobs > 1 and len(found.inputs) > 1 and not from_pipe:
        from loopaudit.pool import audit_inputs

        for result in audit_inputs(found.inputs, options, jobs, on_file):
            add(report, result)
        return report
    for item in found.inputs:
        result = audit_input(item, options, stream=stream, on_progress=on_progress)
        add(report, result)
        if on_file is not None:
            on_file(item, result)
    return report


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
        report.failures.append(result.failure)
    if result.ignored is not None:
        report.ignored[result.ignored] = report.ignored.get(result.ignored, 0) + 1
