"""Observers of a replay that keep what no policy decides: costs, and guards that really fired.

:class:`Bookkeeper` keeps a :class:`~loopaudit.core.report.Ledger`, without which policies cannot
be compared. :class:`RecordedGuards` turns the notices of the recording harness's own guard
into findings, so that they can stand beside the replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopaudit.core import text
from loopaudit.core.events import Batch, Boundary, Event, Turn, seconds
from loopaudit.core.findings import Action, Finding
from loopaudit.core.regex import Caseless
from loopaudit.core.report import Ledger, Response
from loopaudit.core.secrets import mask

RECORDED: Final = "recorded"
"""Stands where a finding names its policy, for a guard of the recording harness."""

MAX_RECORDED: Final = 10_000

_STOPPED: Final = Caseless(r"\b(?:stop|halt|abort|terminat|kill|end(?:ed|s|ing)?\b|stuck|break|circuit)")
_REFUSED: Final = Caseless(r"\b(?:block|deny|denied|denial|reject|refus|skip|prevent|dedup)")


class Bookkeeper:
    """Keeps every response of a conversation with its calls, tokens and time."""

    def __init__(self) -> None:
        self.ledger = Ledger([])
        self._turns: dict[str, int] = {}
        self._clock: dict[str, float] = {}

    def events(self, events: Sequence[Event]) -> None:
        """The next events of all agents."""
        for event in events:
            self._event(event)

    def _event(self, event: Event) -> None:
        agent = event.agent
        if isinstance(event, Batch):
            self._response(event)
            return
        if isinstance(event, Turn):
            self._turns[agent] = self._turns.get(agent, 0) + 1
        at = seconds(event.at)
        if at is not None:
            self._clock[agent] = at

    def _response(self, batch: Batch) -> None:
        agent = batch.agent
        times = [at for at in (seconds(batch.at), *_times(batch)) if at is not None]
        took: float | None = None
        if times:
            start = self._clock.get(agent, times[0])
            end = max(times)
            # A clock that ran backwards tells nothing.
            took = end - start if end >= start else None
            self._clock[agent] = end
        usage = batch.usage
        self.ledger.responses.append(
            Response(
                agent=agent,
                index=batch.index,
                turn=self._turns.get(agent, 0),
                line=batch.line,
                calls=tuple(call.number for call in batch.calls),
                model=batch.model,
                input=None if usage is None else usage.input,
                output=None if usage is None else usage.output,
                cache_read=None if usage is None else usage.cache_read,
                cache_write=None if usage is None else usage.cache_write,
                seconds=took,
            )
        )


def _times(batch: Batch) -> list[float | None]:
    ends = [call.result.at if call.result is not None else None for call in batch.calls]
    return [seconds(call.at if end is None else end) for call, end in zip(batch.calls, ends, strict=True)]


class RecordedGuards:
    """Collects the firings of a guard of the recording harness, which are boundaries."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._last: dict[str, Batch] = {}
        self._turns: dict[str, int] = {}

    def events(self, events: Sequence[Event]) -> None:
        """The next events of all agents."""
        for event in events:
            if isinstance(event, Batch):
                if event.calls:
                    self._last[event.agent] = event
            elif isinstance(event, Turn):
                self._turns[event.agent] = self._turns.get(event.agent, 0) + 1
            elif event.kind == "recorded_guard" and len(self.findings) < MAX_RECORDED:
                self.findings.append(self._finding(event))

    def _finding(self, boundary: Boundary) -> Finding:
        """The notice as a firing about the last call before it."""
        batch = self._last.get(boundary.agent)
        call = batch.calls[-1] if batch is not None else None
        return Finding(
            policy=RECORDED,
            action=action_of(boundary.reason),
            # A name, which reports do not mask: what looks like a secret in it is none of the guard's.
            own_word=text.one_line(mask(boundary.reason), 80) or "recorded guard",
            rule="recorded_guard",
            count=0,
            tool=call.name if call is not None else "",
            session=boundary.session,
            agent=boundary.agent,
            turn=self._turns.get(boundary.agent, 0),
            batch=batch.index if batch is not None else 0,
            call=call.number if call is not None else 0,
            calls=(call.number, call.number) if call is not None else (0, 0),
            whole_batch=False,
            line=boundary.line,
            arguments=text.one_line(call.raw_arguments, 160) if call is not None else "",
            message="",
            key=call.key.hex() if call is not None else "",
        )


def action_of(reason: str) -> Action:
    """The action that a recorded guard's words tell of; a warning where they tell of none."""
    if _STOPPED.search(reason):
        return Action.STOP
    return Action.BLOCK if _REFUSED.search(reason) else Action.WARN
