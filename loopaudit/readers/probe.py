"""What a look at the beginning of an input shows of it: what sniffers are given."""

from __future__ import annotations

from typing import Any, Final, Literal

from loopaudit.core.json import tolerant_loads
from loopaudit.readers.partial_json import complete_prefix

ENOUGH_RECORDS: Final = 10
"""Whole records that tell a format without the one that the prefix cuts off."""


Shape = Literal["records", "document", "zip", "directory", "empty", "other"]


class Probe:
    """What can be known of a transcript from its first :data:`~loopaudit.readers.source.PREFIX_BYTES` bytes.

    ``shape`` tells how it is laid out. ``records`` are the first decoded lines (for a
    document: nothing). ``document`` is the root value, cut off at the end of the prefix:
    lists and strings may be shorter than in the file, keys may be missing. ``names`` are
    the member names of a zip archive or the entries of a directory.
    """

    __slots__ = ("document", "names", "path", "records", "shape", "text")

    def __init__(self, shape: Shape, path: str = "") -> None:
        self.shape = shape
        self.path = path
        self.records: list[Any] = []
        self.document: Any = None
        self.names: list[str] = []
        self.text = ""

    @property
    def dicts(self) -> list[dict[str, Any]]:
        """Those of the first records that are objects."""
        return [r for r in self.records if isinstance(r, dict)]


def probe_of(lines: list[bytes], name: str, *, whole: bool) -> Probe:
    """Tell one record a line from one document, and decode what the prefix holds of it.

    A first line longer than the prefix counts as a record, since more lines may follow; its
    (cut) value is then the only record and the document at once.
    """
    spread = len(lines) > 1 and pretty_printed(lines)
    if not spread:
        # Only now: no line of a document that is spread over them is a record.
        records = _records(lines, cut=not whole and not lines[-1].endswith(b"\n"))
        if records:
            probe = Probe("records", name)
            probe.records = records
            if len(lines) == 1:
                probe.document = records[0]
            return probe
    text = b"".join(lines)
    if text.lstrip()[:1] in (b"{", b"["):
        document = None
        if whole:
            try:
                document = tolerant_loads(text)
            except ValueError:
                document = None
        if document is None:
            document = complete_prefix(text)
        if isinstance(document, (dict, list)):
            probe = Probe("document", name)
            probe.document = document
            return probe
    probe = Probe("other", name)
    probe.text = text[:4096].decode("utf-8", "replace")
    return probe


def _records(lines: list[bytes], *, cut: bool) -> list[Any]:
    """The objects and lists among the lines; of a last line that is cut, what is complete of it.

    The cut line costs as much as all others, so it is left alone where they are enough.
    """
    records: list[Any] = []
    for line in lines[:-1] if cut else lines:
        if line.lstrip()[:1] not in (b"{", b"["):
            continue  # many files of a directory are text
        try:
            records.append(tolerant_loads(line))
        except ValueError:
            continue
    if cut and len(records) < ENOUGH_RECORDS:
        records.append(complete_prefix(lines[-1]))
    return [r for r in records if isinstance(r, (dict, list))]


def pretty_printed(lines: list[bytes]) -> bool:
    """Whether the first lines look like one indented document rather than one record each."""
    first = lines[0].strip()
    if first in (b"{", b"[", b"[{", b"{}", b"[]"):
        return len(lines) > 1 and first not in (b"{}", b"[]")
    try:
        tolerant_loads(first)
    except ValueError:
        return first[:1] in (b"{", b"[") and not lines[1].lstrip().startswith((b'{"', b"{'"))
    return False
