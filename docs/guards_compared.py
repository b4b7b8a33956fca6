"""Writes ``docs/guards-compared.md``: every policy on the labelled transcripts (``make validate``).

The folders with labels are those of :mod:`docs.labelled`. Judged by the labels alone are loops in
time and healthy cases; false rejections are hindsight's finding, see ``docs/hindsight.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import combinations
from typing import Final

from docs.labelled import OWN_SET, OWN_SETS, ROOT, STORIES_SET, Labelled, labelled, share, table
from loopaudit.audit.session import audit_source
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.rejections import Rejections, RejectionTable
from loopaudit.core.report import PolicyResult, TranscriptResult
from loopaudit.hindsight.catches import acts
from loopaudit.policies.registry import policies
from loopaudit.readers.source import Source

PAGE: Final = ROOT / "docs" / "guards-compared.md"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one policy did on one case.

    ``in_time``: it acted at a call from the labelled start to the call by which a guard should act.
    ``early``: it acted before that start. ``alarmed``: it acted at all. ``able``: it could judge.
    """

    in_time: bool
    early: bool
    alarmed: bool
    able: bool


@dataclass(slots=True)
class Standing:
    """What one policy did on all: verdicts by case, the runs in which it did more than observe, refusals by set."""

    label: str
    id: str
    by_case: dict[Labelled, Verdict] = field(default_factory=dict)
    acted: set[Labelled] = field(default_factory=set)
    rejections: dict[str, Rejections] = field(default_factory=dict)


def standings(found: Sequence[Labelled]) -> list[Standing]:
    """Every built-in policy with its default parameters, in enforced mode, on every labelled transcript."""
    chosen = select([policy.id for policy in policies().all()])
    options = Options(chosen)
    made = {selected.label: Standing(selected.label, selected.policy.id) for selected in chosen}
    for one in found:
        with Source(one.path, name=one.name) as source:
            results = audit_source(source, options)
        for result in results:
            for policy in result.policies:
                kept = RejectionTable()
                kept.take(policy.findings)
                made[policy.label].rejections.setdefault(one.set, Rejections()).add(kept.total)
                if any(map(acts, policy.findings)):
                    made[policy.label].acted.add(one)
        result = max(results, key=_calls)
        if not one.is_run:
            for policy in result.policies:
                made[policy.label].by_case[one] = verdict(one, policy)
    return list(made.values())


def _calls(result: TranscriptResult) -> int:
    return result.counts.calls


def verdict(one: Labelled, policy: PolicyResult) -> Verdict:
    """What a policy did on a case, by its label."""
    able = policy.status in ("evaluated", "partly")
    calls = [finding.call for finding in policy.findings if acts(finding) and finding.call]
    start = one.start or 1
    in_time = one.act_by is not None and any(start <= call <= one.act_by for call in calls)
    return Verdict(in_time, any(call < start for call in calls), bool(calls), able)


# -- sums ----------------------------------------------------------------------------------

Cases = Sequence[Labelled]


def loops_of(cases: Iterable[Labelled]) -> list[Labelled]:
    """The loops of which it is labelled by when a guard should act."""
    return [one for one in cases if one.label == "loop" and one.act_by is not None]


def healthy_of(cases: Iterable[Labelled]) -> list[Labelled]:
    """The healthy cases."""
    return [one for one in cases if one.label == "healthy"]


def caught(group: Sequence[Standing], cases: Cases) -> int:
    """Loops in which one of the policies acts in time."""
    return sum(any(s.by_case[one].in_time for s in group) for one in loops_of(cases))


def alarmed(group: Sequence[Standing], cases: Cases) -> int:
    """Healthy cases in which one of the policies acts."""
    return sum(any(s.by_case[one].alarmed for s in group) for one in healthy_of(cases))


def merit(group: Sequence[Standing], cases: Cases) -> float:
    """Share of loops caught in time less the share of healthy cases alarmed: 1 is perfect, 0 is chance."""
    loops, healthy = len(loops_of(cases)), len(healthy_of(cases))
    return (caught(group, cases) / loops if loops else 0) - (alarmed(group, cases) / healthy if healthy else 0)


def halves(cases: Cases) -> tuple[list[Labelled], list[Labelled]]:
    """Two halves of the cases: of each set and label, every other one in the order of a hash of its name."""
    sides: tuple[list[Labelled], list[Labelled]] = ([], [])
    groups: dict[tuple[str, str], list[Labelled]] = {}
    for one in cases:
        groups.setdefault((one.set, one.label), []).append(one)
    for group in groups.values():
        group.sort(key=lambda one: blake2b(one.name.encode()).digest())
        for place, one in enumerate(group):
            sides[place % 2].append(one)
    return sides


def best(found: Sequence[Standing], size: int, cases: Cases) -> tuple[Standing, ...]:
    """The group of this size with the highest merit; of equal ones the first by name."""
    named = sorted(found, key=lambda standing: standing.label)
    return max(combinations(named, size), key=lambda group: merit(group, cases))


# -- the page ------------------------------------------------------------------------------

_HEAD: Final = """# Guards compared

Every built-in policy with its default parameters in *enforced* mode, on transcripts that people labelled. This page is
written by `make validate`; [validation.md](validation.md) describes the sets. Behind each share stands Wilson's 95 %
interval: where two intervals overlap widely, the sets do not tell which policy is better."""

_COLUMNS: Final = """* **in time**: loops in which the policy does more than observe at a call between the labelled
  start of the loop and the call by which, as the label says, a guard should have acted. Loops without such a call are
  left out.
* **healthy alarmed**: cases without a loop in which it does more than observe, at least once.
* **early**: loops in which it acts before anything is repeated without news.
* **false rejections**: refused, although the recorded call succeeded and brought something
  ([what counts](hindsight.md#false-rejections)).
* **n/a**: cases that the policy cannot judge, because the recording lacks what it needs. They count as not caught and
  not alarmed."""

_CAVEATS: Final = """## What this cannot tell

* A guard is imitated: its rules are replayed, not its program, and a recording goes on as if nothing had been refused.
  What the model would have done after a notice is not known.
* The cases were rebuilt from reports of loops, or written to lie near a threshold. Loops are half of them, and far more
  frequent than in daily work. The share of alarms is about honest work that *looks* like a loop.
* A guard that was made for one harness may do better in it: its tools have the names it knows, and its parameters were
  tuned for its model."""

_PROGRESS: Final = """
* `progress` shares its rules with hindsight, and both were worked on with these cases at hand. The others were not."""

_RUNS: Final = """Real runs, of which no label tells by when a guard should act. To act in one is neither right nor
wrong by itself; a false rejection is wrong."""


_TOGETHER: Final = """Guards can be used together: whichever acts first acts. The best group is the one with the largest
share of loops in time less the share of healthy cases alarmed, over all cases of all sets. It is chosen on one half and
measured on the other, because the best of many on one half is partly luck. Of each set and label every other case, in
the order of a hash of its name, is in the first half."""


def page(found: Sequence[Standing], cases: Cases, runs: Sequence[Labelled]) -> str:
    """The text of the page."""
    foreign = [one for one in cases if one.set not in OWN_SETS]
    own = [one for one in cases if one.set == OWN_SET]
    stories = [one for one in cases if one.set == STORIES_SET]
    parts = [_HEAD, _COLUMNS]
    if foreign:
        parts.append(f"## Cases rebuilt from public reports\n\n{_counts(foreign)}\n\n{_rows(found, foreign)}")
    parts.append(f"## The project's own cases\n\n{_counts(own)}\n\n{_rows(found, own)}")
    if stories:
        parts.append(f"## Stories that were written apart\n\n{_counts(stories)}\n\n{_rows(found, stories)}")
    if runs:
        parts.append(f"## Runs that others labelled\n\n{_RUNS}\n\n{_runs(found, runs)}")
    parts.append(f"## Guards together\n\n{_TOGETHER}\n\n{_together(found, cases)}")
    others = [one for one in found if one.id != "progress"]
    if len(others) < len(found):
        parts.append(
            f"The same without `progress`, which was made with these cases at hand:\n\n{_together(others, cases)}"
        )
    parts.append(_CAVEATS + (_PROGRESS if any(one.id == "progress" for one in found) else ""))
    return "\n\n".join(parts) + "\n"


def _counts(cases: Cases) -> str:
    sets = ", ".join(f"`{name}`" for name in dict.fromkeys(one.set for one in cases))
    return f"{len(loops_of(cases))} loops and {len(healthy_of(cases))} healthy cases ({sets})."


def _rows(found: Sequence[Standing], cases: Cases) -> str:
    loops, healthy = loops_of(cases), healthy_of(cases)
    sets = {one.set for one in cases}
    rows = []
    order: Callable[[Standing], tuple[float, str]] = lambda one: (-merit([one], cases), one.label)  # noqa: E731
    for one in sorted(found, key=order):
        blind = sum(not one.by_case[case].able for case in [*loops, *healthy])
        rows.append(
            (
                f"[{one.label}](policies/{one.id}.md)",
                share(caught([one], cases), len(loops)),
                share(alarmed([one], cases), len(healthy)),
                sum(one.by_case[case].early for case in loops),
                _false(one, sets),
                blind or "",
            )
        )
    return table(("policy", "in time", "healthy alarmed", "early", "false rejections", "n/a"), rows)


def _together(found: Sequence[Standing], cases: Cases) -> str:
    """The best single policy, pair and triple, fitted on one half of all cases and measured on the other."""
    sides = halves(cases)
    rows = []
    for size, name in ((1, "single"), (2, "pair"), (3, "triple")):
        for fitted, other in (sides, sides[::-1]):
            group = best(found, size, fitted)
            which = "first" if fitted is sides[0] else "second"
            rows.append(
                (
                    f"best {name}, fitted on the {which} half",
                    " + ".join(one.label for one in group),
                    share(caught(group, fitted), len(loops_of(fitted))),
                    share(alarmed(group, fitted), len(healthy_of(fitted))),
                    share(caught(group, other), len(loops_of(other))),
                    share(alarmed(group, other), len(healthy_of(other))),
                )
            )
    head = ("", "policies", "in time, fitted", "alarmed, fitted", "in time, other half", "alarmed, other half")
    return table(head, rows)


def _runs(found: Sequence[Standing], runs: Sequence[Labelled]) -> str:
    """What the policies did on real runs: how often they acted, and what they refused wrongly."""
    sets = {one.set for one in runs}
    rows = [
        (
            f"[{one.label}](policies/{one.id}.md)",
            share(sum(run in one.acted for run in runs), len(runs)),
            _false(one, sets),
        )
        for one in sorted(found, key=_label)
    ]
    return table(("policy", "runs in which it acts", "false rejections"), rows)


def _label(one: Standing) -> str:
    return one.label


def _false(one: Standing, sets: Iterable[str]) -> str:
    """A policy's false rejections on some sets."""
    whole = Rejections()
    for name in sets:
        whole.add(one.rejections.get(name, Rejections()))
    return share(whole.false, whole.judged)


def main() -> None:
    """Measure and write the page."""
    found = labelled()
    cases = [one for one in found if not one.is_run]
    runs = [one for one in found if one.is_run]
    if all(one.set in OWN_SETS for one in found):
        sys.exit("name folders of others in LOOPAUDIT_CASES and LOOPAUDIT_LABELS, see docs/labelled.py")
    PAGE.write_text(page(standings(found), cases, runs), encoding="utf-8")


if __name__ == "__main__":
    main()
