"""A redacted transcript replays to the hindsight of the original: classes, episodes, and a grade for any firing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from loopaudit.audit.convert import convert
from loopaudit.audit.redact import Redactor
from loopaudit.audit.session import audit_source
from loopaudit.config.options import Options
from loopaudit.core.errors import InputError
from loopaudit.core.report import TranscriptResult
from loopaudit.readers.recognise import claim, recognise
from loopaudit.readers.source import Source
from tests.grading import grades
from tests.places import CASES, SAMPLES
from tests.shared_files import transcripts

pytestmark = pytest.mark.usefixtures("untraced")

KEY = b"a secret of the tests"
PLACES = ("line", "last_line", "session", "agent", "unit")
"""What of an episode tells its place or shows its calls: of another file, or redacted."""


def copied(source: Source, redactor: Redactor | None) -> bytes:
    out = io.BytesIO()
    with source:
        convert(source, recognise(source), out, redactor)
    return out.getvalue()


def audited(data: bytes | Path, level: Any = "exit_code") -> list[TranscriptResult]:
    options = Options(policies=(), ledger=True, failure_level=level)
    path, stream = (data, None) if isinstance(data, Path) else (None, io.BytesIO(data))
    with Source(path, stream=stream) as source:
        return audit_source(source, options, name="transcript")


def opinion(result: TranscriptResult) -> Any:
    """All that hindsight tells of a conversation, without names and places."""
    assert result.ledger is not None and result.ledger.record is not None
    record = result.ledger.record
    episodes = []
    for episode in result.episodes:
        members = {k: v for k, v in msgspec.to_builtins(episode).items() if k not in PLACES}
        episodes.append({**members, "shown": len(episode.unit)})
    kept = (record.classes, record.flags, record.evidence.rstrip(b"\0"), record.noise, record.fixes)
    return result.classes, episodes, kept, [f.grade for f in result.recorded], grades(result), result.unread


def check(path: Path) -> None:
    with Source(path) as source:
        if claim(source.probe()) is None:
            pytest.skip("no reader for it")
    try:
        redacted = copied(Source(path), Redactor(KEY))
    except InputError as error:
        pytest.skip(error.message)
    original, again = audited(path), audited(redacted)
    assert [note for result in again for note in result.notes if "hindsight" in note] == []
    assert [opinion(result) for result in again] == [opinion(result) for result in original]


OWN = [
    pytest.param(path, id=path.name)
    for path in sorted([*CASES.glob("*.jsonl"), *SAMPLES.rglob("*.json*")])
    if "index" not in path.name
]


@pytest.mark.parametrize("path", OWN)
def test_cases_and_samples_have_the_same_hindsight(path: Path) -> None:
    check(path)


@pytest.mark.slow
@pytest.mark.parametrize("path", transcripts())
def test_other_transcripts_have_the_same_hindsight(path: Path) -> None:
    check(path)


CASE = CASES / "a04-drifting-timestamp-and-request-id.jsonl"


def test_without_its_marks_a_redacted_transcript_is_judged_by_its_letters() -> None:
    """The tests above would fail without the marks."""
    redacted = copied(Source(CASE), Redactor(KEY))
    bare = b"".join(line for line in redacted.splitlines(keepends=True) if b'"type":"hindsight"' not in line)
    assert audited(bare)[0].classes != audited(CASE)[0].classes


def test_converting_keeps_the_marks_and_is_a_fixed_point() -> None:
    redacted = copied(Source(CASE), Redactor(KEY))
    once = copied(Source(None, stream=io.BytesIO(redacted)), None)
    twice = copied(Source(None, stream=io.BytesIO(once)), None)
    assert once == twice
    assert marks(once) == marks(redacted) != []
    again = copied(Source(None, stream=io.BytesIO(redacted)), Redactor(b"another"))
    assert [opinion(result) for result in audited(again)] == [opinion(result) for result in audited(CASE)]


def test_only_a_redacted_transcript_has_marks() -> None:
    assert marks(copied(Source(CASE), None)) == []


def marks(data: bytes) -> list[Any]:
    lines = [orjson.loads(line) for line in data.splitlines()]
    return [line for line in lines if line["type"] == "hindsight"]


def test_each_conversation_of_a_file_has_its_marks_and_its_lines() -> None:
    both = copied(Source(CASE), None).replace(b'"version":1', b'"version":1,"session":"one"', 1)
    both += copied(Source(CASES / "a03-interleaved-same-grep.jsonl"), None)
    redacted = copied(Source(None, stream=io.BytesIO(both)), Redactor(KEY))
    assert len(marks(redacted)) == 2
    lines = redacted.splitlines()
    for result in audited(redacted):
        for episode in result.episodes:
            line = orjson.loads(lines[episode.line - 1])
            assert line["type"] == "tool_call"
            assert episode.unit[0].startswith(line["name"] + " ")
    assert [opinion(r) for r in audited(redacted)] == [opinion(r) for r in audited(both)]


def test_an_episode_shows_the_tool_and_nothing_of_the_call() -> None:
    unit = audited(copied(Source(CASE), Redactor(KEY)))[0].episodes[0].unit
    original = audited(CASE)[0].episodes[0].unit
    assert [shown.split(" ")[0] for shown in unit] == [shown.split(" ")[0] for shown in original]
    assert unit != original


def changed(**members: Any) -> list[TranscriptResult]:
    """The case with other marks."""
    redacted = copied(Source(CASE), Redactor(KEY))
    own = marks(redacted)[0]
    lines = [line for line in redacted.splitlines(keepends=True) if b'"type":"hindsight"' not in line]
    return audited(b"".join(lines) + orjson.dumps({**own, **members}) + b"\n")


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"calls": 3}, "they are about 3 calls"),
        ({"classes": {}}, "do not give every call one class"),
        ({"classes": {"wonderful": ["1-9"]}}, "no call is called 'wonderful'"),
        ({"classes": {"first": ["1-999999999"]}}, "out of order, or not there"),
        ({"classes": {"first": [2, 1]}}, "out of order, or not there"),
        ({"classes": {"first": [1], "redundant": ["1-2"]}}, "do not give every call one class"),
        ({"classes": {"first": ["one"]}}, "neither a call number nor a range"),
        ({"flags": {"lucky": [1]}}, "no call is marked 'lucky'"),
        ({"flags": {"failed": [4000]}}, "out of order, or not there"),
        ({"rests_on": {"2": 4000}}, "call 2 cannot rest on call 4000"),
        ({"noise": {"4000": ["timestamp"]}}, "noise of calls that are not there"),
        ({"noise": {"2": ["\x1b[31m"]}}, "noise of no known kind"),
        ({"episodes": [{"kind": "party", "first_call": 1}]}, "of no known kind"),
        ({"episodes": [{"kind": "identical", "ended": "well"}]}, "ended in no known way"),
        ({"episodes": [{"kind": "identical", "first_call": 4000}]}, "names calls that are not there"),
        ({"episodes": [{"kind": "identical", "ended_by": "x"}]}, "names calls that are not there"),
        ({"episodes": [{"kind": "identical", "unit": 7}]}, "episode 1: "),
        ({"episodes": [{"kind": 7}]}, "episode 1: "),
        ({"episodes": [{"kind": "identical"}] * 10_001}, "more than 10000 episodes"),
    ],
)
def test_marks_that_do_not_fit_are_not_believed(members: Any, why: str) -> None:
    (result,) = changed(**members)
    (note,) = [note for note in result.notes if "hindsight" in note]
    assert note.startswith("the transcript's marks of hindsight are not used: ")
    assert why in note


def test_another_failure_level_is_noted() -> None:
    redacted = copied(Source(CASE), Redactor(KEY))
    (result,) = audited(redacted, "flag")
    assert any(note.startswith("hindsight was marked with failures by exit-code") for note in result.notes)
    assert result.episodes
