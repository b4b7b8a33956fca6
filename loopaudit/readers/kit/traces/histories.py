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
from loopaudit.readers.kit.traces.facts import numbered, plain_tree
from loopaudit.readers.kit.traces.messages import SpanMessage, messages_of, messages_of_list, usual_message
from loopaudit.readers.kit.traces.spans import ABSENT

MAX_HISTORIES: Final = 4
"""Texts that are remembered: as many agents may work in turns."""

NUMBERED: Final = ("llm.input_messages", "gen_ai.prompt")
"""How the names of numbered attributes with messages begin, in the order in which they are looked for."""


class Histories:
    """Reads the messages that the models of a trace were given."""

    __slots__ = ("_made", "_parts", "_texts")

    def __init__(self) -> None:
        self._texts: list[tuple[str, list[SpanMessage]]] = []
        """Lists without their last bracket, and what is in them; newest last."""
        self._made: dict[str, tuple[list[str], SpanMessage]] = {}
        """Messages that were made of numbered attributes, by the name of their object, with these attributes."""
        self._parts: dict[str, tuple[str, str, str]] = {}
        """Names of attributes taken apart: a prefix, the number behind it, and the rest; without them, of none."""

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

    def of_numbered(self, attributes: Mapping[str, Any], names: str) -> list[SpanMessage] | None:
        """What :func:`messages_of` gives of numbered attributes; ``None`` where there are none.

        ``names`` are all names in one text.
        """
        for prefix in NUMBERED:
            if prefix in names:
                found = None if prefix in attributes else self._of_texts(attributes, prefix)
                if found:
                    return found
                given = numbered(attributes, prefix, names)
                if given is not ABSENT:
                    return messages_of(given, "user")
        return None

    def _of_texts(self, attributes: Mapping[str, Any], prefix: str) -> list[SpanMessage] | None:
        """The messages, if all of them are usual ones made of texts, as nearly always; else ``None``."""
        parts = self._parts
        objects: dict[str, list[str]] = {}
        for name, value in attributes.items():
            part = parts.get(name)
            if part is None:
                part = parts[name] = _taken_apart(name)
            of, number, rest = part
            if of == prefix:
                if type(value) is not str:
                    return None  # values of other types may be equal and yet differ
                if number in objects:
                    objects[number] += (rest, value)
                else:
                    objects[number] = [rest, value]
        if not all(map(str.isdecimal, objects)):
            return None
        found = []
        for number in sorted(objects, key=int):
            name, facts = f"{prefix}.{number}", objects[number]
            made = self._made.get(name)
            if made is None or made[0] != facts:
                tree = {f"{name}.{rest}": value for rest, value in zip(facts[::2], facts[1::2], strict=True)}
                value = plain_tree(tree, name, tree)
                message = usual_message(value, "user") if isinstance(value, dict) else None
                if message is None:
                    return None
                made = self._made[name] = (facts, message)
            found.append(made[1])
        return found


def _taken_apart(name: str) -> tuple[str, str, str]:
    for prefix in NUMBERED:
        if name.startswith(f"{prefix}."):
            number, _, rest = name[len(prefix) + 1 :].partition(".")
            return prefix, number if rest else "", rest
    return "", "", ""


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
