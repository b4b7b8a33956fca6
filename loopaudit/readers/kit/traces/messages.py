"""Messages as the many libraries behind a trace write them: one shape out of all dialects.

A span's input or output holds messages of the GenAI conventions (``parts``), the Chat Completions API, the
Messages API, the Responses API, Gemini contents, LangChain, the Vercel AI SDK or OpenInference, as values or as
JSON text, inside ``messages``, ``choices``, ``generations`` and the like. :func:`messages_of` finds them all.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct, field

from loopaudit.core.canonical import compact
from loopaudit.core.events import content_text
from loopaudit.readers.kit.blocks import Answer, Asked, Content, content_of
from loopaudit.readers.kit.chat.message import from_text, message_of
from loopaudit.readers.kit.chat.messages import outcome_of
from loopaudit.readers.kit.fields import items, mapping, string
from loopaudit.readers.kit.pairing import value_text
from loopaudit.readers.kit.traces.parts import are_blocks, first, is_answer, is_part, take_part

Speaker = Literal["user", "assistant", "tool", "system"]

SPEAKERS: Final[dict[str, Speaker]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
"""What the dialects call who speaks, in lower case and without ``Message`` and ``Chunk``."""

MAX_DEPTH: Final = 8
"""Containers around a message, at most."""

_AROUND: Final = ("input", "inputs", "output", "outputs")
"""Members that may stand around the messages, alone or with one other."""

_CALLS_BESIDE: Final = frozenset({"tool_calls", "function_call", "additional_kwargs"})
"""Members of a message that may hold calls beside its content."""

_AROUND_MESSAGES: Final = frozenset({"kwargs", "data"})
"""Members of objects of LangChain that hold the message itself."""

_LISTS: Final = ("messages", "choices", "generations", "contents")


class SpanMessage(Struct):
    """One message: who spoke, and what. ``tools`` are declarations that stand among the messages."""

    speaker: Speaker
    content: Content = field(default_factory=Content)
    tools: list[Any] = field(default_factory=list)


def messages_of(value: Any, speaker: Speaker) -> list[SpanMessage]:
    """The messages in a value, in order. ``speaker`` is who says what has no role. Never raises."""
    found: list[SpanMessage] = []
    _walk(value, speaker, found, 0)
    return found


def messages_of_list(value: Any, speaker: Speaker) -> list[SpanMessage] | None:
    """What :func:`messages_of` gives of a list, or of one that was written as JSON text; ``None`` for what is none."""
    decoded = from_text(value)
    return messages_of(decoded, speaker) if isinstance(decoded, list) else None


def usual_message(value: dict[str, Any], speaker: Speaker) -> SpanMessage | None:
    """What most messages are, without the looks at what may stand around one."""
    inner = value["message"] if len(value) == 1 and "message" in value else value
    if isinstance(inner, dict) and _AROUND_MESSAGES.isdisjoint(inner):
        role = inner.get("role")
        if isinstance(role, str) and role in SPEAKERS:
            return _message(inner, SPEAKERS[role], speaker)
    return None


def _walk(value: Any, speaker: Speaker, found: list[SpanMessage], depth: int) -> None:
    value = from_text(value)
    if value is None or value in ("", []):
        return
    if isinstance(value, str):
        found.append(SpanMessage(speaker, Content(texts=[value])))
    elif depth > MAX_DEPTH or not isinstance(value, (list, dict)):
        found.append(SpanMessage(speaker, Content(lost=["a message that is no object"])))
    elif isinstance(value, list):
        _several(value, speaker, found, depth)
    else:
        _object(value, speaker, found, depth)


def _several(value: list[Any], speaker: Speaker, found: list[SpanMessage], depth: int) -> None:
    together: SpanMessage | None = None
    for entry in value:
        decoded = from_text(entry) if isinstance(entry, str) else entry
        if isinstance(decoded, dict) and depth < MAX_DEPTH - 1:
            usual = usual_message(decoded, speaker)
            if usual is not None:
                found.append(usual)
                together = None
                continue
        if isinstance(decoded, dict) and is_part(decoded) and speaker_of(decoded) is None:
            if together is None:
                together = SpanMessage(speaker)
                found.append(together)
            take_part(decoded, together.content)
        else:
            together = None
            if decoded != [] and (
                isinstance(decoded, (dict, list)) or (isinstance(decoded, str) and _are_plain(value))
            ):
                _walk(decoded, speaker, found, depth + 1)
            else:
                found.append(SpanMessage(speaker, Content(lost=["a message that is no object"])))


def _are_plain(value: list[Any]) -> bool:
    """Whether nothing in a list is an object or a list."""
    return not any(isinstance(entry, (dict, list)) for entry in value)


def _object(value: dict[str, Any], speaker: Speaker, found: list[SpanMessage], depth: int) -> None:
    if depth > MAX_DEPTH + 2:
        found.append(SpanMessage(speaker, Content(lost=["a message inside too many objects"])))
        return
    inner = value.get("kwargs")
    if isinstance(inner, dict) and isinstance(value.get("id"), list):
        # LangChain's serialised constructor: the class stands at the end of the id.
        _object({**inner, "type": str(value["id"][-1]) if value["id"] else ""}, speaker, found, depth + 1)
        return
    if isinstance(value.get("data"), dict) and speaker_of(value) is not None and "content" not in value:
        _object({**value["data"], "type": value.get("type")}, speaker, found, depth + 1)
        return
    who = speaker_of(value)
    if who is None and isinstance(value.get("message"), (dict, list)):
        _walk(value["message"], speaker, found, depth + 1)
        return
    for name in _LISTS:
        if who is None and name in value:
            if not isinstance(from_text(value[name]), list):
                found.append(SpanMessage(speaker, Content(lost=[f"{name} that are no list"])))
            _walk(value[name], speaker, found, depth + 1)
            return
    if who is not None or "role" in value:
        found.append(_message(value, who, speaker))
    elif is_part(value):
        one = SpanMessage(speaker)
        take_part(value, one.content)
        found.append(one)
    elif value.get("object") == "response" or (isinstance(value.get("output"), list) and value["output"]):
        _walk(value.get("output"), speaker, found, depth + 1)
    elif len(value) <= 2 and (inner := first(value, _AROUND)) is not None:
        _walk(inner, speaker, found, depth + 1)
    elif isinstance(inner := first(value, ("prompt", "prompts")), (str, list)):
        _walk(inner, "user", found, depth + 1)
    elif isinstance(value.get("content"), dict) and "role" in value["content"]:
        _walk(value["content"], speaker, found, depth + 1)
    elif speaker == "assistant" and isinstance(value.get("text"), str):
        found.append(SpanMessage(speaker, Content(texts=[value["text"]])))
    elif speaker == "assistant":
        content = content_of(value["content"]) if "content" in value else Content(texts=[compact(value)])
        found.append(SpanMessage(speaker, content))
    else:
        found.append(SpanMessage("system", Content(unknown=["no role"])))


def speaker_of(value: dict[str, Any]) -> Speaker | None:
    """Who speaks in a message; ``None`` for what is no message, or of an unknown role."""
    for name in ("role", "type"):
        word = value.get(name)
        if isinstance(word, str):
            plain = word.removesuffix("Chunk").removesuffix("Message").lower()
            if plain in SPEAKERS and (name == "role" or "content" in value or "data" in value):
                return SPEAKERS[plain]
    return None


def _message(value: dict[str, Any], who: Speaker | None, speaker: Speaker) -> SpanMessage:
    one = SpanMessage(who or speaker)
    content = one.content
    if who is None:
        one.speaker = "system"
        content.unknown.append(string(value.get("role")) or "no role")
        return one
    written = value.get("content")
    if "parts" in value:
        body = from_text(value["parts"])
        if not isinstance(body, list):
            content.lost.append("a message whose parts are no list")
    else:
        body = written if isinstance(written, (list, dict)) else None
        if "content" not in value and isinstance(value.get("contents"), list):
            body = [mapping(entry).get("message_content", entry) for entry in value["contents"]]
    if who == "tool" and "parts" not in value:
        _answer_message(value, one)
        return one
    if isinstance(body, dict):
        body = [body]
    if isinstance(body, list):
        for entry in body:
            if isinstance(entry, str):
                content.texts.append(entry)
            elif isinstance(entry, dict):
                take_part(entry, content)
            else:
                content.lost.append("a part that is no object")
    elif isinstance(written, str):
        content.texts.append(written)
    elif written is not None or _CALLS_BESIDE.isdisjoint(value):
        content.lost.append("a message without content")
    if not _CALLS_BESIDE.isdisjoint(value):
        _listed_calls(value, content)
    return one


def _listed_calls(value: dict[str, Any], content: Content) -> None:
    """Calls that stand beside the content, in one of :data:`_CALLS_BESIDE`."""
    beside = value.get("tool_calls") or mapping(value.get("additional_kwargs")).get("tool_calls")
    if beside is not None and not isinstance(from_text(beside), list):
        content.lost.append("calls that are no list")
    if beside is None and value.get("function_call") is None:
        return
    unwrapped = [mapping(entry).get("tool_call", entry) for entry in items(from_text(beside))]
    message = message_of({"tool_calls": unwrapped, "function_call": value.get("function_call")})
    known = {asked.id for asked in content.calls if asked.id}
    for call in message.tool_calls or ():
        if call.id not in known:
            content.calls.append(Asked(call.function.name, call.function.sent, call.id))
    if message.function_call is not None:
        content.calls.append(Asked(message.function_call.name, message.function_call.sent, None))


def _answer_message(value: dict[str, Any], one: SpanMessage) -> None:
    body = value.get("content")
    if isinstance(body, dict) and isinstance(body.get("function"), dict):
        # Some exporters write the declared tools as messages of role tool.
        one.tools.append(body)
        return
    parts = [part for part in items(body) if is_answer(part)]
    if parts:
        for part in parts:
            take_part(part, one.content)
        return
    if "content" not in value:
        one.content.lost.append("a result without content")
    message = message_of(value)
    outcome = outcome_of(message)
    one.content.answers.append(
        Answer(message.tool_call_id, value_text(body), outcome.failed, outcome.status, message.exit_code, message.name)
    )


# -- what a tool gave back -----------------------------------------------------------------


def tool_output(value: Any) -> Answer:
    """What a tool's span recorded as its output: text, content blocks, a LangChain message, or any value."""
    decoded = from_text(value)
    inner = decoded
    while isinstance(inner, dict) and set(inner) == {"output"}:
        inner = from_text(inner["output"])
    if isinstance(inner, dict):
        one = messages_of(inner, "system") if _is_tool_message(inner) else []
        if one and one[0].content.answers:
            return one[0].content.answers[0]
        blocks = inner.get("content")
        if are_blocks(blocks):
            failed = inner.get("isError", inner.get("is_error"))
            return Answer(None, content_text(blocks), failed if isinstance(failed, bool) else None)
    if are_blocks(inner):
        return Answer(None, content_text(inner), None)
    return Answer(None, value if isinstance(value, str) else value_text(inner), None)


def _is_tool_message(value: dict[str, Any]) -> bool:
    kwargs = mapping(value.get("kwargs"))
    if "tool_call_id" in kwargs and isinstance(value.get("id"), list):
        return True
    return speaker_of(value) == "tool" and ("tool_call_id" in value or "tool_call_id" in mapping(value.get("data")))


def is_tool_message(value: Any) -> bool:
    """Whether a recorded output is the message that a LangChain tool gives back."""
    decoded = from_text(value)
    return isinstance(decoded, dict) and _is_tool_message(decoded)
