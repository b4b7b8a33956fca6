"""Audits Ray datasets: one transcript a row, on the workers of the cluster.

::

    import ray
    from loopaudit import replay_ray

    report = replay_ray(ray.data.read_parquet("s3://bucket/runs"), column="messages", id_column="run_id")

Workers send back what they found, never the transcripts. The report is that of
:func:`loopaudit.replay_rows` over the same rows in the order of the dataset.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

from loopaudit.audit.inputs.rows import audit_row
from loopaudit.audit.inputs.tables.arrow import kind_of, rows_of
from loopaudit.audit.inputs.tables.columns import find_layout, transcript_in
from loopaudit.audit.inputs.tables.layout import Layout
from loopaudit.audit.ray.connection import connected
from loopaudit.audit.ray.engine import RayEngine, failed_with
from loopaudit.audit.run import add, new_report
from loopaudit.audit.run import audit as audit_paths
from loopaudit.audit.session import FileAudit
from loopaudit.audit.workers import Workers
from loopaudit.config.options import Columns, Options, options_of
from loopaudit.core.errors import UsageError
from loopaudit.core.events import Level
from loopaudit.core.report import Report
from loopaudit.policies.contract import Mode, Policy

if TYPE_CHECKING:
    import pyarrow as pa
    import ray.data

NAMELESS: Final = "\0row"
"""What a worker calls a transcript that no column names: only the driver can count rows."""

BATCH_BYTES: Final = 16 << 20
"""Bytes of a block that a worker makes Python values of at once, about."""

RETRIES: Final = 3
"""How often a block is tried again whose worker was killed. Ray Data itself would never stop."""


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
        RayError: Ray fails, or one of its workers is killed again and again.
    """
    options = options_of(**arguments)
    columns = Columns(column, id_column)
    if not hasattr(data, "map_batches"):
        given = [data] if isinstance(data, (str, os.PathLike)) else list(data)
        paths = [os.fspath(path) for path in given]
        return audit_paths(paths, replace(options, columns=columns), Workers(engine=RayEngine(address, jobs)))
    report = new_report(options)
    with connected(address, jobs), _in_order(data):
        for number, result in enumerate(_results(data, options, columns), start=1):
            add(report, _named(result, f"row {number}"))
    return report


def _results(dataset: ray.data.Dataset, options: Options, columns: Columns) -> Iterator[FileAudit]:
    """What every row gives, in the order of the dataset."""
    from ray import cloudpickle
    from ray.exceptions import RayError

    layout = _layout(dataset, columns)
    audited = dataset.select_columns(list(layout.read)).map_batches(
        _Audit(options, layout), batch_size=None, batch_format="pyarrow", ray_remote_args_fn=_remote_arguments
    )
    try:
        for table in audited.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1):
            for data in table.column("audit"):
                yield cloudpickle.loads(data.as_py())
    except RayError as error:
        raise failed_with(error) from error


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


def _remote_arguments() -> dict[str, Any]:
    return {"max_retries": RETRIES}


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


@dataclass(frozen=True, slots=True)
class _Audit:
    """Audits the rows of a block, in a worker: for each row its result in bytes."""

    options: Options
    layout: Layout

    def __call__(self, table: pa.Table) -> pa.Table:
        import pyarrow as pa
        from ray import cloudpickle

        rows = max(1, BATCH_BYTES * table.num_rows // max(table.nbytes, 1))
        found = [
            cloudpickle.dumps(self._row(row))
            for batch in table.to_batches(max_chunksize=rows)
            for row in rows_of(batch)
        ]
        return pa.table({"audit": pa.array(found, pa.large_binary())})

    def _row(self, row: Mapping[str, Any]) -> FileAudit:
        layout = self.layout
        key = None if layout.id is None else row[layout.id]
        return audit_row(NAMELESS if key is None or key == "" else str(key), transcript_in(row, layout), self.options)


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
