"""Logs of the Model Context Protocol: JSON-RPC messages, one a line.

**Written by** MCP clients, servers, proxies and inspectors that log their traffic; each message alone on its line, in
a batch, or as a member of a log record (``message``, ``data``, ``payload`` and the like).
**Evidence**: the protocol's specification (2024-11-05 to 2025-06-18); no log of somebody's was seen.

**Conversation** = one connection, from its ``initialize`` request on. A ``tools/call`` request is a call, the response
of its id the result. **Batch**: which calls belong to one response of a model is not in the protocol; calls that are
under way at once count as one. Other methods are no calls. ``tools/list`` declares the tools.

**Failure.** ``isError`` of a result, or a JSON-RPC ``error``. ``notifications/cancelled`` cancels a call.

**Not carried**: a person's messages, what the model says, tokens, models; times only where the log has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.canonical import compact
from loopaudit.core.events import content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import (
    flag,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
    unknown_record,
)
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import Names, samples, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

MAX_LEVELS: Final = 3
"""How deep in a log's record a message is looked for."""

MAX_LOOKED_AT: Final = 500
"""Objects and lists of a record that are looked at to recognise the format, at most."""

_METHOD: Final = regex.lazy(r"ping|[a-z]{1,40}(?:/[A-Za-z_]{1,60}){1,4}")
_TIMES: Final = ("timestamp", "time", "ts", "at", "date")


def sniff(probe: Probe) -> str | None:
    """Claim JSON-RPC 2.0 messages of the protocol's methods, alone or in a log's records."""
    for record in samples(probe):
        for message, _ in _messages(record, steps=iter(range(MAX_LOOKED_AT))):
            method = message.get("method")
            if isinstance(method, str) and (method in ("initialize", "tools/call", "tools/list")):
                return "JSON-RPC messages of tools/call, tools/list or initialize"
    return None


def _messages(
    record: Any, at: Any = None, depth: int = 0, steps: Iterator[int] | None = None
) -> Iterator[tuple[dict[str, Any], Any]]:
    """The JSON-RPC messages in a record with the time that the log gives: itself, a batch, or a member of it.

    No more objects and lists are looked at than there are ``steps``.
    """
    if steps is not None and next(steps, None) is None:
        return
    if isinstance(record, list) and depth <= MAX_LEVELS:
        for entry in record:
            if isinstance(entry, (dict, list)):
                yield from _messages(entry, at, depth + 1, steps)
    elif isinstance(record, dict):
        if record.get("jsonrpc") == "2.0":
            yield record, at
        elif depth < MAX_LEVELS:
            at = next((record[name] for name in _TIMES if moment(record.get(name)) is not None), at)
            for inner in record.values():
                if isinstance(inner, (dict, list)):
                    yield from _messages(inner, at, depth + 1, steps)


def read(source: Source, emit: Emitter) -> None:
    """Report every call with its result."""
    emit.knows_success()
    reading = _Reading(emit)
    for value in values(source, emit):
        for record in value if isinstance(value, list) and value else [value]:
            found = list(_messages(record))
            for message, at in found:
                emit.at(time=moment(at))
                reading.message(message)
            if not found:
                _odd(emit, record)


def _odd(emit: Emitter, record: Any) -> None:
    if isinstance(record, dict) and not any(name in record for name in ("jsonrpc", "method", "result", "id")):
        emit.problem("unknown_record", "a record without a JSON-RPC message")
    else:
        not_a_record(emit)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.names = Names()
        self.used = False
        self.open: dict[str, Any] = {}
        """The calls under way, by the ids of their requests."""
        self.lists: set[str] = set()
        """Ids of requests for the list of tools."""
        self.others: set[str] = set()
        """Ids of all other requests."""
        self.batches = 0

    def message(self, message: dict[str, Any]) -> None:
        """Report a message by its method, or by the request that it answers."""
        method = message.get("method")
        own = _id(message.get("id"))
        if "method" in message and not isinstance(method, str):
            malformed(self.emit, "a method that is no text")
        elif method == "initialize":
            self.connect()
            self.others.add(own or "")
        elif method == "tools/call":
            self.call(message, own)
        elif method == "tools/list" and own is not None:
            self.lists.add(own)
        elif method == "notifications/cancelled":
            cancelled = _id(mapping(message.get("params")).get("requestId"))
            if cancelled is None:
                malformed(self.emit, "a cancellation without its request")
            # It may come too late, or be about a request that is no call.
            call = self.open.pop(cancelled or "", None)
            if call is not None:
                self.emit.result(call.id, "", status="cancelled")
        elif method is None and ("result" in message or "error" in message):
            self.response(message, own)
        elif method is None:
            malformed(self.emit, "a message that is neither a request nor a response")
        elif _METHOD.fullmatch(method) is None:
            unknown_record(self.emit, method)
        elif own is not None:
            self.others.add(own)

    def connect(self) -> None:
        """Begin another conversation where calls were made before."""
        if self.used:
            self.pairing.begin(self.names.unique("connection"))
            self.used = False
        self.open = {}
        self.lists = set()
        self.others = set()

    def call(self, message: dict[str, Any], own: str | None) -> None:
        """Report a request to call a tool."""
        params = message.get("params")
        if own is None or not isinstance(params, dict):
            malformed(self.emit, "a tools/call without id or params")
        params = mapping(params)
        arguments = params.get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            malformed(self.emit, "arguments that are no object")
        if own is not None and own in self.open:
            self.emit.copied("repeated_call", "a request of this id stood before")
            return
        if not self.open:
            self.batches += 1
        call = self.pairing.call(params.get("name"), {} if arguments is None else arguments, key=f"b{self.batches}")
        self.used = True
        if own is not None and call is not None:
            self.open[own] = call

    def response(self, message: dict[str, Any], own: str | None) -> None:
        """Report the response to a call; those to other requests say nothing of one."""
        if own is None:
            malformed(self.emit, "a response without the id of its request")
            return
        result = mapping(message.get("result"))
        if own in self.lists and isinstance(result.get("tools"), list):
            self.lists.discard(own)
            self.emit.tools(declared_schemas(items(result["tools"])))
            return
        call = self.open.pop(own, None)
        if call is None:
            if own not in self.others:
                self.emit.result(f"request {own}", content_text(result.get("content")))
            return
        error = message.get("error")
        if error is not None:
            words = string(mapping(error).get("message")) or compact(error)
            self.emit.result(call.id, words, failed=True, error=words)
            return
        if not isinstance(result.get("content"), list) and "structuredContent" not in result:
            malformed(self.emit, "a result without content")
        shown = content_text(result.get("content"))
        if not shown and "structuredContent" in result:
            shown = compact(result["structuredContent"])
        self.emit.result(call.id, shown, failed=flag(result.get("isError")) or False)


def _id(value: Any) -> str | None:
    if isinstance(value, str):
        return f"s{value}"
    return f"n{value}" if isinstance(value, int) and not isinstance(value, bool) else None


READER: Final = Reader(
    id="mcp-log",
    title="MCP log (JSON-RPC)",
    looked_for="objects with jsonrpc, id and method tools/call with params, results with content and isError, alone "
    "or in log records",
    sniff=sniff,
    read=read,
    carries={
        "results": "by the id of the request",
        "failure": "isError, and JSON-RPC errors",
        "time": "where the log has it",
        "schemas": "inputSchema of tools/list",
        "batches": "calls under way at once",
    },
    evidence="source",
    written_by="MCP clients, servers, proxies and inspectors",
    where="anywhere",
)
