"""What a person expects of policies on a transcript: a catch at a place, or silence.

Expectations stand in tables ``[[expect]]``: in the configuration, where each names its
``transcript``, or in a file beside the transcript (``run.expect.toml`` for ``run.jsonl``).
Paths in them are relative to the file that they stand in.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from loopaudit.config.actions import Slug
from loopaudit.config.file import Config
from loopaudit.config.toml_file import TomlFile, dashed, load, shown_path
from loopaudit.core import regex
from loopaudit.core.errors import UsageError
from loopaudit.core.findings import Action
from loopaudit.core.shapes import Count, Number, Share, Text
from loopaudit.hindsight.words import GRADES

SUFFIX: Final = ".expect.toml"

NEVER: Final = "never"

_RANGE: Final = r"(\d{1,9})(?:\s*(?:-|–|\.\.)\s*(\d{1,9}))?"
_AT: Final = regex.lazy(_RANGE)

if TYPE_CHECKING:
    GradeWord = str
else:
    GradeWord = Literal[tuple(GRADES)]


class Expect(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """One table ``[[expect]]`` in a file beside its transcript."""

    policy: Text
    action: Slug | None = None
    at: (
        Annotated[
            Number | Annotated[str, Meta(pattern=rf"^(?:{NEVER}|{_RANGE})$")],
            Meta(title='the number of a call from 1, a range like "5-9", or "never"'),
        ]
        | None
    ) = None
    rule: Text | None = None
    max_redundant: Count | None = None
    hindsight: GradeWord | None = None
    twin: Text | None = None
    conversation: Number | None = None
    reason: str = ""


class ExpectInConfig(Expect, frozen=True, kw_only=True):
    """One table ``[[expect]]`` of a configuration."""

    transcript: Text


class ExpectFile(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """A file of expectations beside a transcript."""

    expect: tuple[Expect, ...] = ()
    max_damaged: Share | None = None


class Expectation(Struct, frozen=True):
    """One expectation. Paths are absolute; ``source`` is ``file:line``, ``entry`` its place in that file from 1.

    ``at`` are the first and last allowed call numbers of the first such firing, ``None`` for
    anywhere; with ``never`` there must be no such firing. ``conversation`` counts the
    conversations of a file from 1.
    """

    transcript: Path
    policy: str
    action: Action | None = None
    at: tuple[int, int] | None = None
    never: bool = False
    rule: str | None = None
    max_redundant: int | None = None
    hindsight: str | None = None
    twin: Path | None = None
    conversation: int | None = None
    reason: str = ""
    source: str = ""
    entry: int = 0

    @property
    def description(self) -> str:
        """The expected firing in words: ``block by rule identical_call at call 7``."""
        what = f"{self.action.word}" if self.action else "a firing"
        if self.never and self.action and self.action < Action.STOP:
            what += " or stronger"
        if self.rule:
            what += f" by {self.rule}"
        if self.at is not None:
            what += f" at call {span(*self.at)}"
        return what


class Expectations(Struct, frozen=True):
    """Those of one transcript. ``max_damaged`` is the share of damaged records it may have."""

    items: tuple[Expectation, ...] = ()
    max_damaged: float | None = None


def span(first: int, last: int) -> str:
    """A range of call numbers in words."""
    return f"{first}" if first == last else f"{first}-{last}"


# -- reading -------------------------------------------------------------------------------


def beside(transcript: Path) -> Path | None:
    """The file of expectations beside a transcript, if there is one.

    ``run.jsonl.gz`` may have ``run.jsonl.gz.expect.toml``, ``run.jsonl.expect.toml`` or
    ``run.expect.toml``; the longest name counts.
    """
    name = transcript.name
    if name.endswith(SUFFIX):
        return None
    while name:
        candidate = transcript.with_name(name + SUFFIX)
        if os.path.lexists(candidate):  # also what is no file: reading it fails, where passing it over would pass
            return candidate
        shorter = name.rpartition(".")[0]
        name = shorter if transcript.name.count(".") and shorter != name else ""
    return None


def target(transcript: Path) -> Path:
    """The file of expectations to write for a transcript: the one there is, or a new one."""
    found = beside(transcript)
    if found is not None:
        return found
    plain = transcript.with_name(transcript.name.partition(".")[0] + SUFFIX) if "." in transcript.name[1:] else None
    return plain or transcript.with_name(transcript.name + SUFFIX)


def read(path: Path, transcript: Path) -> Expectations:
    """The expectations in a file beside a transcript.

    Raises:
        UsageError: the file is not as it should be.
    """
    if not path.is_file():
        raise UsageError(f"{shown_path(path)}: not a file")
    file = load(path)
    data = dashed(file, file.data)
    data["expect"] = _tables(file, data.get("expect", []))
    found = file.check(ExpectFile, data)
    items = tuple(_one(file, table, i, transcript) for i, table in enumerate(found.expect))
    if not items and found.max_damaged is None:
        raise UsageError(f"{shown_path(path)}: expects nothing", hint="delete it, or run `loopaudit expect` again")
    return Expectations(items, found.max_damaged)


def from_config(config: Config) -> tuple[Expectation, ...]:
    """The expectations of a configuration.

    Raises:
        UsageError: one is not as it should be.
    """
    file = config.toml
    if file is None or not config.expect:
        return ()
    tables = _tables(file, list(config.expect))
    found = file.check(tuple[ExpectInConfig, ...], tables, ("expect",))
    folder = file.path.parent
    return tuple(_one(file, table, i, folder / table.transcript) for i, table in enumerate(found))


def _tables(file: TomlFile, value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [dashed(file, t, ("expect", i)) if isinstance(t, dict) else t for i, t in enumerate(value)]


def _one(file: TomlFile, table: Expect, index: int, transcript: Path) -> Expectation:
    never = table.at == NEVER
    if never:
        for name in ("hindsight", "max-redundant", "twin"):
            if getattr(table, name.replace("-", "_")) is not None:
                raise file.error(("expect", index, name), 'says nothing beside at = "never"')
    return Expectation(
        transcript=transcript,
        policy=table.policy,
        action=None if table.action is None else Action.from_slug(table.action),
        at=None if never or table.at is None else _range(file, index, table.at),
        never=never,
        rule=table.rule,
        max_redundant=table.max_redundant,
        hindsight=table.hindsight,
        twin=None if table.twin is None else file.path.parent / table.twin,
        conversation=table.conversation,
        reason=table.reason,
        source=file.place(("expect", index)),
        entry=index + 1,
    )


def _range(file: TomlFile, index: int, at: int | str) -> tuple[int, int]:
    if isinstance(at, int):
        return at, at
    match = _AT.fullmatch(at)
    assert match is not None, "the shape was checked"
    first, last = int(match.group(1)), int(match.group(2) or match.group(1))
    if not 1 <= first <= last:
        raise file.error(("expect", index, "at"), f"{at!r} is no range of calls", "write the smaller number first")
    return first, last


def check_names(items: Iterable[Expectation], rules: Mapping[str, Iterable[str]]) -> None:
    """Check that each rule is one of its policy's. ``rules`` are those of each policy by its label.

    Raises:
        UsageError: one is not.
    """
    from loopaudit.core.errors import did_you_mean

    for item in items:
        if item.rule is not None and item.policy in rules and item.rule not in rules[item.policy]:
            raise UsageError(
                f"{item.source}: {item.policy} has no rule {item.rule!r}",
                hint=did_you_mean(item.rule, rules[item.policy]),
            )
