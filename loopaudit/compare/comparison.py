"""The finished comparison: what every table, list and file of it is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from loopaudit.compare.model import Card, Scorecard
from loopaudit.compare.step_limit import Null
from loopaudit.compare.tallies import median
from loopaudit.core.errors import UsageError, did_you_mean
from loopaudit.core.report import Report


class Comparison(msgspec.Struct):
    """Policies side by side on the same recordings.

    ``report`` has the transcripts that were compared, unless they were not to be kept.
    ``nulls`` is the step limit beside each policy, by label. ``unlabelled`` are transcripts
    that were left out because the labels have nothing on them, ``unused_labels`` labels
    whose transcript was not among the inputs. ``currency`` is ``None`` without prices.
    """

    report: Report
    scorecard: Scorecard
    nulls: dict[str, Null]
    judged_by: Literal["hindsight", "labels"] = "hindsight"
    unlabelled: list[str] = msgspec.field(default_factory=list)
    unused_labels: list[str] = msgspec.field(default_factory=list)
    currency: str | None = None


class Row(msgspec.Struct):
    """A policy in a table: its 1-based number, its card and the step limit beside it."""

    number: int
    card: Card
    null: Null


Key = Callable[[Card], float | None]

_LOW_FIRST: Final = frozenset({"wrong", "missed", "late", "first"})
SORTS: Final[Mapping[str, Key]] = {
    "f1": lambda card: card.judged.f1,
    "precision": lambda card: card.judged.precision,
    "recall": lambda card: card.judged.recall,
    "caught": lambda card: card.judged.caught,
    "missed": lambda card: card.judged.missed,
    "late": lambda card: card.judged.median_late,
    "wrong": lambda card: card.judged.wrong,
    "firings": lambda card: sum(card.firings.values()),
    "first": lambda card: median(card.firsts),
    "avoided": lambda card: card.possible.calls,
}
"""What policies can be sorted by; the best first, unknown values last."""
ORDERS: Final = (*SORTS, "name", "given")


def rows(comparison: Comparison, sort: str = "f1", top: int | None = None) -> list[Row]:
    """The policies in the order of ``sort``, at most ``top`` of them.

    Policies with equal values stay in the order in which they were given.

    Raises:
        UsageError: there is no such order.
    """
    cards = ordered(list(comparison.scorecard.cards.values()), sort)
    chosen = cards if top is None else cards[:top]
    return [Row(number, card, comparison.nulls[card.label]) for number, card in enumerate(chosen, 1)]


def ordered(cards: Sequence[Card], sort: str) -> list[Card]:
    """Cards by a name of :data:`ORDERS`."""
    if sort == "given":
        return list(cards)
    if sort == "name":
        return sorted(cards, key=lambda card: card.label)
    key = SORTS.get(sort)
    if key is None:
        raise UsageError(f"--sort: {sort!r} is no order", hint=did_you_mean(sort, ORDERS))
    sign = 1 if sort in _LOW_FIRST else -1

    def place(card: Card) -> tuple[bool, float]:
        value = key(card)
        return value is None or not card.evaluated, 0.0 if value is None else sign * value

    return sorted(cards, key=place)
