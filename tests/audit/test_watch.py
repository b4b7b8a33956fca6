"""Watching growing transcripts: everything that fires, once, whatever happens to the files."""

from __future__ import annotations

import gzip
import json
import os
import random
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.audit.watch.notices import Firing
from loopaudit.audit.watch.watch import STOP, Plan, Watch
from loopaudit.cli.watch_lines import firing_line, notice_lines, summary_line
from loopaudit.core.errors import ExitCode, InputError
from loopaudit.reports.kit.console.output import Uncut, plain
from tests.audit.watching import OPTIONS, Live, Pen, Step, grep_loop, replayed, sessions, told
from tests.places import SAMPLES

FORMATS = ["native", "claude", "codex", "chat"]
GO = [Step("", (), "go on")]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def grown(path: Path, data: bytes, cuts: list[int]) -> Live:
    """A file that was written in pieces while it was watched from its start, and the ended watch."""
    path.write_bytes(b"")
    with Live(path.parent, from_start=True) as live:
        for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            append(path, data[begin:end])
            live.settle()
        live.finish()
    return live


# -- the same as a replay ------------------------------------------------------------------


@pytest.mark.parametrize("written_as", FORMATS)
@settings(max_examples=15)
@given(data=st.data(), session=sessions, results=st.booleans(), ending=st.sampled_from(["\n", "\r\n"]))
def test_however_it_grows_it_fires_as_in_a_replay(
    written_as: str, data: st.DataObject, session: list[Step], results: bool, ending: str
) -> None:
    written = Pen(written_as, results=results).write(GO + session, ending)
    written = written[: len(written) - data.draw(st.sampled_from([0, 0, 1, 2, 30]))]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=6)))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        live = grown(path, written, cuts)
        assert told(live.fired) == replayed(path)


@settings(max_examples=15)
@given(data=st.data(), session=sessions, written_as=st.sampled_from(FORMATS))
def test_the_past_is_silent_and_nothing_else(data: st.DataObject, session: list[Step], written_as: str) -> None:
    written = Pen(written_as).write(GO + session)
    cut = data.draw(st.integers(0, len(written)))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_bytes(written[:cut])
        with Live(path, from_start=True) as live:
            past = told(live.fired)
        with Live(path) as live:
            assert not live.fired
            append(path, written[cut:])
            live.settle()
            assert past + told(live.finish()) == replayed(path) or cut == len(written)


@pytest.mark.parametrize("path", sorted(p for p in SAMPLES.rglob("*.json*") if p.is_file()), ids=lambda p: p.name)
def test_samples_written_in_pieces_fire_as_in_a_replay(path: Path, tmp_path: Path) -> None:
    written = path.read_bytes()
    copy = tmp_path / path.name
    cuts = sorted(random.Random(path.name).sample(range(1, len(written)), 12))
    live = grown(copy, written, cuts)
    assert told(live.fired) == replayed(copy)
    assert live.code == ExitCode.OK


@settings(max_examples=12)
@given(parts=st.lists(st.tuples(st.integers(0, 3), sessions), min_size=4, max_size=10))
def test_files_that_make_room_for_each_other_fire_as_in_a_replay(parts: list[tuple[int, list[Step]]]) -> None:
    pens = [Pen(name) for name in FORMATS]
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.jsonl" for name in FORMATS]
        for path, pen in zip(paths, pens, strict=True):
            path.write_bytes(pen.write(GO))
        with Live(folder, from_start=True, followed=1) as live:
            for index, session in parts:
                append(paths[index], pens[index].write(session))
                live.settle()
                assert live.watch.summary.files == 4
            fired = live.finish()
        for path in paths:
            assert told([f for f in fired if f.path == str(path)]) == replayed(path)


def test_a_large_file_is_read_step_by_step_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = Pen("claude")
    path.write_bytes(lines.write(GO + grep_loop(3) + [Step("", (("Bash", "b", "x" * 300_000, False),))] * 9))
    assert path.stat().st_size > 2 << 20
    with Live(path, from_start=True) as live:
        assert told(live.finish()) == replayed(path)


# -- when it fires -------------------------------------------------------------------------


def test_a_firing_comes_when_the_next_response_begins(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    pen = Pen("claude")
    path.write_bytes(pen.write(GO + grep_loop(2)))
    with Live(path) as live:
        third = pen.write(grep_loop(1))
        append(path, third)
        assert live.settle() == 0
        fourth = pen.write(grep_loop(1))
        append(path, fourth[:50])
        assert live.settle() == 0, "only whole lines count"
        append(path, fourth[50:])
        count = live.settle()
        assert {f.finding.policy for f in live.fired} >= {"atomcode", "zagens"}
        assert live.settle() == count, "nothing is told twice"
        assert {f.at for f in live.fired} == {json.loads(third.splitlines()[0])["timestamp"]}
        assert len(live.finish()) > count, "the last response's firings come when the watch ends"


def test_an_ended_watch_does_not_tell_of_a_file_that_did_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(Pen("claude").write(GO + grep_loop(5)))
    with Live(path) as live:
        assert live.finish() == []


def test_one_line_may_tell_no_format_yet(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type": "x_note"}\n')
    with Live(path) as live:
        for record in Pen("claude").lines(GO + grep_loop(4)):
            append(path, json.dumps(record).encode() + b"\n")
            live.settle()
        assert live.fired
        live.finish()
        assert told(live.fired) == replayed(path)
        assert live.code == ExitCode.OK


@pytest.mark.parametrize("form", ["long", "glued"])
def test_what_a_replay_recognises_a_watch_follows(form: str, tmp_path: Path) -> None:
    """A first line that is longer than what is looked at of others, and two records in one line."""
    path = tmp_path / "a.jsonl"
    records = Pen("claude").lines(GO + grep_loop(6))
    if form == "long":
        records[0] = {"aaa": "n" * 600_000, **records[0]}
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    if form == "glued":
        lines[:2] = [lines[0].rstrip() + lines[1]]
    path.write_bytes(b"")
    with Live(path) as live:
        for line in lines:
            middle = len(line) // 2
            append(path, line[:middle])
            live.settle()
            append(path, line[middle:])
            live.settle()
        assert live.fired
        live.finish()
        assert max(told(live.fired).values()) == 1
        assert told(live.fired) == replayed(path)


def test_a_document_whose_messages_come_late_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    records = Pen("chat").lines(GO + grep_loop(9))
    with Live(tmp_path) as live:
        for length in range(3, len(records) + 1):
            path.write_bytes(json.dumps({"note": "n" * 600_000, "messages": records[:length]}, indent=1).encode())
            live.settle()
        assert live.fired
        live.finish()
        assert told(live.fired) == replayed(path)


def test_a_guard_that_lacks_something_essential_waits_until_it_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    twins = [Step("", (("Grep", "a", "none", False),) * 2)]
    path.write_bytes(b"")
    with Live(path) as live:
        append(path, Pen("native", results=False).write(GO + twins * 3))
        assert live.settle() == 0
        append(path, Pen("native", session="2").write(twins * 2))
        count = live.settle()
        assert count
        live.finish()
        assert told(live.fired) == replayed(path)


def test_firings_of_a_guard_that_cannot_evaluate_are_told_of_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    twins = [Step("", (("Grep", "a", "none", False),) * 2)]
    live = grown(path, Pen("native", results=False).write(GO + twins * 3), [300])
    assert told(live.fired) == replayed(path)
    assert any("atomcode cannot evaluate this" in message for message in live.messages)


# -- what happens to files -----------------------------------------------------------------


def test_new_files_in_new_folders_are_followed(tmp_path: Path) -> None:
    with Live(tmp_path, str(tmp_path / "later" / "*.jsonl")) as live:
        path = tmp_path / "project" / "deep" / "a.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(Pen("codex").write(GO + grep_loop(3)))
        live.settle()
        append(path, Pen("codex", session="2").write(grep_loop(1)))
        live.settle()
        assert {f.shown for f in live.fired} == {"project/deep/a.jsonl"}


def test_a_pattern_may_match_later_and_a_missing_file_may_not(tmp_path: Path) -> None:
    with Live(str(tmp_path / "*.log")) as live:
        path = tmp_path / "a.log"
        path.write_bytes(Pen("chat").write(GO + grep_loop(6)))
        live.settle()
        assert live.fired
    with pytest.raises(InputError, match="no such file"):
        Watch([str(tmp_path / "missing.jsonl")], OPTIONS, Plan(), print)


def rewritten(path: Path, new: bytes) -> None:
    path.write_bytes(new)


def replaced(path: Path, new: bytes) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(new)
    other.replace(path)


def rotated(path: Path, new: bytes) -> None:
    path.rename(path.with_suffix(".jsonl.1"))
    path.write_bytes(new)


@pytest.mark.parametrize("change", [rewritten, replaced, rotated])
@pytest.mark.parametrize("times", [4, 30], ids=["shorter", "longer"])
def test_new_content_is_read_from_its_beginning(
    change: Callable[[Path, bytes], None], times: int, tmp_path: Path
) -> None:
    """The old session ends with its last firings; the new one fires by its own state."""
    folder = tmp_path / "watched"
    folder.mkdir()
    path = folder / "a.jsonl"
    old, new = Pen("claude", session="old"), Pen("claude", session="new")
    path.write_bytes(old.write(GO))
    with Live(folder) as live:
        append(path, old.write(grep_loop(6)))
        live.settle()
        expected = replayed(path)
        change(path, new.write(GO + grep_loop(times, what="b")))
        live.settle()
        assert told([f for f in live.fired if f.finding.session == "old"]) == expected
        live.finish()
        assert told([f for f in live.fired if f.finding.session == "new"]) == replayed(path)
        assert change is rotated or any("from its beginning" in message for message in live.messages)


def test_the_same_session_written_anew_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    pen = Pen("claude")
    head, tail = pen.write(GO * 8 + grep_loop(4)), pen.write(grep_loop(2))
    path.write_bytes(b"")
    with Live(path) as live:
        append(path, head + tail)
        live.settle()
        moved = pen.write([Step("", (), "an inserted message")])
        path.write_bytes(head + moved + tail + pen.write(grep_loop(5, what="b")))
        live.settle()
        live.finish()
        assert max(told(live.fired).values()) == 1
        assert {f.finding.arguments for f in live.fired} == {'{"pattern":"a"}', '{"pattern":"b"}'}


def test_a_renamed_file_is_still_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    pen = Pen("native")
    path.write_bytes(pen.write(GO))
    with Live(tmp_path) as live:
        append(path, pen.write(grep_loop(5)))
        count = live.settle()
        path.rename(tmp_path / "b.jsonl")
        assert live.settle() == count
        append(tmp_path / "b.jsonl", pen.write(grep_loop(2)))
        live.settle()
        assert told(live.finish()) == replayed(tmp_path / "b.jsonl")
        assert {f.shown for f in live.fired[:count]} == {"a.jsonl"}
        assert {f.shown for f in live.fired[count:]} == {"b.jsonl"}


def test_a_deleted_file_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    pen = Pen("claude")
    path.write_bytes(pen.write(GO))
    with Live(tmp_path) as live:
        append(path, pen.write(grep_loop(4)))
        live.settle()
        expected = replayed(path)
        path.unlink()
        live.settle()
        assert told(live.fired) == expected
        assert live.messages == ["the file is gone"]
        path.write_bytes(Pen("claude", session="again").write(GO + grep_loop(4)))
        live.settle()
        assert {f.finding.session for f in live.fired} == {"s1", "again"}


def readers_at_work() -> int:
    return sum(thread.name.startswith("loopaudit-reader") for thread in threading.enumerate())


def test_old_files_are_left_alone_until_they_grow(tmp_path: Path) -> None:
    pen = Pen("codex")
    for number in range(300):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(pen.write(GO + grep_loop(5)))
        os.utime(path, (1e9, 1e9))
    with Live(tmp_path) as live:
        assert readers_at_work() == 0
        append(tmp_path / "7.jsonl", pen.write(grep_loop(2)))
        assert live.settle()
        assert readers_at_work() == 1
        live.finish()
        assert {f.shown for f in live.fired} == {"7.jsonl"}
        assert live.watch.summary.followed == 1
        assert live.watch.summary.files == 300
    assert readers_at_work() == 0


# -- documents, and what cannot be followed ------------------------------------------------


@pytest.mark.parametrize("indent", [None, 1], ids=["one line", "many lines"])
@pytest.mark.parametrize("write", [rewritten, replaced])
def test_a_document_is_read_anew_and_told_once(
    write: Callable[[Path, bytes], None], indent: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    records = Pen("chat").lines(GO + grep_loop(9))

    def document(length: int) -> bytes:
        return json.dumps({"messages": records[:length]}, indent=indent).encode()

    path.write_bytes(document(6))
    with Live(path) as live:
        for length in range(7, len(records) + 1):
            whole = document(length)
            write(path, whole[: len(whole) // 2])
            live.settle()
            write(path, whole)
            live.settle()
        assert live.fired
        fired = told(live.finish())
        assert max(fired.values()) == 1
        # What stood there before the watch had begun is not told.
        path.write_bytes(document(6))
        assert fired == replayed_document(path, document(len(records))) - replayed_document(path, document(5))


@pytest.mark.parametrize("indent", [None, 1], ids=["one line", "many lines"])
def test_a_document_that_stays_damaged_is_read_when_the_watch_ends(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    whole = json.dumps({"messages": Pen("chat").lines(GO + grep_loop(9))}, indent=indent).encode()
    with Live(tmp_path, from_start=True) as live:
        path.write_bytes(whole[:-40])
        assert live.settle() == 0, "it may be half written"
        live.finish()
        assert live.fired
        assert told(live.fired) == replayed(path)
        assert any("the document is cut off" in message for message in live.messages)


def replayed_document(path: Path, data: bytes) -> Counter[tuple[Any, ...]]:
    path.write_bytes(data)
    return replayed(path)


def test_what_cannot_be_followed_is_said_of_named_files_and_counted_in_folders(tmp_path: Path) -> None:
    session = Pen("claude").write(GO + grep_loop(5))
    packed, prose = tmp_path / "a.jsonl.gz", tmp_path / "notes.txt"
    packed.write_bytes(gzip.compress(session))
    prose.write_text("dear diary\n" * 100)
    for path, words in ((packed, "gzip file is not followed"), (prose, "not a transcript")):
        with Live(path) as live:
            live.finish()
            assert live.code == ExitCode.INPUT
            assert any(words in message for message in live.messages)
    with Live(tmp_path, from_start=True) as live:
        live.finish()
        assert live.code == ExitCode.OK
        assert live.watch.summary.unrecognised == 2
        assert live.messages == []


def test_a_folder_that_is_one_transcript_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "conversation"
    (folder / "events").mkdir(parents=True)
    (folder / "events" / "event-00000-aa.json").write_text("{}")
    (folder / "base_state.json").write_text("{}")
    with pytest.raises(InputError, match="folder that is one transcript"):
        Watch([str(folder)], OPTIONS, Plan(), print)
    with Live(tmp_path) as live:
        assert live.messages == ["a folder that is one transcript is not followed"]


def test_a_damaged_line_is_told_once_for_its_kind_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    pen = Pen("claude")
    path.write_bytes(pen.write(GO))
    with Live(path) as live:
        for _ in range(3):
            append(path, b'{"broken": \n' + pen.write(grep_loop(2)))
            live.settle()
        assert [(n.kind, n.line) for n in live.notices] == [("damage", 2)]
        live.finish()
        assert live.watch.summary.damaged == 3
        assert told(live.fired) == replayed(path)


def test_a_reader_that_gives_up_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(Pen("native").write(GO))
    with Live(path) as live:
        append(path, b'{"type": "header", "format": "loopaudit", "version": 99}\n')
        live.settle()
        live.finish()
        assert live.code == ExitCode.INPUT
        assert any("version 99" in message for message in live.messages)


# -- pipes ---------------------------------------------------------------------------------


def test_a_pipe_is_followed_while_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    out, into = os.pipe()
    fired: list[Any] = []
    pen = Pen("codex")
    with Watch(["-"], OPTIONS, Plan(interval=0.05), fired.append, stdin=out) as watch:

        def writes() -> None:
            for step in GO + grep_loop(6):
                os.write(into, pen.write([step]))
            while not fired:  # The firings come while the pipe is open, or never.
                threading.Event().wait(0.01)
            os.close(into)

        writer = threading.Thread(target=writes)
        writer.start()
        assert watch.run() == ExitCode.OK
        writer.join()
    os.close(out)
    assert {f.finding.policy for f in fired} >= {"atomcode", "zagens"}
    assert {f.path for f in fired} == {"<stdin>"}


def test_a_stop_ends_the_watch(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(Pen("claude").write(GO))
    with Watch([str(path)], OPTIONS, Plan(interval=60), print) as watch:
        threading.Timer(0.05, watch.wake.put, [STOP]).start()
        assert watch.run() == ExitCode.OK


# -- lines ---------------------------------------------------------------------------------


def line_of(firing: Firing, width: int) -> str:
    return plain(lambda _: [Uncut(firing_line(firing, width))])


def test_a_line_for_people_moves_no_terminal_and_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J\nb.jsonl"
    evil = Step("", (("Gr\x1b]0;title\x07ep\n::error::", "\x1b[31m", "none", False),))
    path.write_bytes(Pen("claude").write(GO + [evil] * 5 + [Step("", (), "so?")]))
    with Live(tmp_path, from_start=True) as live:
        assert live.fired
        for firing in live.fired:
            for width in (80, 1000):
                shown = line_of(firing, width)
                assert shown.count("\n") == 1
                assert shown.rstrip("\n").isprintable()
    with Live(path) as live:
        append(path, b"{broken\n")
        live.settle()
        shown = "".join(map(notice_lines, live.notices)) + summary_line(live.watch.summary, 3)
        assert live.notices
        assert shown.replace("\n", "").isprintable()
