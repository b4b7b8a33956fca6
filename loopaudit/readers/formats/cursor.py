"""Agent transcripts of Cursor: one message a line, without ids and mostly without results.

**Written by** Cursor's editor and command line, to
``~/.cursor/projects/<folder>/agent-transcripts/<id>.jsonl``. Seen on real files of 2026.

**Not carried**: times, tokens, models, tool schemas, ids of calls, and in the files seen results
altogether: calls stay unanswered, so loops show in the calls alone. Many files hold only prose.

**Conversation.** One file is one conversation. **Batch.** One assistant message.

**Turn.** A user message. What the person typed stands inside ``<user_query>``; links and attached
files around it are left out.

**Failure.** ``is_error`` of ``tool_result`` blocks where there are any; they answer by id, else in order.
"""

from __future__ import annotations

from typing import Final

from loopaudit.core import regex
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Content, content_of, emit_losses, emit_response
from loopaudit.readers.kit.claude_words import typed
from loopaudit.readers.kit.fields import malformed, objects, unknown_record
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.text_calls import elements
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_KEYS: Final = frozenset({"role", "message", "timestamp", "id", "type"})
_QUERY: Final = regex.lazy(r"<(?P<tag>user_query)>")


def sniff(probe: Probe) -> str | None:
    """Claim records of ``role`` and ``message`` with ``content``, and nothing else."""
    if probe.shape != "records" or not probe.dicts:
        return None
    found = 0
    for record in probe.dicts:
        if not _KEYS.issuperset(record) or record.get("role") not in ("user", "assistant"):
            return None
        message = record.get("message")
        if isinstance(message, dict) and "role" not in message and "content" in message:
            found += 1
    return "records of role and message.content" if found else None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order."""
    pairing = Pairing(emit)
    for record, line in objects(source, emit):
        role, message = record.get("role"), record.get("message")
        if not isinstance(message, dict):
            malformed(emit, "a record without its message", line)
            continue
        content = content_of(message.get("content"))
        if role == "assistant":
            pairing.asked(emit_response(emit, content, key=f"line {line}", line=line))
        elif role == "user":
            emit_losses(emit, content, line=line)
        else:
            unknown_record(emit, role, line)
            continue
        for answer in content.answers:
            pairing.answer_block(answer, line=line)
        if role == "user":
            _turn(emit, content, line)


def _turn(emit: Emitter, content: Content, line: int) -> None:
    texts = list(elements(content.text, _QUERY)) or [text for text in map(typed, content.texts) if text]
    if texts or (content.media and not content.answers):
        emit.turn("\n".join(texts), line=line, id=f"line {line}")


READER = Reader(
    id="cursor",
    title="Cursor agent transcript",
    looked_for="objects of role and message with message.content, and nothing else",
    sniff=sniff,
    read=read,
    carries={"text": "assistant prose", "batches": "one assistant message"},
    evidence="data",
    written_by="Cursor",
    where="~/.cursor/projects/<folder>/agent-transcripts/<id>.jsonl",
)
