"""The iteration cap: what is counted, when it speaks, and the presets."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.findings import Action
from loopaudit.policies.guards.iteration_cap import POLICY, IterationCapParams
from tests.policies.guard_streams import USER, C, events, findings, replayed, said

CALL = C("ls")


@pytest.mark.parametrize(
    ("params", "items", "expected"),
    [
        pytest.param({"cap": 2}, [CALL], ["."], id="under the limit"),
        pytest.param({"cap": 2}, [CALL, CALL], [".", ".", "/stop"], id="the last allowed response runs"),
        pytest.param({"cap": 2}, [CALL, "done"], ["."], id="an agent that has finished"),
        pytest.param({"cap": 2}, ["hm", CALL], [".", "/stop"], id="replies count"),
        pytest.param({"cap": 2}, ["hm", "hm", CALL], [".", "/stop"], id="also beyond"),
        pytest.param({"cap": 2}, [CALL, USER, CALL], [".", "."], id="per turn"),
        pytest.param({"cap": 2, "per": "session"}, [CALL, USER, CALL], [".", ".", "/stop"], id="per session"),
        pytest.param({"cap": 2}, [[CALL] * 9], ["."] * 9, id="calls of a response count once"),
        pytest.param({"cap": 2, "unit": "calls"}, [CALL, CALL], [".", "."], id="calls: the limit"),
        pytest.param({"cap": 2, "unit": "calls"}, [CALL, [CALL] * 3], [".", ".", "stop", "."], id="calls: over it"),
        pytest.param({"cap": 2, "unit": "calls"}, ["hm"] * 9, [], id="calls: not replies"),
        pytest.param({"cap": 3, "unit": "supersteps"}, [CALL, CALL], [".", ".", "/stop"], id="steps: calls are one"),
        pytest.param({"cap": 4, "unit": "supersteps"}, [CALL, CALL], [".", ".", "/stop"], id="steps: none is left"),
        pytest.param({"cap": 5, "unit": "supersteps"}, [CALL, CALL], [".", "."], id="steps: a reply fits"),
        pytest.param({"cap": 5, "unit": "supersteps"}, [CALL, CALL, "done"], [".", "."], id="steps: it ends in time"),
    ],
)
def test_limits(params: dict[str, Any], items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items, IterationCapParams(**params)) == expected


@pytest.mark.parametrize(
    ("params", "avoided"),
    [
        pytest.param({"cap": 2}, 3, id="the third response"),
        pytest.param({"cap": 3, "unit": "calls"}, 2, id="what follows the first call over it"),
        pytest.param({"cap": 3, "unit": "supersteps"}, 5, id="the calls of the second response, and the third"),
        pytest.param({"cap": 4, "unit": "supersteps"}, 3, id="the third response, by steps"),
    ],
)
def test_what_a_stop_avoids(params: dict[str, Any], avoided: int) -> None:
    result = replayed(POLICY, events([[CALL], [CALL] * 2, [CALL] * 3]), params=IterationCapParams(**params))
    assert (result.by_action, result.avoided_calls) == ({Action.STOP: 1}, avoided)


@pytest.mark.parametrize("unit", ["responses", "calls", "supersteps"])
def test_shadow_speaks_once_a_turn(unit: Any) -> None:
    params = IterationCapParams(cap=2, unit=unit)
    out = said(POLICY, [*[CALL] * 9, USER, *[CALL] * 9], params, enforced=False)
    assert sum(word != "." for word in out) == 2


def test_a_session_over_its_limit_stops_every_turn_at_once() -> None:
    params = IterationCapParams(cap=2, unit="calls", per="session")
    assert said(POLICY, [CALL, CALL, CALL, USER, CALL, CALL], params) == [".", ".", "stop", "stop", "."]
    params = IterationCapParams(cap=2, per="session")
    assert said(POLICY, [CALL, CALL, USER, CALL, CALL], params) == [".", ".", "/stop", ".", "/stop", "."]


def test_the_default_is_25_responses() -> None:
    assert [f.batch for f in findings(POLICY, events([CALL] * 40))] == [25]


def test_presets_are_valid_and_differ_from_the_default() -> None:
    default = POLICY.params()
    for name, values in POLICY.variants.items():
        assert POLICY.params(**values) != default, name


@pytest.mark.parametrize("values", [{"unit": "tokens"}, {"per": "day"}])
def test_unknown_units(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is none of"):
        IterationCapParams(**values)
