"""Sessions of Continue: one JSON document.

**Written by** Continue's editor extensions and its command line, to ``~/.continue/sessions/<id>.json``.
**Evidence**: the type declarations in the program's source; no file of somebody's was seen.

**Conversation** = one session. **Batch** = one assistant item with ``toolCalls``. **Turn** = an item of role ``user``.
**Results** = messages of role ``tool`` by ``toolCallId``; of calls that have none, the output of their
``toolCallStates``.

**Failure.** ``errored`` and ``canceled`` of a call's state.

**Not carried**: times, tool schemas, exit codes; tokens only of the whole session.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.messages import prose
from loopaudit.readers.kit.fields import documents, items, malformed, mapping, not_a_record, string
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_ENDED: Final = frozenset({"done", "errored", "canceled"})
_OPEN: Final = frozenset({"generating", "generated", "calling"})
_ITEM: Final = ("contextItems", "toolCallStates", "toolCallState", "editorState", "promptLogs")


def sniff(probe: Probe) -> str | None:
    """Claim a ``history`` of items with a ``message`` beside ``sessionId``."""
    for root in documents(probe)[:5]:
        found = mapping(root)
        for item in items(found.get("history"))[:20]:
            message = mapping(item).get("message")
            if isinstance(message, dict) and "role" in message and any(name in item for name in _ITEM):
                return "history of items with message and contextItems"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every session."""
    names = Names()
    for root in values(source, emit):
        history = mapping(root).get("history")
        if not isinstance(history, list):
            not_a_record(emit)
            continue
        session = _Session(emit)
        session.pairing.begin(names.unique(string(root.get("sessionId")) or "session"))
        session.report(history, string(root.get("chatModelTitle")))


class _Session:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)

    def report(self, history: list[Any], model: str | None) -> None:
        """Report every item; results that stand only in states follow their calls."""
        answered = {
            mapping(mapping(item).get("message")).get("toolCallId")
            for item in history
            if mapping(mapping(item).get("message")).get("role") == "tool"
            and isinstance(mapping(mapping(item).get("message")).get("toolCallId"), str)
        }
        states: dict[str, dict[str, Any]] = {}
        for number, item in enumerate(history, 1):
            message = mapping(item).get("message")
            if not isinstance(message, dict):
                malformed(self.emit, "an item without its message")
                continue
            role = message.get("role")
            content = message.get("content")
            if role in ("user", "assistant", "tool") and not isinstance(content, (str, list)):
                malformed(self.emit, "a message without content")
            if role == "user":
                self.emit.turn(content_text(content), id=f"i{number}")
            elif role == "assistant":
                own = self.states(item)
                states.update(own)
                self.response(message, f"i{number}", model)
                for id_, state in own.items():
                    if id_ not in answered:
                        self.state(id_, state)
            elif role == "tool":
                self.result(message, states)
            elif role not in ("system", "thinking"):
                malformed(self.emit, "a message of an unknown role")

    def states(self, item: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """How the calls of an item ended, by their ids."""
        listed = item.get("toolCallStates")
        if listed is not None and not isinstance(listed, list):
            malformed(self.emit, "states of calls that are no list")
        found = [*items(listed), *([item["toolCallState"]] if isinstance(item.get("toolCallState"), dict) else [])]
        states = {}
        for state in found:
            own = string(mapping(state).get("toolCallId"))
            if own is None:
                malformed(self.emit, "a state without the id of its call")
            else:
                states[own] = mapping(state)
        return states

    def response(self, message: dict[str, Any], key: str, model: str | None) -> None:
        """Report a response with its calls."""
        listed = message.get("toolCalls")
        if listed is not None and not isinstance(listed, list):
            malformed(self.emit, "calls that are no list")
        for entry in items(listed):
            function = mapping(mapping(entry).get("function"))
            if "arguments" not in function:
                malformed(self.emit, "a call without arguments")
            arguments = function.get("arguments")
            self.pairing.call(
                function.get("name"),
                {} if arguments is None else arguments,
                id=mapping(entry).get("id"),
                key=key,
                model=model,
            )
        text = prose(message.get("content"))
        if text or not listed:
            self.emit.say(text, key=key, model=model)

    def result(self, message: dict[str, Any], states: dict[str, dict[str, Any]]) -> None:
        """Report a message of a tool."""
        own = string(message.get("toolCallId"))
        if own is None:
            malformed(self.emit, "a result without the id of its call")
        self.answer(own, content_text(message.get("content")), states.get(own or "", {}))

    def state(self, own: str, state: dict[str, Any]) -> None:
        """Report the output that stands in a call's state."""
        status = string(state.get("status"))
        if status is None:
            malformed(self.emit, "a state of a call without its status")
        elif status not in _ENDED and status not in _OPEN:
            self.emit.problem("unknown_record", "a state of a call whose status is not known")
        if status not in _ENDED:
            return
        output = state.get("output")
        if not isinstance(output, (list, type(None))):
            malformed(self.emit, "an output that is no list")
        self.answer(own, "\n".join(content_text(item) for item in items(output)), state)

    def answer(self, own: str | None, text: str, state: dict[str, Any]) -> None:
        """Report a result by its words and the state of its call."""
        status = string(state.get("status"))
        failed = status == "errored" if status in ("done", "errored") else None
        self.pairing.answer(own, text, failed=failed, status="cancelled" if status == "canceled" else None)


READER: Final = Reader(
    id="continue-session",
    title="Continue session",
    looked_for="sessionId and history of items with message, contextItems and toolCallStates",
    sniff=sniff,
    read=read,
    carries={
        "results": "by toolCallId",
        "failure": "the state of a call",
        "text": "yes",
        "batches": "one assistant item",
    },
    evidence="source",
    written_by="Continue",
    where="~/.continue/sessions/<id>.json",
)
