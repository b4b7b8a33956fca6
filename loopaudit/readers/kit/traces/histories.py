"""What models are given, of which each call repeats what an earlier one was given, with more behind.

A trace holds the whole conversation once for each model call, and so grows with the square of their number.
:class:`Histories` reads what stood in an earlier call only once: the messages of several spans are the same objects,
which nobody may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from loopaudit.core.canonical import has_negative_zero
from loopaudit.readers.kit.traces.facts import PREFIXES, Facts, Groups, numbered, tree_of
from loopaudit.readers.kit.traces.messages import SpanMessage, messages_of, messages_of_list, usual_message
from loopaudit.readers.kit.traces.spans import ABSENT

MAX_HISTORIES: Final = 4
"""Texts that are remembered: as many agents may work in turns."""

NUMBERED: Final = PREFIXES[:2]
"""How the names of numbered attributes with messages begin, in the order in which they are looked for."""


class Histories:
    """Reads the messages that the models of a trace were given."""

    __slots__ = ("_made", "_texts")

    def __init__(self) -> None:
        self._texts: list[tuple[str, list[SpanMessage]]] = []
        """Lists without their last bracket, and what is in them; newest last."""
        self._made: dict[tuple[str, str], tuple[Facts, SpanMessage]] = {}
        """Messages that were made of numbered texts, by prefix and number, with their places and texts."""

    def of_list(self, value: Any) -> list[SpanMessage] | None:
        """What :func:`messages_of` gives of a list or its JSON text; ``None`` for what is none."""
        if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
            found = self._of_text(value)
            if found is not None:
                return found
        return messages_of_list(value, "user")

    def _of_text(self, text: str) -> list[SpanMessage] | None:
        known = self._texts
        place = next((n for n in reversed(range(len(known))) if text.startswith(known[n][0])), None)
        if place is None:
            found = _usual_messages(text)
        else:
            begun, before = known[place]
            if len(text) == len(begun) + 1:
                return before
            # Where that list ended, this one must go on; what stands behind the comma is a list of its own.
            added = _usual_messages("[" + text[len(begun) + 1 :]) if text[len(begun)] == "," else None
            found = before + added if added else None
        if not found:
            return None
        if place is not None or len(known) == MAX_HISTORIES:
            del known[place or 0]
        known.append((text[:-1], found))
        return found

    def of_numbered(self, attributes: Mapping[str, Any], groups: Groups) -> list[SpanMessage] | None:
        """What :func:`messages_of` gives of numbered attributes; ``None`` where there are none.

        ``groups`` are theirs (:func:`~loopaudit.readers.kit.traces.facts.grouped`).
        """
        for prefix in NUMBERED:
            found = None if prefix in attributes or prefix not in groups else self._of_texts(prefix, groups[prefix])
            if found:
                return found
            given = numbered(attributes, prefix, groups)
            if given is not ABSENT:
                return messages_of(given, "user")
        return None

    def _of_texts(self, prefix: str, objects: Mapping[str, Facts]) -> list[SpanMessage] | None:
        """The messages, if all of them are usual ones made of texts, as nearly always; else ``None``."""
        if not all(map(str.isdecimal, objects)):
            return None
        found = []
        for number in sorted(objects, key=int):
            key, facts = (prefix, number), objects[number]
            made = self._made.get(key)
            if made is None or made[0] != facts:
                if any(type(value) is not str for _, value in facts):
                    return None  # values of other types may be equal and yet differ
                value = tree_of(facts)
                message = usual_message(value, "user") if isinstance(value, dict) else None
                if message is None:
                    return None
                made = self._made[key] = (facts, message)
            found.append(made[1])
        return found


def _usual_messages(text: str) -> list[SpanMessage] | None:
    """The messages of a list, if all are usual ones, and the text is JSON that is read without tolerance."""
    try:
        data = text.encode()
        entries = orjson.loads(data)
    except ValueError:
        return None
    if has_negative_zero(data):
        return None
    found: list[SpanMessage] = []
    for entry in entries:
        message = usual_message(entry, "user") if isinstance(entry, dict) else None
        if message is None:
            return None
        found.append(message)
    return found
