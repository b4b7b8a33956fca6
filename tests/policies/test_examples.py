"""Each policy's docstring has its fixed sections, and its examples come out as written."""

from __future__ import annotations

import inspect
import sys

import pytest

from loopaudit.core.events import Batch, Turn
from loopaudit.core.findings import Action
from loopaudit.core.shapes import fits
from loopaudit.policies.contract import HEADINGS, Policy, parameters
from loopaudit.policies.registry import policies
from loopaudit.testing import check_examples, examples_of
from tests.policies.guard_streams import context_for

MODULES = policies().module_names()


def documentation(policy: Policy) -> str:
    return inspect.cleandoc(sys.modules[policy.start.__module__].__doc__ or "")


@pytest.mark.parametrize("name", MODULES)
def test_sections_stand_in_order(name: str) -> None:
    text = documentation(policies().load(name))
    summary, _, rest = text.partition("\n\n")
    assert summary.endswith("."), "a summary sentence first"
    at_margin = [line for line in rest.splitlines() if line and not line.startswith(" ")]
    assert tuple(line for line in at_margin if line in HEADINGS) == HEADINGS
    lines = rest.splitlines()
    for heading in HEADINGS:
        following = lines[lines.index(heading) + 1]
        assert following.startswith("    ") and following.strip(), f"{heading} says nothing"


@pytest.mark.parametrize("name", MODULES)
def test_examples_show_a_firing_and_a_pass(name: str) -> None:
    examples = examples_of(documentation(policies().load(name)))
    assert len(examples) >= 3
    assert any(set(e.expected) - {".", "/."} for e in examples)
    assert any(set(e.expected) <= {".", "/."} for e in examples), "one that shows where it keeps silent"


@pytest.mark.parametrize("name", MODULES)
def test_examples_come_out_as_written(name: str) -> None:
    check_examples(policies().load(name))


@pytest.mark.parametrize("name", MODULES)
def test_what_examples_decide_is_declared(name: str) -> None:
    policy = policies().load(name)
    for example in examples_of(documentation(policy)):
        guard = policy.start(policy.params(), context_for(policy))
        for event in example.events:
            if isinstance(event, Turn):
                guard.turn(event)
            if not isinstance(event, Batch):
                continue
            for decision in guard.judge(event):
                assert decision.action.slug in policy.actions
                assert decision.action != Action.ALLOW, "only traces show what is allowed"
                assert decision.rule in policy.rules
                assert decision.own_word
                assert policy.message(decision).strip()


@pytest.mark.parametrize("name", MODULES)
def test_parameters_are_documented(name: str) -> None:
    policy = policies().load(name)
    defaults = policy.params().as_dict()
    for parameter in parameters(policy.params).values():
        assert parameter.doc
        assert fits(parameter.default, parameter.type)
        if isinstance(parameter.default, int) and not isinstance(parameter.default, bool):
            assert not fits(10**9, parameter.type), "a number has bounds"
    assert list(parameters(policy.params)) == list(defaults)
    for values in policy.variants.values():
        assert values.items() <= policy.params(**values).as_dict().items()
    assert policy.essential <= set(policy.needs)
