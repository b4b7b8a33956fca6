"""Every format's sample, damaged: events and problems come out, never an exception, never a silent loss."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.core.errors import InputError
from loopaudit.readers.contract import Reader
from loopaudit.readers.recognise import claims
from loopaudit.readers.registry import readers
from loopaudit.readers.source import Source
from tests.corpus import read_events
from tests.places import SAMPLES
from tests.readers.damage import changed, damaged, encoded, paths, root_of, silent_losses

pytestmark = [pytest.mark.usefixtures("untraced"), pytest.mark.slow]  # damages every sample in many ways

FOLDER = SAMPLES / "formats"

SKIPPED = {
    # Other members of a stream's message make it another kind of message, which is known.
    "goose": frozenset({"working_dir", "userVisible"}),
    # A user message without its raw content is one that the program added.
    "forgecode": frozenset({"raw_content"}),
    "opencode": frozenset({"synthetic"}),
    # A plain text is an input too, only without the results of earlier calls.
    "langfuse": frozenset({"input"}),
}
FORMATS = (
    "atomcode",
    "forgecode",
    "gemini-cli",
    "gemini-contents",
    "gemini-stream-json",
    "goose",
    "langfuse",
    "langsmith",
    "moltis",
    "openclaw",
    "opencode",
    "openhands-v0",
    "openhands-v1",
    "otel",
    "pi",
    "qwen-code",
)


def sample(name: str) -> tuple[Reader, Any, bool]:
    """A format's reader, the root of its sample, and whether that is a document."""
    found = next(path for path in sorted(FOLDER.iterdir()) if path.name.partition(".")[0] == name)
    return readers().get(name), *root_of(found)


@pytest.mark.parametrize("name", FORMATS)
def test_a_changed_field_is_never_a_silent_loss(name: str) -> None:
    reader, root, is_document = sample(name)
    assert silent_losses(reader, root, is_document=is_document, skip=SKIPPED.get(name, frozenset())) == []


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
    assert len(totals) <= len(lines) + 2
    assert problems.damaged <= sum(problems.counts.values())
    assert all(call.number > 0 for event in events for call in getattr(event, "calls", []))


@pytest.mark.parametrize("name", [name for name in FORMATS if not sample(name)[2]])
def test_a_cut_last_line_is_told(name: str) -> None:
    reader, root, _ = sample(name)
    whole = encoded(root, is_document=False)
    _, problems, _ = read_events(reader, whole[:-9])
    assert problems.counts.get("cut_last_line") == 1
    assert [p.line for p in problems.kept if p.kind == "cut_last_line"] == [len(root)]


@pytest.mark.parametrize("name", [name for name in FORMATS if sample(name)[2]])
def test_a_cut_document_is_read_up_to_there(name: str) -> None:
    reader, root, _ = sample(name)
    whole = encoded(root, is_document=True)
    events, problems, _ = read_events(reader, whole[: len(whole) * 3 // 4])
    assert events
    assert problems.damaged


@pytest.mark.parametrize("name", FORMATS)
def test_unknown_kinds_of_records_are_counted_and_no_damage(name: str) -> None:
    reader, root, is_document = sample(name)
    if is_document:
        pytest.skip("a document has no records of its own kinds")
    stranger = {"type": "brand_new", "kind": "BrandNewEvent", "role": "brand_new", "payload": {}}
    before = read_events(reader, encoded(root, is_document=False))[1]
    _, problems, _ = read_events(reader, encoded([*root, stranger], is_document=False))
    new = [p for p in problems.kept if p.line == len(root) + 1]
    assert len(new) == 1
    assert sum(problems.counts.values()) == sum(before.counts.values()) + 1


STRANGE: tuple[Any, ...] = (7, [], {}, None)


@pytest.mark.parametrize("name", FORMATS)
def test_no_sniffer_fails_on_changed_fields(name: str) -> None:
    _, root, is_document = sample(name)
    for path in paths(root):
        for value in STRANGE:
            data = encoded(changed(root, path, value), is_document=is_document)
            with Source(None, stream=io.BytesIO(data)) as source:
                assert len(claims(source.probe())) <= 1
