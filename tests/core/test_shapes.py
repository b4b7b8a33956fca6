"""What is wrong with a value is reported key by key, for every type that a user's file is checked against."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopaudit.config.file import Document
from loopaudit.core.shapes import fits, mistakes
from loopaudit.gate import baseline_file
from loopaudit.gate.expectations import ExpectFile, ExpectInConfig
from loopaudit.policies.registry import policies

KINDS: dict[str, Any] = {
    "config": Document,
    "expect": ExpectFile,
    "expect in config": tuple[ExpectInConfig, ...],
    "baseline": baseline_file.Document,
    **{policy.id: policy.params for policy in policies().all()},
}

KEYS = ["policy", "policies", "at", "gate", "expect", "firing", "calls", "version", "fail-on", "threshold", "x"]
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-3, 70000), st.floats(-1, 2), st.sampled_from(["never", "5-9", "none", ""])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    ),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_every_mistake_is_at_a_place_of_the_value(name: str) -> None:
    kind = KINDS[name]

    @settings(deadline=None)
    @given(VALUES)
    @example({"version": 1.0})
    def place(value: Any) -> None:
        for mistake in mistakes(value, kind):
            found = value
            for step in mistake.path:
                found = found[step]
            assert mistake.message
        if fits(value, kind):
            msgspec.convert(value, kind)

    place()


def test_all_mistakes_are_reported_in_order() -> None:
    value = {
        "mode": "on",
        "gate": {"max-loops": -1, "fail-on": ["block", 3]},
        "policies": {"strict": {"base": ""}},
        "tools": [],
        "pathss": 1,
    }
    assert [(mistake.path, mistake.message, mistake.hint) for mistake in mistakes(value, Document)] == [
        (("mode",), "'on' is none of 'enforced', 'shadow'", "known: enforced, shadow"),
        (("gate", "max-loops"), "-1 is not a whole number from 0", None),
        (("gate", "fail-on", 1), "3 is not a text in quotes that is not empty", None),
        (("policies", "strict", "base"), "'' is not a text in quotes that is not empty", None),
        (("tools",), "an empty list is not a text in quotes that is not empty", None),
        (("pathss",), "unknown key", "did you mean 'paths'?"),
    ]
