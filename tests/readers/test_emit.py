"""How a reader's findings become events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.events import Batch, Boundary, Event, Turn, Usage
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.emit import MAX_HELD, Accepted, Emitter


class Recorder:
    """An emitter that remembers what it handed on."""

    def __init__(self, **options: Any) -> None:
        self.events: list[Event] = []
        self.emit = Emitter(self.events.append, **options)

    def shape(self) -> list[Any]:
        """Events in short: turns as texts, batches as lists of (name, result)."""
        out: list[Any] = []
        for event in self.events:
            if isinstance(event, Turn):
                out.append(event.text)
            elif isinstance(event, Batch):
                out.append([(c.name, c.result.output if c.result else None) for c in event.calls] or event.text)
            else:
                out.append(event.kind)
        return out


def test_calls_of_one_key_are_one_batch_even_with_results_between() -> None:
    r = Recorder()
    r.emit.call("a", {}, id="1", key="m1")
    r.emit.result("1", "x")
    r.emit.call("b", {}, id="2", key="m1")
    r.emit.result("2", "y")
    r.emit.call("c", {}, id="3", key="m2")
    r.emit.finish()
    assert r.shape() == [[("a", "x"), ("b", "y")], [("c", None)]]


def test_without_keys_a_result_ends_the_batch() -> None:
    r = Recorder()
    for name in "ab":
        r.emit.call(name, {}, id=name)
    for name in "ab":
        r.emit.result(name, name.upper())
    r.emit.call("c", {}, id="c")
    r.emit.finish()
    assert r.shape() == [[("a", "A"), ("b", "B")], [("c", None)]]


def test_a_batch_waits_for_a_late_result_and_order_is_kept() -> None:
    r = Recorder()
    r.emit.call("a", {}, id="1", key="m1")
    r.emit.call("b", {}, id="2", key="m2")
    r.emit.result("2", "y")
    r.emit.turn("next")
    assert r.events == []
    r.emit.result("1", "x")
    r.emit.finish()
    assert r.shape() == [[("a", "x")], [("b", "y")], "next"]
    assert r.emit.totals.unanswered == 0


def test_behind_an_unanswered_call_only_so_much_is_held() -> None:
    r = Recorder()
    r.emit.call("lost", {}, id="lost", key="m")
    for n in range(MAX_HELD + 5):
        r.emit.call("a", {"n": n}, id=f"c{n}", key=f"m{n}")
        r.emit.result(f"c{n}", "x")
    assert r.events
    r.emit.result("lost", "too late")
    r.emit.finish()
    totals = r.emit.totals
    assert (totals.unanswered, totals.calls) == (1, MAX_HELD + 6)
    assert "repeated_result" in r.emit.problems.counts


def test_a_copied_call_with_its_result_changes_nothing() -> None:
    r = Recorder()
    for _ in range(3):
        r.emit.call("Read", '{"path": "a"}', id="toolu_1", key="m1")
    for _ in range(2):
        r.emit.result("toolu_1", "text")
    r.emit.finish()
    assert r.shape() == [[("Read", "text")]]
    assert r.emit.totals.repeated_ids == 2


def test_a_copied_prefix_drops_its_messages_too() -> None:
    r = Recorder()
    for _ in range(2):
        r.emit.turn("please fix it")
        r.emit.call("Read", {"path": "a"}, id="toolu_1", key="m1")
        r.emit.result("toolu_1", "text")
    r.emit.call("Read", {"path": "b"}, id="toolu_2", key="m2")
    r.emit.finish()
    assert r.shape() == ["please fix it", [("Read", "text")], [("Read", None)]]
    assert r.emit.totals.turns == 1


def test_a_person_may_say_the_same_again() -> None:
    r = Recorder()
    r.emit.turn("continue")
    r.emit.call("a", {}, id="x1")
    r.emit.result("x1", "1")
    r.emit.turn("continue")
    r.emit.call("a", {}, id="x2")
    r.emit.finish()
    assert r.shape() == ["continue", [("a", "1")], "continue", [("a", None)]]


def test_the_same_id_with_other_arguments_is_another_call() -> None:
    r = Recorder()
    for n in range(3):
        r.emit.call("a", {"n": n}, id="call_77")
        r.emit.result("call_77", str(n))
    r.emit.call("a", {"n": 2}, id="call_77")
    r.emit.finish()
    assert r.shape() == [[("a", "0")], [("a", "1")], [("a", "2")], [("a", None)]]


def test_ids_that_are_plainly_none_do_not_hide_a_loop() -> None:
    r = Recorder()
    for _ in range(4):
        r.emit.call("a", {}, id="call_0")
        r.emit.result("call_0", "same")
    r.emit.finish()
    assert r.emit.totals.calls == 4


def test_results_without_ids_are_paired_in_order() -> None:
    r = Recorder()
    r.emit.call("a", {}, key="m")
    r.emit.call("b", {}, key="m")
    r.emit.result(None, "1")
    r.emit.result(None, "2")
    r.emit.result(None, "3")
    r.emit.finish()
    assert r.shape() == [[("a", "1"), ("b", "2")]]
    assert r.emit.totals.orphan_results == 1


def test_agents_do_not_mix() -> None:
    r = Recorder()
    r.emit.call("Task", {}, id="t", key="m")
    r.emit.call("Read", {}, id="s1", key="k1", agent="sub")
    r.emit.result("s1", "x", agent="sub")
    r.emit.result("t", "done")
    r.emit.finish()
    assert [(e.agent, e.index) for e in r.events if isinstance(e, Batch)] == [("", 1), ("sub", 1)] or [
        (e.agent, e.index) for e in r.events if isinstance(e, Batch)
    ] == [("sub", 1), ("", 1)]
    assert r.emit.totals.sidechain_calls == 1


LEVELS = [
    # failed, exit_code, output, level asked for -> failed?, level
    (True, None, "x", "flag", True, "flag"),
    (True, None, "x", "exit_code", True, "flag"),
    (None, 1, "x", "exit_code", True, "exit_code"),
    (None, 1, "x", "flag", False, "exit_code"),
    (False, 1, "x", "exit_code", True, "exit_code"),
    (None, 0, "Error: no", "exit_code", False, None),
    (None, None, "Error: no", "exit_code", False, None),
    (None, None, "Error: no", "text", True, "text"),
    (False, None, "Error: no", "text", False, None),
    (None, None, "12 errors fixed", "text", False, None),
]


@pytest.mark.parametrize(("flag", "code", "output", "asked", "failed", "level"), LEVELS)
def test_failure_levels(flag: Any, code: Any, output: str, asked: Any, failed: bool, level: Any) -> None:
    r = Recorder(failure_level=asked)
    r.emit.call("a", {}, id="x")
    call = r.emit.result("x", output, failed=flag, exit_code=code)
    assert call is not None and call.result is not None
    assert (call.result.failed, call.result.level) == (failed, level)
    assert call.result.error == (output if failed else None)


def test_error_text_is_kept_apart_where_the_format_does() -> None:
    r = Recorder()
    for n, error in enumerate(["boom", None, ""]):
        r.emit.call("a", {"n": n}, id=f"x{n}")
        r.emit.result(f"x{n}", "out", failed=True, error=error)
    r.emit.finish()
    errors = [c.result.error for e in r.events if isinstance(e, Batch) for c in e.calls if c.result]
    assert errors == ["boom", None, "out"]


def test_tokens_count_once_per_response() -> None:
    r = Recorder()
    for n in range(3):
        r.emit.call("a", {"n": n}, id=str(n) * 12, key="m1")
        r.emit.usage(Usage(input=10, output=n), key="m1", model="large")
    r.emit.finish()
    totals = r.emit.totals
    assert (totals.input_tokens, totals.output_tokens, totals.cache_read_tokens) == (10, 2, None)
    assert totals.models == {"large": 1}


def test_late_tokens_go_to_the_response_that_waits() -> None:
    r = Recorder()
    r.emit.call("a", {}, id="1", key="m1")
    r.emit.usage(Usage(output=1), key="m1")
    r.emit.call("b", {}, id="2", key="m2")
    r.emit.usage(Usage(output=5), key="m1", model="large")
    totals = r.emit.finish()
    assert totals.output_tokens == 5
    first = r.events[0]
    assert isinstance(first, Batch) and first.usage is not None and (first.usage.output, first.model) == (5, "large")


@pytest.mark.parametrize(
    ("times", "span"),
    [
        (["2026-02-07T03:49:23.000Z", "2026-02-07T03:49:25.500Z", "2026-02-07T03:49:22.000Z"], 3.5),
        (["2026-02-07T03:49:23.000Z", "2026-13-40T99:99:99.999Z", "9999-99-99T99:99:99.999Z"], 0.0),
        (["zzzzzzzzzzzzzzzzzzzzzzzZ", "2026-02-07T03:49:23.000Z", "2026-02-07T03:49:24.000Z"], 1.0),
        (["2026-02-07T03:49:23.000Z", "2026-02-07T05:49:24+02:00", "2026-02-07T05:49:22+0200"], 2.0),
        (["2026-02-07T03:49:23.000Z", 1770436164, 1770436165000], 2.0),
        (["yesterday", None], None),
    ],
)
def test_the_span_of_recorded_times(times: list[Any], span: float | None) -> None:
    r = Recorder()
    for number, at in enumerate(times):
        r.emit.call("a", {"n": number}, id=f"x{number}", at=at)
        r.emit.result(f"x{number}", "", at=at)
    assert r.emit.finish().duration == span


def test_conversations_are_finished_one_by_one() -> None:
    done: list[tuple[str, int]] = []
    r = Recorder(on_session=lambda s, t: done.append((s, t.calls)))
    for session, calls in (("one", 2), ("two", 1)):
        r.emit.session(session)
        for n in range(calls):
            r.emit.call("a", {"n": n}, id=f"same{n}")
    r.emit.finish()
    assert done == [("one", 2), ("two", 1)]
    assert {e.session for e in r.events} == {"one", "two"}


def test_boundaries_and_text_replies_stand_in_order() -> None:
    r = Recorder()
    r.emit.turn("hello")
    r.emit.say("hi", key="m1")
    r.emit.boundary("compaction", "auto")
    r.emit.say("still here", key="m2")
    r.emit.finish()
    assert r.shape() == ["hello", "hi", "compaction", "still here"]
    assert isinstance(r.events[2], Boundary) and r.events[2].reason == "auto"


def test_tool_declarations_of_all_usual_shapes() -> None:
    schema = {"type": "object"}
    tools = [
        {"name": "a", "input_schema": schema},
        {"type": "function", "function": {"name": "b", "parameters": schema}},
        {"name": "c", "inputSchema": schema},
        {"name": "d"},
        {"no": "name"},
        "text",
    ]
    assert declared_schemas(tools) == {"a": schema, "b": schema, "c": schema, "d": {}}


operations = st.lists(
    st.one_of(
        st.tuples(st.just("call"), st.sampled_from("abc"), st.sampled_from("0123456")),
        st.tuples(st.just("result"), st.sampled_from("0123456x"), st.just("")),
        st.tuples(st.just("turn"), st.sampled_from(["go", "on"]), st.just("")),
        st.tuples(st.just("say"), st.sampled_from(["m", "n"]), st.just("")),
        st.tuples(st.just("bound"), st.just(""), st.just("")),
    ),
    max_size=40,
)


@given(operations)
def test_every_call_is_handed_on_exactly_once(steps: list[tuple[str, str, str]]) -> None:
    r = Recorder()
    emit = r.emit
    for kind, one, two in steps:
        if kind == "call":
            emit.call(one, {"n": two}, id=f"toolu_{two}", key=None)
        elif kind == "result":
            emit.result(f"toolu_{one}", "out")
        elif kind == "turn":
            emit.turn(one)
        elif kind == "say":
            emit.say(one, key=one)
        else:
            emit.boundary("compaction")
    emit.finish()
    calls = [c for e in r.events if isinstance(e, Batch) for c in e.calls]
    totals = emit.totals
    assert sorted(c.number for c in calls) == list(range(1, totals.calls + 1))
    assert sum(c.result is None for c in calls) == totals.unanswered
    assert totals.results + totals.unanswered == totals.calls
    told = sum(emit.problems.counts.values())
    given_results = sum(1 for s in steps if s[0] == "result")
    assert totals.results + totals.orphan_results <= given_results <= totals.results + told


def test_a_tap_is_notified_of_what_is_accepted_and_when_it_is() -> None:
    accepted: list[Accepted] = []
    r = Recorder(tap=accepted.append)
    r.emit.turn("go")
    r.emit.call("ls", {}, id="call_a1", key="m1", line=2)
    r.emit.result("call_a1", "x", failed=True, line=3)
    r.emit.result("call_a1", "x")
    r.emit.turn("go", line=4)
    r.emit.say("So.", line=5)
    assert [one.kind for one in accepted] == ["turn", "call", "result"]
    r.emit.call("ls", {}, id="call_a1")  # a copy, so that the message before it was one too
    r.emit.turn("go", line=6)
    r.emit.boundary("compaction", line=7)
    r.emit.session("other")
    assert [(one.kind, one.line) for one in accepted[3:]] == [("turn", 6), ("boundary", 7), ("session", 0)]
    assert accepted[2].arguments["failed"] is True
    assert dict(accepted[-1].arguments) == {"session": "other", "begins": True}


def test_what_is_emitted_stands_where_the_record_does() -> None:
    events: list[Event] = []
    emit = Emitter(events.append)
    emit.at(3, "2026-03-01T10:00:00Z", "sub")
    emit.turn("go")
    emit.call("grep", {"q": 1}, id="a1")
    emit.problem("odd", "something odd")
    emit.at(5)
    emit.result("a1", "x")
    emit.call("grep", {"q": 2}, id="a2", line=9, at=7.0, agent="sub")
    emit.finish()
    turn, first, second = events
    assert isinstance(turn, Turn) and isinstance(first, Batch) and isinstance(second, Batch)
    assert (turn.line, turn.at, turn.agent) == (3, "2026-03-01T10:00:00Z", "sub")
    call = first.calls[0]
    assert (call.line, call.at, first.agent) == (3, "2026-03-01T10:00:00Z", "sub")
    assert call.result is not None and (call.result.line, call.result.at) == (5, None)
    assert (second.calls[0].line, second.calls[0].at, second.agent) == (9, 7.0, "sub")
    assert [problem.line for problem in emit.problems.kept] == [3]


def test_a_result_that_stood_before_its_call_keeps_its_own_place() -> None:
    events: list[Event] = []
    emit = Emitter(events.append)
    emit.at(1, None)
    emit.result("a1", "x")
    emit.at(2, "2026-03-01T10:00:00Z", "sub")
    call = emit.call("grep", {}, id="a1")
    emit.say("done")
    emit.finish()
    assert call is not None and call.result is not None
    assert (call.result.line, call.result.at) == (1, None)
    assert {event.agent for event in events} == {"sub"}
