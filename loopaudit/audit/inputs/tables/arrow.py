"""Values of Arrow as values of Python, as far as they can be had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from loopaudit.audit.inputs.tables.columns import Kind
from loopaudit.core.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


def rows_of(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch. A cell that cannot be decoded is the error that says so."""
    names = batch.schema.names
    for cells in zip(*(_cells(column) for column in batch.columns), strict=True):
        yield dict(zip(names, cells, strict=True))


def _cells(column: pa.Array) -> Sequence[Any]:
    readable = _readable(column.type)
    if readable != column.type:
        column = column.cast(readable, safe=False)
    try:
        cells: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
    except ValueError:  # text that is no UTF-8
        cells = [_cell(cell) for cell in column]
    return cells


def _cell(cell: Any) -> Any:
    try:
        return cell.as_py(maps_as_pydicts="lossy")
    except ValueError as error:
        raw = getattr(cell, "as_buffer", lambda: None)()
        return InputError(f"cannot be decoded: {error}") if raw is None else raw.to_pybytes().decode("utf-8", "replace")


def _readable(kind: pa.DataType) -> pa.DataType:
    """The type that can be made Python values of: times of nanoseconds cannot."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pa.types.is_duration(kind) and kind.unit == "ns":
        return pa.duration("us")
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return pa.time64("us")
    if pa.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        return pa.struct([field.with_type(_readable(field.type)) for field in fields])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_readable(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_readable(kind.value_type)))
    return kind


def kind_of(kind: pa.DataType) -> Kind:
    """What a column of a type may hold."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return kind_of(kind.storage_type)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        inner = kind.value_type
        return "other" if types.is_primitive(inner) else "list"
    if types.is_struct(kind) or types.is_map(kind):
        return "object"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return "text"
    return "number" if types.is_primitive(kind) else "other"
