"""The goose guard: three refusals, their order, and what counts for a path."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.policies.contract import Context
from loopaudit.policies.guards.goose import POLICY, GooseParams
from loopaudit.testing import words
from tests.policies.guard_streams import USER, C, batches, events, findings, said


def on(tool: str, path: str = "f", **more: Any) -> C:
    return C(tool, f'{{"path":"{path}"}}', **more)


def failed(tool: str, error: str, number: int = 0) -> C:
    return C(tool, f'{{"n":{number}}}', "", error)


READ, WRITE, EDIT = on("read"), on("write"), on("edit")
SHELL = C("shell", '{"a":1}')
BAD = [failed("shell", "boom", i) for i in range(3)]


@pytest.mark.parametrize(
    ("limit", "items", "expected"),
    [
        (2, [SHELL] * 4, [".", ".", "block", "block"]),
        (0, [SHELL], ["block"]),
        (None, [SHELL] * 9, ["."] * 9),
        (2, [SHELL, SHELL, C("ls"), SHELL], ["."] * 4),
        (2, [[SHELL] * 3], [".", ".", "block"]),
        (2, [SHELL, SHELL, USER, SHELL], [".", ".", "block"]),
        (2, [SHELL, C("shell", '{"a":1.0}'), SHELL], ["."] * 3),
        (2, [C("shell", "[1]"), C("shell", "bad"), C("shell", '"x"')], [".", ".", "block"]),
        (2, [C("shell", "{}"), C("shell", "null"), C("shell", "{}")], ["."] * 3),
    ],
)
def test_equal_calls(limit: int | None, items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items, GooseParams(max_tool_repetitions=limit)) == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([*BAD, SHELL, SHELL], [*["."] * 3, "block", "."], id="refused once"),
        pytest.param([*BAD, C("read"), SHELL], ["."] * 5, id="any success clears"),
        pytest.param([*BAD, failed("read", "boom"), SHELL], ["."] * 5, id="another tool's error starts anew"),
        pytest.param([*BAD[:2], failed("shell", "bang", 9), SHELL], ["."] * 4, id="so does another error"),
        pytest.param([*BAD, USER, SHELL], [*["."] * 3, "block"], id="a message does not"),
        pytest.param([*BAD, [SHELL, C("read"), SHELL]], [*["."] * 3, "block", ".", "block"], id="all of a batch"),
        pytest.param([*BAD, [SHELL], *BAD, SHELL], [*["."] * 3, "block", *["."] * 3, "block"], id="and again"),
        pytest.param(
            [failed("shell", "x" * 100 + str(i), i) for i in range(3)] + [SHELL],
            [*["."] * 3, "block"],
            id="100 characters count",
        ),
        pytest.param(
            [failed("shell", "x" * 99 + str(i), i) for i in range(3)] + [SHELL], ["."] * 4, id="the hundredth does"
        ),
        pytest.param([*BAD[:2], C("shell", '{"q":1}', None), BAD[2], SHELL], [*["."] * 4, "block"], id="unanswered"),
        pytest.param([BAD, SHELL], [*["."] * 3, "block"], id="outcomes of one batch"),
    ],
)
def test_equal_errors(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


@pytest.mark.parametrize(
    ("items", "blocked"),
    [
        pytest.param([READ] * 8, False, id="eight"),
        pytest.param([READ] * 9, True, id="nine"),
        pytest.param([READ] * 8 + [on("read", "g")], False, id="of one path"),
        pytest.param([READ] * 8 + [on("view")], False, id="of one tool"),
        pytest.param([READ] * 8 + [C("read", '{"path":1}'), C("read", '"path"')], False, id="a path that is text"),
        pytest.param([C("read", '{"p\\u0061th":"f"}')] * 9, True, id="a name with an escape"),
        pytest.param([C("read", '{"pat\\u0068":"f"}')] * 9, True, id="at its end"),
        pytest.param([READ] * 8 + [WRITE, READ], False, id="since a write"),
        pytest.param([READ] * 8 + [EDIT, READ], False, id="since an edit"),
        pytest.param([READ] * 8 + [on("write", "g"), READ], True, id="of this path"),
        pytest.param([READ] * 8 + [on("shell"), READ], True, id="not another tool"),
        pytest.param([READ] * 8 + [on("edit", output="", error="x"), READ], False, id="even a failed one"),
        pytest.param([WRITE] * 9, True, id="a write does not clear itself"),
        pytest.param([WRITE] * 8 + [EDIT, WRITE], False, id="another writer does"),
        pytest.param([READ] * 5 + [USER] + [READ] * 4, True, id="over messages"),
        pytest.param([[READ] * 9], False, id="earlier batches only"),
        pytest.param([[READ] * 8, READ], True, id="all of their calls"),
        pytest.param([READ] * 7 + [[READ, WRITE], READ], False, id="before a write in its batch: one"),
        pytest.param([[*[READ] * 8, WRITE], READ], True, id="before a write in its batch: eight"),
        pytest.param([READ] * 8 + [[WRITE, *[READ] * 8], READ], True, id="the writing batch itself is judged first"),
        pytest.param([[WRITE, *[READ] * 8], READ], False, id="behind a write in its batch"),
    ],
)
def test_paths(items: list[Any], blocked: bool) -> None:
    assert ("block" in said(POLICY, items)) == blocked


def test_refused_calls_count_for_the_path_but_not_as_errors() -> None:
    found = findings(POLICY, events([READ] * 11))
    assert [(f.rule, f.count) for f in found] == [("REP-003", 8), ("REP-003", 9), ("REP-003", 10)]
    again = [failed("shell", "boom", i) for i in range(8)]
    assert said(POLICY, again) == [".", ".", ".", "block", ".", ".", ".", "block"]


def test_shadow_counts_refused_calls_by_their_outcome() -> None:
    again = [failed("shell", "boom", i) for i in range(8)]
    assert said(POLICY, again, enforced=False) == [".", ".", ".", "block", ".", ".", "block", "."]


def test_the_first_rule_is_shown() -> None:
    params = GooseParams(max_tool_repetitions=2)
    bad = on("read", output="", error="boom")
    found = [(d.rule, d.count) for d in POLICY.start(params, Context()).judge(batches([[bad] * 3])[0])]
    assert found == [("REP-001", 3)]
    assert said(POLICY, [bad] * 4, params) == [".", ".", "block", "block"]


def test_argument_names_follow_the_tool_names() -> None:
    items = [C("Read", '{"file_path":"f"}')] * 9
    assert "block" in said(POLICY, items)
    assert "block" not in words(POLICY, events(items), GooseParams(), Context())
    cleared = [*items[:8], C("Edit", '{"file_path":"f"}'), items[0]]
    assert "block" not in said(POLICY, cleared)


def test_the_released_version_never_fires() -> None:
    params = GooseParams(**POLICY.variants["released"], max_tool_repetitions=1)
    assert set(said(POLICY, [READ] * 20 + BAD * 5, params)) == {"."}
