"""The Roo Code guard: every fourth equal call, and what it does not look at."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.policies.guards.roo_code import POLICY, RooCodeParams
from tests.policies.guard_streams import USER, C, events, replayed, said

READ = C("read", '{"a":1}')


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, [".", ".", ".", "block", "."]),
        ({"consecutive_mistake_limit": 1}, [".", "block", ".", "block", "."]),
        ({"consecutive_mistake_limit": 5}, ["."] * 5),
        ({"consecutive_mistake_limit": 0}, ["."] * 5),
    ],
)
def test_limit(changed: dict[str, Any], expected: list[str]) -> None:
    assert said(POLICY, [READ] * 5, RooCodeParams(**changed)) == expected


def alternating(*spellings: str) -> list[C]:
    return [C("read", spellings[i % len(spellings)]) for i in range(4)]


@pytest.mark.parametrize(
    ("items", "blocked"),
    [
        pytest.param(alternating('{"a":1,"b":2}', '{"b":2, "a":1.0}'), True, id="outer keys in any order"),
        pytest.param(alternating('{"o":{"a":1,"b":2}}', '{"o":{"b":2,"a":1}}'), False, id="inner ones in theirs"),
        pytest.param(alternating('{"o":[{"a":1,"b":2}]}', '{"o":[{"b":2,"a":1}]}'), False, id="also in a list"),
        pytest.param(alternating('{"o":{"2":1,"1":2}}', '{"o":{"1":2,"2":1}}'), True, id="indices have no order"),
        pytest.param(alternating('{"a":"1"}', '{"a":1}'), False, id="a text is no number"),
        pytest.param(alternating("[1,{}]", "[1, {}]"), True, id="no object"),
        pytest.param(alternating("nonsense"), True, id="no JSON"),
        pytest.param([READ, READ, C("ls"), READ, READ], False, id="another call between"),
        pytest.param([READ, READ, USER, READ, READ], True, id="a message between"),
        pytest.param([[READ, READ], "text", [READ, READ]], True, id="over batches and texts"),
        pytest.param([C("read", "{}", None)] * 4, True, id="without results"),
        pytest.param([C("read", "{}", "no", "boom")] * 4, True, id="failures too"),
        pytest.param([C("mcp__s__t")] * 9, False, id="MCP tools are left out"),
        pytest.param([C("mcp--s--t")] * 9, False, id="in Roo's own spelling"),
        pytest.param([READ, READ, C("mcp__s__t"), READ, READ], True, id="and interrupt nothing"),
    ],
)
def test_what_is_equal(items: list[Any], blocked: bool) -> None:
    assert ("block" in said(POLICY, items)) == blocked


def test_mcp_can_be_looked_at() -> None:
    params = RooCodeParams(**POLICY.variants["with-mcp"])
    assert said(POLICY, [C("mcp__s__t")] * 4, params)[3] == "block"


def test_both_modes_say_the_same() -> None:
    items = [READ] * 9
    assert said(POLICY, items) == said(POLICY, items, enforced=False)
    assert replayed(POLICY, events(items)).blocked_calls == 2
