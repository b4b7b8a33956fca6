"""Reads files of messages with roles: messages, conversations or requests, line by line or whole.

A line equal to the line before it is a copy, but for a reply that nothing shows to be one; a row that goes
on with the row before it (a log of requests, each with all messages so far) goes on with its session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final

from loopaudit.core.canonical import NOT_JSON, digest, dump, parse
from loopaudit.core.events import content_text
from loopaudit.core.json import tolerant_loads
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import (
    Message,
    Plain,
    decoded,
    message_decoder,
    message_of,
    usual_messages,
    with_metadata,
)
from loopaudit.readers.kit.chat.messages import TEXT_BLOCKS, Chat, prose
from loopaudit.readers.kit.chat.rows import Row, end_of, id_of, is_message, model_of, response_of, rows_of, tools_of
from loopaudit.readers.source import Source, same_line

MAX_MISSES: Final = 32
"""Messages in an unusual spelling, one after the other, until the fast decoder is given up."""


def read_chat(source: Source, emit: Emitter, parts_of: Callable[[Message], list[Message]] | None = None) -> None:
    """Report every conversation of a source in file order.

    ``parts_of`` makes of one recorded message those that it stands for: where results are blocks inside a user's
    message, one for each result and one for the text.
    """
    probe = source.probe()
    is_log = probe.shape == "records" and any(is_message(r) for r in probe.records)
    reading = ChatReading(emit, is_log=is_log, parts_of=parts_of)
    if probe.shape == "document":
        reading.value(source.document())
    else:
        reading.several = len(probe.records) > 1
        reading.lines(source)


class ChatReading:
    """What has to be remembered between the messages and rows of one file."""

    def __init__(
        self, emit: Emitter, *, is_log: bool, parts_of: Callable[[Message], list[Message]] | None = None
    ) -> None:
        self.emit = emit
        self._parts_of = parts_of
        self.chat = Chat(emit, is_log=is_log)
        self.several = False
        self._names: dict[str, int] = {}
        self._conversation: str | None = None
        self._rows = 0
        self._doubled = False
        """Whether the last line that is no mere reply stood twice."""
        self._before = _Marks([])
        """The messages of the row before, with its response."""
        self._apart = False
        """Whether that response stood apart from them."""
        self._sent = 0
        """How many of them are not its response."""

    # -- one message or one conversation a line --------------------------------------------

    def lines(self, source: Source) -> None:
        """Report every line."""
        decode = message_decoder().decode
        before = b""
        misses = 0
        for number, line in source.lines():
            self.emit.at(number)
            is_equal = same_line(line, before)
            before = line
            message: Message | None = None
            if misses < MAX_MISSES:
                try:
                    message = with_metadata(decode(line))
                    misses = 0
                except (ValueError, RecursionError):
                    misses += 1
            if message is None or message.role is None:
                try:
                    value = tolerant_loads(line)
                except ValueError as error:
                    source.bad_line(number, line, error)
                    continue
                if not is_message(value):
                    if is_equal:
                        self.emit.copied("repeated_record", "the line stands twice in a row")
                    else:
                        self.value(value)
                    continue
                message = message_of(value)
            if is_equal:
                if self._is_copy(message):
                    self.emit.copied("repeated_message", "the same message stands twice in a row")
                    continue
            elif message.role != "assistant" or message.tool_calls:
                self._doubled = False
            if message.conversation_id is not None and message.conversation_id != self._conversation:
                self._switch(message.conversation_id)
            self.chat.report(self._parts(message))

    def _parts(self, message: Message) -> list[Message]:
        """The messages that one recorded message stands for."""
        return [message] if self._parts_of is None else self._parts_of(message)

    def _is_copy(self, message: Message) -> bool:
        """Whether a line equal to the one before it is a copy that the emitter cannot tell by ids.

        Equal results without ids may belong to parallel calls. Equal calls without ids may be
        a loop in a recording without results; where results are recorded one would stand
        between them. An agent may say the same twice: such a line is a copy if it has an id or a
        time of its own, or if what stands before the replies was written twice as well.
        """
        if _is_reply(message):
            return self._doubled or message.timestamp is not None or decoded(message.id) is not None
        self._doubled = message.role != "tool" or message.tool_call_id is not None
        if message.role == "assistant":
            if message.tool_calls:
                return self.emit.totals.results > 0 and not any(call.id for call in message.tool_calls)
            return message.function_call is None or self.emit.totals.results > 0
        return message.role in ("user", "human", "system", "developer") and not self.chat.is_person(message)

    def _switch(self, conversation: str) -> None:
        if conversation in self._names:
            self.emit.problem("split_session", "the lines of this conversation do not stand together")
        self._conversation = conversation
        self.chat.begin(self._unique(conversation))

    # -- rows ------------------------------------------------------------------------------

    def value(self, value: Any) -> None:
        """Report a decoded line or document that is no single message."""
        rows = rows_of(value)
        if rows is None:
            tools = declared_schemas(tools_of(value)) if isinstance(value, dict) else {}
            if tools and value.get("messages", []) == []:
                self.emit.tools(tools)
            else:
                self.emit.problem("unknown_record", "neither a message nor a conversation")
            return
        self.several = self.several or len(rows) > 1
        for row in rows:
            self._row(row)

    def _row(self, row: Row) -> None:
        response = response_of(row.facts) if row.facts else None
        if not row.messages and response is None:
            self.emit.problem("unknown_record", "an entry that is no conversation")
            return
        self._rows += 1
        messages = self._listed(row.messages)
        sent = len(messages)
        if response is not None:
            answer = self._parts(message_of(response))
            if not self._holds(messages, answer):
                messages += answer
        marks = _Marks(messages)
        known = self._known(marks)
        self._before, self._sent, self._apart = marks, sent, len(messages) > sent
        if not known:
            self._begin(row)
        self.chat.report(messages[known:] if known else messages, model_of(row.facts))
        end = end_of(row.facts)
        if end is not None:
            self.emit.at()
            self.emit.boundary("end", end)

    def _listed(self, values: list[Any]) -> list[Plain]:
        """The messages of a row's list."""
        if self._parts_of is None:
            try:
                return usual_messages(values)
            except (ValueError, RecursionError):
                pass
        messages: list[Plain] = []
        for value in values:
            try:
                messages += self._parts(message_of(value))
            except TypeError:
                self.emit.problem("bad_message", "an entry of a message list that is no object", damage=True)
        return messages

    def _holds(self, messages: Sequence[Plain], answer: Sequence[Plain]) -> bool:
        """Whether the response of a row is the last of its messages.

        Where the row before kept its response apart, and these are its messages with that response,
        the new one only says the same once more.
        """
        if [*map(_mark, messages[-len(answer) :])] != [*map(_mark, answer)]:
            return False
        before = self._before
        length = len(messages)
        return not (self._apart and length == len(before.messages) and _Marks(messages).agree(before, length))

    def _known(self, marks: _Marks) -> int:
        """How many messages of a row were reported with the row before, if it continues that row."""
        before = self._before
        whole = len(before.messages)
        for length in (whole, self._sent) if whole != self._sent else (whole,):
            if length < len(marks.messages) and before.has_answer(length) and marks.agree(before, length):
                return length
        return 0

    def _begin(self, row: Row) -> None:
        name = id_of(row.facts)
        if name is not None or self.several:
            self.chat.begin(self._unique(str(self._rows) if name is None else name))
        tools = declared_schemas(tools_of(row.facts))
        if tools:
            self.emit.tools(tools)

    def _unique(self, name: str) -> str:
        times = self._names[name] = self._names.get(name, 0) + 1
        return name if times == 1 else self._unique(f"{name}~{times}")


class _Marks:
    """What stands for the messages of a row where rows are compared, each made when it is first asked for.

    Most rows have nothing to do with the row before, which one of their first messages shows.
    """

    __slots__ = ("_made", "messages")

    def __init__(self, messages: Sequence[Plain]) -> None:
        self.messages = messages
        self._made: dict[int, bytes] = {}

    def agree(self, other: _Marks, length: int) -> bool:
        """Whether the first messages of both are the same ones."""
        for place in range(length):  # noqa: SIM110 - most disagree at the first or second place
            if not self._is_same(other, place):
                return False
        return True

    def has_answer(self, length: int) -> bool:
        """Whether a response is among the first messages."""
        return any(message.role and message.role[0] == "a" for message in islice(self.messages, length))

    def _is_same(self, other: _Marks, place: int) -> bool:
        one, two = self.messages[place], other.messages[place]
        if isinstance(one.content, str) and isinstance(two.content, str) and not (one.tool_calls or two.tool_calls):
            # What their marks are made of, as most rows begin with one long text.
            return (
                one.content.strip() == two.content.strip()
                and _letter(one) == _letter(two)
                and one.tool_call_id == two.tool_call_id
            )
        return self._of(place) == other._of(place)

    def _of(self, place: int) -> bytes:
        made = self._made.get(place)
        if made is None:
            made = self._made[place] = _mark(self.messages[place])
        return made


def _is_reply(message: Message) -> bool:
    """Whether a message of an assistant is text alone."""
    if message.role != "assistant" or message.tool_calls or message.function_call is not None:
        return False
    content = decoded(message.content)
    blocks = content if isinstance(content, list) else ()
    return all(not isinstance(block, dict) or block.get("type", "text") in TEXT_BLOCKS for block in blocks)


def _letter(message: Plain) -> bytes:
    return str(message.role)[:1].encode("utf-8", "replace")


def _mark(message: Plain) -> bytes:
    """Stands for a message where rows are compared: a letter for its role, and a digest."""
    calls = []
    for call in message.tool_calls or ():
        sent = call.function.sent
        value = parse(sent) if isinstance(sent, str) else sent
        calls.append((call.function.name, sent if value is NOT_JSON else value))
    content = decoded(message.content)
    text = prose(content) if message.role == "assistant" else content_text(content)
    return _letter(message) + digest(dump([text.strip(), calls, message.tool_call_id]))
