"""Messages of LangChain and LangGraph: lists, states, checkpoints and streams.

**Written by** programs that keep ``message.model_dump()``, ``messages_to_dict``, ``dumps`` (constructors), states and
histories of threads of LangGraph, ``stream`` in the modes *values*, *updates* and *messages*, and ``astream_events``.
**Evidence**: the source of langchain-core 1.8 and langgraph-sdk 0.4, and what these write when they are run; no file of
somebody's program was seen.

**Conversation.** A state with another beginning than the one before it, or another ``thread_id``, is another
conversation. States repeat all messages so far: each counts once, by its id, or, where messages have none, by what it
adds to the state before. Histories of threads, which begin with the newest state, are put in order.

**Batch.** One AI message, put together of its chunks. Calls that LangChain could not parse (``invalid_tool_calls``)
count, with the text that the model sent. **Turn.** A human message. A removed message (``RemoveMessage``) is a
compaction.

**Results** by ``tool_call_id``. Of ``astream_events`` a person's messages in the inputs of chains, the outputs of
models and tools, and the errors of tools are read; all other events repeat them.

**Failure.** ``status`` of tool messages, which only newer versions write.

**Not carried**: times, except of states; tool schemas; exit codes.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any, Final

from loopaudit.core.canonical import digest, dump
from loopaudit.core.events import Usage, content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.formats.langchain.records import (
    CHUNK,
    ROLES,
    found_in,
    is_own,
    order_of,
    plain,
    speaker_of,
    state_of,
    thread_of,
)
from loopaudit.readers.kit.chat.messages import prose
from loopaudit.readers.kit.fields import (
    documents,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
)
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

MAX_SAMPLE: Final = 200
"""Messages that are looked at to recognise the format, at most."""

MAX_LOOKED_AT: Final = 500
"""Objects and lists of a line or document that are searched for them, at most."""

_SILENT: Final = frozenset({"__interrupt__", "__start__", "__metadata__", "event"})
"""Members of what a stream says besides messages."""


def sniff(probe: Probe) -> str | None:
    """Claim messages of type human, ai and tool, in whatever stands around them."""
    every = (m for root in documents(probe)[:50] for m in found_in(root, steps=iter(range(MAX_LOOKED_AT))))
    seen = list(islice(every, MAX_SAMPLE))
    speakers = {speaker_of(message) for message in seen}
    if not speakers & {"human", "ai"}:
        return None
    if any(map(is_own, seen)) or {"human", "ai"} <= speakers:
        return "messages of type human, ai and tool"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every message once."""
    reading = _Reading(emit)
    for value in values(source, emit):
        reading.root(value)
    reading.flush()


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.names = Names()
        self.responses = 0
        self.turns = 0
        self.chunk: dict[str, Any] | None = None
        """The pieces of a message that are there so far, put together."""
        self.chunk_line = 0
        self.thread: str | None = None
        self.conversations = 0
        self.is_open = False
        self._forget()

    def _forget(self) -> None:
        self.ids: set[str] = set()
        """Ids of the messages of this conversation."""
        self.state: Counter[bytes] = Counter()
        """Marks of the messages of the last state."""
        self.first: bytes | None = None
        self.asked: set[bytes] = set()
        """Marks of a person's messages in the events of a stream."""

    # -- what stands around messages ---------------------------------------------------------

    def root(self, value: Any) -> None:
        """Report a line or a document."""
        self.emit.at()
        if plain(value) is not None:
            self.message(value)
        elif isinstance(value, dict):
            self.around(value)
        elif isinstance(value, list):
            self.listed(value)
        else:
            not_a_record(self.emit)

    def listed(self, value: list[Any]) -> None:
        """Report a list: of messages, of states, of events, or a message of a stream with its metadata."""
        if any(plain(entry) is not None for entry in value):
            is_pair = len(value) == 2 and isinstance(value[1], dict) and "langgraph_node" in value[1]
            if not is_pair and self.emit.line == 0 and not self.is_open:
                self.begin(None)
            for entry in value[:1] if is_pair else value:
                if plain(entry) is not None:
                    self.message(entry)
                else:
                    self.odd(entry)
            return
        if len(value) == 2 and isinstance(value[0], str):
            value = value[1:]  # The mode of a stream, before its value.
        elif value and all(order_of(entry) is not None for entry in value):
            # The sort is stable: states of one step keep their order.
            value = sorted(value, key=lambda entry: (str(type(order_of(entry))), order_of(entry)))
        for entry in value:
            if isinstance(entry, (dict, list)):
                self.root(entry)
            else:
                not_a_record(self.emit)

    def around(self, value: dict[str, Any]) -> None:
        """Report an object around messages."""
        event = value.get("event")
        if isinstance(event, str) and event.startswith("on_") and "data" in value:
            self.event(event, value)
            return
        state = state_of(value)
        self.emit.at(time=moment(value.get("created_at")))
        if state is not None:
            self.whole(state, thread_of(value))
            return
        found = list(found_in(value))
        if not found:
            if value.get("values") != {} and _SILENT.isdisjoint(value):
                self.odd(value)
            return
        for message in found:
            self.message(message)

    def odd(self, value: Any) -> None:
        """Count what is no message where one should be."""
        if isinstance(value, dict):
            named = value.get("type", value.get("role"))
            if isinstance(named, str) and named not in ROLES:
                self.emit.problem("unknown_record", f"messages of type {named[:40]!r} are not known")
                return
        malformed(self.emit, "no message where one should be")

    def event(self, event: str, value: dict[str, Any]) -> None:
        """Report an event of ``astream_events``."""
        data = mapping(value["data"])
        if event == "on_chain_start":
            # Every chain inside has the messages so far as its input; only a person's are nowhere else.
            for message in found_in(data.get("input")):
                if speaker_of(message) == "human" and (mark := digest(dump(content_of(message)))) not in self.asked:
                    self.asked.add(mark)
                    self.message(message)
        elif event == "on_chat_model_end":
            for message in found_in(data.get("output")):
                self.message(message)
        elif event in ("on_tool_end", "on_tool_error"):
            found = list(found_in(data.get("output")))
            for message in found:
                self.message(message)
            if not found:
                failed = event == "on_tool_error"
                output = data.get("error") if failed else data.get("output")
                self.flush()
                self.pairing.answer(
                    data.get("tool_call_id"),
                    content_text(output),
                    name=value.get("name"),
                    failed=failed or None,
                )

    def whole(self, state: list[Any], thread: str | None) -> None:
        """Report what a state adds to the one before it, or a conversation that begins with it."""
        marks = [_mark(entry) for entry in state]
        goes_on = self.is_open and (thread is None or self.thread in (None, thread))
        if goes_on and thread is None and marks and self.first is not None:
            goes_on = marks[0] == self.first or any(mark in self.state for mark in marks)
        if not goes_on:
            self.begin(thread)
        self.thread = thread if thread is not None else self.thread
        self.first = marks[0] if marks else self.first
        known = Counter(self.state)
        self.state = Counter(marks)
        for entry, mark in zip(state, marks, strict=True):
            if known[mark]:
                known[mark] -= 1
            elif plain(entry) is None:
                self.odd(entry)
            else:
                self.message(entry)

    def begin(self, thread: str | None) -> None:
        """Begin another conversation."""
        self.flush()
        self.conversations += 1
        if thread is not None or self.conversations > 1:
            self.pairing.begin(self.names.unique(thread or str(self.conversations)))
        self.is_open = True
        self.thread = thread
        self._forget()

    # -- messages ----------------------------------------------------------------------------

    def message(self, value: Any) -> None:
        """Report a message that was not reported before."""
        message = plain(value)
        assert message is not None
        self.is_open = True
        role = ROLES[message["type"]]
        own = string(message.get("id"))
        if message["type"].endswith(CHUNK) and role == "ai":
            self.piece(message, own)
            return
        self.flush()
        if role == "remove":
            self.emit.boundary("compaction", "messages were removed")
            return
        if own is not None:
            if own in self.ids:
                return  # A state or an event that repeats it.
            self.ids.add(own)
        if role == "ai":
            self.response(message)
        elif role == "tool":
            self.result(message)
        elif role == "human" or (role == "chat" and message.get("role") in ("user", "human")):
            content = message.get("content")
            if not isinstance(content, (str, list)):
                malformed(self.emit, "a message without content")
            self.turns += 1
            self.emit.turn(content_text(content), id=f"turn {self.turns}")
        elif role == "chat" and message.get("role") in ("assistant", "ai"):
            self.response(message)

    def piece(self, message: dict[str, Any], own: str | None) -> None:
        """Add a piece of a response to those before it. Pieces of a response that is known already are left out."""
        if own is not None and own in self.ids and (self.chunk is None or self.chunk.get("id") != own):
            return
        if self.chunk is None or (own is not None and self.chunk.get("id") != own):
            self.flush()
            self.chunk = {"id": own, "type": "ai", "content": [], "parts": {}}
            self.chunk_line = self.emit.line
            if own is not None:
                self.ids.add(own)
        chunk = self.chunk
        content = message.get("content")
        chunk["content"] += content if isinstance(content, list) else [content] if isinstance(content, str) else []
        for place, part in enumerate(items(message.get("tool_call_chunks"))):
            piece = mapping(part)
            key = piece.get("index") if isinstance(piece.get("index"), int) else string(piece.get("id")) or place
            whole = chunk["parts"].setdefault(key, {"name": "", "args": "", "id": None})
            whole["name"] += string(piece.get("name")) or ""
            whole["args"] += string(piece.get("args")) or ""
            whole["id"] = whole["id"] or piece.get("id")
        for name in ("usage_metadata", "response_metadata"):
            if message.get(name):
                chunk[name] = message[name]

    def flush(self) -> None:
        """Report the response that came in pieces."""
        chunk, self.chunk = self.chunk, None
        if chunk is None:
            return
        text = all(isinstance(piece, str) for piece in chunk["content"])
        content: Any = "".join(chunk["content"]) if text else chunk["content"]
        calls = [part for part in chunk.pop("parts").values() if part["name"] or part["args"]]
        place = self.emit.line, self.emit.time, self.emit.agent
        self.emit.at(self.chunk_line)
        self.response({**chunk, "content": content, "invalid_tool_calls": calls})
        self.emit.at(*place)

    def response(self, message: dict[str, Any]) -> None:
        """Report an AI message with its calls."""
        self.responses += 1
        key = f"m{self.responses}"
        about = mapping(message.get("response_metadata"))
        model = string(about.get("model_name")) or string(about.get("model"))
        calls = [*self.calls(message, "tool_calls"), *self.calls(message, "invalid_tool_calls")]
        if not calls:
            calls = self.older(message)
        for name, arguments, own in calls:
            self.pairing.call(name, arguments, id=own, key=key, model=model)
        text = prose(message.get("content"))
        if text or not calls:
            self.emit.say(text, key=key, model=model)
        usage = _usage(message)
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)

    def calls(self, message: dict[str, Any], name: str) -> list[tuple[Any, Any, Any]]:
        """The calls of a list: name, arguments, id."""
        listed = message.get(name)
        if listed is not None and not isinstance(listed, list):
            malformed(self.emit, f"{name} that are no list")
        found = []
        for entry in items(listed):
            call = mapping(entry)
            function = mapping(call.get("function"))  # Some stores keep the calls as the API had them.
            arguments = call.get("args", function.get("arguments", {}))
            if "args" not in call and not function:
                malformed(self.emit, "a call without arguments")
            found.append(
                (call.get("name", function.get("name")), "" if arguments is None else arguments, call.get("id"))
            )
        return found

    def older(self, message: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
        """The calls where older versions kept them: as the model's API had them."""
        more = mapping(message.get("additional_kwargs"))
        found = self.calls(more, "tool_calls")
        function = more.get("function_call")
        if isinstance(function, dict) and not found:
            found = [(function.get("name"), function.get("arguments", {}), None)]
        return found

    def result(self, message: dict[str, Any]) -> None:
        """Report a tool message."""
        content = message.get("content")
        if not isinstance(content, (str, list)):
            malformed(self.emit, "a result without content")
        own = message.get("tool_call_id")
        if own is None and message["type"] in ("tool", "ToolMessage"):
            malformed(self.emit, "a result without the id of its call")
        status = string(message.get("status"))
        failed = True if status == "error" else False if status == "success" else None
        self.pairing.answer(own, content_text(content), name=message.get("name"), failed=failed)


def content_of(value: Any) -> Any:
    """The content of a message in any form."""
    return mapping(plain(value)).get("content")


def _mark(value: Any) -> bytes:
    """Stands for a message where states are compared: its id, else what is in it."""
    message = plain(value)
    if message is None:
        return digest(dump(value))
    own = string(message.get("id"))
    if own is not None:
        return own.encode("utf-8", "replace")
    known = [message.get(name) for name in ("content", "tool_calls", "tool_call_id", "additional_kwargs")]
    return digest(dump([ROLES[message["type"]], *known]))


def _usage(message: dict[str, Any]) -> Usage | None:
    counts = mapping(message.get("usage_metadata"))
    details = mapping(counts.get("input_token_details"))
    if counts:
        read, written = details.get("cache_read"), details.get("cache_creation")
        return tokens(counts.get("input_tokens"), counts.get("output_tokens"), read=read, written=written)
    counts = mapping(mapping(message.get("response_metadata")).get("token_usage"))
    return tokens(counts.get("prompt_tokens"), counts.get("completion_tokens"))


READER: Final = Reader(
    id="langchain",
    title="LangChain and LangGraph messages",
    looked_for="messages of type human, ai and tool with content, tool_calls and tool_call_id, plain, under data, or "
    "as constructors with lc, id and kwargs; in lists, states, checkpoints or streams",
    sniff=sniff,
    read=read,
    carries={
        "results": "by tool_call_id",
        "failure": "status of tool messages, in newer versions",
        "tokens": "usage_metadata",
        "time": "of states",
        "text": "yes",
        "batches": "one AI message",
    },
    evidence="source",
    written_by="LangChain, LangGraph, programs that keep their messages",
    where="anywhere",
)
