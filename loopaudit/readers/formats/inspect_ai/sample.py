"""One sample of an Inspect log: its messages, or its events where they hold more calls."""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.events import Status, content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.messages import prose
from loopaudit.readers.kit.fields import items, malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import tokens

ATTACHMENT: Final = "attachment://"
_REFUSED: Final = "approval"
"""The type of a tool's error where an approver refused the call."""

MAX_DEPTH: Final = 50
"""Levels of a value in which attachments are looked for."""


class InspectSample:
    """Reports a decoded sample to an emitter whose session has begun."""

    def __init__(self, emit: Emitter, sample: dict[str, Any]) -> None:
        self._emit = emit
        self._sample = sample
        self._pairing = Pairing(emit)
        self._attachments = mapping(sample.get("attachments"))
        self._events = [event for event in items(sample.get("events")) if isinstance(event, dict)]
        self._responses = 0
        self._turns = 0

    def report(self) -> None:
        """Report everything, and the end."""
        tools = [tool for event in self._events if event.get("event") == "model" for tool in items(event.get("tools"))]
        self._emit.tools(
            declared_schemas([self._whole(tool) for tool in {_name(tool): tool for tool in tools}.values()])
        )
        events = [event for event in self._events if event.get("event") == "tool"]
        messages: list[Any] = self._sample["messages"]
        if len(events) > sum(len(items(mapping(m).get("tool_calls"))) for m in messages) and self._has_responses():
            self._report_events()
        else:
            models = self._by_message()
            for message in messages:
                self._message(self._whole(message), models)
        self._end()

    def _has_responses(self) -> bool:
        return any(event.get("event") == "model" and _answer(event) for event in self._events)

    def _end(self) -> None:
        self._emit.at()
        error, limit = self._sample.get("error"), self._sample.get("limit")
        if isinstance(error, dict):
            self._emit.boundary("end", string(error.get("message")) or "error")
        elif isinstance(limit, dict):
            self._emit.boundary("end", f"limit: {limit.get('type')}")

    # -- messages --------------------------------------------------------------------------

    def _by_message(self) -> dict[str, dict[str, Any]]:
        """Model events by the id of their message, and by the ids of its calls."""
        found: dict[str, dict[str, Any]] = {}
        for event in self._events:
            answer = _answer(event) if event.get("event") == "model" else {}
            for value in (answer, *map(mapping, items(answer.get("tool_calls")))):
                if isinstance(value.get("id"), str):
                    found.setdefault(value["id"], event)
        return found

    def _message(self, message: Any, models: dict[str, dict[str, Any]]) -> None:
        self._emit.at()
        role = mapping(message).get("role")
        if role == "user":
            self._turns += 1
            if not isinstance(message.get("content"), (str, list)):
                malformed(self._emit, "a user's message without text")
            self._emit.turn(content_text(message.get("content")), id=f"m{self._turns}")
        elif role == "assistant":
            ids = [message.get("id"), *(mapping(call).get("id") for call in items(message.get("tool_calls"))[:1])]
            event = next((models.pop(own) for own in ids if isinstance(own, str) and own in models), {})
            self._response(message, event)
        elif role == "tool":
            self._answer(
                message.get("tool_call_id"), message.get("content"), message.get("function"), message.get("error")
            )
        elif role != "system":
            unknown_record(self._emit, role)

    def _response(self, message: dict[str, Any], event: dict[str, Any]) -> None:
        self._responses += 1
        key = f"r{self._responses}"
        self._emit.at(time=moment(event.get("timestamp")))
        output = mapping(event.get("output"))
        model = string(message.get("model")) or string(output.get("model")) or string(event.get("model"))
        listed = [] if message.get("tool_calls") is None else message["tool_calls"]
        if not isinstance(listed, list):
            malformed(self._emit, "calls that are no list")
            listed = []
        for entry in listed:
            call = mapping(entry)
            name = call.get("function")
            if isinstance(name, dict):
                name = name.get("name")
            if "arguments" not in call:
                malformed(self._emit, "a call without arguments")
            self._pairing.call(name, call.get("arguments"), id=call.get("id"), key=key, model=model)
        text = prose(message.get("content"))
        if text or not listed:
            self._emit.say(text, key=key, model=model)
        used = mapping(output.get("usage"))
        usage = tokens(
            used.get("input_tokens"),
            used.get("output_tokens"),
            read=used.get("input_tokens_cache_read"),
            written=used.get("input_tokens_cache_write"),
        )
        if usage is not None:
            self._emit.usage(usage, key=key, model=model)

    def _answer(self, id: Any, content: Any, name: Any, error: Any) -> None:
        if error is not None and not isinstance(error, dict):
            malformed(self._emit, "an error that is no object")
        failed = error is not None
        status: Status | None = "denied" if mapping(error).get("type") == _REFUSED else None
        words = string(mapping(error).get("message"))
        output = content if content not in (None, "") else words or ""
        self._pairing.answer(id, output, name=name, failed=failed, status=status, error=words or "")

    # -- events ----------------------------------------------------------------------------

    def _report_events(self) -> None:
        """Report the input, the model's responses and the tools' results from the events."""
        given = self._whole(self._sample.get("input"))
        for message in given if isinstance(given, list) else [{"role": "user", "content": given}]:
            if mapping(message).get("role") == "user":
                self._message(message, {})
        for event in self._events:
            kind = event.get("event")
            if kind == "model" and _answer(event):
                self._response(self._whole(_answer(event)), event)
            elif kind == "tool":
                self._emit.at(time=moment(event.get("completed")) or moment(event.get("timestamp")))
                self._answer(
                    event.get("id"), self._whole(event.get("result")), event.get("function"), event.get("error")
                )
            elif kind == "compaction":
                self._emit.at(time=moment(event.get("timestamp")))
                self._emit.boundary("compaction")

    def _whole(self, value: Any, depth: int = 0) -> Any:
        """The value with its attachments put in."""
        if isinstance(value, str):
            if value.startswith(ATTACHMENT):
                found = self._attachments.get(value[len(ATTACHMENT) :])
                return found if isinstance(found, str) else value
            return value
        if depth == MAX_DEPTH or not self._attachments or not isinstance(value, (list, dict)):
            return value
        # Changed only where something stands in it: most values have no attachment.
        changed = value
        for place, entry in enumerate(value) if isinstance(value, list) else value.items():
            if isinstance(entry, (list, dict)) or (isinstance(entry, str) and entry.startswith(ATTACHMENT)):
                whole = self._whole(entry, depth + 1)
                if whole is not entry:
                    if changed is value:
                        changed = value.copy()
                    changed[place] = whole
        return changed


def _answer(event: dict[str, Any]) -> dict[str, Any]:
    """The message that a model event gave."""
    choices = items(mapping(event.get("output")).get("choices"))
    return mapping(mapping(choices[0]).get("message")) if choices else {}


def _name(tool: Any) -> str:
    return str(mapping(tool).get("name"))
