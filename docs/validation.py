"""Writes ``docs/validation.md``: how far hindsight agrees with what people say of recordings (``make validate``).

The folders with labels are those of :mod:`docs.labelled`. The first lines of the page are quoted in
the README and in ``docs/hindsight.md`` between marks, which are written anew with it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from docs.labelled import OWN_SETS, ROOT, Labelled, labelled, share, table
from loopaudit.audit.session import audit_source
from loopaudit.config.options import Options
from loopaudit.core.events import Batch, Event
from loopaudit.core.findings import Episode
from loopaudit.core.tools import kind_of
from loopaudit.hindsight.record import WAITED
from loopaudit.hindsight.words import CLASSES, CallClass
from loopaudit.readers.emit import Emitter
from loopaudit.readers.recognise import recognise
from loopaudit.readers.source import Source

PAGE: Final = ROOT / "docs" / "validation.md"
QUOTES: Final = ("README.md", "docs/hindsight.md")
"""Files that quote the first lines of the page."""

_QUOTED: Final = re.compile(r"(<!-- validation -->\n).*?(<!-- /validation -->)", re.DOTALL)

_LOOKING: Final = frozenset({"read", "list", "search"})
"""Kinds of tools that change nothing, whatever they are called with."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A call that an earlier one equals in name, arguments and result.

    ``plain``: no call but looks, no request and no compaction stood between the two.
    """

    call: int
    plain: bool


@dataclass(frozen=True, slots=True)
class Opinion:
    """What hindsight finds in a labelled transcript. ``classes`` has the class of each call from 1."""

    of: Labelled
    calls: int
    loops: list[Episode]
    classes: bytes
    waited: frozenset[int]
    repeats: list[Repeat]

    @property
    def main(self) -> Episode | None:
        """The loop with the most redundant calls."""
        return max(self.loops, key=lambda loop: loop.calls, default=None)

    @property
    def agrees(self) -> bool:
        """Whether it is a loop for both, or for neither."""
        return bool(self.loops) == (self.of.label == "loop")

    def repetitions(self) -> list[int]:
        """The calls that people labelled a repetition, as far as the recording has them."""
        return sorted(call for call in self.of.repetitions if call <= len(self.classes))

    @property
    def start_agrees(self) -> bool | None:
        """Whether a loop begins within a lap of where people say; ``None`` where one of the two has none."""
        if self.of.start is None or self.main is None:
            return None
        return abs(self.main.first_call - self.of.start) <= self.of.lenience


def opinion(one: Labelled) -> Opinion:
    """What hindsight finds in it."""
    with Source(one.path, name=one.name) as source:
        results = audit_source(source, Options((), ledger=True))
    result = max(results, key=lambda r: r.counts.calls)
    ledger = result.ledger
    assert ledger is not None and ledger.record is not None
    record = ledger.record
    return Opinion(
        of=one,
        calls=result.counts.calls,
        loops=[episode for episode in result.episodes if episode.is_loop],
        classes=record.classes,
        waited=frozenset(number for number, flags in enumerate(record.flags, 1) if flags & WAITED),
        repeats=list(_repeats(one.path)),
    )


def _repeats(path: Path) -> Iterator[Repeat]:
    """Calls that repeat an earlier one of their agent exactly, told without hindsight."""
    events: list[Event] = []
    with Source(path) as source:
        emit = Emitter(events.append)
        recognise(source).read(source, emit)
        emit.finish()
    seen: dict[tuple[str, bytes], tuple[object, int, int]] = {}
    others: Counter[str] = Counter()
    """Of each agent, the requests, the compactions, and the calls that may have changed something, so far."""
    for event in events:
        agent = event.agent
        if not isinstance(event, Batch):
            others[agent] += 1  # a request, a compaction
        else:
            for call in event.calls:
                result = call.result
                looks = kind_of(call) in _LOOKING
                if result is None:
                    continue
                answer = (result.failed, result.token)
                before = seen.get((agent, call.key))
                if before is not None and before[0] == answer and before[2] != event.index:
                    yield Repeat(call.number, plain=before[1] == others[agent])
                others[agent] += not looks
                seen[agent, call.key] = (answer, others[agent], event.index)


# -- the page ------------------------------------------------------------------------------


def page(found: Sequence[Opinion]) -> str:
    """The text of the page."""
    parts = [
        _HEAD,
        "\n".join(f"* {line}" for line in summary(found)),
        "## Cases\n\n" + _CASES + "\n\n" + _agreement(found),
        "## Runs and calls that others labelled\n\n" + _RUNS + "\n\n" + _runs(found),
        "## What was taken for what\n\n" + _confusion(found),
        "## Exact repeats\n\n" + _EXACT + "\n\n" + _exact(found),
        "## Every disagreement\n\n" + _disagreements(found),
        _UNDECIDED + "\n\n" + _undecided(found),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


_HEAD: Final = """# Validation

How far hindsight agrees with what people say of recordings. This page is written by `make validate` from the folders
that `LOOPAUDIT_CASES` and `LOOPAUDIT_LABELS` name, beside the project's own cases; transcripts of others are not part
of the repository. Behind each share stands Wilson's 95 % interval: with few recordings it is wide."""

_CASES: Final = """A case is a conversation with a label, *loop* or *healthy*, that was fixed before any program
saw it. Those of `tests/cases` were written for this project, beside the rules, and show that the rules do what they
should. Those of `tests/stories` were written by people who knew neither the rules nor the program, most of them from
public reports, in rounds; what hindsight made of each round before any rule was changed for it stands above, and is
what to expect of the next report. All others were rebuilt from public reports. The rules have been worked on with all
of these at hand since, so the numbers of today flatter: they tell what hindsight does with kinds of loops that were
reported. A loop is found if hindsight has one anywhere; its start is right within one lap of the labelled call (two
calls where the loop has no period)."""

_RUNS: Final = """Real runs with labels of people outside this project. A run labelled *loop* should have one. Any other
failure does not mean that there is no loop in the run: a person named one failing step, or each, and why. A loop found
there is listed below, and is no error by itself. *Steps* are runs in which two people compared each call with the one
before and called some a repetition. A call that repeats an earlier one, not the last, is none in that scheme, and
reading one file and then another may be one."""

_EXACT: Final = """Calls that equal an earlier one of their agent in name, arguments and result, found without
hindsight's rules. Most of them bring nothing. *Excused* are those that hindsight takes for a look after a change or a
new request. *Plain* are those with no call but reads, listings and searches since the last equal one, no message and no
compaction: nothing is known to have changed there."""

_UNDECIDED: Final = """## What cannot be decided this way

Hindsight compares calls with calls and results with results. What follows it cannot see, whatever its rules:

* **A run that is stuck on its goal while the world answers anew.** An agent that visits ever new pages or tries ever
  new queries without getting nearer to its task gets a new result each time. By exact results that is progress. People
  call it a loop because they know the goal; hindsight does not.
* **A repetition in meaning**: the same question in other words with other answers, a plan that is carried out twice in
  two ways, an answer that is wrong in the same way each time.
* **Whether a repeat was wise**: a check that happened to show nothing new is redundant only in hindsight.
* **What changed outside of the recording**: a person at the keyboard, another process, a clock."""


def summary(found: Sequence[Opinion]) -> list[str]:
    """The lines that the README quotes: of what was judged unseen, and of foreign material."""
    cases = [o for o in found if _is_case_set(o) and o.of.set not in OWN_SETS]
    runs = [o for o in found if _is_run(o)]
    first: dict[int, list[bool]] = {}
    for o in found:
        if o.of.round is not None and o.of.agreed_at_first is not None:
            first.setdefault(o.of.round, []).append(o.of.agreed_at_first)
    lines = []
    if first:
        rounds = ", ".join(f"{sum(of)} of {len(of)}" for _, of in sorted(first.items()))
        lines.append(
            "Stories that were written and labelled apart from the rules, when first replayed: "
            f"{_share(agreed for of in first.values() for agreed in of)}; round by round {rounds}."
        )
    if cases:
        agree = _share(o.agrees for o in cases)
        lines.append(
            f"Cases rebuilt from public reports, loop or healthy as labelled: {agree}. The rules have been worked on "
            "with these at hand."
        )
    repetitions = [(o, call) for o in runs for call in o.repetitions()]
    if repetitions:
        share_of_calls = _share(CallClass(o.classes[call - 1]).idle for o, call in repetitions)
        lines.append(
            f"Calls that two people labelled a repetition of the call before, and that bring nothing: {share_of_calls}."
        )
    loops = [_found(o) for o in runs if o.of.label == "loop"]
    if loops:
        lines.append(
            f"Runs in which people named a loop as the failure, and a loop is found: {_share(loops)}. Most of the "
            "others are stuck on their goal while every answer is new, which exact results cannot show."
        )
    return lines


def _found(one: Opinion) -> bool:
    return bool(one.loops)


def _idle(one: Opinion, repeat: Repeat) -> bool:
    return CallClass(one.classes[repeat.call - 1]).idle


def _share(answers: Iterable[bool]) -> str:
    listed = list(answers)
    return share(sum(listed), len(listed))


def _by_set(found: Iterable[Opinion]) -> dict[str, list[Opinion]]:
    sets: dict[str, list[Opinion]] = {}
    for one in found:
        sets.setdefault(one.of.set, []).append(one)
    return sets


def _agreement(found: Sequence[Opinion]) -> str:
    rows = []
    for name, ones in _by_set(o for o in found if o.of.is_case and _is_case_set(o)).items():
        loops = [o for o in ones if o.of.label == "loop"]
        starts = [o.start_agrees for o in loops if o.start_agrees is not None]
        rows.append(
            (
                f"`{name}`",
                _share(o.agrees for o in ones),
                _share(map(_found, loops)),
                _share(not _found(o) for o in ones if o.of.label == "healthy"),
                _share(starts),
            )
        )
    return table(("set", "agree", "loops found", "healthy left alone", "start within a lap"), rows)


def _is_case_set(one: Opinion) -> bool:
    return not one.of.is_run


def _is_run(one: Opinion) -> bool:
    return not _is_case_set(one)


def _runs(found: Sequence[Opinion]) -> str:
    rows = []
    for name, ones in _by_set(filter(_is_run, found)).items():
        steps = [o for o in ones if o.of.label == "steps"]
        repeated = [o for o in steps if o.of.repetitions]
        calls = [(o, call) for o in steps for call in o.repetitions()]
        rows.append(
            (
                f"`{name}`",
                len(ones),
                _share(_found(o) for o in ones if o.of.label == "loop"),
                _share(_found(o) for o in ones if o.of.label == "other failure"),
                _share(_found(o) for o in repeated),
                _share(_found(o) for o in steps if not o.of.repetitions),
                _share(CallClass(o.classes[call - 1]).idle for o, call in calls),
            )
        )
    if not rows:
        return "None were given."
    head = (
        "set",
        "runs",
        "loop found: labelled loop",
        "loop found: other failure",
        "loop found: steps with repetitions",
        "loop found: steps without",
        "repetitions that bring nothing",
    )
    return table(head, rows)


def _confusion(found: Sequence[Opinion]) -> str:
    cases = [o for o in found if _is_case_set(o)]
    parts = []
    for name, ones in _by_set(cases).items():
        counted = Counter((o.of.label, "loop" if o.loops else "healthy") for o in ones)
        rows = [(label, counted[label, "loop"], counted[label, "healthy"]) for label in ("loop", "healthy")]
        parts.append(f"`{name}`, by label:\n\n" + table(("label", "found: loop", "found: none"), rows))
    kinds = Counter(
        (o.of.kind, o.main.kind)
        for o in cases
        if o.of.label == "loop" and o.main is not None and o.of.kind != o.main.kind
    )
    same = sum(o.main is not None and o.of.kind == o.main.kind for o in cases if o.of.label == "loop")
    rest = [(f"`{label}`", f"`{kind}`", count) for (label, kind), count in sorted(kinds.items())]
    parts.append(
        f"Of the loops that were found in cases, {same} have the kind that the label gives."
        + (" The others:\n\n" + table(("label", "found", "cases"), rest) if rest else "")
    )
    steps = [o for o in found if o.of.label == "steps"]
    if steps:
        words = [c for c in CLASSES if any(c in o.classes for o in steps)]
        counted_calls = Counter(
            (number in o.of.repetitions, CallClass(value)) for o in steps for number, value in enumerate(o.classes, 1)
        )
        rows_of_calls = [(f"`{c.word}`", counted_calls[True, c], counted_calls[False, c]) for c in words]
        parts.append(
            "Calls of the runs whose steps people compared, by hindsight's class:\n\n"
            + table(("class", "labelled repetition", "not labelled"), rows_of_calls)
        )
    return "\n\n".join(parts)


def _exact(found: Sequence[Opinion]) -> str:
    rows = []
    for name, ones in _by_set(found).items():
        repeats = [(o, repeat) for o in ones for repeat in o.repeats]
        plain = [(o, repeat) for o, repeat in repeats if repeat.plain]
        waits = sum(repeat.call in o.waited for o, repeat in repeats if _idle(o, repeat))
        excused = sum(o.classes[r.call - 1] == CallClass.RECHECK for o, r in repeats)
        rows.append(
            (
                f"`{name}`",
                len(repeats),
                _share(_idle(o, r) for o, r in repeats),
                waits,
                excused,
                _share(_idle(o, r) for o, r in plain),
            )
        )
    return table(
        ("set", "exact repeats", "bring nothing", "of these, waits", "excused", "plain ones that bring nothing"), rows
    )


def _disagreements(found: Sequence[Opinion]) -> str:
    rows = []
    for one in found:
        of, main = one.of, one.main
        shown = "none" if main is None else f"`{main.kind}`, calls {main.first_call} to {main.last_call}"
        where = (f"`{of.set}`", f"`{of.name}`")
        if of.is_case and _is_case_set(one) and not one.agrees:
            start = "" if of.start is None else f" from call {of.start}"
            rows.append((*where, f"{of.label}{start}", shown))
        elif one.start_agrees is False:
            rows.append((*where, f"loop from call {of.start}", shown))
        elif of.label == "loop" and main is None:
            rows.append((*where, "loop", shown))
        elif of.label == "other failure" and main is not None:
            rows.append((*where, "other failure (a loop is possible)", shown))
        elif of.label == "steps" and main is not None and not of.repetitions:
            rows.append((*where, "no repetition of the call before", shown))
        elif of.label == "steps":
            missed = [c for c in one.repetitions() if not CallClass(one.classes[c - 1]).idle]
            words = Counter(CallClass(one.classes[c - 1]).word for c in missed)
            if missed:
                classes = ", ".join(f"{count} `{word}`" for word, count in words.most_common())
                rows.append((*where, f"repetitions: calls {', '.join(map(str, missed))}", classes))
    return table(("set", "file", "label", "found"), rows) if rows else "There is none."


def _undecided(found: Sequence[Opinion]) -> str:
    missed = [o for o in found if o.of.label == "loop" and not o.loops]
    if not missed:
        return "No labelled loop was missed."
    still = [o for o in missed if not o.repeats]
    rows = [(f"`{o.of.set}`", f"`{o.of.name}`", o.calls, len(o.repeats)) for o in missed]
    return (
        f"Of the {len(missed)} labelled loops that were missed, {len(still)} have not one call that repeats an\n"
        "earlier one with the same result: nothing in them can be told from progress by exact results.\n\n"
        + table(("set", "file", "calls", "exact repeats"), rows)
    )


# -- writing -------------------------------------------------------------------------------


def quote(text: str, lines: Sequence[str]) -> str:
    """A document with the lines between its marks. Unchanged where it has none."""
    quoted = "".join(f"* {line}\n" for line in lines)
    return _QUOTED.sub(lambda match: match[1] + quoted + match[2], text)


def main() -> None:
    """Measure, and write the page and the lines that are quoted from it."""
    found = [opinion(one) for one in labelled()]
    lines = summary(found)
    if not lines:
        sys.exit("name folders of others in LOOPAUDIT_CASES and LOOPAUDIT_LABELS, see docs/labelled.py")
    PAGE.write_text(page(found), encoding="utf-8")
    for name in QUOTES:
        path = ROOT / name
        path.write_text(quote(path.read_text(encoding="utf-8"), lines), encoding="utf-8")
    print("\n".join(lines))  # noqa: T201 - a command


if __name__ == "__main__":
    main()
