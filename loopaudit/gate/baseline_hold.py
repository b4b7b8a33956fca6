"""The part of the gate that holds a report against its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from loopaudit.core.errors import ExitCode
from loopaudit.core.findings import LOOPS, Action, Episode, Finding
from loopaudit.core.report import Check, Report, TranscriptResult
from loopaudit.gate.baseline_file import AcceptedIssue
from loopaudit.gate.baseline_match import IssueMatch, Scope, Seen, compare, gone, renamed
from loopaudit.gate.inputs import Inputs, bare

FAILS = frozenset({"new", "vanished", "changed", "expired"})
"""States that are a regression; a firing that only moved is none."""


def seen(report: Report, names: Mapping[str, str]) -> list[Seen]:
    """Every kept firing and every loop of the transcripts that have a name in the baseline."""
    found: list[Seen] = []
    for transcript, name, number in numbered(report, names):
        for policy in transcript.policies:
            found.extend(Seen(name, number, finding) for finding in policy.findings)
        loops = [episode for episode in transcript.episodes if episode.is_loop]
        found.extend(Seen(name, number, _as_finding(loop), loop) for loop in loops)
    return found


def _as_finding(loop: Episode) -> Finding:
    """A loop as a finding of hindsight, with the fingerprint of the loop."""
    return Finding(
        policy=LOOPS, action=Action.OBSERVE, own_word="", rule=loop.kind, count=loop.laps, tool="",
        session=loop.session, agent=loop.agent, turn=loop.turn, batch=0, call=loop.first_call,
        calls=(loop.first_call, loop.last_call), whole_batch=True, line=loop.line, arguments="", message="",
        key=loop.unit_key, expected=loop.expected,
    )  # fmt: skip


def scope(report: Report, names: Mapping[str, str], missing: frozenset[str]) -> Scope:
    """What the report can speak about: a policy that failed on one conversation says nothing of its file."""
    judged: set[tuple[str, str]] = set()
    silent: set[tuple[str, str]] = set()
    blind: set[tuple[str, int, str]] = set()
    for transcript, name, number in numbered(report, names):
        judged.add((name, LOOPS))
        for policy in transcript.policies:
            if policy.status == "cannot_evaluate":
                blind.add((name, number, policy.label))
            if policy.status in ("cannot_evaluate", "crashed"):
                silent.add((name, policy.label))
            else:
                judged.add((name, policy.label))
    return Scope(frozenset(judged - silent), missing, frozenset(blind))


def numbered(report: Report, names: Mapping[str, str]) -> Iterator[tuple[TranscriptResult, str, int]]:
    """The transcripts that have a name in the baseline, with that name and their number in the file, from 1."""
    number: dict[str, int] = {}
    for transcript in report.transcripts:
        name = names.get(transcript.path)
        if name is not None:
            number[name] = number.get(name, 0) + 1
            yield transcript, name, number[name]


def baseline_checks(report: Report, given: Inputs) -> Iterator[Check]:
    """A check for every group of firings that came out alike, and for what was not looked at.

    What an expectation requires needs no entry.
    """
    baseline = given.accepted.baseline
    if baseline is None:
        return
    names = {path: name for path, name in given.accepted.names.items() if path not in given.expected.extra}
    paths = {name: path for path, name in names.items()}
    found = [item for item in seen(report, names) if item.loop is None or baseline.knows_loops]
    reach = scope(report, names, given.accepted.missing)
    outcomes = compare(baseline.entries, found, reach, given.accepted.today)
    for outcome in outcomes:
        if outcome.state == "new":
            outcome.findings = [finding for finding in outcome.findings if not finding.expected]
            outcome.calls = [finding.call for finding in outcome.findings]
        for finding in outcome.findings:
            if outcome.state != "vanished":
                finding.baseline_state = outcome.state
    for item in found:
        if item.loop is not None:
            item.loop.baseline_state = item.finding.baseline_state
    outcomes = [outcome for outcome in outcomes if outcome.calls]
    outcomes.sort(key=lambda o: (o.transcript, _policy(o), min(o.calls)))
    for outcome in outcomes:
        yield _check(outcome, paths[outcome.transcript], given)
    old_names = renamed(baseline.entries, found, reach)
    deleted = gone(baseline.entries, old_names, reach)
    for name in deleted:
        entries = [e for e in baseline.entries if e.transcript == name]
        yield Check(
            "baseline", "vanished", False, f"the transcript is gone, with {_counted(entries)}", ExitCode.REGRESSION,
            name, accept=given.accept_prune, source=baseline.location(entries[0]),
        )  # fmt: skip
    yield from _not_checked(report, given, reach, {**{n: n for n in deleted}, **old_names})


def _not_checked(report: Report, given: Inputs, reach: Scope, known: dict[str, str]) -> Iterator[Check]:
    baseline = given.accepted.baseline
    assert baseline is not None
    selected = {info.label for info in report.policies} | {LOOPS}
    groups: dict[tuple[str, str], list[AcceptedIssue]] = {}
    for entry in baseline.entries:
        name = known.get(entry.transcript, entry.transcript)
        if entry.table == "unevaluated" and reach.ran(name, entry.policy):
            if not any((name, entry.policy) == (where, policy) for where, _, policy in reach.blind):
                text = "the policy could not evaluate the transcript and can now; `loopaudit baseline` drops the entry"
                yield Check("baseline", "vanished", True, text, 0, name, entry.policy,
                            source=baseline.location(entry))  # fmt: skip
            continue
        if (name, entry.policy) not in reach.judged and not (entry.transcript == name and name in known):
            groups.setdefault((entry.transcript, entry.policy), []).append(entry)
    for (transcript, policy), entries in sorted(groups.items()):
        audited = transcript in given.accepted.names.values()
        if not audited and (given.call.whole or transcript in given.accepted.asked):
            ok, why = False, "the transcript was not audited"
        elif policy not in selected:
            ok, why = not given.call.all_policies, "the policy was not replayed"
            if bare(policy) in map(bare, selected):
                ok, why = False, "the policy was replayed with other parameters"
        elif not audited:
            ok, why = True, "the transcript was not audited"
        else:
            ok, why = True, "the policy could not evaluate"  # its coverage check decides
        yield Check(
            "baseline", "not_checked", ok, f"{why}; the baseline has {_counted(entries)}",
            0 if ok else ExitCode.REGRESSION, transcript, "" if policy == LOOPS else policy,
            accept=None if ok else given.accept_prune, source=baseline.location(entries[0]),
        )  # fmt: skip


def _counted(entries: Sequence[AcceptedIssue]) -> str:
    """How many findings and other facts entries accept, in words."""
    parts = []
    for table, one, several in (
        ("firing", "1 accepted firing", "accepted firings"),
        ("loop", "1 accepted loop", "accepted loops"),
        ("unevaluated", "1 policy that could not evaluate", "policies that could not evaluate"),
    ):
        count = sum(max(len(e.calls), 1) for e in entries if e.table == table)
        if count:
            parts.append(one if count == 1 else f"{count} {several}")
    return " and ".join(parts)


def _policy(outcome: IssueMatch) -> str:
    return outcome.entry.policy if outcome.entry is not None else outcome.findings[0].policy


def _check(outcome: IssueMatch, path: str, given: Inputs) -> Check:
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
    what = f"{_issue(policy, action, rule, tool)} at {_calls(outcome.calls)}"
    text = f"{what} {_STATES[state]}"
    if outcome.edited is not None:
        other = outcome.edited
        other_issue = _issue(other.policy, other.action, other.rule, other.tool)
        of = "" if other.policy in (policy, LOOPS) else f" of {other.policy}"
        text = f"{what} is in the baseline, but with the fingerprint of {other_issue}{of}"
    elif state == "vanished" and policy == LOOPS:
        text = f"{what} is in the baseline, but hindsight does not see it any more"
    elif state == "changed" and entry is not None:
        text = f"{what} was {Action.from_slug(entry.action).word} in the baseline"
    elif state == "expired" and entry is not None and entry.expires is not None:
        text = f"{what} was accepted until {entry.expires.isoformat()}"
    elif state == "moved" and entry is not None and entry.transcript != outcome.transcript:
        text = f"{what} was in {entry.transcript}"
    failed = state in FAILS
    is_renamed = entry is not None and entry.transcript != outcome.transcript
    accept = given.accept_finding(path, "" if is_renamed else fingerprint) if failed or state == "moved" else None
    baseline = given.accepted.baseline
    source = baseline.location(entry) if entry is not None and baseline is not None else ""
    of_loop = policy == LOOPS
    return Check(
        "baseline", state, not failed, text, ExitCode.REGRESSION if failed else 0, path,
        "" if of_loop else policy, "" if of_loop else action.slug, f"{LOOPS}{rule}" if of_loop else rule,
        fingerprint, tuple(outcome.calls), accept, entry.reason if entry is not None else "", source,
    )  # fmt: skip


def _issue(policy: str, action: Action, rule: str, tool: str) -> str:
    """What an issue is, in words."""
    if policy == LOOPS:
        return f"{LOOPS}{rule}"
    return f"{action.word} by {rule}" + (f" on {tool}" if tool else "")


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
