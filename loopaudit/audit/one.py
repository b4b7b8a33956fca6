"""Audits one input, wherever it lies: a file, standard input, a URL or a part of a table. Never raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import IO

from loopaudit.audit.inputs.model import Input
from loopaudit.audit.session import FileAudit, audit_source, guarded, passed_over
from loopaudit.config.options import Options
from loopaudit.core.errors import InputError
from loopaudit.readers.contract import Reader
from loopaudit.readers.recognise import claimant
from loopaudit.readers.source import Source


def audit_input(
    item: Input,
    options: Options,
    *,
    stream: IO[bytes] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> FileAudit:
    """Audit one input. Whatever is wrong with it becomes part of the result."""
    name = item.name

    def work() -> FileAudit:
        if item.layout is not None:
            return _table(item, options, on_progress)
        with source_of(item, options.max_expanded, stream) as source:
            if source.is_table:
                return _table(item, options, on_progress)
            source.on_progress = on_progress
            source.copied = item.copied
            reader = None
            if not item.named and options.format_id is None:
                reader = _claimant(source)
                if reader is None:
                    return passed_over(name, "not a transcript")
            return FileAudit(audit_source(source, options, name=name, reader=reader, continues=item.continues))

    if item.url is not None:
        from loopaudit.audit.inputs.stores import retried

        return guarded(name, lambda: retried(work), named=item.named)
    return guarded(name, work, named=item.named)


def _claimant(source: Source) -> Reader | None:
    """The reader that claims a file of a directory; ``None`` also for one that cannot be unpacked."""
    try:
        return claimant(source)
    except InputError:
        return None


def source_of(
    item: Input, max_expanded: int, stream: IO[bytes] | None = None
) -> AbstractContextManager[Source, bool | None]:
    """The opened input, wherever it lies."""
    if item.url is None:
        return Source(item.path, stream=stream, max_expanded=max_expanded, was_file=not item.named)
    return _fetched(item, item.url, max_expanded)


@contextmanager
def _fetched(item: Input, url: str, max_expanded: int) -> Iterator[Source]:
    from loopaudit.audit.inputs.remote import reading

    with (
        reading(url) as file,
        Source(None, stream=file, max_expanded=max_expanded, name=item.name) as source,
    ):
        yield source


def _table(item: Input, options: Options, on_progress: Callable[[int], None] | None) -> FileAudit:
    if item.path is None and item.url is None:
        raise InputError("a table cannot be read from standard input", hint="save it to a file")
    from loopaudit.audit.inputs.parquet import audit_table

    return audit_table(item, options, on_progress)
