"""The baseline: a file of firings and loops that are known and accepted, and of what could not be evaluated.

One table ``[[firing]]`` stands for all firings of a file that share a fingerprint, an action and
a conversation. Its ``calls`` are their places when they were accepted: they tell which firing
moved, while the fingerprint alone says which issue it is. A table ``[[loop]]`` does the same for
loops of a kind, with their first redundant calls; ``[[unevaluated]]`` names a policy that could not
evaluate a transcript. Paths are relative to the baseline's own folder. A file that was written
before is changed table by table: what a table says and how a person wrote it stays, unless its
findings changed.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, structs
from msgspec.structs import replace

from loopaudit.config import toml_text as tomltext
from loopaudit.config.actions import Slug
from loopaudit.config.file import Config
from loopaudit.config.toml_file import load
from loopaudit.core import regex
from loopaudit.core.errors import UsageError
from loopaudit.core.findings import LOOPS, Action
from loopaudit.core.shapes import Count, Number, Text
from loopaudit.core.urls import scheme_of

FILE_NAME: Final = "loopaudit-baseline.toml"
"""Where a baseline is written if nothing else is said."""

HEAD: Final = """\
# loopaudit baseline: findings that are known and accepted. `loopaudit check` compares with it.
# Only `loopaudit baseline` writes it. Yours to add in each table:
#   reason = "why it is accepted"    expires = 2030-12-31  (last day on which it is)
version = 2
"""


def usual_place(config: Config) -> Path:
    """The baseline of a run that names none: the configuration's, or the file beside it."""
    if config.baseline is not None:
        return config.baseline
    if config.file is None or config.file.absolute().parent == Path.cwd():
        return Path(FILE_NAME)
    return config.file.absolute().parent / FILE_NAME


class Firing(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One table ``[[firing]]`` as it stands in the file; see :class:`AcceptedIssue`."""

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


class Loop(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One table ``[[loop]]`` as it stands in the file."""

    transcript: Text
    conversation: Number = 1
    kind: Text
    calls: Annotated[tuple[Count, ...], Meta(min_length=1, title="a list of call numbers")]
    fingerprint: Annotated[str, Meta(pattern="^[0-9a-f]{16}$", title="16 hex digits")]
    reason: str = ""
    expires: date | None = None


class Unevaluated(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One table ``[[unevaluated]]`` as it stands in the file."""

    transcript: Text
    conversation: Number = 1
    policy: Text
    reason: str = ""
    expires: date | None = None


class Document(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole baseline as it stands in its file. One of version 1 knows of firings alone."""

    version: Literal[1, 2]
    firing: tuple[Firing, ...] = ()
    loop: tuple[Loop, ...] = ()
    unevaluated: tuple[Unevaluated, ...] = ()


_TABLE: Final = regex.lazy(r"^[ \t]*\[\[[ \t]*(?:firing|loop|unevaluated)[ \t]*\]\][ \t]*(?:#.*)?$", re.MULTILINE)


class AcceptedIssue(Struct, frozen=True):
    """Accepted findings of one issue in one file; ``line`` is that of its table, 0 for a new one.

    A loop has :data:`~loopaudit.core.findings.LOOPS` for its policy, its kind for its rule and the action
    *observe*. Where a policy could not evaluate a transcript, there is no action, and there are no calls.
    """

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

    @property
    def table(self) -> Literal["firing", "loop", "unevaluated"]:
        """The name of its table."""
        return "loop" if self.policy == LOOPS else "firing" if self.action else "unevaluated"

    def text(self) -> str:
        """The entry as a table."""
        lines = [f"[[{self.table}]]", f"transcript = {tomltext.quoted(self.transcript)}"]
        if self.conversation != 1:
            lines.append(f"conversation = {self.conversation}")
        if self.table == "loop":
            lines.append(f"kind = {tomltext.quoted(self.rule)}")
        else:
            for name in ("policy", "rule", "action", "tool") if self.table == "firing" else ("policy",):
                lines.append(f"{name} = {tomltext.quoted(getattr(self, name))}")
        if self.table != "unevaluated":
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


class Baseline(Struct, frozen=True):
    """A baseline as it was read, or an empty one that is yet to be written.

    ``knows_loops`` is false for one of version 1: it says nothing about loops, so that none of them is new to it.
    """

    path: Path
    entries: tuple[AcceptedIssue, ...] = ()
    text: str = ""
    knows_loops: bool = True

    def name_of(self, transcript: str | Path) -> str:
        """How the baseline calls a transcript: by the way from its own folder."""
        return tomltext.storable(relative_name(transcript, self.path.parent))

    def location(self, entry: AcceptedIssue) -> str:
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
    entries: list[AcceptedIssue] = []
    seen: dict[Any, int] = {}
    tables: dict[str, Sequence[Firing | Loop | Unevaluated]] = {
        "firing": found.firing, "loop": found.loop, "unevaluated": found.unevaluated,
    }  # fmt: skip
    for name, group in tables.items():
        for index, table in enumerate(group):
            entry = _entry(table, int(file.place((name, index)).rpartition(":")[2]))
            earlier = seen.setdefault(entry.key, entry.line)
            if earlier != entry.line:
                raise file.error((name, index), f"the same {name} stands in line {earlier}", "merge the two by hand")
            entries.append(entry)
    return Baseline(path, tuple(sorted(entries, key=lambda entry: entry.line)), file.text, found.version > 1)


def _entry(table: Firing | Loop | Unevaluated, line: int) -> AcceptedIssue:
    fields = {**structs.asdict(table), "line": line}
    if isinstance(table, Loop):
        fields |= {"policy": LOOPS, "rule": fields.pop("kind"), "action": Action.OBSERVE.slug, "tool": ""}
    if isinstance(table, Unevaluated):
        fields |= {"rule": "", "action": "", "tool": "", "calls": (), "fingerprint": ""}
    return AcceptedIssue(**{**fields, "calls": tuple(sorted(fields["calls"]))})


# -- writing -------------------------------------------------------------------------------


def write(old: Baseline, entries: Iterable[AcceptedIssue]) -> str:
    """The text of the new baseline. An entry that equals an old one keeps its old text and place."""
    blocks = _blocks(old)
    head = re.sub(r"^version\s*=\s*1$", "version = 2", blocks.pop(None, HEAD), flags=re.MULTILINE)
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
