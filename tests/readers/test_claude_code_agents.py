"""The Claude Code reader: sub-agents in their three layouts, and records that stand in a file again."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Batch
from loopaudit.readers.kit.copies import MAX_SEEN, Chains, Copies
from tests.readers.claude_records import SESSION, Log, call, little_session, read, shape, text

# -- sub-agents --------------------------------------------------------------------------------


def test_side_chains_in_the_same_file_are_agents_called_by_their_first_record() -> None:
    log = Log()
    log.person("go")
    log.model("m1", call("toolu_t1", name="Task"), call("toolu_t2", name="Task"))
    one = log.person("first task", isSidechain=True, parentUuid=None)["uuid"]
    two = log.person("second task", isSidechain=True, parentUuid=None)["uuid"]
    a = log.model("s1", call("a"), isSidechain=True, parentUuid=one)["uuid"]
    b = log.model("s2", call("b"), isSidechain=True, parentUuid=two)["uuid"]
    b = log.add("system", subtype="stop_hook_summary", isSidechain=True, parentUuid=b)["uuid"]
    b = log.result("b", isSidechain=True, parentUuid=b)["uuid"]
    a = log.result("a", isSidechain=True, parentUuid=a)["uuid"]
    log.model("s3", text("one is done"), isSidechain=True, parentUuid=a)
    log.model("s4", call("c"), isSidechain=True, parentUuid=b)
    log.result("toolu_t1")
    log.result("toolu_t2")
    events, problems, totals = read(log)
    told = shape(events)
    assert [line for line in told if "|" not in line] == ["turn: go", "t1+t2"]
    assert [line for line in told if line.startswith(one)] == [
        f"{one}| turn: first task",
        f"{one}| a",
        f"{one}| . one is done",
    ]
    assert [line for line in told if line.startswith(two)] == [f"{two}| turn: second task", f"{two}| b", f"{two}| c?"]
    assert (totals.turns, totals.sidechain_calls, totals.calls) == (1, 3, 5)
    assert not problems


def test_a_side_chain_whose_beginning_is_cut_off_stays_together() -> None:
    log = Log()
    lost = "00000099-0000-4000-8000-000000000000"
    log.result("x", isSidechain=True, parentUuid=lost)
    log.model("s1", call("a"), isSidechain=True, parentUuid=lost)
    log.result("a", isSidechain=True)
    log.model("s2", call("b"), isSidechain=True)
    events, _, _ = read(log)
    assert shape(events) == [f"{lost}| a", f"{lost}| b?"]


def test_tasks_given_by_one_record_begin_two_chains() -> None:
    log = Log()
    main = log.model("m1", call("toolu_t1", name="Task"), call("toolu_t2", name="Task"))["uuid"]
    one = log.person("first task", isSidechain=True, parentUuid=main)["uuid"]
    two = log.person([text("second task")], isSidechain=True, parentUuid=main)["uuid"]
    log.model("s1", call("a"), isSidechain=True, parentUuid=one)
    log.model("s2", call("b"), isSidechain=True, parentUuid=two)
    told = shape(read(log)[0])
    assert [line for line in told if line.startswith(one)] == [f"{one}| turn: first task", f"{one}| a?"]
    assert [line for line in told if line.startswith(two)] == [f"{two}| turn: second task", f"{two}| b?"]


def test_a_damaged_record_does_not_break_a_chain() -> None:
    log = Log()
    root = log.person("task", isSidechain=True, parentUuid=None)["uuid"]
    log.add("assistant", isSidechain=True, message=None)
    log.model("s1", call("a"), isSidechain=True)
    events, problems, _ = read(log)
    assert shape(events) == [f"{root}| turn: task", f"{root}| a?"]
    assert problems.counts == {"no_message": 1}


def test_a_sub_agents_own_file() -> None:
    log = Log()
    own: dict[str, Any] = {"isSidechain": True, "agentId": "a1b2c3d"}
    log.person("your task", **own)
    log.model("s1", call("a"), **own)
    log.result("a", **own)
    events, _, totals = read(log)
    assert shape(events) == ["a1b2c3d| turn: your task", "a1b2c3d| a"]
    assert (totals.turns, totals.sidechain_calls, events[0].session) == (0, 1, SESSION)


def test_sub_agents_in_progress_records_do_not_mix_with_the_main_agent() -> None:
    inner = Log()
    task = inner.person([text("look around")])
    look = inner.model("s1", call("a"), usage={"output_tokens": 5})
    also = inner.model("s1", call("b"), usage={"output_tokens": 7})
    seen = inner.result("a")
    for nested in inner.records:
        nested["uuid"] = "1" + nested["uuid"][1:]
    seen["timestamp"] = None
    log = Log()
    log.model("m1", call("toolu_task", name="Task"))
    log.progress("abc", task)
    log.progress("abc", look)
    log.progress("abc", also)
    log.add("progress", data={"type": "bash_progress", "output": "x"})
    log.progress("abc", seen)
    log.result("toolu_task", [text("found it")])
    log.model("m2", text("thanks"))
    events, problems, totals = read(log)
    told = shape(events)
    assert [line for line in told if "|" not in line] == ["task", ". thanks"]
    assert [line for line in told if "|" in line] == ["abc| turn: look around", "abc| a+b?"]
    assert (totals.sidechain_calls, totals.turns, totals.output_tokens) == (2, 0, 7)
    answered = next(c for e in events if isinstance(e, Batch) for c in e.calls if c.id == "a")
    assert answered.result is not None and answered.result.at == log.records[5]["timestamp"]
    assert not problems


def test_one_call_in_two_layouts_counts_once() -> None:
    inner = Log()
    look = inner.model("s1", call("toolu_01a"))
    seen = inner.result("toolu_01a")
    log = Log()
    log.progress("abc", look)
    log.progress("abc", seen)
    own: dict[str, Any] = {"isSidechain": True, "agentId": "abc"}
    log.model("s1", call("toolu_01a"), **own)
    log.result("toolu_01a", **own)
    events, problems, totals = read(log)
    assert shape(events) == ["abc| toolu_01a".replace("toolu_", "")]
    assert (totals.calls, totals.results) == (1, 1)
    assert problems.counts == {"repeated_call": 1, "repeated_result": 1}
    assert not problems.damaged


# -- copies ------------------------------------------------------------------------------------


def test_records_that_stand_in_the_file_again_are_dropped() -> None:
    log = little_session()
    log.records *= 2
    log.person("more")
    events, problems, totals = read(log)
    assert shape(events) == ["turn: go", "01a I look.", ". done", "turn: go", "turn: more"]
    assert problems.counts == {"repeated_record": 6}
    assert (totals.repeated_records, totals.output_tokens, totals.turns) == (6, 11, 3)
    assert not problems.damaged


def test_a_copy_of_a_call_under_another_uuid_counts_no_tokens() -> None:
    log = little_session()
    log.add("assistant", message=log.records[2]["message"])
    events, problems, totals = read(log)
    assert shape(events) == shape(read(little_session())[0])
    assert problems.counts["repeated_call"] == 1
    assert totals.output_tokens == 11


def test_a_line_written_twice_in_a_row_is_dropped_too() -> None:
    log = little_session()
    log.records = [record for record in log.records for _ in range(2)]
    assert shape(read(log)[0]) == shape(read(little_session())[0])


@pytest.mark.parametrize("blank", ["[trimmed for fixture]", "x", "00000000-0000-0000-0000-000000000000"])
@pytest.mark.parametrize("times", [True, False])
def test_blanked_uuids_are_no_identity(blank: str, times: bool) -> None:
    log = little_session()
    for record in log.records:
        record["uuid"] = record["parentUuid"] = blank
        if not times:
            record["timestamp"] = blank
    events, problems, _ = read(log)
    assert shape(events) == ["turn: go", "01a I look.", ". done", "turn: go"]
    assert not problems


def test_records_without_uuids_are_all_read() -> None:
    log = little_session()
    for record in log.records:
        del record["uuid"], record["parentUuid"]
    assert shape(read(log)[0]) == ["turn: go", "01a I look.", ". done", "turn: go"]


def test_copies_are_told_in_bounded_memory() -> None:
    copies = Copies()
    count = MAX_SEEN * 3
    assert not any(copies.seen(f"{n:036d}", "t", n) for n in range(count))
    assert all(copies.seen(f"{n:036d}", "t", n) for n in range(count - MAX_SEEN, count))
    assert len(copies) <= 2 * MAX_SEEN


def test_chains_are_told_in_bounded_memory() -> None:
    chains = Chains()
    assert chains.join("0", None, begins=True) == "0"
    for n in range(1, MAX_SEEN * 3):
        assert chains.join(str(n), str(n - 1), begins=False) == "0"
    assert len(chains) <= 2 * MAX_SEEN
