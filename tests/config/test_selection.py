"""Choosing policies and parameters as a user writes them."""

from __future__ import annotations

import pytest

from loopaudit.config.selection import MISSION, select
from loopaudit.core.errors import UsageError


def labels(*specs: str, settings: tuple[str, ...] = ()) -> list[str]:
    return [s.label for s in select(specs, settings)]


def test_the_default_is_the_mission_set() -> None:
    assert labels() == list(MISSION)


def test_several_names_groups_and_repeats() -> None:
    assert labels("koda", "mission") == ["koda", "atomcode", "zagens", "moltis"]
    assert labels("koda,atomcode", "koda") == ["koda", "atomcode"]
    assert set(MISSION) <= set(labels("all"))
    assert not set(MISSION) & set(labels("field"))


def test_parameters_in_parentheses_make_a_policy_of_their_own() -> None:
    plain, strict = select(["atomcode", "atomcode(threshold=2, window=8)"])
    assert plain.params.as_dict()["threshold"] == 3
    assert strict.label == "atomcode(threshold=2, window=8)"
    assert (strict.params.as_dict()["threshold"], strict.params.as_dict()["window"]) == (2, 8)


def test_settings_change_selected_policies() -> None:
    (selected,) = select(["zagens"], ["zagens.failure_halt_threshold=5"])
    assert selected.params.as_dict()["failure_halt_threshold"] == 5


def test_variants_are_chosen_by_name() -> None:
    (selected,) = select(["moltis:later"])
    assert selected.params.as_dict()["window"] == 2


WRONG = [
    (("atomcod",), (), "unknown policy 'atomcod'", "did you mean 'atomcode'"),
    (("atomcode(treshold=2)",), (), "no parameter 'treshold'", "'threshold'"),
    (("atomcode(threshold=two)",), (), "not a whole number", None),
    (("atomcode(threshold=1)",), (), "out of range", "2 to"),
    (("atomcode(threshold)",), (), "expected parameter=value", None),
    (("moltis:latest",), (), "no variant 'latest'", None),
    (("mission(threshold=2)",), (), "takes no variant", None),
    (("atomcode",), ("zagens.failure_halt_threshold=5",), "not selected", None),
    (("atomcode",), ("threshold=5",), "cannot read the setting", "POLICY.PARAMETER=VALUE"),
    (("atomcode",), ("atomcode.threshold=yes",), "not a whole number", None),
    (("zagens",), ("zagens.failure_halt=5",), "no parameter 'failure_halt'", "failure_halt_threshold"),
    (("a b",), (), "cannot read the policy", None),
]


@pytest.mark.parametrize(("specs", "settings", "message", "hint"), WRONG)
def test_mistakes_are_explained(
    specs: tuple[str, ...], settings: tuple[str, ...], message: str, hint: str | None
) -> None:
    with pytest.raises(UsageError) as caught:
        select(specs, settings)
    assert message in caught.value.message
    if hint:
        assert hint in (caught.value.hint or "")
