"""The part of the gate that holds a report against its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopaudit.core.errors import ExitCode
from loopaudit.core.findings import Action
from loopaudit.core.report import Check, Report
from loopaudit.gate.baseline_file import Entry
from loopaudit.gate.baseline_match import Outcome, Scope, Seen, compare, gone, renamed
from loopaudit.gate.inputs import Inputs

FAILS = frozenset({"new", "vanished", "changed", "expired"})
"""States that are a regression; a firing that only moved is none."""


def seen(report: Report, names: dict[str, str]) -> list[Seen]:
    """Every kept firing of the transcripts that have a name in the baseline."""
    number: dict[str, int] = {}
    found: list[Seen] = []
    for transcript in report.transcripts:
        name = names.get(transcript.path)
        if name is None:
            continue
        number[name] = number.get(name, 0) + 1
        for policy in transcript.policies:
            found.extend(Seen(name, number[name], finding) for finding in policy.findings)
    return found


def scope(report: Report, names: dict[str, str], missing: frozenset[str]) -> Scope:
    """What the report can speak about: a policy that failed on one conversation says nothing of its file."""
    judged: set[tuple[str, str]] = set()
    blind: set[tuple[str, str]] = set()
    for transcript in report.transcripts:
        name = names.get(transcript.path)
        if name is None:
            continue
        for policy in transcript.policies:
            pair = (name, policy.label)
            (blind if policy.status in ("cannot_evaluate", "crashed") else judged).add(pair)
    return Scope(frozenset(judged - blind), missing)


def baseline_checks(report: Report, given: Inputs) -> Iterator[Check]:
    """A check for every group of firings that came out alike, and for what was not looked at."""
    baseline = given.baseline
    if baseline is None:
        return
    names = {path: name for path, name in given.names.items() if path not in given.extra}
    paths = {name: path for path, name in names.items()}
    found = seen(report, names)
    reach = scope(report, names, given.missing)
    outcomes = compare(baseline.entries, found, reach, given.today)
    for outcome in outcomes:
        for finding in outcome.findings:
            if outcome.state != "vanished":
                finding.baseline_state = outcome.state
    outcomes.sort(key=lambda o: (o.transcript, _policy(o), min(o.calls)))
    for outcome in outcomes:
        yield _check(outcome, paths[outcome.transcript], given)
    old_names = renamed(baseline.entries, found, reach)
    deleted = gone(baseline.entries, old_names, reach)
    for name in deleted:
        entries = [e for e in baseline.entries if e.transcript == name]
        yield Check(
            "baseline", "vanished", False, f"the transcript is gone, with {_firings(entries)}", ExitCode.REGRESSION,
            name, accept=given.accept_prune, source=baseline.location(entries[0]),
        )  # fmt: skip
    yield from _not_checked(report, given, reach, {**{n: n for n in deleted}, **old_names})


def _not_checked(report: Report, given: Inputs, reach: Scope, known: dict[str, str]) -> Iterator[Check]:
    baseline = given.baseline
    assert baseline is not None
    selected = {info.label for info in report.policies}
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in baseline.entries:
        name = known.get(entry.transcript, entry.transcript)
        if (name, entry.policy) not in reach.judged and not (entry.transcript == name and name in known):
            groups.setdefault((entry.transcript, entry.policy), []).append(entry)
    for (transcript, policy), entries in sorted(groups.items()):
        audited = transcript in given.names.values()
        if policy not in selected:
            ok, why = not given.all_policies, "the policy was not replayed"
        elif not audited:
            ok, why = not given.whole, "the transcript was not audited"
        else:
            ok, why = True, "the policy could not evaluate"  # its coverage check decides
        yield Check(
            "baseline", "not_checked", ok, f"{why}; the baseline has {_firings(entries)}",
            0 if ok else ExitCode.REGRESSION, transcript, policy, accept=None if ok else given.accept_prune,
            source=baseline.location(entries[0]),
        )  # fmt: skip


def _firings(entries: Sequence[Entry]) -> str:
    count = sum(len(e.calls) for e in entries)
    return "1 accepted firing" if count == 1 else f"{count} accepted firings"


def _policy(outcome: Outcome) -> str:
    return outcome.entry.policy if outcome.entry is not None else outcome.findings[0].policy


def _check(outcome: Outcome, path: str, given: Inputs) -> Check:
    entry, findings = outcome.entry, outcome.findings
    state = outcome.state
    if findings:
        first = findings[0]
        action, rule, tool = first.action, first.rule, first.tool
        policy, fingerprint = first.policy, first.fingerprint
    else:
        assert entry is not None
        action, rule, tool = Action.from_slug(entry.action), entry.rule, entry.tool
        policy, fingerprint = entry.policy, entry.fingerprint
    what = f"{action.word} by {rule}" + (f" on {tool}" if tool else "") + f" at {_calls(outcome.calls)}"
    text = f"{what} {_STATES[state]}"
    if state == "changed" and entry is not None:
        text = f"{what} was {Action.from_slug(entry.action).word} in the baseline"
    elif state == "expired" and entry is not None and entry.expires is not None:
        text = f"{what} was accepted until {entry.expires.isoformat()}"
    elif state == "moved" and entry is not None and entry.transcript != outcome.transcript:
        text = f"{what} was in {entry.transcript}"
    failed = state in FAILS
    return Check(
        "baseline", state, not failed, text, ExitCode.REGRESSION if failed else 0, path, policy, action.slug, rule,
        fingerprint, tuple(outcome.calls), given.accept_firing(path) if failed or state == "moved" else None,
        entry.reason if entry is not None else "",
        given.baseline.location(entry) if entry is not None and given.baseline is not None else "",
    )  # fmt: skip


_STATES = {
    "new": "is not in the baseline",
    "vanished": "is in the baseline, but did not fire",
    "unchanged": "is accepted",
    "moved": "is accepted; it was at other calls",
    "changed": "has changed",
    "expired": "is not accepted any more",
}


def _calls(calls: Sequence[int]) -> str:
    """Calls in words; 0 stands for a reply without calls."""
    numbers = [str(c) for c in calls if c]
    if not numbers:
        return "a reply"
    shown = numbers if len(numbers) <= 6 else [*numbers[:5], f"{len(numbers) - 5} more"]
    if len(shown) == 1:
        return f"call {shown[0]}"
    return f"calls {', '.join(shown[:-1])} and {shown[-1]}"
