"""Tells session files of goose and streams of AG-UI from other chats with the same roles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core import regex


def is_header(record: Mapping[str, Any]) -> bool:
    """Whether a record is the first line of a session file: metadata of the session."""
    return "working_dir" in record and "message_count" in record and "role" not in record


RETURN_CODE: Final = regex.lazy(
    r"\s*(?:<exception>.*?</exception>\s*)?<returncode>(-?\d{1,10})</returncode>", re.DOTALL
)
"""How the result of a command begins."""


def return_code(text: str) -> int | None:
    """The return code at the beginning of a result."""
    found = RETURN_CODE.match(text[:8192])
    return int(found[1]) if found else None


def is_mini(messages: list[Any]) -> bool:
    """Whether a user's message among the first ones is the result of a command."""
    for message in messages[:50]:
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, list) and content and isinstance(content[0], dict):
                content = content[0].get("text")
            if isinstance(content, str) and RETURN_CODE.match(content[:8192]):
                return True
    return False


def mini_root(root: Any) -> str | None:
    """How a document says that mini-swe-agent wrote it; ``None`` if it does not."""
    if isinstance(root, dict):
        name, info = root.get("trajectory_format"), root.get("info")
        if isinstance(name, str) and name.startswith("mini-swe-agent"):
            return "trajectory_format mini-swe-agent"
        if isinstance(info, dict) and "mini_version" in info:
            return "info with mini_version"
    return None


MOLTIS: Final = frozenset({"tool_name", "run_id"})
"""Members of which :func:`is_moltis` asks for one."""

EVENTS: Final = frozenset({"type"})
"""The same of :func:`is_event`."""


def is_moltis(message: Mapping[str, Any]) -> bool:
    """Whether a message has what only moltis writes: its own roles, or its own bookkeeping."""
    role = message.get("role")
    if not isinstance(role, str) or "type" in message:
        return False
    if role == "tool_result" and "tool_name" in message and "tool_call_id" in message:
        return "success" in message
    created = message.get("created_at")
    return "run_id" in message and "seq" in message and isinstance(created, int)


def is_event(value: Mapping[str, Any]) -> bool:
    """Whether an object is an event of AG-UI, some of which hold messages."""
    kind = value.get("type")
    return isinstance(kind, str) and kind.startswith(("RUN_", "MESSAGES_SNAPSHOT", "TEXT_MESSAGE_", "TOOL_CALL_"))
