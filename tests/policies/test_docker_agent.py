"""The Docker Agent guard: equal responses in a row."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.policies.guards.docker_agent import POLICY, DockerAgentParams
from tests.policies.guard_streams import USER, C, events, findings, said

READ = C("read", '{"a":1}')
PAIR = [READ, C("ls")]


@pytest.mark.parametrize(
    ("items", "stopped"),
    [
        pytest.param([READ] * 4, False, id="four"),
        pytest.param([READ] * 5, True, id="five"),
        pytest.param([PAIR] * 5, True, id="whole lists"),
        pytest.param([PAIR] * 4 + [PAIR[::-1]], False, id="in their order"),
        pytest.param([PAIR] * 4 + [[*PAIR, READ]], False, id="of the same length"),
        pytest.param([READ] * 4 + [[READ, READ]], False, id="a call twice is another list"),
        pytest.param([READ] * 3 + ["text", [], READ, READ], True, id="replies are stepped over"),
        pytest.param([READ] * 3 + [USER, READ, READ], False, id="a message starts over"),
        pytest.param([READ, C("read", '{"a":1.0}'), C("read", '{ "a":1e0}'), READ, READ], True, id="doubles"),
        pytest.param([C("t", '{"a":0}'), C("t", '{"a":-0}')] * 3, False, id="but -0 is not 0"),
        pytest.param([C("t", '{"a":1,"b":2}'), C("t", '{"b":2,"a":1}')] * 3, True, id="keys in any order"),
        pytest.param([C("t", '{"a":1e999}'), C("t", '{"a": 1e999}')] * 3, False, id="over the range is raw text"),
        pytest.param([C("t", "bad")] * 5, True, id="so is no JSON"),
        pytest.param([C("t", "{}", None)] * 5, True, id="without results"),
    ],
)
def test_runs(items: list[Any], stopped: bool) -> None:
    assert ("/halt" in said(POLICY, items)) == stopped


@pytest.mark.parametrize(("limit", "at"), [(0, 5), (1, 1), (2, 2), (7, 7)])
def test_limit(limit: int, at: int) -> None:
    params = DockerAgentParams(max_consecutive_tool_calls=limit)
    assert said(POLICY, [READ] * at, params) == [*["."] * at, "/halt"]


def test_it_forgets_when_it_has_spoken() -> None:
    found = findings(POLICY, events([READ] * 14), "shadow")
    assert [(f.batch, f.count, f.tool) for f in found] == [(5, 5, "read"), (10, 5, "read")]
