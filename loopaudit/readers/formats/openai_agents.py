"""Run states and traces of the OpenAI Agents SDK.

**Written by** the SDK: ``RunState`` snapshots (``to_json``; one JSON document), and traces as a processor exports
them (objects ``trace`` and ``trace.span``: one a line, in a list, or in ``data``). Checked on one snapshot of
schema 1.13; traces are read as the SDK's source writes them.

**Snapshots.** Turns are the user's messages of ``original_input``. ``generated_items`` hold calls and outputs;
``model_responses`` repeat them, and give batches and tokens. A call that waits for approval has no result.
**Traces.** A function span is a call and its result; turns are not recorded. **Batch** = the function spans of one
agent after one model response, ordered by start. Agents inside another agent's span are sub-agents; one trace is
one conversation.

**Failure.** ``error`` of a span; a rejected call is ``denied`` by its words.

**Not carried**: call ids, arguments as objects and turns in traces; times in snapshots.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import usage_of
from loopaudit.readers.kit.fields import (
    entries,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
    unknown_record,
)
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.responses import Items
from loopaudit.readers.kit.whole import Names, samples, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_OUTPUTS: Final = frozenset({"tool_call_output_item", "handoff_output_item"})
_ITEMS: Final = _OUTPUTS | {"tool_call_item", "handoff_call_item", "message_output_item"}
_SILENT: Final = frozenset(
    "reasoning_item tool_approval_item mcp_list_tools_item mcp_approval_request_item mcp_approval_response_item "
    "compaction_item tool_search_call_item tool_search_output_item".split()
)
_MODELS: Final = frozenset({"generation", "response"})


def sniff(probe: Probe) -> str | None:
    """Claim run states, and objects of type trace or trace.span."""
    for root in samples(probe):
        if "$schemaVersion" in root and ("generated_items" in root or "original_input" in root):
            return "$schemaVersion and generated_items"
        for entry in (root, *items(root.get("data"))[:5]):
            if mapping(entry).get("object") == "trace.span" and "span_data" in entry:
                return "objects trace.span with span_data"
            if mapping(entry).get("object") == "trace" and "workflow_name" in entry:
                return "objects trace with workflow_name"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every snapshot, or every trace."""
    names = Names()
    snapshots = 0
    spans: dict[str, list[tuple[dict[str, Any], int]]] = {}
    for root in values(source, emit):
        inner = mapping(root).get("data")
        for value in inner if isinstance(inner, list) else root if isinstance(root, list) else [root]:
            if not isinstance(value, dict):
                not_a_record(emit)
            elif "$schemaVersion" in value:
                snapshots += 1
                if snapshots > 1:
                    emit.session(names.unique(str(snapshots)))
                _snapshot(emit, value)
            elif value.get("object") == "trace.span":
                spans.setdefault(str(value.get("trace_id")), []).append((value, emit.line))
            elif value.get("object") != "trace":
                unknown_record(emit, value.get("object"))
    for trace, listed in spans.items():
        emit.session(names.unique(trace))
        _Trace(emit, listed).report()


# -- snapshots -----------------------------------------------------------------------------


def _snapshot(emit: Emitter, root: dict[str, Any]) -> None:
    reading = Items(emit)
    given = root.get("original_input")
    if isinstance(given, str):
        reading.report({"role": "user", "content": given})
    elif isinstance(given, list):
        for item in given:
            reading.report(item)
    else:
        malformed(emit, "a run state without its input")
    responses = [mapping(response) for response in items(root.get("model_responses"))]
    keys: dict[str, int] = {}
    for number, response in enumerate(responses):
        for item in map(mapping, items(response.get("output"))):
            for name in ("call_id", "id"):
                if isinstance(item.get(name), str):
                    keys.setdefault(item[name], number)
    if not isinstance(root.get("generated_items"), list):
        malformed(emit, "a run state without its items")
    paid: set[int] = set()
    for entry in entries(items(root.get("generated_items")), emit):
        kind = string(entry.get("type"))
        item = entry.get("raw_item")
        if kind not in _ITEMS:
            if kind not in _SILENT:
                unknown_record(emit, kind)
            continue
        if not isinstance(item, dict):
            malformed(emit, "an item without its raw item")
            continue
        number = next(
            (keys[item[n]] for n in ("call_id", "id") if isinstance(item.get(n), str) and item[n] in keys), -1
        )
        is_output = kind in _OUTPUTS
        key = None if is_output or number < 0 else f"r{number}"
        reading.report(item, key=key)
        if key is not None and number not in paid:
            paid.add(number)
            usage = usage_of(responses[number].get("usage"))
            if usage is not None:
                emit.usage(usage, key=key)


# -- traces --------------------------------------------------------------------------------


class _Trace:
    """The spans of one trace, in the order of their start."""

    def __init__(self, emit: Emitter, spans: list[tuple[dict[str, Any], int]]) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.spans = sorted(spans, key=lambda entry: str(entry[0].get("started_at") or ""))
        self.by_id = {str(span.get("id")): span for span, _ in spans}
        self.responses: dict[str, str] = {}
        """The newest model response under each parent."""

    def report(self) -> None:
        """Report the calls and responses of all agents."""
        for span, line in self.spans:
            self.emit.at(line)
            data = mapping(span.get("span_data"))
            kind = string(data.get("type"))
            if kind == "function":
                self._function(span, data)
            elif kind in _MODELS:
                self._response(span, data)
            elif kind is None or not data:
                malformed(self.emit, "a span without span_data")

    def _agent(self, span: dict[str, Any]) -> str:
        """The name of the agent that a span belongs to; empty for agents that no other agent started."""
        names: list[str] = []
        seen: set[str] = set()
        parent = span.get("parent_id")
        while isinstance(parent, str) and parent in self.by_id and parent not in seen:
            seen.add(parent)
            above = self.by_id[parent]
            data = mapping(above.get("span_data"))
            if data.get("type") == "agent":
                names.append(string(data.get("name")) or parent)
            parent = above.get("parent_id")
        return names[0] if len(names) > 1 else ""

    def _function(self, span: dict[str, Any], data: dict[str, Any]) -> None:
        parent = str(span.get("parent_id"))
        key = self.responses.get(parent) or str(span.get("id"))
        agent = self._agent(span)
        arguments = data.get("input")
        call = self.pairing.call(
            data.get("name"),
            {} if arguments is None else arguments,
            key=key,
            agent=agent,
            at=moment(span.get("started_at")),
        )
        error = span.get("error")
        output = data.get("output")
        if call is None or (span.get("ended_at") is None and output is None and error is None):
            return
        words = string(mapping(error).get("message")) or content_text(error)
        self.emit.result(
            call.id,
            content_text(output) or words,
            failed=error is not None,
            error=words,
            at=moment(span.get("ended_at")),
        )

    def _response(self, span: dict[str, Any], data: dict[str, Any]) -> None:
        key = str(span.get("id"))
        self.responses[str(span.get("parent_id"))] = key
        agent = self._agent(span)
        texts = [mapping(message).get("content") for message in items(data.get("output"))]
        model = string(data.get("model"))
        self.emit.at(time=moment(span.get("started_at")))
        self.emit.say("\n".join(filter(None, map(content_text, texts))), agent=agent, key=key, model=model)
        usage = usage_of(data.get("usage"))
        if usage is not None:
            self.emit.usage(usage, agent=agent, key=key, model=model)


READER: Final = Reader(
    id="openai-agents",
    title="OpenAI Agents SDK run states and traces",
    looked_for="an object with $schemaVersion and generated_items, or objects trace.span with span_data",
    sniff=sniff,
    read=read,
    carries={
        "results": "by call_id; in traces in the span",
        "failure": "error of the span, words of a rejection",
        "tokens": "model responses and generation spans",
        "time": "traces",
        "subagents": "nested agents of traces",
        "text": "yes",
        "batches": "one model response",
    },
    evidence="data",
    written_by="OpenAI Agents SDK",
    where="where the program keeps them",
)
