"""Reports chats whose calls stand in the prose and whose results come as messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from loopaudit.core import regex
from loopaudit.core.events import content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.rows import Row, end_of
from loopaudit.readers.kit.fields import malformed, unknown_record
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.text_calls import TextCall

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
    "function_response": "tool",
    "observation": "tool",
    "environment": "tool",
}
"""What the names of speakers mean."""

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


class TextChat:
    """Reports messages of one conversation after the other.

    ``parse`` takes calls out of a response. ``results`` finds the results in a message, and gives
    none where it is plain text. While calls are open, any message of a user is a result.
    """

    def __init__(
        self,
        emit: Emitter,
        parse: Callable[[str], tuple[str, list[TextCall]]],
        results: Callable[[str], list[Found]],
    ) -> None:
        self._emit = emit
        self._parse = parse
        self._results = results
        self._pairing = Pairing(emit)
        self._messages = 0

    def row(self, row: Row, session: str, tools: Sequence[Any] = (), line: int = 0) -> None:
        """Report one conversation, the tools declared for it, and the end that its row tells."""
        if not row.messages:
            malformed(self._emit, "a row without a conversation", line)
            return
        self._pairing.begin(session)
        self._messages = 0
        self._emit.tools(declared_schemas(tools))
        for message in row.messages:
            self.report(message, line)
        end = end_of(row.facts)
        if end is not None:
            self._emit.boundary("end", end, line=line)

    def report(self, message: Any, line: int = 0) -> None:
        """Report one message."""
        self._messages += 1
        if not isinstance(message, dict):
            malformed(self._emit, "a message that is no object", line)
            return
        speaker = message.get("from", message.get("role"))
        role = ROLES.get(speaker.lower()) if isinstance(speaker, str) else None
        content = next((message[name] for name in TEXTS if message.get(name) is not None), None)
        if role == "system":
            return
        blocks = content if isinstance(content, list) and content else [None]
        if not isinstance(content, str) and not all(isinstance(block, (str, dict)) for block in blocks):
            malformed(self._emit, "a message without text", line)
            return
        text = content_text(content)
        if role == "assistant":
            self._response(text, line)
        elif role == "tool":
            self._answers(self._results(text) or [Found(text)], line)
        elif role == "user":
            self._person(text, line)
        else:
            unknown_record(self._emit, speaker, line)

    def _response(self, text: str, line: int) -> None:
        if self._pairing.waiting():
            self._emit.problem("missing_result", "a response before the results of the calls before it", line=line)
        prose, calls = self._parse(text)
        key = f"m{self._messages}"
        for call in calls:
            if not call.name:
                self._emit.problem("nameless_call", "a call whose name cannot be read", line=line)
            self._pairing.call(call.name or "?", call.arguments, key=key, line=line)
        if prose or not calls:
            self._emit.say(prose, key=key, line=line)

    def _person(self, text: str, line: int) -> None:
        found = self._results(text)
        if found:
            self._answers(found, line)
        elif self._pairing.waiting():
            self._answers([Found(text)], line)
        elif _NUDGE.match(text):
            self._emit.problem("no_call", "the scaffold found no call in a response", line=line)
        else:
            self._emit.turn(text, line=line, id=f"m{self._messages}")

    def _answers(self, found: list[Found], line: int) -> None:
        for result in found:
            self._pairing.answer(result.id, result.output, name=result.name, exit_code=result.exit_code, line=line)
