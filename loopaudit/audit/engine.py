"""One pass: the events of a conversation through every selected policy.

The engine makes one guard per policy and agent, hands it the agent's events, and turns its
decisions into findings. In *enforced* mode a stop silences the guard until the next turn, as
in its host: the calls in between are counted as avoided. In *shadow* mode nothing is avoided.
A guard that crashes is put out for the rest of the transcript and reported.

The module is long because feeding, running and deciding share the state of one pass.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol

from loopaudit.audit.contained import ContainedGuard, GuardError, TimeLimit
from loopaudit.core import text
from loopaudit.core.counts import Totals, missing_calls, missing_needs
from loopaudit.core.events import TOKEN_LIMIT, Batch, Boundary, Call, Event, Result, Turn
from loopaudit.core.findings import Action, Decision, Finding
from loopaudit.core.report import PolicyResult
from loopaudit.core.tools import Kind, Translator, literal, translator
from loopaudit.policies.contract import Context, Guard, Mode, Selected
from loopaudit.policies.registry import is_built_in

if TYPE_CHECKING:
    from loopaudit.hindsight.classifier import Handover

MAX_FINDINGS: Final = 10_000
"""Findings kept per policy and transcript; further ones are only counted."""

ARGUMENTS_SHOWN: Final = 160
"""Characters of the arguments that a finding keeps."""

RESULT_SHOWN: Final = 400
"""Characters of the call's result that a finding keeps."""


BLOCK: Final = 1 << 20
"""Bytes of results that are held before the guards see them.

Running each guard over a block of events, instead of all guards over each event, takes less
than half the time: the interpreter stays in one guard's code and data.
"""


TRIM_BLOCKS: Final = 8
"""Blocks after which free memory is given back to the system; costs some tenths of a millisecond."""


EVENT_BYTES: Final = 512
"""What an event, or a call with its result, takes besides the text of its result, about."""


MAX_AGENTS: Final = 256
"""Agents whose guards are kept; those of one that was idle longest start anew if it comes back."""


class Observer(Protocol):
    """Sees the same events as the policies, before them."""

    def events(self, events: Sequence[Event]) -> None:
        """The next events of all agents, in the order of the recording; a block of them at once."""


class _Lane:
    """One policy at work for one agent."""

    __slots__ = ("guard", "result", "selected", "stopped")

    def __init__(self, selected: Selected, result: PolicyResult) -> None:
        self.selected = selected
        self.guard: Guard | None = None
        self.result = result
        self.stopped = False


class _Agent:
    """The lanes of one agent by their place in the selection, and its ``turns`` so far.

    While it is ``quiet`` it has called no tool, and many agents never do: no guard that waits for a call is started.
    """

    __slots__ = ("lanes", "quiet", "turns")

    def __init__(self) -> None:
        self.lanes: dict[int, _Lane] = {}
        self.quiet = True
        self.turns = 0


class Replay:
    """Replays one conversation. Feed it events, then take :meth:`finish`.

    ``schemas`` are the tools' argument schemas by recorded name; the mapping may fill while
    the transcript is being read. ``kinds`` are tool kinds by recorded name that the user gave.
    ``policy_timeout`` is the time in seconds that a policy that is not built in has for all of it.
    ``handovers`` has for each selected policy where its guards follow an observer; empty: none does.
    """

    def __init__(
        self,
        selected: Sequence[Selected],
        *,
        mode: Mode = "enforced",
        map_names: bool = True,
        schemas: Mapping[str, Any] | None = None,
        observers: Sequence[Observer] = (),
        kinds: Mapping[str, Kind] | None = None,
        policy_timeout: float | None = None,
        handovers: Sequence[Handover | None] = (),
    ) -> None:
        self.mode = mode
        self._enforced = mode == "enforced"
        self._selected = selected
        self._kinds = kinds or {}
        self._schemas: Mapping[str, Any] = {} if schemas is None else schemas
        self._observers = observers
        self._handovers = handovers
        self._map_names = map_names
        self._policy_timeout = policy_timeout
        self._results = [PolicyResult(s.label, s.policy.id, s.values) for s in selected]
        self.crowded = False
        """Whether there were more agents than :data:`MAX_AGENTS`."""
        self._contexts: dict[int, Context] = {}
        """What the guards of each policy learn of the replay, by its place: the same for all agents."""
        self._plain: Context | None = None
        """The context that all share that map no names."""
        self._limits: dict[int, TimeLimit | None] = {}
        """The time that each policy has that is not built in."""
        self._agents: dict[str, _Agent] = {}
        self._block: dict[str, list[Event]] = {}
        self._unseen: list[Event] = []
        """The same events in their order, for the observers."""
        self._large: list[Result] = []
        self._held = 0
        self._blocks = 0
        self._excerpts: dict[str, str] = {}
        self._shown: dict[int, tuple[str, str]] = {}
        """What findings show of a call's arguments and result, by its id, within a block: guards often agree."""

    # -- feeding ---------------------------------------------------------------------------

    def feed(self, event: Event) -> None:
        """Take the next event of the conversation. Observers and guards see it by the end of its block."""
        block = self._block.get(event.agent)
        if block is None:
            block = self._block[event.agent] = []
        block.append(event)
        self._unseen.append(event)
        held = EVENT_BYTES
        if isinstance(event, Batch):
            if self._kinds:
                for call in event.calls:
                    call.cached_kind = self._kinds.get(call.name)
            for call in event.calls:
                result = call.result
                if result is not None:
                    size = len(result.source)
                    held += size + EVENT_BYTES
                    if size > TOKEN_LIMIT:
                        self._large.append(result)
        self._held += held
        if self._held > BLOCK:
            self.flush()

    def flush(self) -> None:
        """Let every observer and guard see what it has not seen yet."""
        for observer in self._observers:
            observer.events(self._unseen)
        self._unseen.clear()
        for name, events in self._block.items():
            agent = self._agents.pop(name, None) or _Agent()
            self._agents[name] = agent  # the youngest now
            if len(self._agents) > MAX_AGENTS:
                self._forget_idle()
            if agent.quiet:
                agent.quiet = not _calls_of([event for event in events if isinstance(event, Batch)])
                self._start(agent)
                if not agent.lanes:
                    agent.turns += sum([isinstance(event, Turn) for event in events])
                    continue
            stretches = stretches_of(events, agent.turns)
            agent.turns = stretches[-1][4]
            calling: Sequence[Stretch] = ()
            for lane in agent.lanes.values():
                guard = lane.guard
                if guard is None:
                    continue
                if not guard.calls_only:
                    self._run(lane, guard, stretches)
                else:
                    calling = calling or with_calls(stretches)
                    self._run(lane, guard, calling)
        self._block.clear()
        self._shown.clear()
        for result in self._large:
            result.shrink()
        self._large.clear()
        self._held = 0
        self._blocks += 1
        if self._blocks % TRIM_BLOCKS == 0:
            trim()

    def _forget_idle(self) -> None:
        """Forget the guards of sub-agents that were idle longest."""
        self.crowded = True
        for name in [name for name in islice(self._agents, MAX_AGENTS // 4 + 1) if name]:
            del self._agents[name]

    @property
    def results(self) -> Sequence[PolicyResult]:
        """What the policies did so far, in the order of selection; of what is not flushed, nothing."""
        return self._results

    def guards(self, agent: str) -> list[tuple[Guard | None, bool]]:
        """An agent's guards in the order of selection, each with whether it has ended the turn; ``None`` if put out."""
        met = self._agents.get(agent)
        if met is None:
            met = self._agents[agent] = _Agent()
        if met.quiet:
            met.quiet = False
            self._start(met)
        return [(met.lanes[place].guard, met.lanes[place].stopped) for place in range(len(self._selected))]

    def _start(self, agent: _Agent) -> None:
        """Start the guards of an agent that wait for nothing any longer. One that cannot even start is put out."""
        lanes, contexts, handovers, quiet = agent.lanes, self._contexts, self._handovers, agent.quiet
        for place, selected in enumerate(self._selected):
            # One that follows hindsight has nothing to say before a loop.
            if place in lanes or (quiet and (selected.waits or (handovers and handovers[place] is not None))):
                continue
            result = self._results[place]
            lane = lanes[place] = _Lane(selected, result)
            context = contexts.get(place) or self._described(place, selected)
            if place not in self._limits:
                lane.guard = selected.policy.start(selected.params, context)
            elif result.status != "crashed":
                try:
                    lane.guard = ContainedGuard(selected, context, self._limits[place])
                except GuardError as error:
                    result.status = "crashed"
                    result.reasons.append(str(error))

    def _described(self, place: int, selected: Selected) -> Context:
        """The context of a policy, made for its first guard; with it the time of one that is not built in."""
        vocabulary = selected.policy.vocabulary
        handover = self._handovers[place] if self._handovers else None
        if not is_built_in(selected.policy):
            timeout = self._policy_timeout
            self._limits[place] = None if timeout is None else TimeLimit(timeout)
        if handover is None and (vocabulary is None or not self._map_names):
            context = self._plain = self._plain or Context(self._enforced, literal, self._schemas, self._kinds)
        else:
            tool = translator(vocabulary, by_kind=self._map_names, kinds=self._kinds)
            context = Context(self._enforced, tool, self._schemas, self._kinds, handover)
        self._contexts[place] = context
        return context

    def _run(self, lane: _Lane, guard: Guard, stretches: Sequence[Stretch]) -> None:
        """Run one guard over a block of its agent's events. A guard that crashes is put out."""
        judge = guard.judge
        has_turns = type(guard).turn is not Guard.turn  # a third of the guards go on over a person's message
        judged = avoided = 0
        batch: Batch | None = None
        later: Iterator[Batch] = iter(())
        line = 0
        try:
            for turn, boundary, batches, calls, number in stretches:
                batch = None
                if turn is not None:
                    line = turn.line
                    lane.stopped = False
                    if has_turns:
                        guard.turn(turn)
                elif boundary is not None:
                    line = boundary.line
                    if not lane.stopped:
                        guard.boundary(boundary)
                if lane.stopped:
                    avoided += calls
                    continue
                judged += calls
                later = iter(batches)
                for batch in later:
                    decisions = judge(batch)
                    if decisions and self._decided(lane, batch, number, decisions):
                        left = _calls_of(later)
                        judged -= left
                        avoided += left
                        break
        except Exception as error:  # noqa: BLE001 - a guard is foreign code; its crash is reported
            if batch is not None:
                line = batch.line
                judged -= _calls_of(later)
            lane.guard = None
            lane.result.status = "crashed"
            cause = str(error) if isinstance(error, GuardError) else f"{type(error).__name__}: {error}"
            lane.result.reasons.append(f"crashed at line {line}: {cause}")
        lane.result.judged_calls += judged
        lane.result.avoided_calls += avoided

    # -- decisions -------------------------------------------------------------------------

    def _decided(self, lane: _Lane, batch: Batch, turn: int, decisions: Iterable[Decision]) -> bool:
        """Take down what a guard decided on a batch of a turn; whether it is silent from now on."""
        result = lane.result
        for decision in decisions:
            action = decision.action
            if action == Action.ALLOW:
                continue
            result.by_action[action] = result.by_action.get(action, 0) + 1
            result.by_rule[decision.rule] = result.by_rule.get(decision.rule, 0) + 1
            if len(result.findings) < MAX_FINDINGS:
                result.findings.append(self._finding(lane, batch, turn, decision))
            else:
                result.dropped += 1
            if not self._enforced:
                continue
            if action.refuses:
                result.blocked_calls += len(batch.calls) if decision.position < 0 else 1
            elif action == Action.STOP:
                lane.stopped = True
                result.avoided_calls += decision.skipped
        return lane.stopped

    def _finding(self, lane: _Lane, batch: Batch, turn: int, decision: Decision) -> Finding:
        calls = batch.calls
        position = decision.position
        call = calls[position] if calls else None
        arguments, shown = ("", "") if call is None else self._as_shown(call)
        guard, message = lane.guard, lane.selected.policy.message
        return Finding(
            policy=lane.selected.label,
            action=decision.action,
            own_word=decision.own_word or decision.action.slug,
            rule=decision.rule,
            count=decision.count,
            tool=decision.tool or (call.name if call is not None else ""),
            session=batch.session,
            agent=batch.agent,
            turn=turn,
            batch=batch.index,
            call=call.number if call is not None else 0,
            calls=(calls[0].number, calls[-1].number) if calls else (0, 0),
            whole_batch=position < 0,
            line=call.line if call is not None else batch.line,
            arguments=arguments,
            message=message(decision) if not isinstance(guard, ContainedGuard) else guard.message(message, decision),
            key=call.key.hex() if call is not None else "",
            details=decision.details,
            skipped=decision.skipped if self._enforced else 0,
            result=shown,
        )

    def _as_shown(self, call: Call) -> tuple[str, str]:
        """A call's arguments and the beginning of its result, safe to print."""
        shown = self._shown.get(id(call))
        if shown is None:
            shown = self._shown[id(call)] = (short_arguments(call), self._excerpt(call))
        return shown

    def _excerpt(self, call: Call) -> str:
        """The beginning of a call's result, safe to print. Equal ones are one string in memory: loops repeat them."""
        if call.result is None:
            return ""
        output = call.result.output
        shown = text.visible(output[:RESULT_SHOWN])
        if len(output) > RESULT_SHOWN:
            shown += text.ELLIPSIS
        return self._excerpts.setdefault(shown, shown)

    # -- the end ---------------------------------------------------------------------------

    def finish(self, totals: Totals) -> list[PolicyResult]:
        """The results, each with what the recording did not let its guard see."""
        self.flush()
        lacks = missing_needs(totals)
        unread = missing_calls(totals)
        for place, context in self._contexts.items():
            tool = context.tool
            if isinstance(tool, Translator) and tool.mapped:
                self._results[place].mapped = dict(sorted(tool.mapped.items()))
        if not lacks and not unread:
            return self._results
        for selected, result in zip(self._selected, self._results, strict=True):
            if result.status == "crashed":
                continue
            policy = selected.policy
            if unread:
                result.reasons.append(unread)
                result.status = "cannot_evaluate"
            for need, loss in () if lacks.keys().isdisjoint(policy.needs) else policy.needs.items():
                if need not in lacks:
                    continue
                result.reasons.append(sys.intern(f"{lacks[need]}: {loss}"))  # the same in all transcripts
                if need in policy.essential:
                    result.status = "cannot_evaluate"
                elif result.status == "evaluated":
                    result.status = "partly"
            if result.status == "cannot_evaluate":
                _withdraw(result)
        return self._results


def _withdraw(result: PolicyResult) -> None:
    """Take back what a guard said that could not see what it needs."""
    result.findings = []
    result.by_action = {}
    result.by_rule = {}
    result.dropped = result.blocked_calls = result.avoided_calls = result.judged_calls = 0


def short_arguments(call: Call) -> str:
    """The arguments of a call on one line, safe to print, cut at :data:`ARGUMENTS_SHOWN`."""
    return text.one_line(call.raw_arguments, ARGUMENTS_SHOWN)


def trim() -> None:
    """Ask the C library to let go of free memory; nothing where it cannot be asked (only glibc can)."""
    if sys.platform != "linux":
        return
    import ctypes

    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if give_back is not None:
        give_back(0)


Stretch = tuple[Turn | None, Boundary | None, list[Batch], int, int]
"""What no turn or boundary interrupts: the turn or boundary before it, its batches, how many calls they have, and the
agent's turns up to it."""


def stretches_of(events: Sequence[Event], number: int) -> list[Stretch]:
    """Events of one agent, after so many turns, in stretches: distinguished once for all its guards."""
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


def _calls_of(batches: Iterable[Batch]) -> int:
    return sum([len(batch.calls) for batch in batches])
