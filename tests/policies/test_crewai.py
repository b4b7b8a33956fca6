"""The crewAI guard: the last success, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.findings import Action
from loopaudit.policies.guards.crewai import POLICY
from tests.policies.guard_streams import USER, C, events, replayed, said

READ = C("read", '{"a":1}')
FAILED = C("read", '{"b":1}', "no", "boom")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([READ] * 3, [".", "block", "block"], id="a repeat"),
        pytest.param([[READ] * 3], [".", "block", "block"], id="inside a batch"),
        pytest.param([READ, C("ls"), READ], ["."] * 3, id="another success between"),
        pytest.param([READ, FAILED, FAILED, READ], [".", ".", ".", "block"], id="failures between"),
        pytest.param([READ, C("ls", "{}", None), READ], [".", ".", "block"], id="an unanswered call between"),
        pytest.param([FAILED] * 4, ["."] * 4, id="failures alone"),
        pytest.param([C("read", "{}", None)] * 4, ["."] * 4, id="unanswered calls alone"),
        pytest.param([READ, USER, READ], [".", "block"], id="a message between"),
        pytest.param(
            [READ, C("read", '{"a":1.0}'), C("read", '{"a":true}')], [".", "block", "block"], id="1, 1.0, true"
        ),
        pytest.param([READ, C("read", '{"a":"1"}')], [".", "."], id="a text is no number"),
        pytest.param([READ, C("view", '{"a":1}')], [".", "."], id="another tool"),
        pytest.param(
            [READ, C("read", '{"a":1}', "no", "boom"), READ], [".", "block", "block"], id="refused, then again"
        ),
        pytest.param([C("t", "bad")] * 2, [".", "block"], id="no JSON"),
    ],
)
def test_memory(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected
    assert said(POLICY, items, enforced=False) == expected


def test_nothing_ends() -> None:
    result = replayed(POLICY, events([READ] * 100))
    assert (result.by_action, result.blocked_calls) == ({Action.BLOCK: 99}, 99)
