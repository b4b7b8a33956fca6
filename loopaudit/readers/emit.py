"""The only place that builds events.

A reader tells the :class:`Emitter` what it finds, in file order: a person's message, prose,
a call, a result, a boundary. The emitter numbers calls, pairs results with them, drops
repeated records, forms batches and hands complete events to its sink, in each agent's order.

**Batches.** Calls with the same ``key`` (the response's id in the format) belong to one
batch, whatever stands between them. Without keys, calls join the open batch until a result
of it has arrived. A batch is handed on when the next event of its agent has begun and all
its calls are answered, so that results may come late; behind an unanswered call at most
:data:`MAX_HELD` events of an agent wait, then the call counts as unanswered.

**Repeated ids.** A second record with the id of an earlier call is a copy, and is dropped,
if it has the same name and arguments; with others it is a new call in a format that reuses
ids. Ids that are plainly no identities (``call_0``) are trusted only while unanswered.

Two calls of one response under one id are two calls, and its results answer them in order. A result whose call stands
behind it waits for that; one whose call never comes is an orphan.

**Repeated messages.** Files that repeat a whole prefix repeat the person's messages too, and
those carry no id. A message whose text was seen before therefore waits for what follows: if
that is a repeated call, it was a copy and is dropped.

The module is long because numbering, pairing, batches and copies share one state per agent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from msgspec import Struct

from loopaudit.core.arguments import WEAK_ID, of_arguments, of_slice, of_text
from loopaudit.core.bounded import Latest
from loopaudit.core.counts import UNREAD_CALLS, Totals
from loopaudit.core.events import (
    Batch,
    Boundary,
    BoundaryKind,
    Call,
    Event,
    Level,
    Result,
    Status,
    Turn,
    Usage,
    all_tokens,
    content_text,
    seconds,
)
from loopaudit.core.failure_words import says_failure
from loopaudit.core.findings import Problems
from loopaudit.core.marks import Marks
from loopaudit.readers.spoken import ENOUGH_WEAK, answers_action, spoken

MAX_HELD: Final = 64
"""Events of one agent that wait behind an unanswered call, at most."""

MAX_IDS: Final = 1 << 12
"""Ids and message texts that are remembered at least, each, for dropping copies.

A copy that stands further behind its original counts as a call of its own. A file that repeats a
growing prefix would have to be of many gigabytes for that.
"""

MAX_EARLY: Final = 64
"""Results that wait for a call that stands behind them, at most."""

MAX_UNHEARD: Final = 64
"""Messages and responses before the first call that are held to be looked at if none comes: mostly one does."""

MAX_AGENTS: Final = 128
"""Agents whose last response is held until something follows; with more, that of idle ones is handed on before.

Half of :data:`loopaudit.audit.engine.MAX_AGENTS`, so that an agent's guards still know it then."""

_UTC_WIDTH: Final = len("2026-02-07T03:49:23.388Z")


class Accepted(Struct, frozen=True):
    """One thing that an emitter accepted, for its tap: the method, and what it was called with."""

    kind: Literal["session", "tools", "knows_success", "turn", "say", "usage", "call", "result", "boundary"]
    agent: str = ""
    """Of a result that has a call, the agent of that call."""
    line: int = 0
    at: str | float | None = None
    arguments: Mapping[str, Any] = MappingProxyType({})
    """The other arguments by name. ``call`` stands for those that name a call, and for its result's output."""


class _Agent:
    """One agent's unfinished part of the stream."""

    __slots__ = (
        "batches",
        "current",
        "held",
        "key",
        "last_turn",
        "name",
        "opened",
        "queue",
        "sealed",
        "swept",
        "tentative",
        "unanswered",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.current: Batch | None = None
        self.key: str | None = None
        self.sealed = False
        self.queue: deque[Event] = deque()
        self.unanswered = 0
        """Calls of the current batch without a result."""
        self.opened: dict[int, int] = {}
        """The same of each batch in the queue that came there with some, by its ``index``."""
        self.batches = 0
        self.swept = 0
        """``batches`` when it was last looked at whether the agent is idle."""
        self.tentative: list[Event] = []
        self.held: list[Accepted] = []
        """What the tap is notified of once :attr:`tentative` is decided upon."""
        self.last_turn: Turn | None = None
        """The newest event, if it is a person's message."""


class Emitter:
    """Turns a reader's findings into events. One per transcript; see the module text.

    ``failure_level`` is the weakest level that counts as a failure: ``flag``, ``exit_code``
    (the default: flags and exit codes) or ``text``.

    ``tap`` is notified of everything that is accepted, at the moment of it: not of copies that
    are dropped, and of a message that waits for what follows when it is decided upon. Repeating
    what it was notified of on another emitter gives the same events.
    """

    def __init__(
        self,
        sink: Callable[[Event], None],
        problems: Problems | None = None,
        *,
        failure_level: Level = "exit_code",
        on_session: Callable[[str, Totals], None] | None = None,
        tap: Callable[[Accepted], None] | None = None,
    ) -> None:
        self.sink = sink
        """Takes the events; may be exchanged for another at any time."""
        self.problems = Problems() if problems is None else problems
        self._use_text = failure_level == "text"
        self._use_exit = failure_level != "flag"
        self._on_session = on_session
        self._tap = tap
        self.sessions = 0
        self.at(0)
        self._begin("")

    # -- conversations ---------------------------------------------------------------------

    def _begin(self, session: str) -> None:
        self.session_id = session
        self.totals = Totals()
        self._agents: dict[str, _Agent] = {}
        self._retired: dict[str, int] = {}
        """Agents that nothing is held of, with the number of their responses."""
        self._open: dict[str, tuple[Call, Batch, _Agent]] = {}
        self._waiting: dict[tuple[str, str | None], deque[tuple[Call, Batch, _Agent]]] | None = None
        """Open calls by agent and name, and by agent alone, oldest first; only where a result came without an id."""
        self._queued = 0
        """Calls that were added there, answered ones too."""
        self._twins: dict[str, deque[tuple[Call, Batch, _Agent]]] = {}
        """Open calls of a response whose id an earlier call of it has, which is open too."""
        self._early: dict[str, tuple[int, dict[str, Any]]] = {}
        """Results whose calls have not come yet: their lines, and what :meth:`result` was given."""
        self._ids: Latest[int] = Latest(MAX_IDS)
        self._texts: Latest[bool] = Latest(MAX_IDS)
        self._weak_ids = False
        self._spoken = {"strong": 0, "weak": 0}
        """Responses before the first call by how plainly they speak of actions."""
        self._spoken_line = 0
        self._unheard: list[Turn | Batch] = []
        """Messages and responses before the first call that were not looked at yet."""
        self._answers = 0
        """Messages before the first call that stand in a person's place and are results of actions."""
        self._used = False
        self._first = self._last = ""

    def session(self, session: str) -> None:
        """Begin another conversation; everything of the one before is handed on.

        Naming the conversation that is already open, or the first one before anything else,
        only sets its name.
        """
        if session == self.session_id and self._used:
            return
        before, begins = self.session_id, self._used
        if begins:
            self.finish()
            self._begin(session)
        self.session_id = session
        if self._tap is not None and session != before:
            self._tap(Accepted("session", arguments={"session": session, "begins": begins}))

    def finish(self) -> Totals:
        """Hand on everything that waits, and close the conversation. Returns its counts."""
        for agent in self._agents.values():
            self._settle(agent, keep=True)
        for agent in self._agents.values():
            self._close(agent)
            self._advance(agent, force=True)
        self._open.clear()
        self._waiting = None
        self._twins.clear()
        for line, _ in self._early.values():
            self._orphan(line)
        self._early.clear()
        self._settle_times()
        if not self.totals.calls:
            self._count_unread()
        if self._used:
            self.sessions += 1
            if self._on_session is not None:
                self._on_session(self.session_id, self.totals)
        self._used = False
        return self.totals

    def tools(self, schemas: Mapping[str, Any]) -> None:
        """Declare tools: JSON Schemas of their arguments by tool name."""
        self.totals.schemas.update(schemas)
        if self._tap is not None:
            self._tap(Accepted("tools", arguments={"schemas": schemas}))

    def knows_success(self) -> None:
        """Say that this format distinguishes failures from successes (no flag then means success)."""
        self.totals.success_known = True
        if self._tap is not None:
            self._tap(Accepted("knows_success"))

    def marks(self, marks: Marks) -> None:
        """Give hindsight's opinion of the conversation, which the transcript carries in the place of its words."""
        self.totals.marks = marks

    def problem(self, kind: str, message: str, *, line: int | None = None, damage: bool = False) -> None:
        """Count something that could not be used."""
        self.problems.add(kind, message, line=self.line if line is None else line, damage=damage)

    def copied(self, kind: str, message: str, *, line: int | None = None) -> None:
        """Count a record that the reader itself knows to be a copy of an earlier one."""
        self._copy(kind, message, self.line if line is None else line)

    # -- what a reader reports -------------------------------------------------------------

    def at(self, line: int | None = None, time: str | float | None = None, agent: str = "") -> None:
        """Begin a record: what is reported from here on stands in this line, at this time, and is this agent's.

        The methods below take another ``line``, time (``at``) or ``agent`` for what stands elsewhere, as
        a result that is reported with its call. ``line`` counts from 1; 0 stands for no line. Without one
        the record is part of that which was begun last, and stands in its line.
        """
        if line is not None:
            self.line = line
        self.time = time
        self.agent = agent

    def _place(
        self, agent: str | None, line: int | None, at: str | float | None
    ) -> tuple[str, int, str | float | None]:
        """Where something stands: as given, else as the record says that was begun last."""
        return (
            self.agent if agent is None else agent,
            self.line if line is None else line,
            self.time if at is None else at,
        )

    def turn(
        self,
        text: str,
        *,
        agent: str | None = None,
        line: int | None = None,
        at: str | float | None = None,
        id: str | None = None,
        is_own: bool = False,
    ) -> None:
        """A person's new message. With an ``id``, a second one of the same id is dropped.

        One that ``is_own`` is no copy, however often its text was typed before.
        """
        agent, line, at = self._place(agent, line, at)
        stream = self._agents.get(agent) or self._agent(agent)
        if id is not None and not self._ids.add(("turn", id), 1):
            self._copy("repeated_message", "a message of this id stood before", line)
            return
        if at is not None and at != self._last:
            self._time(at)
        event = Turn(self.session_id, agent, text, line, at)
        if id is None and not is_own and not self._texts.add((agent, text), True):
            last = stream.tentative[-1] if stream.tentative else stream.last_turn
            if isinstance(last, Turn) and last.text == text:
                self._copy("repeated_message", "the same message stands twice in a row", line)
                return
            stream.tentative.append(event)
            if self._tap is not None:
                stream.held.append(Accepted("turn", agent, line, at, {"text": text}))
            return
        if stream.tentative:
            self._settle(stream, keep=True)
        if stream.current is not None:
            self._close(stream)
        self._deliver_turn(stream, event)
        if self._tap is not None:
            self._tap(Accepted("turn", agent, line, at, {"text": text}))

    def _deliver_turn(self, stream: _Agent, event: Turn) -> None:
        if stream.name == "":
            self.totals.turns += 1
            if not self.totals.calls:
                self._unheard.append(event)
                if len(self._unheard) >= MAX_UNHEARD:
                    self._listen()
        stream.last_turn = event
        if stream.queue:
            stream.queue.append(event)
            self._advance(stream)
        else:
            self.sink(event)

    def say(
        self,
        text: str,
        *,
        agent: str | None = None,
        key: str | None = None,
        line: int | None = None,
        at: str | float | None = None,
        model: str | None = None,
    ) -> None:
        """Prose of the assistant. With a ``key`` it joins that response's batch."""
        agent, line, at = self._place(agent, line, at)
        stream = self._agents.get(agent) or self._agent(agent)
        if at is not None and at != self._last:
            self._time(at)
        if stream.tentative and self._waits(stream, key):
            last = stream.tentative[-1]
            if not isinstance(last, Batch) or last.response_id != key:
                last = Batch(self.session_id, agent, 0, [], line=line, at=at, response_id=key)
                stream.tentative.append(last)
            last.text = f"{last.text}\n{text}" if last.text else text
            last.model = model if model is not None else last.model
            if self._tap is not None:
                stream.held.append(Accepted("say", agent, line, at, {"text": text, "key": key, "model": model}))
            return
        batch = self._batch(stream, key, line, at, joins_calls=False)
        batch.text = f"{batch.text}\n{text}" if batch.text else text
        if model is not None:
            batch.model = model
        if self._tap is not None:
            self._tap(Accepted("say", agent, line, at, {"text": text, "key": key, "model": model}))

    def usage(
        self, usage: Usage, *, agent: str | None = None, key: str | None = None, model: str | None = None
    ) -> None:
        """Tokens of a model response; the last report for a response counts, never the sum."""
        if agent is None:
            agent = self.agent
        stream = self._agents.get(agent) or self._agent(agent)
        batch = stream.current
        if batch is None or (key is not None and stream.key != key):
            batch = _waiting(stream, key)
        if batch is None:
            self._count_usage(usage)
        else:
            batch.usage = usage
            if model is not None:
                batch.model = model
        if self._tap is not None:
            self._tap(Accepted("usage", agent, arguments={"usage": usage, "key": key, "model": model}))

    def call(
        self,
        name: str,
        arguments: Any,
        *,
        id: str | None = None,
        key: str | None = None,
        agent: str | None = None,
        line: int | None = None,
        at: str | float | None = None,
        model: str | None = None,
    ) -> Call | None:
        """A tool call. Returns it, or ``None`` where the record is a copy of an earlier one.

        ``arguments`` are the text that the model sent (``str``), the JSON slice as recorded
        (``bytes``; a JSON string in it is the sent text), or the decoded value.
        """
        # The source stays as recorded; the mark is the canonical key, made once for copies, guards and hindsight.
        form, source, is_json, mark, value = (
            of_text(name, arguments)
            if isinstance(arguments, str)
            else of_slice(name, arguments)
            if isinstance(arguments, bytes) and arguments[:1] != b'"'
            else of_arguments(name, arguments)
        )
        # As :meth:`_place` does, without a call of it.
        if agent is None:
            agent = self.agent
        if line is None:
            line = self.line
        if at is None:
            at = self.time
        stream = self._agents.get(agent) or self._agent(agent)
        ids = self._ids
        if id:
            earlier = ids.get(id)
            if earlier is not None and self._is_copy(id, earlier, hash(mark)):
                self._settle(stream, keep=False)
                self.totals.repeated_ids += 1
                self._copy("repeated_call", "a call of this id stood before", line)
                return None
        if stream.tentative:
            # A message that stood there twice was no copy: the agent goes on behind it.
            self._settle(stream, keep=True)
        if at is not None and at != self._last:
            self._time(at)
        batch = stream.current
        if batch is None or key is None or key != stream.key:
            batch = self._batch(stream, key, line, at, joins_calls=True)
        if model is not None:
            batch.model = model
        totals = self.totals
        totals.calls = number = totals.calls + 1
        if number == 1:
            self._unheard.clear()
        own = id or f"#{number}"  # by its number it is the only one of the conversation
        ids.put(own, hash(mark))
        call = Call(own, number, name, form, source, mark, is_json, None, line, at, None, None, value)
        batch.calls.append(call)
        if batch is stream.current:
            stream.unanswered += 1
        else:
            stream.opened[batch.index] = stream.opened.get(batch.index, 0) + 1
        entry = (call, batch, stream)
        twin = self._open.get(own)
        if twin is not None and twin[1] is batch:
            self._twins.setdefault(own, deque()).append(entry)
        else:
            self._open[own] = entry
            if self._waiting is not None:
                self._wait(entry)
        if self._tap is not None:
            self._tap(Accepted("call", agent, line, at, {"call": call, "key": key, "model": model}))
        if own in self._early:
            self._answer_early(own)
        return call

    def result(
        self,
        id: str | None,
        output: Any,
        *,
        failed: bool | None = None,
        status: Status | None = None,
        exit_code: int | None = None,
        error: str | None = "",
        apart: bool = False,
        agent: str | None = None,
        name: str | None = None,
        line: int | None = None,
        at: str | float | None = None,
    ) -> Call | None:
        """The result of a call; without an id, of the agent's oldest open call (``name``'s).

        ``output`` is text, raw JSON bytes, or a decoded content. ``failed`` is the harness's
        own flag (``None``: it has none for this result). ``error`` is the error text where
        it is recorded apart from the output, ``None`` for a failure recorded without words;
        left out, a failure's output is its error text. ``apart`` says that an empty ``error`` was
        recorded as such. Returns the call, or ``None`` for an orphan or a repeated result.
        """
        # As :meth:`_place` does, without a call of it.
        if agent is None:
            agent = self.agent
        if line is None:
            line = self.line
        if at is None:
            at = self.time
        entry = self._open.pop(id, None) if id else self._oldest(agent, name)
        if entry is None:
            given = {"failed": failed, "status": status, "exit_code": exit_code, "error": error, "agent": agent}
            is_orphan = self._unpaired(id, line, {"output": output, "name": name, "at": at, **given})
            if self._tap is not None and is_orphan:
                given = {"id": id, "name": name, "output": output}
                outcome = {"failed": failed, "status": status, "exit_code": exit_code, "error": error, "apart": apart}
                self._tap(Accepted("result", agent, line, at, {**given, **outcome}))
            return None
        call, batch, stream = entry
        if not id:
            del self._open[call.id]
        if self._twins:
            self._promote(call.id)
        if (
            not (failed or exit_code)
            and status is None
            and (failed is not None or not self._use_text)
            and isinstance(output, (bytes, str))
        ):
            # What most results are, without a further call.
            totals = self.totals
            totals.results += 1
            if failed is not None or exit_code is not None:
                totals.success_known = True
            if at is not None and at != self._last:
                self._time(at)
            call.result = Result(output, False, "ok", None, exit_code, None, False, line, at)
        else:
            self.answer(
                call,
                output,
                failed=failed,
                status=status,
                exit_code=exit_code,
                error=error,
                apart=apart,
                line=line,
                at=at,
            )
        if batch is stream.current:
            stream.sealed = True  # the next call was sent after this result: it is of another response
            stream.unanswered -= 1
        else:
            left = stream.opened[batch.index] = stream.opened[batch.index] - 1
            if not left:
                self._advance(stream)
        if self._tap is not None:
            outcome = {"failed": failed, "status": status, "exit_code": exit_code, "error": error, "apart": apart}
            self._tap(Accepted("result", stream.name, line, at, {"call": call, **outcome}))
        return call

    def nameless(self, agent: str) -> str | None:
        """What the oldest open call of an agent is called here that was recorded without an id."""
        found = (entry[0].id for entry in self._open.values() if entry[2].name == agent)
        return next((name for name in found if name.startswith("#")), None)

    def answer(
        self,
        call: Call,
        output: Any,
        *,
        failed: bool | None,
        status: Status | None,
        exit_code: int | None,
        error: str | None,
        apart: bool = False,
        line: int,
        at: str | float | None,
    ) -> None:
        """Attach a result to a call and classify its failure."""
        totals = self.totals
        totals.results += 1
        if at is not None:
            self._time(at)
        source = output if isinstance(output, (str, bytes)) else content_text(output)
        level: Level | None = None
        if failed or (status is not None and status != "ok"):
            level = "flag"
        elif exit_code:
            level = "exit_code"
        elif failed is None and self._use_text and says_failure(source):
            level = "text"
        counts = level == "flag" or (level == "exit_code" and self._use_exit) or level == "text"
        if failed is not None or exit_code is not None or status is not None:
            totals.success_known = True
        if level is not None:
            totals.errors_by_level[level] = totals.errors_by_level.get(level, 0) + 1
        if counts:
            totals.errors += 1
        if status == "denied":
            totals.denied += 1
        elif status == "cancelled":
            totals.cancelled += 1
        result = Result(source, counts, status or ("error" if counts else "ok"), level, exit_code)
        result.line = line
        result.at = at
        if counts:
            result.has_error = error is not None
            if error or apart:
                result.error_source = error
        call.result = result

    def boundary(
        self,
        kind: BoundaryKind,
        reason: str = "",
        *,
        agent: str | None = None,
        line: int | None = None,
        at: str | float | None = None,
    ) -> None:
        """A compaction, a resumption, an interruption, or the recorded end of the run."""
        agent, line, at = self._place(agent, line, at)
        stream = self._agent(agent)
        self._settle(stream, keep=True)
        self._close(stream)
        if kind == "compaction":
            self.totals.compactions += 1
        self._time(at)
        stream.last_turn = None
        stream.queue.append(Boundary(self.session_id, agent, kind, reason, line, at))
        self._advance(stream)
        if self._tap is not None:
            self._tap(Accepted("boundary", agent, line, at, {"kind": kind, "reason": reason}))

    def waiting(self, agent: str = "") -> list[Batch]:
        """The agent's responses that are not handed on, oldest first: more of them may come."""
        stream = self._agents.get(agent)
        if stream is None:
            return []
        queued = [event for event in stream.queue if isinstance(event, Batch)]
        return queued if stream.current is None else [*queued, stream.current]

    # -- inside ----------------------------------------------------------------------------

    def _agent(self, name: str) -> _Agent:
        stream = self._agents.get(name)
        if stream is None:
            if len(self._agents) >= MAX_AGENTS:
                self._retire()
            stream = self._agents[name] = _Agent(name)
            stream.batches = self._retired.pop(name, 0)
            self.totals.agents.add(name)
            self._used = True
        return stream

    def _retire(self) -> None:
        """Hand on what is held of a quarter of the sub-agents, of those that were idle first of all."""
        agents = self._agents
        left = MAX_AGENTS // 4
        for name in [*agents, *agents]:
            stream = agents.pop(name, None)
            if stream is None:
                continue
            if not name or stream.batches != stream.swept:
                stream.swept = stream.batches
                agents[name] = stream  # looked at again after all others
                continue
            self._settle(stream, keep=True)
            self._close(stream)
            self._advance(stream, force=True)
            self._retired[name] = stream.batches
            left -= 1
            if not left:
                break

    def _time(self, at: str | float | None) -> None:
        """Widen the span of recorded times.

        UTC times of the usual width (``2026-02-07T03:49:23.388Z``) are in order as text; of
        those only the first and the last one become numbers, at the end.
        """
        if at is None:
            return
        if isinstance(at, str) and len(at) == _UTC_WIDTH and at[-1] == "Z" and at[10] == "T" and at[4] == "-":
            if at > self._last:
                self._last = at
                if not self._first:
                    self._first = at
            elif at < self._first:
                self._first = at
            return
        self._span(at)

    def _settle_times(self) -> None:
        if self._last:
            self._span(self._first)
            self._span(self._last)

    def _span(self, at: str | float) -> None:
        moment = seconds(at)
        if moment is None:
            return
        totals = self.totals
        if totals.started is None or moment < totals.started:
            totals.started = moment
        if totals.ended is None or moment > totals.ended:
            totals.ended = moment

    def _batch(self, stream: _Agent, key: str | None, line: int, at: str | float | None, *, joins_calls: bool) -> Batch:
        """The batch that something with this key belongs to, opened if need be."""
        current = stream.current
        if current is not None:
            if key is not None:
                if key == stream.key:
                    return current
                waiting = _waiting(stream, key) if stream.queue else None
                if waiting is not None:
                    return waiting
            elif stream.key is None and not stream.sealed and (joins_calls or not current.calls):
                return current
            self._close(stream)
        stream.batches += 1
        stream.last_turn = None
        batch = Batch(self.session_id, stream.name, stream.batches, [], line=line, at=at, response_id=key)
        stream.current = batch
        stream.key = key
        stream.sealed = False
        return batch

    def _close(self, stream: _Agent) -> None:
        batch = stream.current
        if batch is None:
            return
        stream.current = None
        stream.key = None
        if stream.unanswered or stream.queue:
            if stream.unanswered:
                stream.opened[batch.index] = stream.unanswered
                stream.unanswered = 0
            stream.queue.append(batch)
            self._advance(stream)
        else:
            self._hand_on(stream, batch)

    def _advance(self, stream: _Agent, *, force: bool = False) -> None:
        queue = stream.queue
        while queue:
            event = queue[0]
            if isinstance(event, Batch):
                if stream.opened.get(event.index) and not force and len(queue) <= MAX_HELD:
                    return
                self._hand_on(stream, event)
            else:
                self.sink(event)
            queue.popleft()

    def _hand_on(self, stream: _Agent, batch: Batch) -> None:
        totals = self.totals
        if stream.opened and stream.opened.pop(batch.index, 0):
            for call in batch.calls:
                if call.result is None:
                    totals.unanswered += 1
                    self._close_call(call)
        calls = batch.calls
        if calls:
            totals.batches += 1
            together = len(calls)
            totals.max_parallel = max(totals.max_parallel, together)
            if stream.name:
                totals.sidechain_calls += together
            tools = totals.tools
            for call in calls:
                name = call.name
                tools[name] = tools.get(name, 0) + 1
        else:
            totals.text_replies += 1
            if not totals.calls:
                self._unheard.append(batch)
                if len(self._unheard) >= MAX_UNHEARD:
                    self._listen()
        if batch.usage is not None:
            self._count_usage(batch.usage)
        if batch.model is not None:
            totals.models[batch.model] = totals.models.get(batch.model, 0) + 1
        self.sink(batch)

    def _listen(self) -> None:
        """Look at messages and responses before the first call whether they speak of actions."""
        for event in self._unheard:
            speaks = False
            if isinstance(event, Turn):
                if speaks := answers_action(event.text):
                    self._answers += 1
            elif word := spoken(event.text):
                self._spoken[word] += 1
                speaks = True
            if speaks and not self._spoken_line:
                self._spoken_line = event.line
        self._unheard.clear()

    def _count_unread(self) -> None:
        """Say of a conversation without calls that its responses speak of actions, if they do."""
        self._listen()
        strong, weak = self._spoken["strong"], self._spoken["weak"]
        found = strong + weak if strong or weak >= ENOUGH_WEAK else 0
        if self._answers:
            # Who spoke of them may be nobody that a reader knows as the agent, as in a group of speakers.
            found = max(found, min(self._answers, self.totals.text_replies), 1)
        marks = self.totals.marks
        if not found and marks is not None and not self.totals.calls:
            found = min(marks.unread_calls, self.totals.text_replies)  # its words are gone
        if found:
            self.totals.unread_calls = found
            every = f"{found} of {self.totals.text_replies} responses speak of actions, but no call was read"
            self.problems.add(UNREAD_CALLS, every, line=self._spoken_line)

    def _count_usage(self, usage: Usage) -> None:
        totals = self.totals
        if usage.input is not None:
            totals.input_tokens = (totals.input_tokens or 0) + usage.input
        if usage.output is not None:
            totals.output_tokens = (totals.output_tokens or 0) + usage.output
        if usage.cache_read is not None:
            totals.cache_read_tokens = (totals.cache_read_tokens or 0) + usage.cache_read
        if usage.cache_write is not None:
            totals.cache_write_tokens = (totals.cache_write_tokens or 0) + usage.cache_write
        total = all_tokens(usage.input, usage.output, usage.cache_read, usage.cache_write)
        if total is not None:
            totals.all_tokens = (totals.all_tokens or 0) + total

    def _settle(self, stream: _Agent, *, keep: bool) -> None:
        """Decide on messages that waited: deliver them, or drop them as copies."""
        if not stream.tentative:
            return
        waiting, stream.tentative = stream.tentative, []
        held, stream.held = stream.held, []
        if not keep:
            for event in waiting:
                self._copy("repeated_message", "the message stands before a repeated call", event.line)
            return
        for event in waiting:
            self._close(stream)
            if isinstance(event, Turn):
                self._deliver_turn(stream, event)
            elif isinstance(event, Batch):
                stream.batches += 1
                stream.last_turn = None
                event.index = stream.batches
                stream.current = event
                stream.key = event.response_id
                stream.sealed = False
        if self._tap is not None:
            for accepted in held:
                self._tap(accepted)

    @staticmethod
    def _waits(stream: _Agent, key: str | None) -> bool:
        """Whether prose must wait for the decision on a message that stands before it."""
        return bool(stream.tentative) and (key is None or (key != stream.key and _waiting(stream, key) is None))

    def _is_copy(self, id: str, earlier: int, mark: int) -> bool:
        if earlier != mark:
            self._weak_ids = True
            return False
        if id in self._open:
            return True
        return not self._weak_ids and not WEAK_ID.fullmatch(id)

    def _copy(self, kind: str, message: str, line: int) -> None:
        self.totals.repeated_records += 1
        self.problems.add(kind, message, line=line)

    def _oldest(self, agent: str, name: str | None) -> tuple[Call, Batch, _Agent] | None:
        if self._waiting is None:
            self._waiting, self._queued = {}, 0
            for entry in self._open.values():
                self._wait(entry)
        queue = self._waiting.get((agent, name))
        while queue:
            entry = queue[0]
            if self._open.get(entry[0].id) is entry:
                return entry
            queue.popleft()
        return None

    def _wait(self, entry: tuple[Call, Batch, _Agent]) -> None:
        """Let an open call be found without its id."""
        waiting = self._waiting
        if waiting is None:
            return
        self._queued += 1
        if self._queued > 4 * len(self._open) + MAX_IDS:
            self._waiting = None  # most of it is answered: made anew when it is asked for
            return
        for key in ((entry[2].name, entry[0].name), (entry[2].name, None)):
            waiting.setdefault(key, deque()).append(entry)

    def _promote(self, id: str) -> None:
        """Let the next call of a response wait for a result under an id that several of its calls have."""
        twins = self._twins.get(id)
        if twins is not None:
            entry = self._open[id] = twins.popleft()
            if self._waiting is not None:
                self._wait(entry)
            if not twins:
                del self._twins[id]

    def _close_call(self, call: Call) -> None:
        """Let a call wait for its result no longer."""
        entry = self._open.get(call.id)
        if entry is not None and entry[0] is call:
            del self._open[call.id]
            self._promote(call.id)
        elif entry is not None and call.id in self._twins:
            left = deque(twin for twin in self._twins.pop(call.id) if twin[0] is not call)
            if left:
                self._twins[call.id] = left

    def _unpaired(self, id: str | None, line: int, given: dict[str, Any]) -> bool:
        """Keep or count a result without an open call. Returns whether its call is not there at all."""
        if id and (id in self._early or self._ids.get(id) is not None):
            self._copy("repeated_result", "a result of this call stood before", line)
            return False
        if not id:
            self._orphan(line)
            return True
        self._early[id] = (line, given)
        if len(self._early) > MAX_EARLY:
            oldest = next(iter(self._early))
            self._orphan(self._early.pop(oldest)[0])
        return True

    def _orphan(self, line: int) -> None:
        self.totals.orphan_results += 1
        self.problems.add("orphan_result", "a result whose call is not in the transcript", line=line)

    def _answer_early(self, id: str) -> None:
        """Give a call the result that stood before it."""
        line, given = self._early.pop(id)
        self.problems.add("early_result", "a result stands before its call", line=line)
        tap, self._tap = self._tap, None  # the tap knows of the result already
        place = self.line, self.time, self.agent
        self.at(line, given.pop("at"), given.pop("agent"))
        self.result(id, given.pop("output"), **given)
        self.at(*place)
        self._tap = tap


def _waiting(stream: _Agent, key: str | None) -> Batch | None:
    """The batch of this key that is not handed on yet, behind the open one."""
    if key is not None:
        for event in stream.queue:
            if isinstance(event, Batch) and event.response_id == key:
                return event
    return None
