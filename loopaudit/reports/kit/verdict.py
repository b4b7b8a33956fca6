"""The verdict on one transcript: what a person asks first, as data and in words, the same in every report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from loopaudit.compare.prices import Prices
from loopaudit.core import text
from loopaudit.core.findings import Action, Episode, Finding
from loopaudit.core.report import Report, TranscriptResult
from loopaudit.hindsight.catches import Caught, Step, acts, caught, first_call
from loopaudit.hindsight.words import ENDED_BY, KINDS
from loopaudit.reports.kit import spent, wording
from loopaudit.reports.kit.policy_sums import firings_of, graded
from loopaudit.reports.kit.spent import Spent

Outcome = Literal["looped", "clean", "not_judged", "empty", "unread"]
"""``not_judged``: hindsight was not asked, so nobody knows of loops. ``empty``: there is no call. ``unread``: none
was read, although the responses speak of actions."""

ENDED: Final = 30
"""Characters of an ending that is no word of the list."""

AGENT: Final = 13
"""Characters of an agent's name: many are long ids, of which the beginning is enough."""

Tone = Literal["", "good", "bad", "doubt"]


class FirstAct(NamedTuple):
    """The first policy that acted in a loop, or outside any: its finding, and how late in the loop it came."""

    finding: Finding
    step: Step | None


class Verdict(Struct, frozen=True):
    """The facts of a transcript that come first.

    ``costliest`` is the loop that cost most, ``entry`` what the policies did about it. ``loops``
    and ``waits`` are what calls of loops and of waits cost that brought nothing new, ``one`` what
    the costliest loop alone did. ``first`` acted first in it; without a loop, first of all.
    ``right``, ``wrong`` and ``unclear`` count firings by grade, ``unable`` are policies that
    could not evaluate the transcript at all.
    """

    outcome: Outcome
    name: str
    path: str
    loop_count: int
    wait_count: int
    whole: Spent
    loops: Spent
    waits: Spent
    one: Spent
    costliest: Episode | None
    entry: Caught | None
    first: FirstAct | None
    firings: int
    right: int
    wrong: int
    unclear: int
    policies: int
    unable: Sequence[str]
    crashed: Sequence[str]
    damaged: int
    problems: int
    currency: str
    table: Sequence[Caught]

    @property
    def is_silent(self) -> bool:
        """Whether there is nothing to report: no loop, no firing, no problem."""
        return not (self.loop_count or self.firings or self.problems or self.crashed)


def verdict(report: Report, result: TranscriptResult, name: str, prices: Prices | None = None) -> Verdict:
    """The verdict on a transcript of a report."""
    table = caught(result, enforced=report.mode == "enforced")
    costs = [spent.of_episode(result, entry.episode, prices) for entry in table]
    loops = [(cost, entry) for cost, entry in zip(costs, table, strict=True) if entry.episode.is_loop]
    waits = [cost for cost, entry in zip(costs, table, strict=True) if not entry.episode.is_loop]
    # Of equal ones the first.
    one, costliest = max(loops, key=lambda pair: pair[0].rank, default=(Spent(), None))
    goods = [f.grade.good for policy in result.policies for f in policy.findings if f.grade is not None]
    return Verdict(
        outcome=_outcome(result, is_looped=bool(loops)),
        name=name,
        path=result.path,
        loop_count=len(loops),
        wait_count=len(waits),
        whole=spent.of_transcript(result, prices),
        loops=spent.total(cost for cost, _ in loops),
        waits=spent.total(waits),
        one=one,
        costliest=costliest.episode if costliest is not None else None,
        entry=costliest,
        first=_first_in(result, costliest) if costliest is not None else _first(result),
        firings=firings_of(result),
        right=goods.count(True),
        wrong=goods.count(False),
        unclear=goods.count(None),
        policies=len(result.policies),
        unable=[policy.label for policy in result.policies if policy.status == "cannot_evaluate"],
        crashed=[policy.label for policy in result.policies if policy.status == "crashed"],
        damaged=result.damaged,
        problems=sum(result.problem_counts.values()),
        currency=prices.currency if prices is not None else "",
        table=table,
    )


def _outcome(result: TranscriptResult, *, is_looped: bool) -> Outcome:
    if is_looped:
        return "looped"
    if not result.counts.calls:
        return "unread" if result.unread else "empty"
    return "clean" if graded(result) else "not_judged"


def _first_in(result: TranscriptResult, entry: Caught) -> FirstAct | None:
    """The first policy that acted in a loop."""
    firsts = [(steps[0].call, place, label) for place, (label, steps) in enumerate(entry.steps.items())]
    if not firsts:
        return None
    _, _, label = min(firsts)
    step = entry.steps[label][0]
    for policy in result.policies:
        for finding in policy.findings if policy.label == label else ():
            about = finding.agent == entry.episode.agent and finding.action == step.action
            if about and _is_step(finding, step, entry.episode):
                return FirstAct(finding, step)
    return None


def _is_step(finding: Finding, step: Step, loop: Episode) -> bool:
    """Whether a finding is the one that a step of a loop was made of."""
    if not step.call:
        return not finding.calls[1] and loop.line <= finding.line <= loop.last_line
    return max(first_call(finding), loop.first_call) == step.call <= finding.call


def _first(result: TranscriptResult) -> FirstAct | None:
    acting = [finding for policy in result.policies for finding in policy.findings if acts(finding)]
    first = min(acting, key=lambda finding: (finding.call or finding.calls[0], finding.line), default=None)
    return None if first is None else FirstAct(first, None)


# -- in words ------------------------------------------------------------------------------


class Fact(NamedTuple):
    """A line of the verdict: what it is about, and what there is to report. ``where`` names a place in a file."""

    label: str
    text: str
    tone: Tone = ""


def ended_by(loop: Episode) -> str:
    """Who or what ended a loop."""
    return ENDED_BY[loop.ended].by if loop.ended in ENDED_BY else text.one_line(wording.words(loop.ended), ENDED)


def headline(of: Verdict) -> Fact:
    """Looped or not, and how much of the whole."""
    if of.outcome == "not_judged":
        return Fact(wording.OPEN, "Hindsight was not asked: whether it looped is not known.", "doubt")
    if of.outcome == "unread":
        text = "No call was read, though the responses speak of actions: this says nothing about loops."
        return Fact(wording.OPEN, text, "doubt")
    if of.outcome == "empty":
        return Fact(wording.OPEN, "No calls in it: there was nothing to evaluate.", "doubt")
    calls = wording.some(of.whole.calls, "call")
    if of.costliest is None:
        waits = f" {wording.waits(of.wait_count)}." if of.wait_count else ""
        return Fact(wording.GOOD, f"No loop in {calls}.{waits}", "good")
    kind = KINDS.get(of.costliest.kind, wording.words(of.costliest.kind))
    if of.loop_count == 1:
        return Fact(wording.BAD, f"Looped: {kind}", "bad")
    share = spent.share(of.loops.tokens, of.whole.tokens)
    tokens = f" ({share} of the tokens)" if share else ""
    brought = f"; {of.loops.calls:,} of {calls}{tokens} brought nothing new" if of.loops.calls else ""
    return Fact(wording.BAD, f"Looped {of.loop_count:,} times{brought}. The costliest loop: {kind}", "bad")


def facts(of: Verdict) -> list[Fact]:
    """What follows the headline: what was repeated, where, at what cost, who ended it, which policy acted first."""
    made = []
    loop = of.costliest
    if loop is not None:
        made.append(Fact("repeated", repeated(loop)))
        made.append(Fact("where", f"{place_of(of)}, {calls_of(loop)}, {times_of(loop)}"))
        made.append(Fact("cost", spent.describe(of.one, of.whole, of.currency)))
        ending = ENDED_BY.get(loop.ended)
        made.append(Fact("ended by", wording.words(loop.ended) if ending is None else ending.full))
    made.append(_first_act(of))
    return made


def repeated(loop: Episode) -> str:
    """The calls of a loop, in turn."""
    listed = " ⇄ ".join(loop.unit[:3])
    return f"{listed} and {len(loop.unit) - 3:,} more in turn" if len(loop.unit) > 3 else listed


def place_of(of: Verdict) -> str:
    """Where the costliest loop begins, as ``file:line``; the file alone where the format has no lines."""
    line = of.costliest.line if of.costliest is not None else 0
    return f"{of.path}:{line}" if line else of.path


def calls_of(loop: Episode) -> str:
    """The calls of a loop, as ``calls 5–12 of explore-1``; its lines where nothing was called."""
    agent = f" of {text.one_line(loop.agent, AGENT)}" if loop.agent else ""
    return f"{wording.where(loop)}{agent}"


def times_of(loop: Episode) -> str:
    """How often it was run again."""
    return f"repeated {wording.some(loop.laps, 'time')}"


def trouble(of: Verdict) -> str:
    """What is wrong with the recording or with a policy, in a few words; empty where nothing is."""
    parts = []
    if of.problems:
        lost = f", {of.damaged:,} with content lost" if of.damaged else ""
        parts.append(f"{wording.some(of.problems, 'problem')} in the recording{lost}")
    if of.crashed:
        parts.append(f"{wording.some_of(of.crashed, 4)} crashed")
    return "; ".join(parts)


def _first_act(of: Verdict) -> Fact:
    label = "first to act"
    judges = of.policies - len(of.unable)
    if not of.policies:
        return Fact(label, "nobody: no policy was selected")
    if not judges:
        return Fact(label, "nobody: no policy could evaluate this transcript", "doubt")
    if of.first is None:
        able = f" that could evaluate it ({len(of.unable):,} could not)" if of.unable else ""
        text = f"none of the {wording.some(judges, 'policy', 'policies')}{able}"
        tone: Tone = "bad" if of.costliest is not None else "doubt" if of.unable else ""
        return Fact(label, text, tone)
    finding, step = of.first
    at = f"call {step.call:,}" if step is not None and step.call else wording.finding_place(finding)
    late = (
        ""
        if step is None or not step.call
        else ", as it began"
        if not step.late
        else f", {wording.some(step.late, 'call')} into it"
    )
    text = f"{finding.policy} would {wording.action_of(finding)} at {at}{late}"
    grade = finding.grade
    if grade is None:
        return Fact(label, text)
    rightly = {True: "rightly", False: "wrongly", None: "unclear whether rightly"}[grade.good]
    tone = "doubt" if grade.good is None else "good" if grade.good else "bad"
    return Fact(label, f"{text}: {wording.grade_mark(grade.good)} {rightly}, {grade.why}", tone)


def acted(by_action: dict[Action, int]) -> bool:
    """Whether a policy did more than observe."""
    return any(action > Action.OBSERVE and count for action, count in by_action.items())
