"""What each policy would have done on one transcript, and whether it would have been right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from loopaudit.core.counts import NO_SCHEMAS
from loopaudit.core.findings import Finding
from loopaudit.core.report import PolicyResult, TranscriptResult
from loopaudit.core.words import WORDS
from loopaudit.reports.kit import wording
from loopaudit.reports.kit.console.columns import Column, Flow, fitted
from loopaudit.reports.kit.console.parts import more, section
from loopaudit.reports.kit.console.style import flat, joined
from loopaudit.reports.kit.policy_sums import Score, graded
from loopaudit.reports.kit.terminal.view import View

SHADOW: Final = "in shadow mode: it watched only, nothing is spared"

_COLUMNS: Final = (
    Column("policy", least=10, keep="tail"),
    Column("would", least=14),
    Column("call", right=True),
    Column("hindsight"),
    Column("because", least=24, rank=1, wish=40),
    Column("loops caught", right=True, rank=2),
    Column("calls spared", right=True, rank=3),
    Column("rule", least=10, keep="head", rank=4),
    Column("line", right=True, rank=5),
    Column("tool", least=8, keep="head", rank=6),
)


class _Group(Struct):
    """Firings of a policy with one action and one verdict."""

    first: Finding
    last: Finding
    times: int = 0


def policies(view: View, result: TranscriptResult, scores: Sequence[Score]) -> list[RenderableType]:
    """The section: a row for each action of a policy and each verdict on it; then those that did nothing."""
    if not result.policies:
        return []
    inner = view.inner()
    parts: list[RenderableType] = []
    rows = list(_rows(view, result, scores))
    shown = rows[: view.limits.rows]
    if shown:
        table = fitted(_COLUMNS, shown, inner.width)
        parts += [table.table, *more(len(rows) - len(shown), "rows (--full)"), *table.note()]
        if graded(result):
            parts.append(legend())
            parts += false_rejections(scores, view.limits.names)
    if view.is_full:
        parts += _every(result)
    parts += nothing(view, result)
    return section("What each policy would have done", parts, "" if view.enforced else SHADOW)


def _rows(view: View, result: TranscriptResult, scores: Sequence[Score]) -> Iterator[list[Text]]:
    sums = {score.label: score for score in scores}
    for policy in result.policies:
        score = sums[policy.label]
        for place, group in enumerate(_groups(policy)):
            first = group.first
            grade = first.grade
            caught = f"{score.caught:,} of {score.loops:,}" if score.loops else ""
            spared = f"{score.avoided:,}" if view.enforced and graded(result) else ""
            yield [
                flat(policy.label if not place else "", "strong"),
                joined(flat(wording.action_of(first), first.action.slug), (_times(group.times), "dim")),
                Text(wording.span_of(min(first.call, group.last.call), group.last.call)),
                verdict_of(first),
                flat(grade.why if grade is not None else ""),
                Text(caught if not place else "", "dim"),
                Text(spared if not place else "", "dim"),
                flat(first.rule),
                Text(f"{first.line:,}" if first.line else "", "dim"),
                flat(first.tool),
            ]
        if policy.dropped:
            lost = f"{wording.some(policy.dropped, 'firing')} counted, but too many to be kept and graded"
            yield [Text(), Text(f"…{_times(policy.dropped)}"), Text(), Text(), Text(lost, "doubt"), *[Text()] * 5]


def _times(count: int) -> str:
    return f" {count:,}×" if count > 1 else ""


def _groups(policy: PolicyResult) -> list[_Group]:
    groups: dict[tuple[object, ...], _Group] = {}
    for finding in policy.findings:
        good = finding.grade.good if finding.grade is not None else None
        key = (finding.action, finding.own_word, good, finding.grade is None)
        group = groups.setdefault(key, _Group(finding, finding))
        group.last = finding
        group.times += 1
    return list(groups.values())


def verdict_of(finding: Finding) -> Text:
    """Right, wrong or unclear, with the sign and the colour for it."""
    grade = finding.grade
    if grade is None:
        return Text()
    good = grade.good
    return Text(f"{wording.grade_mark(good)} {wording.grade_word(good)}", wording.grade_style(good))


def legend() -> Flow:
    """The signs of hindsight's verdicts."""
    parts = []
    for good in (True, False, None):
        word = wording.grade_word(good)
        parts.append(joined((f"{wording.grade_mark(good)} {word}: ", wording.grade_style(good)), (WORDS[word], "dim")))
    return Flow(parts)


def false_rejections(sums: Iterable[Score], names: int) -> list[RenderableType]:
    """What each policy refused although it succeeded and brought something; nothing where no refusal was judged."""
    counted = [score for score in sums if score.rejections.total.judged]
    if not counted:
        return []
    counted.sort(key=lambda score: (-score.rejections.total.false, score.label))
    listed = [f"{score.label} {wording.share(score.rejections.total)}" for score in counted]
    style = "bad" if counted[0].rejections.total.false else ""
    meaning = f"; {WORDS['false rejections']}"
    return [
        joined(("false rejections: ", "head"), flat(wording.some_of(listed, names), style), (meaning, "dim")),
    ]


def nothing(view: View, result: TranscriptResult) -> list[RenderableType]:
    """Policies that did nothing, and those that could not look, each with the reason."""
    names = view.limits.names * 2
    quiet = [p.label for p in result.policies if not p.by_action and p.status in ("evaluated", "partly")]
    parts: list[RenderableType] = []
    if quiet:
        parts.append(joined(("did nothing: ", "head"), flat(wording.some_of(quiet, names))))
    return [*parts, *unable(result.policies, names)]


def unable(results: Sequence[PolicyResult], names: int) -> list[RenderableType]:
    """What policies could not look at and why, each reason once; a missing schema has a cure."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    schemas: dict[str, None] = {}
    for policy in results:
        if policy.status == "evaluated":
            continue
        for reason in policy.reasons or [""]:
            if policy.status == "partly" and reason.startswith(NO_SCHEMAS):
                schemas[policy.label] = None
                continue
            labels = by_reason.setdefault((policy.status, reason), [])
            if policy.label not in labels:
                labels.append(policy.label)
    words = {"partly": "judged only in part", "cannot_evaluate": "could not judge", "crashed": "crashed"}
    parts: list[RenderableType] = []
    for (status, reason), labels in by_reason.items():
        style = "error" if status == "crashed" else "doubt"
        cure = "; --tools FILE gives them" if reason.startswith(NO_SCHEMAS) else ""
        why = f": {reason}{cure}" if reason and reason != words[status] else ""
        parts.append(joined((f"{wording.some_of(labels, names)} {words[status]}", style), (why, "dim")))
    if schemas:
        listed = wording.some_of(list(schemas), names)
        parts.append(flat(without_schemas(listed), "dim"))
    return parts


def is_without_schemas(policy: PolicyResult) -> bool:
    """Whether a policy lacked tool schemas and nothing else."""
    return bool(policy.reasons) and all(reason.startswith(NO_SCHEMAS) for reason in policy.reasons)


def without_schemas(labels: str) -> str:
    """What policies without tool schemas did not do, and what cures it."""
    return f"{labels}: arguments not checked where no tool schemas are recorded (--tools FILE gives them)"


def _every(result: TranscriptResult) -> list[RenderableType]:
    """Every kept firing, uncut."""
    found = [f for policy in result.policies for f in policy.findings]
    parts: list[RenderableType] = []
    for finding in sorted(found, key=lambda f: (f.call or f.calls[0], f.line)):
        where = wording.finding_place(finding) + (f", line {finding.line:,}" if finding.line else "")
        count = f", count {finding.count:,}" if finding.count else ""
        head = joined(
            (where, "strong"), "  ", flat(finding.policy), " ", flat(wording.action_of(finding), finding.action.slug),
            "  ", flat(finding.rule), (count, "dim"), "  ", verdict_of(finding),
        )  # fmt: skip
        below = []
        if finding.grade is not None:
            evidence = f" (see {calls_of(finding.grade.evidence)})" if finding.grade.evidence else ""
            word = wording.words(finding.grade.word)
            below.append(flat(f"{word}: {finding.grade.why}{evidence}", wording.grade_style(finding.grade.good)))
        below.append(joined(flat(finding.tool), " ", flat(finding.arguments, "dim")))
        if finding.message:
            below.append(flat(f"“{finding.message}”", "quote"))
        parts += [head, *(Padding(part, (0, 0, 0, 2)) for part in below if part.plain.strip())]
    return [Text(), Text(f"every firing: {len(found):,}", "head"), *parts, Text()] if parts else []


def calls_of(numbers: Sequence[int]) -> str:
    """Numbers of calls in words."""
    listed = wording.some_of([f"{number:,}" for number in numbers], 12)
    return f"call {listed}" if len(numbers) == 1 else f"calls {listed}"
