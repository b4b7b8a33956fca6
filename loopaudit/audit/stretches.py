"""The events of one agent in a block, distinguished and ordered once for all its guards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loopaudit.core.events import Batch, Boundary, Event, Turn
from loopaudit.policies.overview import Overview

Stretch = tuple[Turn | None, Boundary | None, list[Batch], int, int]
"""What no turn or boundary interrupts: the turn or boundary before it, its batches, how many calls they have, and the
agent's turns up to it."""


class Passage:
    """Stretches in their order. ``is_over`` says that what follows them, if anything, is another turn."""

    __slots__ = ("_calling", "_overview", "calls", "is_over", "stretches")

    def __init__(self, stretches: Sequence[Stretch], *, is_over: bool) -> None:
        self.stretches = stretches
        self.calls = sum([stretch[3] for stretch in stretches])
        self.is_over = is_over
        self._calling: Sequence[Stretch] = ()
        self._overview: Overview | None = None

    @property
    def calling(self) -> Sequence[Stretch]:
        """As guards see it that read only calls."""
        self._calling = self._calling or with_calls(self.stretches)
        return self._calling

    def overview(self, schemas: Mapping[str, Any]) -> Overview:
        """The facts of all its calls."""
        if self._overview is None:
            self._overview = Overview([batch for stretch in self.stretches for batch in stretch[2]], schemas)
        return self._overview

    def by_turn(self) -> list[Passage]:
        """A passage for each turn. Only the first may have begun before, and then has no turn."""
        begins = [place for place, stretch in enumerate(self.stretches) if stretch[0] is not None or not place]
        ends = [*begins[1:], len(self.stretches)]
        turns = [Passage(self.stretches[a:b], is_over=True) for a, b in zip(begins, ends, strict=True)]
        turns[-1].is_over = self.is_over
        return turns


def stretches_of(events: Sequence[Event], number: int) -> list[Stretch]:
    """Events of one agent, after so many turns, in stretches."""
    found: list[Stretch] = []
    turn: Turn | None = None
    boundary: Boundary | None = None
    batches: list[Batch] = []
    calls = 0
    for event in events:
        if isinstance(event, Batch):
            batches.append(event)
            calls += len(event.calls)
            continue
        if batches or turn is not None or boundary is not None:
            found.append((turn, boundary, batches, calls, number))
            batches, calls = [], 0
        if isinstance(event, Turn):
            turn, boundary = event, None
            number += 1
        else:
            turn, boundary = None, event
    found.append((turn, boundary, batches, calls, number))
    return found


def with_calls(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Stretches without their replies, and without turns that bring nothing else before the next turn begins."""
    found: list[Stretch] = []
    for turn, boundary, batches, calls, number in stretches:
        if turn is not None and found and not found[-1][2] and found[-1][0] is not None:
            found.pop()
        found.append((turn, boundary, [batch for batch in batches if batch.calls], calls, number))
    return found
