"""The one table of a run: as text, as Markdown, and as the marked block of a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from benchmarks.gates import Targets, target, verdict
from benchmarks.machine import sentence
from benchmarks.timing import Missing, Outcome, Ratio

BEGIN: Final = "<!-- benchmarks -->"
END: Final = "<!-- /benchmarks -->"

FIXED: Final = ("ratio", "lowest", "spread", "goal", "gate")
"""Columns of every section, after the row's name and before its own columns and the remark."""


def columns(outcomes: Mapping[str, Outcome]) -> list[str]:
    """The heads of a section's table."""
    own = {head: None for outcome in outcomes.values() if isinstance(outcome, Ratio) for head in outcome.more}
    return ["what", *FIXED, *own, "remark"]


def cells(what: str, outcome: Outcome, goal: float | None, gate: float | None, heads: Sequence[str]) -> list[str]:
    """One row under :func:`columns`."""
    own = heads[1 + len(FIXED) : -1]
    if isinstance(outcome, Missing):
        remark = "; ".join(part for part in (f"{outcome.state}: {outcome.reason}", outcome.note) if part)
        return [what, *("-" for _ in (*FIXED, *own)), remark]
    remark = "; ".join(part for part in (verdict(outcome, gate), outcome.doubt, outcome.note) if part)
    return [
        what,
        str(outcome),
        f"{outcome.low:.2f}",
        f"{outcome.spread:.0%}" if outcome.spread else "-",  # one round has none
        *("-" if value is None else f"{value:.2f}" for value in (goal, gate)),
        *(_number(outcome.more.get(head)) for head in own),
        remark,
    ]


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 20 or value == int(value) else f"{value:.2f}"


def rows(section: str, outcomes: Mapping[str, Outcome], targets: Targets) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of a section's table."""
    heads = columns(outcomes)
    return heads, [cells(what, outcome, *target(targets, section, what), heads) for what, outcome in outcomes.items()]


def text(section: str, title: str, outcomes: Mapping[str, Outcome], targets: Targets) -> str:
    """A section for the terminal: columns aligned, numbers to the right."""
    heads, body = rows(section, outcomes, targets)
    widths = [max(len(row[i]) for row in (heads, *body)) for i in range(len(heads))]
    lines = [f"{section}: {title}"]
    for row in (heads, *body):
        inner = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
        lines.append("  ".join(("", row[0].ljust(widths[0]), *inner, row[-1])).rstrip())
    return "\n".join(lines)


def markdown(run: Mapping[str, Any], titles: Mapping[str, str], targets: Targets, *, digest: bool) -> str:
    """A run as Markdown; as a ``digest`` only the rows that :func:`shown` picks, without goals and gates."""
    quick = " Small inputs and few rounds (`--quick`)." if run["quick"] else ""
    parts = [
        f"Measured {sentence(run['machine'])}.{quick} Every figure is a ratio taken within one run; smaller is better."
    ]
    for section, title in titles.items():
        outcomes = run["sections"].get(section)
        if outcomes is None:
            parts.append(f"**{section}** not measured in this run")
            continue
        if digest:
            outcomes = shown(section, outcomes, targets)
            if not outcomes:
                continue
        heads, body = rows(section, outcomes, targets)
        keep = [i for i, head in enumerate(heads) if not (digest and head in ("lowest", "goal"))]
        lines = [f"**{section}** {title}", ""]
        for row in (heads, ["---" if i in (0, len(heads) - 1) else "---:" for i in range(len(heads))], *body):
            lines.append("| " + " | ".join(row[i].replace("|", "\\|") for i in keep) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def shown(section: str, outcomes: Mapping[str, Outcome], targets: Targets) -> dict[str, Outcome]:
    """The rows for a reader in a hurry: those that ``[readme]`` of the targets names, else those with a target."""
    patterns: Any = targets.get("readme", {}).get(section)
    if patterns is None:
        return {what: o for what, o in outcomes.items() if target(targets, section, what) != (None, None)}
    return {what: o for what, o in outcomes.items() if any(fnmatchcase(what, pattern) for pattern in patterns)}


def in_digest(titles: Mapping[str, str], targets: Targets) -> dict[str, str]:
    """The sections that a digest has: all but those of which ``[readme]`` picks nothing."""
    picked: Mapping[str, Any] = targets.get("readme", {})
    return {section: title for section, title in titles.items() if picked.get(section) != []}


def replaced(document: str, block: str) -> str:
    """A document with this block between its markers.

    Raises:
        ValueError: it has not exactly one pair of markers.
    """
    pieces = re.split(f"({re.escape(BEGIN)}|{re.escape(END)})", document)
    if pieces[1::2] != [BEGIN, END]:
        raise ValueError(f"no block to write into: expected {BEGIN} and {END}, once each and in this order")
    return f"{pieces[0]}{BEGIN}\n\n{block.strip()}\n\n{END}{pieces[4]}"


def block_of(document: str) -> str:
    """What stands between the markers of a document.

    Raises:
        ValueError: as :func:`replaced`.
    """
    replaced(document, "")
    return document.partition(BEGIN)[2].partition(END)[0].strip()


def problems_of(block: str, titles: Mapping[str, str]) -> Iterator[str]:
    """What is not as :func:`markdown` writes it: sections, their order and titles, the shape of the rows."""
    found = re.findall(r"^\*\*([\w ]+)\*\* (.*)$", block, re.MULTILINE)
    for name, title in found:
        if title not in (titles.get(name), "not measured in this run"):
            yield f"section {name!r} is not one that the program writes, or its title has changed"
    names = [name for name, _ in found]
    if names != [name for name in titles if name in names]:
        yield f"sections are repeated or out of order: {', '.join(names)}"
    for name in titles:
        if name not in names:
            yield f"section {name!r} is missing"
    for table in re.findall(r"(?:^\|.*\|$\n?)+", block, re.MULTILINE):
        yield from _table_problems([line.strip("| ").split(" | ") for line in table.splitlines()])


def _table_problems(lines: Iterable[Sequence[str]]) -> Iterator[str]:
    heads, rule, *body = (list(line) for line in lines)
    if heads[:2] != ["what", "ratio"] or heads[-1] != "remark" or any(set(cell) - set("-:") for cell in rule):
        yield f"not the head of a table of this program: {heads}"
    for row in body:
        if not re.fullmatch(r"-|(?:> )?\d+\.\d\d", row[1]):
            yield f"{row[0]}: {row[1]!r} is no ratio"
