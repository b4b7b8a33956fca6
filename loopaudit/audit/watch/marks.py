"""Decides whether a file that changed still begins with what was read of it.

Its first bytes and those before the place where reading stopped are compared: a file that was
truncated and is longer again, or was written anew, differs in one of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from loopaudit.audit.watch.feeds import Feed

HEAD: Final = 1024
LAST: Final = 256


class Marks(Struct, frozen=True):
    """The first :data:`HEAD` bytes, and the :data:`LAST` ones before ``offset``, or as many as there are."""

    offset: int
    head: bytes
    last: bytes


def marks_of(feed: Feed, earlier: Marks | None, offset: int) -> Marks:
    """The marks of what was read up to ``offset``; ``earlier`` are those of less of the same file."""
    if earlier is not None and earlier.offset == offset:
        return earlier
    known = earlier is not None and len(earlier.head) == HEAD
    head = earlier.head if earlier is not None and known else feed.read_at(0, min(HEAD, offset))
    begin = max(offset - LAST, 0)
    return Marks(offset, head, feed.read_at(begin, offset - begin))


def still_there(path: Path, marks: Marks) -> Literal["all", "head", "none"]:
    """How much of what was read still stands in the file. A file that cannot be read keeps all: others tell of that."""
    try:
        with open(path, "rb", buffering=0) as file:
            if file.read(len(marks.head)) != marks.head:
                return "none"
            file.seek(max(marks.offset - LAST, 0))
            return "all" if file.read(len(marks.last)) == marks.last else "head"
    except OSError:
        return "all"
