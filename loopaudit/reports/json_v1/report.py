"""The machine-readable shape of a report: version 1 of ``loopaudit-report``.

It is a contract of its own and no dump of inner types: fields are named here one by one, so
that renaming one inside changes nothing outside. ``docs/report-format.md`` documents it;
``loopaudit/reports/schemas/report-v1.json`` is made of these types by ``make docs``. Lists keep
an order that means something; maps and sets are sorted by name. Nothing depends on when or
where the report was made. Fields with the default ``UNSET`` came after 0.1.0: every document of this
version has them, :mod:`loopaudit.reports.json_v1.reading` reads documents without them too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, UnsetType

from loopaudit.core import findings, report
from loopaudit.core.rejections import RejectionTable
from loopaudit.core.report import CheckKind, CheckStatus, Content, PolicyStatus
from loopaudit.policies.contract import Mode
from loopaudit.reports.json_v1.rejections import FalseRejections, rows_of
from loopaudit.reports.json_v1.types import (
    VERSION,
    ActionSlug,
    Count,
    FailedInput,
    Generator,
    Position,
    Replay,
    Shape,
    by_name,
    by_slug,
    doc,
    failed_inputs_of,
    generator_of,
    replay_of,
    slug_of,
)


class PolicyInfo(Shape):
    """A selected policy."""

    label: str
    policy: Annotated[str, doc("Id of the policy.")]
    title: str
    origin: Annotated[str, doc("Project and version of the imitated guard.")]
    params: Annotated[dict[str, Any], doc("Parameter values by name.")]
    rules: Annotated[dict[str, str], doc("What each rule means.")]
    needs: Annotated[dict[str, str], doc("What is lost where a recording lacks something.")]


class Counts(Shape):
    """Totals; null is not recorded."""

    turns: Annotated[Count | None, doc("Messages of a person to the main agent.")]
    responses: Annotated[Count | None, doc("Responses of the model that hold calls or text.")]
    text_replies: Annotated[Count | None, doc("Responses without calls.")]
    calls: Annotated[Count | None, doc("Distinct tool calls, of all agents.")]
    results: Annotated[Count | None, doc("Results that belong to a call.")]
    unanswered: Annotated[Count | None, doc("Calls without a result.")]
    orphan_results: Annotated[Count | None, doc("Results without a call.")]
    failures: Annotated[
        Count | None,
        doc("Failed calls at the failure level of the run; null where the recording does not tell."),
    ]
    denied: Count | None
    cancelled: Count | None
    subagent_calls: Count | None
    max_parallel: Annotated[Count | None, doc("Most calls in one response.")]
    repeated_ids: Count | None
    repeated_records: Count | None
    compactions: Count | None
    success_known: Annotated[bool | UnsetType, doc("Whether the recording tells failures from successes.")] = UNSET


class FailuresByLevel(Shape):
    """Failed calls by where the failure is known from."""

    flag: Count | None
    exit_code: Count | None
    text: Count | None


class Tokens(Shape):
    """Recorded tokens, once per response; null is not recorded."""

    input: Count | None
    output: Count | None
    cache_read: Count | None
    cache_write: Count | None
    all: Annotated[
        Count | UnsetType | None, doc("All of them, each once, whether or not input holds those of the cache.")
    ] = UNSET


class Grade(Shape):
    """What hindsight says of a finding."""

    word: Annotated[str, doc("A word of a closed list.")]
    good: Annotated[bool | None, doc("true: justified. false: wrong. null: cannot be told.")]
    why: str
    evidence: Annotated[list[Position], doc("Numbers of calls.")]


class Finding(Shape):
    """One firing."""

    policy: Annotated[str, doc("Label of the policy as selected for the run.")]
    action: Annotated[
        ActionSlug,
        doc(
            "What the guard would have done, on the common ladder, weakest first: "
            "observe, warn, nudge, ask, reject, block, strip_tools, stop."
        ),
    ]
    own_word: Annotated[str, doc("The guard's own name for the action.")]
    rule: Annotated[str, doc("The guard's rule that fired; explained in policies[].rules.")]
    count: Annotated[int, doc("The number that the guard counts, by its own rule.")]
    agent: Annotated[str, doc("The agent; empty for the main one.")]
    turn: Annotated[Count, doc("The agent's turn, from 1; 0 before the first message of a person.")]
    response: Annotated[Count, doc("The model response of this agent, from 1.")]
    call: Annotated[
        Position | None, doc("The call it is about, the last one for a whole batch; null for a reply without calls.")
    ]
    first_call: Annotated[Position | None, doc("First call of the same response.")]
    last_call: Annotated[Position | None, doc("Last call of the same response.")]
    whole_batch: Annotated[bool, doc("Whether it is about all calls of the response.")]
    line: Annotated[Position | None, doc("Line of the call in the file; null where the format has no lines.")]
    tool: Annotated[str, doc("Name of the tool as the guard sees it.")]
    arguments: Annotated[str, doc("Short form of the arguments, for people.")]
    key: Annotated[str, doc("Canonical key of name and arguments in hexadecimal; equal calls have equal keys.")]
    message: Annotated[str, doc("What the guard would have told the model, in our words.")]
    details: Annotated[dict[str, Any], doc("What the policy adds; its form is the policy's own.")]
    grade: Annotated[
        Grade | None, doc("What hindsight says of it; null where hindsight was not asked or said nothing.")
    ]
    fingerprint: Annotated[
        str,
        doc("Stable identity of the firing: the same after added lines, in renamed folders, on other machines."),
    ]
    baseline_state: Annotated[
        Literal["unchanged", "moved", "changed", "new", "expired"] | None,
        doc("How it stands to the baseline, under `check`."),
    ]
    expected: Annotated[bool | UnsetType, doc("Whether an expectation requires it and is met, under `check`.")] = UNSET
    false_rejection: Annotated[
        bool | UnsetType | None,
        doc(
            "Whether it refused a call that succeeded in the recording and brought something; null where it refused "
            "nothing, or the recording does not tell."
        ),
    ] = UNSET
    result: Annotated[
        str | UnsetType, doc("The beginning of the recorded result of the call; empty where none is recorded.")
    ] = UNSET
    skipped: Annotated[Count | UnsetType, doc("Later calls of the response that a stop left out (enforced mode).")] = (
        UNSET
    )


class LineHead(Shape):
    """Where a finding of a line stands."""

    schema: Literal["loopaudit-finding"]
    version: Literal[1]
    path: str
    format: str
    session: str
    mode: Mode
    recorded: Annotated[bool, doc("Whether the recording harness's own guard did it.")]


UNIT_KEY: Final = "Stands for the repeated calls in hexadecimal; equal ones have equal keys."


class Loop(Shape):
    """A loop as an entry beside the findings."""

    rule: Annotated[str, doc("loop/ and the kind of the loop.")]
    kind: str
    agent: Annotated[str, doc("The agent; empty for the main one.")]
    turn: Annotated[Position | None, doc("The agent's turn it began in.")]
    first_call: Annotated[Position | None, doc("The first redundant call.")]
    last_call: Position | None
    line: Annotated[Position | None, doc("Line it begins in; null where the format has no lines.")]
    unit: Annotated[list[str], doc("The repeated calls in a short form.")]
    laps: Annotated[Count, doc("How often the unit was run again.")]
    calls: Annotated[Count, doc("Redundant calls.")]
    ended: Annotated[str, doc("How it ended.")]
    tokens: Count | None
    seconds: float | None
    evidence: Annotated[list[Position], doc("Numbers of calls.")]
    last_line: Annotated[Position | None, doc("The line it ends on, where nothing was called.")]
    fingerprint: Annotated[str, doc("Stable identity of the loop, as that of a finding.")]
    baseline_state: Annotated[
        Literal["unchanged", "moved", "changed", "new", "expired"] | None,
        doc("How it stands to the baseline, under `check`."),
    ]
    expected: Annotated[bool, doc("Whether the transcript is there to hold a catch, under `check`.")]
    unit_key: Annotated[str | UnsetType, doc(UNIT_KEY)] = UNSET


class PolicyCalls(Shape):
    """The calls of a transcript as a guard treats them."""

    judged: Count
    blocked: Annotated[Count, doc("Calls the guard refused (enforced mode).")]
    avoided_after_stop: Annotated[Count, doc("Calls of a turn after the guard's stop (enforced mode).")]


class PolicyResult(Shape):
    """What a policy did on a transcript."""

    label: str
    policy: str
    params: Annotated[dict[str, Any], doc("Parameter values by name.")]
    status: PolicyStatus
    reasons: Annotated[list[str], doc("What could not be evaluated, and why.")]
    by_action: Annotated[dict[str, Count], doc("All firings by action.")]
    by_rule: Annotated[dict[str, Count], doc("All firings by rule.")]
    calls: PolicyCalls
    mapped_tools: Annotated[dict[str, str], doc("Recorded tool names that were mapped to the guard's words.")]
    findings_not_kept: Annotated[Count, doc("Firings beyond the limit per policy and transcript: counted, not listed.")]
    findings: Annotated[list[Finding], doc("The firings in order.")]


class Episode(Shape, kw_only=True):
    """A stretch without new information, as hindsight sees it."""

    kind: Annotated[str, doc("waiting is no loop; every other kind is.")]
    agent: str
    turn: Annotated[Position | None, doc("The agent's turn it began in.")]
    first_call: Annotated[Position | None, doc("The first redundant call.")]
    last_call: Position | None
    line: Annotated[Position | None, doc("The line it begins on.")]
    last_line: Annotated[Position | UnsetType | None, doc("The line it ends on, where nothing was called.")] = UNSET
    unit: Annotated[list[str], doc("The repeated calls in a short form.")]
    laps: Annotated[Count, doc("How often the unit was run again.")]
    calls: Annotated[Count, doc("Redundant calls.")]
    ended: Annotated[str, doc("How it ended.")]
    tokens: Count | None
    seconds: float | None
    evidence: Annotated[list[Position], doc("Numbers of calls.")]
    unit_key: Annotated[str | UnsetType, doc(UNIT_KEY)] = UNSET
    baseline_state: Annotated[
        Literal["unchanged", "moved", "changed", "new", "expired"] | UnsetType | None,
        doc("How it stands to the baseline, under `check`."),
    ] = UNSET
    expected: Annotated[bool | UnsetType, doc("Whether the transcript is there to hold a catch, under `check`.")] = (
        UNSET
    )


class Problem(Shape):
    """Something in the input that could not be used as it stands."""

    kind: str
    message: str
    line: Position | None
    damage: Annotated[bool, doc("Whether content was lost.")]


class Problems(Shape):
    """What could not be used as it stands."""

    counts: Annotated[dict[str, Count], doc("All problems by kind.")]
    damaged: Annotated[Count, doc("Problems that lost content.")]
    kept: Annotated[list[Problem], doc("The first problems of each kind.")]


class Transcript(Shape):
    """One audited conversation."""

    path: str
    format: Annotated[str, doc("Id of the transcript format.")]
    session: Annotated[str, doc("The recording's name of the conversation; empty where it has none.")]
    counts: Counts
    failures_by_level: FailuresByLevel
    tokens: Tokens
    duration_seconds: Annotated[float | None, doc("From the first to the last recorded time.")]
    agents: Annotated[list[str], doc("Names of the sub-agents.")]
    models: list[str]
    tools: Annotated[dict[str, Count], doc("Calls by recorded tool name.")]
    policies: Annotated[list[PolicyResult], doc("What each policy did.")]
    episodes: Annotated[list[Episode], doc("Stretches without new information, as hindsight sees them.")]
    classes: Annotated[dict[str, Count], doc("Calls by hindsight class.")]
    recorded: Annotated[list[Finding], doc("What the guard of the recording harness did itself.")]
    problems: Problems
    notes: list[str]
    started: Annotated[float | UnsetType | None, doc("The first recorded time, in seconds since 1970.")] = UNSET
    ended: Annotated[float | UnsetType | None, doc("The last one.")] = UNSET


class Counted(Shape):
    """A finding or loop that a failed threshold counts."""

    path: str
    line: Position | None
    policy: Annotated[str | None, doc("null where it is a loop.")]
    rule: str
    first_call: Position | None
    last_call: Position | None
    fingerprint: str
    message: str


class Check(Shape):
    """One thing that the gate looked at, and how it came out."""

    kind: CheckKind
    status: CheckStatus
    ok: bool
    message: str
    path: str | None
    policy: str | None
    action: str | None
    rule: str | None
    fingerprint: str | None
    calls: list[Count]
    accept: str | None
    reason: str | None
    source: str | None
    counted: Annotated[list[Counted] | UnsetType, doc("What a failed threshold counts.")] = UNSET
    exit_code: Annotated[Count | UnsetType, doc("What it alone ends the program with; 0 where it does not fail.")] = (
        UNSET
    )


class Gate(Shape):
    """What `loopaudit check` decided."""

    exit_code: int
    counts: dict[str, dict[str, Count]]
    checks: list[Check]


class Document(Shape):
    """What `loopaudit replay --report json` writes. A line of `--report jsonl` is #/$defs/finding_line or loop_line."""

    schema: Literal["loopaudit-report"]
    version: Literal[1]
    generator: Generator
    replay: Replay
    policies: Annotated[list[PolicyInfo], doc("The selected policies, in the order of the run.")]
    transcripts: Annotated[list[Transcript], doc("The audited conversations, in the order of the inputs.")]
    failed_inputs: Annotated[list[FailedInput], doc("Inputs that gave no transcript.")]
    ignored_files: Annotated[dict[str, Count], doc("Files of directories that were passed over, counted by reason.")]
    internal_errors: Annotated[list[str], doc("Failures of the program itself.")]
    gate: Annotated[Gate | None, doc("What `loopaudit check` decided; null for other commands.")]
    false_rejections: Annotated[
        list[FalseRejections] | UnsetType,
        doc("For each policy with graded refusals, over all transcripts: all of them, then by rule, then by tool."),
    ] = UNSET
    content: Annotated[
        Content | UnsetType,
        doc("shown: texts as recorded. masked: secrets in them are masked. hidden: only names and sizes."),
    ] = UNSET


# -- conversion ----------------------------------------------------------------------------


def document(value: report.Report) -> Document:
    """The whole report."""
    return Document(
        schema="loopaudit-report",
        version=VERSION,
        generator=generator_of(value),
        replay=replay_of(value),
        policies=[_policy_info(info) for info in value.policies],
        transcripts=[_transcript(transcript) for transcript in value.transcripts],
        failed_inputs=failed_inputs_of(value),
        ignored_files=by_name(value.ignored),
        internal_errors=list(value.internal),
        gate=None if value.gate is None else _gate(value.gate),
        false_rejections=[row for label, table in rejections_of(value).items() for row in rows_of(label, table)],
        content=value.content,
    )


def rejections_of(value: report.Report) -> dict[str, RejectionTable]:
    """The graded refusals of each policy, by label, over all transcripts."""
    found: dict[str, RejectionTable] = {}
    for transcript in value.transcripts:
        for policy in transcript.policies:
            found.setdefault(policy.label, RejectionTable()).take(policy.findings)
    return found


def line_head(path: str, format_id: str, session: str, mode: Mode, *, recorded: bool) -> LineHead:
    """The fields of a line before those of its finding."""
    return LineHead("loopaudit-finding", VERSION, path, format_id, session, mode, recorded)


def placed(value: report.Report) -> Iterable[tuple[LineHead, findings.Finding | findings.Episode]]:
    """Every kept finding and every loop with its place: the loops of a transcript after its findings."""
    mode = replay_of(value).mode
    for one in value.transcripts:
        fired = [item for policy in one.policies for item in policy.findings]
        if not (fired or one.recorded or one.episodes):
            continue
        head = line_head(one.path, one.format, one.session, mode, recorded=False)
        for item in fired:
            yield head, item
        of_harness = line_head(one.path, one.format, one.session, mode, recorded=True)
        for item in one.recorded:
            yield of_harness, item
        for episode in one.episodes:
            if episode.is_loop:
                yield head, episode


def finding(item: findings.Finding) -> Finding:
    """One firing. Call and line numbers are ``None`` where a firing is about none."""
    first, last = item.calls
    return Finding(
        policy=item.policy,
        action=slug_of(item.action),
        own_word=item.own_word,
        rule=item.rule,
        count=item.count,
        agent=item.agent,
        turn=item.turn,
        response=item.batch,
        call=item.call or None,
        first_call=first or None,
        last_call=last or None,
        whole_batch=item.whole_batch,
        line=item.line or None,
        tool=item.tool,
        arguments=item.arguments,
        key=item.key,
        message=item.message,
        details=item.details or {},
        grade=_grade(item.grade),
        fingerprint=item.fingerprint,
        baseline_state=item.baseline_state or None,
        expected=item.expected,
        false_rejection=item.false_rejection,
        result=item.result,
        skipped=item.skipped,
    )


def _grade(grade: findings.Grade | None) -> Grade | None:
    return None if grade is None else Grade(grade.word, grade.good, grade.why, list(grade.evidence))


def _policy_info(info: report.PolicyInfo) -> PolicyInfo:
    maps = (by_name(info.params), by_name(info.rules), by_name(info.needs))
    return PolicyInfo(info.label, info.policy, info.title, info.origin, *maps)


def _transcript(result: report.TranscriptResult) -> Transcript:
    counts, levels = result.counts, result.counts.errors_by_level
    problems = [Problem(p.kind, p.message, p.line or None, p.damage) for p in result.problems]
    return Transcript(
        path=result.path,
        format=result.format,
        session=result.session,
        counts=Counts(
            turns=counts.turns,
            responses=counts.batches,
            text_replies=counts.text_replies,
            calls=counts.calls,
            results=counts.results,
            unanswered=counts.unanswered,
            orphan_results=counts.orphan_results,
            failures=counts.failures,
            denied=counts.denied,
            cancelled=counts.cancelled,
            subagent_calls=counts.sidechain_calls,
            max_parallel=counts.max_parallel,
            repeated_ids=counts.repeated_ids,
            repeated_records=counts.repeated_records,
            compactions=counts.compactions,
            success_known=counts.success_known,
        ),
        failures_by_level=FailuresByLevel(
            flag=levels.get("flag", 0), exit_code=levels.get("exit_code", 0), text=levels.get("text", 0)
        ),
        tokens=Tokens(
            input=counts.input_tokens,
            output=counts.output_tokens,
            cache_read=counts.cache_read_tokens,
            cache_write=counts.cache_write_tokens,
            all=counts.all_tokens,
        ),
        duration_seconds=counts.duration,
        agents=sorted(result.agents),
        models=sorted(result.models),
        tools=by_name(result.tools),
        policies=[_policy(policy) for policy in result.policies],
        episodes=[episode_of(episode) for episode in result.episodes],
        classes=by_name(result.classes),
        recorded=[finding(item) for item in result.recorded],
        problems=Problems(by_name(result.problem_counts), result.damaged, problems),
        notes=list(result.notes),
        started=counts.started,
        ended=counts.ended,
    )


def _policy(result: report.PolicyResult) -> PolicyResult:
    return PolicyResult(
        label=result.label,
        policy=result.policy,
        params=by_name(result.params),
        status=result.status,
        reasons=list(result.reasons),
        by_action=by_slug(result.by_action),
        by_rule=by_name(result.by_rule),
        calls=PolicyCalls(result.judged_calls, result.blocked_calls, result.avoided_calls),
        mapped_tools=by_name(result.mapped),
        findings_not_kept=result.dropped,
        findings=[finding(item) for item in result.findings],
    )


def episode_of(episode: findings.Episode) -> Episode:
    """A stretch without new information."""
    return Episode(
        kind=episode.kind,
        agent=episode.agent,
        turn=episode.turn or None,
        first_call=episode.first_call or None,
        last_call=episode.last_call or None,
        line=episode.line or None,
        last_line=episode.last_line or None,
        unit=list(episode.unit),
        laps=episode.laps,
        calls=episode.calls,
        ended=episode.ended,
        tokens=episode.tokens,
        seconds=episode.seconds,
        evidence=list(episode.evidence),
        unit_key=episode.unit_key,
        baseline_state=episode.baseline_state or None,
        expected=episode.expected,
    )


def _gate(gate: report.GateResult) -> Gate:
    checks = [
        Check(
            kind=check.kind,
            status=check.status,
            ok=check.ok,
            message=check.message,
            path=check.path or None,
            policy=check.policy or None,
            action=check.action or None,
            rule=check.rule or None,
            fingerprint=check.fingerprint or None,
            calls=list(check.calls),
            accept=check.accept,
            reason=check.reason or None,
            source=check.source or None,
            counted=[
                Counted(
                    path=one.path,
                    line=one.line or None,
                    policy=one.policy or None,
                    rule=one.rule,
                    first_call=one.first_call or None,
                    last_call=one.last_call or None,
                    fingerprint=one.fingerprint,
                    message=one.message,
                )
                for one in check.counted
            ],
            exit_code=check.exit_code,
        )
        for check in gate.checks
    ]
    return Gate(gate.exit_code, {kind: by_name(counts) for kind, counts in by_name(gate.counts).items()}, checks)
