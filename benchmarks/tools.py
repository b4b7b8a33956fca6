"""General tools on the same file, as a whole process each: what somebody might use instead."""

from __future__ import annotations

import shutil
from dataclasses import replace

from benchmarks.peer_inputs import InputFile
from benchmarks.peers import loopaudit, row
from benchmarks.pipeline import compiled, corpus
from benchmarks.processes import Ran
from benchmarks.timing import SMALL, Missing, Outcome, command_cost, ratio

LISTING = 'select(.type == "assistant") | .message.content[]? | select(.type == "tool_use") | [.name, .input]'

TOOLS = {
    "jq": (["jq", "--compact-output", "--sort-keys", LISTING], "lists the calls with sorted arguments"),
    "rg": (["rg", "--count-matches", '"type":"tool_use"'], "ripgrep counting the calls"),
    "grep": (["grep", "--count", '"type":"tool_use"'], "counts the lines that hold a call"),
    "wc": (["wc", "--lines"], "counts the lines"),
    "md5sum": (["md5sum"], "one checksum of the file"),
}


def measure(*, quick: bool) -> dict[str, Outcome]:
    """CPU time of each tool against ``loopaudit replay FILE``, and the other way round for jq (T19)."""
    compiled()
    path = corpus("claude", 5 if quick else 100)
    file = InputFile(path, path)
    rounds = 1 if quick else 3
    there = {name: command for name, (command, _) in TOOLS.items() if shutil.which(name)}
    base: list[Ran] = []
    taken: dict[str, list[Ran]] = {name: [] for name in there}
    for _ in range(rounds):
        base.append(loopaudit(path))
        for name, command in there.items():
            taken[name].append(command_cost([*command, str(path)]))
    found: dict[str, Outcome] = {}
    for name, (_, does) in TOOLS.items():
        found[name] = row(taken[name], base, file, does) if name in there else Missing("skipped", "not installed", does)
    if "jq" in there:
        against = ratio([ran.cpu for ran in base], [ran.cpu for ran in taken["jq"]])
        found["loopaudit replay, against jq"] = replace(
            against, note="the first row the other way round", doubt=SMALL if quick else ""
        )
    return found
