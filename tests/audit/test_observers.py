"""What is kept of every response, and recorded guards as findings."""

from __future__ import annotations

import pytest

from loopaudit.audit.observers import Bookkeeper, RecordedGuards, action_of
from loopaudit.core.events import Event, Usage
from loopaudit.core.findings import Action
from loopaudit.readers.emit import Emitter


def test_responses_with_calls_tokens_and_time() -> None:
    books = Bookkeeper()
    emit = Emitter(lambda event: books.events([event]))
    emit.turn("do it", at="2026-03-01T10:00:00Z")
    for number in (1, 2):
        emit.call("grep", {"q": number}, id=f"toolu_{number}", key="r1", line=number, at="2026-03-01T10:00:03Z")
    emit.usage(Usage(100, 20, 5, None), key="r1", model="m-1")
    for number in (1, 2):
        emit.result(f"toolu_{number}", "x", at=f"2026-03-01T10:00:0{number + 5}Z")
    emit.say("done", key="r2", at="2026-03-01T10:00:09Z")
    emit.turn("more")
    emit.call("grep", {"q": 3}, key="r3")
    emit.finish()
    first, reply, last = books.ledger.responses
    assert (first.calls, first.turn, first.model, first.input, first.output, first.cache_read, first.cache_write) == (
        (1, 2), 1, "m-1", 100, 20, 5, None,
    )  # fmt: skip
    assert first.seconds == 7.0, "from the person's message to the last result"
    assert (reply.calls, reply.seconds) == ((), 2.0)
    assert (last.calls, last.turn, last.seconds, last.input) == ((3,), 2, None, None)


def test_agents_have_turns_and_clocks_of_their_own() -> None:
    books = Bookkeeper()
    emit = Emitter(lambda event: books.events([event]))
    emit.turn("do it", at=1000.0)
    emit.call("task", {}, id="toolu_1", key="r1", at=1001.0)
    emit.call("grep", {}, id="toolu_2", key="s1", agent="sub", at=1005.0)
    emit.result("toolu_2", "x", at=1006.0)
    emit.result("toolu_1", "x", at=1010.0)
    emit.finish()
    by_agent = {response.agent: response for response in books.ledger.responses}
    assert (by_agent[""].turn, by_agent[""].seconds) == (1, 10.0)
    assert (by_agent["sub"].turn, by_agent["sub"].seconds) == (0, 1.0)


def test_a_clock_that_runs_backwards_gives_no_time() -> None:
    books = Bookkeeper()
    emit = Emitter(lambda event: books.events([event]))
    emit.turn("do it", at=2000.0)
    emit.call("grep", {}, key="r1", at=1000.0)
    emit.finish()
    assert books.ledger.responses[0].seconds is None


def test_recorded_guards_are_findings_about_the_call_before() -> None:
    events: list[Event] = []
    emit = Emitter(events.append)
    emit.boundary("recorded_guard", "early")
    emit.turn("do it")
    emit.call("grep", {"q": 1}, id="toolu_1", line=3)
    emit.result("toolu_1", "x")
    emit.say("well")
    emit.boundary("recorded_guard", "doom loop: tool blocked", line=9)
    emit.boundary("interrupt", "a person")
    emit.finish()
    guards = RecordedGuards()
    guards.events(events)
    early, late = guards.findings
    assert (early.call, early.calls, early.own_word) == (0, (0, 0), "early")
    assert (late.call, late.turn, late.line, late.action, late.policy) == (1, 1, 9, Action.BLOCK, "recorded")
    assert late.own_word == "doom loop: tool blocked" and late.tool == "grep"


@pytest.mark.parametrize(
    "reason, action",
    [
        ("", Action.WARN),
        ("doom_loop", Action.WARN),
        ("no tool used", Action.WARN),
        ("AgentStuckInLoopError: Agent got stuck in a loop", Action.STOP),
        ("run stopped after 10 repeats", Action.STOP),
        ("the call was blocked", Action.BLOCK),
        ("Denied by hook", Action.BLOCK),
        ("send a message", Action.WARN),
    ],
)
def test_actions_by_the_words_of_the_recording(reason: str, action: Action) -> None:
    assert action_of(reason) is action
