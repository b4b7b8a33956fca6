"""Session files of the pi coding agent, and of OpenClaw, which is built on it.

**Written by** pi to ``~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`` and OpenClaw to
``~/.openclaw/agents/<agent>/sessions/<id>.jsonl``: a ``session`` header, then entries. Checked on real files without
ids (version 1) and of version 3. Branches of the tree stand in the order of writing and are
told in it.

**Turn** = a message of role user; ``custom_message`` is context that an extension adds, ``bashExecution`` a
command the person ran. **Batch** = one assistant message. A response that was ``aborted``, or ended
in an error, may hold calls that never ran: they stay unanswered. ``aborted`` is an ``interrupt``
boundary, ``compaction`` a compaction, ``branch_summary`` a ``resume``.

**Failure.** ``isError`` is a flag, also for commands that end with another exit code than 0; the
code is read from the last line of such an output. What the person aborted is ``cancelled``.

**Not carried**: tool schemas, the system prompt, sub-agents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import flag, malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.whole import records, samples, tokens, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset(
    {"model_change", "thinking_level_change", "custom", "custom_message", "label", "session_info", "leaf"}
)
SILENT_ROLES: Final = frozenset({"bashExecution", "custom", "hookMessage", "system"})
SUMMARIES: Final = frozenset({"compactionSummary", "branchSummary"})

_EXIT: Final = regex.lazy(r"\bcommand exited with code (-?\d{1,10})\s*$", re.IGNORECASE)
_ABORTED: Final = regex.lazy(
    r"(?:^|\n)\s*(?:operation|command|tool execution|request)(?: was)? aborted\W*$", re.IGNORECASE
)


def sniff(probe: Probe) -> str | None:
    """Claim a ``session`` header with a cwd, or messages with toolCall blocks or role toolResult."""
    for record in samples(probe):
        kind = string(record.get("type"))
        if kind == "session" and "cwd" in record and "timestamp" in record:
            return "a session header with cwd"
        message = record.get("message")
        if kind != "message" or not isinstance(message, dict) or "uuid" in record:
            continue
        if message.get("role") == "toolResult" and "toolCallId" in message:
            return "messages of role toolResult"
        content = message.get("content")
        if isinstance(content, list) and any(mapping(block).get("type") == "toolCall" for block in content):
            return "messages with toolCall blocks"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every entry in file order."""
    reading = _Reading(emit)
    for record, line in records(source, emit):
        reading.take(record, line)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.responses = 0

    def take(self, record: Mapping[str, Any], line: int) -> None:
        """One entry by its type."""
        kind = string(record.get("type"))
        at = moment(record.get("timestamp"))
        if kind == "session":
            name = string(record.get("id"))
            if name is not None:
                self.emit.session(name)
        elif kind == "message":
            message = record.get("message")
            if isinstance(message, dict):
                self._message(message, line, at)
            else:
                malformed(self.emit, "an entry without its message", line)
        elif kind == "compaction":
            self.emit.boundary("compaction", line=line, at=at)
        elif kind == "branch_summary":
            self.emit.boundary("resume", "branch_summary", line=line, at=at)
        elif kind not in SILENT:
            unknown_record(self.emit, kind, line)

    def _message(self, message: Mapping[str, Any], line: int, at: Any) -> None:
        role = string(message.get("role"))
        content = message.get("content")
        if role == "assistant":
            self._assistant(message, content, line, at)
        elif role == "toolResult":
            self._result(message, content, line, at)
        elif role == "user":
            if not isinstance(content, (str, list)) or not content:
                malformed(self.emit, "a message of a person without content", line)
            self.emit.turn(content_text(content), line=line, at=at)
        elif role in SUMMARIES:
            self.emit.boundary("compaction" if role == "compactionSummary" else "resume", str(role), line=line, at=at)
        elif role not in SILENT_ROLES:
            unknown_record(self.emit, role, line)

    def _assistant(self, message: Mapping[str, Any], content: Any, line: int, at: Any) -> None:
        self.responses += 1
        key = f"r{self.responses}"
        model = string(message.get("model"))
        if not isinstance(content, list):
            malformed(self.emit, "a response whose content is no list of blocks", line)
            content = [{"type": "text", "text": content}] if isinstance(content, str) else []
        for block in content:
            kind = string(mapping(block).get("type"))
            if kind == "text" and isinstance(block.get("text"), str):
                if block["text"].strip():
                    self.emit.say(block["text"], key=key, line=line, at=at, model=model)
            elif kind == "toolCall":
                name = tool_name(self.emit, block.get("name"), line)
                if not isinstance(block.get("arguments", {}), (dict, str)):
                    malformed(self.emit, "a call whose arguments are no object", line)
                given = string(block.get("id"))
                self.emit.call(name, block.get("arguments", {}), id=given, key=key, line=line, at=at, model=model)
            elif kind not in ("thinking", "image"):
                malformed(self.emit, "a block of a response that cannot be used", line)
        found = mapping(message.get("usage"))
        usage = tokens(
            found.get("input"), found.get("output"), read=found.get("cacheRead"), written=found.get("cacheWrite")
        )
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)
        if message.get("stopReason") == "aborted":
            self.emit.boundary("interrupt", "aborted", line=line, at=at)
        elif message.get("stopReason") == "error":
            self.emit.problem("recorded_error", "a response ended in an error", line=line)

    def _result(self, message: Mapping[str, Any], content: Any, line: int, at: Any) -> None:
        given = string(message.get("toolCallId"))
        failed = flag(message.get("isError"))
        if given is None or (failed is None and "isError" in message):
            malformed(self.emit, "a result without the id of its call, or with a flag that is none", line)
        code = aborted = None
        if failed:
            tail = content_text(content)[-400:]
            aborted = _ABORTED.search(tail)
            code = _EXIT.search(tail)
        self.emit.result(
            given,
            content,
            failed=failed,
            status="cancelled" if aborted else None,
            exit_code=int(code[1]) if code else None,
            name=string(message.get("toolName")),
            line=line,
            at=at,
        )


READER: Final = Reader(
    id="pi",
    title="pi and OpenClaw session",
    looked_for="type session with cwd, then type message with roles user, assistant, toolResult; toolCall blocks",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "flag, exit code of commands",
        "tokens": "per response",
        "time": "yes",
        "text": "yes",
        "batches": "one assistant message",
    },
    written_by="pi, OpenClaw",
    where="~/.pi/agent/sessions, ~/.openclaw/agents/<agent>/sessions",
)
