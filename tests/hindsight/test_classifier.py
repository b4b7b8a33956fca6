"""The public classifier: the observer's classes, causal, one agent and one call at a time."""

from __future__ import annotations

import doctest
from collections import defaultdict
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given

import loopaudit
import loopaudit.hindsight
from loopaudit.core.events import Batch, Event
from loopaudit.hindsight import CallClass, Classified, Classifier, OpenStretch
from loopaudit.hindsight.observer import Hindsight
from loopaudit.readers.emit import Emitter
from tests.hindsight.sessions import NO_RESULT, Session
from tests.places import CASES, DOCS, ROOT, SAMPLES
from tests.streams import streams, tell

TRANSCRIPTS = sorted(p for p in [*SAMPLES.glob("*.json*"), *CASES.glob("*.jsonl")])


def classes(events: list[Event]) -> dict[tuple[str, int], tuple[CallClass, int]]:
    agents: dict[tuple[str, str], Classifier] = defaultdict(Classifier)
    return {
        (event.session, c.number): (c.found, c.evidence)
        for event in events
        for c in agents[event.session, event.agent].observe(event)
    }


def ended(session: Session) -> list[Event]:
    """The events of a conversation that is over."""
    session.judged()
    return session.events


def watching(events: list[Event]) -> Classifier:
    """A classifier that has seen events."""
    watch = Classifier()
    for event in events:
        watch.observe(event)
    return watch


def test_the_example_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (DOCS / "hindsight.md").read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, "hindsight.md", None, None)
    assert len(test.examples) >= 6
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_names_come_when_asked_for() -> None:
    assert {name: getattr(loopaudit.hindsight, name).__name__ for name in loopaudit.hindsight.__all__ if name.istitle()}
    with pytest.raises(AttributeError, match="no attribute 'Tracker'"):
        _ = loopaudit.hindsight.Tracker


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: p.name)
def test_classes_are_those_of_the_observer(path: Path) -> None:
    events = list(loopaudit.read(path))
    observer = Hindsight()
    observer.events(events)
    result = observer.finish()
    for (_, number), (found, evidence) in classes(events).items():
        assert (found, (evidence,) if evidence else ()) == (result.class_of(number), result.evidence_of(number))


@given(streams)
def test_nothing_looks_ahead(steps: Any) -> None:
    events: list[Event] = []
    tell(Emitter(events.append), steps)
    whole = classes(events)
    half = classes(events[: len(events) // 2])
    assert half.items() <= whole.items()


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: p.name)
def test_asking_what_is_expected_changes_nothing_and_reads_no_result(path: Path) -> None:
    events = list(loopaudit.read(path))
    plain = classes(events)
    agents: dict[str, Classifier] = defaultdict(Classifier)
    asked = {}
    for event in events:
        watch = agents[event.agent]
        if isinstance(event, Batch):
            for call in event.calls:
                result, call.result = call.result, None
                number = watch.expects(call)
                assert number < call.number
                call.result = result
                assert watch.expects(call) == number
        for one in watch.observe(event):
            asked[event.session, one.number] = (one.found, one.evidence)
    assert asked == plain


@pytest.mark.parametrize(
    ("session", "number"),
    [
        (Session().sh("grep a b", "x"), 1),
        (Session().sh("grep a b", "x").sh("grep c b", "y"), 1),
        (Session().sh("grep a b", "x").sh("touch b"), 0),
        (Session().sh("grep a b", "x").user("again"), 0),
        (Session().sh("grep a b", "x").sh("grep a b", "y"), 0),
        (Session().sh("grep c b", "x"), 0),
        (Session().sh("grep a b", NO_RESULT), 0),
    ],
    ids=["a repeat", "looks between", "a change", "a request", "another result", "another call", "no result"],
)
def test_expects(session: Session, number: int) -> None:
    *before, last = ended(session.sh("grep a b", "x"))
    assert isinstance(last, Batch)
    assert watching(before).expects(last.calls[0]) == number


def test_an_outage_is_not_expected_to_last() -> None:
    *before, last = ended(Session().call("fetch", {"url": "u"}, "!503 Service Unavailable", times=4))
    assert isinstance(last, Batch)
    watch = watching(before)
    assert watch.stretch is not None
    assert watch.expects(last.calls[0]) == 0


def test_calls_that_never_ran_leave_no_trace() -> None:
    watch = Classifier()
    for batch in ended(Session().sh("grep a b", "x", times=3)):
        assert isinstance(batch, Batch)
        watch.batch(batch, skipped=(0,) if batch.index == 2 else ())
    assert watch.stretch is not None
    assert watch.stretch.calls == (3,)
    assert watch.stretch.evidence == 1


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: p.name)
def test_a_fork_goes_on_by_itself(path: Path) -> None:
    batches = [e for e in loopaudit.read(path) if not e.agent]
    half = len(batches) // 2
    watch = watching(batches[:half])
    fork = watch.fork()
    stretch = watch.stretch
    went_on = [fork.observe(event) for event in batches[half:]]
    assert watch.stretch == stretch, "the original did not move"
    assert went_on == [watch.observe(event) for event in batches[half:]]
    assert fork.stretch == watch.stretch


def counted_of(stretch: OpenStretch | None) -> tuple[tuple[int, int], int, int] | None:
    """What a whole stretch tells of itself, as the classifier counts it."""
    if stretch is None:
        return None
    return (stretch.evidence, stretch.calls[0] if stretch.calls else 0), stretch.repeats, stretch.news


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: p.name)
def test_a_stretch_is_counted_as_it_says(path: Path) -> None:
    watch = Classifier()
    for event in loopaudit.read(path):
        if not event.agent:
            watch.observe(event)
            assert watch.counted == counted_of(watch.stretch)


def test_a_stretch_says_what_goes_on() -> None:
    watch = Classifier()
    seen: list[OpenStretch | None] = []
    for event in ended(Session().sh("grep a b", "x", times=4).sh("grep c b", "z")):
        last: list[Classified] = watch.observe(event)
        assert len(last) == 1
        seen.append(watch.stretch)
        assert watch.counted == counted_of(watch.stretch)
    assert seen[0] is None
    kinds = [one and one.kind for one in seen]
    assert kinds == [None, "", "", "identical", "identical"]
    assert [one.is_loop for one in seen if one] == [False, False, True, True]
    assert [one.due for one in seen if one] == ["", "", "identical", "identical"]
    assert seen[-1] is not None
    assert (seen[-1].news, seen[-1].repeats, seen[-1].laps) == (1, 3, 3)
    assert orjson.loads(seen[-1].unit[0].partition(" ")[2])["command"] == "grep a b"


def test_a_plan_that_is_rewritten_is_a_stretch_until_there_is_work() -> None:
    run = Session().user()
    for words in ("make the crate", "set up the crate", "create a crate", "new crate first", "the crate"):
        run.call(
            "update_plan", {"plan": [{"step": words, "status": "pending"}, {"step": "test", "status": "pending"}]}, "ok"
        )
    run.call("update_plan", {"plan": [{"step": "crate", "status": "pending"}]}, "ok").write("src/a.rs", "fn a() {}")
    watch = Classifier()
    found = []
    for event in ended(run):
        watch.observe(event)
        stretch = watch.stretch
        assert watch.counted == counted_of(stretch)
        found.append(stretch and (stretch.due, stretch.calls, stretch.evidence))
        fork = watch.fork()
        assert fork.stretch == stretch
    assert found == [None] * 5 + [("plan_rewrite", (2, 3, 4, 5), 1), ("plan_rewrite", (2, 3, 4, 5, 6), 1), None]
