"""The smaller parts of hindsight: effects of tools, failures, edits, kept results, requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.events import Call, Result
from loopaudit.hindsight.calls.changes import MAX_WAITING, Changes
from loopaudit.hindsight.calls.edits import Edit, Files, edit_of, edited_paths
from loopaudit.hindsight.calls.effects import Natures, command_of, effect_of, nature_of, program_of, worded
from loopaudit.hindsight.calls.failures import _CATEGORIES, _NEEDLES, category_of, failure_of, same_failure
from loopaudit.hindsight.calls.outputs import Held, KnownCall, Outputs, digest_of, equal, held_of
from loopaudit.hindsight.calls.requests import asks_for_patience, asks_to_go_on, is_guard_notice, runs_asked
from loopaudit.hindsight.shell.programs import Effect
from loopaudit.readers.emit import Emitter

# -- effects -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "effect"),
    [
        ("Read", {"file_path": "a"}, Effect.LOOKS),
        ("mcp__fs__read_file", {"path": "a"}, Effect.LOOKS),
        ("TodoWrite", {"todos": []}, Effect.LOOKS),
        ("Edit", {"file_path": "a"}, Effect.CHANGES),
        ("Task", {"prompt": "x"}, Effect.CHANGES),
        ("memory_search", {"query": "a"}, Effect.LOOKS),
        ("getTicket", {"id": 1}, Effect.LOOKS),
        ("createTicket", {"id": 1}, Effect.CHANGES),
        ("http_get", {"url": "x"}, Effect.LOOKS),
        ("http_post", {"url": "x"}, Effect.CHANGES),
        ("http_request", {"method": "GET"}, Effect.LOOKS),
        ("http_request", {"method": "DELETE"}, Effect.CHANGES),
        ("browser_click", {"ref": 1}, Effect.CHANGES),
        ("browser", {"action": "screenshot"}, Effect.LOOKS),
        ("browser", {"action": "click"}, Effect.CHANGES),
        ("computer", {"action": "wait"}, Effect.LOOKS),
        ("process", {"action": "poll"}, Effect.LOOKS),
        ("db_query", {"sql": "select 1"}, Effect.LOOKS),
        ("db_query", {"sql": "DELETE FROM t"}, Effect.CHANGES),
        ("db_execute", {"sql": "select 1"}, Effect.CHANGES),
        ("run_sql", {"query": "update t set a=1"}, Effect.CHANGES),
        ("set_status", {"id": 1}, Effect.CHANGES),
        ("frobnicate", {}, Effect.CHANGES),
        ("bash", {"command": "ls"}, Effect.LOOKS),
        ("bash", {"command": ["bash", "-lc", "ls | wc -l"]}, Effect.LOOKS),
        ("bash", {"command": ["rm", "a b"]}, Effect.CHANGES),
        ("bash", {}, Effect.CHANGES),
        ("exec_command", {"cmd": "git status"}, Effect.LOOKS),
    ],
)
def test_effects(name: str, arguments: Any, effect: Effect) -> None:
    nature = nature_of(name)
    assert effect_of(name, arguments, nature, nature.kind).effect == effect


@pytest.mark.parametrize(
    ("name", "arguments", "waits", "only"),
    [
        ("BashOutput", {"bash_id": 1}, True, False),
        ("job_status", {"id": 1}, True, False),
        ("set_status", {"id": 1}, False, False),
        ("wait", {"seconds": 5}, True, True),
        ("sleep", {"seconds": 5}, True, True),
        ("computer", {"action": "wait"}, True, True),
        ("process", {"action": "poll"}, True, False),
        ("read_file", {"path": "a"}, False, False),
    ],
)
def test_waiting_tools(name: str, arguments: Any, waits: bool, only: bool) -> None:
    nature = nature_of(name)
    verdict = effect_of(name, arguments, nature, nature.kind)
    assert (verdict.waits, verdict.only_waits) == (waits, only)


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("git push -f", "git push"),
        ("cd /x && git commit -m y", "git commit"),
        ("FOO=1 sudo /usr/bin/ssh host", "ssh"),
        ("pytest -q", "pytest"),
        ("", ""),
    ],
)
def test_programs(command: str, program: str) -> None:
    assert program_of(command) == program


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({"command": "ls"}, "ls"),
        ({"command": ["bash", "-lc", "ls -l"]}, "ls -l"),
        ({"command": ["cat", "a b"]}, "cat 'a b'"),
        ({"command": ["echo", "it's"]}, "echo 'it'\\''s'"),
        ({"code": "print(1)"}, "print(1)"),
        ("ls", "ls"),
        ({"command": 3}, None),
        ([], None),
    ],
)
def test_commands(arguments: Any, command: str | None) -> None:
    assert command_of("bash", arguments) == command


def test_natures_are_looked_up_once() -> None:
    natures = Natures()
    assert natures["Read"] is natures["Read"]


# -- changes -------------------------------------------------------------------------------


def made(name: str, arguments: Any) -> Call:
    """The next call of a fresh conversation."""
    call = Emitter(lambda event: None).call(name, arguments)
    assert call is not None
    return call


def note(changes: Changes, number: int, command: str) -> None:
    call = made("bash", {"command": command})
    call.number = number
    changes.note(call, command, nature_of("bash"), "shell")


def test_changes_are_found_newest_first() -> None:
    changes = Changes()
    for number, command in enumerate(["rm a", "ls", "make", "pytest", "ls"], start=1):
        note(changes, number, command)
    assert changes.since(2, "x")
    assert changes.since(3, None)
    assert not changes.since(4, None)
    assert (changes.world, changes.lasting) == (3, 3)
    assert not changes.since(3, "x")
    assert changes.since(3, None)
    assert not changes.since(4, None)


def test_an_edit_matters_to_its_file_and_to_looks_at_anything() -> None:
    changes = Changes()
    changes.edited("src/a.py", 5)
    assert changes.since(4, "/w/src/a.py")
    assert not changes.since(4, "/w/src/b.py")
    assert changes.since(4, None)
    changes.edited(None, 7)
    assert changes.since(6, "/w/src/b.py")


def test_what_waits_too_long_counts_as_a_change() -> None:
    changes = Changes()
    for number in range(1, MAX_WAITING + 2):
        note(changes, number, "ls")
    assert changes.since(1, "x")
    assert not changes.since(MAX_WAITING, "x")


# -- failures ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Unknown tool: search_files. Available tools: a, b", "unknown_tool"),
        ("Tool foo does not exist", "unknown_tool"),
        ("unsupported call: foo", "unknown_tool"),
        ("Invalid todo arguments: op must be set (was missing)", "invalid_args"),
        ("missing required parameter 'content'", "invalid_args"),
        ("InputValidationError: [...]", "invalid_args"),
        ("Could not parse the arguments as JSON", "invalid_args"),
        ("HTTP 401 Unauthorized: the API token is expired", "auth"),
        ("403 Forbidden", "auth"),
        ("429 too many requests, retry after 10 s", "outage"),
        ("503 service unavailable", "outage"),
        ("connection refused", "outage"),
        ("network timeout at: https://x", "outage"),
        ("Permission to use Bash with command rm has been denied.", "denied"),
        ("The user doesn't want to proceed with this tool use.", "denied"),
        ("rm: cannot remove 'a': Permission denied", "denied"),
        ("Edit failed: 0 occurrences of old_string found.", "no_match"),
        ("String to replace not found in file.", "no_match"),
        ("apply_patch verification failed: Failed to find expected lines", "no_match"),
        ("cat: a: No such file or directory", "not_found"),
        ("File not found: a", "not_found"),
        ("AssertionError: 3 != 4", "other"),
        ("", "other"),
    ],
)
def test_categories(text: str, category: str) -> None:
    assert category_of(text) == category


@given(
    st.lists(
        st.sampled_from(
            "unknown tool function not found missing required parameter argument invalid json 429 503 timed out "
            "request 401 forbidden token expired permission was denied by user 0 matches old_string context no "
            "such file exist could be malformed call keys rate limit blocked while patch failed".split()
        ),
        max_size=7,
    )
)
def test_needles_spare_searches_only(words: list[str]) -> None:
    """A category is found with its needles exactly where its pattern alone finds it."""
    text = " ".join(words)
    first = next((name for name in _NEEDLES if any(one.pattern.search(text) for one in _CATEGORIES[name])), "other")
    assert category_of(text) == first


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("boom at 10:20:30", {"q": "a"}), ("boom at 11:00:00", {"q": "b"}), True),
        (("boom", {"q": "a"}), ("bang", {"q": "b"}), False),
        (("cannot read alpha", {"path": "alpha"}), ("cannot read beta", {"path": "beta"}), False),
        (("cannot read alpha", {"path": "alpha", "n": 1}), ("cannot read alpha", {"path": "alpha", "n": 2}), True),
        (
            ("bad JSON at position 104: invalid arguments", "x"),
            ("bad JSON at position 7: invalid arguments", "y"),
            True,
        ),
        (("File not found", {"path": "a"}), ("File not found", {"path": "b"}), False),
        (("timeout", {"host": "a"}), ("timeout", {"host": "b"}), False),
        (("exited with code 1", {"command": "a"}), ("exited with code 1", {"command": "b"}), False),
        (("", {"q": "a"}), ("", {"q": "b"}), False),
    ],
)
def test_same_failure(one: tuple[str, Any], other: tuple[str, Any], same: bool) -> None:
    assert same_failure(failure_of(*one), failure_of(*other)) == same
    assert same_failure(failure_of(*other), failure_of(*one)) == same


def test_two_tools_may_meet_one_failure_at_different_places() -> None:
    one, other = failure_of("the sandbox is dead", {"host": "a"}), failure_of("the sandbox is dead", {"host": "b"})
    assert not same_failure(one, other)
    assert same_failure(one, other, same_tool=False)


# -- edits ---------------------------------------------------------------------------------


def replace(old: str, new: str) -> Edit:
    found = edit_of({"old_string": old, "new_string": new})
    assert found is not None
    return found


def whole(text: str) -> Edit:
    found = edit_of({"content": text})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("edits", "moves"),
    [
        ([replace("a", "b"), replace("b", "a")], ["new", "revert"]),
        ([replace("a", "b"), replace("b", "a"), replace("a", "b")], ["new", "revert", "returned"]),
        ([replace("a", "b"), replace("c", "d"), replace("b", "a"), replace("d", "c")], ["new", "new", "new", "revert"]),
        ([replace("a", "b"), replace("a", "b")], ["new", "new"]),
        ([replace("a", "b"), replace("b", "c"), replace("c", "a")], ["new", "new", "new"]),
        ([whole("x"), whole("x")], ["new", "repeated"]),
        ([whole("x"), whole("y"), whole("x"), whole("y")], ["new", "new", "revert", "returned"]),
        ([whole("x"), whole("y"), whole("x"), whole("z"), whole("y")], ["new", "new", "revert", "new", "revert"]),
        ([whole(""), whole("")], ["new", "repeated"]),
    ],
)
def test_states_of_a_file(edits: list[Edit], moves: list[str]) -> None:
    files = Files()
    assert [files.apply("f", edit, n)[0] for n, edit in enumerate(edits, start=1)] == moves


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
def test_a_whole_content_is_its_state(contents: list[str]) -> None:
    files = Files()
    seen: set[str] = set()
    last = None
    for number, content in enumerate(contents, start=1):
        move, _ = files.apply("f", whole(content), number)
        if content == last:
            assert move == "repeated"
        else:
            assert (move == "new") == (content not in seen)
        seen.add(content)
        last = content


@pytest.mark.parametrize(
    ("arguments", "pairs"),
    [
        ({"old_str": "a", "new_str": "b"}, 1),
        ({"oldText": "a", "newText": "b"}, 1),
        ({"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]}, 2),
        ({"patch": "*** Begin Patch\n*** Update File: f\n-a\n+b\n"}, 1),
        ({"command": ["apply_patch", "*** Begin Patch\n*** Update File: f\n-a\n+b\n"]}, 1),
        ("*** Begin Patch\n*** Update File: f\n-a\n+b\n", 1),
    ],
)
def test_edits_are_recognised(arguments: Any, pairs: int) -> None:
    found = edit_of(arguments)
    assert found is not None
    assert len(found.pairs) == pairs


@pytest.mark.parametrize(
    "arguments", [{}, {"insert_line": 3, "new_str": "x"}, "nothing", None, {"edits": []}, {"old": 1}]
)
def test_what_is_no_edit(arguments: Any) -> None:
    assert edit_of(arguments) is None


def test_paths_of_an_edit() -> None:
    assert edited_paths({"file_path": "./a"}) == ["a"]
    assert edited_paths({"input": "*** Update File: a\n*** Delete File: b\n"}) == ["a", "b"]
    assert edited_paths("+++ b/x\n") == ["x"]
    assert edited_paths({"x": 1}) == []


# -- kept results --------------------------------------------------------------------------

sources = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(sources, sources)
def test_kept_results_compare_as_their_texts(one: str, other: str) -> None:
    import orjson

    forms: list[Held] = [one, orjson.dumps(one), digest_of(one), digest_of(orjson.dumps(one))]
    others: list[Held] = [other, orjson.dumps(other), digest_of(other)]
    for form in forms[:3]:
        for compared in others[:2]:
            assert equal(form, compared) == (one == other)
    assert equal(forms[3], orjson.dumps(other)) == (one == other)


def test_large_results_are_kept_as_digests() -> None:
    assert isinstance(held_of(Result("x" * 100_000)), tuple)
    assert equal(held_of(Result("x" * 100_000)), held_of(Result("x" * 100_000)))
    assert not equal(held_of(Result("x" * 100_000)), held_of(Result("x" * 99_999 + "y")))


def test_the_oldest_results_are_let_go() -> None:
    outputs = Outputs(budget=5000)
    entries = [KnownCall(n, n, n, False, f"{n:04}" * 250, 1, 0) for n in range(10)]
    for entry in entries:
        outputs.keep(entry)
    kept = [isinstance(e.held, str) for e in entries]
    assert kept == sorted(kept)
    assert 0 < sum(kept) < 10
    assert all(equal(e.held, f"{e.last:04}" * 250) for e in entries)


# -- requests ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["Continue", "please continue.", "ok, go on", "keep going!", "Proceed", "go ahead"])
def test_nudges(text: str) -> None:
    assert asks_to_go_on(text)


@pytest.mark.parametrize("text", ["Continue with the tests in src", "run it again", "", "yes, the second one"])
def test_requests_are_no_nudges(text: str) -> None:
    assert not asks_to_go_on(text)


@pytest.mark.parametrize(
    "text",
    [
        "[loop detector] identical calls",
        "SYSTEM: you are stuck",
        "<system>repeated call blocked</system>",
        "Warning: loop",
    ],
)
def test_notices_of_guards(text: str) -> None:
    assert is_guard_notice(text)


@pytest.mark.parametrize("text", ["You are stuck in a loop!", "[see the log] it fails", "Why do you repeat this?", ""])
def test_persons_are_no_guards(text: str) -> None:
    assert not is_guard_notice(text)


@pytest.mark.parametrize(
    ("text", "runs"),
    [("run it 5 times", 5), ("Do it ten times.", 10), ("three more times", 3), ("many times", 1), ("", 1)],
)
def test_runs_asked_for(text: str, runs: int) -> None:
    assert runs_asked(text) == runs


def test_patience() -> None:
    assert asks_for_patience("Please poll the job")
    assert asks_for_patience("check every 30 seconds")
    assert not asks_for_patience("fix the poller")


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("wikipedia_searcher", Effect.LOOKS),
        ("url_text_extractor", Effect.LOOKS),
        ("buscar_documento", Effect.LOOKS),
        ("datei_lesen", Effect.LOOKS),
        ("lire_fichier", Effect.LOOKS),
        ("datei_schreiben", Effect.CHANGES),
        ("eliminar_registro", Effect.CHANGES),
        ("enregistrer_note", Effect.CHANGES),
        ("black_hole", Effect.CHANGES),
    ],
)
def test_verbs_of_other_languages_and_nouns_of_doers(name: str, effect: Effect) -> None:
    nature = nature_of(name)
    assert effect_of(name, {"x": 1}, nature, nature.kind).effect == effect


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"selector": "#ok"}, {"selector": "text=OK"}, True),
        ({"xpath": "//button[1]"}, {"xpath": "//button[text()='OK']"}, True),
        (
            {"selector": "#ok", "url": "https://a.example.test"},
            {"selector": "#no", "url": "https://a.example.test"},
            True,
        ),
        ({"id": "#ok"}, {"id": "text=OK"}, False),
        ({"query": "#ok"}, {"query": "text=OK"}, False),
    ],
)
def test_selectors_name_one_page(one: dict[str, str], other: dict[str, str], same: bool) -> None:
    failures = [failure_of(f"no element at {next(iter(sent.values()))}", sent) for sent in (one, other)]
    assert same_failure(*failures) is same


@pytest.mark.parametrize(
    ("arguments", "is_worded"),
    [
        ({"query": "x"}, True),
        ({"texto": "x"}, True),
        ({"name": "the big ledger"}, True),
        ({"name": "ledger"}, False),
        ({"path": "a b/c d"}, False),
        ({"name": "the big ledger", "limit": 3}, False),
        ({}, False),
        (None, False),
    ],
)
def test_questions_in_words_of_ones_own(arguments: Any, is_worded: bool) -> None:
    assert worded(arguments) is is_worded
