"""The baseline: a file of firings that are known and accepted.

One table ``[[firing]]`` stands for all firings of a file that share a fingerprint, an action and
a conversation. Its ``calls`` are their places when they were accepted: they tell which firing
moved, while the fingerprint alone tells which issue it is. Paths are relative to the baseline's own
folder. A file that was written before is changed table by table: what a table says and how
a person wrote it stays, unless its firings changed.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, structs

from loopaudit.config import toml_text as tomltext
from loopaudit.config.actions import Slug
from loopaudit.config.toml_file import TomlFile, load
from loopaudit.core import regex
from loopaudit.core.errors import UsageError
from loopaudit.core.shapes import Count, Number, Text
from loopaudit.core.urls import scheme_of

FILE_NAME: Final = "loopaudit-baseline.toml"
"""Where a baseline is written if nothing else is said."""

HEAD: Final = """\
# loopaudit baseline: firings that are known and accepted. `loopaudit check` compares with it.
# Only `loopaudit baseline` writes it. Yours to add in each table:
#   reason = "why it is accepted"    expires = 2030-12-31  (last day on which it is)
version = 1
"""


class Firing(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One table ``[[firing]]`` as it stands in the file; see :class:`Entry`."""

    transcript: Text
    conversation: Number = 1
    policy: Text
    rule: str
    action: Slug
    tool: str = ""
    calls: Annotated[tuple[Count, ...], Meta(min_length=1, title="a list of call numbers")]
    fingerprint: Annotated[str, Meta(pattern="^[0-9a-f]{16}$", title="16 hex digits")]
    reason: str = ""
    expires: date | None = None


class Document(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole baseline as it stands in its file."""

    version: Literal[1]
    firing: tuple[Firing, ...] = ()


_TABLE: Final = regex.lazy(r"^[ \t]*\[\[[ \t]*firing[ \t]*\]\][ \t]*(?:#.*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """Accepted firings of one issue in one file; ``line`` is that of its table, 0 for a new one."""

    transcript: str
    policy: str
    rule: str
    action: str
    tool: str
    calls: tuple[int, ...]
    fingerprint: str
    conversation: int = 1
    reason: str = ""
    expires: date | None = None
    line: int = 0

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """What no two entries share; also their order in the file."""
        return (self.transcript, self.policy, self.rule, self.fingerprint, self.action, self.conversation)

    def expired(self, today: date) -> bool:
        """Whether its last day is over."""
        return self.expires is not None and self.expires < today

    def text(self) -> str:
        """The entry as a table."""
        lines = ["[[firing]]", f"transcript = {tomltext.quoted(self.transcript)}"]
        if self.conversation != 1:
            lines.append(f"conversation = {self.conversation}")
        for name in ("policy", "rule", "action", "tool"):
            lines.append(f"{name} = {tomltext.quoted(getattr(self, name))}")
        lines.append(f"calls = {_numbers(self.calls)}")
        lines.append(f"fingerprint = {tomltext.quoted(self.fingerprint)}")
        if self.reason:
            lines.append(f"reason = {tomltext.quoted(self.reason)}")
        if self.expires is not None:
            lines.append(f"expires = {self.expires.isoformat()}")
        return "\n".join(lines) + "\n"


def _numbers(calls: Sequence[int]) -> str:
    if len(calls) <= 12:
        return "[" + ", ".join(map(str, calls)) + "]"
    rows = [calls[i : i + 12] for i in range(0, len(calls), 12)]
    return "[\n" + "".join("    " + ", ".join(map(str, row)) + ",\n" for row in rows) + "]"


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as it was read, or an empty one that is yet to be written."""

    path: Path
    entries: tuple[Entry, ...] = ()
    text: str = ""

    def name_of(self, transcript: str | Path) -> str:
        """How the baseline calls a transcript: by the way from its own folder."""
        return relative_name(transcript, self.path.parent)

    def location(self, entry: Entry) -> str:
        """``file:line`` of an entry."""
        from loopaudit.config.toml_file import shown_path

        return f"{shown_path(self.path)}:{entry.line}" if entry.line else shown_path(self.path)


def relative_name(path: str | Path, folder: Path) -> str:
    """The way from a folder to a path, with ``/``; just the name where they share no folder but the root.

    So that no absolute path gets into a file that other machines read. A URL stays as it is.
    """
    if path == "<stdin>" or scheme_of(str(path)) is not None:
        return str(path)
    here, there = os.path.abspath(folder), os.path.abspath(path)  # noqa: PTH100 - links stay as named
    if Path(here).anchor != Path(there).anchor:
        return Path(there).name
    common = os.path.commonpath([here, there])
    if common == Path(common).anchor and here != common:
        return Path(there).name
    return Path(os.path.relpath(there, here)).as_posix()


def read(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        UsageError: it is missing, or not as it should be: it never counts as an empty one.
    """
    if not path.is_file():
        from loopaudit.config.toml_file import shown_path

        raise UsageError(f"there is no baseline {shown_path(path)}", hint="write one with `loopaudit baseline`")
    file = load(path)
    found = file.check(Document, file.data)
    entries = tuple(_entry(file, table, i) for i, table in enumerate(found.firing))
    seen: dict[Any, int] = {}
    for index, entry in enumerate(entries):
        earlier = seen.setdefault(entry.key, entry.line)
        if earlier != entry.line:
            raise file.error(("firing", index), f"the same firing stands in line {earlier}", "merge the two by hand")
    return Baseline(path, entries, file.text)


def _entry(file: TomlFile, table: Firing, index: int) -> Entry:
    line = int(file.place(("firing", index)).rpartition(":")[2])
    return Entry(**{**structs.asdict(table), "calls": tuple(sorted(table.calls)), "line": line})


# -- writing -------------------------------------------------------------------------------


def write(old: Baseline, entries: Iterable[Entry]) -> str:
    """The text of the new baseline. An entry that equals an old one keeps its old text and place."""
    blocks = _blocks(old)
    head = blocks.pop(None, HEAD)
    pending = {replace(e, line=0): e for e in sorted(entries, key=lambda e: e.key)}
    kept = [entry for entry in old.entries if pending.pop(replace(entry, line=0), None) is not None]
    new = list(pending.values())
    texts: list[str] = []
    at = 0
    for entry in kept:
        while at < len(new) and new[at].key < entry.key:
            texts.append(new[at].text())
            at += 1
        texts.append(blocks.get(entry.line) or entry.text())
    texts += [entry.text() for entry in new[at:]]
    return head.rstrip("\n") + "\n" + "".join("\n" + text.strip("\n") + "\n" for text in texts)


def _blocks(old: Baseline) -> dict[int | None, str]:
    """The old text cut up: the head under ``None``, each table under the line it begins in.

    A comment right above a table belongs to it. Where the cuts do not fit what the parser
    saw (a table's head inside of a text), nothing is kept.
    """
    text = old.text
    if not text:
        return {}
    line_starts = [0, *(m.end() for m in re.finditer("\n", text))]
    starts = [m.start() for m in _TABLE.finditer(text)]
    lines = [bisect_right(line_starts, start) for start in starts]
    if lines != sorted(e.line for e in old.entries):
        return {}
    cuts = [_with_comment(text, start) for start in starts] + [len(text)]
    blocks: dict[int | None, str] = {None: text[: cuts[0]]}
    for line, cut, end in zip(lines, cuts, cuts[1:], strict=False):
        blocks[line] = text[cut:end]
    return blocks


def _with_comment(text: str, start: int) -> int:
    while start:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start
