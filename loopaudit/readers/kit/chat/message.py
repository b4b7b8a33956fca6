"""One message of the Chat Completions API, or of one of its many imitations.

:func:`message_decoder` decodes the usual spelling straight from bytes into a
:class:`Message`, with contents and arguments left as :class:`msgspec.Raw` slices;
:func:`usual_message` makes one of a decoded value. Both refuse a message that has any field
they do not know. :func:`message_from` then makes the same of the decoded value and knows the
rarer spellings: calls flattened to ``{id, function: NAME, args}`` or ``{id, name, arguments}``,
lists written as JSON text, names in camel case, calls that stand in the content only, flags, exit codes and times
under other names or inside ``metadata`` and ``extra``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from loopaudit.core.events import Usage, decode_value
from loopaudit.core.json import tolerant_loads
from loopaudit.readers.kit.fields import count, identifier
from loopaudit.readers.kit.fitting import NOTHING


class Function(Struct, gc=False, forbid_unknown_fields=True):
    """What is called: ``function`` of a tool call, ``function_call`` of the older API."""

    name: str | None = None
    arguments: Any = NOTHING

    @property
    def sent(self) -> Any:
        """The arguments: JSON bytes or a decoded value. Absent ones are an empty object."""
        value = self.arguments
        if isinstance(value, Raw):
            return {} if value is NOTHING else bytes(value)
        return value


class ToolCall(Struct, gc=False, forbid_unknown_fields=True):
    """One entry of ``tool_calls``."""

    function: Function
    id: str | None = None
    type: str | None = None
    index: int | None = None


class Plain(Struct, gc=False, forbid_unknown_fields=True):
    """A message that has nothing but what the API itself needs, as most have."""

    role: str | None = None
    content: Any = NOTHING
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    tool_call_id: str | None = None
    name: str | None = None


class Message(Plain, gc=False):
    """One message. Without a ``role`` it is none.

    ``is_error``, ``success``, ``error``, ``status`` and ``exit_code`` stand on the results of
    harnesses that tell failures; the API itself has none of them. ``original_role`` is what a message was
    before an exporter named its ``role`` after a sub-agent. ``metadata``, ``hidden`` and ``extra`` are the objects that
    may hold times and exit codes (:func:`with_metadata`). Fields after them are known in order to be skipped.
    A field without a type is a slice of the line, or the decoded value.
    """

    is_error: bool | None = None
    success: bool | None = None
    error: Any = NOTHING
    status: str | None = None
    exit_code: int | None = None
    model: str | None = None
    usage: Any = NOTHING
    timestamp: str | int | float | None = None
    conversation_id: str | None = None
    original_role: str | None = None
    metadata: Any = NOTHING
    hidden: Any = msgspec.field(name="_metadata", default=NOTHING)
    extra: Any = NOTHING
    id: Any = NOTHING
    refusal: Any = NOTHING
    annotations: Any = NOTHING
    audio: Any = NOTHING
    weight: Any = NOTHING
    reasoning: Any = NOTHING
    reasoning_content: Any = NOTHING
    provider_specific_fields: Any = NOTHING


_PLAIN: Final = list[Plain]
_MESSAGES: Final = list[Message]


class _Function(Function, gc=False):
    arguments: Raw = NOTHING


class _ToolCall(ToolCall, gc=False):
    function: _Function


class _Message(Message, gc=False):
    """The same where nothing is decoded that no one may ask for."""

    content: Raw = NOTHING
    tool_calls: list[_ToolCall] | None = None  # type: ignore[assignment] # the list is never added to
    function_call: _Function | None = None
    error: Raw = NOTHING
    usage: Raw = NOTHING
    metadata: Raw = NOTHING
    hidden: Raw = msgspec.field(name="_metadata", default=NOTHING)
    extra: Raw = NOTHING
    id: Raw = NOTHING
    refusal: Raw = NOTHING
    annotations: Raw = NOTHING
    audio: Raw = NOTHING
    weight: Raw = NOTHING
    reasoning: Raw = NOTHING
    reasoning_content: Raw = NOTHING
    provider_specific_fields: Raw = NOTHING


@cache
def message_decoder() -> msgspec.json.Decoder[Message]:
    """A decoder from the bytes of a message in its usual spelling."""
    return msgspec.json.Decoder(_Message)


def usual_message(value: Any) -> Message:
    """Make a :class:`Message` of a decoded object in its usual spelling.

    Raises:
        ValueError: it is spelled in another way, for :func:`message_from`.
    """
    return with_metadata(msgspec.convert(value, Message))


def usual_messages(values: list[Any]) -> list[Plain]:
    """Make messages of all entries of a list at once, which takes a third of what they take one by one.

    Raises:
        ValueError: one of them is spelled in another way, for :func:`message_of`.
        RecursionError: one nests too deeply.
    """
    try:
        return msgspec.convert(values, _PLAIN)
    except ValueError:
        return [with_metadata(message) for message in msgspec.convert(values, _MESSAGES)]


def with_metadata(message: Message) -> Message:
    """The same message in its usual spelling, with what only the objects beside it say."""
    if message.metadata is NOTHING and message.extra is NOTHING and message.hidden is NOTHING:
        return message
    for place in map(decoded, (message.metadata, message.hidden, message.extra)):
        if isinstance(place, dict):
            _fill(message, place)
    return message


def decoded(value: Any) -> Any:
    """A field's value, whether it is still a slice of the line or decoded; ``None`` if absent."""
    if isinstance(value, Raw):
        return None if value is NOTHING else decode_value(bytes(value))
    return value


# -- from decoded values -------------------------------------------------------------------

_EXIT_CODES: Final = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_TIMES: Final = ("timestamp", "created_at", "created", "ts", "time", "date")
_CONVERSATIONS: Final = ("conversation_id", "session_id", "thread_id")
_RESULT_IDS: Final = ("tool_call_id", "tool_use_id", "call_id", "toolCallId")
_CALL_NAMES: Final = ("function", "name", "tool_name")
_CALL_IDS: Final = ("id", "tool_call_id", "call_id", "toolCallId")
_ARGUMENTS: Final = ("arguments", "args", "input", "parameters", "kwargs")


def message_of(value: Any) -> Message:
    """Make a :class:`Message` of a decoded object in any spelling; fields of a wrong type count as absent.

    Raises:
        TypeError: the value is no object.
    """
    try:
        return usual_message(value)
    except (ValueError, RecursionError):
        return message_from(value)


def message_from(value: Any) -> Message:
    """The same by looks at each member under each of its names, which takes ten times as long.

    Raises:
        TypeError: the value is no object.
    """
    if not isinstance(value, dict):
        raise TypeError("a message is an object")
    get = value.get
    message = Message(
        role=_text(get("role")),
        content=get("content", get("result", NOTHING)),
        tool_calls=_calls(get("tool_calls", get("toolCalls"))),
        function_call=_function(get("function_call")),
        tool_call_id=_id(value, _RESULT_IDS),
        name=_text(get("name")) or _text(get("tool_name")),
        is_error=_flag(get("is_error"), get("isError")),
        success=_flag(get("success"), get("ok")),
        error=get("error", NOTHING),
        status=_text(get("status")),
        model=_text(get("model")),
        usage=get("usage", NOTHING),
        conversation_id=_id(value, _CONVERSATIONS),
    )
    for place in (value, get("metadata"), get("_metadata"), get("extra")):
        if isinstance(place, dict):
            _fill(message, place)
    return message


def _fill(message: Message, place: Mapping[str, Any]) -> None:
    """Set what a message or an object beside it says of its time, its exit code and its speaker, if nothing did so far.

    Loops written out: such an object has few of the names.
    """
    if message.exit_code is None:
        for name in _EXIT_CODES:
            code = place.get(name)
            if isinstance(code, int) and not isinstance(code, bool):
                message.exit_code = code
                break
    if message.timestamp is None:
        for name in _TIMES:
            at = place.get(name)
            if isinstance(at, (str, int, float)) and not isinstance(at, bool):
                message.timestamp = at
                break
    if message.original_role is None:
        message.original_role = _text(place.get("original_role"))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _id(value: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of some members that is an id: text, or an integer written as text."""
    for name in names:
        found = identifier(value.get(name))
        if found is not None:
            return found
    return None


def _flag(*values: Any) -> bool | None:
    return next((v for v in values if isinstance(v, bool)), None)


def from_text(value: Any) -> Any:
    """A list or object that was written as JSON text, decoded; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return tolerant_loads(value.encode("utf-8", "surrogatepass"))
        except ValueError:
            return value
    return value


def calls_of(message: Mapping[str, Any]) -> list[ToolCall]:
    """Those of ``tool_calls``, in any spelling, without a look at what else is in a message."""
    listed = message.get("tool_calls", message.get("toolCalls"))
    return (message_of({"tool_calls": listed}).tool_calls if listed else None) or []


def calls_in(content: Any) -> list[ToolCall] | None:
    """Calls that stand as blocks in a decoded content."""
    if not isinstance(content, list):
        return None
    return _calls([block for block in content if isinstance(block, dict) and block.get("type") == "tool_call"])


def _calls(value: Any) -> list[ToolCall] | None:
    """Calls of a list; an entry that is no object becomes a call without a name."""
    value = from_text(value)
    if not isinstance(value, list) or not value:
        return None
    return [_call(entry) if isinstance(entry, dict) else ToolCall(Function()) for entry in value]


def _call(value: dict[str, Any]) -> ToolCall:
    function = _function(value.get("function")) or _function(value.get("custom"))
    if function is None:
        names = [name for field in _CALL_NAMES if isinstance(name := value.get(field), str)]
        function = _named(value, names[0] if names else None)
    return ToolCall(function, id=_id(value, _CALL_IDS))


def _function(value: Any) -> Function | None:
    return _named(value, _text(value.get("name"))) if isinstance(value, dict) else None


def _named(value: dict[str, Any], name: str | None) -> Function:
    function = Function(name)
    for field in _ARGUMENTS:
        if field in value:
            function.arguments = value[field]
            break
    return function


def usage_of(value: Any) -> Usage | None:
    """Token counts under the names of either big API, as recorded; ``None`` if there are none."""
    if not isinstance(value, dict):
        return None
    get = value.get
    details = get("prompt_tokens_details") or get("input_tokens_details")
    cached = {**value, **details} if isinstance(details, dict) else value
    sent, made = _count(value, "prompt_tokens", "input_tokens"), _count(value, "completion_tokens", "output_tokens")
    read = _count(cached, "cache_read_input_tokens", "cached_tokens")
    written = _count(value, "cache_creation_input_tokens", "cache_write_tokens")
    if sent is None and made is None and read is None and written is None:
        return None
    return Usage(sent, made, read, written)


def _count(value: Mapping[str, Any], name: str, other: str) -> int | None:
    """The number under one name, else under the other."""
    found = value.get(name)
    return found if type(found) is int and found >= 0 else count(value.get(other))
