"""The events of one agent as its guards take them: batches in a row, between turns and boundaries.

Sorting a block of events once spares each of many guards to tell events apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopaudit.core.events import Batch, Boundary, Event, Turn

Stretch = tuple[Turn | Boundary | None, list[Batch], int]
"""What no turn or boundary interrupts: the turn or boundary before it, its batches, and how many calls they have."""


def stretches_of(events: Sequence[Event]) -> list[Stretch]:
    """Events of one agent in stretches: told apart once for all its guards."""
    found: list[Stretch] = []
    before: Turn | Boundary | None = None
    batches: list[Batch] = []
    for event in events:
        if isinstance(event, Batch):
            batches.append(event)
        else:
            found.append((before, batches, sum([len(batch.calls) for batch in batches])))
            before, batches = event, []
    found.append((before, batches, sum([len(batch.calls) for batch in batches])))
    return found


def calls_behind(batches: Sequence[Batch], batch: Batch) -> int:
    """How many calls come in the batches behind one of them."""
    place = next(place for place, other in enumerate(batches) if other is batch)
    return sum([len(later.calls) for later in batches[place + 1 :]])
