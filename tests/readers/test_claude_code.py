"""The Claude Code reader: batches, results, turns and boundaries of hand-written records."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Boundary
from loopaudit.readers.formats.claude_code.reader import READER
from tests import corpus
from tests.readers.claude_records import IDE, REMINDER, SESSION, Json, Log, batches, call, read, shape, text

# -- batches, results, tokens ----------------------------------------------------------------


def test_one_response_over_many_records_is_one_batch_also_with_results_between() -> None:
    log = Log()
    log.person("go")
    log.model("m1", {"type": "thinking", "thinking": "hm", "signature": "x"}, requestId="r1")
    log.model("m1", text("I look."), requestId="r1")
    log.model("m1", call("a"), requestId="r1")
    log.result("a")
    log.model("m1", call("b"), requestId="r1")
    log.model("m1", call("c"), requestId="r1")
    log.result("c")
    log.result("b")
    log.model("m2", text("All done."), requestId="r2")
    events, problems, totals = read(log)
    assert shape(events) == ["turn: go", "a+b+c I look.", ". All done."]
    assert not problems
    assert (totals.batches, totals.max_parallel, totals.text_replies) == (1, 3, 1)
    assert batches(events)[0].index == 1
    assert batches(events)[0].line == 3


@pytest.mark.parametrize(
    ("ids", "requests", "expected"),
    [
        (("m1", "m1"), (None, None), ["a+b"]),
        (("m1", "m2"), ("r1", "r1"), ["a", "b"]),
        ((None, None), ("r1", "r1"), ["a+b"]),
        ((None, None), ("r1", "r2"), ["a", "b"]),
        ((None, None), (None, None), ["a", "b"]),
        (("[trimmed]", "[trimmed]"), ("r1", "r2"), ["a", "b"]),
        (("REDACTED", "REDACTED"), ("REDACTED", "REDACTED"), ["a", "b"]),
    ],
)
def test_batch_key(ids: tuple[str | None, ...], requests: tuple[str | None, ...], expected: list[str]) -> None:
    log = Log()
    for name, response, request in zip("ab", ids, requests, strict=True):
        more: dict[str, Any] = {} if request is None else {"requestId": request}
        log.model(response, call(f"toolu_{name}"), **more)
    log.result("toolu_a")
    log.result("toolu_b")
    assert shape(read(log)[0]) == expected


def test_the_last_usage_of_a_response_counts_once() -> None:
    log = Log()
    log.model("m1", text("x"), usage={"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 100})
    log.model("m1", call("a"), usage={"input_tokens": 3, "output_tokens": 40, "cache_read_input_tokens": 100})
    log.result("a")
    log.model("m1", call("b"), usage={"input_tokens": 3, "output_tokens": 44, "cache_creation_input_tokens": 7})
    log.model("m2", {"type": "thinking", "thinking": "", "signature": ""}, usage={"output_tokens": 5})
    log.person("more")
    log.model("m3", text("no usage"))
    events, _, totals = read(log)
    assert (totals.input_tokens, totals.output_tokens) == (3, 49)
    assert (totals.cache_read_tokens, totals.cache_write_tokens) == (None, 7)
    first = batches(events)[0]
    assert first.usage is not None and first.usage.output == 44
    assert first.model == "model-large"
    assert totals.models == {"model-large": 2}


def test_arguments_and_outputs_stay_as_recorded() -> None:
    log = Log()
    log.model("m1", call("a", name="Edit", old="ä", new=[1, {"b": None}]), call("b", name="Read", path="x.png"))
    log.result("a", "fîne")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    log.result("b", [text("one"), image, text("two")])
    one, two = batches(read(log)[0])[0].calls
    assert one.arguments == {"old": "ä", "new": [1, {"b": None}]}
    assert one.result is not None and one.result.output == "fîne"
    assert two.result is not None
    head, picture, tail = two.result.output.split("\n")
    assert (head, tail) == ("one", "two") and picture.startswith("[image ")
    assert (one.line, two.line, one.result.line, two.result.line) == (1, 1, 2, 3)


def test_equal_arguments_in_another_key_order_are_the_same_call() -> None:
    log = Log()
    log.model("m1", call("a", x=1, y=2))
    log.model("m2", call("b", y=2, x=1))
    log.model("m3", call("c", x=1, y=2.0))
    one, two, three = (batch.calls[0] for batch in batches(read(log)[0]))
    assert one.key == two.key != three.key


def test_tools_of_a_server_have_their_results_in_the_same_message() -> None:
    log = Log()
    log.model(
        "m1",
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": True, "content": [text("no")]},
        {"type": "server_tool_use", "id": "srvtoolu_2", "name": "web_search", "input": {"query": "x"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_2",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        },
        text("found"),
    )
    events, problems, _ = read(log)
    assert shape(events) == ["srvtoolu_1+mcptoolu_1!+srvtoolu_2! found"]
    assert not problems


# -- how calls end -----------------------------------------------------------------------------

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file)."
)


@pytest.mark.parametrize(
    ("output", "status", "code"),
    [
        ("Exit code 128\nfatal: not a repository", "error", 128),
        ("Exit code 1", "error", 1),
        ("Error: Exit code 2\nx", "error", 2),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "error", None),
        ("Permission denied", "error", None),
        ("the log says: Exit code 3", "error", None),
        (f"the log says: {REJECTED}", "error", None),
        (REJECTED, "denied", None),
        (f"Error: {REJECTED}", "denied", None),
        ("Permission to use Bash with command rm -rf / has been denied.", "denied", None),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", "denied", None),
        ("PreToolUse:Bash hook error: [guard.sh]: no force pushes", "denied", None),
        ("PreToolUse:Bash [guard.sh] hook error: no", "denied", None),
        ("<tool_use_error>Blocked: sleep 60 followed by: date</tool_use_error>", "denied", None),
        ("[Request interrupted by user for tool use]", "cancelled", None),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled", None),
        ("<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>", "cancelled", None),
        ([{"type": "text", "text": REJECTED}], "denied", None),
        ("", "error", None),
        (None, "error", None),
    ],
)
def test_flagged_results(output: Any, status: str, code: int | None) -> None:
    log = Log()
    log.model("m1", call("a"))
    log.result("a", output, error=True)
    result = batches(read(log)[0])[0].calls[0].result
    assert result is not None
    assert (result.failed, result.status, result.exit_code, result.level) == (True, status, code, "flag")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("user-rejected", "denied"),
        ("permission-rule", "denied"),
        ("automode-blocked", "denied"),
        ("interrupted", "cancelled"),
        ("cancelled", "cancelled"),
    ],
)
def test_the_harness_names_a_refusal(kind: str, status: str) -> None:
    log = Log()
    log.model("m1", call("a"))
    log.result("a", "Exit code 1, it says", error=True, toolDenialKind=kind)
    result = batches(read(log)[0])[0].calls[0].result
    assert result is not None
    assert (result.status, result.failed, result.exit_code) == (status, True, None)


@pytest.mark.parametrize("flag", [None, False])
def test_without_a_flag_a_result_is_a_success_whatever_it_says(flag: bool | None) -> None:
    log = Log()
    log.model("m1", call("a"))
    log.result("a", "Exit code 1\nError: broken", error=flag)
    for level in ("flag", "exit_code", "text"):
        events, _, (totals,) = corpus.read_events(READER, log.bytes(), failure_level=level)
        assert shape(events) == ["a"]
        assert totals.success_known


def test_a_format_that_tells_failures_says_so_also_without_results() -> None:
    log = Log()
    log.model("m1", call("a"))
    assert read(log)[2].success_known


def test_unanswered_and_orphaned() -> None:
    log = Log()
    log.result("before", "cut off")
    log.model("m1", call("a"), call("b"))
    log.result("b")
    log.person("next")
    events, problems, totals = read(log)
    assert shape(events) == ["a?+b", "turn: next"]
    assert (totals.unanswered, totals.orphan_results, totals.results) == (1, 1, 1)
    assert problems.counts == {"orphan_result": 1}
    assert problems.kept[0].line == 1


# -- turns and boundaries ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "fields", "expected"),
    [
        ("fix it", {}, ["turn: fix it"]),
        (["fix it"], {}, ["turn: fix it"]),
        ([text("fix it")], {}, ["turn: fix it"]),
        ([text(IDE), text("fix it"), text("please")], {}, ["turn: fix it\nplease"]),
        (f"{IDE}\n{REMINDER} fix it", {}, ["turn: fix it"]),
        ([text(IDE)], {}, []),
        (REMINDER, {}, []),
        (f"  {REMINDER}\n{REMINDER}\n", {}, []),
        ("<system-reminder> never closed", {}, ["turn: <system-reminder> never closed"]),
        ("<other> tag", {}, ["turn: <other> tag"]),
        ([{"type": "image", "source": {}}], {}, ["turn:"]),
        ([{"type": "image", "source": {}}, text("what is this")], {}, ["turn: what is this"]),
        ("<command-message>review</command-message>\n<command-name>/review</command-name>", {}, None),
        ("<command-name>/model</command-name>", {}, []),
        ("<local-command-stdout>Goodbye!</local-command-stdout>", {}, []),
        ("<local-command-stderr>no</local-command-stderr>", {}, []),
        ("<local-command-caveat>Caveat</local-command-caveat>", {}, []),
        ("<bash-input>ls</bash-input>", {}, []),
        ("<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>", {}, []),
        ("<task-notification>\n<task-id>b</task-id>", {}, []),
        ("Caveat: The messages below were generated by the user", {}, []),
        ("expanded skill", {"isMeta": True}, []),
        ([text("expanded skill")], {"isMeta": True}, []),
        ("summary of what was", {"isCompactSummary": True}, ["-- compaction"]),
        ("[Request interrupted by user]", {}, ["-- interrupt"]),
        ([text("[Request interrupted by user for tool use]")], {}, ["-- interrupt"]),
        ("", {}, []),
        ([], {}, []),
    ],
)
def test_what_begins_a_turn(content: Any, fields: Json, expected: list[str] | None) -> None:
    log = Log()
    log.person(content, **fields)
    events, problems, totals = read(log)
    told = [line.rstrip() for line in shape(events)]
    if expected is None:
        assert len(told) == 1 and told[0].startswith("turn: <command-message>")
    else:
        assert told == expected
    assert not problems
    assert (totals.turns if totals else 0) == sum(line.startswith("turn") for line in told)


def test_text_typed_while_a_tool_ran_is_no_turn() -> None:
    log = Log()
    log.person("go")
    log.model("m1", call("a"))
    log.person([{"type": "tool_result", "tool_use_id": "a", "content": "ok"}, text("by the way, faster")])
    log.add("queue-operation", operation="enqueue", content="and this")
    log.model("m2", call("b"))
    log.person([{"type": "tool_result", "tool_use_id": "b", "content": "x"}, text("[Request interrupted by user]")])
    assert shape(read(log)[0]) == ["turn: go", "a", "b", "-- interrupt"]


def test_the_same_words_typed_twice_are_two_turns() -> None:
    log = Log()
    for _ in range(3):
        log.person("continue")
        log.model(None, text("API Error: overloaded"), isApiErrorMessage=True)
    assert shape(read(log)[0]) == ["turn: continue"] * 3


def test_what_the_harness_wrote_in_the_models_place_is_no_response() -> None:
    log = Log()
    log.person("go")
    log.add("system", subtype="api_error", error={"status": 529}, retryAttempt=1)
    error = log.model("x", text("API Error: 529"), isApiErrorMessage=True)
    error["message"]["model"] = "<synthetic>"
    log.model("y", text("No response requested."))["message"]["model"] = "<synthetic>"
    events, problems, totals = read(log)
    assert shape(events) == ["turn: go"]
    assert (totals.models, totals.text_replies) == ({}, 0)
    assert not problems


def test_the_same_boundary_counts_again_when_something_happened_in_between() -> None:
    log = Log()
    for _ in range(2):
        log.person("[Request interrupted by user]")
        log.person("[Request interrupted by user for tool use]")
        log.person("go on")
    assert shape(read(log)[0]) == ["-- interrupt", "turn: go on"] * 2


def test_one_file_is_one_conversation_named_by_the_first_session_id() -> None:
    log = Log()
    log.records.append({"type": "queue-operation", "operation": "enqueue", "sessionId": "first"})
    log.person("go")
    events, _, _ = read(log)
    assert shape(events) == ["turn: go"]
    assert events[0].session == "first"
    log.records[0] = {"type": "system", "subtype": "compact_boundary", "uuid": "x"}
    events, _, _ = read(log)
    assert shape(events) == ["-- compaction", "turn: go"]
    assert {event.session for event in events} == {""}


def test_boundaries() -> None:
    log = Log()
    log.add("progress", data={"type": "hook_progress", "hookEvent": "SessionStart", "hookName": "SessionStart:clear"})
    log.person("<command-name>/clear</command-name>\n<command-message>clear</command-message>")
    log.person("go")
    log.model("m1", call("a"))
    log.add("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 155000})
    log.person("what was", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    log.model("m2", call("b"))
    for _ in range(2):
        log.add("attachment", attachment={"type": "hook_success", "hookName": "SessionStart:resume", "stdout": ""})
    log.model("m3", call("c"))
    log.add("system", subtype="turn_duration", durationMs=3)
    log.person("again", sessionId="another")
    log.person("again", sessionId="another")
    log.person("<command-name>/clear</command-name>", sessionId="another")
    log.person("Continue from where you left off.", isMeta=True, sessionId="another")
    events, problems, totals = read(log)
    assert shape(events) == [
        "turn: go",
        "a?",
        "-- compaction",
        "b?",
        "-- resume",
        "c?",
        "-- resume",
        "turn: again",
        "turn: again",
        "-- clear",
        "-- resume",
    ]
    assert {e.session for e in events} == {SESSION}
    assert next(e.reason for e in events if isinstance(e, Boundary)) == "auto"
    assert totals.compactions == 1
    assert not problems
