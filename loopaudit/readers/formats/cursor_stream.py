"""The event stream of ``cursor-agent --output-format stream-json``.

**Written by** Cursor's command line in print mode, to wherever standard output was sent. No real file
was found: everything here rests on its documentation and on converters' sources.

**Not carried**: times, tokens, tool schemas.

**Conversation** = the ``session_id``; ``result`` ends a run.

**Batch.** ``tool_call`` records of one ``model_call_id``; without it, calls that began before any of
them completed. A call is named by its kind (``shellToolCall`` is ``shell``), or inside ``function``.

**Turn.** A ``user`` record. **Failure.** The result of a call is an object named by its outcome:
``success``; ``error``, ``failure`` and the like fail, ``rejected`` and ``permissionDenied`` are
``denied``, ``aborted`` is ``cancelled``; ``exitCode`` of commands stands inside.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from loopaudit.core.events import Status
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import content_of, emit_losses, emit_response
from loopaudit.readers.kit.fields import flag, has, malformed, mapping, moment, objects, string, unknown_record
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset({"system", "thinking", "interaction_query"})
_REFUSED: Final[dict[str, Status]] = {
    "rejected": "denied",
    "permissionDenied": "denied",
    "denied": "denied",
    "aborted": "cancelled",
    "cancelled": "cancelled",
}
_SUFFIX: Final = "ToolCall"


def sniff(probe: Probe) -> str | None:
    """Claim ``tool_call`` records with ``call_id``, or an ``init`` record as Cursor writes it."""
    if probe.shape != "records":
        return None
    for record in probe.dicts:
        kind = record.get("type")
        if kind == "tool_call" and "call_id" in record and isinstance(record.get("tool_call"), dict):
            return "tool_call records with call_id and tool_call"
        is_init = kind == "system" and record.get("subtype") == "init"
        if is_init and has(record, "session_id", "apiKeySource") and "tools" not in record:
            return "a system record of subtype init without tools"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order."""
    emit.knows_success()
    stream = _Stream(emit)
    for record in objects(source, emit):
        stream.take(record)


class _Stream:
    """What has to be remembered between records."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.started: set[str] = set()
        self.responses = 0

    def take(self, record: dict[str, Any]) -> None:
        """One record, by its type."""
        kind = string(record.get("type"))
        self.emit.at(time=moment(record.get("timestamp_ms")))
        session = string(record.get("session_id"))
        if session is not None and kind != "result":
            self.emit.session(session)
        if kind == "tool_call":
            self._tool(record)
        elif kind in ("assistant", "user"):
            content = content_of(mapping(record.get("message")).get("content"))
            if kind == "assistant":
                self.responses += 1
                key = string(record.get("model_call_id")) or f"r{self.responses}"
                emit_response(self.emit, content, key=key)
            else:
                emit_losses(self.emit, content)
                if content.texts or content.media:
                    self.emit.turn(content.text, is_own=True)
        elif kind == "result":
            self.emit.boundary("end", string(record.get("subtype")) or "")
        elif kind not in SILENT:
            unknown_record(self.emit, kind)

    def _tool(self, record: dict[str, Any]) -> None:
        call, state = string(record.get("call_id")), record.get("subtype")
        name, body = _named(record.get("tool_call"))
        if call is None or not name or state not in ("started", "completed"):
            malformed(self.emit, "a call without its id, name or state")
        if call is None or call not in self.started:
            key = string(record.get("model_call_id")) or f"r{self.responses}"
            arguments = body.get("args", body.get("arguments"))
            reported = self.emit.call(name, arguments, id=call, key=key)
            call = reported.id if reported is not None else call
            if call is not None:
                self.started.add(call)
        if state == "started":
            return
        self.responses += 1
        outcome = _outcome(body.get("result"))
        self.emit.result(
            call,
            outcome.output,
            failed=outcome.failed,
            status=outcome.status,
            exit_code=outcome.exit_code,
        )


class _Outcome(NamedTuple):
    output: Any
    failed: bool | None
    status: Status | None = None
    exit_code: int | None = None


def _named(value: Any) -> tuple[str, dict[str, Any]]:
    """Name and body of a call: ``{shellToolCall: {args, result}}`` or ``{function: {name, arguments}}``."""
    for kind, body in mapping(value).items():
        if isinstance(body, dict) and kind == "function":
            return string(body.get("name")) or "", {**mapping(value), **body}
        if isinstance(body, dict) and kind.endswith(_SUFFIX):
            return kind.removesuffix(_SUFFIX), body
    return "", {}


def _outcome(result: Any) -> _Outcome:
    if not isinstance(result, dict):
        return _Outcome(result, None)
    for kind, body in result.items():
        code = mapping(body).get("exitCode")
        exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
        if kind == "success":
            # An MCP tool that failed is a success of the call that says isError.
            return _Outcome(body, bool(flag(mapping(body).get("isError"))), None, exit_code)
        return _Outcome(body, True, _REFUSED.get(kind), exit_code)
    return _Outcome("", None)


READER = Reader(
    id="cursor-stream",
    title="cursor-agent stream-json output",
    looked_for="records of type tool_call with subtype started and completed, call_id and tool_call",
    sniff=sniff,
    read=read,
    carries={
        "results": "in the completed record",
        "failure": "the outcome's name; exit code of commands",
        "text": "assistant prose",
        "batches": "model_call_id, else calls that ran at once",
    },
    evidence="source",
    written_by="cursor-agent --output-format stream-json",
    where="standard output",
)
