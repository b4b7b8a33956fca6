"""What the cache gives is what an audit gives; it is trusted only while nothing has changed, and fails nobody."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import loopaudit
from loopaudit.audit.cache import content as identity
from loopaudit.audit.cache import keys
from loopaudit.audit.cache.cache import LEAST, Cache
from loopaudit.audit.cache.codec import pack, unpack
from loopaudit.audit.cache.folder import default_folder, folder_for
from loopaudit.audit.cache.store import MAX_AGE, TRIM_EVERY, Store
from loopaudit.audit.inputs import remote
from loopaudit.audit.inputs.discover import discover
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.one import audit_input
from loopaudit.audit.run import audit
from loopaudit.audit.session import FileAudit
from loopaudit.audit.workers import Workers
from loopaudit.compare.run import compare
from loopaudit.config.options import Columns, Options
from loopaudit.config.selection import select
from loopaudit.core.counts import Counts
from loopaudit.core.findings import Action, Finding, Problem
from loopaudit.core.report import PolicyResult, Report, TranscriptResult
from loopaudit.hindsight.labels import LabelledTranscript, Labels, judge_of
from loopaudit.policies.contract import Selected
from loopaudit.readers.registry import readers
from loopaudit.reports.comparison.explain import explain
from loopaudit.reports.contract import Rendering
from loopaudit.reports.json_v1.comparison import comparison_json
from loopaudit.reports.kit.console.output import plain
from loopaudit.reports.registry import reports
from tests.audit.test_pool import Names
from tests.cli.test_program import CATCH, run
from tests.corpus import CORPUS
from tests.gate.files import HEALTHY, LOOP, Folder, lines, write
from tests.places import ROOT, SAMPLES

pytestmark = pytest.mark.slow  # starts the program and its workers many times

ALL = Options(policies=select(["all"]))
FEW = Options(policies=select(["atomcode"]))


def kept(folder: Path) -> Cache:
    return Cache(folder / "cache", asked=True)


def audited(path: Path, folder: Path, options: Options = FEW) -> tuple[Report, Cache]:
    """An audit with the cache in a folder, and the cache after it."""
    cache = kept(folder)
    return audit([str(path)], options, Workers(cache=cache)), cache


def entries(folder: Path) -> list[Path]:
    return sorted(p for p in (folder / "cache").rglob("*") if p.is_file() and p.parents[1].name == "results")


def padded(path: Path, size: int) -> Path:
    """The transcript with a blank line of so many bytes behind it."""
    with path.open("ab") as file:
        file.write(b" " * size + b"\n")
    return path


@pytest.fixture
def transcripts(tmp_path: Path) -> Path:
    """A folder with three transcripts and a file that is none."""
    folder = tmp_path / "transcripts"
    write(folder / "loop.jsonl", LOOP)
    write(folder / "healthy.jsonl", HEALTHY)
    write(folder / "more" / "healthy.jsonl", HEALTHY[:2])
    (folder / "notes.txt").write_text("nothing of the kind\n")
    return folder


# -- a result is the same, whether it was kept or not -----------------------------------------


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], tuple[Report, Report]]:
    """An audit of everything in a folder, fresh and out of the cache."""
    folder = tmp_path_factory.mktemp("twice")
    done: dict[Path, tuple[Report, Report]] = {}

    def both(path: Path) -> tuple[Report, Report]:
        if path not in done:
            options = ALL if path == SAMPLES else Options(policies=select(["mission", "gptme", "openclaw"]))
            fresh, _ = audited(path, folder, options)
            again, cache = audited(path, folder, options)
            assert cache.taken == cache.looked_up - len(again.failures) > 10
            done[path] = fresh, again
        return done[path]

    return both


@pytest.mark.parametrize("path", [SAMPLES, CORPUS], ids=["samples", "corpus"])
@pytest.mark.parametrize("id", reports().ids())
def test_every_report_is_the_same(id: str, path: Path, twice: Callable[[Path], tuple[Report, Report]]) -> None:
    if id == "parquet":
        pytest.importorskip("pyarrow")
    if not path.is_dir():
        pytest.skip(f"there is no {path}")
    fresh, again = twice(path)
    reporter = reports().get(id)
    assert reporter.render(again, Rendering()) == reporter.render(fresh, Rendering())


@pytest.mark.parametrize("path", [SAMPLES, CORPUS], ids=["samples", "corpus"])
def test_every_result_comes_back_as_it_was(path: Path, twice: Callable[[Path], tuple[Report, Report]]) -> None:
    if not path.is_dir():
        pytest.skip(f"there is no {path}")
    fresh, again = twice(path)
    assert repr(again) == repr(fresh)


def test_a_comparison_is_the_same_with_all_that_hindsight_says(tmp_path: Path) -> None:
    def compared(cache: Cache | None) -> Iterator[object]:
        found = compare([str(SAMPLES)], ALL, Workers(cache=cache))
        yield comparison_json(found, "f1", None)
        yield found.nulls
        for transcript in found.report.transcripts:
            judge = judge_of(transcript)
            assert judge is not None
            yield [judge.why(number) for number in range(1, transcript.counts.calls + 1)]
        for call in (1, 5, 12):
            yield plain(partial(explain, found, "atomcode", call), 100)

    without = list(compared(None))
    assert list(compared(kept(tmp_path))) == without
    cache = kept(tmp_path)
    assert list(compared(cache)) == without
    assert cache.taken > 10


def test_labels_do_not_get_into_the_cache(tmp_path: Path, transcripts: Path) -> None:
    path = str(transcripts / "loop.jsonl")
    labels = Labels([LabelledTranscript(path=path, session="", calls=5, loops=[], redundant=[])])
    plain = comparison_json(compare([path], FEW), "f1", None)
    for _ in range(2):
        labelled = compare([path], FEW, Workers(cache=kept(tmp_path)), labels=labels)
        assert labelled.judged_by == "labels" and labelled.report.transcripts[0].episodes == []
        assert comparison_json(compare([path], FEW, Workers(cache=kept(tmp_path))), "f1", None) == plain


def result(**details: Any) -> FileAudit:
    finding = Finding(
        policy="p", action=Action.BLOCK, own_word="", rule="r", count=1, tool="t", session="s", agent="", turn=1,
        batch=1, call=1, calls=(1, 1), whole_batch=False, line=1, arguments="", message="", details=details or None,
    )  # fmt: skip
    transcript = TranscriptResult("name", "s", "f", Counts(calls=1, started=0.0, ended=1.0), [], [], {"t": 1}, [])
    transcript.policies.append(PolicyResult("p", "p", {"words": ["a"]}, findings=[finding]))
    transcript.problems.append(Problem("kind", "message"))
    return FileAudit([transcript])


def test_a_result_takes_the_name_of_the_input_it_is_for() -> None:
    made = result(text="ü\0", number=1 << 60, float=1.0, none=None, nested={"a": [1, True]})
    made.transcripts[0].path = "name#row 3"
    data = pack(made, "name")
    assert data is not None
    back = unpack(data, "other")
    assert back is not None and back.transcripts[0].path == "other#row 3"
    assert pack(made, "elsewhere") is None


@pytest.mark.parametrize(
    "details",
    [{"pair": (1, 2)}, {"half": "\ud800"}, {"huge": 1 << 70}, {"path": Path("x")}, {"set": {1}}],
    ids=lambda details: next(iter(details)),
)
def test_what_would_not_come_back_as_it_was_is_not_kept(details: dict[str, Any]) -> None:
    assert pack(result(**details), "name") is None


def test_bytes_that_are_no_result_are_none() -> None:
    data = pack(result(), "name")
    assert data is not None
    for wrong in (b"", b"x", data[:-5], data[1:]):
        assert unpack(wrong, "name") is None


# -- what is read again, and what is not ----------------------------------------------------------


def test_only_what_changed_is_read_again(tmp_path: Path, transcripts: Path) -> None:
    fresh, cache = audited(transcripts, tmp_path)
    assert (cache.taken, cache.looked_up) == (0, 4)
    again, cache = audited(transcripts, tmp_path)
    assert (cache.taken, cache.looked_up) == (4, 4)
    assert repr(again) == repr(fresh)
    write(transcripts / "healthy.jsonl", HEALTHY * 2)
    write(transcripts / "new.jsonl", LOOP[:3])
    grown, cache = audited(transcripts, tmp_path)
    assert (cache.taken, cache.looked_up) == (3, 5)
    assert repr(grown) == repr(audit([str(transcripts)], FEW))


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_report_does_not_depend_on_what_is_known(tmp_path: Path, transcripts: Path, jobs: int) -> None:
    whole = repr(audit([str(transcripts)], FEW))
    audit([str(transcripts / "more"), str(transcripts / "loop.jsonl")], FEW, Workers(cache=kept(tmp_path)))
    told: list[str] = []
    cache = kept(tmp_path)
    report = audit([str(transcripts)], FEW, Workers(jobs, cache=cache, progress=Names(told)))
    assert repr(report) == whole
    assert cache.taken == 2
    assert sorted(told) == sorted(item.name for item in discover([str(transcripts)]).inputs)


def test_equal_content_under_two_names_is_told_under_both(tmp_path: Path, transcripts: Path) -> None:
    audited(transcripts / "loop.jsonl", tmp_path)
    shutil.copy(transcripts / "loop.jsonl", transcripts / "same.jsonl")
    same, cache = audited(transcripts / "same.jsonl", tmp_path)
    assert cache.taken == 1
    assert repr(same) == repr(audit([str(transcripts / "same.jsonl")], FEW))


def test_no_format_looks_at_the_name_of_a_file(tmp_path: Path) -> None:
    """Else results could not be kept by content alone."""
    paths = [SAMPLES, CORPUS] if CORPUS.is_dir() else [SAMPLES]
    for number, item in enumerate(discover([str(path) for path in paths]).inputs):
        assert item.path is not None
        if item.path.is_file() and item.size < 200_000:
            other = tmp_path / f"{number}.other"
            shutil.copy(item.path, other)
            one, two = audit_input(item, FEW), audit_input(replace(item, path=other), FEW)
            assert repr(two).replace(other.as_posix(), item.name) == repr(one)


def test_a_folder_that_is_a_transcript(tmp_path: Path) -> None:
    folder = tmp_path / "conversation"
    (folder / "events").mkdir(parents=True)
    (folder / "base_state.json").write_text(json.dumps({"id": "c1", "agent": {"llm": {"model": "m"}}}))
    action = {"kind": "TerminalAction", "command": "ls"}
    given = {"id": "call_1", "name": "terminal", "arguments": '{"command": "ls"}'}
    for number, event in enumerate(
        [
            {"kind": "MessageEvent", "source": "user", "llm_message": {"content": [{"type": "text", "text": "go"}]}},
            {"kind": "ActionEvent", "source": "agent", "action": action, "tool_call": given, "tool_name": "terminal"},
        ]
    ):
        (folder / "events" / f"event-{number:05}-{number}.json").write_text(json.dumps({"id": str(number), **event}))
    fresh, cache = audited(folder, tmp_path)
    assert (len(fresh.transcripts), cache.taken, cache.looked_up) == (1, 0, 1)
    again, cache = audited(folder, tmp_path)
    assert repr(again) == repr(fresh) and cache.taken == 1
    (folder / "events" / "event-00001-1.json").unlink()
    _, cache = audited(folder, tmp_path)
    assert cache.taken == 0


def test_standard_input_and_pipes_are_not_kept(tmp_path: Path) -> None:
    done = run("replay", "-", "--cache", "--cache-dir", tmp_path / "cache", stdin=CATCH.read_bytes())
    assert done.returncode == 0, done.stderr
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    cache = kept(tmp_path)
    assert cache.open(FEW, []) and cache.get(Input(pipe, named=True)) is None
    assert not entries(tmp_path)


def test_a_part_of_a_file_is_not_the_file(tmp_path: Path, transcripts: Path) -> None:
    cache = kept(tmp_path)
    whole = Input(transcripts / "loop.jsonl", named=True)
    parts = [replace(whole, part=number) for number in range(2)]
    assert cache.open(FEW, [])
    for item in (whole, *parts):
        assert cache.get(item) is None
        cache.put(item, audit_input(whole, FEW))
    cache.close()
    # The file is so young that a part of it is not kept: reading it all for each part would take long.
    assert cache.open(FEW, []) and [cache.get(item) is not None for item in (whole, *parts)] == [True, False, False]


# -- when the content of a file is taken as known ---------------------------------------------------


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the files whose bytes are read to tell their content."""
    read: list[str] = []
    real = identity.digest_of

    def digest_of(path: Path) -> bytes:
        read.append(path.name)
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(identity, "digest_of", digest_of)
        yield read


def test_an_unchanged_file_is_not_read_at_all(
    tmp_path: Path, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "SETTLED", 0)
    time.sleep(0.05)
    with counted(monkeypatch) as read:
        audited(transcripts, tmp_path)
    assert sorted(read) == ["healthy.jsonl", "healthy.jsonl", "loop.jsonl", "notes.txt"]
    os.utime(transcripts / "loop.jsonl")
    time.sleep(0.05)
    with counted(monkeypatch) as read:
        _, cache = audited(transcripts, tmp_path)
    assert read == ["loop.jsonl"] and cache.taken == 4
    with counted(monkeypatch) as read:
        _, cache = audited(transcripts, tmp_path)
    assert read == [] and cache.taken == 4


def test_what_other_processes_audit_is_read_by_them(
    tmp_path: Path, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = repr(audit([str(transcripts)], FEW))
    for taken, looked_up in ((0, 4), (4, 4), (3, 5)):
        cache = kept(tmp_path)
        with counted(monkeypatch) as read:
            report = audit([str(transcripts)], FEW, Workers(2, cache=cache))
        assert read == []
        assert (cache.taken, cache.looked_up, cache.trouble) == (taken, looked_up, None)
        assert repr(report) == whole
        if taken:
            write(transcripts / "healthy.jsonl", HEALTHY * 2)
            write(transcripts / "new.jsonl", LOOP[:3])
            whole = repr(audit([str(transcripts)], FEW))
    again, cache = audited(transcripts, tmp_path)
    assert repr(again) == whole and cache.taken == 5


def test_other_processes_learn_the_index_and_tell_it(tmp_path: Path, transcripts: Path) -> None:
    time.sleep(keys.SETTLED / 1e9 + 0.1)
    for taken in (0, 4):
        cache = kept(tmp_path)
        audit([str(transcripts)], FEW, Workers(2, cache=cache))
        assert cache.taken == taken
    assert cache.open(FEW, [])
    inputs = discover([str(transcripts)]).inputs
    assert len(inputs) == 4 and all(map(cache.is_met, inputs))


def test_a_folder_that_cannot_be_written_is_reported_by_other_processes(tmp_path: Path, transcripts: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    cache = kept(tmp_path)
    report = audit([str(transcripts)], FEW, Workers(2, cache=cache))
    assert repr(report) == repr(audit([str(transcripts)], FEW))
    assert cache.taken == 0 and cache.trouble


def test_times_of_a_file_just_written_are_not_trusted(
    tmp_path: Path, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = transcripts / "loop.jsonl"
    audited(path, tmp_path)
    with counted(monkeypatch) as read:
        assert audited(path, tmp_path)[1].taken == 1
    assert read == ["loop.jsonl"]
    before = path.stat()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"beta", b"zeta"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed, cache = audited(path, tmp_path)
    assert cache.taken == 0
    assert repr(changed) == repr(audit([str(path)], FEW))


@pytest.mark.parametrize("settled", [False, True], ids=["young", "old"])
def test_a_result_is_not_kept_for_what_was_written_meanwhile(
    tmp_path: Path, transcripts: Path, monkeypatch: pytest.MonkeyPatch, settled: bool
) -> None:
    path = transcripts / "loop.jsonl"
    if settled:
        monkeypatch.setattr(identity, "SETTLED", 0)
        time.sleep(0.05)
    cache = kept(tmp_path)
    item = Input(path, named=True)
    assert cache.open(FEW, []) and cache.get(item) is None
    write(path, HEALTHY)
    cache.put(item, audit_input(item, FEW))
    assert not entries(tmp_path)


def test_row_groups_of_a_table_are_kept_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(identity, "SETTLED", 0)
    rows = [json.dumps([json.loads(line) for line in lines(steps)]) for steps in (LOOP, HEALTHY, LOOP[:3])]
    table = tmp_path / "runs.parquet"
    parquet.write_table(arrow.table({"id": ["a", "b", "c"], "messages": rows}), table, row_group_size=2)
    time.sleep(0.05)
    fresh, cache = audited(table, tmp_path)
    assert (len(fresh.transcripts), cache.taken, cache.looked_up) == (3, 0, 2)
    again, cache = audited(table, tmp_path)
    assert repr(again) == repr(fresh) and cache.taken == 2


def test_an_input_elsewhere_is_known_by_what_its_server_tells(
    tmp_path: Path, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str | None] = []
    monkeypatch.setattr(remote, "checksum", lambda url: told.pop(0))
    item = Input(None, named=True, url="s3://bucket/run.jsonl")
    found = audit_input(Input(transcripts / "loop.jsonl", named=True), FEW)
    found.transcripts[0].path = item.name

    def asked(*sums: str | None) -> FileAudit | None:
        told[:] = sums
        cache = kept(tmp_path)
        assert cache.open(FEW, [item])
        known = cache.get(item)
        if known is None:
            cache.put(item, found)
        assert not told
        return known

    assert asked("one", "changed while it was read") is None
    assert asked(None) is None
    assert asked("one", "one") is None
    assert repr(asked("one")) == repr(found)
    assert asked("two", "two") is None


# -- what else decides on a result -----------------------------------------------------------------


OTHER: dict[str, Any] = {
    "policies": select(["atomcode(threshold=2)"]),
    "mode": "shadow",
    "map_names": False,
    "failure_level": "text",
    "format_id": "openai-chat",
    "schemas": {"Grep": {"type": "object"}},
    "hindsight": False,
    "max_expanded": 1 << 20,
    "ledger": True,
    "tool_kinds": {"Grep": "read"},
    "columns": Columns(transcript="messages"),
    "policy_timeout": 5.0,
}


@pytest.mark.parametrize("name", Options.__struct_fields__)
def test_every_option_is_in_the_key(name: str) -> None:
    assert name in OTHER, f"give another value of {name}"
    assert keys.options_key(FEW) != keys.options_key(replace(FEW, **{name: OTHER[name]}))


def test_label_and_order_of_policies_are_in_the_key() -> None:
    (one,) = select(["atomcode"])
    (two,) = select(["koda"])
    found = {
        keys.options_key(Options(policies=chosen))
        for chosen in ([one, two], [two, one], [one], [Selected("strict", one.policy, one.params)])
    }
    assert len(found) == 4 and None not in found


def test_equal_options_have_equal_keys_whatever_the_hash_seed() -> None:
    code = (
        "from loopaudit.audit.cache.keys import options_key, _digest\n"
        "from loopaudit.audit.one import Options\n"
        "from loopaudit.config.selection import select\n"
        "print(options_key(Options(policies=select(['all']))).hex(), _digest({'a': {'x', 'y', 'z'}}).hex())"
    )
    told = {
        subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True,
                       check=True, cwd=ROOT).stdout
        for seed in ("1", "3")
    }  # fmt: skip
    assert len(told) == 1


def test_foreign_code_is_never_kept(tmp_path: Path, transcripts: Path) -> None:
    (known,) = select(["atomcode"])
    foreign = Selected("atomcode", replace(known.policy, title="another"), known.params)
    _, cache = audited(transcripts, tmp_path, Options(policies=[foreign]))
    assert cache.refused and not (tmp_path / "cache").exists()
    assert keys.options_key(replace(FEW, format_id="somebodys-format")) is None


def test_what_no_format_claims_is_not_kept_where_formats_are_installed(
    tmp_path: Path, transcripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audited(transcripts, tmp_path)
    assert audited(transcripts, tmp_path)[1].taken == 4
    cache = kept(tmp_path)
    assert cache.open(FEW, [])
    inputs = discover([str(transcripts / "more"), str(transcripts / "loop.jsonl")]).inputs
    monkeypatch.setattr(readers(), "_offered", {"somebodys-format": None})
    assert [cache.get(item) is not None for item in inputs] == [True, True]
    none = Input(transcripts / "notes.txt", named=False)
    assert cache.get(none) is None
    cache.put(none, FileAudit(ignored="not a transcript"))
    monkeypatch.undo()
    (transcripts / "notes.txt").write_text("something else\n")
    assert cache.get(none) is None


def test_an_edited_program_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "SETTLED", 0)
    package = tmp_path / "package"
    (package / "policies").mkdir(parents=True)
    (package / "policies" / "one.py").write_text("LIMIT = 3\n")
    (package / "a.py").write_text("pass\n")
    store = Store(tmp_path / "cache")

    def code() -> bytes:
        time.sleep(0.02)
        found = keys.code_of(store, package)
        assert keys.code_of(store, package) == found
        assert keys.code_of(Store(tmp_path / "another"), package) == found
        return found

    first = code()
    os.utime(package / "a.py", (1, 1))
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert code() == first  # an installation on another day
    (package / "policies" / "one.py").write_text("LIMIT = 4\n")
    second = code()
    (package / "policies" / "one.py").rename(package / "policies" / "two.py")
    assert len({first, second, code()}) == 3


def test_a_program_just_edited_is_read_again(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    store = Store(tmp_path / "cache")
    (package / "a.py").write_text("1")
    before = (package / "a.py").stat()
    first = keys.code_of(store, package)
    (package / "a.py").write_text("2")
    os.utime(package / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert keys.code_of(store, package) != first


def test_a_file_that_the_user_names_fails_though_it_was_ignored_in_a_folder(tmp_path: Path, transcripts: Path) -> None:
    audited(transcripts, tmp_path)
    for _ in range(2):
        report, cache = audited(transcripts / "notes.txt", tmp_path)
        assert [f.exit_code for f in report.failures] == [4] and cache.taken == 0


@pytest.mark.parametrize("status", ["crashed", "failed"])
def test_failures_are_seen_again(tmp_path: Path, transcripts: Path, status: str) -> None:
    item = Input(transcripts / "loop.jsonl", named=True)
    found = audit_input(item, FEW)
    if status == "crashed":
        found.transcripts[0].policies[0].status = "crashed"
    else:
        found = audit_input(Input(transcripts / "notes.txt", named=True), FEW)
        assert found.failure is not None
    cache = kept(tmp_path)
    assert cache.open(FEW, []) and cache.get(item) is None
    cache.put(item, found)
    assert not entries(tmp_path)


# -- the folder ------------------------------------------------------------------------------------


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flip(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.mark.parametrize("damage", [_cut, _flip, lambda _: b"", lambda _: b"x" * 100], ids=["cut", "bit", "0", "x"])
def test_damaged_files_count_as_absent_and_are_written_anew(
    tmp_path: Path, transcripts: Path, damage: Callable[[bytes], bytes]
) -> None:
    fresh, _ = audited(transcripts, tmp_path)
    for file in (tmp_path / "cache").rglob("*"):
        if file.is_file():
            file.write_bytes(damage(file.read_bytes()))
    again, cache = audited(transcripts, tmp_path)
    assert repr(again) == repr(fresh) and cache.taken == 0 and cache.trouble is None
    healed, cache = audited(transcripts, tmp_path)
    assert repr(healed) == repr(fresh) and cache.taken == 4


def _replaced_by_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _replaced_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _replaced_by_link(file: Path) -> None:
    (file.parent / "elsewhere").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to("elsewhere")


FOREIGN: dict[str, Callable[[Path], object]] = {
    "others may write into it": lambda file: file.chmod(0o602),
    "the group may": lambda file: file.chmod(0o620),
    "a pipe": _replaced_by_pipe,
    "a link": _replaced_by_link,
    "a folder": _replaced_by_folder,
    "another owner": lambda file: os.chown(file, 65534, -1),
}
AS_ROOT = pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="needs to give files away")


@pytest.mark.skipif(os.name != "posix", reason="needs the owners and permissions of POSIX")
@pytest.mark.parametrize("how", [pytest.param(how, marks=AS_ROOT if "owner" in how else ()) for how in FOREIGN])
def test_an_entry_that_others_may_have_written_counts_as_absent(tmp_path: Path, transcripts: Path, how: str) -> None:
    fresh, _ = audited(transcripts, tmp_path)
    for file in entries(tmp_path):
        FOREIGN[how](file)
    again, cache = audited(transcripts, tmp_path)
    assert repr(again) == repr(fresh) and cache.taken == 0
    if how != "a folder":  # which nobody takes out of the way; the run goes on without the cache
        healed, cache = audited(transcripts, tmp_path)
        assert repr(healed) == repr(fresh) and cache.taken == 4


@pytest.mark.skipif(os.name != "posix", reason="needs the owners and permissions of POSIX")
@pytest.mark.parametrize("how", ["others may write into it", pytest.param("another owner", marks=AS_ROOT)])
def test_a_folder_that_others_may_write_into_is_not_used(folder: Folder, how: str) -> None:
    write(folder / "loop.jsonl", LOOP)
    arguments = ("replay", "loop.jsonl", "--cache", "--cache-dir", "mine", "--report", "json")
    usual = folder.run(*arguments)
    FOREIGN[how](folder / "mine/v1")
    before = sorted((folder / "mine").rglob("*"))
    done = folder.run(*arguments)
    assert (done.code, done.out) == (0, usual.out)
    (line,) = done.err.splitlines()
    assert line.startswith("loopaudit: warning: the cache is not used: mine/v1 belongs to others, or others may write")
    assert sorted((folder / "mine").rglob("*")) == before


def test_folders_and_files_are_for_their_owner_alone(tmp_path: Path, transcripts: Path) -> None:
    before = os.umask(0)
    try:
        audited(transcripts, tmp_path)
    finally:
        os.umask(before)
    own = [tmp_path / "cache", *(tmp_path / "cache" / "v1").rglob("*")]
    assert {stat.S_IMODE(p.stat().st_mode) for p in own if p.is_dir()} == {0o700}
    assert {stat.S_IMODE(p.stat().st_mode) for p in own if p.is_file()} == {0o600}
    assert (tmp_path / "cache" / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"


def test_a_folder_of_the_users_gets_nothing_but_ours_and_keeps_its_own(folder: Folder) -> None:
    write(folder / "loop.jsonl", LOOP)
    folder.write("mine/notes.txt", "mine")
    assert folder.run("replay", "loop.jsonl", "--cache", "--cache-dir", "mine").code == 0
    assert sorted(p.name for p in (folder / "mine").iterdir()) == ["notes.txt", "v1"]
    assert folder.run("cache", "clear", "--cache-dir", "mine").code == 0
    assert [p.name for p in (folder / "mine").rglob("*")] == ["notes.txt"]


def test_where_nothing_can_be_written_one_warning_is_all(folder: Folder) -> None:
    write(folder / "loop.jsonl", LOOP)
    folder.write("file", "in the way")
    done = folder.run("replay", "loop.jsonl", "--cache", "--cache-dir", "file/cache", "--report", "json")
    assert (done.code, done.out) == (0, folder.run("replay", "loop.jsonl", "--report", "json").out)
    (line,) = done.err.splitlines()
    assert line.startswith("loopaudit: warning: the cache cannot be written") and "not a directory" in line


def test_a_cache_cleared_by_another_process_is_made_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep_result("ab" * 20, b"one")
    Store(tmp_path).clear()
    assert store.result("ab" * 20) is None
    store.keep_result("ab" * 20, b"two")
    assert store.result("ab" * 20) == b"two" and store.trouble is None


def test_what_was_unused_for_longest_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    now = time.time()
    names = [f"{number:02}" * 20 for number in range(20)]
    for age, name in enumerate(names):
        store.keep_result(name, bytes(3000))
        os.utime(tmp_path / "v1" / "results" / name[:2] / name[2:], (now, now - 3600 * (age + 2)))
    assert store.result(names[19]) is not None  # which is a use
    store.trim(10 * 4096)
    assert [name for name in names if store.result(name) is not None] == [*names[:8], names[19]]
    assert store.size().results == 9


def test_the_long_unused_and_what_a_killed_run_left_goes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name in ("aa" * 20, "bb" * 20):
        store.keep_result(name, b"x")
    folder = tmp_path / "v1" / "results" / "aa"
    old = time.time() - TRIM_EVERY - 60
    for name in (".draft-1.tmp", ".draft-2.tmp"):
        (folder / name).write_bytes(b"half")
    os.utime(folder / ".draft-1.tmp", (old, old))
    os.utime(folder / ("aa" * 19), (time.time() - MAX_AGE - 60,) * 2)
    store.tidy()
    assert [p.name for p in folder.iterdir()] == [".draft-2.tmp"]
    assert store.result("bb" * 20) == b"x"


def test_two_runs_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "loopaudit", "replay", SAMPLES, "--report", "json", "--cache", "--cache-dir"]
    both = [
        subprocess.Popen([*map(str, command), str(tmp_path / "cache")], cwd=ROOT, stdout=subprocess.PIPE, stderr=-1)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=120) for process in both]
    assert told[0][0] == told[1][0] == run("replay", SAMPLES, "--report", "json").stdout
    assert not any(b"warning" in errors for _, errors in told)
    _, cache = audited(SAMPLES, tmp_path, Options(policies=select(["mission"])))
    assert cache.taken == cache.looked_up > 10


def test_the_place_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    home = Path("/home/me")
    assert default_folder({}, "linux") == home / ".cache" / "loopaudit"
    assert default_folder({"XDG_CACHE_HOME": "relative"}, "linux") == home / ".cache" / "loopaudit"
    assert default_folder({"XDG_CACHE_HOME": "/x"}, "darwin") == Path("/x/loopaudit")
    assert default_folder({}, "darwin") == home / "Library" / "Caches" / "loopaudit"
    assert default_folder({"LOCALAPPDATA": "/local"}, "win32") == Path("/local/loopaudit/cache")
    assert default_folder({}, "win32") == home / "AppData" / "Local" / "loopaudit" / "cache"
    given = {"LOOPAUDIT_CACHE_DIR": "/environment", "XDG_CACHE_HOME": "/x"}
    assert folder_for(Path("o"), Path("c"), given) == Path("o")
    assert folder_for(None, Path("c"), given) == Path("/environment")
    assert folder_for(None, Path("c"), {}) == Path("c")
    assert folder_for(None, None, {"XDG_CACHE_HOME": "/x"}) == Path("/x/loopaudit")


# -- a run that is stopped ----------------------------------------------------------------------------


@pytest.mark.parametrize(("jobs", "finished"), [(1, 2), (2, 4)])
def test_a_killed_run_is_taken_up_where_it_was(tmp_path: Path, jobs: int, finished: int) -> None:
    """The third input is a pipe that nobody writes into: the run stands there until it is killed.

    Several processes begin with the largest inputs; each result is kept before the next one of its task is begun.
    """
    paths = [write(tmp_path / f"{number}.jsonl", LOOP[: number + 2]) for number in range(4)]
    for path in paths[:2]:
        padded(path, 9 << 20)  # a task of its own for each process
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    options = ["--cache", "--cache-dir", str(tmp_path / "cache"), "--report", "json", "--jobs", str(jobs)]
    names = [str(path) for path in (*paths[:2], pipe, *paths[2:])]

    def whole() -> list[Path]:
        return [path for path in entries(tmp_path) if path.suffix != ".tmp"]

    running = subprocess.Popen(
        [sys.executable, "-m", "loopaudit", "replay", *names, *options],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        until = time.monotonic() + 60
        while len(whole()) < finished and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert len(whole()) == finished
    assert not list((tmp_path / "cache").rglob("*.tmp"))
    done = run("replay", *paths, *options)
    assert done.stderr == f"{finished} of 4 inputs unchanged, taken from the cache\n".encode()
    assert done.stdout == run("replay", *paths, "--no-cache", "--report", "json").stdout


# -- the program ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["replay", "compare", "label"])
def test_little_to_read_leaves_no_folder_and_much_is_kept_without_a_word(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("LOOPAUDIT_CACHE_DIR", str(folder / "cache"))
    write(folder / "small.jsonl", LOOP)
    padded(write(folder / "large.jsonl", LOOP), LEAST)
    assert folder.run(command, "small.jsonl").code == 0
    assert folder.run(command, "large.jsonl", "--no-cache").code == 0
    assert not (folder / "cache").exists()
    first = folder.run(command, "large.jsonl")
    assert len(entries(folder.path)) == 1
    again = folder.run(command, "large.jsonl")
    assert (again.out, again.err) == (first.out, "")
    assert "1 of 1 input unchanged" in folder.run(command, "large.jsonl", "--cache").err


def test_a_check_uses_it_only_if_asked(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder / "cache"
    monkeypatch.setenv("LOOPAUDIT_CACHE_DIR", str(place))
    padded(write(folder / "large.jsonl", HEALTHY), LEAST)
    assert folder.check("large.jsonl", "--max-wrong", "0").code == 0
    assert folder.run("baseline", "large.jsonl", "-o", "one.toml").code == 0
    assert not place.exists()
    assert folder.check("large.jsonl", "--max-wrong", "0", "--cache").code == 0
    assert "1 of 1 input unchanged" in folder.check("large.jsonl", "--max-wrong", "0", "--cache").err
    assert "1 of 1 input unchanged" in folder.run("baseline", "large.jsonl", "-o", "two.toml", "--cache").err
    assert (folder / "one.toml").read_bytes() == (folder / "two.toml").read_bytes()


def test_the_configuration_places_it_and_switches_it(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOPAUDIT_CACHE_DIR")
    padded(write(folder / "large.jsonl", HEALTHY), LEAST)
    folder.write("loopaudit.toml", 'cache = true\ncache-dir = ".loopaudit_cache"\n')
    assert folder.check("large.jsonl", "--max-wrong", "0").code == 0
    assert (folder / ".loopaudit_cache" / "v1").is_dir()
    assert folder.run("cache", "dir").out == f"{folder / '.loopaudit_cache'}\n"
    assert "1 result" in folder.run("cache").out
    assert "removed 1 result" in folder.run("cache", "clear").out
    assert "0 results" in folder.run("cache", "info").out
    folder.write("loopaudit.toml", 'cache = false\ncache-dir = ".loopaudit_cache"\n')
    assert folder.run("replay", "large.jsonl").code == 0
    assert folder.check("large.jsonl", "--max-wrong", "0").code == 0
    assert "0 results" in folder.run("cache").out
    assert folder.run("replay", "large.jsonl", "--cache").code == 0
    assert "1 result" in folder.run("cache").out


def test_a_cache_in_a_collection_is_no_part_of_it(folder: Folder) -> None:
    write(folder / "runs" / "loop.jsonl", LOOP)
    told = [
        folder.run("replay", "runs", "--cache", "--cache-dir", "runs/.loopaudit_cache", "--report", "json").out
        for _ in range(2)
    ]
    assert told[0] == told[1] == folder.run("replay", "runs", "--no-cache", "--report", "json").out


def test_a_check_repeats_what_was_said_of_the_cache(folder: Folder) -> None:
    write(folder / "loop.jsonl", LOOP)
    done = folder.check("loop.jsonl", "--no-cache", "--max-firings", "0", "--report", "json")
    assert done.code == 1 and "--no-cache False" not in done.out + done.err and "--cache False" not in done.out


def test_a_policy_from_a_file_is_said_to_go_without(tmp_path: Path) -> None:
    assert run("new-policy", "my-guard", "--folder", tmp_path).returncode == 0
    place = tmp_path / "cache"
    done = run("replay", CATCH, "--policy-file", tmp_path / "my_guard.py", "--cache", "--cache-dir", place)
    assert done.returncode == 0 and b"warning: the cache is not used" in done.stderr
    assert not place.exists()


def test_a_wrong_word_for_the_cache_gets_a_hint() -> None:
    done = run("cache", "claer")
    assert done.returncode == 2 and b"clear" in done.stderr


# -- who else uses it ----------------------------------------------------------------------


def test_the_python_api_gives_the_same_with_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "run.jsonl", LOOP)
    plain = loopaudit.replay(path)
    assert not entries(tmp_path)
    assert loopaudit.replay(path, cache=tmp_path / "cache") == plain
    with monkeypatch.context() as patch:
        patch.setattr("loopaudit.audit.run.audit_input", None)  # nothing is read again
        assert loopaudit.replay(path, cache=str(tmp_path / "cache")) == plain
    monkeypatch.setenv("LOOPAUDIT_CACHE_DIR", str(tmp_path / "other"))
    assert loopaudit.replay(path, cache=True) == plain
    assert list((tmp_path / "other").rglob("*"))


def test_a_sweep_gives_the_same_with_the_cache(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{number}.jsonl", LOOP[: number + 2]) for number in range(4)]
    sweep = ["tune", "atomcode", *map(str, paths), "--param", "threshold=2..4", "--report", "json"]
    plain = run(*sweep)
    assert not entries(tmp_path)
    caching = ["--cache", "--cache-dir", str(tmp_path / "cache")]
    first, second = run(*sweep, *caching), run(*sweep, *caching)
    assert plain.stdout == first.stdout == second.stdout
    assert b"4 of 4 inputs unchanged" in second.stderr
