"""Every transcript is claimed by exactly one reader, and by the right one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopaudit.core.errors import InputError
from loopaudit.readers.recognise import claims, recognise
from loopaudit.readers.registry import COMMON, FREQUENT, in_order, readers
from loopaudit.readers.source import Source
from tests import corpus
from tests.places import SAMPLES, SHARED_CASES

CASES = SHARED_CASES

READERS = {
    "adp-raw": {"adp-raw", "swe-agent", "text-actions"},
    "anthropic-messages": {"anthropic-messages", "openai-chat"},
    "atif": {"atif"},
    "atomcode": {"atomcode"},
    "claude-code": {"claude-code"},
    "claude-managed-agents": {"claude-managed-agents"},
    "claude-stream-json": {"claude-stream-json"},
    "cline": {"cline-api", "cline-session", "cline-ui"},
    "codex": {"codex", "codex-exec"},
    "copilot-cli": {"copilot-cli"},
    "cursor": {"cursor"},
    "droid": {"droid"},
    "forgecode": {"forgecode"},
    "gemini-cli": {"gemini-cli"},
    "gemini-contents": {"gemini-contents"},
    "gemini-stream-json": {"gemini-stream-json"},
    "hermes-sharegpt": {"hermes-sharegpt", "sharegpt"},
    "inspect": {"inspect-ai"},
    "kimi-wire": {"kimi-wire"},
    "kiro": {"kiro"},
    "langfuse": {"langfuse"},
    "mini-swe-agent": {"mini-swe-agent"},
    "openai-agents": {"openai-agents", "openai-responses"},
    "openai-chat": {"openai-chat", "tau-bench"},
    "openclaw": {"openclaw", "pi"},
    "opencode": {"opencode"},
    "openhands-v0": {"openhands-v0"},
    "openhands-v1": {"openhands-v1"},
    "otel": {"otel"},
    "pi": {"pi"},
    "qwen-code": {"qwen-code"},
    "swe-agent": {"swe-agent"},
    "tau2-bench": {"tau2-bench"},
    "who-and-when": {"text-actions"},
}
"""Formats of the corpus, and the readers that may read their files."""


def claimed_by(path: Path) -> list[str]:
    with Source(path) as source:
        return [reader.id for reader, _ in claims(source.probe())]


def files(folder: Path) -> list[Any]:
    found = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name not in ("index.json", "README.md")]
    if found:
        return [pytest.param(path, id=path.name) for path in found]
    return [pytest.param(folder, id="none", marks=pytest.mark.skip(reason=f"no files in {folder}"))]


def corpus_files() -> list[Any]:
    rows = [pytest.param(row, id=row["file"]) for row in corpus.all_rows()]
    return rows or [pytest.param({}, id="none", marks=pytest.mark.skip(reason=f"no files in {corpus.CORPUS}"))]


@pytest.mark.parametrize("row", corpus_files())
def test_a_corpus_file_is_claimed_by_the_right_reader_alone(row: dict[str, Any]) -> None:
    allowed = READERS[row["format"]] & set(readers().ids())
    if not allowed:
        pytest.skip(f"no reader for {row['format']}")
    found = claimed_by(corpus.path_of(row))
    assert len(found) == 1, found
    assert found[0] in allowed


@pytest.mark.parametrize("path", files(SAMPLES))
def test_a_sample_is_claimed_by_one_reader_alone(path: Path) -> None:
    found = claimed_by(path)
    assert len(found) == 1, found
    if path.parent.name == "formats":
        assert found == [path.name.partition(".")[0]]


@pytest.mark.parametrize("path", files(CASES))
def test_a_case_is_claimed_by_one_reader_alone(path: Path) -> None:
    assert len(claimed_by(path)) == 1, claimed_by(path)


@pytest.mark.parametrize("id", readers().ids())
def test_a_reader_says_what_it_is(id: str) -> None:
    reader = readers().get(id)
    assert reader.id == id
    assert reader.title
    assert reader.written_by
    assert reader.where
    assert reader.looked_for
    assert reader.evidence in ("data", "source", "unseen")


@pytest.mark.parametrize("name", FREQUENT)
def test_a_reader_is_left_out_by_the_members_that_it_looks_for(name: str) -> None:
    reader = readers().load(name)
    assert FREQUENT[name] == reader.members
    assert reader in in_order("records", {"role", *reader.members})
    assert (reader in in_order("records", {"role"})) == (not reader.members)


def test_every_reader_is_asked_once_and_the_common_ones_first() -> None:
    asked = [r.id for r in in_order()]
    assert sorted(asked) == readers().ids()
    assert tuple(asked[: len(COMMON)]) == tuple(name.replace("_", "-") for name in COMMON)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"a": 1, "of": 2}\n', "looked for"),
        (b'{"sessionId": "s", "parentUuid": null, "kind": 4}\n', "nearest: claude-code"),
        (b"two words\n", "not JSON"),
    ],
)
def test_what_nobody_claims_gets_the_nearest_formats(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "odd"
    path.write_bytes(data)
    with Source(path) as source, pytest.raises(InputError) as refused:
        recognise(source)
    assert told in str(refused.value.hint)
    assert ("nearest" in str(refused.value.hint)) == told.startswith("nearest")


def test_a_directory_that_nobody_claims_asks_for_a_file(tmp_path: Path) -> None:
    with Source(tmp_path) as source, pytest.raises(InputError) as refused:
        recognise(source)
    assert "name a file" in str(refused.value.hint)
