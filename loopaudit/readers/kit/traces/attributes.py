"""Attributes of spans: the GenAI conventions and the dialects of instrumentations, read into spans.

Known are ``gen_ai.*`` (messages as attributes, or as span events in older versions), OpenInference
(``openinference.span.kind``, ``llm.*``), the Vercel AI SDK (``ai.*``), OpenLLMetry (``traceloop.*`` and numbered
``gen_ai.prompt.N``), Google ADK (``gcp.vertex.agent.*``), Strands (messages of Bedrock in span events), LangSmith
(``langsmith.span.kind``), Monocle (:mod:`~loopaudit.readers.kit.traces.monocle`), and the older names of Pydantic AI.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import Status
from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.fields import items, mapping, string
from loopaudit.readers.kit.traces import monocle
from loopaudit.readers.kit.traces.facts import grouped, numbered, pick, text_of, tools_in, usage_in
from loopaudit.readers.kit.traces.histories import Histories
from loopaudit.readers.kit.traces.messages import SpanMessage, messages_of, messages_of_list
from loopaudit.readers.kit.traces.parts import are_blocks
from loopaudit.readers.kit.traces.spans import ABSENT, Kind, Span

OPERATIONS: Final[Mapping[str, Kind]] = {
    "chat": "model",
    "text_completion": "model",
    "completion": "model",
    "generate_content": "model",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "other",
    "invoke_workflow": "other",
    "embeddings": "other",
    "retrieval": "other",
    "plan": "other",
    "chain": "other",
}
"""``gen_ai.operation.name``."""

KINDS: Final[Mapping[str, Kind]] = {
    "llm": "model",
    "tool": "tool",
    "agent": "agent",
    **dict.fromkeys(
        "chain workflow task retriever embedding reranker guardrail evaluator prompt parser unknown".split(), "other"
    ),
}
"""``openinference.span.kind``, ``traceloop.span.kind`` and ``langsmith.span.kind``, in lower case."""

_KIND_NAMES: Final = ("openinference.span.kind", "traceloop.span.kind", "langsmith.span.kind")
_TOOL_NAMES: Final = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name", "tool_name")
_TITLE: Final = regex.lazy(r"(?:execute_tool|running tool:?|tools/call)\s+(.+)", re.DOTALL)
_CALL_IDS: Final = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id")
_ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "ai.toolCall.args",
    "ai.toolCall.input",
    "tool_call.function.arguments",
    "gcp.vertex.agent.tool_call_args",
    "input.value",
    "traceloop.entity.input",
)
_OUTPUTS: Final = (
    "gen_ai.tool.call.result",
    "tool_response",
    "ai.toolCall.result",
    "ai.toolCall.output",
    "gcp.vertex.agent.tool_response",
    "output.value",
    "traceloop.entity.output",
)
_AGENTS: Final = ("gen_ai.agent.name", "agent.name", "agent_name", "graph.node.id", "ai.telemetry.functionId")
_CONVERSATIONS: Final = ("gen_ai.conversation.id", "session.id", "langsmith.trace.session_id")
_MODELS: Final = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.response.model",
    "ai.model.id",
    "llm.request.model",
)
_INPUT_LISTS: Final = ("gen_ai.input.messages", "ai.prompt.messages")
_OUTPUT_LIST: Final = "gen_ai.output.messages"
_LISTS: Final = (_INPUT_LISTS[0], _OUTPUT_LIST, _INPUT_LISTS[1])
"""Attributes that must be lists of messages."""

_INPUTS: Final = ("ai.prompt", "gcp.vertex.agent.llm_request")
_WHOLE_INPUTS: Final = ("input.value", "traceloop.entity.input")
_WHOLE_OUTPUTS: Final = ("output.value", "traceloop.entity.output")
_ROLES: Final = {"gen_ai.user.message": "user", "gen_ai.system.message": "system", "gen_ai.tool.message": "tool"}
_CANCELLED: Final = regex.lazy(r"cancel|abort|interrupt", re.IGNORECASE)


def kind_of_span(attributes: Mapping[str, Any], title: str) -> Kind | None:
    """What a span is about; ``None`` for a span of which no convention tells it."""
    operation = string(attributes.get("ai.operationId"))
    if operation is not None:
        return _vercel(operation)
    if monocle.is_monocle(attributes):
        return monocle.kind_of(attributes)
    operation = string(attributes.get("gen_ai.operation.name"))
    if operation is not None and operation in OPERATIONS:
        return OPERATIONS[operation]
    for name in _KIND_NAMES:
        word = string(attributes.get(name))
        if word is not None and word.lower() in KINDS:
            return KINDS[word.lower()]
    if operation is not None or any(name in attributes for name in _KIND_NAMES):
        return None
    if "gen_ai.tool.name" in attributes or "gen_ai.tool.call.id" in attributes:
        return "tool"
    if "agent_name" in attributes or "all_messages_events" in attributes:
        return "agent"
    if "gen_ai.request.model" in attributes or "llm.model_name" in attributes:
        return "model"
    return "other" if title.startswith("running ") and "tools" in attributes else None


def _vercel(operation: str) -> Kind:
    if operation == "ai.toolCall":
        return "tool"
    name = operation.rpartition(".")[2]
    if name.startswith(("do", "embed", "rerank")):
        return "model" if name in ("doGenerate", "doStream") else "other"
    return "agent" if name.startswith(("generate", "stream")) else "other"


def fill(
    span: Span,
    attributes: Mapping[str, Any],
    title: str,
    events: Iterable[Any],
    histories: Histories,
    lost: Callable[[str], None],
) -> None:
    """Read the attributes of a span whose ``kind`` is set. ``lost`` is told what cannot be used."""
    if monocle.is_monocle(attributes):
        monocle.fill(span, attributes, title, events)
        return
    if span.conversation is None:
        is_dialect = "openinference.span.kind" in attributes
        span.conversation = text_of(attributes, _CONVERSATIONS if is_dialect else _CONVERSATIONS[:1])
    if span.kind == "tool":
        _tool(span, attributes, title, events)
    elif span.kind == "model":
        _model(span, attributes, events, histories, lost)
    else:
        span.name = text_of(attributes, _AGENTS) or title
    if span.failed and (kind := text_of(attributes, ("error.type", "exception.type"))) is not None:
        span.error = span.error or kind
        span.status = status_of(kind)


def status_of(error: str) -> Status | None:
    """Whether the type of an error says that the call was stopped, not that it failed."""
    return "cancelled" if _CANCELLED.search(error.partition("\n")[0][:200]) else None


def _tool(span: Span, attributes: Mapping[str, Any], title: str, events: Iterable[Any]) -> None:
    name = text_of(attributes, _TOOL_NAMES)
    match = _TITLE.match(title)
    span.is_named = name is not None or match is not None
    span.name = name or (match[1].strip() if match is not None else title)
    span.call_id = text_of(attributes, _CALL_IDS)
    span.arguments = unwrapped(pick(attributes, _ARGUMENTS), attributes)
    span.output = pick(attributes, _OUTPUTS)
    for event in events:
        # Some instrumentations write the arguments and the result as events of the tool's span.
        body = mapping(mapping(event).get("attributes"))
        if mapping(event).get("name") == "gen_ai.tool.message" and span.arguments is ABSENT:
            span.arguments = pick(body, ("content",))
        elif mapping(event).get("name") == "gen_ai.choice" and span.output is ABSENT:
            span.output = pick(body, ("message", "content"))
    if text_of(attributes, ("gen_ai.tool.status", "tool.status")) == "error":
        span.failed = True
    parameters = from_text(attributes.get("tool.parameters"))
    if is_schema(parameters) and span.name:
        span.tools = [{"name": span.name, "parameters": parameters}]


def unwrapped(arguments: Any, attributes: Mapping[str, Any]) -> Any:
    """The arguments of a call, without the options that BeeAI writes beside them."""
    value = from_text(arguments) if "metadata.class_name" in attributes else None
    return value["input"] if isinstance(value, dict) and value.keys() == {"input", "options"} else arguments


def is_schema(parameters: Any) -> bool:
    """Whether what an instrumentation calls parameters is their schema; others call the arguments so."""
    found = mapping(parameters)
    return isinstance(found.get("properties"), dict) or found.get("type") == "object"


def _model(
    span: Span,
    attributes: Mapping[str, Any],
    events: Iterable[Any],
    histories: Histories,
    lost: Callable[[str], None],
) -> None:
    span.name = "model"
    span.model = text_of(attributes, _MODELS)
    listed: dict[str, list[SpanMessage]] = {}
    for name in _LISTS:
        value = attributes.get(name)
        if value is not None:
            is_output = name == _OUTPUT_LIST
            messages = messages_of_list(value, "assistant") if is_output else histories.of_list(value)
            if messages is None:
                lost(f"{name} that are no list")
            else:
                listed[name] = messages
    groups = grouped(attributes)
    event_inputs, event_outputs = _from_events(attributes, events) if events or "events" in attributes else ([], [])
    span.inputs = listed.get(_INPUT_LISTS[0], listed.get(_INPUT_LISTS[1]))
    if span.inputs is None:
        given = pick(attributes, _INPUTS)
        if given is ABSENT:
            span.inputs = histories.of_numbered(attributes, groups)
            if span.inputs is None:
                given = event_inputs if event_inputs else pick(attributes, _WHOLE_INPUTS)
        if given is not ABSENT:
            span.inputs = messages_of(given, "user")
    span.outputs = listed.get(_OUTPUT_LIST)
    if span.outputs is None:
        made: Any = pick(attributes, ("gcp.vertex.agent.llm_response",))
        for prefix in ("llm.output_messages", "gen_ai.completion"):
            made = numbered(attributes, prefix, groups) if made is ABSENT else made
        if made is ABSENT:
            made = _vercel_answer(attributes)
        if made is ABSENT:
            made = event_outputs if event_outputs else pick(attributes, _WHOLE_OUTPUTS)
        span.outputs = None if made is ABSENT else messages_of(made, "assistant")
    span.usage = usage_in(attributes)
    span.tools = tools_in(attributes, groups)


def _vercel_answer(attributes: Mapping[str, Any]) -> Any:
    calls = from_text(pick(attributes, ("ai.response.toolCalls", "ai.result.toolCalls")))
    text = pick(attributes, ("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object"))
    if calls is ABSENT and text is ABSENT:
        return ABSENT
    parts: list[Any] = [] if text is ABSENT else [{"type": "text", "text": text}]
    return [{"role": "assistant", "parts": [*parts, *(calls if isinstance(calls, list) else [])]}]


def _from_events(attributes: Mapping[str, Any], events: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The messages before and after a model call that stand in events."""
    given: list[Any] = []
    made: list[Any] = []
    for event in [*events, *items(from_text(attributes.get("events")))]:
        body = {**mapping(event), **mapping(mapping(event).get("attributes"))}
        name = string(body.get("event.name")) or string(body.get("name")) or ""
        if isinstance(from_text(body.get("gen_ai.event.content")), dict):
            body = {**body, **from_text(body["gen_ai.event.content"])}
        content = mapping(from_text(body.get("body"))) or body
        if are_blocks(from_text(content.get("content"))):
            content = {**content, "content": from_text(content["content"])}
        if name == "gen_ai.choice":
            message = from_text(content.get("message"))
            if not isinstance(message, dict):
                message = content if message is None else {"content": message}
            made.append({"content": None, **message, "role": "assistant"})
        elif name == "gen_ai.assistant.message":
            given.append({"content": None, **content, "role": "assistant"})
        elif name in _ROLES:
            message = {**content, "role": _ROLES[name]}
            given.append({**message, "tool_call_id": content.get("id")} if "tool" in name else message)
        elif name == "gen_ai.client.inference.operation.details":
            given += items(from_text(body.get("gen_ai.input.messages")))
            made += items(from_text(body.get("gen_ai.output.messages")))
        elif name == "gen_ai.content.prompt" and "gen_ai.prompt" in body:
            given.append({"role": "user", "content": body["gen_ai.prompt"]})
        elif name == "gen_ai.content.completion" and "gen_ai.completion" in body:
            made.append({"role": "assistant", "content": body["gen_ai.completion"]})
    return given, made
