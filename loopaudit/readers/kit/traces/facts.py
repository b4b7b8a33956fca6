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
    # Written out, as in text_of: generators would take longer than the looks, and most names are absent.
    for name in names:
        value = attributes.get(name)
        if value is not None:
            return value
    return ABSENT


def text_of(attributes: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first of some attributes that is a text."""
    for name in names:
        value = attributes.get(name)
        if isinstance(value, str) and value:
            return value
    return None


def numbered(attributes: Mapping[str, Any], prefix: str, names: str) -> Any:
    """The list that stands under numbered attributes (``llm.input_messages.0.message.role``).

    ``names`` are all names in one text: that there are none of the prefix is told without a look at each.
    """
    if prefix not in names:
        return ABSENT
    whole = from_text(attributes.get(prefix))
    if isinstance(whole, list):
        return whole
    start = f"{prefix}."
    found = [name for name in attributes if name.startswith(start)]
    if not found:
        return ABSENT
    tree = plain_tree(attributes, prefix, found)
    return _any_tree(attributes, start, found) if tree is None else tree


def plain_tree(attributes: Mapping[str, Any], prefix: str, found: Iterable[str]) -> Any:
    """What :func:`_any_tree` makes, at a third of the time; ``None`` where an object stands in the way.

    Most attributes stand in the same place as the one before: a place is found by the whole name in front of the last
    dot.
    """
    places: dict[str, dict[str, Any]] = {prefix: {}}
    for name in found:
        above, _, last = name.rpartition(".")
        place = places.get(above)
        if place is None:
            place = _new_place(attributes, places, above)
            if place is None:
                return None
        value = attributes[name]
        if type(value) is dict:
            return None
        place[last] = value
    # A place is made after those it stands in, so that this ends with the outermost one.
    whole: Any = None
    for path, place in reversed(places.items()):
        whole = [place[name] for name in sorted(place, key=int)] if all(map(str.isdecimal, place)) else place
        if whole is not place and path != prefix:
            above, _, last = path.rpartition(".")
            places[above][last] = whole
    return whole


def _new_place(attributes: Mapping[str, Any], places: dict[str, dict[str, Any]], path: str) -> dict[str, Any] | None:
    """Make an object in a tree, with those around it; ``None`` where an attribute has the name of one of them."""
    if path.count(".") > MAX_STEPS:
        return None
    made: list[tuple[str, str]] = []
    while path not in places:
        if path in attributes:
            return None
        above, _, last = path.rpartition(".")
        made.append((path, last))
        path = above
    place = places[path]
    for path, last in reversed(made):
        inner: dict[str, Any] = {}
        places[path] = place[last] = inner
        place = inner
    return place


def _any_tree(attributes: Mapping[str, Any], start: str, found: Iterable[str]) -> Any:
    """The list, or the object, that some attributes write, whatever their names are."""
    tree: dict[str, Any] = {}
    for name in found:
        place = tree
        *steps, last = name[len(start) :].split(".")
        for step in steps[:MAX_STEPS]:
            inner = place.get(step)
            if not isinstance(inner, dict):
                inner = place[step] = {}
            place = inner
        place[last] = attributes[name]
    return _lists(tree)


MAX_STEPS: Final = 16
"""Objects that a numbered attribute may stand in; those around more are left out."""


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


def tools_in(attributes: Mapping[str, Any], names: str) -> list[Any]:
    """Declarations of tools; ``names`` as :func:`numbered` takes them."""
    found: list[Any] = []
    for whole in ("gen_ai.tool.definitions", "ai.prompt.tools"):
        if whole in attributes:
            found += map(from_text, items(_declared(attributes[whole])))
    for entry in items(numbered(attributes, "llm.tools", names)):
        tool = mapping(mapping(entry).get("tool")) or mapping(entry)
        found.append(_declared(tool.get("json_schema", tool.get("tool.json_schema"))))
    for entry in items(numbered(attributes, "llm.request.functions", names)):
        function = mapping(entry)
        found.append({**function, "parameters": from_text(function.get("parameters"))})
    if not found and "model_request_parameters" in attributes:
        for tool in items(mapping(_declared(attributes["model_request_parameters"])).get("function_tools")):
            schema = mapping(tool).get("parameters_json_schema")
            found.append({"name": mapping(tool).get("name"), "parameters": schema})
    return found
