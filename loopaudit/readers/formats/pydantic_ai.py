"""Message histories of Pydantic AI: requests and responses made of parts.

**Written by** programs that store ``all_messages_json()`` or ``new_messages_json()``. A bare list, a list in
``messages``, ``message_history`` or ``all_messages`` of an object, lists of either, or one of them a line. Read as the
library's source writes them; no real file was seen.

**Conversation** = each list. **Batch** = the calls of one response. **Turn** = a request with a ``user-prompt`` part.
**Results**: ``tool-return`` and ``retry-prompt`` parts, by ``tool_call_id``.

**Failure.** A ``retry-prompt`` (a validation error, or the tool asks to try again), or ``outcome: failed``. ``denied``
is a refusal, ``interrupted`` is cancelled. A ``retry-prompt`` without a tool is a nudge and no turn.

**Not carried**: tool schemas, sub-agents, exit codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from loopaudit.core.events import Status, content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.rows import id_of
from loopaudit.readers.kit.fields import items, malformed, mapping, moment, not_a_record, string, unknown_record
from loopaudit.readers.kit.pairing import Pairing, value_text
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

LISTS: Final = ("messages", "message_history", "all_messages", "new_messages")
_CALLS: Final = frozenset({"tool-call", "builtin-tool-call"})
_RETURNS: Final = frozenset({"tool-return", "builtin-tool-return"})
_SILENT: Final = frozenset({"system-prompt", "thinking", "file"})
_OUTCOMES: Final[dict[Any, Status]] = {"denied": "denied", "interrupted": "cancelled"}


def sniff(probe: Probe) -> str | None:
    """Claim messages of kind request or response whose parts have a part_kind."""
    for root in [probe.document] if probe.shape == "document" else probe.records[:20]:
        for _, messages in _histories(root):
            for message in map(mapping, messages[:20]):
                if message.get("kind") in ("request", "response") and any(
                    "part_kind" in mapping(part) for part in items(message.get("parts"))
                ):
                    return "messages of kind request and response with part_kind"
    return None


def _histories(value: Any, depth: int = 0) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """The lists of messages in a value, with the object around each."""
    if isinstance(value, list):
        if depth < 2 and value and not any(isinstance(e, dict) and "parts" in e for e in value[:50]):
            for entry in value:
                yield from _histories(entry, depth + 1)
        else:
            yield {}, value
    elif isinstance(value, dict):
        name = next((name for name in LISTS if isinstance(value.get(name), list)), None)
        if name is not None:
            yield value, value[name]
        elif "parts" in value or "kind" in value:
            yield value, [value]


def read(source: Source, emit: Emitter) -> None:
    """Report every history in file order."""
    names = Names()
    history = _History(emit)
    rows = 0
    for root in values(source, emit):
        found = False
        for facts, messages in _histories(root):
            found = True
            if messages != [facts]:  # else one message a line, which goes on
                rows += 1
                name = id_of(facts)
                if name is not None or rows > 1:
                    history.begin(names.unique(name or str(rows)))
            for message in messages:
                history.report(message)
        if not found:
            not_a_record(emit)


class _History:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.messages = 0

    def begin(self, session: str) -> None:
        """Begin another conversation."""
        self.pairing.begin(session)

    def report(self, value: Any) -> None:
        """Report one request or response."""
        self.messages += 1
        message = mapping(value)
        kind = string(message.get("kind"))
        if not isinstance(message.get("parts"), list):
            malformed(self.emit, "a message without parts")
        elif kind == "request":
            self._request(message)
        elif kind == "response":
            self._response(message)
        else:
            unknown_record(self.emit, kind)

    def _request(self, message: dict[str, Any]) -> None:
        prompts = []
        at: str | float | None = None
        for part in map(mapping, message["parts"]):
            kind = string(part.get("part_kind"))
            if kind == "user-prompt":
                if not isinstance(part.get("content"), (str, list)):
                    malformed(self.emit, "a prompt without content")
                prompts.append(content_text(part.get("content")))
                at = moment(part.get("timestamp")) or at
            elif kind in _RETURNS or kind == "retry-prompt":
                self._result(part, kind)
            elif kind not in _SILENT:
                unknown_record(self.emit, kind)
        if prompts:
            self.emit.turn("\n".join(prompts), at=at, id=f"m{self.messages}")

    def _response(self, message: dict[str, Any]) -> None:
        key = f"m{self.messages}"
        self.emit.at(time=moment(message.get("timestamp")))
        model = string(message.get("model_name"))
        texts = []
        calls = 0
        for part in map(mapping, message["parts"]):
            kind = string(part.get("part_kind"))
            if kind in _CALLS:
                calls += 1
                arguments = part.get("args")
                if "args" not in part:
                    malformed(self.emit, "a call without arguments")
                self.pairing.call(
                    part.get("tool_name"),
                    {} if arguments is None else arguments,
                    id=part.get("tool_call_id"),
                    key=key,
                    model=model,
                )
            elif kind in _RETURNS:
                self._result(part, kind)
            elif kind == "text":
                if not isinstance(part.get("content"), str):
                    malformed(self.emit, "a part of text without text")
                texts.append(content_text(part.get("content")))
            elif kind == "compaction":
                self.emit.boundary("compaction")
            elif kind not in _SILENT:
                unknown_record(self.emit, kind)
        text = "\n".join(filter(None, texts))
        if text or not calls:
            self.emit.say(text, key=key, model=model)
        used = mapping(message.get("usage"))
        usage = tokens(
            used.get("input_tokens", used.get("request_tokens")),
            used.get("output_tokens", used.get("response_tokens")),
            read=used.get("cache_read_tokens"),
            written=used.get("cache_write_tokens"),
        )
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)

    def _result(self, part: dict[str, Any], kind: Any) -> None:
        is_retry = kind == "retry-prompt"
        if is_retry and part.get("tool_name") is None:
            self.emit.problem("retry_prompt", "the library asked for another answer")
            return
        if "content" not in part:
            malformed(self.emit, "a result without content")
        outcome = string(part.get("outcome"))
        self.pairing.answer(
            part.get("tool_call_id"),
            value_text(part.get("content")),
            name=part.get("tool_name"),
            failed=is_retry or outcome == "failed" or outcome in _OUTCOMES,
            status=_OUTCOMES.get(outcome) if outcome else None,
            at=moment(part.get("timestamp")),
        )


READER: Final = Reader(
    id="pydantic-ai",
    title="Pydantic AI messages",
    looked_for="messages of kind request and response with parts of a part_kind: user-prompt, tool-call, tool-return",
    sniff=sniff,
    read=read,
    carries={
        "results": "tool-return and retry-prompt parts",
        "failure": "retry-prompt and outcome; refusals told apart",
        "tokens": "usage of each response",
        "time": "of prompts, responses and results",
        "text": "yes",
        "batches": "one response",
    },
    evidence="source",
    written_by="programs on Pydantic AI",
    where="where the program keeps its histories",
)
