"""Random reports with any text in every field, for properties that hold for all of them."""

from __future__ import annotations

from hypothesis import strategies as st

from loopaudit.core.counts import Counts
from loopaudit.core.events import LEVELS
from loopaudit.core.findings import Action, Episode, Finding, Grade, Problem
from loopaudit.core.report import FileProblem, PolicyInfo, PolicyResult, Report, TranscriptResult
from tests.reports.sample import HOSTILE

texts = st.one_of(
    st.text(st.characters(blacklist_categories=[]), max_size=40),
    st.sampled_from(
        [HOSTILE, "", "::error::x", " ::error::x", "##[error]x", "a" * 300, "名前 " * 40, "one two", "\u0301"]
    ),
)
numbers = st.integers(0, 3000)
optional = st.none() | numbers
names = st.dictionaries(texts, texts, max_size=2)
tallies = st.dictionaries(texts, numbers, max_size=3)
details = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=4) | st.frozensets(texts),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
grades = st.builds(
    Grade,
    word=texts,
    why=texts,
    good=st.sampled_from([True, False, None]),
    evidence=st.lists(st.integers(1, 3000), max_size=3).map(tuple),
)


@st.composite
def findings(draw: st.DrawFn, label: str, agents: list[str]) -> Finding:
    call = draw(numbers)
    whole = draw(st.booleans())
    first = draw(st.integers(max(call - 3, 1), call)) if call and whole else call
    return Finding(
        policy=label,
        action=Action(draw(st.integers(1, 8))),
        own_word=draw(texts),
        rule=draw(texts),
        count=draw(st.integers(-1, 99)),
        tool=draw(texts),
        session=draw(texts),
        agent=draw(st.sampled_from(agents)),
        turn=draw(st.integers(0, 3)),
        batch=draw(numbers),
        call=call,
        calls=(first, call),
        whole_batch=whole,
        line=draw(numbers),
        arguments=draw(texts),
        message=draw(texts),
        key=draw(texts),
        details=draw(st.none() | st.dictionaries(texts, details, max_size=2)),
        grade=draw(st.none() | grades),
    )


@st.composite
def policy_results(draw: st.DrawFn, label: str, agents: list[str]) -> PolicyResult:
    found = draw(st.lists(findings(label, agents), max_size=5))
    by_action: dict[Action, int] = {}
    for item in found:
        by_action[item.action] = by_action.get(item.action, 0) + 1
    return PolicyResult(
        label=label,
        policy=label,
        params=draw(st.dictionaries(texts, st.integers() | texts, max_size=2)),
        status=draw(st.sampled_from(["evaluated", "partly", "cannot_evaluate", "crashed"])),
        reasons=draw(st.lists(texts, max_size=2)),
        findings=found,
        dropped=draw(st.integers(0, 2)),
        by_action=by_action,
        by_rule=draw(tallies),
        judged_calls=draw(numbers),
        blocked_calls=draw(numbers),
        avoided_calls=draw(numbers),
        mapped=draw(names),
    )


@st.composite
def episodes(draw: st.DrawFn, agents: list[str]) -> Episode:
    first = draw(numbers)
    return Episode(
        kind=draw(texts | st.just("waiting")),
        session=draw(texts),
        agent=draw(st.sampled_from(agents)),
        first_call=first,
        last_call=draw(st.integers(first, first + 500)) if first else 0,
        unit=draw(st.lists(texts, max_size=3)),
        laps=draw(numbers),
        calls=draw(numbers),
        ended=draw(texts),
        line=draw(numbers),
        tokens=draw(optional),
        seconds=draw(st.none() | st.floats(0, 1e9)),
        evidence=draw(st.lists(st.integers(1, 3000), max_size=2).map(tuple)),
        turn=draw(st.integers(0, 3)),
    )


COUNTS = (
    "turns batches text_replies calls results unanswered orphan_results errors denied cancelled sidechain_calls "
    "max_parallel repeated_ids repeated_records compactions"
).split()


@st.composite
def transcripts(draw: st.DrawFn, labels: list[str]) -> TranscriptResult:
    agents = ["", draw(texts)]
    counts = Counts(
        **{name: draw(numbers) for name in draw(st.sets(st.sampled_from(COUNTS)))},
        errors_by_level=draw(st.dictionaries(st.sampled_from(LEVELS), numbers)),
        input_tokens=draw(optional),
        output_tokens=draw(optional),
        cache_read_tokens=draw(optional),
        cache_write_tokens=draw(optional),
        started=0.0,
        ended=draw(st.none() | st.floats(0, 1e9)),
        success_known=draw(st.booleans()),
    )
    problem = st.builds(Problem, kind=texts, message=texts, line=numbers, damage=st.booleans())
    return TranscriptResult(
        path=draw(texts),
        session=draw(texts),
        format=draw(texts),
        counts=counts,
        agents=draw(st.lists(texts, max_size=2)),
        models=draw(st.lists(texts, max_size=2)),
        tools=draw(tallies),
        policies=[draw(policy_results(label, agents)) for label in labels],
        episodes=draw(st.lists(episodes(agents), max_size=3)),
        classes=draw(tallies),
        recorded=draw(st.lists(findings("recorded", agents), max_size=1)),
        problems=draw(st.lists(problem, max_size=3)),
        problem_counts=draw(tallies),
        damaged=draw(numbers),
        notes=draw(st.lists(texts, max_size=1)),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    labels = draw(st.lists(texts, unique=True, max_size=3))
    infos = [
        PolicyInfo(label, draw(texts), draw(texts), draw(texts), draw(names), draw(names), draw(names))
        for label in labels
    ]
    failure = st.builds(
        FileProblem, path=texts, message=texts, hint=st.none() | texts, exit_code=st.sampled_from([4, 5])
    )
    return Report(
        version=draw(texts),
        mode=draw(st.sampled_from(["enforced", "shadow"])),
        tool_names=draw(texts),
        failure_level=draw(st.sampled_from(["flag", "exit_code", "text"])),
        policies=infos,
        transcripts=draw(st.lists(transcripts(labels), max_size=2)),
        failures=draw(st.lists(failure, max_size=1)),
        ignored=draw(tallies),
        internal=draw(st.lists(texts, max_size=1)),
    )
