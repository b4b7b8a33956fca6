"""The hermes-agent guard: three counters, warnings, and hard stops where they are on."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import SLICE, VALUE, Call
from loopaudit.policies.guards.hermes_agent import POLICY, HermesAgentParams, identity
from tests.policies.guard_streams import USER, C, call, events, replayed, said

HARD = HermesAgentParams(hard_stop_enabled=True)
READ = C("read_file", '{"a":1}', "x")


def failing(count: int, tool: str = "terminal") -> list[C]:
    return [C(tool, f'{{"n":{n}}}', "", "boom") for n in range(count)]


FAIL = C("terminal", "{}", "", "boom")
OK = C("terminal", '{"other":1}')


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([FAIL] * 4, [".", "warn", "warn", "warn"], id="exact failures"),
        pytest.param([FAIL, C("terminal", "{}"), FAIL], ["."] * 3, id="its success clears them"),
        pytest.param([FAIL, OK, FAIL], [".", ".", "warn"], id="another success of the tool does not"),
        pytest.param(failing(4), [".", ".", "warn", "warn"], id="failures of a tool"),
        pytest.param([*failing(2), OK, *failing(4)[2:]], ["."] * 5, id="any success of the tool clears them"),
        pytest.param([*failing(2), C("patch"), *failing(3)[2:]], [".", ".", ".", "warn"], id="another tool's does not"),
        pytest.param([READ] * 3, [".", "warn", "warn"], id="equal results"),
        pytest.param([READ, READ._replace(output="y"), READ], ["."] * 3, id="changing results"),
        pytest.param([READ, C("patch"), READ], [".", ".", "warn"], id="other calls do not matter"),
        pytest.param([READ, C("read_file", '{"a":1}', "", "no"), READ], ["."] * 3, id="a failure forgets the result"),
        pytest.param([C("terminal", "{}", "x")] * 3, ["."] * 3, id="a tool that may change something"),
        pytest.param([C("frobnicate", "{}", "x")] * 3, ["."] * 3, id="an unknown tool"),
        pytest.param([C("Read", "{}", "x")] * 2, [".", "warn"], id="a reader of another host"),
        pytest.param([C("mcp_filesystem_read_file", "{}", "x")] * 2, [".", "warn"], id="a reader of a server"),
        pytest.param([READ, USER, READ], [".", "."], id="a person's message"),
        pytest.param([FAIL, FAIL._replace(output=None), FAIL], [".", ".", "warn"], id="a call without result"),
        pytest.param(
            [READ._replace(output='{"a":1,"b":2}'), READ._replace(output='{"b":2, "a":1}')], [".", "warn"], id="JSON"
        ),
        pytest.param([READ._replace(output='{"a":1}'), READ._replace(output='{"a":1.0}')], [".", "."], id="numbers"),
        pytest.param([C("read_file", '{"a":1,"b":2}'), C("read_file", '{"b":2,"a":1}')], [".", "warn"], id="key order"),
        pytest.param([C("read_file", '{"a":1}'), C("read_file", '{"a":true}')], [".", "."], id="1 is not true"),
        pytest.param(
            [C("read_file", "[1]"), C("read_file", '"x"'), C("read_file", "{}")], [".", "warn", "warn"], id="no object"
        ),
        pytest.param([C("read_file", "{broken"), C("read_file", "")], [".", "warn"], id="no JSON"),
    ],
)
def test_warnings(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected
    assert said(POLICY, items, enforced=False) == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([FAIL] * 7, [".", *["warn"] * 4, "block", "/halt", "."], id="exact failures"),
        pytest.param([READ] * 7, [".", *["warn"] * 4, "block", "/halt", "."], id="equal results"),
        pytest.param(failing(9), [".", ".", *["warn"] * 5, "halt", "/halt", "."], id="failures of a tool"),
        pytest.param([[*[FAIL] * 6, OK]], [".", *["warn"] * 4, "block", ".", "/halt"], id="the batch is finished"),
        pytest.param([[*[FAIL] * 6, *[READ] * 6]], [".", *["warn"] * 4, "block", ".", *["warn"] * 4, "block", "/halt"],
                     id="the last one is named"),
        pytest.param([*[FAIL] * 6, USER, FAIL], [".", *["warn"] * 4, "block", "/halt", "."], id="a new turn"),
        pytest.param([C("terminal", "{}", "x")] * 9, ["."] * 9, id="what is not read-only is never blocked"),
    ],
)  # fmt: skip
def test_hard_stops(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items, HARD) == expected


def test_the_last_refusal_ends_the_turn() -> None:
    result = replayed(POLICY, events([[*[FAIL] * 6, *[READ] * 6]]), params=HARD)
    assert (result.findings[-1].rule, result.findings[-1].tool) == ("idempotent_no_progress_block", "read_file")


def test_a_refused_call_is_not_counted() -> None:
    result = replayed(POLICY, events([[FAIL] * 8]), params=HARD)
    assert [f.count for f in result.findings] == [2, 3, 4, 5, 5, 5, 5, 5]


def test_in_shadow_mode_it_is() -> None:
    words = said(POLICY, [FAIL] * 8, HARD, enforced=False)
    assert words == [".", *["warn"] * 4, "block", "/halt", "block", "/halt", "block", "/halt"]
    counts = [f.count for f in replayed(POLICY, events([FAIL] * 8), "shadow", HARD).findings if f.own_word == "block"]
    assert counts == [5, 6, 7]


def test_parameters() -> None:
    params = HermesAgentParams(exact_failure_warn=3, same_tool_failure_warn=9, no_progress_warn=3)
    assert said(POLICY, [FAIL] * 3, params) == [".", ".", "warn"]
    assert said(POLICY, [READ] * 3, params) == [".", ".", "warn"]
    early = HermesAgentParams(
        hard_stop_enabled=True, exact_failure_block=1, same_tool_failure_halt=2, no_progress_block=1
    )
    assert said(POLICY, [FAIL, FAIL], early) == [".", "block", "/halt"]
    assert said(POLICY, failing(2), early) == [".", "halt", "/halt"]
    assert said(POLICY, [READ, READ], early) == [".", "block", "/halt"]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (Call("c", 1, "t", SLICE, b' {"a": 1}', b"k"), Call("c", 1, "t", SLICE, b' {"a": 1}', b"k"), True),
        (Call("c", 1, "t", SLICE, b"[1]", b"k"), Call("c", 1, "t", VALUE, 5, b"l"), True),
        (Call("c", 1, "t", VALUE, None, b"k"), Call("c", 1, "u", VALUE, None, b"k"), False),
        (call(C("t", "{}")), call(C("t", "not json")), True),
        (call(C("t", '{"a":NaN}')), call(C("t", '{"a": NaN}')), True),
        (call(C("t", '{"a":NaN}')), call(C("t", "{}")), False),
    ],
)
def test_identity(one: Call, other: Call, equal: bool) -> None:
    assert (identity(one) == identity(other)) is equal
