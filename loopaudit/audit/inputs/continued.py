"""Finds sessions that go on in another file of the same run, so that their calls are counted once.

Only files that begin with the same record are compared: of every file the first bytes are read, of those few all
record ids. It is done before the inputs are handed to workers, and what a file repeats becomes a part of its input
(:attr:`~loopaudit.audit.inputs.model.Input.copied`). So the result depends neither on who reads which file nor when,
and the cache knows a file read alone from the same file read beside the one that it continues.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from loopaudit.audit.inputs.model import Input
from loopaudit.config.options import Options
from loopaudit.core import log
from loopaudit.core.errors import InputError
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

FORMAT: Final = "claude-code"
"""The format whose sessions go on in other files under the ids of their records."""

PREFIX: Final = 1 << 16
"""Bytes of each file in which its first message is looked for; a longer one has no continuation that is known."""

SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")
"""How the names of session files end, as they are or compressed."""


class _Session(Struct):
    """The records of one input. ``place`` is that of the input, from 0."""

    place: int
    records: frozenset[bytes]
    last: str
    """The latest recorded time."""


def with_copies(inputs: Sequence[Input], options: Options) -> list[Input]:
    """The inputs, where those that continue another one name it and the records that they repeat.

    Of two files that begin alike the one that ends first is continued by the other. A file that holds nothing but
    copies, or the same records as another, is a copy of a file and no continuation: it stays as it is.
    """
    changed = list(inputs)
    if len(changed) < 2 or options.format_id not in (None, FORMAT):
        return changed
    alike: dict[bytes, list[int]] = {}
    for place, item in enumerate(changed):
        first = _first(item.path, options.max_expanded) if item.path is not None and item.layout is None else None
        if first is not None:
            alike.setdefault(first, []).append(place)
    for places in alike.values():
        if len(places) > 1:
            sessions = (_session(place, changed[place], options.max_expanded) for place in places)
            for place, origin, copied in _continued(session for session in sessions if session is not None):
                name = changed[origin].name
                log.info(__name__, "%s: continues %s", changed[place].name, name)
                changed[place] = replace(changed[place], continues=name, copied=copied)
    return changed


def _first(path: Path, max_expanded: int) -> bytes | None:
    """The id of the first message in a file."""
    name = os.fspath(path)
    if not name.endswith(SUFFIXES):
        return None
    from loopaudit.readers.formats.claude_code.continued import first_record

    try:
        if not os.path.isfile(name):  # a pipe would be waited for, and what is read of it be lost
            return None
        if name.endswith(SUFFIXES[0]):
            # Without a file object: small files are opened for this alone twice as fast.
            descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            try:
                return first_record(os.read(descriptor, PREFIX))
            finally:
                os.close(descriptor)
        with Source(path, max_expanded=max_expanded) as source:
            return first_record(source.beginning(PREFIX))
    except (OSError, InputError):
        return None  # reading it tells what is wrong


def _session(place: int, item: Input, max_expanded: int) -> _Session | None:
    """All records of an input; ``None`` where it cannot be read."""
    from loopaudit.readers.formats.claude_code.continued import all_records

    try:
        # With a probe, so that no line is decoded to recognise what is known.
        with Source(item.path, max_expanded=max_expanded, name=item.name, probe=Probe("records")) as source:
            found = list(all_records(source))
    except InputError:
        return None
    return _Session(place, frozenset(record for record, _ in found), max((at for _, at in found), default=""))


def _continued(sessions: Iterable[_Session]) -> list[tuple[int, int, frozenset[bytes]]]:
    """Which inputs continue others: the place of each, that of the one it continues, and the copied records."""
    found: list[tuple[int, int, frozenset[bytes]]] = []
    earlier: list[_Session] = []
    known: set[bytes] = set()
    for session in sorted(sessions, key=lambda s: (s.last, len(s.records), s.place)):
        copied = session.records & known
        if copied and copied != session.records:
            origin = max(earlier, key=lambda s: (len(s.records & copied), -s.place))
            found.append((session.place, origin.place, frozenset(copied)))
        earlier.append(session)
        known |= session.records
    return found
