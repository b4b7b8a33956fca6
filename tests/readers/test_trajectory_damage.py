"""Samples of trajectories and of message stores, damaged: never an exception, never a silent loss."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.core.errors import InputError
from loopaudit.readers.contract import Reader
from loopaudit.readers.registry import readers
from tests.corpus import read_events
from tests.places import SAMPLES
from tests.readers.damage import damaged, encoded, root_of, silent_losses

pytestmark = [pytest.mark.usefixtures("untraced"), pytest.mark.slow]  # damages every sample in many ways

FOLDER = SAMPLES / "formats"

FORMATS = (
    "atif",
    "inspect-ai",
    "mini-swe-agent",
    "openai-agents",
    "openai-responses",
    "pydantic-ai",
    "sharegpt",
    "swe-agent",
    "tau2-bench",
    "text-actions",
    "vercel-ui",
)

LAWFUL = {
    # A step without an observation, calls without a result, and no sub-agents.
    "atif": r"(.*observation|subagent_trajectories) = None",
    # A message without calls.
    "inspect-ai": r".*tool_calls = None",
    # A run without input.
    "openai-agents": r"original_input = \[\]",
    # Prose without a call, where the calls stand in the prose.
    "text-actions": r".*\.(content|text) = 'zzz'",
}
"""Changes that make another lawful transcript, which nobody can tell from a damaged one."""


def sample(name: str) -> tuple[Reader, Any, bool]:
    (found,) = FOLDER.glob(f"{name}.json*")
    return readers().get(name), *root_of(found)


@pytest.mark.parametrize("name", FORMATS)
def test_a_changed_field_is_never_a_silent_loss(name: str) -> None:
    reader, root, is_document = sample(name)
    lost = silent_losses(reader, root, is_document=is_document)
    assert [loss for loss in lost if not re.match(LAWFUL.get(name, "never"), loss)] == []


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_damage_ends_with_events_and_problems(name: str, data: st.DataObject) -> None:
    reader, root, is_document = sample(name)
    lines = data.draw(damaged(encoded(root, is_document=is_document).split(b"\n")))
    try:
        events, problems, totals = read_events(reader, b"\n".join(lines))
    except InputError:
        return
    assert len(totals) <= 2 * len(lines) + 2
    assert problems.damaged <= sum(problems.counts.values())
    assert all(call.number > 0 for event in events for call in getattr(event, "calls", []))


@pytest.mark.parametrize("name", [name for name in FORMATS if sample(name)[2]])
@pytest.mark.parametrize("part", [0.3, 0.55, 0.8, 0.97])
def test_a_cut_document_is_read_up_to_there(name: str, part: float) -> None:
    reader, root, _ = sample(name)
    whole = encoded(root, is_document=True)
    expected = read_events(reader, whole)[2]
    _, problems, totals = read_events(reader, whole[: int(len(whole) * part)])
    assert problems.damaged
    assert sum(t.calls for t in totals) <= sum(t.calls for t in expected)
    if part > 0.5:
        assert totals


@pytest.mark.parametrize("name", [name for name in FORMATS if not sample(name)[2]])
def test_a_cut_last_line_is_told(name: str) -> None:
    reader, root, _ = sample(name)
    _, problems, _ = read_events(reader, encoded(root, is_document=False)[:-9])
    assert [p.line for p in problems.kept if p.kind == "cut_last_line"] == [len(root)]


@pytest.mark.parametrize("name", FORMATS)
def test_any_json_at_all_is_survived(name: str) -> None:
    """A reader that is forced upon a file of another format says what it could not use."""
    reader = readers().get(name)
    for other in FORMATS:
        _, root, is_document = sample(other)
        events, problems, _ = read_events(reader, encoded(root, is_document=is_document))
        assert events or problems or other == name, other
