"""Items of OpenAI's Responses API, in every container they are kept in.

**Written by** programs that log or keep what they send and get: sessions of the Agents SDK, request logs, exporters.
A bare list, ``items`` of an object, ``input`` and ``output`` of requests and responses, one item or one response a
line. The shapes are the writer's (the API's reference and its libraries); of real files only a snapshot of the
Agents SDK was seen, and the rollouts of Codex, which have readers of their own.

**Conversation** = the file, or each stored list. Responses in a log go on with the one before if they name it or
repeat its items.
**Batch** = the calls of one response; in a bare list those up to the next output. **Turn** = a message of a user,
unless it consists of blocks that a harness adds.

**Failure.** ``status: failed`` of an output, the exit code of ``shell_call_output``, ``error`` of an ``mcp_call``. A
call that a person rejected is ``denied`` by the words of the Agents SDK.

**Not carried**: times; the output of searches on the server, which are no calls here; tokens and models of bare lists.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.canonical import digest, dump
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import usage_of
from loopaudit.readers.kit.chat.rows import id_of
from loopaudit.readers.kit.fields import documents, items, mapping, not_a_record, string
from loopaudit.readers.kit.responses import CALLS, OUTPUTS, Items
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_WRAPPERS: Final = ("request", "response", "body")
_LISTS: Final = ("items", "input", "output", "data", "history")
MAX_DEPTH: Final = 3
"""How many objects may stand around the items."""

_FOREIGN: Final = frozenset({"payload", "record_type", "$schemaVersion", "schema_version", "generated_items"})


def sniff(probe: Probe) -> str | None:
    """Claim objects with ``type`` of calls and outputs of the API, and response objects."""
    found = False
    for root in documents(probe)[:50]:
        if isinstance(root, dict) and (not _FOREIGN.isdisjoint(root) or ("type" not in root and _is_bare(root))):
            return None
        if isinstance(root, dict) and root.get("object") == "response" and isinstance(root.get("output"), list):
            return "objects of type response"
        values_ = [root] if isinstance(root, dict) and "type" in root else _parts(root)
        kinds = [mapping(item).get("type") for item in values_ or ()]
        found = found or any(isinstance(kind, str) and (kind in CALLS or kind in OUTPUTS) for kind in kinds)
    return "items of type function_call and function_call_output" if found else None


def _is_bare(root: dict[str, Any]) -> bool:
    """Whether a record is neither a message nor around items, as the first line of old rollouts."""
    return "role" not in root and _parts(root) is None and "object" not in root


def _parts(value: Any, depth: int = 0) -> list[Any] | None:
    """The items in a decoded value, in order; ``None`` where it holds no list of them."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    found: list[Any] | None = None
    for name in _WRAPPERS:
        inner = _parts(value.get(name), depth + 1) if depth < MAX_DEPTH and isinstance(value.get(name), dict) else None
        if inner is not None:
            found = [*(found or ()), *inner]
    for name in _LISTS:
        inner = value.get(name)
        if isinstance(inner, str) and name == "input" and inner:
            inner = [{"role": "user", "content": inner}]
        if isinstance(inner, list):
            found = [*(found or ()), *inner]
    return found


def read(source: Source, emit: Emitter) -> None:
    """Report every item in order."""
    reading = _Reading(emit)
    for value in values(source, emit):
        if isinstance(value, list) and any(_parts(entry) is not None for entry in value[:50]):
            for entry in value:
                reading.value(entry)
        else:
            reading.value(value)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.items = Items(emit)
        self.names = Names()
        self.rows = 0
        self.reported: list[bytes] = []
        self.last = ""

    def value(self, value: Any) -> None:
        """An item, a list of items, or an object around them."""
        if isinstance(value, dict) and ("type" in value or "role" in value):
            self.items.report(value)
            return
        found = _parts(value)
        if found is None:
            not_a_record(self.emit)
            return
        if not found:
            self.emit.problem("no_items", "a list or an object without items")
            return
        self.rows += 1
        response = mapping(mapping(value).get("response")) or mapping(value)
        marks = [_mark(item) for item in found]
        known = len(self.reported) if self.reported and marks[: len(self.reported)] == self.reported else 0
        if not known and not self._goes_on(value, response):
            self.reported = []
            name = None if isinstance(value, list) and self.rows == 1 else id_of(mapping(value)) or str(self.rows)
            self.items.begin(None if name is None else self.names.unique(name))
        self.reported = marks if known or not self.reported else [*self.reported, *marks]
        self.last = string(response.get("id")) or ""
        self._report(value, found[known:], response)

    def _goes_on(self, value: Any, response: dict[str, Any]) -> bool:
        before = response.get("previous_response_id") or mapping(mapping(value).get("request")).get(
            "previous_response_id"
        )
        return bool(self.last) and before == self.last

    def _report(self, value: Any, found: list[Any], response: dict[str, Any]) -> None:
        answered = {id(item) for item in items(response.get("output"))}
        key = f"r{self.rows}"
        model = string(response.get("model"))
        tools = (
            mapping(value).get("tools") or mapping(mapping(value).get("request")).get("tools") or response.get("tools")
        )
        self.emit.tools(declared_schemas(items(tools)))
        for item in found:
            own = id(item) in answered
            self.items.report(item, key=key if own else None, model=model if own else None)
        usage = usage_of(response.get("usage"))
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)


def _mark(item: Any) -> bytes:
    """Stands for an item where rows are compared; ids and states may differ in a repetition."""
    value = mapping(item)
    kept = {
        name: value[name] for name in ("role", "content", "call_id", "name", "arguments", "output") if name in value
    }
    return digest(dump([value.get("type", "message"), kept]))


READER: Final = Reader(
    id="openai-responses",
    title="OpenAI Responses items",
    looked_for="items of type function_call, function_call_output, message, reasoning; response objects with output",
    sniff=sniff,
    read=read,
    carries={
        "results": "by call_id",
        "failure": "status, exit code of the shell tool, error of MCP calls",
        "tokens": "where responses are kept",
        "schemas": "where requests are kept",
        "text": "yes",
        "batches": "one response, else calls up to the next output",
    },
    evidence="source",
    written_by="programs on the Responses API",
    where="anywhere",
)
