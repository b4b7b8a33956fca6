"""The class of a call: each class, its rules, and what excuses a repeat."""

from __future__ import annotations

import pytest

from loopaudit.hindsight.words import CLASSES, CallClass
from tests.hindsight.sessions import NO_RESULT, Session


def s() -> Session:
    return Session().user()


READ = ("read_file", {"path": "a.py"}, "text")

TABLE: list[tuple[str, Session, list[str]]] = [
    ("unanswered", s().call("get", {"id": 1}, NO_RESULT), ["unknown"]),
    ("first", s().call("get", {"id": 1}, "x").call("get", {"id": 2}, "x"), ["first", "first"]),
    ("equal result", s().call("get", {"id": 1}, "x", times=3), ["first", "redundant", "redundant"]),
    ("new result", s().call("get", {"id": 1}, "x").call("get", {"id": 1}, "y"), ["first", "informative"]),
    ("failed, then succeeded", s().call("get", {"id": 1}, "!no").call("get", {"id": 1}, "x"), ["first", "recovered"]),
    ("succeeded, then failed", s().call("get", {"id": 1}, "x").call("get", {"id": 1}, "!no"), ["first", "informative"]),
    ("equal failure", s().call("get", {"id": 1}, "!no", times=2), ["first", "redundant"]),
    (
        "noise",
        s().call("get", {"id": 1}, "took 3 ms, pid 41").call("get", {"id": 1}, "took 9 ms, pid 77"),
        ["first", "redundant_noise"],
    ),
    ("no noise", s().call("get", {"id": 1}, "step 3/9").call("get", {"id": 1}, "step 4/9"), ["first", "informative"]),
    ("an older result again", s().call("get", {"id": 1}, "x").call("get", {"id": 1}, "y").call("get", {"id": 1}, "x"),
     ["first", "informative", "redundant"]),
    ("a toggle", s().call("press", {"k": 1}, "on").call("press", {"k": 1}, "off").call("press", {"k": 1}, "on"),
     ["first", "informative", "recheck"]),
    ("spelling of the arguments", s().call("get", '{"a":1,"b":2}', "x").call("get", '{ "b": 2, "a": 1 }', "x"),
     ["first", "redundant"]),
    ("1 is not 1.0", s().call("get", '{"a":1}', "x").call("get", '{"a":1.0}', "x"), ["first", "first"]),
    ("no arguments in all spellings",
     s().call("todo", "{}", "!op missing").call("todo", "", "!op missing").call("todo", "null", "!op missing"),
     ["first", "redundant", "redundant"]),
    ("description of a command",
     s().call("Bash", {"command": "ls", "description": "List"}, "a").call("Bash", {"command": "ls"}, "a"),
     ["first", "redundant"]),
    ("title of a brief",
     s().call("Task", {"prompt": "Plan it.", "description": "Plan"}, "ask first")
     .call("Task", {"prompt": "Plan it.", "description": "The plan"}, "ask first"),
     ["first", "redundant"]),
    ("another brief",
     s().call("Task", {"prompt": "Plan it.", "description": "Plan"}, "ask first")
     .call("Task", {"prompt": "Plan the rest.", "description": "Plan"}, "ask first"),
     ["first", "first"]),
    ("a brief that is called a description",
     s().call("Task", {"description": "Plan it."}, "ask first").call("Task", {"description": "Plan all."}, "ask first"),
     ["first", "first"]),
    ("description of a ticket is content",
     s().call("create_ticket", {"title": "t", "description": "a"}, "ok")
     .call("create_ticket", {"title": "t", "description": "b"}, "ok"),
     ["first", "first"]),
    ("labels of any tool",
     s().call("post_note", {"t": 1, "nonce": "a"}, "no").call("post_note", {"t": 1, "nonce": "b"}, "no"),
     ["first", "redundant"]),
    # What changes state in between.
    ("an edit of the file", s().read("a.py").edit("a.py", "x", "y").read("a.py"), ["first", "first", "recheck"]),
    ("a failed edit of the file", s().read("a.py").edit("a.py", "x", "y", "!no match").read("a.py").read("a.py"),
     ["first", "first", "recheck", "redundant"]),
    ("an edit of another file", s().read("a.py").edit("b.py", "x", "y").read("a.py"), ["first", "first", "redundant"]),
    ("an edit by another spelling of the path", s().read("/w/src/a.py").edit("src/a.py", "x", "y").read("/w/src/a.py"),
     ["first", "first", "recheck"]),
    ("an edit, for a search", s().call("grep", {"p": "x"}, "1").edit("b.py", "x", "y").call("grep", {"p": "x"}, "1"),
     ["first", "first", "recheck"]),
    ("a command that looks", s().read("a.py").sh("git status | head -3", "clean").read("a.py"),
     ["first", "first", "redundant"]),
    ("a command that changes", s().read("a.py").sh("git stash", "saved").read("a.py"), ["first", "first", "recheck"]),
    ("a test run does not change a file", s().read("a.py").sh("pytest -q", "ok").read("a.py"),
     ["first", "first", "redundant"]),
    ("a test run may matter to a command", s().sh("ls", "a").sh("pytest -q", "ok").sh("ls", "a"),
     ["first", "first", "recheck"]),
    ("an unknown tool may change", s().read("a.py").call("frobnicate", {"x": 1}, "ok").read("a.py"),
     ["first", "first", "recheck"]),
    ("a tool that looks by its name", s().read("a.py").call("get_ticket", {"id": 1}, "ok").read("a.py"),
     ["first", "first", "redundant"]),
    ("a failed command may have changed", s().read("a.py").sh("make install", "!stopped").read("a.py"),
     ["first", "first", "recheck"]),
    ("a failed tool changed nothing", s().read("a.py").call("update_ticket", {"id": 1}, "!no").read("a.py"),
     ["first", "first", "redundant"]),
    ("a helper agent may change", s().read("a.py").call("task", {"prompt": "fix"}, "done").read("a.py"),
     ["first", "first", "recheck"]),
    ("a bare change of folder", s().sh("make", "ok").sh("cd ../b").sh("make", "ok"), ["first", "first", "recheck"]),
    # A repeat is no change for its own repetition.
    ("the same command again", s().sh("make", "!error", times=3), ["first", "redundant", "redundant"]),
    ("two commands in turn", s().sh("make a", "!e").sh("make b", "!e").sh("make a", "!e").sh("make b", "!e"),
     ["first", "same_failure", "recheck", "redundant"]),
    ("edit and test", s().sh("pytest", "!1 failed in 0.1s").edit("a.py", "x", "y").sh("pytest", "!1 failed in 0.2s"),
     ["first", "first", "recheck"]),
    # What a person says.
    ("a new request excuses once", s().call("get", {"id": 1}, "x").user().call("get", {"id": 1}, "x", times=2),
     ["first", "recheck", "redundant"]),
    ("a nudge excuses nothing", s().call("get", {"id": 1}, "x").user("Please continue.").call("get", {"id": 1}, "x"),
     ["first", "redundant"]),
    ("a guard's notice excuses nothing",
     s().call("get", {"id": 1}, "x").user("[guard] You repeat the same call.").call("get", {"id": 1}, "x"),
     ["first", "redundant"]),
    ("a person may speak of loops",
     s().call("get", {"id": 1}, "x").user("You are stuck in a loop, look again.").call("get", {"id": 1}, "x"),
     ["first", "recheck"]),
    ("as many runs as asked for", Session().user("Run it three times.").sh("./x", "ok", times=4),
     ["first", "recheck", "recheck", "redundant"]),
    ("an answer to a question", s().call("get", {"id": 1}, "x").call("ask_user", {"q": "?"}, "yes")
     .call("get", {"id": 1}, "x"), ["first", "first", "recheck"]),
    # Compactions.
    ("one recovery after a compaction",
     s().call("get", {"id": 1}, "x").boundary("compaction").call("get", {"id": 1}, "x").boundary("compaction")
     .call("get", {"id": 1}, "x"), ["first", "recheck", "redundant"]),
    ("another recovery after lasting work",
     s().read("a.py").boundary("compaction").read("a.py").write("n.md", "1").boundary("compaction").read("a.py"),
     ["first", "recheck", "first", "recheck"]),
    ("after the context was cleared", s().call("get", {"id": 1}, "x").boundary("clear").call("get", {"id": 1}, "x"),
     ["first", "recheck"]),
    # The same failure in other words.
    ("an authorisation error",
     s().call("find", {"q": "a"}, "!401 token expired").call("find", {"q": "b"}, "!401 token expired"),
     ["first", "same_failure"]),
    ("another error", s().call("find", {"q": "a"}, "!401 token expired").call("find", {"q": "b"}, "!no such index"),
     ["first", "first"]),
    ("a success in between",
     s().call("find", {"q": "a"}, "!403").call("find", {"q": "b"}, "ok").call("find", {"q": "c"}, "!403"),
     ["first", "first", "first"]),
    ("a missing file is about that file",
     s().read("a", "!no such file: a").read("b", "!no such file: b"), ["first", "first"]),
    ("a host that is down is about that host",
     s().call("probe", {"host": "a"}, "!timeout").call("probe", {"host": "b"}, "!timeout"), ["first", "first"]),
    ("one host, other paths",
     s().call("fetch", {"url": "http://h/a"}, "!503").call("fetch", {"url": "http://h/b"}, "!503"),
     ["first", "same_failure"]),
    ("two programs of one shell",
     s().sh("git push -v", "!remote hung up").sh("ls nowhere", "").sh("git push --force", "!remote hung up"),
     ["first", "first", "same_failure"]),
    ("a dead sandbox, other tools",
     s().read("a", "!the sandbox is dead").sh("ls", "!the sandbox is dead"), ["first", "same_failure"]),
    ("a bare exit code says nothing",
     s().sh("grep a f", "!exit code 1").sh("grep b f", "!exit code 1"), ["first", "first"]),
    ("siblings do not know of each other",
     s().batch(("find", {"q": "a"}, "!401"), ("find", {"q": "b"}, "!401")), ["first", "first"]),
    # Reading again.
    ("a part of what was shown", s().read("a", "x\n" * 50).read("a", offset=10, limit=5), ["first", "re_read"]),
    ("the next page", s().read("a", offset=1, limit=40).read("a", offset=41, limit=40), ["first", "first"]),
    ("overlapping pages", s().read("a", offset=1, limit=40).read("a", offset=30, limit=40), ["first", "first"]),
    ("a page across two pages",
     s().read("a", offset=1, limit=40).read("a", offset=41, limit=40).read("a", offset=30, limit=20),
     ["first", "first", "re_read"]),
    ("after an edit", s().read("a", offset=1, limit=40).edit("a", "x", "y").read("a", offset=10, limit=5),
     ["first", "first", "first"]),
    ("a cut whole", s().read("a", "[truncated: showing the first 10 lines]").read("a", offset=50, limit=5),
     ["first", "first"]),
    ("by an editor that also views",
     s().call("str_replace_editor", {"command": "view", "path": "a"}, "x")
     .call("str_replace_editor", {"command": "view", "path": "a", "view_range": [1, 1]}, "x"), ["first", "re_read"]),
    ("recovered after a compaction, and again",
     s().read("a", offset=1, limit=40).boundary("compaction").read("a", offset=1, limit=20).boundary("compaction")
     .read("a", offset=5, limit=5), ["first", "recheck", "re_read"]),
    ("a file that turned out to be another",
     s().read("a", "x").read("a", "y").read("a", "y", offset=1, limit=1), ["first", "informative", "first"]),
    ("in another folder",
     s().call("bash", {"command": "cat f", "workdir": "/a"}, "x")
     .call("bash", {"command": "cat f", "workdir": "/b"}, "y")
     .call("bash", {"command": "head -1 f", "workdir": "/b"}, "y"), ["first", "first", "re_read"]),
    ("with line numbers", s().sh("cat f", "x").sh("nl f", "1 x"), ["first", "first"]),
    ("by shell", s().sh("cat a.txt", "1\n2\n3").sh("sed -n '2,3p' a.txt", "2\n3").sh("head -n 1 a.txt", "1"),
     ["first", "re_read", "re_read"]),
    ("siblings", s().batch(("read_file", {"path": "a"}, "x"), ("read_file", {"path": "a", "limit": 5}, "x")),
     ["first", "first"]),
    ("an unflagged error shows nothing",
     s().read("a", "x\ny").read("a", "Error: invalid range", offset=1, limit=1), ["first", "first"]),
    # Editing again.
    ("an applied edit", s().edit("a", "x", "y").edit("a", "x", "y", "!0 occurrences of old_string found"),
     ["first", "re_edit"]),
    ("an edit denied the second time", s().edit("a", "x", "y").edit("a", "x", "y", "!503 try again later"),
     ["first", "informative"]),
    ("one revert", s().edit("a", "x", "y").edit("a", "y", "x"), ["first", "first"]),
    ("back and forth", s().edit("a", "x", "y").edit("a", "y", "x").edit("a", "x", "y").edit("a", "y", "x"),
     ["first", "first", "re_edit", "re_edit"]),
    ("back and forth with other work",
     s().edit("a", "x", "y").edit("a", "y", "x").edit("a", "p", "q").edit("a", "x", "y"),
     ["first", "first", "first", "recheck"]),
    ("the same content again", s().write("a", "text").write("a", "text"), ["first", "re_edit"]),
    ("the same content after a change", s().write("a", "text").sh("rm a").write("a", "text"),
     ["first", "first", "recheck"]),
    ("empty content", s().write("a", "").write("b", ""), ["first", "first"]),
    ("on request", s().edit("a", "x", "y").user().edit("a", "y", "x").user().edit("a", "x", "y"),
     ["first", "first", "recheck"]),
    ("by a tool that does both",
     s().call("str_replace_editor", {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}, "ok")
     .call("str_replace_editor", {"command": "str_replace", "path": "a", "old_str": "y", "new_str": "x"}, "ok")
     .call("str_replace_editor", {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}, "ok"),
     ["first", "first", "re_edit"]),
    ("an insertion is no whole content",
     s().call("insert_content", {"path": "a", "line": 1, "content": "x"}, "ok")
     .call("insert_content", {"path": "a", "line": 9, "content": "x"}, "ok"), ["first", "first"]),
    ("by patch",
     s().call("apply_patch", "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch", "ok")
     .call("apply_patch", "*** Begin Patch\n*** Update File: a\n-y\n+x\n*** End Patch", "ok")
     .call("apply_patch", "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch", "ok"),
     ["first", "first", "re_edit"]),
    # Parallel calls.
    ("copies in one response", s().batch(READ, READ, READ), ["first", "redundant", "redundant"]),
    ("an edit among siblings",
     s().batch(READ).batch(("edit_file", {"path": "a.py", "old_string": "x", "new_string": "y"}, "ok"), READ),
     ["first", "first", "recheck"]),
]  # fmt: skip


@pytest.mark.parametrize(("session", "expected"), [pytest.param(x, e, id=name) for name, x, e in TABLE])
def test_classes(session: Session, expected: list[str]) -> None:
    assert session.classes() == expected


def test_the_table_has_every_class() -> None:
    assert {word for _, _, expected in TABLE for word in expected} == {c.word for c in CLASSES}
    assert set(CLASSES) == set(CallClass)


def test_evidence_is_the_earlier_call() -> None:
    result = s().call("get", {"id": 1}, "x").call("get", {"id": 2}, "x").call("get", {"id": 1}, "x").judged()
    assert [result.evidence_of(n) for n in (1, 2, 3)] == [(), (), (1,)]


def test_noise_is_named() -> None:
    session = s().call("get", {"id": 1}, "pid 41, 3 ms").call("get", {"id": 1}, "pid 42, 4 ms")
    assert session.judged().noise_of(2) == ("duration", "pid")


def test_counts_leave_out_zeros() -> None:
    assert s().call("get", {"id": 1}, "x", times=3).judged().counts == {"first": 1, "redundant": 2}


def test_each_agent_has_its_own_past() -> None:
    session = s().call("get", {"id": 1}, "x").call("get", {"id": 1}, "x", agent="sub")
    assert session.classes() == ["first", "first"]


def test_a_call_that_does_not_exist_is_unknown() -> None:
    result = s().judged()
    assert [result.class_of(n).word for n in (0, 1, 99)] == ["unknown"] * 3
    assert result.evidence_of(7) == ()


@pytest.mark.parametrize(
    ("thought", "again"),
    [
        pytest.param("Let me weigh A against B once more. ({})", True, id="behind"),
        pytest.param("Thought {}: A is cheap, B is fast.", True, id="before"),
        pytest.param("{}/9. A is cheap, B is fast.", True, id="of how many"),
        pytest.param("A is cheap, B is fast [{}]", True, id="in brackets"),
        pytest.param("Part {} of the plan is to write the reader.", False, id="a number of something else"),
        pytest.param("There are {} ways to do it", False, id="a count"),
    ],
)
def test_the_number_of_a_thought_is_no_part_of_it(thought: str, again: bool) -> None:
    run = Session().user()
    for number in range(1, 5):
        arguments = {"thought": thought.format(number), "thoughtNumber": number, "totalThoughts": 9}
        run.call("sequentialthinking", arguments, f'{{"thoughtNumber": {number}}}')
    assert (run.classes()[1:] == ["redundant_noise"] * 3) == again
