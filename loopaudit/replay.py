"""One pass: the events of a conversation through every selected policy.

The engine makes one guard per policy and agent, hands it the agent's events, and turns its
decisions into findings. In *enforced* mode a stop silences the guard until the next turn, as
in its host: the calls in between are counted as avoided. In *shadow* mode nothing is avoided.
A guard that crashes is put out for the rest of the transcript and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from loopaudit import text
from loopaudit.emit import Totals
from loopaudit.events import TOKEN_LIMIT, Batch, Call, Event, Turn
from loopaudit.findings import Action, Decision
from loopaudit.policy import Context, Guard, Mode, Selected
from loopaudit.report import Finding, PolicyResult
from loopaudit.tools import Translator, translator

MAX_FINDINGS: Final = 10_000
"""Findings kept per policy and transcript; further ones are only counted."""

ARGUMENTS_SHOWN: Final = 160
"""Characters of the arguments that a finding keeps."""


class Observer(Protocol):
    """Sees the same events as the policies, before them."""

    def event(self, event: Event) -> None:
        """One event of any agent."""


_JUDGE, _TURN, _BOUNDARY = range(3)


class _Lane:
    """One policy at work for one agent. ``methods`` are the guard's, by kind of event."""

    __slots__ = ("methods", "result", "selected", "stopped")

    def __init__(self, selected: Selected, guard: Guard, result: PolicyResult) -> None:
        self.selected = selected
        self.methods: tuple[Callable[[Any], Any], ...] = (guard.judge, guard.turn, guard.boundary)
        self.result = result
        self.stopped = False


class Replay:
    """Replays one conversation. Feed it events, then take :meth:`finish`.

    ``schemas`` are the tools' argument schemas by recorded name; the mapping may fill while
    the transcript is being read.
    """

    def __init__(
        self,
        selected: Sequence[Selected],
        *,
        mode: Mode = "enforced",
        map_names: bool = True,
        schemas: Mapping[str, Any] | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.mode = mode
        self._enforced = mode == "enforced"
        self._selected = selected
        self._map_names = map_names
        self._schemas: Mapping[str, Any] = {} if schemas is None else schemas
        self._observers = observers
        self._results = [PolicyResult(s.label, s.policy.id, s.params.as_dict()) for s in selected]
        self._translators = [translator(s.policy.vocabulary, by_kind=map_names) for s in selected]
        self._agents: dict[str, list[_Lane]] = {}
        self._turns: dict[str, int] = {}

    # -- feeding ---------------------------------------------------------------------------

    def feed(self, event: Event) -> None:
        """Take the next event of the conversation."""
        for observer in self._observers:
            observer.event(event)
        lanes = self._agents.get(event.agent)
        if lanes is None:
            lanes = self._agents[event.agent] = self._start()
        if isinstance(event, Batch):
            self._tell(lanes, _JUDGE, event)
            for call in event.calls:
                result = call.result
                if result is not None and len(result.source) > TOKEN_LIMIT:
                    result.shrink()
        elif isinstance(event, Turn):
            self._turns[event.agent] = self._turns.get(event.agent, 0) + 1
            for lane in lanes:
                lane.stopped = False
            self._tell(lanes, _TURN, event)
        else:
            self._tell(lanes, _BOUNDARY, event)

    def _start(self) -> list[_Lane]:
        lanes = []
        for selected, result, tool in zip(self._selected, self._results, self._translators, strict=True):
            context = Context(enforced=self._enforced, tool=tool, schemas=self._schemas)
            lanes.append(_Lane(selected, selected.policy.start(selected.params, context), result))
        return lanes

    def _tell(self, lanes: list[_Lane], kind: int, event: Event) -> None:
        """Let every guard that has not stopped see an event. A guard that crashes is put out."""
        calls = len(event.calls) if isinstance(event, Batch) else 0
        for lane in lanes:
            if lane.stopped:
                lane.result.avoided_calls += calls
                continue
            lane.result.judged_calls += calls
            try:
                said = lane.methods[kind](event)
                if said:
                    self._decided(lane, event, said)
            except Exception as error:  # noqa: BLE001 - a guard is foreign code; its crash is reported
                lane.result.status = "crashed"
                lane.result.reasons.append(f"crashed at line {event.line}: {type(error).__name__}: {error}")
                lane.methods = (_silent,) * 3

    # -- decisions -------------------------------------------------------------------------

    def _decided(self, lane: _Lane, batch: Event, decisions: Iterable[Decision]) -> None:
        assert isinstance(batch, Batch), "only a batch can be judged"
        result = lane.result
        for decision in decisions:
            action = decision.action
            if action == Action.ALLOW:
                continue
            result.by_action[action.slug] = result.by_action.get(action.slug, 0) + 1
            result.by_rule[decision.rule] = result.by_rule.get(decision.rule, 0) + 1
            if len(result.findings) < MAX_FINDINGS:
                result.findings.append(self._finding(lane, batch, decision))
            else:
                result.dropped += 1
            if not self._enforced:
                continue
            if action.refuses:
                result.blocked_calls += len(batch.calls) if decision.position < 0 else 1
            elif action == Action.STOP:
                lane.stopped = True
                result.avoided_calls += decision.skipped

    def _finding(self, lane: _Lane, batch: Batch, decision: Decision) -> Finding:
        calls = batch.calls
        position = decision.position
        call = calls[position] if calls else None
        policy = lane.selected.policy
        return Finding(
            policy=lane.selected.label,
            action=decision.action,
            own_word=decision.own_word or decision.action.slug,
            rule=decision.rule,
            count=decision.count,
            tool=decision.tool or (call.name if call is not None else ""),
            session=batch.session,
            agent=batch.agent,
            turn=self._turns.get(batch.agent, 0),
            batch=batch.index,
            call=call.number if call is not None else 0,
            calls=(calls[0].number, calls[-1].number) if calls else (0, 0),
            whole_batch=position < 0,
            line=call.line if call is not None else batch.line,
            arguments=short_arguments(call) if call is not None else "",
            message=policy.message(decision),
            key=call.key.hex() if call is not None else "",
            details=decision.details,
        )

    # -- the end ---------------------------------------------------------------------------

    def finish(self, totals: Totals) -> list[PolicyResult]:
        """The results, each with what the recording did not let its guard see."""
        lacks = missing_needs(totals)
        for selected, result, tool in zip(self._selected, self._results, self._translators, strict=True):
            if isinstance(tool, Translator):
                result.mapped = dict(sorted(tool.mapped.items()))
            if result.status == "crashed":
                continue
            policy = selected.policy
            for need, loss in policy.needs.items():
                if need not in lacks:
                    continue
                result.reasons.append(f"{lacks[need]}: {loss}")
                if need in policy.essential:
                    result.status = "cannot_evaluate"
                elif result.status == "evaluated":
                    result.status = "partly"
            if result.status == "cannot_evaluate":
                _withdraw(result)
        return self._results


def _silent(event: Event) -> None:
    """Stands in for a guard that crashed."""


def _withdraw(result: PolicyResult) -> None:
    """Take back what a guard said that could not see what it needs."""
    result.findings = []
    result.by_action = {}
    result.by_rule = {}
    result.dropped = result.blocked_calls = result.avoided_calls = result.judged_calls = 0


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
        lacks["schemas"] = "no tool schemas are recorded or given"
    return lacks


def short_arguments(call: Call) -> str:
    """The arguments of a call on one line, safe to print, cut at :data:`ARGUMENTS_SHOWN`."""
    return text.one_line(call.raw_arguments, ARGUMENTS_SHOWN)
