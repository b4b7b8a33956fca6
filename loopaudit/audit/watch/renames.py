"""Which of the files seen now are those that were known before, whatever they are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from loopaudit.audit.watch.scanner import Seen, Sighting
from loopaudit.audit.watch.watched import Watched


class Matched(NamedTuple):
    """Known files by their present paths; ``renamed`` ones with the new path, and whether the old has a new file."""

    files: dict[str, Watched]
    renamed: list[tuple[Watched, str, bool]]


def match(found: Mapping[str, Sighting], known: Mapping[str, Watched]) -> Matched:
    """Find the known files among those seen. What is in neither ``files`` nor ``found`` is gone."""
    by_identity = {watched.seen.identity: (path, watched) for path, watched in known.items()}
    files: dict[str, Watched] = {}
    renamed: list[tuple[Watched, str, bool]] = []
    for path, sighting in found.items():
        place, mover = by_identity.get(sighting.seen.identity, ("", None))
        if mover is None or place == path or not _left(found, place, mover) or not _is_it(sighting.seen, mover):
            continue
        # A document that is replaced by a newer file stays the same document.
        if path not in known or known[path].state != "document":
            files[path] = mover
            renamed.append((mover, path, place in found))
    moved = set(files.values())
    for path in found:
        if path not in files and path in known and known[path] not in moved:
            files[path] = known[path]
    return Matched(files, renamed)


def _left(found: Mapping[str, Sighting], place: str, mover: Watched) -> bool:
    """Whether a file has left the path under which it was known."""
    there = found.get(place)
    return there is None or there.seen.identity != mover.seen.identity


def _is_it(seen: Seen, mover: Watched) -> bool:
    """Whether this is that file under another name: file systems give the number of a deleted one to a new one.

    What was read can be compared later; of what was not, size and time have to be the same.
    """
    return mover.state != "cold" or seen == mover.seen
