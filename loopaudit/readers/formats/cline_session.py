"""``session.messages.json`` of Cline's newer SDK: one JSON document a session.

**Written by** the SDK behind Cline's command line and desktop app, to
``~/.cline/data/sessions/<id>/<id>.messages.json``. Seen on one real file (``version`` 1, 2026).

**Not carried**: tool schemas.

**Conversation.** A document is one, named by ``sessionId``. An ``agent`` other than ``lead`` is a
sub-agent: its file has no turns of the main agent.

**Batch.** One assistant message. **Turn.** A user message with text besides results.

**Failure.** ``is_error``; and where a tool answers several queries at once, all of them having
``success: false``.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.canonical import parse
from loopaudit.core.events import Usage
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Answer, content_of, emit_answers, emit_losses, emit_response
from loopaudit.readers.kit.claude_words import typed
from loopaudit.readers.kit.cline import without_environment
from loopaudit.readers.kit.fields import (
    count,
    documents,
    entries,
    flag,
    has,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
)
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

MAIN: Final = "lead"
"""How the main agent is called."""

_TOKENS: Final = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


def sniff(probe: Probe) -> str | None:
    """Claim an object with ``sessionId``, ``messages`` and ``agent`` or ``system_prompt``."""
    roots = documents(probe)
    if len(roots) != 1 or not isinstance(roots[0], dict) or "projectHash" in roots[0]:
        return None
    is_session = has(roots[0], "sessionId", "messages", "version")
    is_cline = is_session and ("agent" in roots[0] or "system_prompt" in roots[0])
    return "an object with version, agent, sessionId and messages" if is_cline else None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in order of the messages."""
    root = source.document()
    if not isinstance(root, dict) or not isinstance(root.get("messages"), list):
        not_a_record(emit)
        return
    emit.knows_success()
    emit.session(string(root.get("sessionId")) or "")
    agent = string(root.get("agent")) or MAIN
    agent = "" if agent == MAIN else agent
    for number, message in enumerate(entries(root["messages"], emit), 1):
        role = message.get("role")
        emit.at(time=moment(message.get("ts")), agent=agent)
        content = content_of(message.get("content"))
        if role == "assistant":
            metrics = mapping(message.get("metrics"))
            usage = Usage(*(count(metrics.get(name)) for name in _TOKENS))
            emit_response(
                emit,
                content,
                key=string(message.get("id")) or f"message {number}",
                model=string(mapping(message.get("modelInfo")).get("id")),
                usage=None if usage == Usage() else usage,
            )
        elif role == "user":
            emit_losses(emit, content)
            for answer in content.answers:
                _look_inside(answer)
            emit_answers(emit, content)
            texts = [text for text in (typed(without_environment(text)).rstrip() for text in content.texts) if text]
            if texts or (content.media and not content.answers):
                emit.turn("\n".join(texts), id=f"message {number}")
        else:
            malformed(emit, "a message without the role of a user or an assistant")


def _look_inside(answer: Answer) -> None:
    """A tool that answers several queries tells for each whether it succeeded."""
    value: Any = parse(answer.output) if isinstance(answer.output, str) else answer.output
    flags = [flag(mapping(entry).get("success")) for entry in (items(value) or [value])]
    if flags and all(success is False for success in flags):
        answer.failed = True


READER = Reader(
    id="cline-session",
    title="Cline SDK session",
    looked_for="an object with version, agent, sessionId, system_prompt and messages",
    sniff=sniff,
    read=read,
    carries={
        "results": "tool_result blocks",
        "failure": "is_error, and success of each query",
        "tokens": "metrics per response",
        "time": "per message",
        "subagents": "in files of their own",
        "text": "assistant prose",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="Cline SDK (version 1 seen)",
    where="~/.cline/data/sessions/<id>/<id>.messages.json",
)
