"""The event stream of ``codex exec --json``: one JSON event a line, on standard output.

**Written by** ``codex exec --json`` (since 0.44) and the Codex SDK, to wherever standard output
was sent. Checked on a small real stream and on the writer's source. Not to be confused with the
rollout that the same run leaves under ``~/.codex/sessions``, which holds more.

**Not carried**: the prompt, times, models, tool schemas, the model's own tool names and full
arguments. An edit (``file_change``) names its files but in most versions not what it changed, so
that repeated edits of one file look equal; that is counted as a problem ``patch_not_recorded``.

**Conversation** = the thread. A second ``thread.started`` of the same thread, or a second
``turn.started``, is a ``resume`` boundary. Item ids start anew with each process, so they are
distinguished by the number of the ``thread.started`` before them.

**Turn.** No prompt is recorded, so there are no turns.

**Calls and results** are one item: ``command_execution``, ``file_change``, ``mcp_tool_call`` (named
``mcp__server__tool``) and ``collab_tool_call`` (named by its tool). ``item.started`` shows that a
call began, ``item.completed`` repeats it with its outcome; one that never completed stays
unanswered. ``web_search`` ran at the provider and ``todo_list`` is a state: neither is a call.

**Batch.** The stream does not mark responses. Calls that began before any of them completed are
one batch, together with the prose right before them; reasoning begins another one.

**Failure.** ``status: failed`` is a flag, ``exit_code`` stands beside it; ``declined`` commands and
refused MCP calls are ``denied``. **Tokens** of ``turn.completed`` are the thread's totals so far;
what was counted before is subtracted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from loopaudit.core.events import Status, Usage
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.codex_outcome import ending
from loopaudit.readers.kit.fields import objects
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

EVENTS: Final = frozenset(
    {
        "thread.started",
        "turn.started",
        "item.started",
        "item.updated",
        "item.completed",
        "turn.completed",
        "turn.failed",
    }
)
NOT_CALLS: Final = frozenset({"web_search", "todo_list", "image_generation"})
"""Items that stand for no call of the agent's."""

MAX_STARTED: Final = 4096
"""Calls that have begun and not completed, at most."""

TOKENS: Final = ("input_tokens", "output_tokens", "cached_input_tokens")


def sniff(probe: Probe) -> str | None:
    """Claim records whose type is one of the stream's events."""
    if probe.shape != "records":
        return None
    if any(r.get("type") in EVENTS for r in probe.dicts if isinstance(r.get("type"), str)):
        return "records of type thread.started, turn.started or item.completed"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in a stream, in file order."""
    stream = Stream(emit)
    for record in objects(source, emit):
        stream.take(record)


class Outcome(NamedTuple):
    """How a completed item ended."""

    output: Any
    failed: bool | None
    status: Status | None = None
    exit_code: int | None = None


class Stream:
    """What has to be remembered between the events of one stream."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.thread: str | None = None
        self.runs = 0
        self.turns = 0
        self.begun = False
        self.started: set[str] = set()
        self.responses = 0
        self.open = False
        self.counted: dict[str, int] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        """One event, by its type."""
        match event.get("type"):
            case "thread.started":
                self._thread(event.get("thread_id"))
            case "turn.started":
                self.turns += 1
                if self.turns > 1:
                    self._resumed("turn.started")
            case "item.started":
                self._item(event.get("item"), completed=False)
            case "item.completed":
                self._item(event.get("item"), completed=True)
            case "turn.completed":
                self._tokens(event.get("usage"))
                self._end("turn.completed")
            case "turn.failed":
                message = _message(event.get("error"))
                self._end(f"turn.failed: {message}" if message else "turn.failed")
            case "error":
                self.emit.problem("recorded_error", "the run reported an error")
            case "item.updated":
                pass
            case str(kind):
                self.emit.problem("unknown_record", f"a record of unknown type {kind[:80]!r}")
            case _:
                self.emit.problem("unknown_record", "a record without a type", damage=True)

    # -- the run ---------------------------------------------------------------------------

    def _thread(self, thread: Any) -> None:
        name = thread if isinstance(thread, str) else ""
        self.runs += 1
        self.open = False
        self.started.clear()
        if self.thread is None or name != self.thread:
            self.turns = 0
            self.begun = False
            self.counted = {}
            self.emit.session(name)
        else:
            self._resumed("thread.started")
        self.thread = name

    def _resumed(self, reason: str) -> None:
        if self.begun:
            self.begun = self.open = False
            self.emit.boundary("resume", reason)

    def _end(self, reason: str) -> None:
        self.open = False
        self.begun = True
        self.emit.boundary("end", reason)

    def _tokens(self, usage: Any) -> None:
        """Count what a thread's totals grew by; totals that shrink have begun anew."""
        if not isinstance(usage, dict):
            return
        totals = {name: usage[name] for name in TOKENS if _is_count(usage.get(name))}
        before = self.counted
        if any(count < before.get(name, 0) for name, count in totals.items()):
            before = {}
        self.counted = totals
        grown = [totals[name] - before.get(name, 0) if name in totals else None for name in TOKENS]
        self.emit.usage(Usage(*grown), key="")

    # -- items -----------------------------------------------------------------------------

    def _item(self, item: Any, *, completed: bool) -> None:
        if not isinstance(item, dict):
            self.emit.problem("unknown_item", "an item event without its item", damage=True)
            return
        match item.get("type"):
            case "command_execution":
                arguments = {"command": item.get("command")}
                self._call(item, "command_execution", arguments, completed=completed)
            case "file_change":
                self._change(item, completed=completed)
            case "mcp_tool_call":
                name = self._name(item)
                server = _text(item.get("server"))
                self._call(item, f"mcp__{server}__{name}", item.get("arguments"), completed=completed)
            case "collab_tool_call":
                arguments = {name: item[name] for name in ("receiver_thread_ids", "prompt") if name in item}
                self._call(item, self._name(item), arguments, completed=completed)
            case kind if completed:
                self._other(kind, item)

    def _other(self, kind: Any, item: Mapping[str, Any]) -> None:
        if kind == "agent_message":
            self.emit.say(_text(item.get("text")), key=self._response())
            self.begun = True
        elif kind == "reasoning":
            self.open = False
        elif kind == "error":
            self.emit.problem("recorded_error", "the run reported an error")
        elif not isinstance(kind, str):
            self.emit.problem("unknown_item", "an item without a type", damage=True)
        elif kind in NOT_CALLS:
            self.emit.problem("not_a_call", f"{kind}: not counted as a call")
        else:
            self.emit.problem("unknown_item", f"an item of unknown type {kind[:80]!r}")

    def _name(self, item: Mapping[str, Any]) -> str:
        name = _text(item.get("tool"))
        if not name:
            self.emit.problem("nameless_call", "a call without the name of its tool", damage=True)
        return name

    def _change(self, item: Mapping[str, Any], *, completed: bool) -> None:
        changes = item.get("changes")
        if completed and isinstance(changes, list) and not any(isinstance(c, dict) and "diff" in c for c in changes):
            message = "a file_change without its patch: repeated edits of a file look equal"
            self.emit.problem("patch_not_recorded", message)
        self._call(item, "file_change", {"changes": changes}, completed=completed)

    def _call(self, item: Mapping[str, Any], name: str, arguments: Any, *, completed: bool) -> None:
        self.begun = True
        recorded = item.get("id")
        call_id = f"{self.runs}:{recorded}" if isinstance(recorded, str) else None
        if not completed and call_id is None:
            return
        if call_id is None or call_id not in self.started:
            call = self.emit.call(name, arguments, id=call_id, key=self._response())
            if call is not None:
                call_id = call.id
        if not completed:
            if len(self.started) < MAX_STARTED:
                self.started.add(str(call_id))
            return
        self.started.discard(str(call_id))
        self.open = False
        output, failed, status, exit_code = _outcome(item)
        self.emit.result(call_id, output, failed=failed, status=status, exit_code=exit_code)

    def _response(self) -> str:
        """The key of the response that is being read."""
        if not self.open:
            self.open = True
            self.responses += 1
        return f"r{self.responses}"


def _outcome(item: Mapping[str, Any]) -> Outcome:
    state = item.get("status")
    failed = {"failed": True, "error": True, "completed": False}.get(state) if isinstance(state, str) else None
    status: Status | None = "denied" if state == "declined" else None
    kind = item.get("type")
    if kind == "command_execution":
        code = item.get("exit_code")
        return Outcome(item.get("aggregated_output"), failed, status, code if _is_count(code) else None)
    if kind == "collab_tool_call":
        return Outcome(item.get("agents_states"), failed, status)
    if kind != "mcp_tool_call":
        return Outcome("", failed, status)
    result, message = item.get("result"), _message(item.get("error"))
    if message:
        refused, _ = ending(json.dumps(message).encode())
        return Outcome(message, True, status or refused)
    return Outcome(result.get("content", result) if isinstance(result, dict) else result, failed, status)


def _message(error: Any) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


READER: Final = Reader(
    id="codex-exec",
    title="codex exec --json stream",
    looked_for="records of type thread.started, turn.started, item.started, item.completed, turn.completed",
    sniff=sniff,
    read=read,
    carries={
        "results": "in the completed item",
        "failure": "status and exit code",
        "tokens": "per turn",
        "text": "prose of the assistant",
        "batches": "calls that ran at once",
    },
    written_by="codex exec --json, Codex SDK",
    where="standard output",
)
