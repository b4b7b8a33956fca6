"""The stores in which programs keep their sessions: OpenCode's folder and SQLite file, goose's, Cursor's, and Zed's."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from loopaudit.audit.run import audit
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.report import TranscriptResult
from loopaudit.readers.recognise import claims
from loopaudit.readers.source import Source


def audited(path: Path) -> list[TranscriptResult]:
    report = audit([str(path)], Options(policies=select(["atomcode"])))
    assert not report.failures
    return report.transcripts


def claimant(path: Path) -> list[str]:
    with Source(path) as source:
        return [reader.id for reader, _ in claims(source.probe())]


# -- OpenCode ------------------------------------------------------------------------------


def tool(call: str, output: str = "x") -> dict[str, Any]:
    state = {"status": "completed", "input": {"command": "ls"}, "output": output, "metadata": {"exit": 0}}
    return {"type": "tool", "callID": call, "tool": "bash", "state": state}


def store(root: Path, *, older: bool = False) -> Path:
    """A store with two sessions of two messages each."""
    for session in ("ses_1", "ses_2"):
        parts = {
            f"msg_{session}_1": ("user", [{"type": "text", "text": f"Do {session}."}]),
            f"msg_{session}_2": ("assistant", [{"type": "step-start"}, tool(f"{session}a"), tool(f"{session}b")]),
        }
        for name, (role, listed) in parts.items():
            message = root / "message" / session / f"{name}.json"
            message.parent.mkdir(parents=True, exist_ok=True)
            message.write_text(json.dumps({"id": name, "sessionID": session, "role": role, "time": {"created": 1}}))
            folder = root / "part" / (f"{session}/{name}" if older else name)
            folder.mkdir(parents=True)
            for number, part in enumerate(listed):
                (folder / f"prt_{number}.json").write_text(json.dumps(part))
    (root / "session").mkdir()
    return root


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_a_folder_of_sessions(tmp_path: Path, older: bool, named: bool) -> None:
    root = store(tmp_path / "storage", older=older)
    found = audited(root if named else tmp_path)
    assert claimant(root) == ["opencode"]
    assert [(t.session, t.counts.turns, t.counts.calls, t.counts.results, t.counts.max_parallel) for t in found] == [
        ("ses_1", 1, 2, 2, 2),
        ("ses_2", 1, 2, 2, 2),
    ]
    written = [json.loads(p.read_text()) for p in root.rglob("prt_*.json")]
    assert sum(part["type"] == "tool" for part in written) == sum(t.counts.calls for t in found)
    assert not any(t.problem_counts for t in found)


def test_a_damaged_file_of_a_folder_is_counted_and_links_are_not_followed(tmp_path: Path) -> None:
    root = store(tmp_path / "storage")
    (root / "part" / "msg_ses_1_2" / "prt_1.json").write_text("{cut")
    (root / "part" / "msg_ses_1_2" / "prt_9.json").symlink_to(root / "part" / "msg_ses_2_2" / "prt_1.json")
    first, _ = audited(root)
    assert first.counts.calls == 1
    assert first.problem_counts["damaged_document"] == 1


OPENCODE = (
    "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, time_created INTEGER)",
    "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER, data TEXT NOT NULL)",
    "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT)",
    "CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT, data TEXT NOT NULL)",
)


def opencode(path: Path) -> Path:
    """The same sessions in SQLite; the ids of sessions fall with time, as OpenCode makes them."""
    with closing(sqlite3.connect(path)) as db, db:
        for statement in OPENCODE:
            db.execute(statement)
        for began, session in enumerate(("ses_2", "ses_1")):
            db.execute("INSERT INTO session VALUES (?, NULL, '/home/user', ?)", (session, began))
            said = [("user", [{"type": "text", "text": f"Do {session}."}])]
            said += [("assistant", [{"type": "step-start"}, tool(f"{session}a"), tool(f"{session}b")])]
            for number, (role, listed) in enumerate(said):
                name = f"msg_{session}_{9 - number}"  # the time counts, not the id
                info = json.dumps({"role": role, "time": {"created": number}})
                db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (name, session, number, info))
                for place, part in enumerate(listed):
                    row = (f"prt_{session}_{number}_{place}", name, session, place, json.dumps(part))
                    db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
    return path


def test_a_database_of_sessions(tmp_path: Path) -> None:
    path = opencode(tmp_path / "opencode.db")
    before = path.read_bytes()
    found = audited(path)
    assert claimant(path) == ["opencode"]
    assert [(t.session, t.counts.turns, t.counts.calls, t.counts.results, t.counts.max_parallel) for t in found] == [
        ("ses_2", 1, 2, 2, 2),
        ("ses_1", 1, 2, 2, 2),
    ]
    with closing(sqlite3.connect(path)) as db:
        count = "SELECT count(*) FROM part WHERE json_extract(data, '$.type') = 'tool'"
        assert db.execute(count).fetchone() == (sum(t.counts.calls for t in found),)
    assert not any(t.problem_counts for t in found)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_damaged_rows_of_a_database_are_counted(tmp_path: Path) -> None:
    path = opencode(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE part SET data = '{cut' WHERE id = 'prt_ses_2_1_1'")
        db.execute("UPDATE message SET data = x'00ff' WHERE id = 'msg_ses_1_9'")
        db.execute("INSERT INTO session_message VALUES ('m', 'ses_9', 'assistant', '{}')")
    first, second = audited(path)
    assert first.counts.calls == 1
    assert first.damaged == 1
    assert second.counts.turns == 0
    assert second.damaged
    assert second.problem_counts["malformed_record"] == 1  # of the session behind it, which has nothing else


def later(id: str, status: str, **state: Any) -> dict[str, Any]:
    """A call as the later table has it."""
    times = {"created": 3, "ran": 4, "completed": 5}
    return {
        "type": "tool",
        "id": id,
        "name": "bash",
        "state": {"status": status, "input": {"command": f"ls {id}"}, "structured": {}, **state},
        "time": times,
    }


def test_the_later_table_of_messages(tmp_path: Path) -> None:
    path = opencode(tmp_path / "opencode.db")
    content = [
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "I look."},
        later("a", "completed", content=[{"type": "text", "text": "x"}], structured={"exit": 2}),
        later("b", "error", content=[], error={"type": "unknown", "message": "no such file"}),
        later("c", "pending", input="{}"),
    ]
    tokens = {"input": 9, "output": 4, "reasoning": 0, "cache": {"read": 1, "write": 0}}
    said: list[tuple[str, Any]] = [
        ("system", {"text": "be brief"}),
        ("user", {"text": "Do it.", "time": {"created": 1}}),
        ("assistant", {"model": {"id": "m", "providerID": "p"}, "content": content, "tokens": tokens}),
        ("compaction", {"reason": "auto", "summary": "s", "recent": ""}),
        ("shell", {"callID": "u", "command": "ls", "output": ""}),
        ("assistant", {"content": [later("d", "completed", content=[{"type": "text", "text": "y"}])]}),
        ("assistant", {"content": [{"type": "text", "text": "Done."}], "error": {"name": "MessageAbortedError"}}),
    ]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("ALTER TABLE session_message ADD COLUMN seq INTEGER")
        for number, (kind, data) in enumerate(said):
            row = (f"m{9 - number}", "ses_9", kind, json.dumps(data), number)
            db.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?)", row)
        db.execute("INSERT INTO session_message VALUES ('x', 'ses_1', 'user', '{\"text\": \"twice\"}', 1)")
    found = {t.session: t for t in audited(path)}
    counts = found["ses_9"].counts
    assert (counts.turns, counts.calls, counts.results, counts.failures, counts.max_parallel) == (1, 4, 3, 2, 3)
    assert found["ses_1"].counts.turns == 1
    assert not any(t.problem_counts for t in found.values())


# -- Zed -----------------------------------------------------------------------------------


def zed(path: Path) -> Path:
    """Three threads: compressed, plain of an older version, and one that is no JSON."""
    import zstandard

    def agent(*ids: str) -> Any:
        uses = [{"ToolUse": {"id": i, "name": "grep", "raw_input": "{}", "input": {"q": "x"}}} for i in ids]
        results = {i: {"tool_use_id": i, "is_error": False, "content": [{"Text": f"r{i}"}]} for i in ids}
        return {"Agent": {"content": uses, "tool_results": results}}

    newer = {"version": "0.3.0", "messages": [{"User": {"content": [{"Text": "Go."}]}}, agent("a", "b"), agent("a")]}
    older = {
        "version": "0.2.0",
        "messages": [
            {"id": 0, "role": "user", "segments": [{"type": "text", "text": "Go."}], "tool_uses": []},
            {
                "id": 1,
                "role": "assistant",
                "segments": [{"type": "text", "text": "Yes."}],
                "tool_uses": [{"id": "t", "name": "grep", "input": {}}],
                "tool_results": [{"tool_use_id": "t", "is_error": True, "content": "Tool canceled by user"}],
            },
        ],
    }
    kept = [
        ("new", "2026-01-02", "zstd", zstandard.compress(json.dumps(newer).encode())),
        ("old", "2026-01-01", "json", json.dumps(older).encode()),
        ("bad", "2026-01-03", "zstd", b"\x28\xb5\x2f\xfd cut"),
    ]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)"
        )
        for name, at, kind, data in kept:
            db.execute("INSERT INTO threads VALUES (?, '', ?, ?, ?)", (name, at, kind, data))
    return path


def test_threads_of_zed(tmp_path: Path) -> None:
    path = zed(tmp_path / "threads.db")
    before = path.read_bytes()
    assert claimant(path) == ["zed"]
    old, new = audited(path)
    assert [
        (t.session, t.counts.turns, t.counts.calls, t.counts.results, t.counts.max_parallel) for t in (old, new)
    ] == [
        ("old", 1, 1, 1, 1),
        ("new", 1, 3, 3, 2),
    ]
    assert old.counts.cancelled == 1
    assert not old.problem_counts
    assert new.damaged  # by the thread behind it
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# -- Cursor --------------------------------------------------------------------------------


def cursor(path: Path) -> Path:
    """Two conversations, the older one with its messages inside, and rows that are nobody's business."""

    def used(id_: str, status: str = "completed", **fields: Any) -> dict[str, Any]:
        call = {"toolCallId": id_, "name": "run_terminal_cmd", "rawArgs": '{"command": "ls"}', "status": status}
        return {"type": 2, "text": "", "createdAt": "2026-01-02T00:00:01Z", "toolFormerData": {**call, **fields}}

    newer = {
        "m1": {"type": 1, "text": "List the files.", "createdAt": "2026-01-02T00:00:00Z"},
        "m3": used("a", result='{"output": "x"}'),
        "m2": used("b", "error", result="no such file"),
        "m4": used("c", "loading"),
        "m5": {"type": 2, "text": "Done."},
    }
    older = [{"type": 1, "bubbleId": "o1", "text": "Go."}, {**used("d", "cancelled"), "bubbleId": "o2"}]
    order = ["m1", "m3", "m2", "m4", "m5"]
    kept: dict[str, Any] = {
        "composerData:new": {"createdAt": 2, "fullConversationHeadersOnly": [{"bubbleId": name} for name in order]},
        "composerData:old": {"createdAt": 1, "conversation": older},
        "composerData:none": {"createdAt": 3},
        "composerDataX": {"conversation": older},
        **{f"bubbleId:new:{name}": message for name, message in newer.items()},
    }
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        for key, value in kept.items():
            db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value).encode()))
        db.execute("INSERT INTO cursorDiskKV VALUES ('composerData:cut', '{\"createdAt')")
    return path


def test_conversations_of_an_editor(tmp_path: Path) -> None:
    path = cursor(tmp_path / "state.vscdb")
    before = path.read_bytes()
    old, new = audited(path)
    assert claimant(path) == ["cursor"]
    assert (old.session, old.counts.turns, old.counts.calls, old.counts.cancelled) == ("old", 1, 1, 1)
    assert (new.session, new.counts.turns, new.counts.calls, new.counts.results) == ("new", 1, 3, 2)
    assert (new.counts.errors, new.counts.unanswered, new.counts.text_replies, new.counts.duration) == (1, 1, 1, 1.0)
    assert not old.problem_counts
    assert not new.problem_counts
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_message_of_an_editor_is_counted(tmp_path: Path) -> None:
    path = cursor(tmp_path / "state.vscdb")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE cursorDiskKV SET value = '{cut' WHERE key = 'bubbleId:new:m3'")
    _, new = audited(path)
    assert (new.counts.calls, new.damaged) == (2, 1)


# -- goose ---------------------------------------------------------------------------------

SESSIONS = "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT NOT NULL, created_at TIMESTAMP)"
MESSAGES = (
    "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, "
    "content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT)"
)


def request(id_: str) -> dict[str, Any]:
    call = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "ls"}}}
    return {"type": "toolRequest", "id": id_, "toolCall": call}


def response(id_: str, text: str) -> dict[str, Any]:
    value = {"content": [{"type": "text", "text": text}], "isError": False}
    return {"type": "toolResponse", "id": id_, "toolResult": {"status": "success", "value": value}}


def database(path: Path, *, journal: str = "delete") -> Path:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"PRAGMA journal_mode = {journal}")
        db.execute(SESSIONS)
        db.execute(MESSAGES)
        for session in ("20260101_1", "20260101_2"):
            db.execute("INSERT INTO sessions VALUES (?, 'x', '/home/user', NULL)", (session,))
        said = [("user", [{"type": "text", "text": "go"}]), ("assistant", [request("a"), request("b")])]
        said += [("user", [response("b", "2"), response("a", "1")]), ("assistant", [{"type": "text", "text": "Done."}])]
        for role, content in said:
            for session in ("20260101_1", "20260101_2"):
                values = (session, role, json.dumps(content), 1772700000)
                db.execute(
                    "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, ?)",
                    values,
                )
    return path


def test_a_store_of_goose(tmp_path: Path) -> None:
    path = database(tmp_path / "sessions.db")
    before = path.read_bytes()
    found = audited(path)
    assert claimant(path) == ["goose"]
    assert [(t.session, t.counts.turns, t.counts.calls, t.counts.results, t.counts.max_parallel) for t in found] == [
        ("20260101_1", 1, 2, 2, 2),
        ("20260101_2", 1, 2, 2, 2),
    ]
    assert not any(t.problem_counts for t in found)
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["sessions.db"]
    with closing(sqlite3.connect(path)) as db:
        (asked,) = db.execute("SELECT count(*) FROM messages WHERE content_json LIKE '%toolRequest%'").fetchone()
    assert asked == sum(t.counts.batches for t in found)


def test_a_log_beside_a_store_is_counted(tmp_path: Path) -> None:
    path = database(tmp_path / "sessions.db")
    (tmp_path / "sessions.db-wal").write_bytes(b"not yet written back")
    first, _ = audited(path)
    assert first.problem_counts == {"unread_log": 1}


@pytest.mark.parametrize("size", [200, 4096, 9000])
def test_a_cut_store_never_ends_the_run(tmp_path: Path, size: int) -> None:
    path = database(tmp_path / "sessions.db")
    path.write_bytes(path.read_bytes()[:size])
    report = audit([str(path)], Options(policies=select(["atomcode"])))
    assert all(failure.exit_code == 4 for failure in report.failures)


def test_another_store_is_no_transcript(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE messages (id INTEGER, body TEXT)")
        db.execute("CREATE VIEW sessions AS SELECT id AS working_dir FROM messages")
    assert claimant(path) == []
    report = audit([str(tmp_path)], Options(policies=select(["atomcode"])))
    assert not report.transcripts and not report.failures
