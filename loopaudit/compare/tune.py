"""Sweeps the parameters of one policy over recordings, and says which settings are worth it.

All variants are replayed in one pass: every file is read and hashed once. A setting is worth
considering if no other catches as many loops with fewer wrong interventions, or more loops
with as few: those settings are the Pareto front. Suggested is the setting of the front with
the best F1.

Where there are transcripts enough, a part of them is held out: front and suggestion come from
the others, and the held-out part says how the suggestion does on what it was not chosen by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import PurePath
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from loopaudit.audit.workers import ONE_PROCESS, Workers
from loopaudit.compare.comparison import Comparison
from loopaudit.compare.model import Card, Case
from loopaudit.compare.resample import NOT_DRAWN, resample
from loopaudit.compare.run import compare
from loopaudit.compare.standing import Rates, rates
from loopaudit.compare.step_limit import Null, null_on
from loopaudit.compare.tallies import Judged, total
from loopaudit.config.options import Options
from loopaudit.config.selection import make_params, parse_value
from loopaudit.core import regex
from loopaudit.core.digests import blake2b
from loopaudit.core.errors import UsageError
from loopaudit.hindsight.labels import Labels
from loopaudit.policies.contract import Policy, Selected

MAX_VARIANTS: Final = 1_000
"""Variants of a sweep at most: each takes memory for every agent of the transcript being read."""

_SPAN: Final = regex.lazy(r"(-?\d+)\.\.(-?\d+)(?::(\d+))?")


HOLD_OUT: Final = 0.3
"""The share of the transcripts that is held out unless another is asked for."""

LEAST: Final = 10
"""With fewer transcripts than these nothing is held out: each part would say too little."""


class Variant(msgspec.Struct):
    """One setting of a sweep. ``values`` are the swept parameters, ``front`` is membership of the Pareto
    front, ``is_start`` of the setting that the sweep started from, which is always among them.
    ``card`` and ``null`` are of all transcripts, ``fitted`` of those that the choice is made by, and
    ``held_out`` of the others, ``None`` where there are none.
    """

    label: str
    values: dict[str, Any]
    card: Card
    null: Null
    is_start: bool
    front: bool = False
    fitted: Rates = msgspec.field(default_factory=lambda: rates(Judged(), NOT_DRAWN))
    fitted_limit: Rates = msgspec.field(default_factory=lambda: rates(Judged(), NOT_DRAWN))
    held_out: Rates | None = None
    held_out_limit: Rates | None = None

    @property
    def judged(self) -> Judged:
        """What the choice is made by."""
        return self.fitted.judged


class Parts(msgspec.Struct):
    """Which transcripts the choice is made by, and which are held out, as places in the list of cases; with the
    loops in each. ``why`` says why nothing is held out.
    """

    fitted: list[int]
    held_out: list[int]
    fitted_loops: int
    held_out_loops: int
    why: str = ""


class Sweep(msgspec.Struct):
    """A finished sweep. ``fixed`` are parameters that differ from the defaults in every variant."""

    policy: str
    parameters: list[str]
    fixed: dict[str, Any]
    variants: list[Variant]
    suggested: Variant | None
    comparison: Comparison
    parts: Parts

    @property
    def start(self) -> Variant:
        """The setting that the sweep started from."""
        return next(variant for variant in self.variants if variant.is_start)


def sweep(
    base: Selected,
    ranges: Sequence[str],
    paths: Iterable[str],
    options: Options,
    workers: Workers = ONE_PROCESS,
    *,
    labels: Labels | None = None,
    hold_out: float = HOLD_OUT,
) -> Sweep:
    """Replay every combination of the parameters over ``paths``, and choose without the share ``hold_out`` of them.

    Raises:
        UsageError: a parameter, a range or the share is wrong, or there are too many combinations.
        InputError: a path does not exist.
    """
    if not 0 <= hold_out <= 0.9:
        raise UsageError(f"--hold-out: {hold_out:g} is no share from 0 to 0.9")
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
    parts = split(comparison.scorecard.cases, hold_out)
    cases, enforced = comparison.scorecard.cases, options.mode == "enforced"
    for variant in variants:
        _judge_parts(variant, cases, parts, enforced=enforced, drawn=False)
    mark_front(variants)
    suggested = suggestion(variants, defaults)
    for variant in variants:
        # Drawing transcripts anew takes far longer than judging, so it is done for what the text speaks of.
        if variant is suggested or variant.is_start:
            _judge_parts(variant, cases, parts, enforced=enforced, drawn=True)
    return Sweep(base.policy.id, names, fixed, variants, suggested, comparison, parts)


def split(cases: Sequence[Case], share: float) -> Parts:
    """Divide transcripts into those that a choice is made by and those that are held out.

    Transcripts with loops and those without are divided apart, so that both parts have some of
    each. Which are held out depends on session and file name alone, not on the order or the folder.
    """
    everything = list(range(len(cases)))
    loops = sum(case.loops for case in cases)
    looping = [i for i in everything if cases[i].loops]
    if not share:
        return Parts(everything, [], loops, 0, "nothing was to be held out")
    if len(cases) < LEAST:
        return Parts(everything, [], loops, 0, f"nothing is held out of fewer than {LEAST} transcripts")
    if len(looping) < 2:
        return Parts(everything, [], loops, 0, "nothing is held out where fewer than two transcripts have a loop")
    chosen: set[int] = set()
    for group in (looping, [i for i in everything if not cases[i].loops]):
        count = min(max(round(len(group) * share), 1), len(group) - 1) if len(group) > 1 else 0
        chosen.update(sorted(group, key=lambda i: _draw(cases[i]))[:count])
    held_out = sorted(chosen)
    held_loops = sum(cases[i].loops for i in held_out)
    return Parts([i for i in everything if i not in chosen], held_out, loops - held_loops, held_loops)


def _draw(case: Case) -> bytes:
    name = PurePath(case.path).name
    return blake2b(f"{case.session}\0{name}".encode("utf-8", "replace"), digest_size=8).digest()


def _judge_parts(variant: Variant, cases: Sequence[Case], parts: Parts, *, enforced: bool, drawn: bool) -> None:
    """Judge a variant on both parts."""
    variant.fitted, variant.fitted_limit = _on(variant, cases, parts.fitted, enforced=enforced, drawn=drawn)
    if parts.held_out:
        variant.held_out, variant.held_out_limit = _on(variant, cases, parts.held_out, enforced=enforced, drawn=drawn)


def _on(
    variant: Variant, cases: Sequence[Case], among: Sequence[int], *, enforced: bool, drawn: bool
) -> tuple[Rates, Rates]:
    """The rates of a variant and of its step limit on the cases ``among``."""
    outcomes = {i: cases[i].outcomes[variant.label] for i in among if variant.label in cases[i].outcomes}
    inside = frozenset(among)
    limit = null_on(variant.label, cases, inside, variant.null, enforced=enforced)
    mine, other = resample([outcomes, limit.outcomes], among) if drawn else (NOT_DRAWN, NOT_DRAWN)
    return rates(total(outcomes.values()), mine), rates(limit.judged, other)


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
    return variant.judged.caught, variant.judged.wrong


def _late(variant: Variant) -> float:
    return variant.judged.median_late or 0.0


def suggestion(variants: Sequence[Variant], defaults: dict[str, Any]) -> Variant | None:
    """The setting of the front with the best F1; of equals the one that is earliest in loops, then
    nearest to the defaults. ``None`` if no setting caught a loop: then nothing speaks for any.
    """
    front = [v for v in variants if v.front and v.judged.caught]
    if not front:
        return None

    def place(variant: Variant) -> tuple[float, int, float, int]:
        judged = variant.judged
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
