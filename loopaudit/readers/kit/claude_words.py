"""What the words of Claude Code tell that no field does.

Who wrote a message of the role ``user``, why a call that is flagged as failed never ran, and
which ids are placeholders that somebody put in before publishing. All expressions are anchored
at the beginning of a text and look at a bounded part of it.
"""

from __future__ import annotations

import re
from typing import Final

from loopaudit.core import regex
from loopaudit.core.events import Status

INTERRUPTED: Final = "[Request interrupted"
"""Beginning of the record that an interruption leaves."""

NOT_TYPED: Final = (
    INTERRUPTED,
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-input>",
    "<bash-stdout>",
    "<task-notification>",
    "Caveat: The messages below",
    "<command-name>",
)
"""Beginnings of messages that the harness wrote itself, built-in commands among them.

A message that begins with ``<command-message>`` is not here: it starts a skill or a command of
one's own, which a person typed as a task.
"""

CLEAR: Final = "<command-name>/clear<"
"""Beginning of the record of the command that empties the context."""

SKILL: Final = "Base directory for this skill:"
"""Beginning of the text that a skill puts into the conversation."""

CONTINUED: Final = "Continue from where you left off."
"""What the harness tells the model when an interrupted session is resumed."""

AROUND: Final = ("system-reminder", "ide_opened_file", "ide_selection")
"""Tags of what editors and reminders put before a person's text, or in its place."""

PREFIX: Final = 400
"""Characters at the beginning of a failing result that are looked at."""


def typed(text: str) -> str:
    """A message without the elements of :data:`AROUND` and the white space before its text."""
    at = 0
    while True:
        while text[at : at + 1].isspace():
            at += 1
        if not text.startswith("<", at):
            return text[at:]
        for tag in AROUND:
            if text.startswith(f"<{tag}>", at):
                end = text.find(f"</{tag}>", at)
                if end >= 0:
                    at = end + len(tag) + 3
                    break
        else:
            return text[at:]


def blanked(id: str) -> bool:
    """Whether an id is plainly a placeholder (``[trimmed for fixture]``, ``REDACTED``)."""
    return " " in id or id[:1] in "[<({*" or id.upper() in _PLACEHOLDERS


_PLACEHOLDERS: Final = frozenset({"REDACTED", "REMOVED", "TRIMMED", "SCRUBBED", "HIDDEN"})

_WRAPPER = regex.lazy(r"\s*(?:<(?:tool_use_)?error>\s*)?(?:Error: )?")

_EXIT = regex.lazy(r"Exit code (\d{1,10})\b")

_DENIED = regex.lazy(
    r"The user doesn.t want to proceed with this tool use|User rejected tool use"
    r"|The agent proposed a plan that was rejected|Permission (?:to use|for this) .{0,300}?\bdenied\b"
    r"|Claude requested permissions? to |This (?:command|tool|action) requires approval"
    r"|PreToolUse:\S+ .{0,200}?(?:hook error|denied this tool|blocking error)|Hook PreToolUse\S* denied"
    r"|Execution stopped by PreToolUse hook|\w{1,80} operation blocked by hook|Blocked: "
    r"|[^\n]{0,200}(?:denied by your permission settings|blocked\. For security, Claude Code may only)",
    re.DOTALL,
)
_CANCELLED = regex.lazy(
    r"\[Request interrupted by user|The user doesn.t want to take this action right now"
    r"|Sibling tool call errored|Cancelled: parallel tool call|Streaming fallback - tool execution discarded"
    r"|Interrupted by user|Request was aborted|\[Tool (?:call|use) (?:interrupted|skipped|cancelled)"
)
_BY_KIND: Final[dict[str, Status]] = {"interrupted": "cancelled", "cancelled": "cancelled"}


def refusal(text: str, denial_kind: str | None = None) -> Status | None:
    """Why a call that is flagged as failed never ran: ``denied``, ``cancelled``, or ``None``.

    ``denied`` is a person's, a permission rule's or a hook's refusal; ``cancelled`` is an
    interruption, or a call of the same response that failed first. ``denial_kind`` is the
    harness's own word for it (``user-rejected``), which newer writers put beside the result.
    """
    if denial_kind is not None:
        return _BY_KIND.get(denial_kind, "denied")
    start = _start(text)
    if _CANCELLED.match(text, start):
        return "cancelled"
    return "denied" if _DENIED.match(text, start, start + PREFIX) else None


def exit_code(text: str) -> int | None:
    """The exit code that a failing shell result begins with, if it does."""
    match = _EXIT.match(text, _start(text))
    return int(match[1]) if match else None


def _start(text: str) -> int:
    match = _WRAPPER.match(text)
    return match.end() if match else 0
