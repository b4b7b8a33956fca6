"""Where chats lie in a decoded value: bare lists, objects around them, lists of either.

A *row* is an object with one conversation in it and facts about it beside: its id, tools,
model, a response that is not yet in the list. Everything here also works on a value that was
cut off, as a :class:`~loopaudit.readers.probe.Probe` has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from loopaudit.readers.kit.chat.message import from_text

LISTS: Final = ("messages", "traj", "trajectory", "conversation", "conversations", "history", "chat")
"""Members of a row that may be its list of messages."""

WRAPPERS: Final = ("request", "body", "input", "inputs", "conversation", "trajectory", "data", "kwargs")
"""Members of a row that may be an object around the list of messages, or around the tools."""

_WRAPPERS: Final = frozenset(WRAPPERS)
_AROUND: Final = frozenset({*LISTS, *WRAPPERS})

RESPONSES: Final = ("response", "output", "completion", "result")
"""Members of a row that may be the answer to its messages."""

_ANSWERED: Final = frozenset({*RESPONSES, "choices", "role", "body", "message"})
"""Members of which one stands in whatever is, or holds, such an answer."""

ROWS: Final = (
    "conversations",
    "trajectories",
    "transcripts",
    "sessions",
    "runs",
    "results",
    "rows",
    "records",
    "examples",
    "items",
    "logs",
    "data",
)
"""Members of a document that may be its list of rows."""

MAX_NESTING: Final = 3
"""How many objects may stand around a list of messages."""

_IDS: Final = (
    "session_id",
    "conversation_id",
    "thread_id",
    "trajectory_id",
    "traj_id",
    "trace_id",
    "instance_id",
    "id",
    "task_id",
    "run_id",
    "uuid",
    "custom_id",
)
_TRIALS: Final = ("trial", "seed", "epoch", "attempt", "rollout")
_ENDS: Final = ("termination_reason", "exit_status", "stop_reason")


class Row(NamedTuple):
    """One conversation: the object around it (empty for a bare list) and its messages."""

    facts: Mapping[str, Any]
    messages: list[Any]


def is_message(value: Any) -> bool:
    """Whether a value is a message rather than something around messages."""
    return isinstance(value, dict) and isinstance(value.get("role"), str) and messages_of(value) is None


def messages_of(row: Mapping[str, Any], depth: int = 0) -> list[Any] | None:
    """The list of messages in a row; ``None`` if it has none."""
    if _AROUND.isdisjoint(row):
        return None  # as in nearly every message, of which this is asked too
    for name in LISTS:
        if name in row:
            found = from_text(row[name])
            if isinstance(found, list) and any(
                isinstance(m, dict) and isinstance(m.get("role"), str) for m in found[:50]
            ):
                return found
    if depth < MAX_NESTING:
        for inner in _wrapped(row):
            found = messages_of(inner, depth + 1)
            if found is not None:
                return found
    return None


def _wrapped(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    if _WRAPPERS.isdisjoint(row):
        return []
    return [inner for name in WRAPPERS if isinstance(inner := row.get(name), dict)]


def rows_of(value: Any) -> list[Row] | None:
    """The conversations in a decoded value, in order; ``None`` where it holds none.

    Entries of a list of rows that are no rows give a row without messages.
    """
    if isinstance(value, dict):
        found = messages_of(value)
        if found is not None:
            return [Row(value, found)]
        for name in ROWS:
            inner = value.get(name)
            if isinstance(inner, list):
                rows = rows_of(inner)
                if rows is not None and not any(is_message(entry) for entry in inner[:50]):
                    return rows
        return [Row(value, [])] if response_of(value) is not None else None
    if not isinstance(value, list):
        return None
    if any(is_message(entry) for entry in value[:50]):
        return [Row({}, value)]
    rows = [_row(entry) for entry in value]
    return rows if any(row.messages or row.facts for row in rows) else None


def _row(entry: Any) -> Row:
    if isinstance(entry, list):
        return Row({}, entry if any(is_message(m) for m in entry[:50]) else [])
    if isinstance(entry, dict):
        found = messages_of(entry)
        if found is not None:
            return Row(entry, found)
        if response_of(entry) is not None:
            return Row(entry, [])
    return Row({}, [])


def response_of(row: Mapping[str, Any], depth: int = 0) -> dict[str, Any] | None:
    """The assistant message that answers a row's messages and stands apart from them."""
    if _ANSWERED.isdisjoint(row):
        return None
    choices = row.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        if isinstance(message, dict) and message.get("role", "assistant") == "assistant":
            return {"role": "assistant", **_facts_of_response(row), **message}
    if row.get("role") == "assistant" and depth:
        return dict(row)
    if depth < MAX_NESTING:
        for name in (*RESPONSES, *(("body", "message") if depth else ())):
            inner = from_text(row.get(name))
            if isinstance(inner, dict):
                found = response_of(inner, depth + 1)
                if found is not None:
                    return found
    return None


def _facts_of_response(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("usage", "model") if name in row}


def tools_of(row: Mapping[str, Any], depth: int = 0) -> list[Any]:
    """Tool declarations in a row or in the request inside it."""
    for name in ("tools", "functions", "available_tools"):
        if name in row:
            found = from_text(row[name])
            if isinstance(found, list) and any(isinstance(tool, dict) for tool in found):
                return found
    if depth < MAX_NESTING:
        for inner in _wrapped(row):
            found = tools_of(inner, depth + 1)
            if found:
                return found
    return []


def model_of(row: Mapping[str, Any], depth: int = 0) -> str | None:
    """The model that a row names for the whole conversation."""
    model = row.get("model")
    if isinstance(model, str):
        return model
    if depth < MAX_NESTING:
        for inner in _wrapped(row):
            found = model_of(inner, depth + 1)
            if found is not None:
                return found
    return None


def id_of(row: Mapping[str, Any]) -> str | None:
    """What a row is called: its most telling id, with the number of the trial."""
    for name in _IDS:
        if name not in row:
            continue
        value = row[name]
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            for trial in _TRIALS:
                number = row.get(trial)
                if isinstance(number, int) and not isinstance(number, bool):
                    return f"{value}-{trial}-{number}"
            return str(value)
    return None


def end_of(row: Mapping[str, Any]) -> str | None:
    """Why the run ended, where the row says it."""
    for name in _ENDS:
        end = row.get(name)
        if isinstance(end, str) and end:
            return end
    return None
