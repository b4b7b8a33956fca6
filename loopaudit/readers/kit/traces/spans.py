"""Spans of traces as every tracing format has them, in trees: who called whom, and what is one conversation.

:class:`Span` is what a reader makes of one recorded span. :func:`conversations` sorts spans by their start,
drops copies, and gives each span its conversation and its agent:

* An *agent* is a span of that kind. One that is started inside a tool call, or inside an agent that itself calls
  models or tools, is a sub-agent; so is a model call inside a tool call. Agents beside each other are the main
  agent one after the other (a handoff, a next step), unless they overlap in time.
* A *conversation* is a trace, or what has the same conversation id. An id counts where the outermost agent has
  it, or else all model calls of that agent.
* A model span around other model spans sums up a whole run, and counts as an agent; inside an agent it is a wrapper.
* Tool spans that tell the start, the success and the end of one tool are one call.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Set
from operator import itemgetter
from typing import Any, Final, Literal

from msgspec import Struct, field

from loopaudit.core import regex
from loopaudit.core.events import Call, Status, Usage, seconds
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Asked
from loopaudit.readers.kit.traces.messages import SpanMessage
from loopaudit.readers.kit.whole import Names

MAX_NESTING: Final = 256
"""Spans above a span that are looked at."""

_NO_ZONE: Final = regex.lazy(r"\d{4}-\d\d-\d\d[T ][\d:.,]+")

Kind = Literal["model", "tool", "agent", "other"]


class Absent:
    """The type of :data:`ABSENT`."""

    __slots__ = ()


ABSENT: Final = Absent()
"""Arguments or an output that the trace does not record; null is a recorded value."""


_OLDEST: Final = 946_684_800.0
_NEWEST: Final = 7_258_118_400.0
"""Seconds since 1970 that a trace can be of: the years 2000 to 2199."""

_UNITS: Final = (1e9, 1, 1e3, 1e6)
_NUMBERS: Final = (int, float)


def instant(value: Any) -> tuple[str | float | None, float | None]:
    """A recorded time as text, or in seconds since 1970, and those seconds; ``None`` twice for what is none.

    Numbers, or texts of digits, are seconds or a thousandth, millionth or billionth of one; JavaScript's SDK writes
    pairs of seconds and nanoseconds. Text without a zone is UTC.
    """
    if isinstance(value, str):
        if not (value.isdecimal() and value.isascii() and len(value) <= 20):
            text = f"{value}+00:00" if _NO_ZONE.fullmatch(value) else value
            moment = seconds(text)
            return (text, moment) if moment is not None and _OLDEST <= moment <= _NEWEST else (None, None)
        value = int(value)
    elif isinstance(value, list) and len(value) == 2 and type(value[0]) in _NUMBERS and type(value[1]) in _NUMBERS:
        value = value[0] + value[1] / 1e9
    if type(value) not in _NUMBERS:
        return None, None
    for unit in _UNITS:
        moment = value / unit
        if _OLDEST <= moment <= _NEWEST:
            return moment, moment
    return None, None


class Request(Struct, eq=False):
    """One call in a model's output, with the tool span that ran it, and what was reported of it.

    ``mark`` is its key, once somebody looked for it without an id.
    """

    asked: Asked
    mark: bytes = b""
    ran: Span | None = None
    call: Call | None = None


class Span(Struct, eq=False):
    """One span. Times are seconds since 1970; ``at`` and ``ended`` are as recorded.

    ``inputs`` and ``outputs`` are a model's messages, ``None`` where they were not recorded. ``name`` is that of
    the tool or agent; ``is_named`` says that it does not stem from the span's title alone. ``failed`` is the
    status of the span, ``None`` where the format has none.

    ``scope`` is the nearest agent or tool call above. ``place`` is that among all spans;
    :mod:`~loopaudit.readers.kit.traces.match` sets it to that in the conversation, and also a model's ``requests``, and
    the ``key`` of the batch of a model span, and of a tool span that nobody asked for.
    """

    id: str
    trace: str
    line: int = 0
    kind: Kind = "other"
    parent: str | None = None
    name: str = ""
    is_named: bool = True
    start: float | None = None
    end: float | None = None
    at: str | float | None = None
    ended: str | float | None = None
    conversation: str | None = None
    inputs: list[SpanMessage] | None = None
    outputs: list[SpanMessage] | None = None
    model: str | None = None
    usage: Usage | None = None
    tools: list[Any] = field(default_factory=list)
    call_id: str | None = None
    arguments: Any = ABSENT
    output: Any = ABSENT
    failed: bool | None = None
    status: Status | None = None
    error: str = ""
    agent: str = ""
    above: Span | None = None
    scope: Span | None = None
    place: int = -1
    requests: list[Request] = field(default_factory=list)
    key: str = ""


class Conversation(Struct):
    """The spans of one conversation by their start."""

    name: str
    spans: list[Span] = field(default_factory=list)


def conversations(emit: Emitter, recorded: list[Span]) -> list[Conversation]:
    """Put spans in order, link them, and tell which agent and conversation each belongs to."""
    known = _distinct(emit, recorded)
    spans = _ordered(known.values())
    _link(emit, spans, known)
    _join_events(spans)
    for span in spans:
        outer = _nearest(span, ("model",)) if span.kind == "model" else None
        if outer is not None:
            # Inside an agent it only wraps the call that really went to the model.
            outer.kind = "agent" if _nearest(outer, ("agent",)) is None else "other"
    found: dict[str, Conversation] = {}
    for span, name in zip(spans, _conversation_names(spans, _tops(spans)), strict=True):
        if name not in found:
            found[name] = Conversation(name)
        found[name].spans.append(span)
    for conversation in found.values():
        _Agents(conversation.spans).name()
    return list(found.values())


_EVENT: Final = regex.lazy(r"(.{1,200}?)[.:](start|success|finish|error)\Z", re.DOTALL)
"""The name of a span that is one event in the life of a tool call."""


def _join_events(spans: list[Span]) -> None:
    """Make one call of the spans by which some instrumentations tell a tool's start, success and end.

    They stand inside a span of the tool, or beside each other under one parent.
    """
    open_calls: dict[tuple[int, str], Span] = {}
    for span in spans:
        if span.kind != "tool":
            continue
        found = _EVENT.match(span.name)
        base = span.name if found is None else found[1]
        if span.above is not None and span.above.kind == "tool" and span.above.name == base:
            if found is not None or span.arguments in (ABSENT, span.above.arguments):
                _join(span, span.above)
            continue
        if found is None:
            continue
        key = (id(span.above), base)
        begun = open_calls.get(key)
        if found[2] == "start":
            open_calls[key] = span
        elif begun is not None:
            # Only now: a tool may be called so by itself.
            begun.name = base
            _join(span, begun)
            if found[2] == "finish":
                del open_calls[key]


def _join(event: Span, call: Span) -> None:
    """Let an event tell of a call what its span does not, and be no call itself."""
    event.kind = "other"
    if call.arguments is ABSENT:
        call.arguments = event.arguments
    if call.output is ABSENT or call.output is None:
        call.output = event.output
    call.failed = event.failed or call.failed
    call.status, call.error = call.status or event.status, call.error or event.error
    if call.end is None or (event.end is not None and event.end > call.end):
        call.end, call.ended = event.end, event.ended


def _distinct(emit: Emitter, recorded: list[Span]) -> dict[tuple[str, str], Span]:
    """Spans without copies, by trace and id: exporters send again what was not confirmed."""
    found: dict[tuple[str, str], Span] = {}
    for span in recorded:
        key = (span.trace, span.id)
        if key in found:
            emit.copied("repeated_span", "a span of this id stood before", line=span.line)
        else:
            found[key] = span
    return found


def _ordered(spans: Iterable[Span]) -> list[Span]:
    """Spans by their start; one without a start stands where the file has it."""
    last = float("-inf")
    keyed = []
    for span in spans:
        last = span.start if span.start is not None else last
        keyed.append((last, span))
    keyed.sort(key=itemgetter(0))  # the sort is stable
    return [span for _, span in keyed]


def _link(emit: Emitter, spans: list[Span], known: Mapping[tuple[str, str], Span]) -> None:
    """Set the span above each one. A circle of parents is cut open."""
    checked: set[int] = set()
    left: list[Span] = []
    for span in spans:
        if span.parent is not None:
            span.above = known.get((span.trace, span.parent))
        if span.above is None or id(span.above) in checked:
            checked.add(id(span))  # most come behind the one above them
        else:
            left.append(span)
    for span in left:
        path: set[int] = set()
        step: Span | None = span
        while step is not None and id(step) not in checked:
            path.add(id(step))
            if step.above is not None and id(step.above) in path:
                emit.problem("circle", "a span that is its own ancestor", line=step.line, damage=True)
                step.above = None
            step = step.above
        checked |= path


def _up(span: Span) -> list[Span]:
    """The spans above one, nearest first, at most :data:`MAX_NESTING`."""
    found: list[Span] = []
    step = span.above
    while step is not None and len(found) < MAX_NESTING:
        found.append(step)
        step = step.above
    return found


def _nearest(span: Span, kinds: Container[Kind]) -> Span | None:
    """The nearest span above one that is of some kinds, of at most :data:`MAX_NESTING`."""
    step = span.above
    for _ in range(MAX_NESTING):
        if step is None or step.kind in kinds:
            return step
        step = step.above
    return None


# -- conversations -------------------------------------------------------------------------


_SCOPES: Final = ("agent", "tool")
_NO_IDS: Final[Set[str | None]] = frozenset()


def _tops(spans: list[Span]) -> list[Span | None]:
    """The outermost agent of each span, which may be itself; also sets the scopes."""
    tops: list[Span | None] = []
    depths: list[int] = []
    for place, span in enumerate(spans):
        above = span.above
        top, depth = None, 0
        if above is not None and above.place >= 0 and (depth := depths[above.place] + 1) < MAX_NESTING:
            # What is known of the span above.
            top = tops[above.place]
            span.scope = above if above.kind in _SCOPES else above.scope
        elif above is not None:
            steps = _up(span)
            depth = len(steps)
            top = next((step for step in reversed(steps) if step.kind == "agent"), None)
            span.scope = next((step for step in steps if step.kind in _SCOPES), None)
        span.place = place
        tops.append(span if top is None and span.kind == "agent" else top)
        depths.append(depth)
    return tops


def _conversation_names(spans: list[Span], tops: list[Span | None]) -> list[str]:
    """The conversation of each span."""
    ids: dict[tuple[str, int], set[str | None]] = {}
    for span, top in zip(spans, tops, strict=True):
        if span.kind == "model":
            ids.setdefault((span.trace, id(top)), set()).add(span.conversation)
    names = []
    for span, top in zip(spans, tops, strict=True):
        own = top.conversation if top is not None else None
        if own is None:
            known = ids.get((span.trace, id(top)), _NO_IDS)
            if len(known) == 1:
                (own,) = known
            elif top is None and None not in known:
                own = next((s.conversation for s in (span, *_up(span)) if s.conversation is not None), None)
        names.append(own if own is not None else span.trace)
    return names


# -- agents --------------------------------------------------------------------------------


class _Agents:
    """Names the agents of one conversation; the main one is ``""``."""

    def __init__(self, spans: list[Span]) -> None:
        self._spans = spans
        self._unique = Names()
        self._names: dict[int, str] = {}
        self._own = {id(span) for span in spans}
        self._active = {id(span.scope) for span in spans if span.kind in ("model", "tool")}
        self._main: list[Span] = []

    def name(self) -> None:
        """Set the agent of every span."""
        for span in self._spans:
            if span.scope is not None:
                span.agent = self._of(span.scope)

    def _of(self, scope: Span) -> str:
        known = self._names.get(id(scope))
        if known is None:
            self._names[id(scope)] = known = self._new(scope)
        return known

    def _new(self, scope: Span) -> str:
        outer = self._outer(scope)
        while outer is not None and outer.kind == "agent" and id(outer) not in self._active:
            outer = self._outer(outer)
        is_inside = scope.kind == "tool" or outer is not None
        if not is_inside and not self._overlaps(scope):
            if id(scope) in self._active:
                self._main.append(scope)
            return ""
        return self._unique.unique(scope.name or scope.kind)

    def _outer(self, scope: Span) -> Span | None:
        """The scope of a scope, if that is of this conversation."""
        return scope.scope if id(scope) in self._own else None

    def _overlaps(self, scope: Span) -> bool:
        """Whether an agent works at the same time as the main one, beside it."""
        if id(scope) not in self._active or scope.start is None:
            return False
        above = {id(span) for span in _up(scope)}
        return any(
            main.end is not None and scope.start < main.end and id(main) not in above
            for main in self._main[-1:]
        )  # fmt: skip
