"""Damaged samples of the formats that are decoded as a whole: nothing is lost in silence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.core.errors import InputError
from loopaudit.readers.registry import readers
from tests.readers.damage import LOST, paths, totals_of
from tests.readers.kit import Document, damaged, put, records_of, sample, write

pytestmark = [pytest.mark.usefixtures("untraced"), pytest.mark.slow]  # damages every sample in many ways

LINES = (
    "claude-managed-agents",
    "claude-stream-json",
    "copilot-cli",
    "cursor",
    "cursor-stream",
    "droid",
    "kimi-wire",
)
DOCUMENTS = ("anthropic-messages", "cline-api", "cline-session", "cline-ui", "kiro")

MEANT: dict[str, set[str]] = {
    "cline-session": {"agent"},
    "cline-ui": {"partial"},
}
"""Members whose value decides whether a record counts at all."""


def _is_sound(path: tuple[Any, ...], value: Any) -> bool:
    """Whether a record with this value is sound, though it says something else."""
    if value is None:
        return path[-1] in ("user", "assistant", "prompt") or path[-2:] == ("user", "content")
    return value == [] or (value == "zzz" and (path[-1] == "text" or "content" in path[-2:]))


@pytest.mark.parametrize("value", [None, 7, "zzz", [], {}, True, 1e300, [[{"type": 3}]]], ids=str)
@pytest.mark.parametrize("id", [*LINES, *DOCUMENTS])
def test_a_changed_member_is_never_a_silent_loss(id: str, value: Any) -> None:
    reader, content = readers().get(id), records_of(sample(id))
    expected, _ = totals_of(reader, write(content))
    for path in paths(content.value if isinstance(content, Document) else content):
        if path[-1] in MEANT.get(id, ()) or _is_sound(path, value):
            continue
        try:
            found, problems = totals_of(reader, write(put(content, path, value)))
        except InputError:
            continue
        lost = [name for name in LOST if found[name] < expected[name]]
        assert not lost or problems.counts, (path, found, expected)


@pytest.mark.parametrize("id", [*LINES, *DOCUMENTS])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_damage_ends_with_events_and_problems(id: str, data: st.DataObject) -> None:
    broken = data.draw(damaged(sample(id).read_bytes()))
    try:
        found, problems = totals_of(readers().get(id), broken)
    except InputError:
        assert id in DOCUMENTS
        return
    assert all(number >= 0 for number in found.values())
    assert problems.damaged <= sum(problems.counts.values())
    if id in LINES:
        assert problems.damaged >= sum(map(_is_broken, broken.split(b"\n")))


@pytest.mark.parametrize("depth", [400, 3000])
@pytest.mark.parametrize("id", [*LINES, *DOCUMENTS])
def test_deep_nesting_is_no_danger(id: str, depth: int) -> None:
    data, deep = sample(id).read_bytes(), b"[" * depth + b"]" * depth
    for name in (
        b"input",
        b"args",
        b"arguments",
        b"content",
        b"text",
        b"output",
        b"result",
        b"data",
        b"raw",
        b"message",
    ):
        mark = b'"%s": ' % name
        for at in [at for at in range(len(data)) if data.startswith(mark, at)][:1]:
            broken = data[: at + len(mark)] + deep + b', "rest": ' + data[at + len(mark) :]
            try:
                totals_of(readers().get(id), broken)
            except InputError:
                assert id in DOCUMENTS


def _is_broken(line: bytes) -> bool:
    """Whether no reading of a line gives JSON."""
    import json

    if not line.strip():
        return False
    try:
        json.loads(line.decode("utf-8", "replace").removeprefix("\ufeff"), strict=False)
    except ValueError:
        return True
    return False
