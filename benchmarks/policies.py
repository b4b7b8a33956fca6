"""What more policies, and hindsight, add to a replay; the same floor as in pipeline.py."""

from __future__ import annotations

from benchmarks.pipeline import corpus, floor, replay
from benchmarks.timing import Ratio, ratios
from loopaudit.audit import Options
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
    return found
