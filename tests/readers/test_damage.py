"""Every reader on its damaged sample: events and problems come out, never an exception, never a silent loss.

The readers are those of the registry, so that a new one is covered by its sample alone.
"""

from __future__ import annotations

import io
import json
import re
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.core.errors import InputError
from loopaudit.readers.contract import Reader
from loopaudit.readers.recognise import claim, claimant, claims
from loopaudit.readers.registry import readers
from loopaudit.readers.source import Source
from tests.corpus import read_events
from tests.places import SAMPLES
from tests.readers.damage import changed, counts, damaged, encoded, is_broken, mended, paths, root_of, silent_losses

pytestmark = [pytest.mark.usefixtures("untraced"), pytest.mark.slow]  # damages every sample in many ways

FORMATS = readers().ids()

MAX_RECORDS = 16
"""Records of a sample that are damaged one member after the other; of longer ones these are the first."""

TEXT = r".*\bcontent(\.\d+)? = 'zzz'"
"""A content that is text, or has text among its blocks, is prose."""

LAWFUL = {
    # An update that leaves the state as it is.
    "acp": r".*\.status = None",
    # What was approved.
    "agent-framework": r".*\.approved = True",
    # An empty content is a message without anything in it.
    "amp": rf"{TEXT}|.*\.content = \[\]",
    "anthropic-messages": rf"{TEXT}|.*\.content = \[\]",
    # A step without an observation, calls without a result, and no sub-agents.
    "atif": r"(.*observation|subagent_trajectories) = None",
    # Another speaker.
    "autogen": r".*\.source = 'zzz'",
    # A step that failed before the model had said anything.
    "browser-use": r".*\.model_output = None",
    # Also a record of a side chain, whose messages are no turns of the main agent.
    "claude-code": rf"{TEXT}|.*\.content = \[\]|.*isSidechain = True",
    "claude-stream-json": TEXT,
    # Calls and results stand in the text.
    "cline-api": rf"{TEXT}|.*\.text = 'zzz'",
    # The messages of another agent are no turns of a person.
    "cline-session": rf"{TEXT}|agent = ",
    "cursor": TEXT,
    "droid": TEXT,
    # Calls whose states are not kept.
    "continue-session": r".*\.toolCallStates = None",
    # A user message without its raw content is one that the program added.
    "forgecode": r".*raw_content = None",
    # An event with actions alone, and another agent's.
    "google-adk": r".*\.(content = None|author = 'zzz')",
    # A message that the program added for another reason.
    "grok-build": r".*synthetic_reason = 'zzz'",
    # A cancellation that comes too late.
    "mcp-log": r".*\.(requestId|id) = (7|'zzz')",
    # A message without calls.
    "inspect-ai": r".*tool_calls = None",
    "bedrock-converse": TEXT,
    # An entry without its half, a half without a content, a content without a prompt.
    "kiro": r".*\.(user|assistant|content|prompt) = None",
    # A plain text is an input too, only without the results of earlier calls.
    "langfuse": r".*\.input = 'zzz'",
    # A run without input.
    "openai-agents": r"original_input = \[\]",
    # A step without calls, or one that was cut short.
    "smolagents": r".*\.(tool_calls|observations) = None",
    # A step without results.
    "trae-agent": r".*\.tool_results = None",
    # A request without an answer, parts of other kinds, and a tool that was not refused.
    "vscode-chat": r".*\.(response = None|kind = 'zzz'|isConfirmed = .*)",
    # Prose without a call, where the calls stand in the prose.
    "text-actions": r".*\.(content|text) = 'zzz'",
}
"""Changes that make another lawful transcript, which nobody can tell from a damaged one."""

REFUSING = {"native"}
"""Formats of lines that are refused in words: a header of another format or of a later version."""

SILENT = {("codex", "openhands-v1"), ("gemini-cli", "continue-session"), ("mcp-log", "acp")}
"""A reader, and a format that says nothing to it: objects with an id and a time head the oldest rollouts, one with a
``sessionId`` is the first line of a chat, and other methods of JSON-RPC are no calls of tools."""


@cache
def _shared() -> dict[str, Path]:
    """The first of the samples of no single format that each reader claims."""
    found: dict[str, Path] = {}
    for path in sorted(SAMPLES.glob("*.json*")):
        with Source(path) as source:
            reader = claim(source.probe())
        if reader is not None:
            found.setdefault(reader.id, path)
    return found


@cache
def sample(name: str) -> tuple[Reader, Any, bool]:
    """A reader, the root of its sample, and whether that is a document (else the list of its records)."""
    path = next((SAMPLES / "formats").glob(f"{name}.json*"), None) or _shared()[name]
    root, is_document = root_of(path)
    return readers().get(name), root if is_document else root[:MAX_RECORDS], is_document


LINES = [name for name in FORMATS if not sample(name)[2]]
DOCUMENTS = [name for name in FORMATS if sample(name)[2]]


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
        assert is_document or name in REFUSING
        return
    assert len(totals) <= 2 * len(lines) + 2
    assert problems.damaged <= sum(problems.counts.values())
    assert all(call.number > 0 for event in events for call in getattr(event, "calls", []))
    if not is_document:
        broken = sum(map(is_broken, lines))
        with Source(None, stream=io.BytesIO(b"\n".join(lines))) as source:
            # Some formats are written both ways, and what has no sound line may be a document that was cut.
            is_lines = source.probe().shape == "records"
        assert problems.damaged + mended(problems) >= (broken if is_lines else min(broken, 1))


@pytest.mark.parametrize("depth", [400, 1000, 30_000])
@pytest.mark.parametrize("name", FORMATS)
def test_deep_nesting_is_no_danger(name: str, depth: int) -> None:
    reader, root, is_document = sample(name)
    deep = b"[" * depth + b"]" * depth
    places = {path[-1]: path for path in paths(root) if isinstance(path[-1], str)}.values()
    for path in places if depth < 30_000 else islice(places, 2):  # what no Python nests costs its time
        data = encoded(changed(root, path, "@deep@"), is_document=is_document)
        hostile = data.replace(b'"@deep@"', deep)
        with Source(None, stream=io.BytesIO(hostile)) as source:
            claimant(source)
        try:
            read_events(reader, hostile)
        except InputError:
            assert is_document or name in REFUSING


@pytest.mark.parametrize("name", LINES)
def test_a_cut_last_line_is_told(name: str) -> None:
    reader, root, _ = sample(name)
    _, problems, _ = read_events(reader, encoded(root, is_document=False)[:-9])
    assert problems.counts.get("cut_last_line") == 1
    assert [p.line for p in problems.kept if p.kind == "cut_last_line"] == [len(root)]


@pytest.mark.parametrize("part", [0.3, 0.55, 0.8, 0.97])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_cut_document_is_read_up_to_there(name: str, part: float) -> None:
    reader, root, _ = sample(name)
    whole = encoded(root, is_document=True)
    expected = read_events(reader, whole)[2]
    _, problems, totals = read_events(reader, whole[: int(len(whole) * part)])
    assert problems.damaged
    assert sum(t.calls for t in totals) <= sum(t.calls for t in expected)
    if part > 0.5:
        assert totals


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_cut_document_names_the_line(name: str) -> None:
    reader, root, _ = sample(name)
    lines = json.dumps(root, indent=1).split("\n")
    for part in (0.3, 0.6, 0.9):
        number = int(len(lines) * part)
        _, problems, _ = read_events(reader, "\n".join(lines[:number]).encode())
        (found,) = [p.line for p in problems.kept if p.kind == "cut_document"]
        assert found in (number, number - 1)


def without(text: str, character: str, part: float) -> tuple[str, int]:
    """A document without one of its marks, at about this part of it; and the line it stood in."""
    marks = [found.start() for found in re.finditer(r"\"(?:[^\"\\]|\\.)*\"|[{}]", text) if found[0][0] == character]
    at = marks[int(len(marks) * part)]
    return text[:at] + text[at + 1 :], text.count("\n", 0, at) + 1


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_is_damaged_inside_is_read_up_to_there_and_names_the_place(
    name: str, indent: int | None
) -> None:
    """A quote or a bracket is missing: what stood before it is read, and one problem names the line."""
    reader, root, _ = sample(name)
    text = json.dumps(root, indent=indent)
    expected = counts(read_events(reader, text.encode())[2])
    before = read_events(reader, text.encode())[1].counts
    for character in '"{}':
        for part in (0.4, 0.95):
            damaged, line = without(text, character, part)
            _, problems, totals = read_events(reader, damaged.encode())
            (found,) = [p for p in problems.kept if p.kind in ("damaged_document", "cut_document")]
            assert line <= (found.line or 0) or found.kind == "cut_document", "it may show later"
            assert character != '"' or (found.line or 0) <= line + 1
            assert found.kind == "cut_document" or re.search(r"at line \d+, column \d+ .* bytes behind", found.message)
            assert counts(totals)["calls"] <= expected["calls"]
            assert sum(problems.counts.values()) <= sum(before.values()) + 5, "no flood"
            with Source(None, stream=io.BytesIO(damaged.encode())) as source:
                assert source.probe().shape == "document"
    assert part < 0.9 or not expected["calls"] or counts(totals)["calls"]


def test_a_document_with_an_entry_a_line_is_no_file_of_lines() -> None:
    """Few entries, the last one without a comma, which alone would be a record."""
    for number in (2, 3, 60):
        entries = [json.dumps({"role": "user", "content": f"{n}"}) for n in range(number)]
        text = '{"messages": [\n' + ",\n".join(entries) + "\n]}\n"
        with Source(None, stream=io.BytesIO(text.encode())) as source:
            assert source.probe().shape == "document"
            assert len(source.document()["messages"]) == number
            assert not source.problems.counts


ENTRY = '{"role": "user", "content": "%d"}'
LAYOUTS = {
    "an entry a line": ("[\n", ",\n", "\n]\n"),
    "commas in front": ("[\n", "\n,", "\n]\n"),
    "behind the key": ('{"messages": [\n', ",\n", "\n]}\n"),
    "begun in the line": ("[", ",\n", "]\n"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_damaged_list_with_an_entry_a_line_stays_a_document(layout: str) -> None:
    begin, between, end = LAYOUTS[layout]
    entries = [ENTRY % n for n in range(20)]
    for broken in ('{"role": "user", "content": "x"', '"role": "user"}', '{"role": user"}'):
        text = begin + between.join([*entries, broken, *entries]) + end
        with Source(None, stream=io.BytesIO(text.encode())) as source:
            assert source.probe().shape == "document"
            value = source.document()
            assert len(value["messages"] if isinstance(value, dict) else value) >= 20
            assert source.problems.counts == {"damaged_document": 1}


def test_a_file_of_lines_whose_first_ones_are_broken_is_no_document() -> None:
    record = ENTRY % 1
    for first in ('{"role": "user", "content": "x{', "[", ' {\n{"role": {'):
        for noise in (b"\0", b"[[1]]", b" {", b"NaN"):
            data = first.encode() + b"\n" + noise + b"\n" + record.encode() + b"\n"
            with Source(None, stream=io.BytesIO(data)) as source:
                assert source.probe().shape == "records", data
                assert [r.value for r in source.records() if isinstance(r.value, dict)] == [json.loads(record)]


@pytest.mark.parametrize("name", LINES)
def test_unknown_kinds_of_records_are_counted(name: str) -> None:
    reader, root, _ = sample(name)
    stranger = {"type": "brand_new", "kind": "BrandNewEvent", "role": "brand_new", "payload": {}}
    before = read_events(reader, encoded(root, is_document=False))[1]
    _, problems, _ = read_events(reader, encoded([*root, stranger], is_document=False))
    assert len([p for p in problems.kept if p.line == len(root) + 1]) == 1
    assert sum(problems.counts.values()) == sum(before.counts.values()) + 1


VALUES_OF_OTHER_TYPES: tuple[Any, ...] = (7, [], {}, None)


@pytest.mark.parametrize("name", FORMATS)
def test_no_sniffer_fails_on_changed_fields(name: str) -> None:
    _, root, is_document = sample(name)
    for path in paths(root):
        for value in VALUES_OF_OTHER_TYPES:
            data = encoded(changed(root, path, value), is_document=is_document)
            with Source(None, stream=io.BytesIO(data)) as source:
                assert len(claims(source.probe())) <= 1


@pytest.mark.parametrize("name", FORMATS)
def test_any_json_at_all_is_survived(name: str) -> None:
    """A reader that is forced upon a file of another format says what it could not use."""
    reader = readers().get(name)
    for other in FORMATS:
        _, root, is_document = sample(other)
        try:
            events, problems, _ = read_events(reader, encoded(root, is_document=is_document))
        except InputError:
            continue
        assert events or problems or other == name or (name, other) in SILENT, other
