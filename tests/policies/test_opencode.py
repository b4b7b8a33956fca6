"""The opencode guard: inside one response only, and the variant that looks across."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.policies.guards.opencode import POLICY, OpencodeParams
from tests.policies.guard_streams import USER, C, said

READ = C("read", '{"a":1,"b":2}')
ACROSS = OpencodeParams(**POLICY.variants["across-steps"])


@pytest.mark.parametrize(
    ("items", "inside", "across"),
    [
        pytest.param([[READ] * 4], [".", ".", "ask", "ask"], [".", ".", "ask", "ask"], id="one response"),
        pytest.param([READ] * 4, ["."] * 4, [".", ".", "ask", "ask"], id="one call each"),
        pytest.param([[READ] * 2, [READ] * 2], ["."] * 4, [".", ".", "ask", "ask"], id="two calls each"),
        pytest.param([READ, READ, "text", READ], ["."] * 3, [".", ".", "ask"], id="a reply between"),
        pytest.param([READ, READ, USER, READ], ["."] * 3, ["."] * 3, id="a message between"),
        pytest.param([[READ, READ, C("ls"), READ]], ["."] * 4, ["."] * 4, id="another call between"),
        pytest.param([[READ, C("read", '{"b":2,"a":1}'), READ]], ["."] * 3, ["."] * 3, id="another key order"),
        pytest.param(
            [[READ, C("read", '{"a":1.0, "b":2}'), READ]], [".", ".", "ask"], [".", ".", "ask"], id="spelling"
        ),
        pytest.param([[C("x", "bad")] * 3], [".", ".", "ask"], [".", ".", "ask"], id="no JSON"),
        pytest.param([[C("x", "{}", None)] * 3], [".", ".", "ask"], [".", ".", "ask"], id="no results"),
    ],
)
def test_scopes(items: list[Any], inside: list[str], across: list[str]) -> None:
    assert said(POLICY, items) == inside
    assert said(POLICY, items, ACROSS) == across
    assert said(POLICY, items, enforced=False) == inside


def test_a_full_batch_does_not_reach_into_the_next() -> None:
    assert said(POLICY, [[READ] * 3, [READ] * 3]) == [".", ".", "ask"] * 2


@pytest.mark.parametrize(("threshold", "expected"), [(2, [".", "ask", "ask"]), (4, ["."] * 3), (1, ["ask"] * 3)])
def test_threshold(threshold: int, expected: list[str]) -> None:
    assert said(POLICY, [[READ] * 3], OpencodeParams(threshold=threshold)) == expected
