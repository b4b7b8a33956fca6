"""Folds a long list of firings into rows: the same decision again and again is one row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, field

from loopaudit.core.findings import Finding, Grade

CYCLE: Final = 8
"""How many rows of one policy stay open: firings that take turns fold up to this period."""


class Row(Struct):
    """Firings of one policy that say the same of the same call, close behind each other.

    ``first`` stands for all of them; ``last`` is the last one. ``grades`` counts them by
    what hindsight says.
    """

    first: Finding
    last: Finding
    times: int = 1
    grades: dict[tuple[str, bool | None], int] = field(default_factory=dict)

    def take(self, finding: Finding) -> None:
        """Fold one more firing into the row."""
        self.last = finding
        self.times += 1
        self._grade(finding.grade)

    def _grade(self, grade: Grade | None) -> None:
        if grade is not None:
            key = (grade.word, grade.good)
            self.grades[key] = self.grades.get(key, 0) + 1

    @classmethod
    def of(cls, finding: Finding) -> Row:
        """A row of one firing."""
        row = cls(finding, finding)
        row._grade(finding.grade)
        return row


def fold(findings: Iterable[Finding]) -> list[Row]:
    """Rows of one policy's firings, in the order of their first ones.

    Firings fold if policy, rule, action, agent and key are the same and fewer than
    :data:`CYCLE` other rows of that agent were touched in between.
    """
    rows: list[Row] = []
    open_rows: dict[str, dict[tuple[object, ...], Row]] = {}
    for finding in findings:
        recent = open_rows.setdefault(finding.agent, {})
        identity = _identity(finding)
        row = recent.pop(identity, None)
        if row is not None:
            row.take(finding)
        else:
            row = Row.of(finding)
            rows.append(row)
            if len(recent) == CYCLE:
                del recent[next(iter(recent))]
        recent[identity] = row  # the last one touched stands last
    return rows


def _identity(finding: Finding) -> tuple[object, ...]:
    return (
        finding.policy,
        finding.rule,
        finding.action,
        finding.own_word,
        finding.key or finding.arguments,
        finding.tool,
        finding.whole_batch,
    )


def chosen(rows: Sequence[Row], most: int) -> tuple[list[Row], list[Row]]:
    """The rows to show and those left out, where not all fit; both in their order.

    The first row of each policy, rule and action comes before further ones, so that a busy
    rule does not hide a rare one.
    """
    if len(rows) <= most:
        return list(rows), []
    seen: set[tuple[object, ...]] = set()
    rank = []
    for row in rows:
        kind = (row.first.policy, row.first.rule, row.first.action)
        rank.append(kind in seen)
        seen.add(kind)
    best = sorted(range(len(rows)), key=lambda i: (rank[i], i))[:most]
    kept = set(best)
    return [row for i, row in enumerate(rows) if i in kept], [row for i, row in enumerate(rows) if i not in kept]


def merge(rows_of_policies: Sequence[Sequence[Row]]) -> list[Row]:
    """Rows of several policies in the order in which their first firings happened."""
    rows = [row for rows in rows_of_policies for row in rows]
    return sorted(rows, key=lambda row: (row.first.line, row.first.call))
