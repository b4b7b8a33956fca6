"""Reads hand-written records and shows the events in a form that is short to compare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from loopaudit.core.events import Batch, Event, Level, Turn
from loopaudit.core.findings import Problems
from loopaudit.readers.contract import Reader
from tests.corpus import read_events


def jsonl(records: Iterable[Any]) -> bytes:
    """Records as lines."""
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def shown(events: Iterable[Event]) -> list[Any]:
    """Turns as ``"turn TEXT"``, boundaries as ``"KIND REASON"``, batches as their text and calls.

    A call is ``(name, arguments, outcome)``; the outcome is ``None`` without a result, else
    ``"STATUS OUTPUT"``, with the level and exit code of a failure: ``"error flag OUTPUT"``.
    Events of a sub-agent begin with its name.
    """
    found: list[Any] = []
    for event in events:
        if isinstance(event, Batch):
            calls = [(call.name, call.arguments, _outcome(call)) for call in event.calls]
            one: Any = [event.text, *calls] if event.text else calls
        elif isinstance(event, Turn):
            one = f"turn {event.text}"
        else:
            one = f"{event.kind} {event.reason}".rstrip()
        found.append((event.agent, one) if event.agent else one)
    return found


def _outcome(call: Any) -> str | None:
    result = call.result
    if result is None:
        return None
    code = None if result.exit_code is None else str(result.exit_code)
    return " ".join(word for word in (result.status, result.level, code, result.output) if word)


def read(
    reader: Reader, content: Iterable[Any] | bytes, *, failure_level: Level = "exit_code"
) -> tuple[list[Any], Problems, list[Any]]:
    """Shown events, problems and totals of records (one a line) or of a file's bytes."""
    data = content if isinstance(content, bytes) else jsonl(content)
    events, problems, totals = read_events(reader, data, failure_level=failure_level)
    return shown(events), problems, totals
