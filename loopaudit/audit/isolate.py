"""Finds out which foreign guard ended the process that ran it, and replays the rest without it.

Nothing inside a process can contain ``os._exit``, a crash of the interpreter, or a guard that nothing interrupts. So
inputs are worked on in other processes where a policy is not built in. When one of them ends, or is ended because a
guard does not return, it is known in which guard it was (:mod:`loopaudit.audit.whereabouts`). Where it was in none, as
when a guard's thread ends the process, each foreign policy of the run gets the input alone, in a process of its own;
those that end theirs are the culprits.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from msgspec.structs import replace

from loopaudit.audit.contained import too_late
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.pool import processes
from loopaudit.audit.session import FileAudit
from loopaudit.audit.whereabouts import Inside
from loopaudit.config.options import Options
from loopaudit.core.report import PolicyResult
from loopaudit.policies.contract import Selected
from loopaudit.policies.registry import is_built_in


def without_culprits(
    item: Input, lost: FileAudit, options: Options, work_of: Callable[[Options], Callable[[Input], FileAudit]]
) -> FileAudit:
    """The audit of an input whose process ended, with each policy that ends it as a crashed one.

    ``work_of`` gives the audit with other options. It stays ``lost`` where no policy is to blame.
    """

    def replayed(policies: Sequence[Selected]) -> FileAudit:
        """The audit of the input through some policies, in a process of its own."""
        work = work_of(replace(options, policies=policies))
        [audited] = processes(1, watched=True)([item], work, lambda _, lost: lost)
        return audited

    left = list(options.policies)
    reasons: dict[str, str] = {}
    audited = lost
    while audited.killed:
        inside = audited.inside
        found: dict[str, Inside | None] = {} if inside is None else {inside.label: inside}
        culprits = [s for s in left if s.label in found and not is_built_in(s.policy)]
        if not culprits:
            alone = {s.label: replayed([s]) for s in left if not is_built_in(s.policy)}
            found = {label: one.inside for label, one in alone.items() if one.killed}
            culprits = [s for s in left if s.label in found]
        if not culprits:
            return lost
        for culprit in culprits:
            reasons[culprit.label] = _reason(found[culprit.label], options.policy_timeout)
            left.remove(culprit)
        audited = replayed(left)
    for transcript in audited.transcripts:
        for place, selected in enumerate(options.policies):
            if selected.label in reasons:
                crashed = PolicyResult(selected.label, selected.policy.id, selected.values, status="crashed")
                crashed.reasons.append(reasons[selected.label])
                transcript.policies.insert(place, crashed)
    return audited


def _reason(inside: Inside | None, seconds: float | None) -> str:
    """Why the result of a culprit is no result."""
    at = f" at line {inside.line}" if inside is not None and inside.line else ""
    if inside is not None and inside.is_overdue and seconds is not None:
        return f"crashed{at}: {too_late(seconds)}, and could not be interrupted"
    return f"crashed{at}: ended the process that replayed this input"


@contextmanager
def spooled(item: Input, stream: IO[bytes] | None) -> Iterator[Input]:
    """Standard input as a file that another process can read: for this user alone, and gone afterwards."""
    descriptor, name = tempfile.mkstemp(prefix="loopaudit-stdin-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            copyfileobj(stream or sys.stdin.buffer, file)
            size = file.tell()
        yield replace(item, path=Path(name), label=item.name, size=size)
    finally:
        Path(name).unlink()
