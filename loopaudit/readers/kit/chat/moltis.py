"""Tells messages of a moltis session from other chats with the same roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_moltis(message: Mapping[str, Any]) -> bool:
    """Whether a message has what only moltis writes: its own roles, or its own bookkeeping."""
    role = message.get("role")
    if not isinstance(role, str) or "type" in message:
        return False
    if role == "tool_result" and "tool_name" in message and "tool_call_id" in message:
        return "success" in message
    created = message.get("created_at")
    return "run_id" in message and "seq" in message and isinstance(created, int)
