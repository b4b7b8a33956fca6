"""Runs of LangSmith.

**Written by** the LangSmith SDK and its exports: runs with ``run_type``, one a line, in a list, in ``runs``, nested in
``child_runs``, or as batches ``{post, patch}`` sent to the service, which are merged by id. Read as the SDK's source
writes them; no real file was seen.

**Kinds.** Run type ``llm`` is a model call, ``tool`` a tool call. **Batch** = the calls of one model run. **Turn** = a
new user message in a model's input. **Conversation** = the thread that the metadata names, else the trace.
**Sub-agents** are model runs inside a tool run.

**Failure.** ``error`` of the tool run, else the status of its tool message. A run that LangGraph interrupted is
cancelled.

**Not carried**: exit codes. Tool schemas only in ``invocation_params``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import Usage, seconds
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.fields import items, malformed, mapping, not_a_record, string, unknown_record
from loopaudit.readers.kit.traces.attributes import KINDS, status_of
from loopaudit.readers.kit.traces.emit import emit_spans
from loopaudit.readers.kit.traces.messages import messages_of
from loopaudit.readers.kit.traces.spans import Span, instant
from loopaudit.readers.kit.whole import samples, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

MAX_DEPTH: Final = 64
"""Levels of nested runs and of outputs that are looked at."""

_THREADS: Final = ("thread_id", "session_id", "conversation_id")
_BATCH: Final = ("post", "patch")
_ORDER: Final = regex.lazy(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{6})Z(.+)")


def sniff(probe: Probe) -> str | None:
    """Claim objects with a run_type and the ids of a run, alone, in runs, or in post and patch."""
    for record in samples(probe):
        inside = [run for name in ("runs", *_BATCH) for run in items(record.get(name))[:20]]
        if any(_is_run(value) for value in (record, *inside)):
            return "runs with run_type"
    return None


def _is_run(value: Any) -> bool:
    run = mapping(value)
    return isinstance(run.get("run_type"), str) and any(
        name in run for name in ("trace_id", "dotted_order", "parent_run_id", "inputs", "session_name")
    )


def read(source: Source, emit: Emitter) -> None:
    """Merge all runs by id, and report the conversations in order."""
    runs: dict[str, tuple[dict[str, Any], int]] = {}
    for value in values(source, emit):
        for root in value if isinstance(value, list) and value else [value]:
            for run in _recorded(root, emit, 0):
                _merge(runs, run, emit)
    spans = []
    for run, line in runs.values():
        emit.at(line)
        span = _span(run, emit)
        if span is not None:
            spans.append(span)
    emit_spans(emit, spans)


def _recorded(value: Any, emit: Emitter, depth: int) -> Iterator[dict[str, Any]]:
    """The runs in a value, those inside others included."""
    if not isinstance(value, dict) or not value:
        not_a_record(emit)
        return
    batch = [name for name in ("runs", *_BATCH) if name in value] if "run_type" not in value else []
    if not batch:
        yield value
    for name in batch or ["child_runs"]:
        inner = value.get(name)
        if (inner is not None or batch) and (not isinstance(inner, list) or depth >= MAX_DEPTH):
            malformed(emit, "runs that are no list, or nested too deeply")
            continue
        for run in items(inner):
            yield from _recorded(run, emit, depth + 1)


def _merge(runs: dict[str, tuple[dict[str, Any], int]], run: dict[str, Any], emit: Emitter) -> None:
    """Add a run, or what a later record says of it."""
    own = string(run.get("id"))
    if own is None:
        malformed(emit, "a run without its id")
        own = f"line {emit.line}: {len(runs)}"
    if own in runs:
        runs[own][0].update({name: value for name, value in run.items() if value is not None})
    else:
        runs[own] = ({**run, "id": own}, emit.line)


def _span(run: Mapping[str, Any], emit: Emitter) -> Span | None:
    kind = string(run.get("run_type"))
    if kind is None or kind.lower() not in KINDS:
        unknown_record(emit, kind)
        return None
    path = (string(run.get("dotted_order")) or "").split(".")
    steps = [match for step in path if (match := _ORDER.fullmatch(step))]
    span = Span(
        str(run["id"]), string(run.get("trace_id")) or (steps[0][8] if steps else ""), emit.line, KINDS[kind.lower()]
    )
    span.parent = string(run.get("parent_run_id")) or (steps[-2][8] if len(steps) > 1 else None)
    span.at, span.start = instant(run.get("start_time"))
    span.ended, span.end = instant(run.get("end_time"))
    if span.at is None and steps:
        year, month, day, hour, minute, second, part = steps[-1].groups()[:7]
        span.at = f"{year}-{month}-{day}T{hour}:{minute}:{second}.{part}+00:00"
        span.start = seconds(span.at)
    if span.start is None:
        malformed(emit, "a run without a time")
    extra = mapping(from_text(run.get("extra")))
    metadata = mapping(extra.get("metadata"))
    span.conversation = next((name for key in _THREADS if (name := string(metadata.get(key)))), None)
    span.name = string(run.get("name")) or ""
    error = run.get("error")
    span.failed = error is not None and error != ""
    if span.failed:
        span.error = string(error) or "error"
        span.status = status_of(span.error)
    if span.kind == "tool":
        _tool(span, run, metadata, emit)
    elif span.kind == "model":
        _model(span, run, extra, metadata)
    return span


def _tool(span: Span, run: Mapping[str, Any], metadata: Mapping[str, Any], emit: Emitter) -> None:
    if not span.name:
        malformed(emit, "a call without the name of its tool")
    span.call_id = string(run.get("tool_call_id")) or string(metadata.get("tool_call_id"))
    for name in ("inputs", "outputs"):
        if not isinstance(run.get(name, {}), (dict, str)) and run[name] is not None:
            malformed(emit, f"{name} that are no object")
    if run.get("inputs") is not None:
        span.arguments = run["inputs"]
    outputs = from_text(run.get("outputs"))
    if outputs is not None and outputs != {}:
        span.output = outputs


def _model(span: Span, run: Mapping[str, Any], extra: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    inputs, outputs = from_text(run.get("inputs")), from_text(run.get("outputs"))
    parameters = mapping(extra.get("invocation_params"))
    span.inputs = messages_of(inputs, "user") if inputs else None
    span.outputs = messages_of(outputs, "assistant") if outputs else None
    span.model = (
        string(metadata.get("ls_model_name")) or string(parameters.get("model")) or string(parameters.get("model_name"))
    )
    span.usage = _usage(run, outputs)
    span.tools = [*items(parameters.get("tools")), *items(mapping(inputs).get("tools"))]


def _usage(run: Mapping[str, Any], outputs: Any) -> Usage | None:
    """Token counts of the run, of its output, or of the message in it."""
    waiting = [outputs]
    for _ in range(MAX_DEPTH):
        if not waiting:
            break
        value = waiting.pop(0)
        found = mapping(value)
        used = next(
            (mapping(found[name]) for name in ("usage_metadata", "token_usage", "usage") if mapping(found.get(name))),
            {},
        )
        details = mapping(used.get("input_token_details"))
        usage = tokens(
            used.get("input_tokens", used.get("prompt_tokens")),
            used.get("output_tokens", used.get("completion_tokens")),
            read=details.get("cache_read", used.get("cache_read_input_tokens")),
            written=details.get("cache_creation", used.get("cache_creation_input_tokens")),
        )
        if usage is not None:
            return usage
        waiting += [found[name] for name in ("generations", "message", "kwargs", "llm_output") if name in found]
        waiting += items(value)[:1]
    return tokens(run.get("prompt_tokens"), run.get("completion_tokens"))


READER: Final = Reader(
    id="langsmith",
    title="LangSmith runs",
    looked_for="runs with run_type and trace_id, dotted_order or parent_run_id; or batches of them in post and patch",
    sniff=sniff,
    read=read,
    carries={
        "results": "of tool runs, else of later inputs",
        "failure": "error of the tool run",
        "tokens": "of model runs",
        "time": "of runs",
        "subagents": "model runs inside a tool run",
        "schemas": "invocation_params",
        "text": "yes",
        "batches": "the output of one model run",
    },
    evidence="source",
    written_by="LangSmith",
    where="exports, and what the SDK sends",
)
