"""Tells session files of goose from other chats with the same roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_header(record: Mapping[str, Any]) -> bool:
    """Whether a record is the first line of a session file: metadata of the session."""
    return "working_dir" in record and "message_count" in record and "role" not in record
