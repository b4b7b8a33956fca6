"""The reader of chat messages: batches, results, turns, and every container."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.core.events import Batch, Event, Usage
from loopaudit.readers.emit import Emitter
from loopaudit.readers.formats.openai_chat import READER
from loopaudit.readers.kit.chat import messages as chat_messages
from loopaudit.readers.kit.chat.message import calls_of, message_decoder, message_from, message_of, with_metadata
from loopaudit.readers.kit.chat.messages import Chat
from loopaudit.readers.source import Source
from tests import corpus
from tests.readers.chat_messages import Json, as_lines, call, read, say, tool, user, words
from tests.streams import view

RUN = [
    {"role": "system", "content": "be brief"},
    user("list it"),
    say("I look.", call("ls", '{"p":1}', "c1"), call("ls", '{"p":2}', "c2")),
    tool("c2", "b"),
    tool("c1", "a"),
    say(None, call("cat", "{}", "c3")),
    tool("c3", "x"),
    say("Done."),
]
TOLD = ["turn: list it", "ls=a+ls=b I look.", "cat=x", "Done."]

# -- containers ----------------------------------------------------------------------------

CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": lambda m: m,
    "messages": lambda m: {"messages": m},
    "history": lambda m: {"history": m, "id": "r1"},
    "trajectory": lambda m: {"trajectory": m},
    "conversation": lambda m: {"conversation": {"messages": m}},
    "request": lambda m: {"request": {"messages": m[:-1]}, "response": {"choices": [{"message": m[-1]}]}},
    "request body": lambda m: {
        "request": {"body": {"messages": m[:-1]}},
        "response": {"body": {"choices": [{"message": m[-1]}]}},
    },
    "messages and response": lambda m: {"messages": m[:-1], "response": m[-1]},
    "messages that hold the response": lambda m: {"messages": m, "response": {"choices": [{"message": m[-1]}]}},
    "rows": lambda m: [{"messages": m, "instance_id": "i"}],
    "rows under a name": lambda m: {"results": [{"traj": m}], "model": "x"},
    "list of lists": lambda m: [m],
    "messages as text": lambda m: {"messages": orjson.dumps(m).decode()},
    "results of tau-bench": lambda m: [{"task_id": 3, "trial": 1, "reward": 0.0, "info": {}, "traj": m}],
}


@pytest.mark.parametrize("spread", [False, True], ids=["one line", "indented"])
@pytest.mark.parametrize("wrap", CONTAINERS.values(), ids=CONTAINERS)
def test_container(wrap: Callable[[list[Any]], Any], spread: bool) -> None:
    data = orjson.dumps(wrap(RUN), option=orjson.OPT_INDENT_2 if spread else 0)
    with Source(None, stream=io.BytesIO(data)) as source:
        assert READER.sniff(source.probe())
    events, problems, _ = read(data)
    assert words(events) == TOLD
    assert not problems


def test_one_message_a_line() -> None:
    events, problems, totals = read(RUN)
    assert words(events) == TOLD
    assert not problems
    assert [e.line for e in events] == [2, 3, 6, 8]
    assert not totals[0].success_known
    assert events[0].session == ""


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([{}, {}, {}], ["1", "2", "3"]),
        ([{"id": "a"}, {"id": "b"}, {"id": "a"}], ["a", "b", "a~2"]),
        ([{"task_id": 0, "trial": 0}, {"task_id": 0, "trial": 1}], ["0-trial-0", "0-trial-1"]),
        ([{"instance_id": "i1", "run_id": "r"}, {"instance_id": "i2", "run_id": "r"}], ["i1", "i2"]),
        ([{"id": "x"}, {}], ["x", "2"]),
        ([{"id": "a"}, {"id": "a~2"}, {"id": "a"}], ["a", "a~2", "a~2~2"]),
        ([{"id": ""}, {"id": None}], ["1", "2"]),
    ],
)
@pytest.mark.parametrize("as_document", [False, True])
def test_each_row_is_a_session_of_its_own(rows: list[Json], names: list[str], as_document: bool) -> None:
    # No two rows begin alike, or the later would be taken to continue the earlier.
    values = [{**row, "messages": [user(f"task {n}"), *RUN[2:]]} for n, row in enumerate(rows)]
    data = orjson.dumps(values, option=orjson.OPT_INDENT_2) if as_document else as_lines(values)
    events, problems, totals = read(data)
    sessions = list(dict.fromkeys(e.session for e in events))
    assert sessions == names
    assert len(totals) == len(names)
    assert all(t.calls == 3 for t in totals)
    assert not problems


def test_batches_of_different_conversations_have_different_keys() -> None:
    events, _, _ = read(as_lines([{"messages": RUN}, {"messages": [user("again"), *RUN]}]))
    keys = [e.response_id for e in events if isinstance(e, Batch)]
    assert len(set(keys)) == len(keys) == 6


@pytest.mark.parametrize("as_document", [False, True])
def test_a_log_of_growing_requests_is_one_conversation(as_document: bool) -> None:
    rows = [
        {
            "request": {"messages": RUN[:2], "model": "m"},
            "response": {"choices": [{"message": {**RUN[2], "refusal": None}}]},
        },
        {"request": {"messages": RUN[:5]}, "response": {"choices": [{"message": RUN[5]}]}},
        {"request": {"messages": RUN[:7]}, "response": {"choices": [{"message": RUN[7]}]}},
    ]
    data = orjson.dumps(rows, option=orjson.OPT_INDENT_2) if as_document else as_lines(rows)
    events, problems, totals = read(data)
    assert words(events) == TOLD
    assert not problems
    assert len(totals) == 1


def test_a_request_that_was_tried_again_goes_on_with_its_conversation() -> None:
    rows = [
        {"messages": RUN[:5], "response": say("Hm.")},
        {"messages": RUN[:5], "response": RUN[5]},
        {"messages": RUN[:7], "response": RUN[7]},
    ]
    events, _, _ = read(as_lines(rows))
    assert words(events) == ["turn: list it", "ls=a+ls=b I look.", "Hm.", "cat=x", "Done."]


def test_rows_with_one_beginning_are_different_conversations() -> None:
    rows = [{"messages": [*RUN[:2], say(answer)]} for answer in ("yes", "no")]
    assert words(read(as_lines(rows))[0]) == ["turn: list it", "yes", "turn: list it", "no"]


def test_tools_model_and_usage_from_the_object_around() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    parameters = {"type": "object", "required": ["p"]}
    row = {
        "messages": RUN[:-1],
        "model": "asked-for",
        "tools": [{"type": "function", "function": {"name": "ls", "parameters": parameters}}, {"name": "cat"}],
        "response": {"choices": [{"message": RUN[-1]}], "usage": usage, "model": "answered"},
        "termination_reason": "max_steps",
    }
    events, _, totals = read(orjson.dumps(row))
    assert totals[0].schemas == {"ls": parameters, "cat": {}}
    assert totals[0].models == {"asked-for": 2, "answered": 1}
    last = [e for e in events if isinstance(e, Batch)][-1]
    assert last.usage == Usage(10, 2, 4, None)
    assert words(events)[-1] == "end"


def test_a_line_of_tools_before_the_messages_declares_them() -> None:
    _, problems, totals = read([{"tools": [{"name": "ls", "parameters": {"type": "object"}}]}, *RUN])
    assert totals[0].schemas == {"ls": {"type": "object"}}
    assert not problems


def test_lines_of_several_conversations_become_sessions() -> None:
    lines = [{**m, "conversation_id": n} for n, part in (("a", RUN), ("b", RUN[1:]), ("a", RUN[-1:])) for m in part]
    events, problems, _ = read(lines)
    assert list(dict.fromkeys(e.session for e in events)) == ["a", "b", "a~2"]
    assert problems.counts == {"split_session": 1}


# -- calls ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "raw", "arguments"),
    [
        (call("f", '{"a": 1}'), '{"a": 1}', {"a": 1}),
        (call("f", {"a": 1}), '{"a":1}', {"a": 1}),
        (call("f", None), "null", None),
        (call("f", ""), "", ""),
        (call("f", "{broken"), "{broken", "{broken"),
        (call("f", [1]), "[1]", [1]),
        ({"function": {"name": "f"}}, "{}", {}),
        ({"id": "x", "function": "f", "args": {"a": 1}}, '{"a":1}', {"a": 1}),
        ({"id": "x", "name": "f", "arguments": {"a": 1}}, '{"a":1}', {"a": 1}),
        ({"id": "x", "name": "f", "arguments": '{"a":1 }'}, '{"a":1 }', {"a": 1}),
        ({"id": "x", "type": "custom", "custom": {"name": "f", "input": "raw text"}}, "raw text", "raw text"),
        ({"id": "x", "tool_name": "f", "kwargs": {}}, "{}", {}),
    ],
)
def test_spellings_of_a_call(entry: Json, raw: str, arguments: Any) -> None:
    for content in (as_lines([user("go"), say("", entry)]), orjson.dumps([user("go"), say("", entry)])):
        events, problems, _ = read(content)
        assert isinstance(events[1], Batch)
        (asked,) = events[1].calls
        assert (asked.name, asked.raw_arguments, asked.arguments) == ("f", raw, arguments)
        assert not problems


def test_function_call_of_the_older_api() -> None:
    old = [
        user("go"),
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x"},
    ]
    assert words(read(old)[0]) == ["turn: go", "f=x"]


def test_calls_that_stand_in_the_content_only_and_not_twice() -> None:
    block = {"type": "tool_call", "tool_call_id": "c1", "name": "f", "arguments": "{}"}
    for calls in ({}, {"tool_calls": [call("f", "{}", "c1")]}):
        told = {"role": "assistant", "content": [{"type": "text", "text": "So."}, block], **calls}
        events, _, _ = read([user("go"), told, tool("c1", [{"type": "tool_output", "text": "x"}])])
        assert words(events) == ["turn: go", "f=x So."]


def test_a_call_without_a_name_is_counted_and_told() -> None:
    nothing: Any = None
    events, problems, totals = read([user("go"), say("", {"id": "a", "function": {"arguments": "{}"}}, nothing)])
    assert totals[0].calls == 2
    assert problems.counts == {"nameless_call": 2}
    assert words(events) == ["turn: go", "?+?"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x", "x"),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "content": "b"}], "a\nb"),
        ([{"type": "reasoning", "text": "hm"}, {"type": "output_text", "text": "a"}, "b"], "a\nb"),
        ([], ""),
    ],
)
def test_content_of_a_reply(content: Any, text: str) -> None:
    event = read([user("go"), say(content)])[0][1]
    assert isinstance(event, Batch)
    assert event.text == text


# -- results -------------------------------------------------------------------------------


def test_results_without_ids_answer_the_newest_response_in_order() -> None:
    run = [
        user("go"),
        say("", call("open")),
        say("", call("a"), call("b")),
        tool(None, "1"),
        tool(None, "2"),
        tool(None, "late"),
    ]
    assert words(read(run)[0]) == ["turn: go", "open=late", "a=1+b=2"]


def test_results_without_ids_go_by_name_where_they_have_one() -> None:
    run = [user("go"), say("", call("a"), call("b")), tool(None, "1", name="b"), tool(None, "2", name="unknown")]
    assert words(read(run)[0]) == ["turn: go", "a=2+b=1"]


def test_one_id_for_every_call_is_no_identity() -> None:
    run: list[Json] = [user("go")]
    for n in range(3):
        run += [say("", call("ls", f'{{"n":{n}}}', "call_0")), tool("call_0", str(n))]
    run += [say("", call("ls", '{"n":0}', "call_0")), tool("call_0", "again")]
    for content in (as_lines(run), orjson.dumps(run)):
        assert words(read(content)[0])[1:] == ["ls=0", "ls=1", "ls=2", "ls=again"]


def test_two_calls_of_one_response_under_one_id_are_answered_in_order() -> None:
    run = [user("go"), say("", call("a", "{}", "REDACTED"), call("b", "{}", "REDACTED"))]
    run += [tool("REDACTED", "1"), tool("REDACTED", "2")]
    for content in (as_lines(run), orjson.dumps(run)):
        events, problems, _ = read(content)
        assert words(events) == ["turn: go", "a=1+b=2"]
        assert not problems


def test_a_repeated_id_in_a_list_is_a_new_call_but_a_copy_in_a_log() -> None:
    run = [user("go"), say("", call("a", "{}", "call_x1y2z3")), tool("call_x1y2z3", "1")]
    run += [say("", call("a", "{}", "call_x1y2z3")), tool("call_x1y2z3", "2")]
    assert words(read(orjson.dumps({"messages": run}))[0]) == ["turn: go", "a=1", "a=2"]
    assert words(read(run)[0]) == ["turn: go", "a=1"]


@pytest.mark.parametrize(
    ("fields", "failed", "status", "exit_code", "error", "known"),
    [
        ({}, False, "ok", None, None, False),
        ({"is_error": False}, False, "ok", None, None, True),
        ({"is_error": True}, True, "error", None, "out", True),
        ({"isError": True}, True, "error", None, "out", True),
        ({"success": True}, False, "ok", None, None, True),
        ({"success": False}, True, "error", None, "out", True),
        ({"error": None}, False, "ok", None, None, True),
        ({"error": False}, False, "ok", None, None, True),
        ({"error": True}, True, "error", None, "out", True),
        ({"error": "boom"}, True, "error", None, "boom", True),
        ({"error": {"type": "t", "message": "boom"}}, True, "error", None, "boom", True),
        ({"status": "success"}, False, "ok", None, None, True),
        ({"status": "error"}, True, "error", None, "out", True),
        ({"status": "rejected"}, True, "denied", None, "out", True),
        ({"status": "cancelled"}, True, "cancelled", None, "out", True),
        ({"status": "pending"}, False, "ok", None, None, False),
        ({"exit_code": 0}, False, "ok", 0, None, True),
        ({"exit_code": 2}, True, "error", 2, "out", True),
        ({"extra": {"returncode": 1}}, True, "error", 1, "out", True),
        ({"metadata": {"exit_code": 0}}, False, "ok", 0, None, True),
        ({"is_error": "yes", "exit_code": True}, False, "ok", None, None, False),
    ],
)
@pytest.mark.parametrize("as_document", [False, True])
def test_failure_is_told_by_fields_that_a_harness_added(
    fields: Json, failed: bool, status: str, exit_code: int | None, error: str | None, known: bool, as_document: bool
) -> None:
    run = [user("go"), say("", call("a", "{}", "c1")), tool("c1", "out", **fields)]
    events, _, totals = read(orjson.dumps(run) if as_document else as_lines(run))
    assert isinstance(events[1], Batch)
    result = events[1].calls[0].result
    assert result is not None
    assert (result.failed, result.status, result.exit_code, result.error) == (failed, status, exit_code, error)
    assert totals[0].success_known is known


def test_error_words_are_a_failure_of_the_weakest_level_only() -> None:
    run = as_lines([user("go"), say("", call("a", "{}", "c1")), tool("c1", "Error: no such flight")])
    for level, failed in (("exit_code", False), ("text", True)):
        events, _, _ = corpus.read_events(READER, run, failure_level=level)  # type: ignore[arg-type]
        assert isinstance(events[1], Batch)
        assert events[1].calls[0].failed is failed


# -- turns and boundaries ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("please", ["turn: please"]),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ["turn: a\nb"]),
        ("<system-reminder>be good</system-reminder>", []),
        ("<system-reminder>cut off", []),
        (" <environment_details>\nos\n</environment_details>\n", []),
        ("<system-reminder>x</system-reminder>\n<environment_details>y</environment_details>", []),
        ("<system-reminder>x</system-reminder> now do it", ["turn: <system-reminder>x</system-reminder> now do it"]),
        ("<system>", ["turn: <system>"]),
        ("[context was compacted] Summary: much", ["compaction"]),
        ("<compaction_summary>much</compaction_summary>", ["compaction"]),
        ("This session is being continued from a previous conversation. Much.", ["compaction"]),
        (
            "Is the log compacted? It was a compaction yesterday.",
            ["turn: Is the log compacted? It was a compaction yesterday."],
        ),
        ("(COMPACTED) much", ["compaction"]),
        ("Compare them", ["turn: Compare them"]),
        ("the conversation history before this point was summarised", ["compaction"]),
        ("The conversation went on", ["turn: The conversation went on"]),
        ("ANOTHER LANGUAGE MODEL STARTED TO SOLVE THIS PROBLEM", ["compaction"]),
        ("Another look", ["turn: Another look"]),
        ("[Request interrupted by user]", ["interrupt"]),
    ],
)
def test_what_a_user_message_is(text: Any, told: list[str]) -> None:
    events, problems, _ = read([say("hello"), user(text), say("bye")])
    assert words(events) == ["hello", *told, "bye"]
    assert not problems


BEGINNINGS = (
    "compacted",
    "this session is being continued from a previous conversation",
    "the conversation history before this point was compacted",
    "another language model started to solve this problem",
    "[request interrupted by user]",
    "<turn_aborted>",
    "<system-reminder>",
    "/model",
    "<command-name>/model</command-name>",
    "(context compaction)",
)


@given(st.sampled_from(BEGINNINGS), st.data())
def test_a_message_that_begins_plainly_needs_no_further_look(begun: str, data: st.DataObject) -> None:
    letters = [data.draw(st.sampled_from((letter, letter.upper()))) for letter in begun]
    spoiled = data.draw(st.sampled_from((None, *range(0, len(begun), 3))))
    if spoiled is not None:
        letters[spoiled] = data.draw(st.sampled_from("aceht [<x\u0130\u212a"))
    text = (
        data.draw(st.sampled_from(("", " ", "\u00a0"))) + "".join(letters) + data.draw(st.sampled_from(("", ". Much")))
    )
    if chat_messages._PLAIN.match(text):
        assert Chat.is_person(message_of({"role": "user", "content": text}))


def test_system_messages_are_no_turns_but_may_tell_of_a_compaction() -> None:
    run = [*RUN[:5], {"role": "system", "content": "[Conversation compacted: 20 messages]"}, *RUN[5:]]
    assert words(read(run)[0]) == [*TOLD[:2], "compaction", *TOLD[2:]]


# -- copies --------------------------------------------------------------------------------


@pytest.mark.parametrize("place", range(len(RUN)))
@pytest.mark.parametrize("times", [1, 2])
def test_a_line_that_stands_twice_changes_nothing(place: int, times: int) -> None:
    run = [*RUN[:place], *[RUN[place]] * times, *RUN[place:]]
    if RUN[place] == RUN[-1]:
        run.insert(place, RUN[place - 1])  # a reply is a copy only where what stands before it is there twice, too
    events, problems, totals = read(run)
    assert words(events) == TOLD
    assert problems.counts or place == 0  # a system message says nothing, once or twice
    assert totals[0].orphan_results == 0


def test_a_whole_log_in_which_every_line_stands_twice() -> None:
    assert words(read([m for message in RUN for m in (message, message)])[0]) == TOLD


def test_the_copy_of_a_last_line_may_lack_its_line_feed() -> None:
    data = as_lines(RUN[:-1])
    assert words(read(data + orjson.dumps(RUN[-2]))[0]) == TOLD[:-1]


@pytest.mark.parametrize(
    ("replies", "heard"),
    [
        pytest.param([say("Yes.")] * 3, 3, id="nothing shows a copy"),
        pytest.param([say([{"type": "text", "text": "Yes."}])] * 3, 3, id="blocks of text"),
        pytest.param([say("Yes.", id="m1")] * 3, 1, id="one id"),
        pytest.param([say("Yes.", id="m1"), say("Yes.", id="m2")], 2, id="two ids"),
        pytest.param([say("Yes.", timestamp="2030-01-02T03:04:05Z")] * 3, 1, id="one time"),
    ],
)
def test_an_agent_may_say_the_same_thing_again_and_again(replies: list[Json], heard: int) -> None:
    for before in ([user("go")], RUN[:-1]):
        events, problems, _ = read([*before, *replies])
        assert words(events)[-heard:] == ["Yes."] * heard
        assert [e for e in words(events) if e == "Yes."] == ["Yes."] * heard
        assert sum(problems.counts.values()) == len(replies) - heard
    assert words(read(orjson.dumps([user("go"), *replies]))[0])[1:] == ["Yes."] * len(replies)


def test_a_log_that_doubles_lines_doubles_replies() -> None:
    run = [user("go"), user("go"), say("Yes."), say("Yes."), say("Soon."), say("Soon."), user("when?"), say("Now.")]
    assert words(read([*run, say("Now.")])[0]) == ["turn: go", "Yes.", "Soon.", "turn: when?", "Now.", "Now."]


@pytest.mark.parametrize("times", [1, 3, 6])
@pytest.mark.parametrize("holds", [False, True], ids=["apart", "among the messages"])
def test_equal_responses_in_a_log_of_requests(times: int, holds: bool) -> None:
    said: list[Json] = []
    rows: list[Json] = []
    for _ in range(times):
        asked = [user("go"), *said]
        said.append(say("Yes."))
        rows.append({"messages": [*asked, said[-1]] if holds else asked, "response": said[-1]})
    assert words(read(rows)[0]) == ["turn: go", *["Yes."] * times]


def test_calls_without_ids_and_results_that_repeat_are_a_loop() -> None:
    events, problems, _ = read([user("go"), *[say("", call("ls"))] * 3])
    assert words(events) == ["turn: go", "ls?", "ls?", "ls?"]
    assert not problems


def test_equal_results_of_parallel_calls_without_ids() -> None:
    assert (
        words(read([user("go"), say("", call("a"), call("b")), tool(None, "ok"), tool(None, "ok")])[0])[1]
        == "a=ok+b=ok"
    )


# -- damage --------------------------------------------------------------------------------


def test_what_cannot_be_used_is_counted_with_its_line() -> None:
    lines = as_lines(RUN).splitlines(keepends=True)
    lines[3:3] = [b"not json\n", b'{"half": \n', b"17\n", b'{"kind":"ping"}\n', b'{"role":"ghost","content":"x"}\n']
    lines.append(b'{"role":"assistant","content":"cut')
    events, problems, _ = read(b"".join(lines))
    assert words(events) == TOLD
    assert {(p.kind, p.line, p.damage) for p in problems.kept} == {
        ("not_json", 4, True),
        ("bad_line", 5, True),
        ("unknown_record", 6, False),
        ("unknown_record", 7, False),
        ("unknown_role", 8, False),
        ("cut_last_line", 14, True),
    }


def test_a_cut_document_gives_what_is_complete_of_it() -> None:
    data = orjson.dumps({"messages": RUN}, option=orjson.OPT_INDENT_2)
    events, problems, _ = read(data[: data.index(b"Done.")])
    assert words(events)[:3] == TOLD[:3]
    assert problems.damaged


def test_lone_surrogates_and_broken_utf8_are_read() -> None:
    data = (
        as_lines(RUN).replace(b'"content":"b"', b'"content":"b\\ud83d"').replace(b'"content":"x"', b'"content":"\xff"')
    )
    assert words(read(data)[0]) == ["turn: list it", "ls=a+ls=b\ud83d I look.", "cat=\ufffd", "Done."]


SEEDS = [
    as_lines(RUN),
    orjson.dumps({"messages": RUN, "tools": [{"name": "ls"}]}, option=orjson.OPT_INDENT_2),
    as_lines([{"messages": RUN, "response": say("x")}, {"traj": RUN, "task_id": 1}]),
]


@settings(deadline=None)
@given(st.sampled_from(SEEDS), st.data())
def test_reading_never_fails_whatever_the_bytes(seed: bytes, data: st.DataObject) -> None:
    mutated = bytearray(seed)
    for _ in range(data.draw(st.integers(0, 8))):
        start = data.draw(st.integers(0, len(mutated)))
        end = min(len(mutated), start + data.draw(st.integers(0, 40)))
        mutated[start:end] = data.draw(
            st.binary(max_size=6) | st.sampled_from([b'"', b"{", b"]", b"null", b"\n", b"\\u0"])
        )
    corpus.read_events(READER, as_lines([1]) + bytes(mutated))
    corpus.read_events(READER, as_lines(RUN[:3]) + bytes(mutated))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "role content tool_calls function name arguments id type text messages traj response choices message "
                "request tools usage error status metadata extra task_id trial".split()
            ),
            inner | st.sampled_from(["assistant", "tool", "user", "function"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(st.lists(anything, max_size=4))
def test_reading_never_fails_whatever_the_values(values: list[Any]) -> None:
    lines = b"".join(msgspec.json.encode(v) + b"\n" for v in values)
    corpus.read_events(READER, lines)
    corpus.read_events(READER, as_lines([user("go")]) + lines)
    corpus.read_events(READER, b"[\n" + b",\n".join(msgspec.json.encode(v) for v in [user("go"), *values]) + b"\n]")


@pytest.mark.parametrize("depth", [100, 400, 900, 1020, 5000])
def test_deep_nesting_is_no_danger(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    line = b'{"role":"assistant","content":%s,"tool_calls":[{"id":"a","function":{"name":"f","arguments":%s}}]}\n'
    result = b'{"role":"tool","tool_call_id":"a","content":%s}\n'
    data = line % (deep, deep) + result % deep
    corpus.read_events(READER, as_lines([user("go")]) + data)
    corpus.read_events(READER, b"[" + b",".join(data.splitlines()) + b"]")


# -- the fast decoder and the general one ---------------------------------------------------

texts = st.text(max_size=5)
plain_calls = st.fixed_dictionaries(
    {
        "function": st.fixed_dictionaries(
            {"name": texts, "arguments": texts | st.dictionaries(texts, texts, max_size=2)}
        )
    },
    optional={"id": st.none() | st.sampled_from(["c1", "c2"]), "type": st.just("function"), "index": st.integers(0, 3)},
)
blocks = st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url"]), "text": texts}), max_size=2)
beside = texts | st.fixed_dictionaries(
    {},
    optional={
        "returncode": st.integers(-1, 2) | st.booleans(),
        "exit_code": st.none() | st.integers(-1, 2),
        "ts": st.integers(0, 2**40) | texts,
        "timestamp": st.none() | texts,
        "original_role": st.none() | st.sampled_from(["user", "assistant", "other"]),
    },
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "function", "system", "other", "user-subagent-a"])},
    optional={
        "metadata": beside,
        "_metadata": beside,
        "extra": beside,
        "content": st.none() | texts | blocks,
        "tool_calls": st.none() | st.lists(plain_calls, max_size=2),
        "tool_call_id": st.none() | st.sampled_from(["c1", "c2"]),
        "name": st.none() | texts,
        "is_error": st.none() | st.booleans(),
        "error": st.none() | st.booleans() | texts | st.fixed_dictionaries({"message": texts}),
        "success": st.booleans(),
        "status": st.sampled_from(["ok", "error", "denied", "new"]),
        "exit_code": st.none() | st.integers(-1, 2),
        "usage": st.fixed_dictionaries(
            {}, optional={"prompt_tokens": st.integers(0, 9), "output_tokens": st.integers(0, 9)}
        ),
        "model": st.none() | texts,
        "timestamp": st.integers(0, 2**40) | st.just("2026-02-07T03:49:23Z"),
        "refusal": st.none(),
        "reasoning_content": texts,
    },
)


def told_by(decode: Callable[[bytes], Any], lines: list[bytes]) -> tuple[list[Any], dict[str, int]]:
    events: list[Event] = []
    emit = Emitter(events.append)
    chat = Chat(emit, is_log=True)
    for number, line in enumerate(lines, 1):
        emit.at(number)
        chat.report([decode(line)])
    emit.finish()
    return [view(e) for e in events], emit.problems.counts


@settings(deadline=None)
@given(st.lists(messages, max_size=8))
def test_both_decoders_tell_the_same(listed: list[Json]) -> None:
    lines = [orjson.dumps(m) for m in listed]
    decode = message_decoder().decode
    fast = told_by(lambda line: with_metadata(decode(line)), lines)
    general = told_by(lambda line: message_from(orjson.loads(line)), lines)
    assert fast == general


@pytest.mark.parametrize("content", [None, {"b": 1}, 7, True, [], ""], ids=str)
@pytest.mark.parametrize("as_document", [False, True])
def test_a_result_may_have_any_content(content: Any, as_document: bool) -> None:
    listed = [user("go"), say(None, call("f", "{}", "a")), {"role": "tool", "tool_call_id": "a", "content": content}]
    events, _, _ = read(orjson.dumps({"messages": listed}) if as_document else as_lines(listed))
    assert [c.result is not None for e in events if isinstance(e, Batch) for c in e.calls] == [True]


@given(messages)
def test_calls_alone_are_those_of_the_whole_message(message: Json) -> None:
    assert calls_of(message) == (message_of(message).tool_calls or [])


# -- recognition and the corpus ------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        {"role": "model", "parts": []},
        {"role": "assistant", "message": {"content": []}},
        {"type": "user", "message": {"role": "user", "content": "x"}},
        {"trajectory_format": "mini-swe-agent-1", "messages": RUN},
        {"info": {"mini_version": "1"}, "messages": RUN},
        {"simulations": [{"messages": RUN}]},
        {"eval": {}, "samples": [{"messages": RUN}]},
        {"trajectory": [{"action": "ls", "observation": "x"}], "environment": "e", "history": RUN},
        [user("go"), say("<function=bash>ls</function>")],
        [user("go"), say("so\n```bash\nls\n```")],
        [user("go")],
        {"messages": []},
        [],
        {},
    ],
)
def test_what_belongs_to_others_is_left_alone(value: Any) -> None:
    with Source(None, stream=io.BytesIO(orjson.dumps(value))) as source:
        assert READER.sniff(source.probe()) is None


def test_a_plain_chat_is_claimed_too() -> None:
    with Source(None, stream=io.BytesIO(as_lines([user("hi"), say("hello")]))) as source:
        assert READER.sniff(source.probe()) == "messages with role and content"


REASONS = {
    "invariant-sample.jsonl": (
        "the manifest pairs by id only; its last conversation has no ids, and the result stands behind its call",
        {"unanswered": (2, 1), "orphan_results": (1, 0)},
    ),
    "litellm-completion-log.json": (
        "the manifest leaves out the response beside the messages, which holds one more call",
        {"batches": (5, 6), "calls": (5, 6), "unanswered": (0, 1)},
    ),
}
"""Where a count differs from the manifest, and why."""


@pytest.mark.parametrize("row", corpus.params("openai-chat"))
def test_counts_of_the_corpus(row: Json) -> None:
    path = corpus.path_of(row)
    with Source(path) as source:
        assert READER.sniff(source.probe())
    _, expected = REASONS.get(path.name, ("", {}))
    assert corpus.differences(row, corpus.read_counts(READER, path)) == expected


# -- roles that the API does not have ---------------------------------------------------------


def test_a_sub_agents_messages_under_roles_of_its_own() -> None:
    def of(role: str, was: str, **more: Any) -> Json:
        return {"role": role, "_metadata": {"source": "subagent", "original_role": was}, **more}

    messages = [
        user("go"),
        say("I ask.", call("Agent", "{}", "t1")),
        of("assistant-subagent-a1", "user", content="look"),
        of("assistant-subagent-a1", "assistant", content=None, tool_calls=[call("ls", "{}", "t2")]),
        of("assistant-subagent-a1", "tool", content="a.txt", tool_call_id="t2"),
        {"role": "assistant-subagent-b 2", "content": "Done."},
        tool("t1", "One file."),
        say("Done."),
    ]
    for data in (as_lines(messages), orjson.dumps({"messages": messages})):
        with Source(None, stream=io.BytesIO(data)) as source:
            assert READER.sniff(source.probe())
        events, problems, (totals,) = read(data)
        assert (totals.calls, totals.sidechain_calls, totals.results, totals.turns) == (2, 1, 2, 1)
        assert {e.agent for e in events} == {"", "a1", "b 2"}
        assert not problems


STRAYS = ["session_meta", "environment", "observation", "critic", "exit", "brand_new"]


@pytest.mark.parametrize("role", STRAYS)
def test_a_message_of_an_odd_role_is_read_around_and_counted(role: str) -> None:
    messages = [{"role": role, "content": "x"}, *RUN, {"role": role, "content": "y"}]
    for data in (as_lines(messages), orjson.dumps(messages)):
        with Source(None, stream=io.BytesIO(data)) as source:
            assert READER.sniff(source.probe())
        events, problems, _ = read(data)
        assert words(events) == TOLD
        assert problems.counts == {"unknown_role": 2}
        assert role in problems.kept[0].message
        assert not problems.damaged


@pytest.mark.parametrize("role", ["environment", "observation"])
def test_an_odd_role_answers_a_call_that_waits(role: str) -> None:
    events, problems, _ = read([user("go"), say(None, call("ls", "{}")), {"role": role, "content": "a"}, say("Done.")])
    assert words(events) == ["turn: go", "ls=a", "Done."]
    assert not problems


@pytest.mark.parametrize("role", ["critic", "exit"])
def test_a_plain_chat_with_a_known_stray(role: str) -> None:
    with Source(None, stream=io.BytesIO(as_lines([user("go"), say("Hi."), {"role": role, "content": "x"}]))) as source:
        assert READER.sniff(source.probe())


@pytest.mark.parametrize("role", ["ai", "model", "Planner"])
def test_a_plain_chat_of_other_speakers_is_another_format(role: str) -> None:
    messages = [user("go"), say("Hi."), {"role": role, "content": "x"}]
    with Source(None, stream=io.BytesIO(as_lines(messages))) as source:
        assert not READER.sniff(source.probe())


# -- sessions of Codex as a chat ----------------------------------------------------------------

HEADER = "Chunk ID: a1b2c{0}\nWall time: 0.1000 seconds\nProcess exited with code {0}\nOutput:\nx"


@pytest.mark.parametrize("before", ["", "Command: /bin/bash -lc 'make \"all\"'\n"])
@pytest.mark.parametrize("form", [lambda t: t, lambda t: [{"type": "tool_output", "text": t}], lambda t: [{"text": t}]])
def test_an_exit_code_in_the_header_of_a_result(before: str, form: Callable[[str], Any]) -> None:
    texts = [before + HEADER.format(code) for code in (2, 0)] + ["Exit code: 3\nWall time: 1 seconds\nOutput:\ny"]
    messages = [user("go")]
    for number, text in enumerate(texts):
        messages += [say(None, call("exec_command", "{}", f"c{number}")), tool(f"c{number}", form(text))]
    for data in (as_lines(messages), orjson.dumps({"messages": messages})):
        events, _, (totals,) = read(data)
        found = [c.result for e in events if isinstance(e, Batch) for c in e.calls]
        assert [r.exit_code for r in found if r] == [2, 0, 3]
        assert (totals.errors, totals.success_known) == (2, True)
        assert found[0] is not None and "Chunk ID" in found[0].output


@pytest.mark.parametrize(
    "text",
    [
        "Process exited with code 2",
        "The log says:\nWall time: 1 s\nProcess exited with code 2",
        "Chunk ID: a\nWall time: 0.1 seconds\nProcess running with session ID 7\nOutput:\nProcess exited with code 2",
        "Output:\nWall time: 1 seconds\nExit code: 2",
    ],
)
def test_what_a_program_printed_is_no_header(text: str) -> None:
    _, _, (totals,) = read([user("go"), say(None, call("run", "{}", "c")), tool("c", text)])
    assert not totals.errors


def test_an_aborted_turn_is_an_interruption_and_commands_are_no_turns() -> None:
    texts = [
        "<turn_aborted>\nThe user interrupted the turn.\n</turn_aborted>",
        "/model",
        "/model some-model-2",
        "/status ",
    ]
    texts += ["<command-name>/model</command-name>\n<command-args></command-args>", "continue", "/fix the test please"]
    events, _, (totals,) = read([user("go"), say("Hm."), *map(user, texts), say("Done.")])
    assert totals.turns == 3
    assert [getattr(e, "kind", "") for e in events].count("interrupt") == 1
