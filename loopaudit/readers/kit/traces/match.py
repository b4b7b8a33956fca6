"""Which call of a model's output a tool span ran, and which calls are one batch.

A tool span belongs to the call of its id; without ids, to the newest call of its agent with the same name and
arguments, else to one of the same name in the newest response. A response that comes before any call of the response
before it has run is a further part of that one. Tool spans that no recorded output asked for are one batch while they
overlap in time, or stand behind the same model span.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.arguments import of_arguments
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.fields import mapping
from loopaudit.readers.kit.traces.messages import tool_output
from loopaudit.readers.kit.traces.spans import ABSENT, Request, Span

NEAR: Final = 8
"""Responses before a tool span among which its call is looked for, where there is no id."""


class Matching:
    """The ``spans`` of one conversation in order, without inner copies, with their calls and batches.

    ``by_span`` is the call that a tool span ran, by the ``id()`` of the span, which does not refer to it: the two would
    be a cycle, for the collector to find.
    """

    def __init__(self, emit: Emitter, spans: list[Span]) -> None:
        self._emit = emit
        self.spans = [span for span in spans if span.kind != "tool" or not self._is_inner_copy(span)]
        for place, span in enumerate(self.spans):
            span.place = place
        self.by_span: dict[int, Request] = {}
        self._match()
        self._join()

    def _is_inner_copy(self, span: Span) -> bool:
        """Whether two instrumentations recorded the same tool call, one inside the other. The span is of a tool."""
        above = span.above
        if above is None or above.kind != "tool" or above.name != span.name:
            return False
        if span.arguments is not ABSENT and above.arguments is not ABSENT:
            marks = [{of_arguments(span.name, one)[3] for one in spellings(s.arguments)} for s in (span, above)]
            if not marks[0] & marks[1]:
                return False
        self._emit.copied("repeated_call", "a tool call inside itself", line=span.line)
        above.call_id = above.call_id or span.call_id
        if above.arguments is ABSENT:
            above.arguments = span.arguments
        if above.output is ABSENT:
            above.output = span.output
        return True

    def _match(self) -> None:
        by_id: dict[str, list[Request]] = {}
        for span in self.spans:
            if span.kind == "model":
                span.requests = [Request(asked) for message in span.outputs or () for asked in message.content.calls]
                for request in span.requests:
                    if request.asked.id:
                        by_id.setdefault(request.asked.id, []).append(request)
        recent: dict[str, list[list[Request]]] = {}
        left: list[tuple[Span, list[list[Request]]]] = []
        for span in self.spans:
            if span.kind == "model":
                if span.requests:
                    recent.setdefault(span.agent, []).append(span.requests)
            elif span.kind == "tool":
                if span.call_id is None and span.output is not ABSENT:
                    span.call_id = tool_output(span.output).call
                near = recent.get(span.agent, [])[-NEAR:]
                if not self._find(span, by_id, near) and near:
                    left.append((span, near))
        # By the name alone only when all that have the same arguments are found: some tracers record but the first
        # call of a response.
        for span, near in left:
            free = (r for r in near[-1] if r.ran is None and not (span.call_id and r.asked.id))
            found = next((r for r in free if r.asked.name == span.name or not span.is_named), None)
            if found is not None:
                self._pair(span, found)

    def _pair(self, span: Span, request: Request) -> None:
        request.ran = span
        self.by_span[id(span)] = request

    def _find(self, span: Span, by_id: dict[str, list[Request]], recent: list[list[Request]]) -> bool:
        """Find the request of a span by its id, or by its name and arguments."""
        found: Request | None = None
        if span.call_id is not None:
            found = next((request for request in by_id.get(span.call_id, ()) if request.ran is None), None)
        if found is None and recent:
            free = [[r for r in rs if r.ran is None and not (span.call_id and r.asked.id)] for rs in recent]
            marks = {of_arguments(span.name, value)[3] for value in spellings(span.arguments)}
            found = next((r for rs in reversed(free) for r in rs if _mark(r) in marks), None)
        if found is not None:
            self._pair(span, found)
        return found is not None

    def _join(self) -> None:
        """Give each response its batch, and each tool span that nobody asked for."""
        before: dict[str, Span] = {}
        alone: dict[str, Span] = {}
        for span in self.spans:
            agent = span.agent
            if span.kind == "model":
                last = before.get(agent)
                span.key = last.key if last is not None and _goes_on(last, span) else span.id
                before[agent] = span
                alone.pop(agent, None)
            elif span.kind == "tool" and id(span) not in self.by_span:
                last, beside = before.get(agent), alone.get(agent)
                span.key = span.id
                if last is not None and not last.requests and not last.outputs:
                    span.key = last.key
                elif beside is not None and beside.end is not None and span.start is not None:
                    span.key = beside.key if span.start < beside.end else span.id
                alone[agent] = span


def _mark(request: Request) -> bytes:
    """The key of a call in a model's output. Only spans without its id ask for it."""
    if not request.mark:
        request.mark = of_arguments(request.asked.name or "", request.asked.arguments)[3]
    return request.mark


def _goes_on(last: Span, span: Span) -> bool:
    """Whether a response came before any call of the one before it had run."""
    ran = [r.ran.place for r in last.requests if r.ran is not None]
    if not span.requests or not ran or min(ran) < span.place:
        return False
    ids = {request.asked.id for request in last.requests}
    return not any(answer.call in ids for message in span.inputs or () for answer in message.content.answers)


def spellings(arguments: Any) -> list[Any]:
    """Arguments of a tool span without what some tracers put around them; as recorded last."""
    if arguments is ABSENT:
        return [{}]
    inner = mapping(from_text(arguments))
    if set(inner) == {"input"} and isinstance(from_text(inner["input"]), dict):
        return [from_text(inner["input"]), arguments]
    return [arguments]
