"""Recognises chats of the Chat Completions API by a probe, and leaves alone what only looks so.

Many formats keep lists of objects with ``role`` and ``content``. A chat is claimed where calls or
results stand in it as the API has them; one without any, only if nothing in it hints at
another format, above all at calls written into the prose.
"""

from __future__ import annotations

import re
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import content_text
from loopaudit.readers.kit.chat.foreign import EVENTS, MOLTIS, is_event, is_header, is_moltis
from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.chat.messages import prose
from loopaudit.readers.kit.chat.rows import is_message, response_of, rows_of
from loopaudit.readers.kit.chat.strays import HARNESS, strays_of, sub_agent
from loopaudit.readers.kit.cline import is_history
from loopaudit.readers.kit.text_dialects import FENCED, dialect_of
from loopaudit.readers.probe import Probe

MAX_SAMPLE: Final = 1000
"""Messages looked at, at most."""

_CALLS: Final = frozenset({"tool_calls", "toolCalls", "function_call"})

_RESULTS: Final = ("tool", "function", "tool_result")

RESULT_OF: Final = "EXECUTION RESULT of ["
"""How OpenHands begins a result, where it works without the API's tools."""

ROLES: Final = frozenset({"system", "developer", "user", "human", "assistant", "tool", "function", "tool_result"})

_FOREIGN_KEYS: Final = frozenset({"parts", "contents", "message_type", "message", "payload", "parentUuid", "turn_idx"})
"""Members of messages of other formats."""

_LOOKED_FOR: Final = _FOREIGN_KEYS | MOLTIS | EVENTS

_FOREIGN_ROOTS: Final = frozenset(
    {"trajectory_format", "schema_version", "environment", "replay_config", "projectHash", "mistake_agent", "eval"}
)
"""Members of the documents of other formats that have lists of messages too."""

_FOREIGN_BLOCKS: Final = frozenset({"tool_use", "tool_result", "tool-call", "tool-result", "toolCall", "toolRequest"})

_ITEMS: Final = ("function_call", "function_call_output")
"""Items of the Responses API, between which plain messages may stand."""

_PLAIN_KEYS: Final = frozenset(
    "role content name id refusal annotations audio weight tool_calls function_call tool_call_id reasoning "
    "reasoning_content timestamp created_at created metadata _metadata".split()
)
_TEXT_ACTIONS: Final = regex.lazy(
    r"<(?:function=|tool_call|tool_use|invoke|function_calls|execute_|read_file|write_to_file|returncode)|```\w*\n",
    re.I,
)
"""Calls written into prose: the mark of formats that only look like plain chats."""


def sniff(probe: Probe) -> str | None:
    """Claim messages with ``tool_calls`` or results of role ``tool``, or a plain chat."""
    messages, roots = sample(probe)
    if any(not _FOREIGN_ROOTS.isdisjoint(root) or "mini_version" in _info(root) or is_event(root) for root in roots):
        return None
    known = [m for m in messages if isinstance(m, dict) and isinstance(m.get("role"), str)]
    if not known or any(map(_is_foreign, known)) or any(map(is_header, probe.dicts)):
        return None
    strays = strays_of([m["role"] for m in known], ROLES)
    if strays is None:
        return None
    if len(known) < len(messages) and any(
        isinstance(m, dict) and "role" not in m and m.get("type") in _ITEMS for m in messages
    ):
        return None
    if answers_in_text(known):
        return None
    has_calls = any(map(_asks, known))
    has_results = any(m["role"] in _RESULTS for m in known)
    if not has_calls and not (has_results and any(map(is_api_result, known))):
        # Nothing here is the API's. Messages of role tool may answer calls that stand in the prose.
        found = dialect_of(prose(m.get("content")) for m in known if m["role"] == "assistant")
        if found is not None and (found is not FENCED or not has_results):
            return None
    elif any("<tool_call>" in prose(m.get("content")) for m in known if m["role"] == "assistant" and not _asks(m)):
        return None
    if has_calls or has_results:
        return "messages with tool_calls, or results with role tool"
    if is_history(known):
        return None
    roles = {m["role"] for m in known}
    if not HARNESS.issuperset(strays):
        return None
    if {"user", "assistant"} <= roles and all(_PLAIN_KEYS.issuperset(m) and not _acts_in_text(m) for m in known):
        return "messages with role and content"
    return None


def sample(probe: Probe) -> tuple[list[Any], list[dict[str, Any]]]:
    """Messages of a probe, whatever is around them, and the objects around them."""
    return probe.once(_sample)


def _sample(probe: Probe) -> tuple[list[Any], list[dict[str, Any]]]:
    if probe.document is None:
        lines = [r for r in probe.dicts if is_message(r)]
        if lines:
            return lines, []
    values = probe.records if probe.document is None else [probe.document]
    messages: list[Any] = []
    roots: list[dict[str, Any]] = []
    for value in values:
        if is_message(value):
            messages.append(value)
        elif isinstance(value, dict):
            roots.append(value)
        for row in rows_of(value) or []:
            roots.append(dict(row.facts))
            messages += row.messages
            response = response_of(row.facts) if row.facts else None
            if response is not None:
                messages.append(response)
            if len(messages) > MAX_SAMPLE:
                return messages, roots
    return messages, roots


def _info(root: dict[str, Any]) -> Any:
    info = root.get("info")
    return info if isinstance(info, dict) else {}


def _is_foreign(message: dict[str, Any]) -> bool:
    # All messages are asked this: most have no member that any of these looks for.
    if not _LOOKED_FOR.isdisjoint(message) and (
        not _FOREIGN_KEYS.isdisjoint(message) or is_moltis(message) or is_event(message)
    ):
        return True
    content = message.get("content")
    if isinstance(content, list):
        return any(
            isinstance(b, dict) and (str(b.get("type")) in _FOREIGN_BLOCKS or "toolUse" in b or "toolResult" in b)
            for b in content
        )
    return message["role"] == "user" and isinstance(content, str) and "<returncode>" in content[:4096]


def _asks(message: dict[str, Any]) -> bool:
    """Whether an assistant calls tools by the API."""
    if _CALLS.isdisjoint(message):
        return False
    listed = message.get("tool_calls") or message.get("toolCalls")
    single = message.get("function_call")
    if not listed and single is None:
        return False
    if message.get("role") != "assistant" and sub_agent(str(message.get("role"))) is None:
        return False
    calls = from_text(listed)
    return (isinstance(calls, list) and bool(calls)) or isinstance(single, dict)


def is_api_result(message: dict[str, Any]) -> bool:
    """Whether a message is a result as the API has it: one that names its call or its tool."""
    return message.get("role") in _RESULTS and not {
        "tool_call_id",
        "tool_use_id",
        "toolCallId",
        "call_id",
        "name",
    }.isdisjoint(message)


def answers_in_text(messages: list[dict[str, Any]]) -> bool:
    """Whether results stand in a user's messages as OpenHands writes them, where it works without the API's tools.

    The responses beside such a history have native calls all the same: it makes them of the text.
    """
    return any(
        m.get("role") == "user" and content_text(m.get("content")).lstrip().startswith(RESULT_OF) for m in messages
    )


def _acts_in_text(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and _TEXT_ACTIONS.search(prose(message.get("content"))) is not None
