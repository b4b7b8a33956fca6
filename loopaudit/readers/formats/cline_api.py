"""``api_conversation_history.json`` of Cline, Roo Code and Kilo Code: what was sent to the model.

**Written by** these editor extensions, to ``<editor's global storage>/<extension>/tasks/<id>/``. The
file format was seen on real files, none of which could be kept; the words are known from source.

**Not carried**: tool schemas, exit codes (but in Roo Code), ids of calls written as XML.

**Conversation.** One file is one task. **Batch.** One assistant message: its ``tool_use`` blocks, or
else the one call that stands in its text as XML; the harness runs no second one.

**Results** are ``tool_result`` blocks, or user text that begins ``[tool for 'what'] Result:``. Those
answer the calls of the newest response, by name, else in order.

**Turn.** What a person said: text in ``<task>``, ``<feedback>``, ``<answer>``, ``<user_message>``, or a
message without any mark of the harness.

**Failure.** ``is_error``, or the harness's fixed first sentence for a failed call; refusals are
``denied``. The complaint about a response without a call is a ``recorded_guard`` boundary, a
resumed task a ``resume``.
"""

from __future__ import annotations

from typing import Any

from loopaudit.core.events import Usage
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Asked, Content, content_of, emit_losses, emit_response
from loopaudit.readers.kit.cline import answer, is_history, parsed, xml_call
from loopaudit.readers.kit.fields import count, documents, entries, malformed, mapping, moment, not_a_record, string
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source


def sniff(probe: Probe) -> str | None:
    """Claim a bare list of messages with times or the words of the harness."""
    roots = documents(probe)
    if len(roots) != 1 or not isinstance(roots[0], list):
        return None
    return "a list of role and content with ts, or with results as user text" if is_history(roots[0]) else None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in order of the list."""
    root = source.document()
    if not isinstance(root, list):
        not_a_record(emit, 0)
        return
    emit.knows_success()
    pairing = Pairing(emit)
    for number, message in enumerate(entries(root, emit), 1):
        role = message.get("role")
        emit.at(time=moment(message.get("ts")))
        content = content_of(message.get("content"))
        if role == "assistant":
            if not content.calls:
                _xml(content)
            key = f"message {number}"
            model = string(mapping(message.get("modelInfo")).get("modelId"))
            usage = _usage(mapping(message.get("metrics")).get("tokens"))
            pairing.asked(emit_response(emit, content, key=key, model=model, usage=usage))
        elif role == "user":
            emit_losses(emit, content)
            _user(emit, pairing, content, number)
        else:
            malformed(emit, "a message without the role of a user or an assistant")


def _xml(content: Content) -> None:
    """Take the call that stands in the text for a call, and out of the text."""
    found = xml_call(content.text)
    if found is not None:
        name, arguments = found
        content.calls.append(Asked(name, arguments, None))
        content.texts = [content.text.partition(f"<{name}>")[0].rstrip()]


def _usage(tokens: Any) -> Usage | None:
    counts = mapping(tokens)
    usage = Usage(count(counts.get("prompt")), count(counts.get("completion")), count(counts.get("cached")))
    return None if usage == Usage() else usage


def _user(emit: Emitter, pairing: Pairing, content: Content, number: int) -> None:
    for block in content.answers:
        plain = isinstance(block.output, str) and not block.failed
        pairing.answer_block(answer(block.name, block.output, block.call) if plain else block)
    found = parsed(content.texts)
    for text in found.answers:
        pairing.answer_block(text)
    if found.resumed:
        emit.boundary("resume", "task resumption")
    if found.guard:
        emit.boundary("recorded_guard", "no tool used")
    texts = [text for text in found.texts if text]
    if texts or (content.media and not content.answers and not found.answers):
        emit.turn("\n".join(texts), id=f"message {number}")


READER = Reader(
    id="cline-api",
    title="Cline or Roo Code API history",
    looked_for="a list of role and content with ts, results as user text, environment_details, task",
    sniff=sniff,
    read=read,
    carries={
        "results": "tool_result blocks, or user text by name and order",
        "failure": "is_error, else the harness's fixed sentence; refusals told apart",
        "tokens": "metrics of newer versions",
        "time": "ts of newer versions",
        "text": "assistant prose",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="Cline, Roo Code, Kilo Code",
    where="<global storage>/<extension>/tasks/<id>/api_conversation_history.json",
)
