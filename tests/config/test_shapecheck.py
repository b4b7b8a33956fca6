"""The cheap check and the full validator agree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopaudit.config import file as config
from loopaudit.config import shapecheck
from loopaudit.config.params import parameter_schema
from loopaudit.config.shapecheck import accepts, explain
from loopaudit.gate import baseline_file as baseline
from loopaudit.gate import expectations
from loopaudit.policies.registry import policies

SCHEMAS: dict[str, Any] = {
    "config": config.SCHEMA,
    "expect": expectations.FILE,
    "expect in config": {"type": "array", "items": expectations.EXPECT_IN_CONFIG},
    "baseline": baseline.SCHEMA,
    **{policy.id: parameter_schema(policy) for policy in policies().all()},
}


def words(schema: Any) -> set[str]:
    found = set(schema)
    for word, inner in schema.items():
        if word == "properties":
            found |= set().union(*map(words, inner.values())) if inner else set()
        elif word in ("items", "additionalProperties") and isinstance(inner, dict):
            found |= words(inner)
        elif word == "anyOf":
            found |= set().union(*map(words, inner))
    return found


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_use_only_the_words_that_are_understood(name: str) -> None:
    assert words(SCHEMAS[name]) <= shapecheck.WORDS


WORDS = ["never", "5-9", "block", "none", "", "x"]
KEYS = ["policy", "at", "gate", "expect", "version", "fail-on", "threshold", "x"]
JSON = st.recursive(
    st.one_of(st.booleans(), st.integers(-3, 70000), st.floats(-1, 2), st.sampled_from(WORDS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    ),
    max_leaves=8,
)  # fmt: skip


def shaped(schema: Any) -> st.SearchStrategy[Any]:
    """Values near to what a schema wants."""
    if "enum" in schema:
        return st.one_of(st.sampled_from(list(schema["enum"])), JSON)
    if "anyOf" in schema:
        return st.one_of(*map(shaped, schema["anyOf"]), JSON)
    kind = schema.get("type")
    if kind == "object" and schema.get("properties"):
        members = {name: shaped(inner) for name, inner in schema["properties"].items()}
        required = {name: members[name] for name in schema.get("required", ()) if name in members}
        optional = {name: inner for name, inner in members.items() if name not in required}
        return st.one_of(st.fixed_dictionaries(required, optional=optional), JSON)
    if kind == "array":
        return st.one_of(st.lists(shaped(schema.get("items", {})), max_size=3), JSON)
    if kind in ("integer", "number"):
        return st.one_of(st.integers(schema.get("minimum", -5) - 1, schema.get("maximum", 50) + 1), JSON)
    if kind == "string":
        return st.one_of(st.sampled_from(["", "x", "0123456789abcdef", "2030-01-31", "3..4"]), JSON)
    return st.booleans() if kind == "boolean" else JSON


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.slow
def test_agrees_with_the_full_validator(name: str) -> None:
    schema = SCHEMAS[name]

    @settings(deadline=None)
    @given(shaped(schema))
    @example({"version": 1.0})
    def agree(value: Any) -> None:
        generic = [wrong.message for wrong in explain(schema, value)] == ["it is not as expected"]
        assert accepts(schema, value) == generic

    agree()
