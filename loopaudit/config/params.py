"""The tables ``[policies.NAME]`` of a configuration: parameters of policies, and variants of one's own.

Each is checked with a schema that is built from the declared parameters of its policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from types import NoneType, UnionType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from loopaudit.config import selection
from loopaudit.config.shapecheck import Schema
from loopaudit.config.toml_file import TomlFile, dashed
from loopaudit.core.errors import UsageError, did_you_mean
from loopaudit.policies.contract import Policy, Selected
from loopaudit.policies.registry import policies


def told(file: TomlFile, way: tuple[str | int, ...], act: Callable[[], object]) -> None:
    """Do something, and add the place in the file to what is wrong about it."""
    try:
        act()
    except UsageError as error:
        raise file.error(way, error.message, error.hint) from None


def policy_tables(
    file: TomlFile, tables: Mapping[str, Mapping[str, Any]], extra: Mapping[str, Policy]
) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """The user's variants with their bases, and the parameters of variants and policies."""
    bases = {name: str(table["base"]) for name, table in tables.items() if "base" in table}
    for name in bases:
        way = ("policies", name)
        if policies().knows(name) or name in extra or name in selection.GROUPS:
            raise file.error(way, f"{name!r} is the name of a policy or group already", "give the variant another name")
        if not re.fullmatch(r"[\w.-]+", name):
            raise file.error(way, "a name has letters, digits, '-', '_' and '.' only")
    overrides: dict[str, dict[str, Any]] = {}
    for name, raw in tables.items():
        policy, inherited = _root(file, name, tables, bases, extra)
        table = {k.replace("-", "_"): v for k, v in dashed(file, raw, ("policies", name)).items() if k != "base"}
        # The parameters are spelled with underscores, so the table is checked in that spelling.
        file.check(parameter_schema(policy), table, ("policies", name))
        values = {**inherited, **{k: _value(policy, k, v) for k, v in table.items()}}
        told(file, ("policies", name), partial(selection.make_params, policy, values))
        overrides[name] = values
    return bases, overrides


def _root(
    file: TomlFile,
    name: str,
    tables: Mapping[str, Mapping[str, Any]],
    bases: Mapping[str, str],
    extra: Mapping[str, Policy],
) -> tuple[Policy, dict[str, Any]]:
    """The policy that a table is about in the end, and the parameters of the tables in between."""
    inherited: dict[str, Any] = {}
    seen = [name]
    current = name
    while current in bases:
        base = bases[current]
        if base in seen:
            raise file.error(("policies", name, "base"), "the variants are based on each other in a circle")
        seen.append(base)
        if base in tables:
            own = {k.replace("-", "_"): v for k, v in tables[base].items() if k != "base"}
            inherited = {**own, **inherited}
        current = base
    way = ("policies", name, "base") if name in bases else ("policies", name)
    if current in selection.GROUPS:
        raise file.error(way, f"{current!r} is a group; a table is about one policy")
    known = [*policies().ids(), *extra, *bases]
    if name not in bases and not policies().knows(name) and name not in extra:
        near = did_you_mean(name, [*policies().ids(), *extra]) or "see `loopaudit policies`"
        raise file.error(way, f"there is no policy {name!r}", f'{near} (a variant of your own needs base = "...")')
    if re.search(r"[/\\]|\.py$", current):
        raise file.error(way, "a configuration loads no code; only built-in and installed policies have a name")
    found: list[Selected] = []
    try:
        found = selection.select([current], extra=extra)
    except UsageError as error:
        hint = did_you_mean(current, known) or error.hint
        raise file.error(way, error.message, hint) from None
    policy = found[0].policy
    return policy, {k: _value(policy, k, v) for k, v in inherited.items()}


def parameter_schema(policy: Policy) -> Schema:
    """The shape of a policy's parameters, by their declared types and bounds."""
    hints = get_type_hints(policy.params)
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            f.name: _bounded(hints[f.name], policy.params.BOUNDS.get(f.name)) for f in fields(policy.params)
        },
    }


OFF: Final = ("none", "off")
"""How a configuration switches a parameter off that may be ``None``: TOML has no null."""


def _bounded(hint: Any, bounds: tuple[int, int] | None) -> dict[str, Any]:
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    if isinstance(hint, UnionType):
        inner = [_bounded(arg, bounds) for arg in get_args(hint) if arg is not NoneType]
        off = [{"enum": list(OFF)}] if NoneType in get_args(hint) else []
        return {"anyOf": [*inner, *off], "description": 'a value of the parameter\'s type, or "none"'}
    kind = {bool: "boolean", int: "integer", float: "number", str: "string"}.get(hint)
    schema: dict[str, Any] = {} if kind is None else {"type": kind}
    if bounds is not None and kind in ("integer", "number"):
        schema["minimum"], schema["maximum"] = bounds
    return schema


def _value(policy: Policy, name: str, value: Any) -> Any:
    hint = get_type_hints(policy.params).get(name)
    if value in OFF and isinstance(hint, UnionType) and NoneType in get_args(hint):
        return None
    return float(value) if hint is float and isinstance(value, int) else value
