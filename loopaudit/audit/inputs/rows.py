"""Audits transcripts that are values: rows of a table or a dataset, held in memory.

They go the way of files, and give the same findings.
"""

from __future__ import annotations

import io

from loopaudit.audit.inputs.tables.values import layouts
from loopaudit.audit.session import FileAudit, audit_source, guarded
from loopaudit.config.options import Options
from loopaudit.core.errors import InputError
from loopaudit.readers.source import Source


def audit_row(name: str, value: object, options: Options) -> FileAudit:
    """Audit one transcript that is held in a value. Whatever is wrong with it becomes part of the result.

    ``name`` is what reports call it. ``value`` is text or bytes of a transcript (also compressed),
    or a decoded one: lists, mappings, numbers, and what Arrow, NumPy and pandas make of these.
    Lines of findings are those of the text; of a list of records, the 1-based place in it.
    """
    return guarded(name, lambda: _audited(name, value, options))


def _audited(name: str, value: object, options: Options) -> FileAudit:
    first: InputError | None = None
    for data in layouts(name, value):
        try:
            with Source(None, stream=io.BytesIO(data), max_expanded=options.max_expanded, name=name) as source:
                return FileAudit(audit_source(source, options, name=name))
        except InputError as error:
            first = first or error
    assert first is not None
    raise first
