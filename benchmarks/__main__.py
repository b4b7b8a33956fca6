"""Prints the performance table: ``python -m benchmarks [--quick] [--check] [--only NAME]``."""

from __future__ import annotations

import argparse
import platform
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from benchmarks import memory, pipeline, policies, startup
from benchmarks.timing import Ratio

SECTIONS: dict[str, Callable[..., dict[str, Ratio]]] = {
    "pipeline": pipeline.measure,
    "policies": policies.measure,
    "startup": startup.measure,
    "memory": memory.measure,
}

TITLES = {
    "pipeline": "whole replay in one process, CPU time against orjson.loads of every line",
    "policies": "replay with more policies and with hindsight, against the same floor",
    "startup": "whole commands, CPU time against python -c pass",
    "memory": "peak memory of a replay, large file against small file",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs, few rounds")
    parser.add_argument("--check", action="store_true", help="exit 1 if a gate of targets.toml is missed")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="measure only this section")
    arguments = parser.parse_args()
    targets = tomllib.loads((Path(__file__).parent / "targets.toml").read_text())
    print(f"Python {platform.python_version()} on {platform.machine()}, {_versions()}")
    missed = []
    for name, measure in SECTIONS.items():
        if arguments.only and name not in arguments.only:
            continue
        print(f"\n{name}: {TITLES[name]}")
        print(f"  {'what':<34} {'ratio':>7} {'lowest':>7} {'spread':>7} {'goal':>7} {'gate':>7}")
        for what, ratio in measure(quick=arguments.quick).items():
            target = targets.get(name, {}).get(what, {})
            goal, gate = target.get("goal"), target.get("gate")
            verdict = ""
            if gate is not None and ratio.median > gate:
                verdict = "too noisy to tell" if ratio.spread > 0.1 else "MISSED"
                if verdict == "MISSED":
                    missed.append(f"{name}.{what}")
            shown = [f"{value:>7.2f}" if value is not None else f"{'-':>7}" for value in (goal, gate)]
            print(
                f"  {what:<34} {ratio.median:>7.2f} {ratio.low:>7.2f} {ratio.spread:>6.0%} {' '.join(shown)} {verdict}"
            )
    if missed and arguments.check:
        print(f"\ngates missed: {', '.join(missed)}", file=sys.stderr)
        return 1
    return 0


def _versions() -> str:
    from importlib.metadata import version

    return ", ".join(f"{name} {version(name)}" for name in ("orjson", "msgspec", "typer", "rich"))


if __name__ == "__main__":
    sys.exit(main())
