"""Parts of messages in the dialects of the libraries behind a trace: text, calls, results.

Known are the parts of the GenAI conventions, blocks of the Messages API, items of the Responses API, parts of Gemini
contents and of Bedrock, and those of the Vercel AI SDK.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.readers.kit.blocks import Answer, Asked, Content, content_of
from loopaudit.readers.kit.fields import string
from loopaudit.readers.kit.pairing import value_text

_TEXTS: Final = frozenset({"text", "input_text", "output_text", "refusal"})
_CALLS: Final = frozenset({"tool_call", "tool-call", "function_call", "custom_tool_call", "server_tool_call"})
_ANSWERS: Final = frozenset(
    {
        "tool_call_response",
        "tool-result",
        "function_call_output",
        "custom_tool_call_output",
        "server_tool_call_response",
    }
)
_SILENT: Final = frozenset(
    "reasoning thinking redacted_thinking blob uri file image image_url input_image input_audio audio media "
    "source compaction step-start generic".split()
)
_CALL_IDS: Final = ("call_id", "toolCallId", "tool_call_id", "toolUseId", "id")
_NAMES: Final = ("name", "toolName", "tool_name")
_ARGUMENTS: Final = ("arguments", "input", "args")
_OUTPUTS: Final = ("response", "result", "output", "content")
_UNTYPED: Final = frozenset(
    "functionCall function_call functionResponse function_response toolUse toolResult toolCallId".split()
)
"""Members of parts that have no type."""


def is_part(value: dict[str, Any]) -> bool:
    """Whether an object is a part of a message, not a message."""
    kind = value.get("type")
    if isinstance(kind, str):
        return (
            kind in _TEXTS or kind in _CALLS or kind in _ANSWERS or kind in _SILENT
            or kind.endswith(("tool_use", "tool_result"))
        )  # fmt: skip
    return not _UNTYPED.isdisjoint(value)


def take_part(part: dict[str, Any], content: Content) -> None:
    """Sort one part or block of a message by what it means."""
    kind = part.get("type")
    if kind is None:
        _untyped(part, content)
    elif not isinstance(kind, str):
        content.lost.append("a part without a type")
    elif kind in _TEXTS:
        text = part.get("text", part.get("content"))
        if isinstance(text, str):
            content.texts.append(text)
        else:
            content.lost.append("a text without its text")
    elif kind in _CALLS:
        _call(part, content)
    elif kind in _ANSWERS:
        _answer(part, content)
    elif kind.endswith(("tool_use", "tool_result")):
        inner = content_of([part])
        content.calls += inner.calls
        content.answers += inner.answers
        content.lost += inner.lost
    elif kind not in _SILENT:
        content.unknown.append(kind)


def _untyped(part: dict[str, Any], content: Content) -> None:
    call = part.get("functionCall") or part.get("function_call") or part.get("toolUse")
    answer = part.get("functionResponse") or part.get("function_response") or part.get("toolResult")
    if isinstance(call, dict):
        _call(call, content)
    elif isinstance(answer, dict):
        _answer(answer, content)
    elif "toolCallId" in part:
        _call(part, content)
    elif isinstance(part.get("text"), str):
        if part.get("thought") is not True:
            content.texts.append(part["text"])
    else:
        content.lost.append("a part without a type")


def is_answer(value: Any) -> bool:
    """Whether a value is a part that holds a result."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and (kind in _ANSWERS or kind.endswith("tool_result"))


def are_blocks(value: Any) -> bool:
    """Whether a value is a list of content blocks: objects with a type, or with text alone."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(b, dict) and ("type" in b or isinstance(b.get("text"), str)) for b in value)
    )


def first(value: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The first of some members that is there and not null."""
    for name in names:
        if name in value and value[name] is not None:
            return value[name]
    return None


def _call(part: dict[str, Any], content: Content) -> None:
    name = string(first(part, _NAMES))
    if name is None:
        content.lost.append("a call without the name of its tool")
    arguments = first(part, _ARGUMENTS)
    content.calls.append(Asked(name, {} if arguments is None else arguments, string(first(part, _CALL_IDS))))


def _answer(part: dict[str, Any], content: Content) -> None:
    output = first(part, _OUTPUTS)
    failed = None
    if isinstance(output, dict) and isinstance(output.get("type"), str) and "value" in output:
        # The Vercel AI SDK wraps an output in its type.
        failed = output["type"].startswith("error")
        output = output["value"]
    elif part.get("status") in ("error", "success"):
        failed = part["status"] == "error"
    text = content_text(output) if are_blocks(output) else value_text(output)
    content.answers.append(Answer(string(first(part, _CALL_IDS)), text, failed, name=string(first(part, _NAMES))))
