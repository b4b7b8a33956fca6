"""Agent transcripts of Cursor: one message a line, without ids and mostly without results.

**Written by** Cursor's editor and command line, to
``~/.cursor/projects/<folder>/agent-transcripts/<id>.jsonl``. Seen on real files of 2026.

The editor keeps its conversations in a SQLite store as well (``User/globalStorage/state.vscdb``, table
``cursorDiskKV``), with times and with results in ``toolFormerData``. Rows ``composerData:<conversation>`` list the
messages of rows ``bubbleId:<conversation>:<message>``, older ones hold them. It is opened read-only, as it lies; each
conversation in it is one, a message is a batch, and the place of a finding is the number of its message. Other rows,
secrets among them, are not read. The store is known from public programs that read it; no real one was seen.

**Not carried** by transcripts: times, tokens, models, tool schemas, ids of calls, and in the files seen results
altogether: calls stay unanswered, so loops show in the calls alone. Many files hold only prose.

**Conversation.** One file is one conversation. **Batch.** One assistant message.

**Turn.** A user message. What the person typed stands inside ``<user_query>``; links and attached
files around it are left out.

**Failure.** ``is_error`` of ``tool_result`` blocks where there are any; they answer by id, else in order.
In the store the status ``error`` is a flag, and ``cancelled`` a cancelled call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Content, content_of, emit_losses, emit_response
from loopaudit.readers.kit.claude_words import typed
from loopaudit.readers.kit.fields import malformed, moment, objects, string, unknown_record
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.sqlite import Columns, columns_of, count_log, decoded, rows
from loopaudit.readers.kit.text_calls import elements
from loopaudit.readers.kit.whole import Fresh, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_KEYS: Final = frozenset({"role", "message", "timestamp", "id", "type"})
ENDED: Final = frozenset({"completed", "success", "error", "cancelled"})
"""How a call of the store ended; one of another status has no result yet."""

_QUERY: Final = regex.lazy(r"<(?P<tag>user_query)>")


def sniff(probe: Probe) -> str | None:
    """Claim records of ``role`` and ``message`` with ``content`` and nothing else, or the editor's store."""
    if _is_store(columns_of(probe)):
        return "a store with the table cursorDiskKV"
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
    """Report everything in file order, and the conversations of a store in the order in which they began."""
    if source.path is not None and _is_store(columns_of(source.probe())):
        _store(source.path, emit)
        return
    pairing = Pairing(emit)
    for record in objects(source, emit):
        role, message = record.get("role"), record.get("message")
        if not isinstance(message, dict):
            malformed(emit, "a record without its message")
            continue
        content = content_of(message.get("content"))
        if role == "assistant":
            pairing.asked(emit_response(emit, content, key=f"line {emit.line}"))
        elif role == "user":
            emit_losses(emit, content)
        else:
            unknown_record(emit, role)
            continue
        for answer in content.answers:
            pairing.answer_block(answer)
        if role == "user":
            _turn(emit, content)


def _is_store(columns: Columns) -> bool:
    return {"key", "value"} <= columns.get("cursorDiskKV", frozenset())


_CONVERSATIONS: Final = """
    WITH composer AS (
        SELECT substr(key, 14) AS id, CAST(value AS TEXT) AS data FROM cursorDiskKV
        WHERE key >= 'composerData:' AND key < 'composerData;' AND json_valid(CAST(value AS TEXT))
    )
    SELECT id, coalesce(json_extract(data, '$.fullConversationHeadersOnly'), json_extract(data, '$.conversation'))
    FROM composer ORDER BY json_extract(data, '$.createdAt'), id
"""
_MESSAGES: Final = """
    SELECT coalesce(CAST(message.value AS TEXT), listed.value) FROM json_each(?) AS listed
    LEFT JOIN cursorDiskKV AS message ON message.key = ? || json_extract(listed.value, '$.bubbleId')
    WHERE listed.type = 'object'
"""
"""In the order of the list: what is sorted would be held, and a message may be large."""


def _store(path: Path, emit: Emitter) -> None:
    """Report the conversations of the editor's store."""
    count_log(path, emit)
    for name, listed in rows(path, _CONVERSATIONS, emit):
        if not isinstance(listed, str) or not listed.startswith("["):
            continue  # an empty window
        emit.session(str(name))
        fresh = Fresh()
        for place, (value,) in enumerate(rows(path, _MESSAGES, emit, (listed, f"bubbleId:{name}:")), 1):
            message = decoded(value)
            if isinstance(message, dict):
                _message(emit, message, fresh, place)
            else:
                malformed(emit, "a message of the store that is no object", place)


def _message(emit: Emitter, message: dict[str, Any], fresh: Fresh, place: int) -> None:
    """A person's message (type 1), or prose or a call of the model (type 2)."""
    text = string(message.get("text")) or ""
    emit.at(place, moment(message.get("createdAt")))
    if message.get("type") == 1:
        if text:
            emit.turn(text, is_own=True)
        return
    key = f"message {place}"
    if text.strip():
        emit.say(text, key=key)
    used = message.get("toolFormerData")
    if not isinstance(used, dict) or not string(used.get("name")):
        return  # prose, thoughts, or a call that had only begun
    given: Any = next((used[name] for name in ("rawArgs", "params") if used.get(name)), {})
    id_ = fresh.id(string(used.get("toolCallId")))
    name = tool_name(emit, used.get("name"))
    call = emit.call(name, given if isinstance(given, (str, dict)) else {}, id=id_, key=key)
    status = string(used.get("status"))
    if call is not None and status in ENDED:
        output = next((used[name] for name in ("result", "error") if used.get(name)), "")
        failed = status in ("error", "cancelled")
        emit.result(call.id, output, failed=failed, status="cancelled" if status == "cancelled" else None)


def _turn(emit: Emitter, content: Content) -> None:
    texts = list(elements(content.text, _QUERY)) or [text for text in map(typed, content.texts) if text]
    if texts or (content.media and not content.answers):
        emit.turn("\n".join(texts), is_own=True)


READER = Reader(
    id="cursor",
    title="Cursor agent transcript",
    looked_for="objects of role and message with message.content, and nothing else; "
    "a SQLite store with the table cursorDiskKV",
    sniff=sniff,
    read=read,
    carries={
        "results": "in the store",
        "failure": "the status in the store",
        "time": "in the store",
        "text": "assistant prose",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="Cursor",
    where="~/.cursor/projects/<folder>/agent-transcripts/<id>.jsonl, User/globalStorage/state.vscdb",
)
