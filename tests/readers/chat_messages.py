"""Hand-written chat messages, and what a reader makes of them in short words."""

from __future__ import annotations

from typing import Any

import orjson

from loopaudit.core.counts import Totals
from loopaudit.core.events import Batch, Event, Turn
from loopaudit.core.findings import Problems
from loopaudit.readers.formats.openai_chat import READER
from tests import corpus

Json = dict[str, Any]


def user(text: Any) -> Json:
    return {"role": "user", "content": text}


def say(text: Any, *calls: Json, **more: Any) -> Json:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {}), **more}


def call(name: str, arguments: Any = "{}", id: str | None = None) -> Json:
    function = {"name": name, "arguments": arguments}
    return {**({} if id is None else {"id": id}), "type": "function", "function": function}


def tool(id: str | None, content: Any, **more: Any) -> Json:
    return {"role": "tool", **({} if id is None else {"tool_call_id": id}), "content": content, **more}


def as_lines(messages: list[Any]) -> bytes:
    return b"".join(orjson.dumps(m) + b"\n" for m in messages)


def read(content: bytes | list[Any]) -> tuple[list[Event], Problems, list[Totals]]:
    """Read bytes, or messages written one a line."""
    return corpus.read_events(READER, content if isinstance(content, bytes) else as_lines(content))


def words(events: list[Event]) -> list[str]:
    """One short text per event: ``turn: go``, ``ls=x+cat! Looking.``, ``compaction``."""
    told = []
    for event in events:
        if isinstance(event, Turn):
            told.append(f"turn: {event.text}")
        elif isinstance(event, Batch):
            calls = []
            for asked in event.calls:
                result = asked.result
                sign = "?" if result is None else ("!" if result.failed else "=") + result.output
                calls.append(asked.name + sign)
            told.append(" ".join(filter(None, ["+".join(calls), event.text])))
        else:
            told.append(event.kind)
    return told
