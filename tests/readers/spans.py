"""Spans, observations and runs that tests write, in short."""

from __future__ import annotations

import json
from typing import Any

TRACE = "5f0c1d2e3b4a59687786950413223140"
BEGIN = 1_767_258_000
"""Seconds since 1970 that the times of spans are counted from."""


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP writes it; objects and lists of objects as JSON text."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return {"arrayValue": {"values": [typed(entry) for entry in value]}}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def span(
    id: str, attributes: dict[str, Any], start: float, end: float | None = None, *, parent: str = "", **more: Any
) -> dict[str, Any]:
    """One span of OTLP; ``start`` and ``end`` are seconds after :data:`BEGIN`."""
    found = {
        "traceId": TRACE,
        "spanId": id,
        "name": id,
        "startTimeUnixNano": str(int((BEGIN + start) * 1e9)),
        "endTimeUnixNano": str(int((BEGIN + (start + 1 if end is None else end)) * 1e9)),
        "attributes": [{"key": key, "value": typed(value)} for key, value in attributes.items()],
        "status": {},
    }
    return {**found, **({"parentSpanId": parent} if parent else {}), **more}


def otlp(*spans: dict[str, Any]) -> list[dict[str, Any]]:
    """One OTLP document with spans, as the only line."""
    return [{"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}]


def text(role: str, content: str) -> dict[str, Any]:
    """A message of the GenAI conventions."""
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def asks(*calls: tuple[str, str, Any], words: str = "") -> dict[str, Any]:
    """A response with calls ``(id, name, arguments)``."""
    parts: list[Any] = [{"type": "text", "content": words}] if words else []
    parts += [{"type": "tool_call", "id": own, "name": name, "arguments": args} for own, name, args in calls]
    return {"role": "assistant", "parts": parts}


def gives(*answers: tuple[str, str]) -> dict[str, Any]:
    """Results ``(id, text)`` in an input."""
    return {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": own, "response": result} for own, result in answers],
    }


def chat(given: Any, made: Any, **more: Any) -> dict[str, Any]:
    """Attributes of a model span."""
    found = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": given, "gen_ai.output.messages": made}
    return {**{name: value for name, value in found.items() if value is not None}, **more}


def tool(name: str, id: str | None = None, arguments: Any = None, result: Any = None) -> dict[str, Any]:
    """Attributes of a tool span."""
    found = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": id,
        "gen_ai.tool.call.arguments": arguments,
        "gen_ai.tool.call.result": result,
    }
    return {key: value for key, value in found.items() if value is not None}


def observation(id: str, type: str, start: float, *, parent: str | None = "root", **more: Any) -> dict[str, Any]:
    """One Langfuse observation of a second's length."""
    return {
        "id": id,
        "traceId": "t-1",
        "parentObservationId": parent,
        "type": type,
        "name": id,
        "startTime": f"2026-01-09T08:00:{start:06.3f}Z",
        "endTime": f"2026-01-09T08:00:{start + 1:06.3f}Z",
        "level": "DEFAULT",
        **more,
    }


def run(id: str, type: str, start: int, *, parent: str | None = "root", **more: Any) -> dict[str, Any]:
    """One LangSmith run of a second's length."""
    return {
        "id": id,
        "trace_id": "root",
        "parent_run_id": parent,
        "run_type": type,
        "name": id,
        "start_time": f"2026-02-03T10:05:{start:02d}.000000",
        "end_time": f"2026-02-03T10:05:{start + 1:02d}.000000",
        "error": None,
        **more,
    }
