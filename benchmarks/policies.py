"""What more policies, and hindsight, add to a replay; and what each policy costs by itself.

Whole replays stand against the floor of pipeline.py. The rows *all against mission* compare all
policies with the four imitated ones of the default set: whole replays, and the policies by themselves over
events that are read already. The rows *alone* are the engine over such events with one policy (or
the default set, or all), against the engine without a policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.pipeline import IMITATED, corpus, floor, replay
from benchmarks.timing import Ratio, ratios
from loopaudit.api import read
from loopaudit.audit.engine import Replay
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.events import Batch, Event
from loopaudit.policies.contract import Selected


def measure(*, quick: bool) -> dict[str, Ratio]:
    """Ratios per kind and number of policies, then per policy."""
    found = {}
    mission, judged = select(IMITATED), select(["all"])
    # Without hindsight, the policy that works on it would be measured with the cost of hindsight.
    everything = [one for one in judged if not one.policy.follower]
    every = f"all {len(everything)}"
    for kind in ("small",) if quick else ("claude", "openai", "small"):
        path = corpus(kind, 2 if quick else 20)
        variants = {
            "floor": lambda p=path: floor(p),
            "no policy": lambda p=path: replay(p, Options(policies=[], hindsight=False)),
            "mission": lambda p=path: replay(p, Options(policies=mission, hindsight=False)),
            "mission and hindsight": lambda p=path: replay(p, Options(policies=select(["mission"]))),
            every: lambda p=path: replay(p, Options(policies=everything, hindsight=False)),
            f"{every} and hindsight": lambda p=path: replay(p, Options(policies=judged)),
        }
        for name, ratio in ratios(variants, "floor", 3 if quick else 7).items():
            if name != "floor":
                found[f"{kind}, {name}"] = ratio
        whole = {name: variants[name] for name in ("mission", every)}
        events = list(read(path))
        alone = {
            name: lambda e=events, s=chosen: guards(e, s)
            for name, chosen in zip(whole, (mission, everything), strict=True)
        }
        for what, pair in (("whole replay", whole), ("policies alone", alone)):
            found[f"{kind}, all against mission, {what}"] = ratios(pair, "mission", 3 if quick else 7)[every]
    return {**found, **each(mission, everything, quick=quick)}


def each(mission: Sequence[Selected], everything: Sequence[Selected], *, quick: bool) -> dict[str, Ratio]:
    """Each policy, the default set and all of them over events, against none."""
    events = list(read(corpus("small", 1 if quick else 5)))
    chosen = {"none": [], **{s.label: [s] for s in everything}}
    chosen |= {"mission": list(mission), f"all {len(everything)}": list(everything)}
    variants = {name: lambda s=policies: guards(events, s) for name, policies in chosen.items()}
    taken = ratios(variants, "none", 3 if quick else 9)
    return {f"alone, {name}": ratio for name, ratio in taken.items() if name != "none"}


def guards(events: Iterable[Event], selected: Sequence[Selected]) -> None:
    """Only the guards: what they worked out about the calls before is forgotten."""
    for event in events:
        if isinstance(event, Batch):
            for call in event.calls:
                call.identities = call.cached_kind = None
    run = Replay(selected)
    for event in events:
        run.feed(event)
    run.flush()
