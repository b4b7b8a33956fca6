"""A session that goes on in another file of the run is named as such, and its calls count once."""

from __future__ import annotations

import copy
import gzip
import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest

from loopaudit.audit.cache.cache import Cache
from loopaudit.audit.inputs.continued import with_copies
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.run import audit
from loopaudit.audit.workers import Workers
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.report import Report
from loopaudit.readers.formats.claude_code.continued import record_id
from loopaudit.readers.formats.claude_code.records import line_decoder, line_from
from tests.cli.test_program import run
from tests.readers.claude_records import SESSION, Json, Log, call, lines

OPTIONS = Options(policies=select(["atomcode"]))
OTHER = "5d0c1c6e-0000-4000-8000-000000000002"
THIRD = "5d0c1c6e-0000-4000-8000-000000000003"


def session(calls: int) -> Log:
    log = Log()
    log.person("go")
    step(log, *range(1, calls + 1))
    return log


def step(log: Log, *numbers: int, **fields: Any) -> None:
    for number in numbers:
        log.model(f"m{number}", call(f"toolu_{number}", command="ls"), **fields)
        log.result(f"toolu_{number}", "a b c", **fields)


def continued(log: Log, *numbers: int, session: str = OTHER, rewritten: bool = True) -> Log:
    """The session in a file of its own: copies under its id or under the old one, then records of its own."""
    other = Log()
    other.records = copy.deepcopy(log.records)
    other.parent = log.parent
    if rewritten:
        for record in other.records:
            record["sessionId"] = session
    other.person("and on", sessionId=session)
    step(other, *numbers, sessionId=session)
    return other


def write(folder: Path, **files: Log) -> Path:
    for name, log in files.items():
        (folder / f"{name}.jsonl").write_bytes(log.bytes())
    return folder


def calls(report: Report) -> dict[str, int]:
    return {Path(t.path).stem: t.counts.calls for t in report.transcripts}


@pytest.mark.parametrize("rewritten", [True, False])
@pytest.mark.parametrize(("before", "after"), [("a", "b"), ("b", "a")])
def test_copies_count_in_the_file_that_is_continued(tmp_path: Path, rewritten: bool, before: str, after: str) -> None:
    first = session(4)
    write(tmp_path, **{before: first, after: continued(first, 5, 6, rewritten=rewritten)})
    report = audit([str(tmp_path)], OPTIONS)
    assert calls(report) == {before: 4, after: 2}
    assert sum(t.counts.turns for t in report.transcripts) == 2
    (note,) = [note for t in report.transcripts for note in t.notes]
    assert note == f"continues {(tmp_path / before).as_posix()}.jsonl; 4 calls are copies of it, and counted there"
    of = {Path(t.path).stem: t for t in report.transcripts}
    assert (of[before].session, of[after].session) == (SESSION, OTHER)
    assert not of[after].problem_counts
    shown = json.loads(run("replay", tmp_path, "--report", "json", "--jobs", 2).stdout)
    assert [one["notes"] for one in shown["transcripts"] if one["notes"]] == [[note]]


def test_alone_it_is_read_whole(tmp_path: Path) -> None:
    write(tmp_path, a=session(3), b=continued(session(3), 4))
    report = audit([str(tmp_path / "b.jsonl")], OPTIONS)
    assert calls(report) == {"b": 4}
    assert not report.transcripts[0].notes


def test_a_chain_and_two_forks(tmp_path: Path) -> None:
    first = session(3)
    second = continued(first, 4, 5)
    third = continued(second, 6, session=THIRD)
    fork = continued(first, 7, session="5d0c1c6e-0000-4000-8000-000000000004")
    for number, record in enumerate(fork.records[len(first.records) :]):
        record["uuid"] = f"fork-{number}"  # lived apart from the second one
    write(tmp_path, a=third, b=second, c=first, d=fork)
    report = audit([str(tmp_path)], OPTIONS)
    assert calls(report) == {"a": 1, "b": 2, "c": 3, "d": 1}
    notes = {Path(t.path).stem: t.notes[0].split(";")[0][-7:] for t in report.transcripts if t.notes}
    assert notes == {"a": "b.jsonl", "b": "c.jsonl", "d": "c.jsonl"}


def test_the_same_for_any_number_of_jobs_and_with_the_cache(tmp_path: Path) -> None:
    first = session(5)
    folder = tmp_path / "runs"
    folder.mkdir()
    write(folder, a=continued(first, 6), b=first, c=session(2), d=Log())
    plain = audit([str(folder)], OPTIONS)
    for jobs, _ in itertools.product((1, 3), range(2)):
        cache = Cache(tmp_path / f"cache{jobs}", asked=True)
        assert audit([str(folder)], OPTIONS, Workers(jobs=jobs, cache=cache)) == plain
    assert cache.taken
    # The same file alone is another input to the cache.
    assert calls(audit([str(folder / "a.jsonl")], OPTIONS, Workers(cache=cache))) == {"a": 6}


def other_ids(log: Log) -> Log:
    for record in log.records:
        record["uuid"] = f"other-{record['uuid']}"
    return log


def blanked(log: Log) -> Log:
    for record in log.records:
        record["uuid"] = "[trimmed]"
    return log


def test_a_record_with_the_id_of_another_hides_nothing(tmp_path: Path) -> None:
    first = session(3)
    other = continued(first, 4)
    other.records[3]["message"]["content"][0]["input"] = {"command": "rm -rf work"}
    report = audit([str(write(tmp_path, a=first, b=other))], OPTIONS)
    assert calls(report) == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(session(4), session(4), id="the same file twice"),
        pytest.param(session(4), other_ids(session(6)), id="the same work under other ids"),
        pytest.param(blanked(session(4)), blanked(continued(session(4), 5)), id="blanked ids"),
    ],
)
def test_what_is_no_continuation_stays(tmp_path: Path, one: Log, other: Log) -> None:
    report = audit([str(write(tmp_path, a=one, b=other))], OPTIONS)
    expected = [sum(block["type"] == "tool_use" for block in blocks(log)) for log in (one, other)]
    assert list(calls(report).values()) == expected
    assert not [note for t in report.transcripts for note in t.notes]


def blocks(log: Log) -> list[Json]:
    contents = (record["message"]["content"] for record in log.records)
    return [block for content in contents if not isinstance(content, str) for block in content]


def test_a_pipe_is_not_looked_into(tmp_path: Path) -> None:
    write(tmp_path, a=session(2))
    os.mkfifo(tmp_path / "b.jsonl")  # opening it would wait for a writer
    items = [Input(tmp_path / f"{name}.jsonl", named=True) for name in "ab"]
    assert with_copies(items, OPTIONS) == items


def test_damaged_neighbours_are_read_as_ever(tmp_path: Path) -> None:
    first = session(4)
    write(tmp_path, a=first, b=continued(first, 5))
    data = (tmp_path / "a.jsonl").read_bytes()
    (tmp_path / "a.jsonl").write_bytes(b"\xff{broken\n" + data[: len(data) // 2] + b"\n" + lines([1, None, "x"]))
    report = audit([str(tmp_path)], OPTIONS)
    own = calls(report)
    assert own["b"] < 5
    assert own["a"] + own["b"] == 5


@pytest.mark.parametrize(("first_end", "second_end"), [("", ".gz"), (".gz", ""), (".gz", ".zst"), (".zst", ".zst")])
def test_compressed_files_continue_each_other(tmp_path: Path, first_end: str, second_end: str) -> None:
    import zstandard

    pack: dict[str, Any] = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
    first = session(4)
    (tmp_path / f"a.jsonl{first_end}").write_bytes(pack[first_end](first.bytes()))
    (tmp_path / f"b.jsonl{second_end}").write_bytes(pack[second_end](continued(first, 5, 6).bytes()))
    (tmp_path / "c.jsonl.gz").write_bytes(b"\x1f\x8b no gzip at all")
    report = audit([str(tmp_path)], OPTIONS)
    assert [t.counts.calls for t in report.transcripts] == [4, 2]
    assert [bool(t.notes) for t in report.transcripts] == [False, True]


def made(**changed: Any) -> dict[str, Any]:
    """A record with one call, some of it changed."""
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"a": 1}}
    block = {**block, **{name: value for name, value in changed.items() if name not in ("uuid", "timestamp")}}
    place = {name: changed.get(name, name) for name in ("uuid", "timestamp")}
    return {"type": "assistant", **place, "message": {"role": "assistant", "content": [block]}}


DIFFERENT = [
    made(),
    made(uuid="u"),
    made(timestamp="t"),
    made(id="u", name="Ba"),
    made(input={"a": 2}),
    made(input={"a": "\ud800"}),
    made(text=""),
    made(text="a"),
    made(text="\ud800"),
    made(text="7aCA"),  # the same in base64
    made(uuid="\ud800"),
    made(content="a"),
    made(content=["a"]),
]


def test_records_are_known_by_all_that_is_read_of_them() -> None:
    found = [record_id(line_from(json.loads(json.dumps(record)))) for record in DIFFERENT]
    assert None not in found
    assert len(set(found)) == len(found)
    assert found == [record_id(line_from(record)) for record in DIFFERENT]
    plain = {at: json.dumps(record).encode() for at, record in enumerate(DIFFERENT) if "\\ud" not in json.dumps(record)}
    assert [record_id(line_decoder().decode(line)) for line in plain.values()] == [found[at] for at in plain]
