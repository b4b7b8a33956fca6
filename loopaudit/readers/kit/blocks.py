"""Messages made of content blocks as the Messages API has them, however they are recorded.

:func:`content_of` sorts the blocks of a message by what they mean for a replay;
:func:`emit_response` and :func:`emit_answers` report them. ``tool_use`` and its server-side
kin are calls, ``tool_result`` and its kin are answers.

A call or an answer without an id is reported without one. An answer that is flagged as failed is
looked at for an exit code at its beginning, and for the words of a refusal or an interruption.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct, field

from loopaudit.core.events import TOKEN_LIMIT, Call, Status, Usage, content_text, decode_value
from loopaudit.core.text import one_line
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.claude_words import exit_code, refusal
from loopaudit.readers.kit.fields import count, flag, string
from loopaudit.readers.kit.typed_blocks import NO_OBJECT, Block, Tokens

SILENT: Final = frozenset(
    "thinking redacted_thinking reasoning search_result container_upload tool_reference signature".split()
)
"""Block types that are neither prose nor calls nor answers."""

MEDIA: Final = frozenset({"image", "document", "file"})

_FAILED: Final = "_error"
"""End of the type of the object that a server's failing tool answers with."""


class Asked(Struct):
    """One call block. ``name`` is ``None`` where it is not recorded."""

    name: str | None
    arguments: Any
    id: str | None


class Answer(Struct):
    """One result block: the emitter's arguments of the same names; ``call`` is the call's id."""

    call: str | None
    output: Any
    failed: bool | None
    status: Status | None = None
    exit_code: int | None = None
    name: str | None = None


class Content(Struct):
    """The blocks of one message by what they mean, each kind in order.

    ``media`` means that there are images or documents. ``lost`` says in words which blocks
    could not be used, ``unknown`` are the types of blocks that are not known.
    """

    texts: list[str] = field(default_factory=list)
    calls: list[Asked] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    media: bool = False
    lost: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All prose."""
        return "\n".join(self.texts)


def content_of(value: Any) -> Content:
    """Sort the content of a message: text, one block, or a list of blocks. Never raises."""
    content = Content()
    if isinstance(value, str):
        content.texts.append(value)
        return content
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        content.lost.append("a message without content")
        return content
    for block in value:
        if isinstance(block, str):
            content.texts.append(block)
        elif isinstance(block, dict):
            _sort(block, content)
        else:
            content.lost.append("a content block that is no object")
    return content


def content_of_blocks(value: str | Block | list[Block] | None) -> Content:
    """The same as :func:`content_of` of a typed content; ``None`` where there is none, or none that can be used."""
    content = Content()
    if isinstance(value, str):
        content.texts.append(value)
        return content
    if value is None:
        content.lost.append("a message without content")
        return content
    for block in (value,) if isinstance(value, Block) else value:
        kind = block.type
        if kind is None or kind is NO_OBJECT:
            content.lost.append(f"a content block {'without a type' if kind is None else 'that is no object'}")
        elif kind == "text":
            if block.text is not None:
                content.texts.append(block.text)
            else:
                content.lost.append("a text block without its text")
        elif kind.endswith("tool_use"):
            arguments = bytes(block.input)
            if not block.name:
                content.lost.append("a call without the name of its tool")
            if not arguments:
                content.lost.append("a call without its arguments")
            content.calls.append(Asked(block.name or None, arguments or b"null", block.id or None))
        elif kind.endswith("tool_result"):
            content.answers.append(_answer_of_block(block))
        elif kind in MEDIA:
            content.media = True
        elif kind not in SILENT:
            content.unknown.append(kind)
    return content


def _answer_of_block(block: Block) -> Answer:
    """The same as :func:`answer_of`. The output stays as recorded where nothing need be known of it."""
    raw = bytes(block.content) or b"null"
    output: Any = raw
    if block.is_error or raw[:1] not in (b'"', b"[") or len(raw) > TOKEN_LIMIT:
        output = decode_value(raw)
        if block.is_error or isinstance(output, dict):
            whole = {"content": output, "tool_use_id": block.tool_use_id, "is_error": block.is_error}
            return answer_of({**whole, "name": block.name})
    return Answer(block.tool_use_id or None, output, False, name=block.name or None)


def _sort(block: dict[str, Any], content: Content) -> None:
    kind = block.get("type")
    if not isinstance(kind, str):
        content.lost.append("a content block without a type")
    elif kind == "text":
        text = block.get("text")
        if isinstance(text, str):
            content.texts.append(text)
        else:
            content.lost.append("a text block without its text")
    elif kind.endswith("tool_use"):
        content.calls.append(_asked(block, content))
    elif kind.endswith("tool_result"):
        content.answers.append(answer_of(block))
    elif kind in MEDIA:
        content.media = True
    elif kind not in SILENT:
        content.unknown.append(kind)


def _asked(block: dict[str, Any], content: Content) -> Asked:
    if not string(block.get("name")):
        content.lost.append("a call without the name of its tool")
    if "input" not in block:
        content.lost.append("a call without its arguments")
    return Asked(string(block.get("name")), block.get("input"), string(block.get("id")))


def answer_of(block: dict[str, Any]) -> Answer:
    """What a result block says. The API leaves the flag out where the tool succeeded."""
    output = block.get("content")
    call = string(block.get("tool_use_id"))
    failed = flag(block.get("is_error"))
    if failed is None and isinstance(output, dict):
        failed = str(output.get("type")).endswith(_FAILED)
    name = string(block.get("name"))
    if not failed:
        return Answer(call, output, False, name=name)
    text = content_text(output)
    status = refusal(text)
    return Answer(call, output, True, status, exit_code(text) if status is None else None, name)


def usage_from(value: Any) -> Usage | None:
    """The API's token counts; ``None`` where nothing is recorded."""
    if not isinstance(value, dict):
        return None
    usage = Usage(
        count(value.get("input_tokens")),
        count(value.get("output_tokens")),
        count(value.get("cache_read_input_tokens")),
        count(value.get("cache_creation_input_tokens")),
    )
    return None if usage == Usage() else usage


def usage_of_tokens(tokens: Tokens | None) -> Usage:
    """The same as :func:`usage_from` of typed counts, with nothing in it where nothing is recorded."""
    if tokens is None:
        return Usage()
    return Usage(
        count(tokens.input_tokens),
        count(tokens.output_tokens),
        count(tokens.cache_read_input_tokens),
        count(tokens.cache_creation_input_tokens),
    )


def emit_losses(emit: Emitter, content: Content) -> None:
    """Report blocks that could not be used."""
    for what in content.lost:
        emit.problem("bad_block", what, damage=True)
    for kind in content.unknown:
        emit.problem("unknown_block", f"blocks of type {one_line(kind, 40)} are not known")


def emit_response(
    emit: Emitter, content: Content, *, key: str, model: str | None = None, usage: Usage | None = None
) -> list[Call]:
    """Report the prose and the calls of a model response. Returns the calls that are no copies."""
    emit_losses(emit, content)
    reported: list[Call] = []
    for asked in content.calls:
        call = emit.call(asked.name or "", asked.arguments, id=asked.id, key=key, model=model)
        if call is not None:
            reported.append(call)
    if content.calls and not reported:
        return reported
    text = content.text
    if text.strip():
        emit.say(text, key=key, model=model)
    if usage is not None:
        emit.usage(usage, key=key, model=model)
    return reported


def emit_answers(emit: Emitter, content: Content) -> None:
    """Report the answers of a message."""
    for answer in content.answers:
        if answer.call is None:
            emit.problem("result_without_id", "a tool result without the id of its call", damage=True)
        emit.result(
            answer.call,
            answer.output,
            failed=answer.failed,
            status=answer.status,
            exit_code=answer.exit_code,
            name=answer.name if answer.call is None else None,
        )
