"""The tables ``[policies.NAME]`` of a configuration: parameters of policies, and variants of one's own.

Each is checked against the declared parameters of its policy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from loopaudit.config import selection
from loopaudit.config.toml_file import TomlFile, dashed
from loopaudit.core.errors import UsageError, did_you_mean
from loopaudit.core.shapes import fits
from loopaudit.policies.contract import Policy, Selected, parameters
from loopaudit.policies.registry import policies


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
        values = {**inherited, **_own(file, name, raw, policy)}
        with file.locating(("policies", name)):
            selection.make_params(policy, values)
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
    for base in reversed([one for one in seen[1:] if one in tables]):
        inherited |= _own(file, base, tables[base], policy)
    return policy, inherited


OFF: Final = ("none", "off")
"""How a configuration switches a parameter off that may be ``None``: TOML has no null."""


def _own(file: TomlFile, name: str, raw: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """The parameters of one table, checked against their declaration."""
    # The parameters are spelled with underscores, so the table is checked in that spelling.
    table = {k.replace("-", "_"): v for k, v in dashed(file, raw, ("policies", name)).items() if k != "base"}
    known = parameters(policy.params)
    for key, value in table.items():
        if value in OFF and key in known and fits(None, known[key].type):
            table[key] = None
    file.check(policy.params, table, ("policies", name))
    return {key: msgspec.convert(value, known[key].type) for key, value in table.items()}
