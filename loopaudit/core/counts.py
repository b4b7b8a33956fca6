"""The counts of one conversation: as the emitter makes them, and as a result keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final, TypeVar

from msgspec import Struct, field

from loopaudit.core.events import Level
from loopaudit.core.marks import Marks

K = TypeVar("K")


class Counts(Struct):
    """Counts of one conversation. ``None`` stands for *not recorded*, never 0.

    ``turns`` are those of the main agent; the other counts include sub-agents. Tokens are
    counted once per model response, and ``all_tokens`` has each of them once
    (:func:`~loopaudit.core.events.all_tokens`). ``started`` and ``ended`` are seconds since 1970.
    ``success_known`` says that the recording distinguishes failures from successes.
    """

    turns: int = 0
    batches: int = 0
    text_replies: int = 0
    calls: int = 0
    results: int = 0
    unanswered: int = 0
    orphan_results: int = 0
    errors: int = 0
    errors_by_level: dict[Level, int] = field(default_factory=dict)
    denied: int = 0
    cancelled: int = 0
    sidechain_calls: int = 0
    max_parallel: int = 0
    repeated_ids: int = 0
    repeated_records: int = 0
    compactions: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    all_tokens: int | None = None
    started: float | None = None
    ended: float | None = None
    success_known: bool = False

    @property
    def failures(self) -> int | None:
        """``errors``, or ``None`` where the recording would not show one."""
        return self.errors if self.errors or self.success_known else None

    @property
    def duration(self) -> float | None:
        """Seconds between the first and the last recorded time."""
        if self.started is None or self.ended is None:
            return None
        return max(0.0, self.ended - self.started)


class Totals(Counts):
    """Counts while a conversation is read, with the names and schemas that it has shown so far.

    ``models`` and ``tools`` count responses and calls by name, ``schemas`` are those of the tools' arguments.
    ``marks`` are what the transcript itself tells of hindsight's opinion, where it has lost its words.
    ``unread_calls`` counts the responses that speak of actions, in a conversation without a single call.
    ``copied_calls`` were left out, because they stand in the file that this one continues.
    """

    unread_calls: int = 0
    copied_calls: int = 0
    agents: set[str] = field(default_factory=set)
    models: dict[str, int] = field(default_factory=dict)
    tools: dict[str, int] = field(default_factory=dict)
    schemas: dict[str, Any] = field(default_factory=dict)
    marks: Marks | None = None

    def counts(self) -> Counts:
        """The counts alone, as a result keeps them."""
        return Counts(*_counted(self))


_counted: Final = attrgetter(*Counts.__struct_fields__)
"""Made once, since a run may have a hundred thousand conversations."""


UNREAD_CALLS: Final = "unread_calls"
"""The problem of a conversation whose responses speak of actions, and of which no call was read."""


def missing_calls(totals: Totals) -> str:
    """Why nothing can be evaluated of a conversation without calls; empty where there was nothing to call."""
    if totals.calls or not totals.unread_calls:
        return ""
    return "the responses speak of actions, but no call was read"


NO_SCHEMAS: Final = "no tool schemas are recorded or given"


def missing_needs(totals: Totals) -> dict[str, str]:
    """What a recording lacks, as need and sentence. Empty for one without calls."""
    lacks: dict[str, str] = {}
    if not totals.calls:
        return lacks
    if not totals.results:
        lacks["results"] = "no results are recorded"
        lacks["error_text"] = "no results are recorded"
    if not totals.success_known and not totals.errors:
        lacks["success"] = "the recording does not tell failures from successes"
    if not totals.schemas:
        lacks["schemas"] = NO_SCHEMAS
    return lacks


def merge_counts(counts: dict[K, int], more: Mapping[K, int]) -> None:
    """Add ``more`` to ``counts``, name by name."""
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count
