"""Sweeps the parameters of one policy over recordings, and says which settings are worth it.

All variants are replayed in one pass: every file is read and hashed once. A setting is worth
considering if no other catches as many loops with fewer wrong interventions, or more loops
with as few: those settings are the Pareto front. Suggested is the setting of the front with
the best F1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final

import msgspec

from loopaudit.audit.workers import ONE_PROCESS, Workers
from loopaudit.compare.comparison import Comparison
from loopaudit.compare.model import Card
from loopaudit.compare.run import compare
from loopaudit.compare.step_limit import Null
from loopaudit.config.options import Options
from loopaudit.config.selection import make_params, parse_value
from loopaudit.core import regex
from loopaudit.core.errors import UsageError
from loopaudit.hindsight.labels import Labels
from loopaudit.policies.contract import Policy, Selected

MAX_VARIANTS: Final = 1_000
"""Variants of a sweep at most: each takes memory for every agent of the transcript being read."""

_SPAN: Final = regex.lazy(r"(-?\d+)\.\.(-?\d+)(?::(\d+))?")


class Variant(msgspec.Struct):
    """One setting of a sweep. ``values`` are the swept parameters, ``front`` tells of the Pareto
    front, ``is_start`` of the setting that the sweep started from, which is always among them.
    """

    label: str
    values: dict[str, Any]
    card: Card
    null: Null
    is_start: bool
    front: bool = False


class Sweep(msgspec.Struct):
    """A finished sweep. ``fixed`` are parameters that differ from the defaults in every variant."""

    policy: str
    parameters: list[str]
    fixed: dict[str, Any]
    variants: list[Variant]
    suggested: Variant | None
    comparison: Comparison


def sweep(
    base: Selected,
    ranges: Sequence[str],
    paths: Iterable[str],
    options: Options,
    workers: Workers = ONE_PROCESS,
    *,
    labels: Labels | None = None,
) -> Sweep:
    """Replay every combination of the parameters over ``paths``.

    Raises:
        UsageError: a parameter or a range is wrong, or there are too many combinations.
        InputError: a path does not exist.
    """
    values = [parameter(base.policy, text) for text in ranges]
    names = [name for name, _ in values]
    if not names:
        raise UsageError("nothing to tune", hint="name a parameter and its values: --param threshold=2..8")
    if len(set(names)) < len(names):
        raise UsageError("a parameter is given twice", hint="put its values into one --param: threshold=2..4,8")
    combinations = list(product(*(choices for _, choices in values)))
    if len(combinations) > MAX_VARIANTS:
        raise UsageError(f"{len(combinations):,} combinations are too many", hint=f"at most {MAX_VARIANTS:,}")
    chosen: dict[str, dict[str, Any]] = {}
    selected = []
    start = tuple(getattr(base.params, name) for name in names)
    if start not in combinations:
        combinations.append(start)
    for combination in combinations:
        swept = dict(zip(names, combination, strict=True))
        label = ", ".join(f"{name}={_shown(value)}" for name, value in swept.items())
        params = make_params(base.policy, {**base.params.as_dict(), **swept})
        chosen[label] = swept
        selected.append(Selected(label, base.policy, params))
    comparison = compare(paths, replace(options, policies=selected), workers, labels=labels, keep=False)
    defaults = base.policy.params().as_dict()
    fixed = {
        name: value for name, value in base.params.as_dict().items() if name not in names and value != defaults[name]
    }
    cards = comparison.scorecard.cards
    variants = [
        Variant(
            label=s.label,
            values=chosen[s.label],
            card=cards.get(s.label, Card(s.label)),
            null=comparison.nulls[s.label],
            is_start=s.params == base.params,
        )
        for s in selected
    ]
    mark_front(variants)
    return Sweep(base.policy.id, names, fixed, variants, suggestion(variants, defaults), comparison)


def parameter(policy: Policy, text: str) -> tuple[str, list[Any]]:
    """A parameter with its values from text: ``threshold=2..8``, ``window=8..64:8``, ``unit=calls,responses``.

    Raises:
        UsageError: the text cannot be read, or the policy has no such parameter.
    """
    name, equals, given = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not given.strip():
        raise UsageError(
            f"--param: cannot read {text!r}", hint="write NAME=FIRST..LAST, NAME=FIRST..LAST:STEP or NAME=A,B"
        )
    values: list[Any] = []
    for part in given.split(","):
        match = _SPAN.fullmatch(part.strip())
        if match is None:
            values.append(parse_value(policy, name, part.strip()))
            continue
        first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
        if step < 1 or last < first or (last - first) // step >= MAX_VARIANTS:
            raise UsageError(f"--param: the range {part.strip()!r} is empty or too long")
        values += [parse_value(policy, name, str(number)) for number in range(first, last + 1, step)]
    return name, list(dict.fromkeys(values))


def mark_front(variants: Sequence[Variant]) -> None:
    """Mark the settings that no other beats in loops caught and wrong interventions.

    Of settings that are equal in both, those that act earliest in loops are marked. One that
    could evaluate nothing is not.
    """
    able = [v for v in variants if v.card.evaluated]
    earliest: dict[tuple[int, int], float] = {}
    for variant in able:
        point = _point(variant)
        earliest[point] = min(_late(variant), earliest.get(point, math.inf))
    best = {
        (caught, wrong)
        for caught, wrong in earliest
        if not any(c >= caught and w <= wrong and (c, w) != (caught, wrong) for c, w in earliest)
    }
    for variant in able:
        point = _point(variant)
        variant.front = point in best and _late(variant) == earliest[point]


def _point(variant: Variant) -> tuple[int, int]:
    return variant.card.judged.caught, variant.card.judged.wrong


def _late(variant: Variant) -> float:
    return variant.card.judged.median_late or 0.0


def suggestion(variants: Sequence[Variant], defaults: dict[str, Any]) -> Variant | None:
    """The setting of the front with the best F1; of equals the one that is earliest in loops, then
    nearest to the defaults. ``None`` if no setting caught a loop: then nothing speaks for any.
    """
    front = [v for v in variants if v.front and v.card.judged.caught]
    if not front:
        return None

    def place(variant: Variant) -> tuple[float, int, float, int]:
        judged = variant.card.judged
        changed = sum(value != defaults[name] for name, value in variant.values.items())
        return -(judged.f1 or 0.0), judged.wrong, _late(variant), changed

    return min(front, key=place)


def config_lines(result: Sweep) -> list[str]:
    """The lines of ``loopaudit.toml`` that give the suggested setting a name of its own."""
    if result.suggested is None:
        return []
    lines = [f"[policies.{result.policy}-tuned]", f'base = "{result.policy}"']
    for name, value in {**result.fixed, **result.suggested.values}.items():
        lines.append(f"{name} = {_toml(value)}")
    return lines


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if value is None:
        return '"none"'
    if isinstance(value, (list, tuple, set, frozenset)):
        return f"[{', '.join(_toml(item) for item in value)}]"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in text) + '"'


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
