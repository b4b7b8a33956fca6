"""Decides which format a transcript has, by its content alone.

Every reader's sniffer looks at the same :class:`~loopaudit.readers.probe.Probe`; the first
that claims it reads it; readers of installed packages are asked after all others. An
input that nobody claims gets an error that names the formats it resembles most and what was looked for.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Any, Final

from loopaudit.core import log
from loopaudit.core.errors import InputError
from loopaudit.readers.contract import Reader
from loopaudit.readers.probe import HEAD_RECORDS, Probe
from loopaudit.readers.registry import common, in_order, quick, readers
from loopaudit.readers.source import Source

PROSE: Final = frozenset("a an and as at by each for in is it its not of on one or the then to with".split())
"""Words of the formats' descriptions that are no names of the formats, even where a file has such a key."""


def recognise(source: Source, format_id: str | None = None) -> Reader:
    """The reader for a source.

    Raises:
        InputError: it is empty, or no reader claims it.
        UsageError: ``format_id`` is no known format.
    """
    if source.is_table:
        hint = "replay, check, compare, tune and label read the transcripts in it"
        raise InputError(f"{source.name}: a table is no transcript, but may hold many", hint=hint)
    if format_id is not None:
        return readers().get(format_id)
    reader = claimant(source)
    if reader is not None:
        return reader
    probe = source.probe()
    if probe.shape == "empty":
        raise InputError(f"{source.name}: the file is empty")
    broken = "".join(f"; {error.message}" for error in readers().installed()[1])
    raise InputError(f"{source.name}: not a transcript in any known format", hint=_nearest(probe) + broken)


def log_recognised(source: Source, reader: Reader, format_id: str | None) -> None:
    """Log which reader a source gets, and why; to be called before it is read."""
    if log.is_on():
        why = "asked for" if format_id is not None else reader.claims(source.probe())
        log.info(__name__, "%s: read as %s: %s", source.name, reader.id, why)


def claimant(source: Source) -> Reader | None:
    """The reader that claims a source, whose first records may be enough to tell."""
    head = source.head()
    reader = claim_head(head) if head is not None else None
    return reader or claim(source.probe())


def claim_head(probe: Probe, members: Set[str] | None = None) -> Reader | None:
    """The reader that claims the first records, without a look at any others; ``members`` are the probe's, if known."""
    head = probe.dicts[:HEAD_RECORDS]
    for reader in quick(head[0].keys() if head else frozenset()):
        if reader.sniff_head is not None and reader.may_claim(members) and reader.sniff_head(head) is not None:
            return reader
    return None


def claim(probe: Probe) -> Reader | None:
    """The reader that claims a probe; installed ones are asked after those that are built in."""
    if probe.shape == "empty":
        return None
    members = probe.members()
    if probe.shape == "records" and (reader := claim_head(probe, members)) is not None:
        return reader
    for reader in in_order(probe.shape, members):
        if reader.may_claim(members) and reader.claims(probe) is not None:
            return reader
    for reader in readers().installed()[0]:
        if reader.claims(probe) is not None:
            return reader
    return None


def claims(probe: Probe) -> list[tuple[Reader, str]]:
    """All readers that claim a probe, with their reasons; more than one is a defect."""
    found = []
    for reader in in_order():
        reason = reader.claims(probe)
        if reason is not None:
            found.append((reader, reason))
    return found


def _nearest(probe: Probe) -> str:
    """A hint with the formats whose description shares most words with the content's keys."""
    if probe.shape == "other":
        return "it is not JSON; `loopaudit formats` lists what can be read"
    if probe.shape == "directory":
        return "a directory as a whole is a transcript in few formats only; name a file in it"
    keys = _keys(probe) - PROSE
    first = list(common())
    everyone = first + sorted((r for r in in_order() if r not in first), key=lambda r: r.id)
    shared = {r.id: len(keys & set(re.findall(r"[\w$]+", r.looked_for))) for r in everyone}
    near = [r for r in sorted(everyone, key=lambda r: -shared[r.id]) if shared[r.id]][:3]
    if not near:
        return f"looked for {len(everyone)} formats, see `loopaudit formats`; --format NAME reads it as one of them"
    listed = "; ".join(f"{r.id} (has {r.looked_for})" for r in near)
    return f"nearest: {listed}; --format NAME reads it as one of them"


def _keys(probe: Probe) -> set[str]:
    keys: set[str] = set()
    values: list[Any] = [*probe.dicts[:20]]
    if probe.document is not None:
        values.append(probe.document)
    for value in values:
        items = value[:5] if isinstance(value, list) else [value]
        for item in items:
            if isinstance(item, dict):
                keys.update(str(k) for k in item)
                kind = item.get("type", item.get("role"))
                if isinstance(kind, str):
                    keys.add(kind)
    return keys
