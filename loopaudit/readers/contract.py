"""The contract of a reader: recognises one transcript format and reports what it holds.

A reader is one module or folder of :mod:`loopaudit.readers.formats` with one constant ``READER`` beside plain
functions. It never builds events itself; it tells an :class:`~loopaudit.readers.emit.Emitter`.
The module's docstring says what writes the format, where it lies on disk, which versions were
seen on real files, and what it does not carry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Literal

from msgspec import Struct, field

from loopaudit.readers.emit import Emitter
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

Carries = Literal["results", "failure", "tokens", "time", "subagents", "schemas", "text", "batches"]
"""What a format can record."""

Evidence = Literal["data", "source", "unseen"]
"""Whether the reader was checked on real files, on the writer's source, or on neither."""


class Reader(Struct, frozen=True):
    """Everything the program knows of a format.

    ``sniff`` decides by a :class:`~loopaudit.readers.probe.Probe` whether the transcript is of this
    format: a short reason (``"records with sessionId and parentUuid"``), or ``None``. A probe is
    claimed by one reader only.
    ``sniff_head``, of common formats, claims the first records of a transcript
    (:data:`~loopaudit.readers.probe.HEAD_RECORDS` objects) by one that stands in no other format; then no reader
    is asked about the rest. ``members`` are the names of which at least one stands in a record, or in the document or
    an entry of it, of whatever either claims: what has none of them is not looked at more closely. ``looked_for`` says
    in a sentence what it looks for. ``read`` reports everything in file order and leaves what it cannot use to
    ``emit.problem``.
    ``carries`` maps what the format records to a short remark (``"flag and exit code"``), for ``loopaudit formats``.
    """

    id: str
    title: str
    looked_for: str
    sniff: Callable[[Probe], str | None]
    read: Callable[[Source, Emitter], None]
    sniff_head: Callable[[Sequence[Mapping[str, Any]]], str | None] | None = None
    members: frozenset[str] = frozenset()
    carries: Mapping[Carries, str] = field(default_factory=dict)
    evidence: Evidence = "data"
    written_by: str = ""
    where: str = ""

    def report(self, source: Source, emit: Emitter) -> None:
        """Let :attr:`read` report everything; a record that nests too deeply for it ends the transcript, as damage.

        What is decoded nests up to 1,024 levels (:mod:`loopaudit.core.json`), about as deep as Python calls itself, so
        that whatever walks through a hostile value, ``str`` included, may fail.
        """
        try:
            self.read(source, emit)
        except RecursionError:
            emit.problem(
                "nested_too_deeply", "a record nests too deeply to be read; it and what follows are lost", damage=True
            )

    def may_claim(self, found: Set[str] | None) -> bool:
        """Whether this reader looks for any of the members that a probe has (:meth:`Probe.members`)."""
        return found is None or not self.members or not self.members.isdisjoint(found)

    def claims(self, probe: Probe) -> str | None:
        """What :attr:`sniff` says; what nests too deeply for it is not claimed."""
        try:
            return self.sniff(probe)
        except RecursionError:
            return None
