"""Facts in the attributes of a model's span: tokens, declared tools, and lists written as numbered attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from loopaudit.core.events import Usage
from loopaudit.readers.kit.chat.message import from_text
from loopaudit.readers.kit.fields import items, mapping
from loopaudit.readers.kit.traces.spans import ABSENT
from loopaudit.readers.kit.whole import tokens


def pick(attributes: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of some attributes that is there and not null, or :data:`ABSENT`."""
    # Most names are absent, which is seen without a call, as in text_of.
    for name in names:
        if name in attributes:
            value = attributes[name]
            if value is not None:
                return value
    return ABSENT


def text_of(attributes: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first of some attributes that is a text."""
    for name in names:
        if name in attributes:
            value = attributes[name]
            if isinstance(value, str) and value:
                return value
    return None


PREFIXES: Final = (
    "llm.input_messages",
    "gen_ai.prompt",
    "llm.output_messages",
    "gen_ai.completion",
    "llm.tools",
    "llm.request.functions",
)
"""How the names of numbered attributes begin (``llm.input_messages.0.message.role``)."""

MAX_STEPS: Final = 16
"""Objects that a numbered attribute may stand in; those around more are left out."""

MAX_PLACES: Final = 4096
MAX_NAME: Final = 128
"""Names of attributes whose places are remembered, and their characters, at most."""

Place = tuple[tuple[str, ...], str, bool]
"""Where an attribute stands in an object: the objects around it, its own name, and whether any of these is a number."""

Facts = list[tuple[Place, Any]]
"""What is written of one object: places and values."""

Groups = dict[str, dict[str, Facts]]
"""Numbered attributes by prefix and number.

Under ``""`` stand those of which not all have a place in an object with a number.
"""

_places: Final[dict[str, tuple[tuple[str, str] | None, Place]]] = {}
"""Prefix and number, and the place, by the name of an attribute: spans share their names."""


def grouped(attributes: Mapping[str, Any]) -> Groups:
    """The numbered attributes, each looked at once for all prefixes."""
    names = " ".join(attributes)
    if "llm." not in names and "gen_ai.prompt" not in names and "gen_ai.completion" not in names:
        return {}  # most dialects write none
    objects: dict[tuple[str, str], Facts] = {}
    known = _places.get
    for name, value in attributes.items():
        of, place = known(name) or _place(name)
        if of is None:
            continue
        if of in objects:
            objects[of].append((place, value))
        else:
            objects[of] = [(place, value)]
    groups: Groups = {}
    for (prefix, number), facts in objects.items():
        groups.setdefault(prefix, {})[number] = facts
    return groups


def _place(name: str) -> tuple[tuple[str, str] | None, Place]:
    found: tuple[tuple[str, str] | None, Place] = None, ((), name, False)
    for prefix in PREFIXES:
        if name.startswith(f"{prefix}."):
            number, *steps = name[len(prefix) + 1 :].split(".")
            if not 0 < len(steps) <= MAX_STEPS:
                number = ""
            place = tuple(steps[:-1]), steps[-1] if steps else "", any(map(str.isdecimal, steps))
            found = (prefix, number), place
    if len(name) <= MAX_NAME:
        if len(_places) >= MAX_PLACES:
            _places.clear()
        _places[name] = found
    return found


def numbered(attributes: Mapping[str, Any], prefix: str, groups: Groups) -> Any:
    """The list that stands under numbered attributes, or :data:`ABSENT`; ``groups`` are theirs (:func:`grouped`)."""
    whole = from_text(attributes.get(prefix))
    if isinstance(whole, list):
        return whole
    objects = groups.get(prefix)
    if objects is None:
        return ABSENT
    if "" in objects:
        return _any_tree(attributes, prefix)
    tree = {number: tree_of(facts) for number, facts in objects.items()}
    return [tree[number] for number in sorted(tree, key=int)] if all(map(str.isdecimal, tree)) else tree


def tree_of(facts: Facts) -> Any:
    """The object, or the list, that places and values write."""
    tree: dict[str, Any] = {}
    may_have_lists = False
    for (steps, last, is_numbered), value in facts:
        place = tree
        for step in steps:
            inner = place.get(step)
            if not isinstance(inner, dict):
                inner = place[step] = {}
            place = inner
        place[last] = value
        may_have_lists = may_have_lists or is_numbered or isinstance(value, dict)
    return _lists(tree) if may_have_lists else tree


def _any_tree(attributes: Mapping[str, Any], prefix: str) -> Any:
    """What :func:`numbered` gives, whatever the names of the attributes are."""
    facts: Facts = []
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            *steps, last = name[len(prefix) + 1 :].split(".")
            facts.append(((tuple(steps[:MAX_STEPS]), last, True), value))
    return tree_of(facts)


def _lists(tree: dict[str, Any]) -> Any:
    """The tree, which is changed, with lists again in the place of numbered members."""
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            tree[name] = _lists(value)
    return [tree[name] for name in sorted(tree, key=int)] if all(map(str.isdecimal, tree)) else tree


_INPUT: Final = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
)
_OUTPUT: Final = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
)
_READ: Final = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.cachedInputTokens",
)
_WRITTEN: Final = (
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
)


def usage_in(attributes: Mapping[str, Any]) -> Usage | None:
    """Token counts of one model call."""
    return tokens(
        pick(attributes, _INPUT),
        pick(attributes, _OUTPUT),
        read=pick(attributes, _READ),
        written=pick(attributes, _WRITTEN),
    )


def _declared(value: Any) -> Any:
    """What declares tools, decoded. Nobody may change it: most model calls of a trace declare the same ones."""
    return _decoded(value) if isinstance(value, str) else value


_decoded = lru_cache(maxsize=16)(from_text)


def tools_in(attributes: Mapping[str, Any], groups: Groups) -> list[Any]:
    """Declarations of tools; ``groups`` as :func:`numbered` takes them."""
    found: list[Any] = []
    for whole in ("gen_ai.tool.definitions", "ai.prompt.tools"):
        if whole in attributes:
            found += map(from_text, items(_declared(attributes[whole])))
    for entry in items(numbered(attributes, "llm.tools", groups)):
        tool = mapping(mapping(entry).get("tool")) or mapping(entry)
        found.append(_declared(tool.get("json_schema", tool.get("tool.json_schema"))))
    for entry in items(numbered(attributes, "llm.request.functions", groups)):
        function = mapping(entry)
        found.append({**function, "parameters": from_text(function.get("parameters"))})
    if not found and "model_request_parameters" in attributes:
        for tool in items(mapping(_declared(attributes["model_request_parameters"])).get("function_tools")):
            schema = mapping(tool).get("parameters_json_schema")
            found.append({"name": mapping(tool).get("name"), "parameters": schema})
    return found
