"""Many transcripts together: their verdicts, worst first, and what loops and waits cost of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct, field

from loopaudit.compare.prices import Prices
from loopaudit.core.report import Report
from loopaudit.reports.contract import Sort
from loopaudit.reports.kit import spent, wording
from loopaudit.reports.kit.policy_sums import Score, names_of, scores_from
from loopaudit.reports.kit.rows import is_notable
from loopaudit.reports.kit.spent import Spent
from loopaudit.reports.kit.verdict import Fact, Verdict, place_of, repeated, times_of, verdict


class Part(Struct):
    """Loops that have something in common: how many, what they cost, and what their transcripts cost in all."""

    loops: int = 0
    cost: Spent = field(default_factory=Spent)
    transcripts: int = 0


class Overall(Struct, frozen=True):
    """All transcripts of a report.

    ``verdicts`` are in the order of the report, ``worst`` those that looped or in which a policy did
    something, sorted. ``notable`` are the places in the report of all that have something to show,
    in that order, those with nothing but problems or waits last.
    ``is_judged`` is false where hindsight was not asked for any.
    """

    report: Report
    verdicts: Sequence[Verdict]
    worst: Sequence[Verdict]
    notable: Sequence[int]
    whole: Spent
    loops: Spent
    waits: Spent
    loop_count: int
    wait_count: int
    looping: int
    policies: Sequence[Score]
    is_judged: bool
    currency: str


_KEYS: Final[dict[Sort, Callable[[Verdict], Any]]] = {
    "cost": lambda of: (of.loops.rank, of.wrong),
    "loops": lambda of: (of.loop_count, of.loops.rank),
    "wrong": lambda of: (of.wrong, of.loops.rank),
}


def overall(report: Report, sort: Sort = "cost", prices: Prices | None = None) -> Overall:
    """Everything about all transcripts of a report."""
    names = names_of(report)
    verdicts = [verdict(report, one, name, prices) for one, name in zip(report.transcripts, names, strict=True)]
    worst = [of for of in verdicts if of.loop_count or of.firings or of.crashed]
    if sort == "name":
        worst.sort(key=lambda of: of.name)
    else:
        worst.sort(key=_KEYS[sort], reverse=True)
    places = {id(of): place for place, of in enumerate(verdicts)}
    order = [places[id(of)] for of in worst]
    first = set(order)
    order += [i for i, one in enumerate(report.transcripts) if i not in first and is_notable(one)]
    return Overall(
        report=report,
        verdicts=verdicts,
        worst=worst,
        notable=order,
        whole=spent.total(of.whole for of in verdicts),
        loops=spent.total(of.loops for of in verdicts),
        waits=spent.total(of.waits for of in verdicts),
        loop_count=sum(of.loop_count for of in verdicts),
        wait_count=sum(of.wait_count for of in verdicts),
        looping=sum(of.outcome == "looped" for of in verdicts),
        policies=scores_from(zip(report.transcripts, (of.table for of in verdicts), strict=True)),
        is_judged=any(of.outcome in ("looped", "clean") for of in verdicts),
        currency=prices.currency if prices is not None else "",
    )


def parts(of: Overall, prices: Prices | None) -> dict[str, dict[str, Part]]:
    """Loops by kind, by tool and by model, the dearest first. A loop of several tools counts for each."""
    found: dict[str, dict[str, Part]] = {"kind": {}, "tool": {}, "model": {}}
    for one, result in zip(of.verdicts, of.report.transcripts, strict=True):
        models = ", ".join(sorted(result.models)) or wording.NOT_RECORDED
        for entry in one.table:
            episode = entry.episode
            if not episode.is_loop:
                continue
            cost = spent.of_episode(result, episode, prices)
            called = [unit.partition(" ")[0] for unit in episode.unit] if episode.first_call else ["no tool"]
            tools = dict.fromkeys(called)
            for group, names in (("kind", [wording.words(episode.kind)]), ("tool", tools), ("model", [models])):
                for name in names:
                    part = found[group].setdefault(name, Part())
                    part.loops += 1
                    part.cost += cost
    return {group: _sorted(by_name) for group, by_name in found.items()}


def _sorted(by_name: dict[str, Part]) -> dict[str, Part]:
    return dict(sorted(by_name.items(), key=lambda item: item[1].cost.rank, reverse=True))


def headline(of: Overall) -> Fact:
    """How many looped, in one sentence."""
    count = len(of.verdicts)
    if not count:
        return Fact(wording.OPEN, "No transcript was audited.", "doubt")
    transcripts = wording.some(count, "transcript")
    if not of.is_judged:
        unknown = any(one.outcome == "not_judged" for one in of.verdicts)
        why = "Hindsight was not asked: who looped is not known." if unknown else "No calls: nothing was evaluated."
        return Fact(wording.OPEN, f"{transcripts}. {why}", "doubt")
    if not of.looping:
        return Fact(wording.GOOD, f"No loop in {transcripts}, {wording.some(of.whole.calls, 'call')}.", "good")
    looped = f"{of.looping:,} of {transcripts} looped, {wording.some(of.loop_count, 'loop')}"
    brought = f": {of.loops.calls:,} of {of.whole.calls:,} calls brought nothing new" if of.loops.calls else ""
    return Fact(wording.BAD, f"{looped}{brought}.", "bad")


def facts(of: Overall) -> list[Fact]:
    """What follows the headline: the share of loops and waits, the worst loop, who caught loops, who was wrong."""
    made = []
    if of.loop_count or of.wait_count:
        made.append(Fact("share", _share(of)))
    dearest = worst(of)
    if dearest is not None and dearest.costliest is not None:
        made.append(Fact("worst", place_of(dearest)))
        times = wording.some(dearest.one.calls, "wasted call") if dearest.one.calls else times_of(dearest.costliest)
        # What counts stands first: where there is no room, the end is cut off.
        made.append(Fact("repeated", f"{times}: {repeated(dearest.costliest)}"))
    able = [score for score in of.policies if score.evaluated]
    if of.loop_count and able:
        best = sorted((s for s in able if s.loops), key=lambda s: -s.caught)
        listed = ", ".join(f"{s.label} {s.caught:,} of {s.loops:,}" for s in best[:6])
        made.append(Fact("loops caught", listed or "nobody could judge"))
    wrong = sorted((s for s in able if s.grade_sums[1]), key=lambda s: -s.grade_sums[1])
    if wrong:
        listed = ", ".join(f"{s.label} {wording.some(s.grade_sums[1], 'time')}" for s in wrong[:6])
        made.append(Fact("wrong", listed, "bad"))
    problems = _problems(of)
    if problems:
        made.append(Fact("problems", problems, "doubt"))
    return made


def worst(of: Overall) -> Verdict | None:
    """The transcript whose loops cost most, however the transcripts are sorted."""
    looping = (one for one in of.verdicts if one.costliest is not None)
    return max(looping, key=lambda one: one.loops.rank, default=None)


def _share(of: Overall) -> str:
    """``loops 9 %, waits 1 % of 1,234,567 tokens``, and of the money; of calls where no tokens are recorded."""
    if of.whole.tokens and (of.loops.tokens is not None or of.waits.tokens is not None):
        whole, loops, waits = of.whole.tokens, of.loops.tokens or 0, of.waits.tokens or 0
        what = f"{whole:,} tokens"
    else:
        whole, loops, waits = of.whole.calls, of.loops.calls, of.waits.calls
        what = f"{wording.some(whole, 'call')}, tokens not recorded"
    text = f"loops {spent.share(loops, whole) or '0 %'}, waits {spent.share(waits, whole) or '0 %'} of {what}"
    if of.whole.money:
        loop, wait, all_of = (spent.money(part.money or 0.0, of.currency) for part in (of.loops, of.waits, of.whole))
        text += f"; loops {loop}, waits {wait} of {all_of}"
        only = spent.covered(of.whole)
        text += f" ({only})" if only else ""
    elif of.whole.responses and not of.whole.priced:
        text += f"; {spent.covered(of.whole)}"
    return text


def _problems(of: Overall) -> str:
    report = of.report
    damaged = sum(one.problems > 0 for one in of.verdicts)
    crashed = len({label for one in of.verdicts for label in one.crashed})
    unread = sum(one.outcome == "unread" for one in of.verdicts)
    counts: Iterable[tuple[int, str]] = (
        (unread, f"no call read in {wording.some(unread, 'transcript')} whose responses speak of actions"),
        (damaged, f"in the recording of {wording.some(damaged, 'transcript')}"),
        (len(report.failures), f"{wording.some(len(report.failures), 'input')} not read"),
        (crashed, f"{wording.some(crashed, 'policy', 'policies')} crashed"),
        (len(report.internal), wording.some(len(report.internal), "internal failure")),
    )
    return ", ".join(text for count, text in counts if count)
