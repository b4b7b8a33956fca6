"""Session files of Factory's droid: one JSON record a line.

**Written by** droid, to ``~/.factory/sessions/<folder>/<id>.jsonl``. Seen on one small real file
(``version`` 2, 2026), which holds no calls; the blocks are those of the Messages API.

**Not carried**: tokens and models (kept in a settings file beside it), tool schemas.

**Conversation.** One file is one conversation, named by the ``session_start`` record.

**Batch.** One assistant record. **Turn.** A user record with text besides results and reminders,
unless ``message.visibility`` is ``user_only``: those are notices for the person.

**Failure.** ``is_error`` on results, as the Messages API has it.

**Boundaries**: ``compaction_state`` records, and ``session_end``.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.text import one_line
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import content_of, emit_answers, emit_losses, emit_response, usage_from
from loopaudit.readers.kit.claude_words import INTERRUPTED, typed
from loopaudit.readers.kit.copies import Copies
from loopaudit.readers.kit.fields import malformed, mapping, moment, objects, string, unknown_record
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SILENT: Final = frozenset({"todo_state", "session_settings", "session_title"})
"""Record types that carry no message of the conversation."""


def sniff(probe: Probe) -> str | None:
    """Claim a ``session_start`` record, or ``message`` records with ``message.role``."""
    if probe.shape != "records":
        return None
    for record in probe.dicts:
        if record.get("type") == "session_start" and "id" in record and ("owner" in record or "cwd" in record):
            return "a session_start record with id and owner"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order."""
    emit.knows_success()
    copies = Copies()
    for record in objects(source, emit):
        kind = string(record.get("type"))
        emit.at(time=moment(record.get("timestamp")))
        if kind == "message":
            if copies.seen(string(record.get("id")), None, None):
                emit.copied("repeated_record", "this record stood before")
            else:
                _message(emit, record)
        elif kind == "session_start":
            emit.session(string(record.get("id")) or "")
        elif kind == "compaction_state":
            emit.boundary("compaction")
        elif kind == "session_end":
            emit.boundary("end", string(record.get("reason")) or "")
        elif kind not in SILENT:
            unknown_record(emit, kind)


def _message(emit: Emitter, record: dict[str, Any]) -> None:
    message = mapping(record.get("message"))
    role = message.get("role")
    content = content_of(message.get("content"))
    if role == "assistant":
        key = string(record.get("id")) or f"line {emit.line}"
        usage = usage_from(message.get("usage"))
        emit_response(emit, content, key=key, model=string(message.get("model")), usage=usage)
    elif role == "user":
        emit_losses(emit, content)
        emit_answers(emit, content)
        texts = [text for text in map(typed, content.texts) if text]
        if texts and texts[0].startswith(INTERRUPTED):
            emit.boundary("interrupt", one_line(texts[0], 80))
        elif message.get("visibility") != "user_only" and (texts or (content.media and not content.answers)):
            emit.turn("\n".join(texts), is_own=True)
    else:
        malformed(emit, "a message without the role of a user or an assistant")


READER = Reader(
    id="droid",
    title="Factory droid session",
    looked_for="a session_start record with id, owner and cwd, then records of type message",
    sniff=sniff,
    read=read,
    carries={
        "results": "tool_result blocks",
        "failure": "is_error",
        "time": "per record",
        "text": "assistant prose",
        "batches": "one assistant record",
    },
    evidence="data",
    written_by="Factory droid (session version 2 seen)",
    where="~/.factory/sessions/<folder>/<id>.jsonl",
)
