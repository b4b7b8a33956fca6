"""What a look at the beginning of an input shows of it: what sniffers are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from json import JSONDecoder
from typing import Any, Final, Literal, TypeVar

from loopaudit.core.json import tolerant_loads
from loopaudit.readers.outline import outline
from loopaudit.readers.partial_json import complete_prefix

PREFIX_BYTES: Final = 1 << 18
"""How much of a file of lines is looked at to recognise its format, at most; the last line is read to its end."""

ENOUGH_RECORDS: Final = 10
"""Whole records that tell a format without the one that the prefix cuts off."""

HEAD_RECORDS: Final = 8
"""Records that decide alone where one of them stands in no other format."""


_DECODER: Final = JSONDecoder(strict=False)

T = TypeVar("T")

Shape = Literal["records", "document", "zip", "directory", "empty", "other"]


class Probe:
    """What can be known of a transcript by a look at its first lines, or at its document.

    ``shape`` is how it is laid out. ``records`` are the first decoded lines (for a
    document: nothing). ``root`` is the root value of a document, of which only members shall be looked at: it may be
    large. Of a damaged one members may be missing. ``names`` are the member names of a zip archive or the entries of a
    directory.
    """

    __slots__ = ("_document", "_found", "names", "path", "records", "root", "shape", "text")

    def __init__(self, shape: Shape, path: str = "") -> None:
        self.shape = shape
        self.path = path
        self.records: list[Any] = []
        self.root: Any = None
        self._document: Any = None
        self.names: list[str] = []
        self.text = ""
        self._found: dict[Callable[[Probe], Any], Any] = {}

    @property
    def document(self) -> Any:
        """The root value; of a large one, as of large records, lists may be shorter than in the file.

        That is :mod:`~loopaudit.readers.outline`, made when the first sniffer asks for it.
        """
        if self._document is None and self.root is not None:
            self._document = outline(self.root)
        return self._document

    @document.setter
    def document(self, value: Any) -> None:
        self._document = self.root = value

    def once(self, find: Callable[[Probe], T]) -> T:
        """What a function finds in this probe, found once for all sniffers that ask for it. Not to be changed."""
        if find not in self._found:
            self._found[find] = find(self)
        found: T = self._found[find]
        return found

    def members(self) -> set[str] | None:
        """The names of the members of its objects, or of those in its list; ``None`` where it holds anything else."""
        roots = self.records if self.shape == "records" else [self.root]
        if len(roots) == 1 and isinstance(roots[0], list):
            roots = roots[0] if self.shape == "records" else self.document
        return set().union(*roots) if {dict}.issuperset(map(type, roots)) else None

    @property
    def dicts(self) -> list[dict[str, Any]]:
        """Those of the first records that are objects."""
        return [r for r in self.records if isinstance(r, dict)]


def probe_of(lines: list[bytes], name: str, values: list[Any], *, whole: bool) -> Probe:
    """Tell records, a line each, from a document that is damaged or cut.

    ``lines`` are the first ones that are not blank, ``values`` those objects and lists of them that could be
    decoded. A first line longer than the prefix counts as a record, since more lines may follow; its
    value is then the only record and the document at once.
    """
    if values:
        probe = Probe("records", name)
        probe.records = values
        if len(lines) == 1:
            probe.document = values[0]
        return probe
    text = b"".join(lines)
    return document_probe(text if whole else text[:PREFIX_BYTES], name, whole=whole)


def document_probe(text: bytes, name: str, *, whole: bool) -> Probe:
    """What the beginning of a document tells; ``whole`` says that it is all of it."""
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


def is_begun(line: bytes) -> bool:
    """Whether a line begins like an object or a list; many files of a directory are text."""
    return line.lstrip()[:1] in (b"{", b"[")


def is_spread(first: bytes, second: bytes, value: Callable[[], Any]) -> bool:
    """Whether the first two lines that are not blank look like one indented document rather than one record each.

    ``value`` gives that of the first one, ``None`` if it has none; trying to decode a lone bracket takes as long as
    decoding a small document.
    """
    if first.startswith(b'{"') and second.startswith(b'{"') and second.endswith(b"}\n"):
        return False  # as nearly all lines of records are
    begun = first.strip()
    if begun in (b"{", b"[", b"[{"):
        return True
    following = second.strip()
    if not is_begun(begun) or (following.startswith((b'{"', b"{'")) and not _is_entry(following)):
        return False
    return value() is None and not _begins_whole(begun)


def records_of(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The objects in lines of their own, without indentation; none where more lines are entries of a list."""
    found: list[dict[str, Any]] = []
    entries = 0
    for line in lines:
        entries += line.startswith(b",")
        if not line.startswith(b"{"):
            continue
        try:
            value = tolerant_loads(line)
        except ValueError:
            entries += _is_entry(line.rstrip())
            continue
        found.append(value)
    return found if len(found) > entries else []


def _is_entry(line: bytes) -> bool:
    """Whether a line is a whole value and a comma: an entry of a list that has each in a line of its own."""
    if not line.endswith(b","):
        return False
    try:
        tolerant_loads(line[:-1])
    except ValueError:
        return False
    return True


def _begins_whole(line: bytes) -> bool:
    """Whether a whole object begins a line that is none: records that are glued together, and no document."""
    try:
        value, _ = _DECODER.raw_decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)
