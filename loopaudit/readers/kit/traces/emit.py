"""Reports the spans of traces to an emitter: model calls with their messages, tool calls with their results.

**Calls** are what a model's output asks for, each joined to the tool span that ran it: by id, else by name and
arguments, else by name. A tool span that no recorded output asked for is a call of its own. Calls in input
histories are never counted.

**Batch** = the calls of one model span. A response that comes before any call of the response before it has run is
a further part of that one. Tool spans without a model's output are one batch while they overlap, or stand behind
the same model span.

**Results** are those of the tool spans, else those in the input of a later model span.

**Turn** = a user message in a model's input that was not there before. Of the history that the first model call of
an agent brings along, only what stands behind the last answer is new.
"""

from __future__ import annotations

from loopaudit.core.events import Call, content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Answer
from loopaudit.readers.kit.chat.messages import is_compaction, is_reminder
from loopaudit.readers.kit.fields import malformed, unknown_record
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.traces.match import Matching, spellings
from loopaudit.readers.kit.traces.messages import SpanMessage, tool_output
from loopaudit.readers.kit.traces.spans import ABSENT, Request, Span, conversations


def emit_spans(emit: Emitter, spans: list[Span]) -> None:
    """Report all conversations of the recorded spans."""
    for conversation in conversations(emit, spans):
        if any(map(_matters, conversation.spans)):
            emit.session(conversation.name)
            _Reading(emit, conversation.spans).report()


def _matters(span: Span) -> bool:
    """Whether anything may be reported of a span. Of many a trace nothing is, and every conversation takes its time."""
    return span.kind in ("model", "tool") or bool(span.tools) or (span.failed is True and span.above is None)


class _Reading:
    def __init__(self, emit: Emitter, spans: list[Span]) -> None:
        self._emit = emit
        self._pairing = Pairing(emit)
        self._matching = Matching(emit, spans)
        self._spans = self._matching.spans
        self._users: dict[str, dict[str, int]] = {}
        """How often each agent was given each user message."""
        self._asked: dict[str | None, Request | None] = {}
        """What asked for the call of an id; ``None`` where several have it."""
        for span in self._spans:
            for request in span.requests:
                self._asked[request.asked.id] = None if request.asked.id in self._asked else request
        self._running: set[int] = set()
        """Numbers of the calls that have a tool span."""
        self._known = {span.call_id for span in self._spans if span.kind == "tool"}
        """Ids of calls."""
        self._alone = {s.call_id for s in self._spans if s.kind == "tool" and id(s) not in self._matching.by_span}
        """Ids of tool spans that nobody asked for."""
        self._written: dict[str, Answer] | None = None
        """Results in inputs by the id of their call; ``None`` until somebody asks."""

    def report(self) -> None:
        """Report everything in order."""
        for span in self._spans:
            if span.tools:
                self._emit.tools(declared_schemas(span.tools))
        for span in self._spans:
            if span.kind == "model":
                self._model(span)
            elif span.kind == "tool":
                self._tool(span)
        for span in self._spans:
            if span.kind in ("agent", "other") and span.above is None and span.failed:
                self._emit.at(span.line, span.ended)
                self._emit.boundary("end", span.error or "error")

    def _model(self, span: Span) -> None:
        self._emit.at(span.line, span.at, span.agent)
        self._inputs(span)
        if span.failed:
            self._emit.problem("recorded_error", "a model call that failed")
            if not span.outputs:
                return
        if span.outputs is None:
            self._emit.problem("not_recorded", "a model call whose answer is not recorded")
        key = span.key
        texts = []
        for message in span.outputs or ():
            self._losses(message)
            texts += message.content.texts
        requests = span.requests
        text = "\n".join(filter(None, texts))
        if text or not requests:
            self._emit.say(text, key=key, model=span.model)
        for request in requests:
            asked = request.asked
            self._known.add(asked.id)
            request.call = self._pairing.call(asked.name, asked.arguments, id=asked.id, key=key, model=span.model)
            ran = request.ran
            if ran is not None and request.call is not None:
                self._running.add(request.call.number)
            if ran is not None and ran.place < span.place:
                self._result(ran, request.call)
                self._emit.at(span.line, span.at, span.agent)
        if span.usage is not None:
            self._emit.usage(span.usage, key=key, model=span.model)

    def _inputs(self, span: Span) -> None:
        if span.inputs is None:
            self._emit.problem("not_recorded", "a model call whose messages are not recorded")
            return
        is_first = span.agent not in self._users
        given = self._users.setdefault(span.agent, {})
        last = len(span.inputs) - 1
        while last >= 0 and span.inputs[last].speaker != "assistant":
            last -= 1
        times: dict[str, int] = {}
        for place, message in enumerate(span.inputs):
            content = message.content
            if content.lost or content.unknown:
                self._losses(message)
            if message.tools:
                self._emit.tools(declared_schemas(message.tools))
            for answer in content.answers:
                # A history repeats all results that it ever held.
                if place > last or self._may_wait(answer.call):
                    self._written_answer(answer, is_new=place > last)
            if message.speaker != "user" or content.answers:
                continue
            text = "\n".join(content.texts)
            if not text and not content.media:
                continue
            times[text] = times.get(text, 0) + 1
            if times[text] <= given.get(text, 0):
                continue
            given[text] = times[text]
            if is_first and place < last:
                continue
            if is_compaction(text):
                self._emit.boundary("compaction")
            elif not is_reminder(text):
                self._emit.turn(text, id=f"{span.trace} {span.id} {place}")

    def _losses(self, message: SpanMessage) -> None:
        for what in message.content.lost:
            malformed(self._emit, what)
        for kind in message.content.unknown:
            unknown_record(self._emit, kind)

    def _written_answer(self, answer: Answer, *, is_new: bool) -> None:
        """A result in an input: of an open call that no tool span ran."""
        if answer.call is not None:
            waiting = self._pairing.open(answer.call)
        else:
            waiting = [c for c in self._pairing.waiting() if answer.name in (None, c.name)] if is_new else []
        if waiting:
            waiting = [call for call in waiting if call.number not in self._running]
        if not waiting:
            if is_new and answer.call is not None and answer.call not in self._known:
                self._known.add(answer.call)
                self._emit.problem("orphan_result", "a result whose call is not in the trace")
            return
        self._emit.result(
            waiting[0].id,
            answer.output,
            failed=answer.failed,
            status=answer.status,
            exit_code=answer.exit_code,
        )

    def _may_wait(self, id: str | None) -> bool:
        """Whether a call may wait for a result of this id that stands further back.

        Where ids are used again, that may be the result of an earlier call.
        """
        request = None if id is None else self._asked.get(id)
        return request is not None and (request.call is None or request.call.result is None or id in self._alone)

    def _written_for(self, id: str) -> Answer | None:
        """The first result in an input that is of a call."""
        if self._written is None:
            self._written = {}
            for span in self._spans:
                for message in span.inputs or ():
                    for answer in message.content.answers:
                        if answer.call:
                            self._written.setdefault(answer.call, answer)
        return self._written.get(id)

    def _tool(self, span: Span) -> None:
        request = self._matching.by_span.get(id(span))
        if request is not None:
            if request.call is not None:
                self._result(span, request.call)
            return
        self._emit.at(span.line, span.at, span.agent)
        arguments = span.arguments
        if arguments is ABSENT:
            self._emit.problem("not_recorded", "a call whose arguments are not recorded")
            arguments = {}
        call = self._pairing.call(
            span.name,
            next(iter(spellings(arguments))),
            id=span.call_id,
            key=span.key,
        )
        self._result(span, call)

    def _result(self, span: Span, call: Call | None) -> None:
        if call is None or call.result is not None:
            return
        found = None if span.output is ABSENT else tool_output(span.output)
        is_reported = found is not None or span.failed
        if found is None:
            found = self._written_for(call.id)
            is_reported = is_reported or found is not None
        if not is_reported and span.ended is None:
            return
        self._emit.at(span.line, span.ended, span.agent)
        if not is_reported:
            self._emit.problem("not_recorded", "a call whose result is not recorded")
        output = "" if found is None else content_text(found.output)
        failed = span.failed or (found.failed if found is not None and found.failed is not None else span.failed)
        self._emit.result(
            call.id,
            output or (span.error if failed else ""),
            failed=failed,
            status=span.status or (found.status if found is not None else None),
            exit_code=found.exit_code if found is not None else None,
            error=span.error,
        )
