"""How openclaw counts calls without progress.

All functions take the visible records, the oldest first, and look at them from the newest on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from loopaudit.policies.guards.openclaw.records import Record

STABLE: Final = 3
"""Equal outcomes that a call needs to count in :func:`argument_churn`."""


def unknown_run(records: Sequence[Record], name: str) -> int:
    """How many newest records are attempts of this tool at one and the same unknown tool."""
    count = 0
    for record in reversed(records):
        if record.name != name or not record.unknown or record.unknown != records[-1].unknown:
            break
        count += 1
    return count


def no_progress(records: Sequence[Record], name: str, key: bytes) -> tuple[int, object]:
    """How often a call had the same outcome, and that outcome. For commands the larger of two counts."""
    same = _same_outcome(records, name, key)
    if name != "exec":
        return same
    failing = _same_failure(records, name, key)
    return failing if failing[0] > same[0] else same


def _same_outcome(records: Sequence[Record], name: str, key: bytes) -> tuple[int, object]:
    """Records of one call; vetoes between equal outcomes count too."""
    streak = vetoes = 0
    latest: object = None
    for record in reversed(records):
        if record.name != name or record.key != key:
            continue
        if record.veto:
            vetoes += 1
            continue
        if record.outcome is None:
            continue
        if latest is None:
            latest = record.outcome
        elif record.outcome != latest:
            break
        streak += vetoes + 1
        vetoes = 0
    return (vetoes if latest is None else streak), latest


def _same_failure(records: Sequence[Record], name: str, key: bytes) -> tuple[int, object]:
    """Failed commands in a row with any arguments, alike but for what changes from run to run.

    Once another call than the one of ``key`` was met, meeting that call ends the count.
    """
    streak = vetoes = 0
    latest: Record | None = None
    crossed = False
    for record in reversed(records):
        if record.name != name:
            break
        if record.veto:
            vetoes += 1
            continue
        if record.outcome is None:
            continue
        if record.failure is None:
            break
        if latest is None:
            latest = record
        elif (crossed and record.key == key) or (record.outcome != latest.outcome and record.failure != latest.failure):
            break
        crossed = crossed or record.key != key
        streak += vetoes + 1
        vetoes = 0
    return streak, None if latest is None else latest.outcome


def ping_pong(records: Sequence[Record], key: bytes) -> tuple[int, bytes, bool]:
    """Length of the alternation that a call goes on with, the other call, and whether results prove it vain."""
    last = records[-1].key if records else b""
    tail = 0
    other = b""
    for record in reversed(records):
        if tail % 2 == 0:
            if record.key != last:
                break
        elif not other and record.key != last:
            other = record.key
        elif record.key != other:
            break
        tail += 1
    if tail < 2 or key != other:
        return 0, b"", False
    ours = [record.outcome for record in records[-tail:]]
    vain = None not in ours and all(ours[n] == ours[n - 2] for n in range(2, tail))
    return tail + 1, last, vain


def argument_churn(records: Sequence[Record], name: str, key: bytes) -> int:
    """How many newest calls of a tool went round between a few arguments, all with one outcome that is no progress."""
    outcomes: dict[bytes, object] = {}
    counts: Counter[bytes] = Counter()
    for record in reversed(records):
        if record.name != name:
            break
        if record.outcome is None:
            continue
        if not record.no_progress or outcomes.setdefault(record.key, record.outcome) != record.outcome:
            break
        counts[record.key] += 1
    if len(counts) < 2 or key not in counts or min(counts.values()) < STABLE:
        return 0
    shared = next(iter(outcomes.values()))
    return counts.total() if all(outcome == shared for outcome in outcomes.values()) else 0
