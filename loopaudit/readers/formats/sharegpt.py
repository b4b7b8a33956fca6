"""Conversations in the ShareGPT layout, with calls in the text or in messages of their own.

**Written by** exporters of training data, and by agents that keep their trajectories so (Hermes agent:
``trajectory_samples.jsonl``). Rows with ``conversations[{from, value}]``, one a line or in a list, or a bare
list (or lines) of such messages; also chats with ``role`` and ``content`` whose assistant writes ``<tool_call>``.
Checked on a file of 2026 without calls, and on rows of a public data set with ``<function=name>``; the grammar of
``<tool_call>``, and the messages from ``function_call`` and ``observation``, are from the writers' source
(Hermes, LLaMA-Factory).

**Conversation** = one row. **Batch** = the calls of one message, in the dialect of the conversation
(``<tool_call>``, ``<function=name>``, ``<execute>``, ReAct, lists of commands), or the JSON of a message from
``function_call``. **Turn** = a human message.
**Results** are the ``<tool_response>`` elements of the next tool (or user) message, in the order of the calls
unless they name their call; a tool message without such elements is one result.

**Failure.** No flag. ``exit_code`` in a result that is an object counts; other failures only stand in the words.
A call that is no JSON keeps its text as arguments.

**Not carried**: tokens, times; ids in most files. Tool schemas stand in the system prompt's ``<tools>``; the
sample call there is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from loopaudit.core import canonical, regex
from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.chat.rows import Row, id_of, rows_of
from loopaudit.readers.kit.chat.sniff import sample
from loopaudit.readers.kit.chat.strays import strays_of
from loopaudit.readers.kit.chat.text_chat import ASSISTANTS, ROLES, TEXTS, TextChat
from loopaudit.readers.kit.fields import not_a_record
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

LISTS: Final = ("conversations", "conversation", "messages")
"""Members of a row that may be its list of messages."""

_TOOLS: Final = regex.lazy(r"<tools>(.*?)</tools>", re.DOTALL)


def sniff(probe: Probe) -> str | None:
    """Claim messages with ``from`` and ``value``, and chats with ``<tool_call>`` in the text."""
    for root in [probe.document] if probe.shape == "document" else probe.records[:20]:
        if _is_turn(root) or any(_is_turn(message) for row in _rows(root) or () for message in row.messages[:20]):
            return "conversations with from and value"
    messages, _ = sample(probe)
    known = [m for m in messages if isinstance(m, dict)]
    if not known or any("tool_calls" in m or "parts" in m for m in known):
        return None
    if strays_of([str(m.get("role")) for m in known], ROLES) is None:
        return None
    texts = [m.get("content") for m in known if str(m.get("role")) in ASSISTANTS]
    if any(isinstance(text, str) and "<tool_call>" in text for text in texts):
        return "messages with tool_call elements in the text"
    return None


def _is_turn(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("from"), str) and "value" in message


def _rows(value: Any) -> list[Row] | None:
    """The conversations in a decoded value; ``None`` where it holds none."""
    if isinstance(value, dict):
        for name in LISTS:
            listed = from_text(value.get(name))
            if isinstance(listed, list) and any(_is_turn(message) for message in listed[:50]):
                return [Row(value, listed)]
    elif isinstance(value, list):
        if any(_is_turn(message) for message in value[:50]):
            return [Row({}, value)]
        if any(_rows(entry) for entry in value[:50] if isinstance(entry, dict)):
            found = [(_rows(entry) if isinstance(entry, dict) else None) or [Row({}, [])] for entry in value]
            return [row for rows in found for row in rows]
    return rows_of(value)


def read(source: Source, emit: Emitter) -> None:
    """Report every conversation in file order."""
    chat = TextChat(emit)
    chat.expect(source.probe().records)
    names = Names()
    number = 0
    for value in values(source, emit):
        if _is_turn(value):
            chat.report(value)
            continue
        rows = _rows(value)
        if rows is None:
            not_a_record(emit)
            continue
        for row in rows:
            number += 1
            name = names.unique(id_of(row.facts) or str(number))
            chat.row(row, name, list(_declared(row)))


def _declared(row: Row) -> Iterator[Any]:
    """Tool declarations beside a conversation, or in its system prompt: a list, or one a line."""
    beside = from_text(row.facts.get("tools"))
    if isinstance(beside, list):
        yield from beside
    for message in row.messages[:2]:
        if not isinstance(message, dict) or message.get("from", message.get("role")) != "system":
            continue
        text = content_text(next((message[name] for name in TEXTS if name in message), None))
        for element in _TOOLS.findall(text):
            value = canonical.parse(element)
            for part in [value] if value is not canonical.NOT_JSON else map(canonical.parse, element.split("\n")):
                yield from part if isinstance(part, list) else [part]


READER: Final = Reader(
    id="sharegpt",
    title="ShareGPT and Hermes conversations",
    looked_for="conversations of messages with from and value, tool_call elements in the text",
    sniff=sniff,
    read=read,
    carries={
        "results": "tool_response elements, in order or by id",
        "failure": "exit_code in the result",
        "schemas": "tools in the system prompt",
        "text": "yes",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="Hermes agent, exporters of training data",
    where="trajectory_samples.jsonl, anywhere",
)
