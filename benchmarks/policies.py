"""What more policies, and hindsight, add to a replay; the same floor as in pipeline.py.

The last ratio of each kind is all policies against the four of the default set: of whole replays,
and of the policies by themselves, over events that are read already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.pipeline import corpus, floor, replay
from benchmarks.timing import Ratio, ratios
from loopaudit.api import read
from loopaudit.engine import Replay
from loopaudit.events import Batch, Event
from loopaudit.fileaudit import Options
from loopaudit.policy import Selected
from loopaudit.selection import select


def measure(*, quick: bool) -> dict[str, Ratio]:
    """Ratios per kind and number of policies."""
    found = {}
    mission, everything = select(["mission"]), select(["all"])
    for kind in ("claude", "openai", "small"):
        path = corpus(kind, 5 if quick else 20)
        variants = {
            "floor": lambda p=path: floor(p),
            "no policy": lambda p=path: replay(p, Options(policies=[], hindsight=False)),
            "mission": lambda p=path: replay(p, Options(policies=mission, hindsight=False)),
            "mission and hindsight": lambda p=path: replay(p, Options(policies=mission)),
            f"all {len(everything)}": lambda p=path: replay(p, Options(policies=everything, hindsight=False)),
        }
        for name, ratio in ratios(variants, "floor", 5 if quick else 7).items():
            if name != "floor":
                found[f"{kind}, {name}"] = ratio
        whole = {name: run for name, run in variants.items() if name == "mission" or name.startswith("all ")}
        events = list(read(path))
        alone = {
            name: lambda e=events, s=chosen: guards(e, s)
            for name, chosen in zip(whole, (mission, everything), strict=True)
        }
        for what, pair in (("whole replay", whole), ("policies alone", alone)):
            found[f"{kind}, all against mission, {what}"] = ratios(pair, "mission", 5 if quick else 7)[
                f"all {len(everything)}"
            ]
    return found


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
