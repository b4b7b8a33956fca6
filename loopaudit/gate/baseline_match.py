"""Compares today's firings with a baseline, and makes the new baseline of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import PurePosixPath
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from loopaudit.config.toml_text import storable
from loopaudit.core.findings import Episode, Finding
from loopaudit.gate.baseline_file import AcceptedIssue

State = Literal["unchanged", "moved", "changed", "new", "vanished", "expired"]


class Seen(Struct, frozen=True):
    """A firing of today: the transcript as the baseline would call it, and its conversation from 1.

    A ``loop`` stands there as a finding of hindsight, so that both are compared in one way.
    """

    transcript: str
    conversation: int
    finding: Finding
    loop: Episode | None = None


class Scope(Struct, frozen=True):
    """What today's run can speak about.

    ``judged`` are the pairs of transcript and policy label that were evaluated, ``missing`` the
    transcripts of the baseline that are gone from the disk. ``blind`` are transcript, conversation and
    label of each policy that could not evaluate.
    """

    judged: frozenset[tuple[str, str]]
    missing: frozenset[str] = frozenset()
    blind: frozenset[tuple[str, int, str]] = frozenset()

    @property
    def transcripts(self) -> set[str]:
        """Everything that was looked at."""
        return {transcript for transcript, _ in self.judged} | {transcript for transcript, *_ in self.blind}

    def ran(self, transcript: str, policy: str) -> bool:
        """Whether the policy was replayed on the transcript, whatever came of it."""
        return (transcript, policy) in self.judged or any(
            (transcript, policy) == (name, label) for name, _, label in self.blind
        )


class IssueMatch(Struct):
    """Firings that came out alike: of one entry (``None`` if new) and with one action today.

    ``calls`` are today's for what fires, the accepted ones for what vanished. ``transcript``
    is today's name; it differs from the entry's where the file was renamed. ``edited`` is a finding of today
    that has the fingerprint of an entry which nothing fires, and another policy, rule or tool.
    """

    state: State
    transcript: str
    entry: AcceptedIssue | None
    calls: list[int] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    edited: Finding | None = None


def renamed(entries: Iterable[AcceptedIssue], seen: Iterable[Seen], scope: Scope) -> dict[str, str]:
    """Old names of transcripts that are gone, and the new names that they appear under.

    A new name must be unknown to the baseline. It is taken for the old file if they share
    firings; among several the one with the same file name and the most in common counts.
    """
    before: dict[str, Counter[str]] = {}
    for entry in entries:
        prints = before.setdefault(entry.transcript, Counter())
        if entry.calls:
            prints[entry.fingerprint] += len(entry.calls)
    now: dict[str, Counter[str]] = {}
    for item in seen:
        if item.transcript not in before:
            now.setdefault(item.transcript, Counter())[item.finding.fingerprint] += 1
    pairs = []
    for old in sorted(scope.missing & before.keys() - scope.transcripts):
        for new, prints in now.items():
            common = (before[old] & prints).total()
            same_name = PurePosixPath(old).name == PurePosixPath(new).name
            if common and (same_name or 2 * common >= max(before[old].total(), prints.total())):
                pairs.append((not same_name, -_common_tail(old, new), -common, old, new))
    names: dict[str, str] = {}
    for *_, old, new in sorted(pairs):
        if old not in names and new not in names.values():
            names[old] = new
    return names


def _common_tail(one: str, other: str) -> int:
    count = 0
    for a, b in zip(reversed(PurePosixPath(one).parts), reversed(PurePosixPath(other).parts), strict=False):
        if a != b:
            break
        count += 1
    return count


def compare(entries: Sequence[AcceptedIssue], seen: Sequence[Seen], scope: Scope, today: date) -> list[IssueMatch]:
    """What became of every accepted firing, and every firing that nobody accepted.

    The fingerprint tells issues apart. An entry whose other members were changed by hand speaks of another issue
    than its fingerprint, and accepts neither of the two.
    """
    names = renamed(entries, seen, scope)
    old: dict[_Key, list[_Old]] = {}
    for entry in entries:
        transcript = names.get(entry.transcript, entry.transcript)
        if (transcript, entry.policy) in scope.judged:
            places = [_Old(entry, call) for call in entry.calls]
            old.setdefault(_key(transcript, entry), []).extend(places)
    new: dict[_Key, list[Seen]] = {}
    issues: dict[tuple[str, str], Finding] = {}
    for item in seen:
        key = _key(item.transcript, item.finding)
        new.setdefault(key, []).append(item)
        issues[key[:2]] = item.finding
    outcomes: list[IssueMatch] = []
    for key in sorted(old.keys() | new.keys()):
        found = _issue(key[0], old.get(key, []), new.get(key, []), today)
        if key not in new:
            for outcome in found:
                outcome.edited = issues.get(key[:2])
        outcomes.extend(found)
    return outcomes


_Key = tuple[str, str, str, str, str]
"""Transcript, fingerprint, policy, rule and tool."""


def _key(transcript: str, issue: AcceptedIssue | Finding) -> _Key:
    policy, rule, tool = map(storable, (issue.policy, issue.rule, issue.tool))
    return transcript, issue.fingerprint, policy, rule, tool


class _Old(Struct, frozen=True):
    entry: AcceptedIssue
    call: int

    @property
    def place(self) -> tuple[int, int]:
        return (self.entry.conversation, self.call)


def _place(item: Seen) -> tuple[int, int]:
    return (item.conversation, item.finding.call)


def _issue(transcript: str, old: list[_Old], new: list[Seen], today: date) -> list[IssueMatch]:
    """Pair the accepted firings of one issue with those of today, nearest likeness first."""
    grouped: dict[tuple[State, int, str, int], IssueMatch] = {}

    def put(state: State, entry: AcceptedIssue | None, call: int, item: Seen | None) -> None:
        action = item.finding.action.slug if item is not None else ""
        conversation = item.conversation if item is not None else 0
        outcome = grouped.setdefault((state, id(entry), action, conversation), IssueMatch(state, transcript, entry))
        outcome.calls.append(call)
        if item is not None:
            outcome.findings.append(item.finding)

    def pair(known: _Old, item: Seen) -> None:
        state: State = "moved"
        if known.entry.action != item.finding.action.slug:
            state = "changed"
        elif known.entry.expired(today):
            state = "expired"
        elif known.place == _place(item) and known.entry.transcript == transcript:
            state = "unchanged"
        put(state, known.entry, item.finding.call, item)

    before, now = sorted(old, key=lambda known: known.place), sorted(new, key=_place)
    actions = [known.entry.action for known in before]
    if len(set(actions)) > 1 and actions == [item.finding.action.slug for item in now]:
        # The same actions in the same order, wherever: what stands now where another action stood is no change.
        for known, item in zip(before, now, strict=True):
            pair(known, item)
        old, new = [], []
    for alike in (_same_place_and_action, _same_place, _same_action, _anything):
        waiting: dict[object, list[_Old]] = {}
        for known in old:
            waiting.setdefault(alike(known.entry.conversation, known.call, known.entry.action), []).append(known)
        left = []
        for item in new:
            finding = item.finding
            partners = waiting.get(alike(item.conversation, finding.call, finding.action.slug))
            if not partners:
                left.append(item)
                continue
            pair(partners.pop(0), item)
        new = left
        old = [known for partners in waiting.values() for known in partners]
    for known in old:
        put("vanished", known.entry, known.call, None)
    for item in new:
        put("new", None, item.finding.call, item)
    return list(grouped.values())


def _same_place_and_action(conversation: int, call: int, action: str) -> object:
    return (conversation, call, action)


def _same_place(conversation: int, call: int, action: str) -> object:
    return (conversation, call)


def _same_action(conversation: int, call: int, action: str) -> object:
    return action


def _anything(conversation: int, call: int, action: str) -> object:
    return None


def update(
    entries: Sequence[AcceptedIssue],
    seen: Sequence[Seen],
    scope: Scope,
    today: date,
    *,
    prune: bool = False,
    reason: str = "",
    expires: date | None = None,
) -> list[AcceptedIssue]:
    """The entries of the new baseline.

    What the run did not judge stays as it is, unless ``prune`` drops the entries of missing
    transcripts. ``reason`` and ``expires`` go to entries that are accepted anew; an entry that
    only moved keeps its own, and so does a changed one where none is given. An expired entry that
    still fires is accepted anew: without ``expires`` it has no last day any more.
    """
    names = renamed(entries, seen, scope)
    kept = []
    for entry in entries:
        if prune and entry.transcript in scope.missing and entry.transcript not in names:
            continue
        transcript = names.get(entry.transcript, entry.transcript)
        is_done = scope.ran if entry.table == "unevaluated" else lambda *pair: pair in scope.judged
        if not is_done(transcript, entry.policy):
            kept.append(entry)
    kept += _unevaluated(entries, names, scope, today, reason, expires)
    outcomes = compare(entries, seen, scope, today)
    conversations = {id(item.finding): item.conversation for item in seen}
    merged: dict[object, AcceptedIssue] = {}
    for outcome in sorted(outcomes, key=lambda o: _ORDER[o.state]):
        for finding in outcome.findings:
            made = _made(outcome, finding, conversations[id(finding)], reason, expires)
            earlier = merged.get(made.key)
            if earlier is None:
                merged[made.key] = made
            else:
                calls = tuple(sorted((*earlier.calls, *made.calls)))
                merged[made.key] = replace(earlier, calls=calls)
    return [*kept, *merged.values()]


def _unevaluated(
    entries: Iterable[AcceptedIssue],
    names: Mapping[str, str],
    scope: Scope,
    today: date,
    reason: str,
    expires: date | None,
) -> Iterator[AcceptedIssue]:
    """An entry for each policy that could not evaluate; one that was there keeps its reason and its last day."""
    before = {
        (names.get(e.transcript, e.transcript), e.conversation, e.policy): e
        for e in entries
        if e.table == "unevaluated" and not e.expired(today)
    }
    for transcript, conversation, policy in sorted(scope.blind):
        known = before.get((transcript, conversation, policy))
        if known is not None:
            yield replace(known, transcript=transcript)
            continue
        yield AcceptedIssue(
            transcript=transcript, policy=policy, rule="", action="", tool="", calls=(), fingerprint="",
            conversation=conversation, reason=reason, expires=expires,
        )  # fmt: skip


_ORDER: Mapping[State, int] = {"unchanged": 0, "moved": 1, "changed": 2, "expired": 3, "new": 4, "vanished": 5}


def _made(outcome: IssueMatch, finding: Finding, conversation: int, reason: str, expires: date | None) -> AcceptedIssue:
    entry = outcome.entry
    anew = outcome.state in ("new", "changed", "expired")
    kept_date = entry.expires if entry is not None and outcome.state != "expired" else None
    return AcceptedIssue(
        transcript=outcome.transcript,
        policy=finding.policy,
        rule=finding.rule,
        action=finding.action.slug,
        tool=finding.tool,
        calls=(finding.call,),
        fingerprint=finding.fingerprint,
        conversation=conversation,
        reason=(reason if anew and reason else entry.reason if entry is not None else ""),
        expires=expires if anew and expires is not None else kept_date,
    )


def gone(entries: Collection[AcceptedIssue], names: Mapping[str, str], scope: Scope) -> list[str]:
    """Transcripts of the baseline that are deleted, and not renamed."""
    return sorted({e.transcript for e in entries} & scope.missing - names.keys() - scope.transcripts)
