"""The guard of OpenHands before the SDK: commands without output, and history across messages."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.policies.guards.openhands_v0 import POLICY, OpenhandsV0Params
from tests.policies.guard_streams import USER, C, events, replayed, said

A, B = C("read", '{"a":1}', "x"), C("read", '{"a":2}', "y")
FAIL = C("read", "{}", "", "boom")


def run(output: str, error: str | None = None, command: str = "make") -> C:
    return C("execute_bash", f'{{"command":"{command}"}}', output, error)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([A] * 4, [".", ".", ".", "halt"], id="four equal"),
        pytest.param([A, A, A, A._replace(output="z")], ["."] * 4, id="another output"),
        pytest.param([run(f"{n}") for n in range(4)], [".", ".", ".", "halt"], id="output of commands is ignored"),
        pytest.param([run("1"), run("2"), run("3"), run("", "no")], ["."] * 4, id="the exit code is not"),
        pytest.param([run("", f"{n}") for n in range(4)], [".", ".", ".", "halt"], id="a failed command is no error"),
        pytest.param([FAIL._replace(error=f"{n}") for n in range(3)], [".", ".", "halt"], id="three errors"),
        pytest.param([FAIL, FAIL, A, FAIL], ["."] * 4, id="another action between errors"),
        pytest.param([A, B] * 3, [*["."] * 5, "halt"], id="alternation"),
        pytest.param([A, B, A, B, A, B._replace(output="z")], ["."] * 6, id="alternation with another output"),
        pytest.param(["hm"] * 3, ["/halt"], id="monologue"),
        pytest.param(["hm", "hm", "so"], [], id="other words"),
        pytest.param(["hm", "hm", A, "hm"], ["."], id="an observation between"),
        pytest.param([A, A, "hm", A, A], ["."] * 4, id="a message is an action"),
        pytest.param([A, A, A, USER, A], [".", ".", ".", "halt"], id="a person's message is dropped"),
        pytest.param([A, A, A, USER, A, USER, A], [".", ".", ".", "halt", "halt"], id="and changes nothing"),
        pytest.param([[A] * 6], [".", ".", ".", "halt", ".", "."], id="later calls do not run"),
        pytest.param([A, A, A._replace(output=None), A, A], [*["."] * 4, "halt"], id="a call without result"),
        pytest.param([C("execute_bash", '{"command":["ls"]}', f"{n}") for n in range(4)], ["."] * 4, id="no command"),
    ],
)
def test_headless(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


def test_a_monologue_long_ago_still_counts() -> None:
    """The last three messages are looked at wherever they stand; a stop hides that only until the next message."""
    assert said(POLICY, ["hm", "hm", "hm", USER, A, USER, B]) == ["/halt", "halt", "halt"]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([A, A, A, USER, A], ["."] * 4),
        ([A, A, A, USER, A, A, A, A], [*["."] * 6, "halt"]),
        (["hm", "hm", USER, "hm"], []),
    ],
)
def test_interactive(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items, OpenhandsV0Params(headless_mode=False)) == expected
    assert POLICY.variants["interactive"] == {"headless_mode": False}


def test_a_shell_of_another_host_is_known_by_its_kind() -> None:
    items = [C("Bash", '{"command":"make"}', f"{n}") for n in range(4)]
    assert said(POLICY, items) == [".", ".", ".", "halt"]


def test_shadow_mode_goes_on() -> None:
    assert said(POLICY, [[A] * 6], enforced=False) == [".", ".", ".", "halt", "halt", "halt"]
    result = replayed(POLICY, events([[A] * 6]))
    assert (len(result.findings), result.avoided_calls) == (1, 2)
