"""Reports chats whose calls stand in the prose and whose results come as messages.

The dialect of the calls is that of the whole conversation (:mod:`loopaudit.readers.kit.text_dialects`). A message
that has calls of an API, as the response in a log of requests may, keeps those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from loopaudit.core import canonical, regex
from loopaudit.core.events import content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import message_of
from loopaudit.readers.kit.chat.rows import Row, end_of
from loopaudit.readers.kit.chat.strays import unknown_role
from loopaudit.readers.kit.fields import malformed, string
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.text_calls import TextCall, written_calls
from loopaudit.readers.kit.text_dialects import FENCED, Dialect, dialect_of

ROLES: Final = {
    "system": "system",
    "developer": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "ai": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "tool": "tool",
    "function": "tool",
    "function_call": "call",
    "tool_call": "call",
    "function_response": "tool",
    "tool_response": "tool",
    "tool_result": "tool",
    "observation": "tool",
    "environment": "tool",
}
"""What the names of speakers mean; a ``call`` is a response that consists of calls, written as JSON."""

ASSISTANTS: Final = frozenset(name for name, role in ROLES.items() if role == "assistant")

TEXTS: Final = ("value", "text", "content")
"""Members that may be the text of a message."""

_NUDGE: Final = regex.lazy(
    r"\s*(?:please continue (?:working )?on the task|your (?:last )?(?:output|response|action)\b"
    r"|(?:error: )?no (?:function|tool) call|the following format error|please always provide)",
    re.IGNORECASE,
)
"""How scaffolds answer a response in which they find no call."""


class Found(NamedTuple):
    """One result inside a message; ``exit_code`` where the scaffold wrote it."""

    output: str
    name: str | None = None
    id: Any = None
    exit_code: int | None = None


_RESPONSE: Final = regex.lazy(r"<tool_response>(.*?)(?:</tool_response>|\Z)", re.DOTALL)
_HEAD: Final = regex.lazy(
    r"\s*(?:EXECUTION (?:RESULT|OUTPUT) of \[([^\]\n]{0,200})\]:|Obs(?:ervation)?[ \t]?\d{0,4}[ \t]?:"
    r"|The output of the OS:)[ \t]*\r?\n?",
    re.IGNORECASE,
)
_EXIT: Final = regex.lazy(r"\[(?:The command completed|Command finished) with exit code (-?\d{1,9})\.?\]\s*\Z")


def results_in(text: str) -> list[Found]:
    """The results that a message consists of, or says that it is; none in one that may be a person's."""
    if "<tool_response>" in text:
        return [_element(element.strip()) for element in _RESPONSE.findall(text)]
    head = _HEAD.match(text)
    if head is None:
        return []
    code = _EXIT.search(text[-200:])
    return [Found(text[head.end() :], head[1], None, int(code[1]) if code else None)]


def _element(text: str) -> Found:
    """A ``<tool_response>``: the ``content`` member of its object, or all of its text."""
    value = canonical.parse(text)
    if not isinstance(value, dict):
        return Found(text)
    content = value.get("content", value)
    inner = canonical.parse(content) if isinstance(content, str) else content
    code = inner.get("exit_code") if isinstance(inner, dict) else None
    return Found(
        text if content is value else content if isinstance(content, str) else canonical.compact(content),
        string(value.get("name")),
        value.get("tool_call_id"),
        code if isinstance(code, int) and not isinstance(code, bool) else None,
    )


class TextChat:
    """Reports messages of one conversation after the other.

    ``only`` is the dialect of all of them, where the scaffold is known. While calls are open, any message of a user
    is a result.
    """

    def __init__(self, emit: Emitter, *, only: Dialect | None = None) -> None:
        self._emit = emit
        self._only = only
        self._dialect = only
        self._pairing = Pairing(emit)
        self._messages = 0

    def expect(self, messages: Sequence[Any]) -> None:
        """Choose the dialect of messages that come one by one, by some of them."""
        self._dialect = self._only or dialect_of(responses_in(messages))

    def row(self, row: Row, session: str, tools: Sequence[Any] = ()) -> None:
        """Report one conversation, the tools declared for it, and the end that its row tells."""
        if not row.messages:
            malformed(self._emit, "a row without a conversation")
            return
        self._pairing.begin(session)
        self._messages = 0
        self.expect(row.messages)
        self._emit.tools(declared_schemas(tools))
        for message in row.messages:
            self.report(message)
        end = end_of(row.facts)
        if end is not None:
            self._emit.boundary("end", end)

    def report(self, message: Any) -> None:
        """Report one message."""
        self._messages += 1
        if not isinstance(message, dict):
            malformed(self._emit, "a message that is no object")
            return
        speaker = message.get("from", message.get("role"))
        role = ROLES.get(speaker.lower()) if isinstance(speaker, str) else None
        content = next((message[name] for name in TEXTS if message.get(name) is not None), None)
        if role == "system":
            return
        blocks = content if isinstance(content, list) and content else [None]
        if not isinstance(content, str) and not all(isinstance(block, (str, dict)) for block in blocks):
            malformed(self._emit, "a message without text")
            return
        text = content_text(content)
        if role == "assistant":
            self._response(text, message)
        elif role == "call":
            self._called(text, message)
        elif role == "tool":
            self._answers(results_in(text) or [_result_of(text, message)])
        elif role == "user":
            self._person(text)
        else:
            unknown_role(self._emit, speaker if isinstance(speaker, str) else None)

    def _response(self, text: str, message: dict[str, Any]) -> None:
        native = _native(message)
        if native:
            self._report(text, native)
            return
        dialect = self._dialect
        if dialect is None or (dialect is FENCED and self._only is None):
            # Of messages one a line only the first were looked at.
            dialect = dialect_of([text])
            if dialect is not FENCED:
                self._dialect = dialect
        prose, calls = (text.strip(), []) if dialect is None else dialect.parse(text)
        self._report(prose, calls)

    def _called(self, text: str, message: dict[str, Any]) -> None:
        """Report a message that is nothing but calls: their JSON, or elements of a dialect."""
        calls = _native(message) or written_calls(text)
        if not calls:
            malformed(self._emit, "a call that is no JSON")
        self._report("", calls or [TextCall("", text)])

    def _report(self, prose: str, calls: list[TextCall]) -> None:
        if self._pairing.is_waiting():
            self._emit.problem("missing_result", "a response before the results of the calls before it")
        step = 0
        for call in calls:
            key = f"m{self._messages}.{step}" if step else f"m{self._messages}"
            if not call.name:
                self._emit.problem("nameless_call", "a call whose name cannot be read")
            self._pairing.call(call.name or "?", call.arguments, key=key)
            if call.result is not None:
                self._pairing.answer(None, call.result)
                step += 1
        if prose or not calls:
            self._emit.say(prose, key=f"m{self._messages}")

    def _person(self, text: str) -> None:
        found = results_in(text)
        if found:
            self._answers(found)
        elif self._pairing.is_waiting():
            self._answers([Found(text)])
        elif _NUDGE.match(text):
            self._emit.problem("no_call", "the scaffold found no call in a response")
        else:
            self._emit.turn(text, id=f"m{self._messages}")

    def _answers(self, found: list[Found]) -> None:
        for result in found:
            self._pairing.answer(result.id, result.output, name=result.name, exit_code=result.exit_code)


def responses_in(messages: Sequence[Any]) -> Iterator[str]:
    """The texts of the assistant's messages among some."""
    for message in messages:
        if isinstance(message, dict) and str(message.get("from", message.get("role"))).lower() in ASSISTANTS:
            yield content_text(next((message[name] for name in TEXTS if message.get(name) is not None), None))


def _native(message: dict[str, Any]) -> list[TextCall]:
    """The calls that a message has by an API."""
    if not (message.get("tool_calls") or message.get("function_call")):
        return []
    known = message_of({**message, "role": "assistant"})
    functions = [entry.function for entry in known.tool_calls or ()]
    if not functions and known.function_call is not None:
        functions = [known.function_call]
    return [TextCall(function.name or "", function.sent) for function in functions]


def _result_of(text: str, message: dict[str, Any]) -> Found:
    """A message of a tool as its result, by what the message says of the call."""
    return Found(text, string(message.get("name")), string(message.get("tool_call_id")))
