"""Conversations of Kiro and of the Amazon Q Developer command line: one JSON document.

**Written by** both, as the value of a row of their SQLite database, and by their ``/save`` command.
Seen on one small real file; the variants of messages are known from the writer's source. Older
ones keep an entry of ``history`` as a list of a user's and an assistant's message.

**Not carried**: tokens, and in the file seen results and ids.

**Conversation.** A document is one, named by ``conversation_id``. **Batch.** One ``ToolUse`` message.

**Turn.** A ``Prompt``, or the prompt that came with ``CancelledToolUses``.

**Failure.** ``status: Error``; results inside ``CancelledToolUses`` are ``cancelled``. A command's
``exit_status`` stands in its JSON output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from loopaudit.core.canonical import compact
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Answer
from loopaudit.readers.kit.fields import documents, items, malformed, mapping, moment, not_a_record, string
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

PROMPTS: Final = frozenset({"Prompt", "CancelledToolUses"})
RESULTS: Final = frozenset({"ToolUseResults", "CancelledToolUses"})


def sniff(probe: Probe) -> str | None:
    """Claim a ``history`` of pairs of a user's and an assistant's message."""
    for root in documents(probe)[:1]:
        if not isinstance(root, dict) or "conversation_id" not in root:
            continue
        if any(_pair(entry) is not None for entry in items(root.get("history"))[:20]):
            return "conversation_id and history of user and assistant"
    return None


def _pair(entry: Any) -> tuple[Any, Any] | None:
    """The user's and the assistant's message of an entry, either of which may be ``None``."""
    if isinstance(entry, dict) and "user" in entry:
        return entry["user"], entry.get("assistant")
    if isinstance(entry, list) and entry and all(isinstance(message, dict) for message in entry[:2]):
        return entry[0], entry[1] if len(entry) > 1 else None
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in the order of the history."""
    root = source.document()
    if not isinstance(root, dict) or not isinstance(root.get("history"), list):
        not_a_record(emit)
        return
    emit.session(string(root.get("conversation_id")) or "")
    emit.tools(declared_schemas(list(_tools(root.get("tools")))))
    pairing = Pairing(emit)
    for number, entry in enumerate(root["history"], 1):
        pair = _pair(entry)
        if pair is None:
            not_a_record(emit)
            continue
        _user(emit, pairing, pair[0], number)
        emit.at()  # a response has no time of its own
        _assistant(emit, pairing, pair[1], number)


def _tools(value: Any) -> Iterator[Any]:
    """Declarations: ``{server: [{ToolSpecification: {name, input_schema: {json}}}]}``."""
    for listed in mapping(value).values():
        for entry in items(listed):
            tool = mapping(mapping(entry).get("ToolSpecification")) or mapping(entry)
            schema = tool.get("input_schema", tool.get("inputSchema"))
            yield {"name": tool.get("name"), "input_schema": mapping(schema).get("json", schema)}


def _user(emit: Emitter, pairing: Pairing, user: Any, number: int) -> None:
    if user is None:
        return
    message = mapping(user)
    content = message.get("content")
    emit.at(time=moment(message.get("timestamp")))
    if content is None and "content" in message:
        return
    if not isinstance(content, dict) or not content:
        malformed(emit, "a user's message without its content")
        return
    for kind, value in content.items():
        body = mapping(value)
        if kind not in PROMPTS and kind not in RESULTS:
            emit.problem("unknown_record", "a user's message of a kind that is not known")
        if kind in RESULTS:
            results = body.get("tool_use_results")
            if not isinstance(results, list):
                malformed(emit, "results of tools that are no list")
            for result in items(results):
                _result(emit, pairing, result, cancelled=kind == "CancelledToolUses")
        if kind in PROMPTS:
            prompt = body.get("prompt")
            if isinstance(prompt, str):
                if prompt:
                    emit.turn(prompt, id=f"entry {number}")
            elif kind == "Prompt" or prompt is not None:
                malformed(emit, "a prompt without its text")


def _result(emit: Emitter, pairing: Pairing, value: Any, *, cancelled: bool) -> None:
    result = mapping(value)
    if not result:
        malformed(emit, "the result of a tool that is no object")
        return
    state = result.get("status")
    if state not in ("Success", "Error"):
        malformed(emit, "a result without its status")
    failed = state == "Error"
    texts, code = [], None
    for block in items(result.get("content")):
        if isinstance(block, dict) and len(block) == 1 and ("Json" in block or "Text" in block):
            inner = block.get("Json", block.get("Text"))
            code = _exit_code(inner) if code is None else code
            texts.append(inner if isinstance(inner, str) else compact(inner))
        else:
            texts.append(block if isinstance(block, str) else compact(block))
    call = string(result.get("tool_use_id"))
    answer = Answer(call, "\n".join(texts), failed, "cancelled" if failed and cancelled else None, code)
    pairing.answer_block(answer)


def _exit_code(value: Any) -> int | None:
    """The number of ``exit_status``: ``"0"``, ``"exit status: 1"``."""
    words = str(mapping(value).get("exit_status", "")).split()
    return int(words[-1]) if words and words[-1].isascii() and words[-1].isdigit() and len(words[-1]) < 10 else None


def _assistant(emit: Emitter, pairing: Pairing, assistant: Any, number: int) -> None:
    if assistant is None:
        return
    if not isinstance(assistant, dict) or not assistant:
        malformed(emit, "an assistant's message without its content")
        return
    key = f"entry {number}"
    for kind, value in assistant.items():
        if kind not in ("Response", "ToolUse"):
            emit.problem("unknown_record", "an assistant's message of a kind that is not known")
            continue
        body = mapping(value)
        calls = []
        if kind == "ToolUse":
            uses = body.get("tool_uses")
            if not isinstance(uses, list):
                malformed(emit, "calls that are no list")
            for use in map(mapping, items(uses)):
                name = string(use.get("name"))
                if name is None or "args" not in use:
                    malformed(emit, "a call without its name or its arguments")
                call = emit.call(name or "", use.get("args"), id=string(use.get("id")), key=key)
                if call is not None:
                    calls.append(call)
        pairing.asked(calls)
        text = body.get("content")
        if isinstance(text, str) and text:
            emit.say(text, key=key)
        elif kind == "Response" and not isinstance(text, str):
            malformed(emit, "a response without its text")


READER = Reader(
    id="kiro",
    title="Kiro conversation",
    looked_for="an object with conversation_id and history of user and assistant, Prompt, ToolUse, ToolUseResults",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id, else in order, where they are kept",
        "failure": "status, and exit_status of commands; cancelled calls told apart",
        "time": "of user messages, in newer versions",
        "schemas": "where tools stand beside the history",
        "text": "responses",
        "batches": "one ToolUse message",
    },
    evidence="data",
    written_by="Kiro, Amazon Q Developer CLI",
    where="a row of their SQLite database, or a file of /save",
)
