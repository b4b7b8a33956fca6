"""The audit from Python: :func:`replay`, :func:`replay_rows` and :func:`read`, re-exported by the package."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from loopaudit.audit.run import add, audit, new_report
from loopaudit.audit.workers import Workers
from loopaudit.config.options import Columns, options_of
from loopaudit.core.errors import InputError, UsageError
from loopaudit.core.events import Event, Level
from loopaudit.core.report import Report
from loopaudit.policies.contract import Mode, Policy
from loopaudit.readers.emit import Emitter
from loopaudit.readers.recognise import recognise
from loopaudit.readers.source import Source

if TYPE_CHECKING:
    from loopaudit.audit.cache.cache import Cache

Path = str | os.PathLike[str]


def replay(
    paths: Path | Iterable[Path],
    *,
    policies: Iterable[str | Policy] = ("mission",),
    settings: Iterable[str] = (),
    mode: Mode = "enforced",
    map_tool_names: bool = True,
    failure_level: Level = "exit_code",
    format: str | None = None,
    schemas: Mapping[str, Any] | None = None,
    cache: bool | Path = False,
) -> Report:
    """Replay transcripts through policies, as ``loopaudit replay`` does.

    ``paths`` are files, directories or globs. ``policies`` are names as on the command line
    (``"atomcode(threshold=2)"``) or :class:`~loopaudit.policies.contract.Policy` objects with their
    defaults. ``settings`` are ``POLICY.PARAMETER=VALUE``. ``schemas`` are JSON Schemas of tool
    arguments by name. An input that cannot be read is in ``failures`` of the report.
    ``cache`` takes the results of unchanged inputs from the user's cache, or from that folder, and keeps new ones
    there; the report is the same. It is not used with policies that are not built in.

    Raises:
        UsageError: a policy, parameter or format is unknown; or the user has no folder for caches.
        InputError: a path does not exist.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    options = options_of(policies, settings, mode, map_tool_names, failure_level, format, schemas)
    return audit([os.fspath(path) for path in given], options, Workers(cache=_cache(cache)))


def _cache(chosen: bool | Path) -> Cache | None:
    """The cache of a run.

    Raises:
        UsageError: there is no folder for it.
    """
    if isinstance(chosen, bool) and not chosen:
        return None
    from loopaudit.audit.cache.cache import Cache
    from loopaudit.audit.cache.folder import folder_for

    folder = folder_for(None if isinstance(chosen, bool) else pathlib.Path(chosen))
    if folder is None:
        raise UsageError("the cache has no folder: the user has no home", hint="name one: cache='DIR'")
    return Cache(folder, asked=True)


def replay_rows(
    rows: Iterable[tuple[str, object] | Mapping[str, Any]],
    *,
    policies: Iterable[str | Policy] = ("mission",),
    settings: Iterable[str] = (),
    mode: Mode = "enforced",
    map_tool_names: bool = True,
    failure_level: Level = "exit_code",
    format: str | None = None,
    schemas: Mapping[str, Any] | None = None,
    column: str | None = None,
    id_column: str | None = None,
) -> Report:
    """Replay transcripts that are values: rows of a dataset, a data frame, a database.

    ``rows`` are pairs of a name, by which reports call the transcript, and the transcript: its
    text or bytes in any format that is read from files, or what was decoded of it, such as
    a list of messages. Or they are mappings, as a dataset of the ``datasets`` library gives them: then ``column``
    holds the transcript and ``id_column`` names it, and what is not given is found out as for parquet files.
    Everything else is as for :func:`replay`. A row that cannot be read is in ``failures`` of the report.

    Raises:
        UsageError: a policy, parameter or format is unknown; pairs have no columns; a transcript goes over rows.
        InputError: a column does not exist, or no column holds transcripts.
    """
    from loopaudit.audit.inputs.rows import audit_row, transcripts_of

    options = options_of(policies, settings, mode, map_tool_names, failure_level, format, schemas)
    report = new_report(options)
    for name, value in transcripts_of(rows, Columns(column, id_column)):
        add(report, audit_row(name, value, options))
    return report


def read(path: Path, *, format: str | None = None, failure_level: Level = "exit_code") -> Iterator[Event]:
    """The neutral stream of a transcript: turns, batches with results, boundaries.

    The events are collected before the first is given out.

    Raises:
        InputError: the transcript cannot be read or recognised.
    """
    events: list[Event] = []
    with Source(os.fspath(path)) as source:
        emitter = Emitter(events.append, source.problems, failure_level=failure_level)
        recognise(source, format).report(source, emitter)
        emitter.finish()
    if not events:
        raise InputError(f"{source.name}: no conversation in it")
    return iter(events)
