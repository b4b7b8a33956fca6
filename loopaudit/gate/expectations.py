"""What a person expects of policies on a transcript: a catch at a place, or silence.

Expectations stand in tables ``[[expect]]``: in the configuration, where each names its
``transcript``, or in a file beside the transcript (``run.expect.toml`` for ``run.jsonl``).
Paths in them are relative to the file that they stand in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from loopaudit.config.file import Config
from loopaudit.config.shapecheck import Schema
from loopaudit.config.toml_file import TomlFile, dashed, load
from loopaudit.core import regex
from loopaudit.core.errors import UsageError
from loopaudit.core.findings import Action
from loopaudit.hindsight.words import GRADES

SUFFIX: Final = ".expect.toml"

NEVER: Final = "never"

_AT: Final = regex.lazy(r"(\d{1,9})(?:\s*(?:-|–|\.\.)\s*(\d{1,9}))?")

EXPECT: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["policy"],
    "properties": {
        "policy": {"type": "string", "minLength": 1, "description": "the name of a policy"},
        "action": {"type": "string", "enum": [a.slug for a in Action if a]},
        "at": {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "string", "pattern": rf"^(?:{NEVER}|{_AT.pattern})$"},
            ],
            "description": 'the number of a call from 1, a range like "5-9", or "never"',
        },
        "rule": {"type": "string", "minLength": 1, "description": "the name of a rule of the policy"},
        "max-redundant": {"type": "integer", "minimum": 0},
        "hindsight": {"type": "string", "enum": list(GRADES)},
        "twin": {"type": "string", "minLength": 1, "description": "the path of a healthy transcript"},
        "conversation": {"type": "integer", "minimum": 1},
        "reason": {"type": "string", "description": "a text in quotes"},
    },
}
"""The shape of one expectation in a file beside its transcript."""

EXPECT_IN_CONFIG: Final[Schema] = {
    **EXPECT,
    "required": ["transcript", "policy"],
    "properties": {"transcript": {"type": "string", "minLength": 1}, **EXPECT["properties"]},
}

FILE: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "expect": {"type": "array", "items": EXPECT},
        "max-damaged": {"type": "number", "minimum": 0, "maximum": 1},
    },
}


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expectation. Paths are absolute; ``source`` is ``file:line``.

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

    @property
    def told(self) -> str:
        """The expected firing in words: ``block by rule identical_call at call 7``."""
        what = f"{self.action.word}" if self.action else "a firing"
        if self.never and self.action and self.action < Action.STOP:
            what += " or stronger"
        if self.rule:
            what += f" by {self.rule}"
        if self.at is not None:
            what += f" at call {span(*self.at)}"
        return what


@dataclass(frozen=True, slots=True)
class Expectations:
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
        if candidate.is_file():
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
    file = load(path)
    data = dashed(file, file.data)
    data["expect"] = _tables(file, data.get("expect", []))
    file.check(FILE, data)
    items = tuple(_one(file, table, i, transcript) for i, table in enumerate(data["expect"]))
    return Expectations(items, data.get("max-damaged"))


def from_config(config: Config) -> tuple[Expectation, ...]:
    """The expectations of a configuration.

    Raises:
        UsageError: one is not as it should be.
    """
    file = config.toml
    if file is None or not config.expect:
        return ()
    tables = _tables(file, list(config.expect))
    file.check({"type": "array", "items": EXPECT_IN_CONFIG}, tables, ("expect",))
    folder = file.path.parent
    return tuple(_one(file, table, i, folder / table["transcript"]) for i, table in enumerate(tables))


def _tables(file: TomlFile, value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [dashed(file, t, ("expect", i)) if isinstance(t, dict) else t for i, t in enumerate(value)]


def _one(file: TomlFile, table: Mapping[str, Any], index: int, transcript: Path) -> Expectation:
    at = table.get("at")
    never = at == NEVER
    if never:
        for name in ("hindsight", "max-redundant", "twin"):
            if name in table:
                raise file.error(("expect", index, name), 'says nothing beside at = "never"')
    twin = table.get("twin")
    return Expectation(
        transcript=transcript,
        policy=table["policy"],
        action=Action.from_slug(table["action"]) if "action" in table else None,
        at=None if never or at is None else _range(file, index, at),
        never=never,
        rule=table.get("rule"),
        max_redundant=table.get("max-redundant"),
        hindsight=table.get("hindsight"),
        twin=None if twin is None else file.path.parent / twin,
        conversation=table.get("conversation"),
        reason=table.get("reason", ""),
        source=file.place(("expect", index)),
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
