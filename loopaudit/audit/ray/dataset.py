"""Audits Ray datasets: one transcript a row, on the workers of the cluster.

::

    import ray
    from loopaudit import replay_ray

    report = replay_ray(ray.data.read_parquet("s3://bucket/runs"), column="messages", id_column="run_id")

Workers send back what they found, never the transcripts. The report is that of
:func:`loopaudit.replay_rows` over the same rows in the order of the dataset.

Ray Data makes the blocks, and each is audited by a task of ours. Ray Data could do that too, but where a worker is
killed it ends or leaves out the whole block: here halves of the block are tried again, down to the row that kills.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

from msgspec.structs import replace

from loopaudit.audit.inputs.rows import audit_row
from loopaudit.audit.inputs.tables.arrow import kind_of, rows_of
from loopaudit.audit.inputs.tables.columns import find_layout, transcript_in
from loopaudit.audit.inputs.tables.layout import Layout
from loopaudit.audit.ray.connection import connected
from loopaudit.audit.ray.engine import CANCEL, RayEngine, failed_with, lost_errors
from loopaudit.audit.run import add, new_report
from loopaudit.audit.run import audit as audit_paths
from loopaudit.audit.session import FileAudit
from loopaudit.audit.workers import Workers
from loopaudit.config.options import Columns, Options, options_of
from loopaudit.core import log
from loopaudit.core.errors import ExitCode, UsageError
from loopaudit.core.events import Level
from loopaudit.core.report import FileProblem, Report
from loopaudit.policies.contract import Mode, Policy

if TYPE_CHECKING:
    import pyarrow as pa
    import ray.data

NAMELESS: Final = "\0row"
"""What a worker calls a transcript that no column names: only the driver can count rows."""

BATCH_BYTES: Final = 16 << 20
"""Bytes of a block that a worker makes Python values of at once, about."""

TRIES: Final = 3
"""How often a single row is tried whose worker is lost: another task, or a lost machine, may be to blame."""


class Replay(TypedDict, total=False):
    """Arguments of :func:`loopaudit.replay`."""

    policies: Iterable[str | Policy]
    settings: Iterable[str]
    mode: Mode
    map_tool_names: bool
    failure_level: Level
    format: str | None
    schemas: Mapping[str, Any] | None


def replay_ray(
    data: ray.data.Dataset | str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    column: str | None = None,
    id_column: str | None = None,
    address: str | None = None,
    jobs: int | None = None,
    **arguments: Unpack[Replay],
) -> Report:
    """Audit a Ray dataset, or paths and URLs as ``loopaudit replay --engine ray`` does.

    ``column`` holds the transcripts and ``id_column`` names them; what is not given is found out
    as for parquet files. A row that nothing names is called ``row N``, N from 1. ``address`` and
    ``jobs`` are as for :class:`~loopaudit.audit.ray.engine.RayEngine`. The other arguments are those of
    :func:`loopaudit.replay`.

    Raises:
        UsageError: Ray is not installed, a policy, parameter or format is unknown, or a transcript goes over rows.
        InputError: a path or a column does not exist, or no column holds transcripts.
        RayError: Ray cannot be joined, or making the rows of the dataset fails.
    """
    options = options_of(**arguments)
    columns = Columns(column, id_column)
    if not hasattr(data, "map_batches"):
        given = [data] if isinstance(data, (str, os.PathLike)) else list(data)
        paths = [os.fspath(path) for path in given]
        return audit_paths(paths, replace(options, columns=columns), Workers(engine=RayEngine(address, jobs)))
    report = new_report(options)
    with connected(address, jobs) as at_once, _in_order(data):
        layout = _layout(data, columns)
        try:
            for number, result in enumerate(_Blocks(options, layout).audited(data, at_once), start=1):
                add(report, _named(result, f"row {number}"))
        except _rays_error() as error:
            raise failed_with(error) from error
    return report


def _rays_error() -> type[Exception]:
    from ray.exceptions import RayError

    kind: type[Exception] = RayError
    return kind


@contextmanager
def _in_order(dataset: ray.data.Dataset) -> Iterator[None]:
    """What is made of the dataset within is run quietly and with its rows in order."""
    context = dataset.context  # the same one for all that is made of it
    before = context.execution_options.preserve_order, context.enable_progress_bars
    context.execution_options.preserve_order, context.enable_progress_bars = True, False
    try:
        yield
    finally:
        context.execution_options.preserve_order, context.enable_progress_bars = before


def _layout(dataset: ray.data.Dataset, columns: Columns) -> Layout:
    """Where the transcripts are in a dataset.

    Raises:
        UsageError: a transcript goes over several rows.
        InputError: as :func:`~loopaudit.audit.inputs.tables.columns.find_layout`.
    """
    schema = dataset.schema()
    fields = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
    kinds = {name: kind_of(kind) if hasattr(kind, "id") else "list" for name, kind in fields.items()}

    def peek(names: Sequence[str], count: int) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = dataset.select_columns(list(names)).take(count)
        return rows

    layout = find_layout("the dataset", kinds, lambda: ", ".join(fields), peek, columns)
    if layout.grouped or layout.column is None:
        raise UsageError(
            f"the dataset has one message a row, and {layout.id} tells which belong together",
            hint="group them to one transcript a row first, or audit the parquet files by their paths",
        )
    return layout


class _Blocks:
    """The blocks of a dataset as tasks of the Ray that this process is connected to."""

    def __init__(self, options: Options, layout: Layout) -> None:
        import ray

        self._task = ray.remote(_task).options(num_cpus=1, max_retries=0)
        self._layout = layout
        self._audit = ray.put(_Audit(options, layout))
        self._verbose = log.is_on()

    def audited(self, dataset: ray.data.Dataset, at_once: Callable[[], int]) -> Iterator[FileAudit]:
        """What every row gives, in the order of the dataset; ``at_once()`` blocks are under way."""
        import ray

        # Blocks of pandas become Arrow's; the reading of a file and this are one task of Ray Data.
        chosen = dataset.select_columns(list(self._layout.read)).map_batches(
            _as_it_is, batch_size=None, batch_format="pyarrow"
        )
        blocks = (block for bundle in chosen.iter_internal_ref_bundles() for block in bundle.block_refs)
        running: deque[tuple[Any, Any]] = deque()  # blocks, and what they give
        try:
            while True:
                for block in islice(blocks, max(0, at_once() - len(running))):
                    running.append((block, self._start(block, 0, None)))
                if not running:
                    return
                block, reference = running[0]
                try:
                    results = self._take(reference)
                except lost_errors():
                    rows = ray.get(ray.remote(_length).remote(block))
                    results = list(self._again(block, 0, rows)) if rows else []
                running.popleft()
                yield from results
        finally:
            left = [reference for _, reference in running]
            for reference in left:
                ray.cancel(reference)  # by force, a task that ends at this moment takes the driver with it
            if left:
                ray.wait(left, num_returns=len(left), timeout=CANCEL)

    def _start(self, block: object, start: int, count: int | None) -> object:
        reference: object = self._task.remote(block, start, count, self._audit, self._verbose)
        return reference

    def _take(self, reference: object) -> list[FileAudit]:
        import ray

        results: list[FileAudit]
        results, lines = ray.get(reference)
        log.write(lines)
        return results

    def _again(self, block: object, start: int, count: int) -> Iterator[FileAudit]:
        """The results of rows whose worker was lost, by halves; what kills it by itself is reported."""
        if count == 1:
            yield self._alone(block, start)
            return
        for first, some in ((start, count // 2), (start + count // 2, count - count // 2)):
            try:
                results = self._take(self._start(block, first, some))
            except lost_errors():
                yield from self._again(block, first, some)
            else:
                yield from results

    def _alone(self, block: object, row: int) -> FileAudit:
        """The result of one row that lost its worker before."""
        import ray

        for _ in range(TRIES - 1):
            try:
                [result] = self._take(self._start(block, row, 1))
            except lost_errors():
                continue
            return result
        name = ray.get(ray.remote(_name_at).remote(block, row, self._layout))
        message = f"{name}: the process that audited it was killed"
        hint = "out of memory? audit it alone with loopaudit.replay_rows"
        return FileAudit(failure=FileProblem(name, message, hint, ExitCode.INTERNAL), killed=True)


def _as_it_is(table: pa.Table) -> pa.Table:
    return table


def _name(row: Mapping[str, Any], layout: Layout) -> str:
    """What the transcript of a row is called."""
    key = None if layout.id is None else row[layout.id]
    return NAMELESS if key is None or key == "" else str(key)


def _length(table: pa.Table) -> int:
    """The rows of a block, which stays where it is."""
    return int(table.num_rows)


def _name_at(table: pa.Table, place: int, layout: Layout) -> str:
    """What the transcript of a row of a block is called; nothing else of the row is looked at."""
    if layout.id is None:
        return NAMELESS
    [batch] = table.select([layout.id]).slice(place, 1).to_batches()
    [row] = rows_of(batch)
    return _name(row, layout)


def _task(
    table: pa.Table, start: int, count: int | None, audit: _Audit, verbose: bool
) -> tuple[list[FileAudit], list[tuple[str, str]]]:
    """Some rows of a block, in a worker: their results, and what was logged if it is to be."""
    with log.collected(wanted=verbose) as lines:
        results = audit(table.slice(start, count))
    return results, lines


@dataclass(frozen=True, slots=True)
class _Audit:
    """Audits the rows of a table."""

    options: Options
    layout: Layout

    def __call__(self, table: pa.Table) -> list[FileAudit]:
        rows = max(1, BATCH_BYTES * table.num_rows // max(table.nbytes, 1))
        return [
            audit_row(_name(row, self.layout), transcript_in(row, self.layout), self.options)
            for batch in table.to_batches(max_chunksize=rows)
            for row in rows_of(batch)
        ]


def _named(result: FileAudit, name: str) -> FileAudit:
    """The result of a row; one that no column names gets this name."""
    for transcript in result.transcripts:
        if transcript.path == NAMELESS:
            transcript.path = name
    failure = result.failure
    if failure is not None and failure.path == NAMELESS:
        failure.path = name
        failure.message = failure.message.replace(NAMELESS, name)
    return result
