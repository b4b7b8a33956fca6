"""Laws of scorecards over random transcripts: merging, ranges, and what changes nothing."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.compare.model import Scorecard, merge
from loopaudit.compare.prices import Price, Prices
from loopaudit.compare.step_limit import null_policy
from loopaudit.core.findings import Action
from loopaudit.core.report import PolicyResult, Response, TranscriptResult
from tests.compare.made import GOOD, OPEN, WRONG, fire, loop, policy, scored, transcript

pytestmark = pytest.mark.usefixtures("untraced")

CALLS = 14
PRICES = Prices("", {"m-1": Price(input=1.0, output=2.0)})

tokens = st.none() | st.integers(0, 5000)


@st.composite
def policies(draw: st.DrawFn, label: str) -> PolicyResult:
    findings = []
    stopped: set[int] = set()
    for call in sorted(draw(st.lists(st.integers(1, CALLS), max_size=6))):
        turn = 1 if call <= 7 else 2
        if turn in stopped:
            continue
        action = draw(st.sampled_from([a for a in Action if a]))
        whole = draw(st.booleans())
        grade = draw(st.sampled_from([GOOD, WRONG, OPEN, None]))
        findings.append(fire(label, action, call, grade=grade, turn=turn, batch=(call, call) if whole else None))
        if action == Action.STOP:
            stopped.add(turn)
    return policy(label, *findings, status=draw(st.sampled_from(["evaluated", "partly", "crashed"])))


@st.composite
def transcripts(draw: st.DrawFn) -> TranscriptResult:
    starts = sorted(draw(st.sets(st.sampled_from([1, 5, 9, 12]), max_size=3)))
    episodes = [
        loop(start, start + draw(st.integers(0, 2)), kind=draw(st.sampled_from(["identical", "waiting"])), turn=1)
        for start in starts
    ]
    responses = [
        Response(
            "",
            number,
            1 if number <= 7 else 2,
            number,
            (number,),
            draw(st.sampled_from(["m-1", "other", None])),
            draw(tokens),
            draw(tokens),
            seconds=draw(st.none() | st.floats(0, 100)),
        )
        for number in range(1, CALLS + 1)
    ]
    recorded = [fire("recorded", Action.WARN, c) for c in draw(st.lists(st.integers(1, CALLS), max_size=2))]
    chosen = [draw(policies(label)) for label in ("a", "b", "c")]
    return transcript(chosen, episodes, calls=CALLS, responses=responses, recorded=recorded)


def card_of(result: TranscriptResult) -> Scorecard:
    return scored(result, enforced=True, prices=PRICES)


def told(card: Scorecard) -> object:
    """Everything but the functions and floating-point rests."""
    value = msgspec.structs.asdict(card)
    value["cases"] = [(case.path, case.runs, case.interventions) for case in card.cases]
    for one in card.cards.values():
        for end in (one.certain, one.possible):
            end.seconds, end.cost = round(end.seconds, 6), round(end.cost, 9)
    return value


@given(transcripts(), transcripts(), transcripts())
def test_merging_is_associative(one: TranscriptResult, two: TranscriptResult, three: TranscriptResult) -> None:
    left = merge([merge([card_of(one), card_of(two)]), card_of(three)])
    right = merge([card_of(one), merge([card_of(two), card_of(three)])])
    assert told(left) == told(right)


@given(transcripts())
def test_nothing_is_neutral_and_merging_leaves_its_parts_alone(one: TranscriptResult) -> None:
    card = card_of(one)
    assert told(merge([Scorecard(), card])) == told(merge([card, Scorecard()])) == told(card)
    merge([card, card])
    assert told(card) == told(card_of(one))


@given(transcripts())
def test_the_lower_end_is_never_above_the_upper(one: TranscriptResult) -> None:
    for card in card_of(one).cards.values():
        low, high = card.certain, card.possible
        assert low.calls <= high.calls <= CALLS
        assert low.responses <= high.responses
        assert low.tokens <= high.tokens and low.metered <= high.metered
        assert low.seconds <= high.seconds + 1e-9 and low.cost <= high.cost + 1e-12


@given(transcripts())
def test_a_transcript_without_events_changes_no_number_of_a_policy(one: TranscriptResult) -> None:
    empty = transcript([policy(label) for label in ("a", "b", "c")], calls=0)
    before, after = card_of(one), merge([card_of(one), card_of(empty)])
    assert after.loops == before.loops and after.agreement == before.agreement
    for label, card in before.cards.items():
        now = after.cards[label]
        assert (now.judged, now.firings, now.certain, now.possible, now.firsts) == (
            card.judged,
            card.firings,
            card.certain,
            card.possible,
            card.firsts,
        )
        assert null_policy(label, after.cases, enforced=True) == null_policy(label, before.cases, enforced=True)


@given(transcripts())
def test_counts_add_up(one: TranscriptResult) -> None:
    card = card_of(one)
    for label, mine in card.cards.items():
        judged = mine.judged
        assert judged.good + judged.wrong + judged.open + judged.ungraded == judged.interventions
        assert sum(judged.grades.values()) == judged.interventions - judged.ungraded
        assert len(judged.late) == judged.caught
        assert judged.caught + judged.missed + judged.spared <= card.loops
        assert card.caught_alone.get(label, 0) <= judged.caught
        assert card.wrong_alone.get(label, 0) <= judged.wrong
    for (first, second), agreement in card.agreement.items():
        assert agreement.both + agreement.only_first <= card.cards[first].judged.caught
        assert agreement.both + agreement.only_second <= card.cards[second].judged.caught
