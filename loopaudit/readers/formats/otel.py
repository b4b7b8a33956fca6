"""Traces of OpenTelemetry with spans of model and tool calls.

**Written by** OTLP/JSON exporters and collectors (``resourceSpans``, one document or one a line), and by the
exporters of the SDKs, which list spans with plain attributes. Checked on traces of Pydantic AI 2.58, OpenAI Agents
with OpenInference, and the Vercel AI SDK 6. Spans are put in order by their start.

**Attributes** of the GenAI conventions, their older form as span events, OpenInference, Vercel's ``ai.*``,
OpenLLMetry, Monocle, and the older names of Pydantic AI.

**Conversation** = trace, or ``gen_ai.conversation.id``. **Agents** are spans inside an agent or a tool call.
**Batch** = the tool calls of one model span's output. **Turn** = a new user message in a model's input.
Input histories repeat everything, and are no calls; calls from before the trace are not seen.

**Failure.** Status ERROR of the tool span. A result that only stands in a later input has no flag.

**Not carried**: exit codes. Messages, arguments and results are recorded only where the program asked for it; what
is missing is counted as ``not_recorded``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import items, malformed, mapping, not_a_record, string, unknown_record
from loopaudit.readers.kit.traces.attributes import fill, kind_of_span
from loopaudit.readers.kit.traces.emit import emit_spans
from loopaudit.readers.kit.traces.facts import pick, text_of
from loopaudit.readers.kit.traces.histories import Histories
from loopaudit.readers.kit.traces.spans import Span, instant
from loopaudit.readers.kit.whole import samples, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_RESOURCES: Final = ("resourceSpans", "resource_spans")
_SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_OWN: Final = ("spanId", "span_id")
_TRACES: Final = ("traceId", "trace_id")
_FAILED: Final = frozenset({2, "2", "ERROR", "STATUS_CODE_ERROR"})
_KNOWN: Final = _FAILED | {0, 1, "0", "1", "OK", "UNSET", "STATUS_CODE_OK", "STATUS_CODE_UNSET"}
MAX_DEPTH: Final = 16
"""Levels of nested attributes."""


def sniff(probe: Probe) -> str | None:
    """Claim resourceSpans, and objects that have attributes and the ids of a span."""
    for record in samples(probe):
        if any(isinstance(record.get(name), list) for name in _RESOURCES):
            return "objects with resourceSpans"
        spans = items(record.get("spans")) if "trace_id" not in record else []
        if any(_is_span(span) for span in (record, *spans[:20])):
            return "spans with attributes and span ids"
    return None


def _is_span(value: Any) -> bool:
    span = mapping(value)
    return isinstance(span.get("attributes"), (dict, list)) and _ids(span)[0] is not None and "run_type" not in span


def _ids(span: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The ids of a span and of its trace."""
    own, trace = span.get("spanId"), span.get("traceId")
    if isinstance(own, str) and own and isinstance(trace, str) and trace:
        return own, trace
    own, trace = text_of(span, _OWN), text_of(span, _TRACES)
    if own is None or trace is None:
        context = mapping(span.get("context")) or mapping(span.get("spanContext")) or mapping(span.get("span_context"))
        own = own if own is not None else text_of(context, _OWN)
        trace = trace if trace is not None else text_of(context, _TRACES)
    return own, trace


def read(source: Source, emit: Emitter) -> None:
    """Put all spans together, and report the conversations in order."""
    spans: list[Span] = []
    histories = Histories()
    lost = partial(malformed, emit)
    for value in values(source, emit):
        for record in _recorded(value, emit):
            span = _span(record, emit, len(spans), histories, lost)
            if span is not None:
                spans.append(span)
    emit_spans(emit, spans)


def _recorded(value: Any, emit: Emitter) -> Iterator[dict[str, Any]]:
    """The spans in a root value."""
    for root in value if isinstance(value, list) and value else [value]:
        found = mapping(root)
        resources = next((found[name] for name in _RESOURCES if name in found), None)
        if resources is not None:
            yield from _nested(resources, emit)
        elif isinstance(found.get("spans"), list):
            yield from _objects(found["spans"], "a span", emit)
        elif found:
            yield found
        else:
            not_a_record(emit)


def _objects(value: Any, what: str, emit: Emitter) -> Iterator[dict[str, Any]]:
    if not isinstance(value, list):
        malformed(emit, f"{what}: no list of them")
    for entry in items(value):
        if isinstance(entry, dict):
            yield entry
        else:
            malformed(emit, f"{what} that is no object")


def _nested(resources: Any, emit: Emitter) -> Iterator[dict[str, Any]]:
    for resource in _objects(resources, "spans of a resource", emit):
        scopes = next((resource[name] for name in _SCOPES if name in resource), None)
        for scope in _objects(scopes, "spans of a scope", emit):
            yield from _objects(scope.get("spans"), "a span", emit)


def _span(
    record: Mapping[str, Any], emit: Emitter, number: int, histories: Histories, lost: Callable[[str], None]
) -> Span | None:
    """One recorded span; ``None`` where it cannot be used, or is about nothing that matters here.

    By its ``number``, that of the spans before it, one without an id is known. ``lost`` is told what cannot be used.
    """
    own, trace = _ids(record)
    if "attributes" not in record and own is None:
        unknown_record(emit, string(record.get("type")) or string(record.get("kind")))
        return None
    if own is None or trace is None:
        lost("a span without its ids")
    span = Span(own or f"line {emit.line}: {number}", trace or "", emit.line)
    if "parentSpanId" in record:
        parent = record["parentSpanId"]
    else:
        parent = record.get("parent_id", record.get("parent_span_id"))
    if parent is None and "parentSpanContext" in record:
        parent = mapping(record["parentSpanContext"]).get("spanId")
    if parent is not None and not isinstance(parent, str):
        lost("a span whose parent is no id")
    span.parent = string(parent)
    span.at, span.start = instant(pick(record, _STARTS))
    span.ended, span.end = instant(pick(record, _ENDS))
    if span.start is None:
        lost("a span without a time")
    attributes = _attributes(record.get("attributes"), lost)
    title = string(record.get("name")) or ""
    listed = record.get("events")
    events = [_event(event, lost) for event in listed] if isinstance(listed, list) else []
    _end(span, record, events, lost)
    kind = kind_of_span(attributes, title)
    if kind is None:
        unknown_record(emit, title or "span")
    span.kind = kind or "other"
    fill(span, attributes, title, events, histories, lost)
    if span.kind == "tool" and not span.name:
        lost("a call without the name of its tool")
    return span


_STARTS: Final = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
_ENDS: Final = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")


def _end(span: Span, record: Mapping[str, Any], events: list[Any], lost: Callable[[str], None]) -> None:
    """Read how a span ended: its status, and the error of an exception event."""
    recorded = record.get("status")
    status: dict[str, Any] = recorded if isinstance(recorded, dict) else {}
    if recorded is not None and not isinstance(recorded, (dict, str)):
        lost("a status that is no object")
    if "code" in status or "status_code" in status:
        code = status.get("code", status.get("status_code"))
    else:
        code = record.get("status_code", recorded if isinstance(recorded, str) else 0)
    is_known = isinstance(code, (int, str)) and code in _KNOWN
    if not is_known:
        lost("a status without a known code")
    span.failed = is_known and code in _FAILED
    words = text_of(status, ("message", "description")) or string(record.get("status_message"))
    if span.failed:
        for event in events:
            inner = mapping(event.get("attributes"))
            if event.get("name") == "exception":
                words = words or string(inner.get("exception.message")) or string(inner.get("exception.type"))
                span.status = "cancelled" if "Cancel" in str(inner.get("exception.type")) else span.status
    if words:
        span.error = words


def _event(value: Any, lost: Callable[[str], None]) -> dict[str, Any]:
    if not isinstance(value, dict):
        lost("a span event that is no object")
        return {}
    return {**value, "attributes": _attributes(value.get("attributes", {}), lost)}


# -- attributes ----------------------------------------------------------------------------


def _attributes(value: Any, lost: Callable[[str], None]) -> dict[str, Any]:
    """Attributes by name: a list of keys with typed values, or an object, which may be nested."""
    if isinstance(value, dict):
        return _flat(value)
    if not isinstance(value, list):
        lost("a span without attributes")
        return {}
    found = {}
    for entry in value:
        # A trace is nearly nothing but attributes, and most of them are texts.
        try:
            key, typed = entry["key"], entry["value"]
            text = typed.get("stringValue")
        except (TypeError, KeyError, AttributeError):
            key = typed = text = None
        if type(key) is not str:
            lost("an attribute without a key or value")
        else:
            found[key] = text if type(text) is str else _typed(typed, lost)
    return found


def _flat(value: dict[str, Any]) -> dict[str, Any]:
    """Attributes whose names are joined by dots; some exporters nest them."""
    if dict not in map(type, value.values()):
        return value
    found: dict[str, Any] = {}
    waiting = [("", value, 0)]
    while waiting:
        prefix, inner, depth = waiting.pop()
        for name, one in inner.items():
            if isinstance(one, dict) and depth < MAX_DEPTH and (depth or name in _NESTED):
                waiting.append((f"{prefix}{name}.", one, depth + 1))
            else:
                found[f"{prefix}{name}"] = one
    return found


_NESTED: Final = frozenset({"gen_ai", "openinference", "llm", "tool", "input", "output", "agent", "session", "ai"})
"""First parts of the names that some exporters nest."""

_NUMBERS: Final = ("intValue", "int_value")
_SCALARS: Final = ("stringValue", "boolValue", "doubleValue", "string_value", "bool_value", "double_value")


def _typed(value: dict[str, Any], lost: Callable[[str], None], depth: int = 0) -> Any:
    """A typed value; 64-bit integers are written as text."""
    number = value.get("intValue")
    if type(number) is str and len(value) == 1 and number.isdecimal() and len(number) < 25:
        return int(number)  # what most values are that are no text
    for name in _SCALARS:
        if name in value:
            if isinstance(value[name], (list, dict)) or (name[0] == "s" and not isinstance(value[name], str)):
                lost("an attribute with a value of a wrong type")
            return value[name]
    for name in _NUMBERS:
        if name in value:
            number = value[name]
            if isinstance(number, str) and number.removeprefix("-").isdecimal() and len(number) < 25:
                return int(number)
            if not isinstance(number, int):
                lost("an attribute with a value of a wrong type")
            return number
    inner = value.get("arrayValue", value.get("array_value", value.get("kvlistValue", value.get("kvlist_value"))))
    if isinstance(inner, dict) and depth < MAX_DEPTH:
        entries = items(inner.get("values"))
        if "arrayValue" in value or "array_value" in value:
            return [_typed(entry, lost, depth + 1) for entry in entries if isinstance(entry, dict)]
        return {
            str(entry.get("key")): _typed(mapping(entry.get("value")), lost, depth + 1)
            for entry in entries
            if isinstance(entry, dict)
        }
    if value:
        lost("an attribute of an unknown type")
    return None


READER: Final = Reader(
    id="otel",
    title="OpenTelemetry traces",
    looked_for="objects with resourceSpans, or spans with attributes and span_id, spanContext or context.span_id",
    members=frozenset({"attributes", "spans", *_RESOURCES}),
    sniff=sniff,
    read=read,
    carries={
        "results": "of tool spans, else of later inputs; where recorded",
        "failure": "status ERROR of the tool span",
        "tokens": "of model spans",
        "time": "of spans",
        "subagents": "spans inside an agent or a tool call",
        "schemas": "gen_ai.tool.definitions and its kin",
        "text": "where recorded",
        "batches": "the output of one model span",
    },
    evidence="data",
    written_by="OTLP/JSON exporters, collectors and SDKs of OpenTelemetry",
    where="where the exporter writes them",
)
