"""Guards that were read, not run: oh-my-pi, oh-my-opencode-slim, gsd-pi, Pydantic AI harness, by hand-made tables."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.policies.guards.gsd_pi import POLICY as GSD
from loopaudit.policies.guards.gsd_pi import GsdPiParams, without_server
from loopaudit.policies.guards.oh_my_opencode_slim import MARKERS, OhMyOpencodeSlimParams, is_same, lower_key
from loopaudit.policies.guards.oh_my_opencode_slim import POLICY as SLIM
from loopaudit.policies.guards.oh_my_pi import POLICY as OH_MY_PI
from loopaudit.policies.guards.oh_my_pi import OhMyPiParams, call_key, without_intents
from loopaudit.policies.guards.pydantic_ai_harness import POLICY as HARNESS
from loopaudit.policies.guards.pydantic_ai_harness import PydanticAiHarnessParams
from loopaudit.policies.kit.arguments import js_sorted_key, js_sorted_value_key
from tests.policies.guard_streams import USER, C, call, events, findings, replayed, said

LS, CAT, TREE, HUB = C("ls", '{"a":1}'), C("cat", '{"b":2}'), C("tree", '{"c":3}'), C("hub", "{}")


def numbered(name: str, count: int, start: int = 0, **more: Any) -> list[C]:
    """Calls of a tool with different arguments and results."""
    return [C(name, f'{{"n":{start + n}}}', f"out {start + n}", **more) for n in range(count)]


# -- oh-my-pi --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([LS] * 4, [], id="four"),
        pytest.param([LS] * 7, ["/redirect"] * 3, id="the fifth and all later ones"),
        pytest.param([[LS, CAT], [CAT, LS]] * 3, ["/redirect"] * 2, id="in any order"),
        pytest.param([[LS, LS], LS] * 5, [], id="twice is another set"),
        pytest.param([LS, CAT] * 9, [], id="two in turn"),
        pytest.param([LS, LS, "text", LS, LS, LS], [], id="a reply starts anew"),
        pytest.param([LS, LS, USER, LS, LS, LS], ["/redirect"], id="a person does not"),
        pytest.param([LS, HUB] * 5, ["/redirect"], id="exempt calls are passed over"),
        pytest.param([[LS, HUB]] * 5, ["/redirect"], id="unless others stand beside them"),
        pytest.param([HUB] * 9, [], id="exempt calls alone"),
        pytest.param([C("ls", f'{{"a":1,"i":"why {n}"}}') for n in range(5)], ["/redirect"], id="intents"),
        pytest.param([C("ls", f'{{"a":[{{"__intent":{n}}}]}}') for n in range(5)], ["/redirect"], id="deep intents"),
        pytest.param([C("ls", f'{{"a":1,"I":{n}}}') for n in range(5)], [], id="no intents"),
        pytest.param([C("ls", raw) for raw in ("not json",) * 5], ["/redirect"], id="no JSON"),
        pytest.param([C("ls", '{"a":1,"b":2}'), C("ls", '{"b":2,"a":1.0}')] * 3, ["/redirect"] * 2, id="by value"),
        pytest.param([C("ls", "{}", None)] * 5, ["/redirect"], id="without results"),
    ],
)
def test_oh_my_pi(items: list[Any], expected: list[str]) -> None:
    assert [word for word in said(OH_MY_PI, items) if word != "."] == expected


def test_oh_my_pi_names_the_call_that_counts() -> None:
    (found,) = findings(OH_MY_PI, events([[HUB, CAT, LS]] * 5))
    assert (found.rule, found.count, found.tool) == ("repeated_tool_call", 5, "cat")
    assert [word for word in said(OH_MY_PI, [HUB] * 2, OhMyPiParams(threshold=2, exempt_tools="")) if word != "."]


def test_what_only_says_why_is_left_out() -> None:
    plain = {"a": [{"b": 1}], "c": None}
    assert without_intents(plain) is plain
    assert without_intents({"i": 1, "a": [{"__intent": 1, "b": 1}], "c": None}) == plain
    assert call_key(call(C("t", '{"i":1,"x":1.0}'))) == call_key(call(C("t", '{"x":1}')))


@pytest.mark.parametrize("raw", ['{"a":1.0,"b":[true,null]}', '{"a":18446744073709551617}', '{"a":-0}', "[]", "5"])
def test_the_key_of_a_value_is_that_of_a_call(raw: str) -> None:
    made = call(C("t", raw))
    assert js_sorted_value_key("t", made.arguments) == js_sorted_key(made)


# -- oh-my-opencode-slim ---------------------------------------------------------------------

READ, BASH = C("read", '{"p":1}', "text"), C("bash", '{"p":1}', "text")
WAIT = C("wait_for_user", "{}", "end the turn")


def status(state: str, task: str = "ses_1", tool: str = "task_status") -> C:
    return C(tool, f'{{"task_id":"{task}"}}', f"task_id: {task}\nstate: {state}\n")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([READ] * 7, [".", ".", "warn", "warn", "warn", "block", "block"], id="reads"),
        pytest.param([BASH] * 7, [".", ".", *["warn"] * 5], id="others are never refused"),
        pytest.param([READ, BASH] * 4, ["."] * 8, id="two in turn"),
        pytest.param([READ, READ._replace(output="x")] * 4, ["."] * 8, id="changing results"),
        pytest.param([READ, READ, READ._replace(error="x"), READ], [*["."] * 3, "warn"], id="failures are not seen"),
        pytest.param([READ, READ, C("bash", "{}", "", "x"), READ], [*["."] * 3, "warn"], id="those of other tools"),
        pytest.param([READ, READ, READ._replace(output=None), READ], [*["."] * 3, "warn"], id="unanswered calls"),
        pytest.param([READ, READ, C("task"), READ], [*["."] * 3, "warn"], id="exempt tools"),
        pytest.param([READ, READ, status("x"), WAIT, READ], [*["."] * 4, "warn"], id="tools with streams of their own"),
        pytest.param([READ, USER, READ, "text", READ], [*["."] * 2, "warn"], id="turns"),
        pytest.param([[READ] * 3], [".", ".", "warn"], id="in one response"),
        pytest.param([[READ] * 8], [".", ".", *["warn"] * 6], id="refusals come with the next response"),
        pytest.param([[READ] * 5, [BASH, READ]], [".", ".", "warn", "warn", "warn", ".", "block"], id="behind a call"),
        pytest.param([C("Read", "{}"), C("READ", "{}"), C("read", "{}")], [".", ".", "warn"], id="case of names"),
        pytest.param([C("x", '{"a":1,"b":1}'), C("x", '{"b":1.0,"a":1}'), C("x", '{"a":1,"b":1}')], [".", ".", "warn"],
                     id="arguments by value"),
        pytest.param([READ._replace(output=f"text {MARKERS[0]}")] * 3, ["."] * 3, id="who was warned already"),
        pytest.param([WAIT] * 4, [".", "warn", "block", "block"], id="waits"),
        pytest.param([WAIT, C("wait_for_background_tasks", '{"x":1}', "y")], [".", "warn"], id="of both kinds"),
        pytest.param([WAIT, WAIT, USER, WAIT], [".", "warn", "."], id="in one turn"),
        pytest.param([WAIT, WAIT, "text", WAIT], [".", "warn", "."], id="a reply ends it"),
        pytest.param([[WAIT] * 3], [".", "warn", "warn"], id="waits in one response"),
        pytest.param([status("running"), status("busy"), status("running", tool="task_result")], [".", ".", "warn"],
                     id="a state"),
        pytest.param([status("running"), status("running", "ses_2")] * 3, [*["."] * 4, "warn", "warn"], id="two tasks"),
        pytest.param([status("running"), status("running"), status("done")], ["."] * 3, id="another state"),
        pytest.param([status("running"), BASH, status("running"), status("running")], ["."] * 4, id="work between"),
        pytest.param([status("running"), USER, status("running"), status("running")], ["."] * 3, id="a person between"),
        pytest.param([status("idle (unconfirmed)"), status("idle"), status("idle")], ["."] * 3, id="an unsure state"),
        pytest.param([C("task_status", "{}", "state: x")] * 4, ["."] * 4, id="of no task"),
        pytest.param([C("task_status", '{"sessionID":" s "}', "state: x")] * 3, [".", ".", "warn"], id="as asked for"),
        pytest.param([C("task_status", "[]", "Task build (s9) is\nstate: x")] * 3, [".", ".", "warn"], id="as told"),
        pytest.param([C("task_result", '{"task_id":"s"}', "done")] * 4, ["."] * 4, id="without a state"),
    ],
)  # fmt: skip
def test_oh_my_opencode_slim(items: list[Any], expected: list[str]) -> None:
    assert [word for word in said(SLIM, items) if word != "/."] == expected


def test_what_was_refused_did_not_run() -> None:
    assert said(SLIM, [*[READ] * 6, READ._replace(output="new"), READ])[-3:] == ["block"] * 3
    # In shadow mode the result that is recorded ends the row.
    assert said(SLIM, [*[READ] * 6, READ._replace(output="new"), READ], enforced=False)[-2:] == ["block", "."]
    params = OhMyOpencodeSlimParams(warn_at=2, block_at=2, waits=1)
    assert said(SLIM, [READ] * 3, params) == [".", "warn", "block"]
    assert said(SLIM, [WAIT] * 2, params) == ["warn", "block"]


def test_keys_in_lower_case() -> None:
    assert lower_key(call(C("Read", '{"a":1.0}'))) == lower_key(call(C("READ", '{"a":1}')))
    assert lower_key(call(C("Read", "no json"))) == lower_key(call(C("read", "no json")))
    assert lower_key(call(C("Read", "no json"))) != lower_key(call(C("read", "no  json")))


NAMES = ("Read", "read", "Grep")
ARGUMENTS = ('{"a":1.0}', '{ "a": 1 }', '{"a":2,"b":1}', '{"b":1,"a":2}', "no json", '{"a":"\\ud800"}')


def test_calls_are_compared_as_their_keys_are() -> None:
    calls = [call(C(name, arguments)) for name in NAMES for arguments in ARGUMENTS]
    for one in calls:
        assert [is_same(one, other) for other in calls] == [lower_key(one) == lower_key(other) for other in calls]


def test_hostile_status_takes_no_time() -> None:
    for output in ("state:" * 200_000, "Task " * 200_000, "state: " + " " * 1_000_000):
        assert said(SLIM, [C("task_status", '{"task_id":"s"}', output)] * 2) == [".", "."]


# -- gsd-pi ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([LS] * 6, [*["."] * 4, "block", "block"], id="equal calls"),
        pytest.param([*[LS] * 4, CAT, *[LS] * 4], ["."] * 9, id="another call ends the row"),
        pytest.param([*[LS] * 4, USER, LS], ["."] * 5, id="so does a person"),
        pytest.param([*[LS] * 4, "text", LS], [*["."] * 4, "block"], id="a reply does not"),
        pytest.param([C("ask_user_questions", "{}")] * 2, [".", "block"], id="questions"),
        pytest.param([C("AskUserQuestion", "{}")] * 2, [".", "block"], id="questions of other hosts"),
        pytest.param(numbered("note", 8), [*["."] * 6, "block", "block"], id="one tool"),
        pytest.param(numbered("fetch_page", 17), [*["."] * 15, "block", "block"], id="a tool that is used often"),
        pytest.param(numbered("read", 40), ["."] * 40, id="looking around"),
        pytest.param(numbered("mcp__gsd__gsd_decision_get", 40), ["."] * 40, id="notes of the host"),
        pytest.param(numbered("mcp__x__browser_click", 40), ["."] * 40, id="a browser"),
        pytest.param(numbered("mcp__x__note", 7), [*["."] * 6, "block"], id="tools of servers"),
        pytest.param([*numbered("note", 6), C("edit"), *numbered("note", 6, 6)], ["."] * 13, id="a change"),
        pytest.param([*numbered("note", 6), C("bash"), *numbered("note", 6, 6)], ["."] * 13, id="a command"),
        pytest.param([*numbered("note", 6), C("bash", error="x"), *numbered("note", 1, 6)], [*["."] * 7, "block"],
                     id="that failed"),
        pytest.param([*numbered("note", 6), C("MultiEdit"), *numbered("note", 1, 6)], ["."] * 8, id="of other hosts"),
        pytest.param([*numbered("note", 6), C("async_bash"), *numbered("note", 1, 6)], [*["."] * 7, "block"],
                     id="a job that was only begun"),
        pytest.param([[*numbered("note", 6), C("edit"), *numbered("note", 1, 6)]], [*["."] * 7, "block"],
                     id="a change of the same response"),
        pytest.param(numbered("bash", 20), ["."] * 20, id="commands that work"),
        pytest.param(numbered("bash", 17, error="x"), [*["."] * 15, "block", "block"], id="commands that fail"),
        pytest.param([C("note", '{"a":1,"b":2}'), C("note", '{"b":2,"a":1}')] * 3, [*["."] * 4, "block", "block"],
                     id="key order"),
    ],
)  # fmt: skip
def test_gsd_pi(items: list[Any], expected: list[str]) -> None:
    assert said(GSD, items) == expected


def test_gsd_pi_counts_what_it_refuses() -> None:
    assert [f.count for f in findings(GSD, events([LS] * 8))] == [5, 6, 7, 8]
    assert [f.count for f in findings(GSD, events(numbered("note", 9)))] == [7, 8, 9]
    # A refused edit changes nothing, but where nothing was really refused.
    edits = [*numbered("note", 6), *[C("edit")] * 5, *numbered("note", 6, 6), C("edit"), *numbered("note", 1, 12)]
    assert said(GSD, edits) == [*["."] * 10, "block", *["."] * 8]
    params = GsdPiParams(max_consecutive_calls=1, default_cap=2, repeatable_cap=3, exempt_tools="free, other")
    assert said(GSD, [LS, LS], params) == [".", "block"]
    assert said(GSD, [*numbered("note", 3), *numbered("free", 9)], params) == [".", ".", "block", *["."] * 9]
    assert said(GSD, numbered("write", 4, error="x"), params) == [".", ".", ".", "block"]


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("mcp__a__b", "b"),
        ("mcp__a__b__c", "b__c"),
        ("mcp____b", "mcp____b"),
        ("mcp__a__", "mcp__a__"),
        ("a__b", "a__b"),
    ],
)
def test_names_without_their_server(name: str, plain: str) -> None:
    assert without_server(name) == plain


# -- Pydantic AI harness ---------------------------------------------------------------------


def grown(item: C, count: int, start: int = 0) -> list[C]:
    """A call whose result changes."""
    return [item._replace(output=f"{start + n}") for n in range(count)]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param(grown(LS, 6), [*["."] * 5, "/nudge", "."], id="five"),
        pytest.param([*grown(LS, 4), *numbered("x", 5), *grown(LS, 1, 9)], [*["."] * 10, "/nudge"], id="of ten"),
        pytest.param([*grown(LS, 4), *numbered("x", 6), *grown(LS, 1, 9)], ["."] * 11, id="of eleven"),
        pytest.param(grown(LS, 10), [*["."] * 5, "/nudge", *["."] * 5, "/nudge"], id="it starts anew"),
        pytest.param([*grown(LS, 4), USER, *grown(LS, 4, 9)], ["."] * 8, id="a person"),
        pytest.param([[*grown(LS, 5), *grown(CAT, 5)], *grown(CAT, 4, 9)], [*["."] * 10, "/nudge", *["."] * 4],
                     id="later calls of the response are not looked at"),
        pytest.param([*grown(LS, 2), *grown(CAT, 2)] * 3, [*["."] * 9, "/nudge", *["."] * 3], id="pairs"),
        pytest.param([*[item for n in range(3) for item in (LS._replace(output=f"{n}"), CAT._replace(output=f"{n}"))]],
                     [*["."] * 6, "/nudge"], id="two in turn"),
        pytest.param([LS, CAT, TREE] * 3, ["."] * 9, id="three in turn"),
        pytest.param([LS, LS, LS], [".", ".", "nudge"], id="equal results"),
        pytest.param([LS._replace(error="x")] * 3, [".", ".", "nudge"], id="equal errors"),
        pytest.param([LS._replace(output=""), LS._replace(output="", error="x"), LS._replace(output="", error="y")],
                     ["."] * 3, id="different errors"),
        pytest.param([LS, CAT, LS, LS], ["."] * 4, id="another call between"),
        pytest.param([LS, LS._replace(output=None), LS, LS], [*["."] * 3, "nudge"], id="a call without result"),
        pytest.param([LS] * 6, [".", ".", "nudge", ".", ".", "/nudge", "nudge"], id="both"),
        pytest.param(["Now  I", "now i ", "NOW\nI"], ["/nudge"], id="monologue"),
        pytest.param(["now", "now", LS, "now"], ["."], id="calls end it"),
        pytest.param(["now", "", "now", " ", "now"], ["/nudge"], id="nothing does not"),
        pytest.param(["now", "now", "then", "now"], [], id="other words do"),
        pytest.param([f"{'word ' * 50}{n}" for n in range(3)], ["/nudge"], id="the beginning counts"),
        pytest.param(["now"] * 6, ["/nudge", "/nudge"], id="each third"),
    ],
)  # fmt: skip
def test_pydantic_ai_harness(items: list[Any], expected: list[str]) -> None:
    assert said(HARNESS, items) == expected


def test_an_error_ends_the_run() -> None:
    params = PydanticAiHarnessParams(**HARNESS.variants["error"])
    assert said(HARNESS, grown(LS, 6), params) == [*["."] * 5, "/error", "."]
    result = replayed(HARNESS, events([*grown(LS, 4), [*grown(LS, 1, 9), CAT], TREE]), params=params)
    assert (result.avoided_calls, result.judged_calls) == (3, 6)
    assert said(HARNESS, [[LS] * 5], params) == [*["."] * 5, "/error"]
    assert said(HARNESS, [[LS] * 4], params) == [".", ".", "error", "."]
    assert said(HARNESS, ["now"] * 3, params) == ["/error"]


def test_counts_and_thresholds() -> None:
    assert [(f.rule, f.count) for f in findings(HARNESS, events([LS] * 5))] == [
        ("error_cycle", 3),
        ("exact_repetition", 5),
    ]
    params = PydanticAiHarnessParams(
        repeat_threshold=9,
        alternation_cycles=1,
        error_cycle_threshold=2,
        monologue_threshold=1,
        monologue_prefix_chars=3,
    )
    assert said(HARNESS, [LS, CAT, LS, LS, "x"], params) == [".", ".", "/nudge", ".", "nudge", "/nudge"]
