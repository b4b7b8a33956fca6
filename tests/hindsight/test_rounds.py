"""Loops that are no repeated calls: replies, plans, compactions and briefs that go round."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.arguments import of_arguments
from loopaudit.core.events import Batch, Boundary, Call, Event, Result, Turn
from loopaudit.core.findings import Action, Episode, Finding
from loopaudit.hindsight.episodes.likeness import Text, alike, holds
from loopaudit.hindsight.episodes.plans import is_plan_file, items_of
from loopaudit.hindsight.observer import Hindsight, HindsightResult


class Run:
    """Writes events of one conversation, a line each."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._calls = 0
        self._batches: dict[str, int] = {}

    def _place(self, agent: str) -> dict[str, Any]:
        return {"session": "s", "agent": agent, "line": len(self.events) + 1}

    def turn(self, text: str, agent: str = "") -> Run:
        self.events.append(Turn(text=text, **self._place(agent)))
        return self

    def say(self, text: str, agent: str = "") -> Run:
        return self._batch(agent, [], text)

    def call(self, name: str, arguments: Any, output: str = "ok", agent: str = "") -> Run:
        self._calls += 1
        form, source, is_json, key, _ = of_arguments(name, arguments)
        call = Call(str(self._calls), self._calls, name, form, source, key, is_json, Result(output))
        return self._batch(agent, [call], "")

    def _batch(self, agent: str, calls: list[Call], text: str) -> Run:
        self._batches[agent] = index = self._batches.get(agent, 0) + 1
        self.events.append(Batch(index=index, calls=calls, text=text, **self._place(agent)))
        return self

    def compaction(self, agent: str = "") -> Run:
        self.events.append(Boundary(kind="compaction", **self._place(agent)))
        return self

    def judged(self) -> HindsightResult:
        hindsight = Hindsight()
        hindsight.events(self.events)
        return hindsight.finish()

    def loops(self) -> list[tuple[str, int]]:
        return [(loop.kind, loop.laps) for loop in self.judged().loops]


# -- replies -------------------------------------------------------------------------------


@pytest.mark.parametrize(("replies", "loop"), [(3, False), (4, True), (9, True)])
@pytest.mark.parametrize("between", ["", "continue", "[harness] Loop detected: you repeat yourself.", "Bitte weiter"])
def test_the_fourth_equal_reply_makes_a_loop(replies: int, loop: bool, between: str) -> None:
    run = Run().turn("Do it.")
    for _ in range(replies):
        run.say("I am about to start.")
        if between:
            run.turn(between)
    assert run.loops() == ([("repeated_reply", replies - 1)] if loop else [])


def test_a_loop_of_replies_has_lines_and_no_calls() -> None:
    (loop,) = Run().turn("Do it.").say("So.").say("So.").say("So.").say("So.").judged().loops
    assert (loop.first_call, loop.last_call, loop.calls) == (0, 0, 0)
    assert (loop.line, loop.last_line, loop.unit, loop.ended) == (3, 5, ["So."], "run_ended")


def test_a_person_excuses_an_equal_reply_but_no_question() -> None:
    told, asked = Run(), Run()
    for message in "abcdef":
        told.turn(message).say("Noted, thank you.")
        asked.turn(message).say("Which file do you mean?")
    assert told.loops() == []
    assert asked.loops() == [("repeated_reply", 5)]


def test_a_call_ends_a_stretch_of_replies() -> None:
    run = Run().turn("Do it.")
    for number in range(6):
        run.say("Next.").call("read_file", {"path": str(number)}, f"text {number}").say("Next.")
    assert run.loops() == []


@pytest.mark.parametrize(
    ("replies", "loop"),
    [
        (["A first sentence.", "Something else."] * 5, True),
        ([text for i in range(8) for text in ("Next speaker: Web.", f"Please open result {i} of the search.")], False),
        ([f"Part {i} of 9 is done, and nothing was left open in it." for i in range(9)], False),
        (["503 Service Unavailable"] * 6, False),
        (["503 Service Unavailable"] * 8, True),
        (["继续整理发布说明,请稍候。"] * 5, True),
    ],
)
def test_replies(replies: list[str], loop: bool) -> None:
    run = Run().turn("Do it.")
    for reply in replies:
        run.say(reply)
    assert bool(run.loops()) == loop


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I will fix the failing test in the parser now.", "I will now fix the failing test in the parser!", True),
        ("I will fix the failing test in the parser now.", "The parser is fixed and every single test passes.", False),
        ("Batch 3 of 12 is done, all records were written.", "Batch 4 of 12 is done, all records were written.", False),
        ("Yes.", "yes", True),
        ("Yes, now.", "Yes, later.", False),
        ("", "", True),
    ],
)
def test_likeness(one: str, other: str, same: bool) -> None:
    assert alike(Text(one), Text(other)) is same
    assert alike(Text(other), Text(one)) is same


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_text_is_like_itself_and_likeness_has_no_direction(one: str, other: str) -> None:
    first, second = Text(one), Text(other)
    assert alike(first, first)
    assert alike(first, second) == alike(second, first)
    assert not holds(first, first) or len(first.words) >= 8


# -- plans ---------------------------------------------------------------------------------


def todos(*items: tuple[str, str]) -> dict[str, Any]:
    return {"todos": [{"content": content, "status": status} for content, status in items]}


@pytest.mark.parametrize(
    ("arguments", "items"),
    [
        (todos(("a", "pending"), ("B", "completed")), {"a": 0, "b": 2}),
        ({"plan": [{"step": "a", "status": "in progress"}]}, {"a": 1}),
        ({"plan": "1. a\n2. [x] b\n"}, {"a": 0, "b": 2}),
        ({"content": "# Plan\n- [ ] a\n- [x] b"}, {"# plan": 0, "a": 0, "b": 2}),
        ({"items": ["a", "b"]}, {"a": 0, "b": 0}),
        ({"todos": '[{"content": "a", "done": true}]'}, {}),
        ({"todos": '[{"content": "a", "done": true}, {"content": "b"}]'}, {"a": 2, "b": 0}),
        ({"subject": "a"}, {}),
        ({"todos": "[" * 5000}, {}),
        (7, {}),
    ],
)
def test_items_of_a_plan(arguments: Any, items: dict[str, int]) -> None:
    assert items_of(arguments) == items


@pytest.mark.parametrize(
    ("path", "plan"),
    [("/w/PLAN.md", True), ("docs/todo-list.txt", True), ("src/planner.py", False), ("explain.md", False)],
)
def test_plan_files(path: str, plan: bool) -> None:
    assert is_plan_file({"path": path}) is plan


def reworded(step: int) -> dict[str, Any]:
    return todos((f"look at it, way {step}", "pending"), ("do it", "pending"))


@pytest.mark.parametrize(("plans", "loop"), [(4, False), (5, True), (12, True)])
def test_the_fourth_rewriting_makes_a_loop(plans: int, loop: bool) -> None:
    run = Run().turn("Do it.")
    for step in range(plans):
        run.call("todo_write", reworded(step))
    found = run.judged().loops
    assert [(e.kind, e.first_call, e.last_call, e.calls) for e in found] == (
        [("plan_rewrite", 2, plans, plans - 1)] if loop else []
    )


@pytest.mark.parametrize(
    "work",
    [
        lambda run, step: run.call("bash", {"command": f"mv {step} d/"}, ""),
        lambda run, step: run.turn("Another plan, please."),
        lambda run, step: run.call("read_file", {"path": str(step)}, f"text {step}"),
    ],
)
def test_work_or_a_person_between_plans(work: Callable[[Run, int], Run]) -> None:
    run = Run().turn("Do it.")
    for step in range(9):
        work(run.call("todo_write", reworded(step)), step)
    assert run.loops() == []


def test_a_plan_that_is_ticked_off_or_grows_goes_on() -> None:
    ticked, grown = Run().turn("Do it."), Run().turn("Do it.")
    for done in range(9):
        ticked.call("todo_write", todos(*((f"s{i}", "done" if i < done else "pending") for i in range(8))))
        grown.call("todo_write", todos(*((f"s{i}", "pending") for i in range(done + 1))))
    assert ticked.loops() == grown.loops() == []


# -- compactions ---------------------------------------------------------------------------


@pytest.mark.parametrize(("times", "loop"), [(3, False), (4, True), (9, True)])
def test_the_fourth_compaction_in_a_row_makes_a_loop(times: int, loop: bool) -> None:
    run = Run().turn("Do it.").call("bash", {"command": "make"})
    for _ in range(times):
        run.compaction()
    assert run.loops() == ([("compaction_loop", times - 1)] if loop else [])


def test_work_between_compactions() -> None:
    run = Run().turn("Do it.")
    for step in range(9):
        run.call("read_file", {"path": str(step)}, f"text {step}").compaction()
    assert run.loops() == []


# -- briefs --------------------------------------------------------------------------------

BRIEF = "Find out why the nightly export of the order table is empty and fix the cause in the exporter."


def passed_down(levels: int, targets: int = 0, look: str = "") -> Run:
    run = Run().turn("Do it.")
    agents = ["", *(f"a{level}" for level in range(levels))]
    for level in range(levels):
        if look and level:
            for part in range(2):
                run.call("read_file", {"path": f"{level}{part}"}, f"{look} {level} {part}", agents[level])
        target = f"t{level % targets}" if targets else f"t{level}"
        run.call("spawn_agent", {"agent": target, "task": BRIEF}, "", agents[level])
    return run


@pytest.mark.parametrize(
    ("levels", "targets", "laps"), [(3, 0, 0), (4, 0, 3), (7, 0, 6), (2, 1, 0), (3, 2, 2), (3, 1, 2), (6, 3, 5)]
)
def test_a_brief_that_is_passed_on(levels: int, targets: int, laps: int) -> None:
    loops = passed_down(levels, targets).judged().loops
    assert [(e.kind, e.first_call, e.last_call, e.laps) for e in loops] == (
        [("delegation_loop", 2, levels, laps)] if laps else []
    )


def test_agents_that_work_before_they_pass_a_brief_on() -> None:
    assert passed_down(7, 2, look="text").loops() == []


def test_one_share_for_each_worker() -> None:
    run = Run().turn("Do it.")
    for share in ("orders", "items", "users", "taxes", "mails", "shops"):
        run.call("Task", {"prompt": f"{BRIEF} Look at {share} only.", "subagent_type": "worker"}, share)
    assert run.loops() == []


def test_hand_overs_without_a_word() -> None:
    run = Run().turn("Do it.")
    for step in range(8):
        run.call(f"transfer_to_{'ab'[step % 2]}", {}, f"now {step}", "ba"[step % 2])
    assert [kind for kind, _ in run.loops()] == ["delegation_loop"]


def test_bounded_work_for_many_delegations() -> None:
    run = Run().turn("Do it.")
    for step in range(6000):
        run.call("spawn_agent", {"task": BRIEF}, f"{step}", f"a{step}")
    assert [kind for kind, _ in run.loops()] == ["delegation_loop"]


# -- grades and order ----------------------------------------------------------------------


def finding(action: Action, *, call: int = 0, line: int = 0) -> Finding:
    return Finding(
        policy="p",
        action=action,
        own_word="",
        rule="r",
        count=1,
        tool="",
        session="s",
        agent="",
        turn=1,
        batch=1,
        call=call,
        calls=(call, call),
        whole_batch=False,
        line=line,
        arguments="",
        message="",
    )


@pytest.mark.parametrize(
    ("action", "line", "word"),
    [
        (Action.WARN, 4, "in_loop"),
        (Action.STOP, 5, "good_stop"),
        (Action.WARN, 2, "unknown"),
        (Action.STOP, 9, "unknown"),
    ],
)
def test_grades_on_replies(action: Action, line: int, word: str) -> None:
    run = Run().turn("Do it.").say("So.").say("So.").say("So.").say("So.").turn("Stop.").say("Fine.")
    assert run.judged().grade(finding(action, line=line)).word == word


def test_a_refused_plan_of_a_loop_is_justified() -> None:
    run = Run().turn("Do it.")
    for step in range(8):
        run.call("todo_write", reworded(step))
    judged = run.judged()
    assert judged.grade(finding(Action.BLOCK, call=5)).word == "justified"
    assert judged.grade(finding(Action.BLOCK, call=1)).word == "hid_information"


@given(st.lists(st.sampled_from("sStTpPcCdr"), max_size=60))
def test_episodes_of_one_agent_never_overlap(steps: list[str]) -> None:
    run = Run().turn("Do it.")
    for step in steps:
        match step:
            case "s" | "S":
                run.say("One." if step == "s" else "Two.")
            case "t" | "T":
                run.turn("continue" if step == "t" else "Go.")
            case "p" | "P":
                run.call("todo_write", todos(("a" if step == "p" else "b", "pending"), ("c", "pending")))
            case "c":
                run.compaction()
            case "C" | "d":
                run.call("spawn_agent", {"agent": step, "task": BRIEF}, "no")
            case _:
                run.call("read_file", {"path": "a"}, "text")
    episodes = [e for e in run.judged().episodes if e.first_call]
    assert all(one.last_call < other.first_call for one, other in pairwise(episodes))
    assert all(isinstance(e, Episode) and e.first_call <= e.last_call for e in episodes)
