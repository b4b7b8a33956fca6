"""The DeepSeek-TUI guard: attempts, failures, and refusals that count as failures."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.findings import Action
from loopaudit.policies.guards.deepseek_tui import POLICY, DeepseekTuiParams
from tests.policies.guard_streams import USER, C, events, findings, replayed, said

READ = C("read", '{"a":1}')


def failing(count: int, tool: str = "run") -> list[C]:
    return [C(tool, f'{{"n":{i}}}', "no", "boom") for i in range(count)]


@pytest.mark.parametrize(
    ("changed", "items", "expected"),
    [
        ({}, [READ] * 3, [".", ".", "block"]),
        ({"block_at": 4}, [READ] * 3, ["."] * 3),
        ({"block_at": 1}, [READ], ["block"]),
        ({}, failing(7), [".", ".", "warn", ".", ".", ".", "."]),
        ({}, failing(8), [".", ".", "warn", *["."] * 5, "/halt"]),
        ({"warn_at": 2}, failing(3), [".", "warn", "."]),
        ({"halt_at": 3}, failing(3), [".", ".", ".", "/halt"]),
    ],
)
def test_thresholds(changed: dict[str, int], items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items, DeepseekTuiParams(**changed)) == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([READ, READ, C("edit_file"), READ], [".", ".", ".", "block"], id="an edit forgets nothing"),
        pytest.param([READ, READ, C("read", '{"a":1.0}'), READ], [".", ".", ".", "block"], id="1 is not 1.0"),
        pytest.param([[READ, READ, READ]], [".", ".", "block"], id="all attempts of a batch"),
        pytest.param([READ, READ, USER, READ], ["."] * 3, id="a person's message"),
        pytest.param([READ] * 5, [".", ".", "block", "block", "warn+block"], id="refusals are failures"),
        pytest.param([READ, READ, *failing(1, "read"), READ], [*["."] * 3, "block"], id="next to real ones"),
        pytest.param([*failing(2), C("run"), *failing(1)], ["."] * 4, id="a success ends the row"),
        pytest.param(
            [*failing(2), C("run", '{"q":1}', None), *failing(1)], [*["."] * 3, "warn"], id="unanswered does not"
        ),
        pytest.param([*failing(2), C("ls"), *failing(1)], [*["."] * 3, "warn"], id="nor another tool's success"),
        pytest.param([C("t", "bad")] * 3, [".", ".", "block"], id="no JSON"),
        pytest.param([failing(8)], [".", ".", "warn", *["."] * 5, "/halt"], id="a batch is recorded to its end"),
        pytest.param(
            [failing(8) + failing(8, "other")],
            [".", ".", "warn", *["."] * 5, ".", ".", "warn", *["."] * 5, "/halt"],
            id="and stops once",
        ),
    ],
)
def test_counters(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


def test_refusals_alone_end_the_turn() -> None:
    found = findings(POLICY, events([READ] * 10))
    assert [(f.rule, f.count) for f in found if f.rule != "identical_call"] == [
        ("consecutive_failures", 3),
        ("consecutive_failures", 8),
    ]
    assert (found[-1].own_word, found[-1].tool) == ("halt", "read")


def test_shadow_takes_the_recorded_outcome() -> None:
    assert said(POLICY, [READ] * 10, enforced=False) == [".", ".", *["block"] * 8]
    again = [C("read", '{"a":1}', "no", "boom")] * 9
    assert said(POLICY, again, enforced=False)[7:] == ["block", "/halt", "block", "/halt"]


def test_a_failed_call_of_a_batch_stops_nothing_in_it() -> None:
    result = replayed(POLICY, events([failing(9), READ]))
    assert result.by_action == {Action.WARN: 1, Action.STOP: 1}
    assert result.avoided_calls == 1
