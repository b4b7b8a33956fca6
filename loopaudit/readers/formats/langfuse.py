"""Traces exported from Langfuse.

**Written by** Langfuse: ``{trace, observations}``, a trace with its ``observations``, or lists of observations, as
the API and the export give them. Checked on traces of 2025 by the Claude Agent SDK, LangGraph, the Microsoft Agent
Framework, OpenAI Agents, Pydantic AI and the Vercel AI SDK; each keeps its own dialect of messages.

**Kinds.** GENERATION is a model call, TOOL a tool call, AGENT an agent; where a SPAN holds the attributes of an
OpenTelemetry span or a LangChain tool message, these tell what it is.

**Conversation** = the session of the trace, else the trace. **Batch**, **turn** and agents as for OpenTelemetry:
the tool calls of one generation, a new user message, a span inside an agent or a tool call.

**Failure.** ``level`` ERROR of the tool's observation, else the flag of a tool message.

**Not carried**: exit codes. Tool schemas only where the instrumentation put them beside the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from loopaudit.core.events import Usage
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.fields import items, malformed, mapping, not_a_record, string, unknown_record
from loopaudit.readers.kit.traces.attributes import fill, kind_of_span, status_of, unwrapped
from loopaudit.readers.kit.traces.emit import emit_spans
from loopaudit.readers.kit.traces.histories import Histories
from loopaudit.readers.kit.traces.messages import is_tool_message, messages_of
from loopaudit.readers.kit.traces.spans import Kind, Span, instant
from loopaudit.readers.kit.whole import tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

KINDS: Final[dict[str, Kind]] = {
    "GENERATION": "model",
    "TOOL": "tool",
    "AGENT": "agent",
    **dict.fromkeys("SPAN CHAIN EVENT RETRIEVER EMBEDDING EVALUATOR GUARDRAIL".split(), "other"),
}
_MARKS: Final = frozenset("timestamp projectId environment bookmarked release public sessionId userId".split())
"""Members of a trace; its own input may be so long that no observation is seen before it."""

_LEVELS: Final = frozenset({"DEBUG", "DEFAULT", "WARNING", "ERROR"})


def sniff(probe: Probe) -> str | None:
    """Claim observations with a type in capitals and a start, in a trace or a list."""
    roots = [probe.document] if probe.shape == "document" else probe.records[:20]
    for root in roots:
        for entry in root[:20] if isinstance(root, list) else [root]:
            if len(_MARKS & mapping(mapping(entry).get("trace")).keys()) > 2:
                return "an object with a trace of a project"
            for observation in _listed(entry, is_probe=True):
                if _is_observation(observation):
                    return "observations with type, level and startTime"
    return None


def _listed(value: Any, *, is_probe: bool = False) -> list[Any]:
    """The observations of a root value or an entry of it."""
    inner = mapping(value).get("observations", mapping(mapping(value).get("trace")).get("observations"))
    if inner is None and isinstance(mapping(value).get("data"), list):
        inner = value["data"]
    if isinstance(inner, list):
        return inner[:50] if is_probe else inner
    return [value]


def _is_observation(value: Any) -> bool:
    observation = mapping(value)
    return (
        string(observation.get("type")) in KINDS
        and any(name in observation for name in ("traceId", "trace_id", "level"))
        and any(name in observation for name in ("startTime", "start_time"))
    )


def read(source: Source, emit: Emitter) -> None:
    """Put all observations together, and report the conversations in order."""
    spans: list[Span] = []
    histories = Histories()
    for value in values(source, emit):
        for observation, session in _recorded(value, emit):
            span = _span(observation, session, emit, len(spans), histories)
            if span is not None:
                spans.append(span)
    emit_spans(emit, spans)


def _recorded(value: Any, emit: Emitter) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Observations, and the session of the trace around them."""
    for root in value if isinstance(value, list) and value else [value]:
        found = mapping(root)
        trace = mapping(found.get("trace")) or found
        session = string(trace.get("sessionId")) or string(trace.get("session_id"))
        if not found:
            not_a_record(emit)
        for place in (found, trace):
            if "observations" in place and not isinstance(place["observations"], list):
                malformed(emit, "observations that are no list")
        if {"trace", "observations"} & found.keys() and _listed(root) == [root]:
            continue
        for observation in _listed(root) if found else []:
            if isinstance(observation, dict):
                yield observation, session
            else:
                malformed(emit, "an observation that is no object")


def _either(record: Mapping[str, Any], *names: str) -> Any:
    for name in names:  # written out: it is asked some ten times of each observation
        value = record.get(name)
        if value is not None:
            return value
    return None


def _span(record: dict[str, Any], session: str | None, emit: Emitter, number: int, histories: Histories) -> Span | None:
    """One observation; ``None`` where it cannot be one. By its ``number`` one without an id is known."""

    def lost(what: str) -> None:
        malformed(emit, what)

    kind = string(record.get("type"))
    if kind not in KINDS:
        unknown_record(emit, kind)
        return None
    own = string(record.get("id"))
    if own is None:
        lost("an observation without its id")
    span = Span(own or f"line {emit.line}: {number}", str(_either(record, "traceId", "trace_id") or ""), emit.line)
    span.parent = string(_either(record, "parentObservationId", "parent_observation_id"))
    span.conversation = session or string(_either(record, "sessionId", "session_id"))
    span.at, span.start = instant(_either(record, "startTime", "start_time"))
    span.ended, span.end = instant(_either(record, "endTime", "end_time"))
    if span.start is None:
        lost("an observation without a time")
    level = string(record.get("level"))
    if level not in _LEVELS and record.get("level") is not None:
        lost("an observation of an unknown level")
    span.failed = level == "ERROR"
    metadata = mapping(from_text(record.get("metadata")))
    attributes = mapping(from_text(metadata.get("attributes")))
    title = string(record.get("name")) or ""
    span.kind = KINDS[kind]
    if kind == "SPAN":
        span.kind = "tool" if is_tool_message(record.get("output")) else kind_of_span(attributes, title) or "other"
    fill(span, attributes, title, (), histories, lost)
    if span.failed:
        span.error = string(_either(record, "statusMessage", "status_message")) or span.error
        span.status = span.status or status_of(span.error)
    if span.kind == "tool":
        _tool(span, record, attributes)
        if not span.name:
            lost("a call without the name of its tool")
    elif span.kind == "model":
        _model(span, record, metadata)
    return span


def _tool(span: Span, record: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    span.is_named = bool(span.name)
    if record.get("input") is not None:
        span.arguments = unwrapped(record["input"], attributes)
    if record.get("output") is not None:
        span.output = record["output"]


def _model(span: Span, record: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    if record.get("input") is not None:
        span.inputs = messages_of(record["input"], "user")
    if record.get("output") is not None:
        span.outputs = messages_of(record["output"], "assistant")
    span.model = string(_either(record, "model", "providedModelName", "provided_model_name")) or span.model
    span.usage = _usage(record) or span.usage
    span.tools += [from_text(tool) for tool in items(from_text(metadata.get("tools")))]


def _usage(record: Mapping[str, Any]) -> Usage | None:
    details = mapping(from_text(_either(record, "usageDetails", "usage_details"))) or mapping(record.get("usage"))
    read = ("input_cached_tokens", "cache_read_input_tokens", "input_cache_read", "prompt_details.cache_read")
    written = ("cache_creation_input_tokens", "input_cache_creation", "prompt_details.cache_write")
    return tokens(
        _either(details, "input", "prompt_tokens", "promptTokens", "input_tokens"),
        _either(details, "output", "completion_tokens", "completionTokens", "output_tokens"),
        read=_either(details, *read),
        written=_either(details, *written),
    )


READER: Final = Reader(
    id="langfuse",
    title="Langfuse traces",
    looked_for="an object with trace and observations, or observations with type, level, startTime and traceId",
    sniff=sniff,
    read=read,
    carries={
        "results": "of tool observations, else of later inputs",
        "failure": "level ERROR of the tool's observation",
        "tokens": "of generations",
        "time": "of observations",
        "subagents": "observations inside an agent or a tool call",
        "schemas": "where they stand beside the messages",
        "text": "yes",
        "batches": "the output of one generation",
    },
    evidence="data",
    written_by="Langfuse",
    where="exports, and answers of the API",
)
