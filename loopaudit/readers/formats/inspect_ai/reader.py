"""Logs of Inspect AI: ``.eval`` archives and JSON documents, with many samples.

**Written by** Inspect AI as ``logs/<time>_<task>_<id>.eval`` (a zip with a member for each sample) or ``.json``.
Checked on logs of format 2 and 3 (2025). Members compressed with Zstandard are read as well.

**Conversation** = one sample and epoch. **Batch** = one assistant message. **Turn** = a user message, those that a
scaffold injects included, as only newer logs mark the input.
**Results**: messages of role tool, by id. Where the messages of a sample hold fewer calls than its tool events
(compaction, handoffs), the events are read instead.

**Failure.** ``error`` of the tool message; of type ``approval`` it is a refusal. A call with ``parse_error`` never ran.
A sample's ``error`` or ``limit`` is its end.

**Not carried**: exit codes. Tokens, times and tool schemas stand in the model events, where the log has them.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, Final

from loopaudit.core.json import tolerant_loads
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.formats.inspect_ai.archive import member
from loopaudit.readers.formats.inspect_ai.sample import InspectSample
from loopaudit.readers.kit.fields import malformed, mapping, not_a_record, string
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_FIRST: Final = "_journal/start.json"
_LAST: Final = "header.json"

_BROKEN: Final = (OSError, ValueError, EOFError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile)
"""What reading a damaged, encrypted or unusual archive raises."""


def sniff(probe: Probe) -> str | None:
    """Claim archives with samples, and objects with ``version``, ``eval`` and a status."""
    if probe.shape == "zip":
        if any(name in (_FIRST, _LAST) or _is_sample(name) for name in probe.names):
            return "an archive with samples or header.json"
        return None
    for root in [probe.root] if probe.root is not None else probe.records[:1]:
        about = mapping(mapping(root).get("eval"))
        if "version" in mapping(root) and "task" in about and ("model" in about or "run_id" in about):
            return "an object with version, eval and samples"
    return None


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and name.endswith(".json")


def read(source: Source, emit: Emitter) -> None:
    """Report every sample in the order of the log."""
    names = Names()
    found = False
    for sample in _archived(source, emit) if source.probe().shape == "zip" else _listed(source, emit):
        if not isinstance(sample, dict) or not isinstance(sample.get("messages"), list):
            malformed(emit, "a sample without messages")
            continue
        found = True
        emit.session(names.unique(f"{sample.get('id', 'sample')}_epoch_{sample.get('epoch', 1)}"))
        InspectSample(emit, sample).report()
    if not found:
        emit.problem("no_samples", "the log holds no samples")


def _listed(source: Source, emit: Emitter) -> Iterator[Any]:
    for root in values(source, emit):
        samples = mapping(root).get("samples", [])
        if not isinstance(root, dict) or not isinstance(samples, list):
            not_a_record(emit)
            continue
        yield from samples


def _archived(source: Source, emit: Emitter) -> Iterator[Any]:
    """The samples of an archive, one at a time."""
    try:
        archive = zipfile.ZipFile(source.zip_target())
    except _BROKEN as error:
        emit.problem("damaged_archive", f"the archive cannot be read: {error}", damage=True)
        return
    with archive:
        for info in archive.infolist():
            if not _is_sample(info.filename):
                continue
            source.unpack(info.file_size)
            try:
                yield tolerant_loads(member(archive, info))
            except _BROKEN as error:
                emit.problem("bad_member", f"a sample cannot be read: {string(str(error)) or 'damaged'}", damage=True)


READER: Final = Reader(
    id="inspect-ai",
    title="Inspect AI log",
    looked_for="a zip archive with samples and header.json, or an object with version, eval, plan and samples",
    members=frozenset({"eval"}),
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "error of the tool message; refusals told apart",
        "tokens": "of model events",
        "time": "of events",
        "schemas": "tools of model events",
        "text": "yes",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="Inspect AI",
    where="logs/*.eval, logs/*.json",
)
