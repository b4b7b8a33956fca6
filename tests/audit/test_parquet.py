"""Parquet in: a transcript a row or a message a row, a row group at a time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from loopaudit.audit.inputs import parquet
from loopaudit.audit.inputs.discover import discover
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.inputs.tables import opened
from loopaudit.audit.inputs.tables.arrow import rows_of
from loopaudit.audit.run import audit
from loopaudit.audit.workers import Workers
from loopaudit.config.options import Columns
from loopaudit.core.errors import ExitCode
from loopaudit.core.report import Report
from tests.audit.tables import FILES, OPTIONS, audited, chat, message_columns, names, outcome, write

pa = pytest.importorskip("pyarrow")


def replayed(*paths: str, jobs: int = 1, **columns: str) -> Report:
    return audit(paths, replace(OPTIONS, columns=Columns(**columns)), Workers(jobs))


TEXTS = [name for name in FILES if not name.endswith("damaged.jsonl")]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6), st.integers(1, 4), st.booleans(), st.booleans())
def test_rows_give_what_files_give(tmp_path: Path, chosen: list[str], group: int, binary: bool, named: bool) -> None:
    values = [FILES[name].read_bytes() for name in chosen]
    columns: dict[str, Any] = {
        "score": [0.5] * len(chosen),
        "log": pa.array(values, pa.binary()) if binary else [value.decode() for value in values],
    }
    if named:
        columns["id"] = [f"{number}-{name}" for number, name in enumerate(chosen)]
    report = replayed(write(tmp_path / "runs.parquet", columns, group=group))
    assert not report.failures and not report.ignored
    assert outcome(report) == audited(*chosen)
    places = [f"{n}-{name}" if named else f"row {n + 1}" for n, name in enumerate(chosen)]
    assert list(dict.fromkeys(t.path.partition("#")[2] for t in report.transcripts)) == places


def test_every_sample_at_once_with_any_number_of_processes(tmp_path: Path) -> None:
    file = write(tmp_path / "all.parquet", {"text": [FILES[name].read_text() for name in FILES]}, group=9)
    found = discover([file]).inputs
    assert [item.part for item in found] == list(range(len(found))) and len(found) > 4
    report = replayed(file, jobs=2)
    assert outcome(report) == audited(*FILES) == outcome(replayed(file))


def test_messages_as_structs_with_tools_beside(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "grep", "parameters": '{"type": "object"}'}}]
    file = write(tmp_path / "a.parquet", {"messages": [chat(9), chat(2)], "tools": [tools, tools], "n": [1, 2]})
    report = replayed(file)
    assert names(report) == ["a.parquet#row 1", "a.parquet#row 2"]
    document = tmp_path / "a.json"
    document.write_text(json.dumps({"messages": chat(9), "tools": tools}))
    assert outcome(replayed(str(document)))[0]["policies"] == outcome(report)[0]["policies"]
    assert discover([file]).inputs[0].layout.read == ("messages", "tools")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("messages", chat(9)),
        ("conversation", json.dumps(chat(9))),
        ("anything", json.dumps({"messages": chat(9)})),
        ("lines", [json.dumps(message) for message in chat(9)]),
        ("payload", {"messages": chat(9)}),
        ("jsonl", "\n".join(json.dumps(message) for message in chat(9))),
        ("conversations", [{"from": "human", "value": "go"}, {"from": "gpt", "value": "done"}]),
    ],
)
def test_the_column_is_found_by_what_is_in_it(tmp_path: Path, column: str, value: object) -> None:
    columns = {
        "question": ["why?", "how?"],
        "text": ["some words", "other words"],
        "vector": [[0.1, 0.2], [0.3]],
        "uid": [7, 8],
        column: [value, value],
    }
    report = replayed(write(tmp_path / "a.parquet", columns))
    assert names(report) == ["a.parquet#7", "a.parquet#8"] and not report.failures


def test_an_id_that_repeats_names_no_rows(tmp_path: Path) -> None:
    columns = {"messages": [chat(2), chat(3), chat(4)], "task_id": ["a", "a", "b"], "uid": ["x", "y", "z"]}
    file = write(tmp_path / "a.parquet", columns)
    assert names(replayed(file)) == ["a.parquet#x", "a.parquet#y", "a.parquet#z"]
    assert names(replayed(file, id="task_id")) == ["a.parquet#a", "a.parquet#a", "a.parquet#b"]


def conversations(*calls: int) -> list[tuple[str | None, list[dict[str, Any]]]]:
    return [(f"c{number}", chat(count)) for number, count in enumerate(calls)]


@pytest.mark.parametrize("group", [1, 3, 1000])
def test_a_message_a_row_over_the_borders_of_row_groups(tmp_path: Path, group: int) -> None:
    file = write(tmp_path / "a.parquet", message_columns(conversations(9, 2, 12)), group=group)
    found = discover([file]).inputs
    assert len(found) == 1 and found[0].part is None and found[0].size > 0
    report = replayed(file)
    assert names(report) == ["a.parquet#c0", "a.parquet#c1", "a.parquet#c2"]
    as_rows = [e for count in (9, 2, 12) for e in outcome(audit_chat(tmp_path, count), lines=False)]
    assert outcome(report, lines=False) == as_rows


def audit_chat(folder: Path, calls: int) -> Report:
    file = folder / f"{calls}.jsonl"
    file.write_text("\n".join(json.dumps(message) for message in chat(calls)))
    return replayed(str(file))


@pytest.mark.parametrize("kind", ["text", "struct"])
def test_a_record_a_row(tmp_path: Path, kind: str) -> None:
    name = "formats/qwen-code.jsonl"
    lines = FILES[name].read_text().splitlines()
    values = lines * 2 if kind == "text" else [json.loads(line) for line in lines] * 2
    ids = ["a"] * len(lines) + ["b"] * len(lines)
    file = write(tmp_path / "a.parquet", {"session": ids, "record": values}, group=2)
    report = replayed(file)
    assert list(dict.fromkeys(names(report))) == ["a.parquet#a", "a.parquet#b"]
    assert outcome(report, lines=kind == "text") == outcome(replayed(str(FILES[name])), lines=kind == "text") * 2


def test_a_role_may_be_a_fact_about_a_transcript(tmp_path: Path) -> None:
    columns = {"role": ["pilot", "pilot"], "session_id": ["a", "b"], "messages": [chat(4), chat(5, "ls")]}
    assert names(replayed(write(tmp_path / "a.parquet", columns))) == ["a.parquet#a", "a.parquet#b"]


@pytest.mark.parametrize(
    "columns",
    [
        {"instruction": ["add", "sum"], "input": ["1 2", "3"], "output": ["3", "3"], "id": ["a", "b"]},
        {"session_id": ["a", "a"], "vector": [[0.5], [0.5]], "n": [1, 2]},
        {"role": ["user", "user"], "content": ["a", "b"]},
    ],
)
def test_other_tables_are_not_taken_for_transcripts(tmp_path: Path, columns: dict[str, list[Any]]) -> None:
    report = replayed(write(tmp_path / "a.parquet", columns))
    assert not report.transcripts and "no column of it is recognised" in report.failures[0].message
    folder = replayed(str(tmp_path))
    assert folder.ignored == {"table without transcripts": 1} and not folder.failures


def test_a_group_of_ones_own(tmp_path: Path) -> None:
    columns = message_columns(conversations(9, 4))
    columns["who"] = columns.pop("conversation_id")
    file = write(tmp_path / "a.parquet", columns)
    unclear = replayed(file)
    assert not unclear.transcripts and "no column of it is recognised" in unclear.failures[0].message
    assert "who (string)" in (unclear.failures[0].hint or "")
    assert names(replayed(file, group_by="who")) == ["a.parquet#c0", "a.parquet#c1"]


def test_rows_that_do_not_stand_together_are_told(tmp_path: Path) -> None:
    two = conversations(4, 5)
    file = write(tmp_path / "a.parquet", message_columns([*two, two[0], (None, chat(3))]))
    report = replayed(file)
    assert names(report) == ["a.parquet#c0", "a.parquet#c1"]
    (failure,) = report.failures
    assert failure.rows == 2
    assert "c0: its rows do not stand together" in failure.message
    assert "row 30: nothing in the column conversation_id" in failure.message


def test_times_of_nanoseconds_and_maps_are_read(tmp_path: Path) -> None:
    columns: dict[str, Any] = message_columns(conversations(4))
    count = len(columns["role"])
    columns["timestamp"] = pa.array([datetime(2026, 1, 2, 3, 4, n) for n in range(count)], pa.timestamp("ns"))
    columns["extra"] = pa.array([[("k", n)] for n in range(count)], pa.map_(pa.string(), pa.int64()))
    report = replayed(write(tmp_path / "a.parquet", columns))
    assert report.transcripts[0].counts.duration == count - 1


def test_text_that_is_no_utf8_is_read_as_in_a_file(tmp_path: Path) -> None:
    broken = json.dumps({"messages": chat(9)}).encode().replace(b"nothing", b"noth\xffing", 1)
    raw = pa.array([broken, b"{}"], pa.binary())
    text = pa.StringArray.from_buffers(2, raw.buffers()[1], raw.buffers()[2])
    nested = pa.StructArray.from_arrays([text], ["x"])
    file = write(tmp_path / "a.parquet", {"messages": text, "nested": nested})
    report = replayed(file, transcript="messages")
    assert len(report.transcripts) == 1 and report.transcripts[0].counts.calls == 9
    failed = replayed(file, transcript="nested").failures[0]
    assert "row 1: cannot be decoded" in failed.message and failed.exit_code == ExitCode.INPUT


def test_bad_rows_are_one_problem_however_many_there_are(tmp_path: Path) -> None:
    good = json.dumps({"messages": chat(5)})
    values = [good, None, "rubbish", good, *["rubbish"] * 400, good]
    file = write(tmp_path / "bad.parquet", {"log": values}, group=7)
    report = replayed(file)
    assert names(report) == ["bad.parquet#row 1", "bad.parquet#row 4", "bad.parquet#row 405"]
    (failure,) = report.failures
    assert failure.rows == 402 and failure.exit_code == ExitCode.INPUT
    assert re.search(
        r"402 rows are no transcripts: row 2: there is nothing in the row; row 3: not a.*399 more", failure.message
    )
    assert not report.ignored
    in_folder = replayed(str(tmp_path))
    assert names(in_folder) == names(report) and not in_folder.failures
    assert in_folder.ignored == {"row that is no transcript": 402}


def test_partitioned_folders_are_folders(tmp_path: Path) -> None:
    for day in (1, 2):
        folder = tmp_path / "runs" / f"day={day}"
        folder.mkdir(parents=True)
        write(folder / "part-0.parquet", {"messages": [chat(day + 2)]})
        write(folder / "numbers.parquet", {"a": [1, 2]})
        write(folder / "none.parquet", {"messages": pa.array([], pa.string())})
    (tmp_path / "runs" / "plain.json").write_text(json.dumps(chat(2)))
    report = replayed(str(tmp_path / "runs"))
    shown = [t.path.partition("/runs/")[2] for t in report.transcripts]
    assert shown == ["plain.json", "day=1/part-0.parquet#row 1", "day=2/part-0.parquet#row 1"]
    assert report.ignored == {"table without transcripts": 2, "empty": 2} and not report.failures


def test_any_name_will_do(tmp_path: Path) -> None:
    write(tmp_path / "blob", {"messages": [chat(3)]})
    assert names(replayed(str(tmp_path / "blob"))) == names(replayed(str(tmp_path))) == ["blob#row 1"]
    assert [item.part for item in discover([str(tmp_path / "blob")]).inputs] == [0]


def test_a_table_is_not_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row group of much text: a page and a batch of it are in memory at a time, of the column that is needed."""
    big = json.dumps([{"role": "user", "content": "word " * 20_000}, *chat(3)])
    columns = {"messages": [big] * 60, "unused": ["x" * 1_000_000 + str(n) for n in range(60)]}
    file = write(tmp_path / "a.parquet", columns, use_dictionary=False, data_page_size=1 << 16, write_batch_size=4)
    del columns
    (item,) = discover([file]).inputs
    assert item.part == 0 and 6_000_000 < item.size < 7_000_000
    monkeypatch.setattr(opened, "BATCH_BYTES", 1 << 19)
    rows: list[int] = []

    def noted(batch: Any) -> Any:
        rows.append(batch.num_rows)
        return rows_of(batch)

    monkeypatch.setattr(parquet, "rows_of", noted)
    told: list[int] = []
    before = pa.total_allocated_bytes()
    peak = 0

    def progress(read: int) -> None:
        nonlocal peak
        told.append(read)
        peak = max(peak, pa.total_allocated_bytes() - before)

    done = parquet.audit_table(item, OPTIONS, progress)
    assert len(done.transcripts) == 60 and done.failure is None
    assert max(rows) <= 5 and sum(rows) == 60
    assert told == sorted(told) and told[-1] == item.size
    assert peak < 3_000_000


# -- what is wrong with files --------------------------------------------------------------


def test_a_damaged_file_is_told_and_the_rest_reported(tmp_path: Path) -> None:
    good = write(tmp_path / "good.parquet", {"messages": [chat(3)]})
    data = Path(good).read_bytes()
    (tmp_path / "cut.parquet").write_bytes(data[:-20])
    (tmp_path / "fake.parquet").write_bytes(b"PAR1 nothing")
    (tmp_path / "text.parquet").write_text("no parquet, whatever its name")
    report = replayed(str(tmp_path))
    assert names(report) == ["good.parquet#row 1"]
    assert [Path(f.path).name for f in report.failures] == ["cut.parquet", "fake.parquet"]
    assert report.ignored == {"not a transcript": 1}
    assert all("the parquet file is damaged" in f.message and f.exit_code == ExitCode.INPUT for f in report.failures)


def test_damage_inside_a_row_group_leaves_the_others(tmp_path: Path) -> None:
    texts = [json.dumps({"messages": chat(3 + n)}) for n in range(3)]
    path = tmp_path / "a.parquet"
    write(path, {"log": texts}, group=1, compression="zstd", use_dictionary=False)
    meta = pa.parquet.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    data[meta.data_page_offset : meta.data_page_offset + 8] = b"\xff" * 8
    path.write_bytes(data)
    report = replayed(str(path))
    assert names(report) == ["a.parquet#row 1", "a.parquet#row 3"]
    (failure,) = report.failures
    assert "damaged in row group 2, and what follows there is lost" in failure.message


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"transcript": "mesages"}, "--column mesages: no such column"),
        ({"id": "nope"}, "--id-column nope: no such column"),
        ({"group_by": "nope"}, "--group-by nope: no such column"),
    ],
)
def test_a_column_that_is_not_there(tmp_path: Path, columns: dict[str, Any], said: str) -> None:
    report = replayed(write(tmp_path / "a.parquet", {"messages": [chat(3)]}), **columns)
    (failure,) = report.failures
    assert said in failure.message and "its columns: messages (list<" in (failure.hint or "")


@pytest.mark.slow
def test_without_pyarrow(tmp_path: Path) -> None:
    file = write(tmp_path / "a.parquet", {"messages": [chat(3)]})
    (tmp_path / "plain.json").write_text(json.dumps(chat(2)))
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import loopaudit\n"
        "for path in sys.argv[1:]:\n"
        "    report = loopaudit.replay(path, policies=['koda'])\n"
        "    print([t.path for t in report.transcripts], report.ignored)\n"
        "    print([(f.message, f.hint) for f in report.failures])\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, file, str(tmp_path)], capture_output=True, text=True, check=True
    )
    named, problem, folder, nothing = shown.stdout.splitlines()
    assert named == "[] {}" and "needs the package pyarrow" in problem and "pip install 'loopaudit[parquet]'" in problem
    assert "plain.json" in folder and "table, which needs pip install 'loopaudit[parquet]'" in folder
    assert nothing == "[]"


# -- commands ------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    columns = {"sid": ["a", "b"], "what": [json.dumps(chat(9)), json.dumps(chat(2))]}
    return Path(write(tmp_path / "runs.parquet", columns)).name


def run(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "loopaudit", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_replay_with_named_columns(table: str) -> None:
    code, shown = run("replay", table, "-p", "koda", "--column", "what", "--id-column", "sid", "-r", "json")
    assert code == 0
    assert [t["path"] for t in json.loads(shown)["transcripts"]] == ["runs.parquet#a", "runs.parquet#b"]


@pytest.mark.slow
def test_labels_fit_the_rows_they_were_made_for(table: str, tmp_path: Path) -> None:
    assert run("label", table, "--id-column", "sid", "-o", "labels.json")[0] == 0
    labels = json.loads((tmp_path / "labels.json").read_text())
    assert [t["path"] for t in labels["transcripts"]] == ["runs.parquet#a", "runs.parquet#b"]
    code, shown = run("compare", table, "--id-column", "sid", "--labels", "labels.json", "-r", "json")
    assert code == 0 and not json.loads(shown).get("unlabelled")
    sweep = run("tune", "koda", table, "--param", "threshold=2..4", "--id-column", "sid", "--labels", "labels.json")
    assert sweep[0] == 0, sweep[1]


@pytest.mark.slow
def test_a_baseline_of_rows(table: str, tmp_path: Path) -> None:
    options = ["--id-column", "sid", "-p", "koda(threshold=3)"]
    assert run("baseline", table, *options)[0] == 0
    assert 'transcript = "runs.parquet#a"' in (tmp_path / "loopaudit-baseline.toml").read_text()
    code, shown = run("check", table, *options, "--baseline", "loopaudit-baseline.toml")
    assert code == 0, shown
    write(tmp_path / "runs.parquet", {"sid": ["a", "b"], "what": [json.dumps(chat(9)), json.dumps(chat(9))]})
    code, shown = run("check", table, *options, "--baseline", "loopaudit-baseline.toml")
    assert code == 3 and "runs.parquet#b" in shown
    assert "-o loopaudit-baseline.toml runs.parquet failed" in " ".join(shown.split()), "it names the table"
    (tmp_path / "runs.parquet").unlink()
    assert run("baseline", "--prune", *options[2:])[0] == 0
    assert "runs.parquet" not in (tmp_path / "loopaudit-baseline.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["validate"], ExitCode.INPUT, "a table is no transcript, but may hold many"),
        (["convert"], ExitCode.INPUT, "a table is no transcript, but may hold many"),
        (["expect"], ExitCode.USAGE, "the transcripts of a table cannot have expectations"),
    ],
)
@pytest.mark.slow
def test_commands_for_one_transcript_say_so(table: str, arguments: list[str], code: int, said: str) -> None:
    done = run(*arguments, table)
    assert done[0] == code and said in " ".join(done[1].split())


def test_from_a_pipe_it_cannot_be_read(table: str) -> None:
    with Path(table).open("rb") as stream:
        report = audit(["-"], OPTIONS, Workers(stream=stream))
    assert "cannot be read from standard input" in report.failures[0].message


def test_an_input_that_nobody_looked_into_is_read_as_a_whole(table: str) -> None:
    done = parquet.audit_table(Input(Path(table), named=True), OPTIONS)
    assert len(done.transcripts) == 2
