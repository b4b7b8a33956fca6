"""The short ways of hindsight tell what the long ones tell: each is held against the function that does it all."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from typing import Any
from unittest.mock import patch
from urllib.parse import quote_plus

import orjson
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec import structs

from loopaudit.core import canonical
from loopaudit.core.canonical import call_key
from loopaudit.core.events import SLICE, TEXT, VALUE, Batch, Boundary, Call, Event, Result, Turn, decode_text
from loopaudit.hindsight import classifier, observer
from loopaudit.hindsight.calls import (
    alternatives,
    answers,
    choices,
    failures,
    footers,
    listings,
    noise,
    outputs,
    ranges,
    shell_ranges,
    waits,
    wordings,
)
from loopaudit.hindsight.calls.alternatives import words_of_search
from loopaudit.hindsight.calls.answers import Answers, Searches
from loopaudit.hindsight.calls.changes import Changes
from loopaudit.hindsight.calls.edits import _lines_of, edit_of, edited_paths, replaced_in
from loopaudit.hindsight.calls.effects import Natures, acts_in_gui, nature_of, sees_gui, tells_action
from loopaudit.hindsight.calls.failing import HEADER, Erring, Failing, behind_header, may_say_error, maybe_error
from loopaudit.hindsight.calls.failures import (
    ends_of,
    excerpt,
    gist_of,
    lead,
    loose,
    may_be_obstacle,
    obstacle_of,
    plain_of,
)
from loopaudit.hindsight.calls.history import History
from loopaudit.hindsight.calls.noise import begins_otherwise, first_difference, same_but_for_noise
from loopaudit.hindsight.calls.outputs import Held, differences, digest_of, equal, head_of, is_nothing, text_of
from loopaudit.hindsight.calls.subject import Subject
from loopaudit.hindsight.episodes import likeness, replies, verdict
from loopaudit.hindsight.episodes.plans import is_plan_file
from loopaudit.hindsight.episodes.verdict import NEED, Answer, Group, Member, Stretch
from loopaudit.hindsight.observer import Hindsight
from loopaudit.hindsight.shell import commands as shell_commands
from loopaudit.hindsight.shell import parse
from loopaudit.hindsight.shell.parse import MAX_COMMAND
from loopaudit.hindsight.shell.programs import CHECKING, EFFECT_CHANGES, LOOKING, LOOKS, MAY_CHANGE, RUNNERS, WRAPPERS
from loopaudit.hindsight.shell.rules import RULES
from loopaudit.hindsight.words import ENDINGS, RE_EDIT, RE_READ, REDUNDANT, CallClass
from tests.hindsight.sessions import Session, judge

words = st.sampled_from(
    [
        "took 1.5 s",
        "took 22 s",
        "pid 4711",
        "pid 9",
        "ready",
        "built",
        "é",
        "\\n",
        "\\",
        '"',
        "/tmp/a1",
        "",
        "\t",
        "\x1b[",
    ]
)
lines = st.lists(words, max_size=3).map(" ".join)
texts = st.lists(lines, max_size=24).map("\n".join)


def _recorded(text: str, spelling: int) -> bytes:
    """A text as JSON bytes: as most write it, in ASCII only, or with some characters spelled in hex."""
    if spelling == 0:
        return orjson.dumps(text)
    raw = json.dumps(text).encode()
    return raw if spelling == 1 else raw.replace(b"\\\\", b"\\u005c").replace(b"\\n", b"\\u000a", 1)


@given(texts, texts, st.integers(0, 2), st.integers(0, 2), st.booleans())
@example("took 1 s\nready", "took 2 s\nbuilt", 0, 0, False)
@example("a\\nb", "a\nb", 0, 0, False)
@example("1\n" * 9 + "/tmp/x\\nb", "1\n" * 9 + "/tmp/x\\nc", 0, 0, False)
def test_texts_told_apart_by_their_first_lines_differ_in_more_than_noise(
    one: str, other: str, spelled: int, otherwise: int, together: bool
) -> None:
    """Whatever is told apart early is told apart by a look at everything."""
    if together:
        other = one + other
    before, held = _recorded(one, spelled), _recorded(other, otherwise)
    assume(one != other and not (is_nothing(one) and is_nothing(other)))
    everything = same_but_for_noise(one, other)
    if begins_otherwise(before, held):
        assert everything is None
    assert differences(before, held) == everything


def test_most_long_results_are_told_apart_early() -> None:
    same = "".join(f"line {n} of it\n" for n in range(200))
    one, other = orjson.dumps(f"{same}took 1 s\nready{same}"), orjson.dumps(f"{same}took 2 s\nbuilt{same}")
    assert begins_otherwise(one, other)
    assert not begins_otherwise(one, one.replace(b"took 1 s", b"took 3 s"))


@given(st.binary(max_size=300), st.binary(max_size=300), st.integers(0, 300))
def test_the_first_difference(one: bytes, other: bytes, shared: int) -> None:
    other = one[:shared] + other
    assume(one != other)
    at = first_difference(one, other)
    assert one[:at] == other[:at] and one[at : at + 1] != other[at : at + 1]


@given(
    st.sampled_from([" ", "ab ", "é ", "\\ ", "\n", '"', "\U0001f6d1 "]), st.integers(900, 4000), lines, st.booleans()
)
def test_the_ends_of_a_long_error_text(unit: str, times: int, end: str, ascii_only: bool) -> None:
    text = f"{end}{unit * times}{end}"
    raw = _recorded(text, int(ascii_only))
    found = ends_of(raw)
    assert found is None or found == excerpt(text)
    assert unit[-1:] != " " or found is not None or len(raw) < 4096 or ascii_only


def test_the_ends_of_what_is_no_plain_text() -> None:
    assert ends_of(b'[{"text":"' + b"a b " * 2000 + b'"}]') is None
    assert ends_of(b'"' + b"a" * 9000 + b'"') is None
    assert ends_of(b'"\\ud83d ' + b"a b " * 2000 + b'"') is None


pieces = st.sampled_from(
    [
        "Error: ",
        "no such file ",
        "/tmp/a1",
        "src/a.py",
        "\n",
        "Exit code 1",
        "17",
        "took 3 s",
        ". ",
        "Traceback\n",
        "x" * 16,
    ]
)
failing_words = st.lists(pieces, max_size=12).map("".join)


@given(
    failing_words, st.dictionaries(st.sampled_from(["command", "path", "n"]), failing_words | st.just(17), max_size=3)
)
@example("Exit code 1\nno such thing in src/a.py\nx", {"path": "src/a.py"})
@example("Exit code 1\nsrc/a.py\nis not there at all", {"command": "src/a.py\nis not"})
def test_the_first_phrase_of_a_failure(text: str, arguments: dict[str, Any]) -> None:
    """What is found line by line is what begins the whole text without noise and arguments."""
    gist = gist_of(text, arguments)
    begin = lead(plain_of(gist, arguments)[0])
    assert loose(gist, arguments) == re.sub(r"\d+", "0", re.sub(r"\s+", " ", begin).strip())


@given(
    st.lists(st.sampled_from([*"a|B|_|7|é|ー|・|中|文|ㄱ|㍿|鿿|ꀀ|가|\U0001f6d1|…| |-".split("|")]), max_size=9).map(
        "".join
    )
)
def test_words_are_those_of_one_pattern(text: str) -> None:
    assert choices.words_of(text) == re.findall(r"[^\W\u3040-\u9fff]+|[\u3040-\u9fff]", text)


refusing = st.sampled_from(
    [
        *wordings._REFUSALS,
        *wordings._REFUSING,
        *"error:|can't| not|could not|nothing |done|no |such|s|_|- | ".split("|"),
    ]
)


@given(st.lists(refusing, max_size=5).map("".join) | st.lists(refusing, max_size=5).map(" ".join))
@example("- tool execution failed")
@example("edit(a) failed")
def test_what_begins_with_a_refusal_matches_its_words(text: str) -> None:
    whole = re.compile(rf"\W*(?:(?:{'|'.join(wordings._REFUSALS)})\b|{wordings._REJECTS.pattern})")
    assert wordings._begins_with_rejection(text) is (whole.match(text) is not None)


accepting = st.sampled_from(
    [*wordings._DONE_WORDS, *wordings._ACCEPTING, *"a.py|lines|has been|was|ful|s|_|- | ".split("|")]
)


@given(st.lists(accepting, max_size=5).map("".join) | st.lists(accepting, max_size=6).map(" ".join))
@example("- the file a.py has been updated")
@example("(changes successfully applied)")
def test_what_begins_with_a_success_matches_its_words(text: str) -> None:
    whole = re.compile(
        rf"\W*(?:(?:{'|'.join(wordings._DONE_WORDS)})\b|success|{wordings._ACCEPTS.pattern})", re.IGNORECASE
    )
    assert wordings._accepts(text) is (whole.match(text) is not None)


@given(st.lists(st.sampled_from([" ", "run", ".", "_", "é", "(", "'a b'", '"c"', "x=", "\n"]), max_size=6).map("".join))
def test_only_a_function_call_names_what_it_is_about_by_a_text(code: str) -> None:
    match = failures._CODE.match(code)
    assert failures._target({"code": code}, "python") == (None if match is None else match.group(1), None)


@given(
    st.sampled_from(["a b ", "abc", "\U0001f6d1 ", "\n ", "\\ ", '"x ']),
    st.integers(0, 1500),
    lines,
    st.sampled_from(["", "\n", " " * 300]),
    st.booleans(),
)
def test_the_end_of_a_result(unit: str, times: int, end: str, behind: str, ascii_only: bool) -> None:
    text = unit * times + end + behind
    for source in (text, _recorded(text, int(ascii_only)), orjson.dumps([{"type": "text", "text": text}])):
        assert outputs.tail_of(source).rstrip()[-200:] == (text_of(source) or "").rstrip()[-200:]


nothings = st.sampled_from([*failures._EMPTY_WORDS, *"exıt|ſtatuſ|FAİLED|Boom|_|7|٣|1x| |-|: |é".split("|")])


@given(st.lists(nothings, max_size=6).map("".join) | st.lists(nothings, max_size=6).map(" ".join))
def test_an_error_text_that_tells_nothing_holds_only_certain_words(text: str) -> None:
    words = "|".join(failures._EMPTY_WORDS)
    for spelled in (text, text.upper()):
        only = re.fullmatch(rf"(?:\W|\b(?:{words})\b|\d)*+", spelled, re.IGNORECASE) is not None
        assert failures._is_empty(spelled) is only


def _all_echoes(arguments: dict[str, Any]) -> list[str]:
    """Each text of a call's arguments that its error may echo, in whatever spelling, longest first."""
    found = {v for v in arguments.values() if isinstance(v, str) and 3 <= len(v) <= 400}
    found.update(failures._PLACE_WORD.findall(str(arguments.get("command", "")))[:16])
    found.update([quote_plus(value) for value in found if len(value) <= 120])
    found.update([tail for v in found if len(tail := v.replace("\\", "/").rstrip("/").rpartition("/")[2]) >= 3])
    return sorted(found, key=lambda v: (-len(v), v))[:16]


echoed = st.sampled_from(
    "a b|src/a b.py|a+b|src%2Fa+b.py|took 3 s|session|ration> x|<dur|argument|gum|é/ü|<argument>|\n|/tmp/abc|C:\\x\\abc"
    "|wait|pid 17|17| |path>".split("|")
)
echoing = st.lists(echoed | pieces, max_size=9).map("".join)
many_echoing = st.lists(echoed | pieces, min_size=4, max_size=24).map(
    lambda sent: {str(n): t for n, t in enumerate(sent)}
)


@given(
    echoing,
    st.dictionaries(st.sampled_from(["command", "path", "n"]), echoing | st.lists(echoed).map(" ".join)) | many_echoing,
)
@example("took 3 s", {"q": "duration>", "r": "<duration"})
@example("<argument><argument> is no name\nsrc/a.py", {"q": "x\ny", "path": "src/a.py"})
@example("took 3 s", {"q": "duration"})
@example("no src%2Fa.py", {"q": "src/a.py"})
@example("no xyz", {str(n): f"b c{n}" for n in range(10, 22)} | {"q": "xyz"})
def test_only_what_stands_in_an_error_is_looked_for_in_it(text: str, arguments: dict[str, Any]) -> None:
    gist = gist_of(text, arguments)
    everything = gist._replace(echoes=_all_echoes(arguments))
    assert plain_of(gist, arguments) == plain_of(everything, arguments)
    assert loose(gist, arguments) == loose(everything, arguments)


@given(
    st.sampled_from(["a b ", "\U0001f6d1 ", "\n"]),
    st.integers(0, 4000),
    st.sampled_from(["Permission denied: /a/b/c", ""]),
)
def test_an_obstacle_is_looked_for_where_a_failure_is_read(unit: str, times: int, reason: str) -> None:
    for text in (unit * times + reason, reason + unit * times, unit * times + reason + unit * times):
        found = obstacle_of(excerpt(text), "")
        recorded: tuple[str | bytes, ...] = (text, orjson.dumps(text), json.dumps(text).encode())
        assert not found or all(may_be_obstacle(each) for each in recorded)


@given(
    st.sampled_from(
        ["", "Chunk ID: a\nOutput:\n", "Wall time: 1 s\n", "Wall time: 1 s\n" + "b" * HEADER + "Output:\n"]
    ),
    st.sampled_from(["", "a" * 60, "a" * 70, "\n"]),
    st.sampled_from(["Error: no", "Exception", "Traceback", "Cell In[1]", "-" * 20, "fine"]),
    st.booleans(),
)
def test_errors_behind_a_header(header: str, before: str, error: str, of_shell: bool) -> None:
    text = header + before + error
    for source in (text, orjson.dumps(text)):
        output = behind_header(source) if of_shell else source
        assert maybe_error(source, of_shell=of_shell) == (output if may_say_error(output) else None)


@given(
    st.lists(lines, min_size=1, max_size=40).map(" ".join),
    st.sampled_from(['"}]', '"},{"type":"text","text":"b"}]', '","id":1}]']),
)
def test_the_head_of_content_blocks(text: str, end: str) -> None:
    raw = b'[{"type":"text","text":' + orjson.dumps(text * 20)[:-1] + end.encode()
    assert decode_text(raw).startswith(head_of(raw))
    assert len(head_of(raw)) >= min(len(decode_text(raw)), 100)


def test_the_same_command_in_the_same_folder() -> None:
    def asked(**arguments: Any) -> Any:
        return Subject(Natures()).take(Call("", 1, "shell", VALUE, arguments, b"key"))

    here = asked(command="make", workdir="/a")
    assert (
        here == asked(workdir="/a", command="make", timeout=3) == asked(command=["bash", "-lc", "make"], workdir="/a")
    )
    others = {here, asked(command="make"), asked(command="make", workdir="/b"), asked(command="make", cwd="/a")}
    assert len(others) == 4
    for more in (
        {"command": "make", "workdir": 1},
        {"command": "make", "input": "/a"},
        {"command": "make", "a": "b", "c": "d"},
    ):
        assert asked(**more) == asked(**dict(reversed(more.items()))) == b"key"


names = st.sampled_from(["file_path", "path", "old_string", "new_string", "old", "new", "search", "replace", "content"])
values = st.sampled_from(["src/./a.py", "", "b", "c\n", 3, None, ["x"]])


@given(st.dictionaries(names, values, max_size=6))
@example({"path": "a", "old": "1", "new": "2", "search": "3", "replace": "4", "file_path": "b"})
def test_the_usual_edit(arguments: dict[str, Any]) -> None:
    """Path and texts in one go are what both questions give one by one."""
    found = replaced_in(arguments)
    paths, edit = edited_paths(arguments), edit_of(arguments)
    if found is None:
        assert not paths or edit is None or not edit.pairs
    else:
        assert ([found[0]], found[1]) == (paths, edit)


commands = st.sampled_from(
    [
        "pytest a.py",
        "cd x && pytest b",
        "git push",
        "git status",
        "make",
        "sudo make x",
        "/bin/make",
        "echo pytest",
        "",
        "&",
    ]
)


@given(st.lists(commands, min_size=1, max_size=12), commands, st.sampled_from(["bash", "mcp__x__bash"]))
def test_a_success_ends_the_failures_of_its_own_program_only(failed: list[str], success: str, tool: str) -> None:
    """A command is searched for the failing programs first; the answer is that of their scopes."""
    failing, subject = Failing(), Subject(Natures())

    def take(command: str, number: int) -> str:
        call = Call("", number, tool, VALUE, {"command": command}, call_key(tool, command))
        subject.take(call)
        return subject.scope()

    scopes = []
    for number, command in enumerate(failed, 1):
        scopes.append(take(command, number))
        failing.failed(subject, Result("no", failed=True, status="error", has_error=True), number)
    over = take(success, 50)
    failing.succeeded(subject)
    for number, (command, scope) in enumerate(zip(failed, scopes, strict=True), 100):
        take(command, number)
        _, before, _ = failing.failed(subject, Result("no", failed=True, status="error", has_error=True), number)
        first_again = scope not in scopes[: number - 100]
        assert not first_again or (before is None) == (scope == over)


@given(st.lists(commands, max_size=12), commands, st.sampled_from(["bash", "mcp__x__bash", "read"]))
def test_another_answer_ends_the_errors_of_its_own_program_only(erred: list[str], success: str, tool: str) -> None:
    erring, subject = Erring(), Subject(Natures())

    def take(command: str, number: int) -> str:
        subject.take(Call("", number, tool, VALUE, {"command": command}, call_key(tool, command)))
        return subject.scope()

    scopes = set()
    for number, command in enumerate(erred, 1):
        scopes.add(take(command, number))
        erring.again(subject, "Error: no", number, Changes())
    over = take(success, 50)
    erring.succeeded(subject)
    assert set(erring._by_scope) == scopes - {over}


@pytest.mark.parametrize(
    "arguments", [{"nonce": 1, "content": "x"}, {"content": '"nonce"', "path": "a"}, {"a": {"nonce": 1}}]
)
@pytest.mark.parametrize("form", [TEXT, SLICE, VALUE])
@pytest.mark.parametrize("name", ["write_file", "query_thing", "launch"])
def test_labels_are_left_out_however_arguments_are_recorded(name: str, form: int, arguments: dict[str, Any]) -> None:
    raw = orjson.dumps(arguments)
    source: Any = raw.decode() if form == TEXT else raw if form == SLICE else arguments
    told = Subject(Natures()).take(Call("", 1, name, form, source, call_key(name, arguments)))
    assert told == call_key(name, {k: v for k, v in arguments.items() if k != "nonce"})


@given(
    st.recursive(
        st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.just(-0.0),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    ),
    st.sampled_from(["", "-0", " "]),
)
def test_arguments_sent_as_text_are_what_a_strict_reader_makes_of_them(value: Any, odd: str) -> None:
    for sent in (json.dumps(value), json.dumps([value, odd]), f"[{odd or 0}]"):
        strict = canonical.parse(sent)
        call = Call("", 1, "x", TEXT, sent, b"", strict is not canonical.NOT_JSON)
        found = call.arguments
        assert repr(found) == (sent if strict is canonical.NOT_JSON else repr(strict)) or found == sent


@pytest.mark.parametrize("other", ["abc", "abd", "abcd", b'"abc"', b'"abd"'])
def test_a_digest_equals_what_it_was_made_of(other: str | bytes) -> None:
    assert equal(digest_of("abc"), other) is (other in ("abc", b'"abc"'))
    assert equal(digest_of(b'"abc"'), other) is (
        decode_text(b'"abc"') == (other if isinstance(other, str) else decode_text(other))
    )


@given(st.lists(st.integers(0, 30), max_size=4))
def test_blocks_of_events_may_be_of_any_size(cuts: list[int]) -> None:
    session = Session().user("Go.")
    for number in range(8):
        session.sh("pytest a.py", "!1 failed in 3 s").edit("a.py", "x", f"y{number % 2}").read("b.py", "text" * 9)
    session._emit.finish()
    hindsight = Hindsight()
    places = [0, *sorted(cuts), len(session.events)]
    for first, last in pairwise(places):
        hindsight.events(session.events[first:last])
    whole, parts = judge(session.events), hindsight.finish()
    assert (whole.counts, whole.episodes) == (parts.counts, parts.episodes)


@given(st.from_regex(r"Wall time: [0-9]{1,6}\.[0-9]{1,12} seconds|Chunk ID: [0-9a-f]{4,32}", fullmatch=True))
def test_the_commonest_lines_with_noise(line: str) -> None:
    assert noise._COMMON.fullmatch(line) is not None
    assert noise._removed(line) == noise._removed_by_search(line)


headers = st.sampled_from(
    [
        "",
        "Chunk ID: 0a1b\n",
        "Chunk ID: 0a1b\nWall time: 1.5 seconds\n",
        "Chunk ID: c2d3\nWall time: 1.5 seconds\n",
        "Chunk ID: c2d3\nWall time: 2.25 seconds\n",
        "Chunk ID: x\nWall time: 2.25 seconds\n",
        "Chunk ID: c2d3\nWall time: 1.5 seconds\nProcess exited with code 0\n",
        "Chunk ID: c2d3\nWall time: 1.5 seconds\nProcess exited with code 0\nOriginal token count: 12\n",
        "Chunk ID: 0a1b\nWall time: 1.5 seconds\nProcess exited with code 0\nOriginal token count: 13\n",
        "Chunk ID: 0a1b\nWall time: 1.5 seconds\nProcess running with session ID 12\nOriginal token count: 13\n",
        "Chunk ID: 0a1b\nWall time: 1.5 seconds\nOriginal token count: 12\n",
    ]
)


@given(headers, headers, texts, texts, st.booleans())
def test_results_that_differ_in_their_headers(one: str, other: str, text: str, changed: str, same: bool) -> None:
    one, other = one + text, other + (text if same else changed)
    assume(one != other and not (is_nothing(one) and is_nothing(other)))
    assert differences(orjson.dumps(one), orjson.dumps(other)) == same_but_for_noise(one, other)


noisy = st.lists(
    st.sampled_from(["ran", " ", "1.5s", "2 ms", "pid 12", "<duration>", "<", "10:20:30", "a-1", "step 3", "<pid>"]),
    max_size=4,
).map("".join)


@given(noisy, noisy)
def test_lines_of_which_one_has_no_noise(line: str, counterpart: str) -> None:
    assume(line != counterpart)
    names: set[str] = set()
    (plain, found), (other, others) = noise._removed_by_search(line), noise._removed_by_search(counterpart)
    assert noise.alike_lines(line, counterpart, names) is (plain == other)
    assert plain != other or names == found | others


commands_of_search = st.sampled_from(["rg -n a b", "rg a b", "rg 'a' b | head", "ls c", "ls -l c", "git grep a b"])
found_by_search = st.sampled_from(
    [b'"one thing"', b'"another"', "one thing", "another", digest_of("one" * 300), digest_of(b'"' + b"x" * 700 + b'"')]
)


@given(
    st.lists(st.tuples(commands_of_search, found_by_search, st.integers(0, 1), st.booleans()), max_size=12),
    st.sampled_from([2, 512]),
)
def test_searches_are_read_when_one_is_repeated(done: list[tuple[str, Held, int, bool]], limit: int) -> None:
    searches, every, batch = Searches(), Answers(), 0
    with patch.object(answers, "MAX_TOOLS", limit):
        for number, (command, held, later, forget) in enumerate(done, 1):
            batch += later
            name = f"sh\0{words_of_search(command)}"
            expected = every.again(name, held, number, batch)
            noted = searches.found("sh", command, held, number, batch)
            assert noted in ("", name)
            again = searches.again(noted, held, number, batch) if noted else 0
            assert again == expected and (not again or searches.first == every.first)
            if again and forget:
                searches.forget(name)
                every.forget(name)


pieces = st.lists(
    st.sampled_from(
        [
            "status", "state", ": ", "killed", "\u212ailled", "was ", "been ", "dead", "di\u017fd", "not ",
            "running", "no ", "session", "found", "exited", " with code", "unknown ", "invalid ", "job",
            "returned ", "at once", "immediately", "end this turn", "nothing ", "pending", "does not ", "wait",
            "run it ", "several ", "a few ", "times", "time\u017f", "runs", "mehrmals", "mehrfach", "ein paar mal",
            "etliche Male", "plusieurs fois", "algunas veces", "alcune volte", "v\u00e1rias vezes", "\u591a\u6b21",
            "\u6570\u56de", "\u4f55\u56de\u304b", " ", "\n", "OK",
        ]
    ),
    max_size=6,
).map("".join)  # fmt: skip


@given(
    st.text(alphabet=st.characters(max_codepoint=127)), st.text() | st.text(alphabet="ab \u2014\u2026é\u30fbは_\ud800")
)
def test_words_of_ascii_are_those_of_any_text(ascii: str, text: str) -> None:
    for each in (ascii, text):
        assert likeness.Text(each).in_order == tuple(likeness._WORD.findall(each.lower()))


patch_pieces = st.sampled_from(
    [
        "\n",
        "*** Update File: ",
        "*** Update ",
        "*** Move to: ",
        "+++ ",
        "+++ b/",
        "diff --git a/x b/",
        "a.py",
        "\t",
        " ",
        "+",
    ]
)


@given(st.lists(patch_pieces, max_size=20).map("".join))
def test_the_files_of_a_patch(text: str) -> None:
    everywhere = re.findall(f"^{ranges._PATCHED.pattern}", text, re.MULTILINE)
    assert ranges.patched_paths(text) == list(dict.fromkeys(ranges.normal_path(path.strip()) for path in everywhere))


@given(st.text(alphabet="-+\n\r @a"), st.sampled_from("-+"))
def test_the_lines_of_a_patch(text: str, sign: str) -> None:
    plain = [line[1:] for line in text.split("\n") if line[:1] == sign and line[:3] != 3 * sign]
    assert _lines_of(text, sign) == plain


@pytest.mark.parametrize(
    "text",
    [
        "The file /a/b.py has been updated. Here's the result of running `cat -n` on a snippet: error",
        "The file b.py has been created",
        "File created successfully at: /a",
        "Success. Updated the following files:\nM a.py",
    ],
)
def test_edits_that_plainly_succeeded_are_no_refusals(text: str) -> None:
    assert wordings.plainly_accepts(orjson.dumps(text))
    assert not wordings.rejects(text)


@given(texts | st.sampled_from(["error: no match", "\u017f failed", "0 blocks \ud800"]))
def test_blocks_of_edits_that_plainly_succeeded(text: str) -> None:
    source = json.dumps([{"type": "text", "text": f"Successfully {text}"}], separators=(",", ":")).encode()
    if wordings.plainly_accepts(source):
        assert not wordings.rejects(head_of(source))
    else:
        assert b"\\" in source  # as it is written, or as an escape
    assert not wordings.plainly_accepts(source.replace(b"}]", b'},{"type":"text","text":"failed"}]'))
    assert not wordings.plainly_accepts(source.replace(b"}]", b',"text":"failed"}]'))


@pytest.mark.parametrize("text", ["The file a.py has not been updated", "The file a b has been read before", "Updated"])
def test_other_results_of_edits_are_read(text: str) -> None:
    assert not wordings.plainly_accepts(orjson.dumps(text))


@pytest.mark.parametrize(
    ("path", "plan"),
    [
        ("/w/TODO.md", True),
        ("/w/plan/./notes.md", False),
        ("plans//PLAN.md/.", True),
        ("C:\\w\\tasks.json", True),
        ("/w/planet.py", False),
    ],
)
def test_plan_files_by_their_names(path: str, plan: bool) -> None:
    assert is_plan_file({"file_path": path}) is plan


@given(st.text(alphabet="a2#'\" \n\\$()`|&;<>=-~{}é\t", max_size=12))
def test_the_commonest_pieces_of_a_command_are_plain(command: str) -> None:
    for place in range(len(command)):
        found = parse._TOKEN.match(command, place)
        if found is not None and found.lastgroup == "word":
            rest = parse._TOKEN.pattern[parse._TOKEN.pattern.index("(?P<space>") :]
            plain = re.compile(rest, re.DOTALL).match(command, place)
            assert plain is not None
            assert (plain.lastgroup, plain.group()) == ("plain", found.group())


_NEVER = re.compile(r"(?!)")


@given(st.text(alphabet="a2#'\" \n\\$()`|&;<>=-~{}é\t", max_size=16), st.sampled_from(["", "a -b 2 ", "cat <<a\n"]))
@example("echo a 2>&1 > b c", "")
@example("a # b c", "")
@example("a 'b' c\td", "")
def test_words_in_a_row_are_read_as_one_by_one(command: str, before: str) -> None:
    command = before + command
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "_easy", lambda _: None)
        in_rows = parse.parse(command)
        patch.setattr(parse, "_WORDS", _NEVER)
        expected = parse.parse(command)
    assert in_rows == expected
    assert parse.parse(command) == expected


@given(
    st.lists(
        st.sampled_from(
            [
                "ls", " ", " ", "  ", "\t", "-n", "'x y'", '"p q"', "'a\"b'", "''", "2>&1", " 2>&1 ", " 2>/dev/null",
                "2", "2>/dev/null", "|", "&&", "||", ";", "\n", "&", "#", "<", ">", "/dev/null", "$x", '"$x"', "\\",
                "'", "(", "-", "é", "\r", "\x1c", "\xa0",
            ]
        ),
        max_size=10,
    ).map("".join)
)  # fmt: skip
@example("a 2>&1-")
@example("a 2>/dev/nullx; b")
@example("a\x1cb")
@example("a'b'\"c\"d|e")
def test_what_is_easy_to_read_is_read_as_any_other(command: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "_easy", lambda _: None)
        expected = parse.parse(command)
    assert parse.parse(command) == expected


@given(
    st.sampled_from(["", "", "cd /a/b && ", "cd a && ", "cd - && ", "cd a; "]),
    st.sampled_from(
        ["cat", "cat -n", "nl -ba", "nl", "sed -n '1,20p'", "sed -n '5,2p'", "sed -n '0,9p'", "sed -n 5p", "cat "]
    ),
    st.sampled_from(
        [
            "a", "t", "a.py", "'a b'", "'x/(y)/z'", "'[id]'", "'-x'", "-x", "5", "+5", "'+5'", "./q", "'a'", "'t'",
            "/p", "'/q'", "a/../b", "'$x'", "'a\nb'", "a//b", "'t '", "'a/'",
        ]
    ),
    st.sampled_from(["", "", " | sed -n '3,20p'", " | sed -n '9,2p'", " | sed -n '0,0p'", "|sed -n '1,2p'", " | head"]),
)  # fmt: skip
def test_lines_that_are_shown_the_common_way_are_those_of_any_other(
    folder: str, program: str, file: str, cut: str
) -> None:
    command = f"{folder}{program} {file}{cut}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shell_ranges, "_PLAIN_PART", _NEVER)
        expected = shell_ranges.shell_range(command)
    assert shell_ranges.shell_range(command) == expected


@given(
    st.sampled_from(["cat ", "cd a && head ", "sed "]),
    st.text(alphabet="a>./ 12&-n'", max_size=6),
    st.sampled_from(["", "/dev/null", " /dev/null", " a <<'E'\nx\nE"]),
)
@example("cat ", "a", " 2>&1")
@example("cat ", ">", "/dev/null a")
def test_what_is_written_to_a_file_is_not_shown(program: str, middle: str, end: str) -> None:
    command = f"{program}{middle}{end}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shell_ranges, "_PLAIN_CAT", _NEVER)
        expected = shell_ranges.shell_range(command)
    assert (shell_ranges.shell_range(command) if shell_ranges.may_show_lines(command) else None) == expected


commands_of_looks = st.lists(
    st.sampled_from(
        [
            "ls", "cat", "tail", "grep", "git", "-C a", "log", "find", "sort", "sed -n '1,2p'", "echo", "cd a &&", "rg",
            "-f", "-i", "-ibak", "--watch", "--pre", "--output=x", "-o", "-exec rm", "-delete", "'a'", '"b"',
            '"a\\"b"', "#", "|", "||", "&&", ";", "\n", "2>&1", "2>/dev/null", "2>x", ">", "'", '"', "\\", "$x", "12",
            "rm", "-e 'w x'", "'-f'", '"--output"', '-"o"', "sleep 5",
        ]
    ),
    min_size=1,
    max_size=7,
).map(" ".join)  # fmt: skip


@given(commands_of_looks)
@example("find a -name b -delete")
@example("cat a 2>/dev/null.txt")
@example("tail -n 3 a; tail '-f' a")
@example("sed -n '1p' a -ibak")
def test_commands_that_plainly_look_are_those_that_look_when_they_are_read(command: str) -> None:
    parsed = parse.parse(command)
    expected = MAY_CHANGE if parsed is None else shell_commands.parsed_command_effect(parsed)
    assert shell_commands.command_effect(command) == expected
    assert expected == LOOKS or not shell_commands.plainly_looks(command)


def test_commands_too_long_to_be_read_may_plainly_look() -> None:
    files = "'a b' " * MAX_COMMAND
    assert shell_commands.command_effect(f"cat {files}") == LOOKS
    assert shell_commands.command_effect(f"rm {files}") == MAY_CHANGE
    assert shell_commands.command_effect(f"cat {files} > c") == MAY_CHANGE


commands_that_change = st.tuples(
    st.sampled_from(["", "cd a && ", "cd a &&", "# b\n", " \n", "cd 'a' && ", "cd a; "]),
    st.sampled_from(["mk a", "MK", "./run.sh x", "x=1", "2", "mk -F", "kubectl logs", "do", "Time mk", "-x", "a.exe"]),
    st.lists(
        st.sampled_from(
            [
                " b", " 'c d'", ' "$x"', " --help", " '-'V", " --vers'i'on", "\n", "; ", " | tail", " -5", " -f",
                " '-'f", " -\\w", "sleep 5", "sl'ee'p 5", "w\\ait", "Watch ls", '"wa"tch ls', "sl$'eep' 5",
                " && ", " `sleep 5`",
                ' "$(wait)"', "kubectl logs", " > c", "(", " <<E\n$(sleep 2)\nE\n", "'", "bash -c 'sl\"ee\"p 1'",
            ]
        ),
        max_size=6,
    ).map("".join),
).map("".join)  # fmt: skip


@given(st.text(alphabet="ba|\\OR ()", max_size=12))
@example("b OR a|c")
@example("b|a OR")
def test_alternatives_behind_bars_are_put_in_order_as_all(pattern: str) -> None:
    signs = alternatives._SPLIT.findall(pattern)
    expected = pattern
    if set(signs) == {"|"} and not set("()") & set(pattern):
        expected = "|".join(sorted(alternatives._SPLIT.split(pattern)))
    if set(signs) <= {"|"}:
        assert alternatives.in_order(pattern) == expected


@given(commands_that_change | commands_of_looks)
@example("mk --version")
@example("mk b && bash -c 'sl\"ee\"p 1'")
@example("mk b | tail '-'f c")
def test_commands_that_plainly_change_or_never_wait_are_so_when_they_are_read(command: str) -> None:
    parsed = parse.parse(command)
    expected = MAY_CHANGE if parsed is None else shell_commands.parsed_command_effect(parsed)
    if shell_commands.surely_changes(command):
        assert expected.effect == EFFECT_CHANGES
    assert shell_commands.may_wait(command) or not expected.waits


@pytest.mark.parametrize("end", ["logs -f", "list -w", "status --follow", "x -F", "run watch", "get --watch", "wait x"])
def test_whatever_waits_may_wait(end: str) -> None:
    for program in {*RULES, *LOOKING, *RUNNERS, *CHECKING, *WRAPPERS}:
        command = f"{program} {end}"
        assert shell_commands.may_wait(command) or not shell_commands.command_effect(command).waits
        assert not shell_commands.surely_changes(command)


@given(
    st.text(alphabet='ab \n"\\é\t'),
    st.text(alphabet='ab \n"\\é\t'),
    st.booleans(),
    st.integers(0, 2),
    st.integers(0, 2),
)
@example("a" * 80 + "x" + "b" * 20, "ya" * 80 + "b" * 20, False, 0, 0)
def test_results_that_plainly_differ_are_no_longer_ones(
    before: str, after: str, together: bool, spelled: int, otherwise: int
) -> None:
    """What is told apart without decoding is told apart by the texts."""
    now = before + after if together else after
    one, other = _recorded(before, spelled), _recorded(now, otherwise)
    if one != other and outputs._plainly_differ(one, other, first_difference(one, other)):
        assert outputs.appended_to(before, now) is None
    for longer in (f"{now}{'z' * 80}", f"{before}{'z' * 80}"):
        for shorter in (f"{before}{'z' * 70}", f"b{before}{'z' * 70}"):
            found = outputs.put_before(orjson.dumps(shorter), orjson.dumps(longer))
            assert found == outputs.put_before(shorter, longer)


replies_and_messages = st.lists(
    st.sampled_from(["same words", "same words", "other words here", "else?", "", "@go on then", "@Result: 1", "!"]),
    max_size=24,
)


@given(replies_and_messages)
@example(["else?", *["@a", "words", "@b", "else?"] * 30])
@example(["words", *["@a", "@Result: 1", "words"] * 4, "other", "other", "other"])
@example(["words", *["@Result: 1", "@a", "words"] * 4, "words", "words", "words", "words"])
@example(["same words"] * 5)
@example(["!", "else?", "@a", "else?", "@b", "else?", "@c", "else?"])
@example(["a b", "a b", "@Result: 1", "c d", "!", "@Result: 2", "a b", "a b", "a b", "a b"])
def test_replies_are_the_same_loops_whenever_they_are_compared(steps: list[str]) -> None:
    late, at_once = replies.Replies(), replies.Replies()
    at_once._compare()
    found: tuple[list[Any], list[Any]] = [], []
    for watched, into in ((late, found[0]), (at_once, found[1])):
        for turn, step in enumerate(steps):
            if step == "!":
                watched.guard_spoke()
            elif step[:1] == "@":
                watched.turn(step[1:])
            else:
                into.append(watched.reply(Batch("", "", turn, [], text=step, line=turn), turn))
        into.append(watched.close("run_ended", "", ""))
    assert found[0] == found[1]


@given(st.text(max_size=3), st.sampled_from(["<result>", "[Observation]:", "tool output :", "Execution result:", "x"]))
def test_answers_in_messages_are_known_by_how_they_begin(before: str, answer: str) -> None:
    for message in (before + answer, before, before.strip() + answer.upper()):
        assert replies._is_answer(message) == (replies._ANSWER.match(message) is not None)


def test_answers_begin_with_no_other_letters() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert set(re.findall(r"[<\[ortec]", every, re.IGNORECASE)) == replies._BEGINNINGS


few = st.integers(0, 3)
members = st.builds(
    Member,
    st.just(0),
    st.just("tool"),
    st.just("{}"),
    need=st.sampled_from(sorted(NEED)),
    weak=few,
    failing=st.integers(0, 1),
    waits=few,
    at_once=few,
    moves=few,
    rephrased=st.integers(0, 1),
    category=st.sampled_from(["other", "outage", "invalid_args"]),
    failing_change=st.booleans(),
)
counted = st.fixed_dictionaries(
    dict.fromkeys(["weak", "asked", "novel", "moved", "gap", "waited", "redo", "returned"], few)
)


@given(
    st.lists(members, min_size=1, max_size=4),
    counted,
    st.sampled_from([REDUNDANT, RE_EDIT, RE_READ]),
    st.booleans(),
    st.sampled_from([*ENDINGS]),
)
def test_one_repeat_is_never_a_loop_or_a_wait(
    repeated: list[Member], counts: dict[str, int], found: CallClass, exact: bool, ended: str
) -> None:
    repeated[0].strong = 1
    answer = Answer("tool", "x", times=1, exact=exact)
    groups: dict[Group, Member] = {("call", place): member for place, member in enumerate(repeated)}
    stretch = Stretch(1, groups, [answer], strong=1, kinds={found: 1})
    for name, count in counts.items():
        setattr(stretch, name, count)
    assert verdict._kind_if_any(stretch, ended, *verdict._main(stretch)) == ""
    assert verdict.kind_of(stretch, ended) == verdict.due(stretch, "") == ""


noises = st.lists(
    st.sampled_from(
        [
            "request", "_id", "-id", ": ", "abcdefab1", "12", "1234567", "deadbeefcafe", " ms", "µs", "ΜS",
            "chunk id: ", "req_", "abcdef", "trace-id:x", "٣", " m", "s", "session ", "brave-otter", "3 calls ", "left",
            "call_", "-", "uid", "took ", "saved to: ", "attempt ", "/tmp/", "x", " ", "ſ",
        ]
    ),
    max_size=6,
).map("".join)  # fmt: skip


@given(st.lists(noises, max_size=4).map("\n".join))
@example("took 3\nms session: a\n/tmp/x\n saved to: \nb")
def test_no_noise_goes_beyond_its_line(text: str) -> None:
    assert noise.remove_all(text) == noise.remove(text, set())


@given(noises | pieces.map(str.swapcase) | st.text(alphabet="tT12:- sSmM/.eE", max_size=30))
@example("2031-05-01T10:20:30.123Z Took 1.5 S in /TMP/x")
@example("PID 12 Request-ID: ABC123de")
@example("\u0663 ΜS")
def test_noise_does_not_mind_case(line: str) -> None:
    ahead = [
        (match.start(), place, name)
        for place, name in enumerate(noise._ORDER)
        if (match := re.search(noise.PATTERNS[name], line, re.IGNORECASE)) is not None
    ]
    plain, names = noise._removed_by_search(line)
    assert bool(ahead) is bool(names)
    if ahead:
        start, _, name = min(ahead)
        assert plain[: start + len(name) + 2] == f"{line[:start]}<{name}>"


labels = st.lists(
    st.sampled_from(["Question", ": ", ":", " = ", "\n", "null", "None", '"', ", ", "}", "é", "_", "    ", "nullable"]),
    max_size=10,
).map("".join)


@given(labels)
@example("a: b\nc:")
def test_answers_with_something_behind_a_label(text: str) -> None:
    """What is seen at once to say something is what holds a letter or a digit when its labels are taken away."""
    if answers._VALUE.search(text) is not None:
        assert any(map(str.isalnum, answers._LABEL.sub("", text)))


@given(
    st.lists(st.sampled_from(["browser", "click", "page", "look", "go", "screenshot", "type", "form"]), max_size=4),
    st.dictionaries(st.sampled_from(["action", "op", "x", "text"]), st.sampled_from(["click", "zoom out", 3, ""])),
)
def test_a_name_tells_what_a_call_does_on_a_screen_unless_an_argument_does(
    name: list[str], arguments: dict[str, Any]
) -> None:
    tool = "_".join(name)
    nature = nature_of(tool)
    if nature.kind == "other" and not tells_action(arguments):
        assert nature.acts == acts_in_gui(tool, arguments, "other")
        assert nature.sees == sees_gui(tool, arguments, "other")


_MARKS = """
    evidence constant noise choice still redo returned erring rephrased failed sibling fruitless paging over
""".split()


_CALLS: list[tuple[str, Any, str]] = [
    ("bash", {"command": "make"}, "built"),
    ("bash", {"command": "make"}, "!make: *** no rule"),
    ("bash", {"command": "sleep 5; tail -1 server.log"}, "step 3"),
    ("bash", {"command": "tail -1 server.log"}, "exit code 0"),
    ("bash", {"command": "echo done"}, "done"),
    ("edit_file", {"path": "a", "old_string": "1", "new_string": "2"}, "ok"),
    ("edit_file", {"path": "a", "old_string": "2", "new_string": "1"}, "ok"),
    ("edit_file", {"path": "a", "old_string": "3", "new_string": "4"}, "No match was found."),
    ("read_file", {"path": "a"}, "text"),
    ("read_file", {"path": "a", "limit": 1}, "text"),
    ("update_order", {"id": 1}, "2 parts missing"),
    ("update_order", {"id": 2}, "2 parts missing"),
    ("web_search", {"query": "how to fly"}, "no results"),
    ("web_search", {"query": "how people fly"}, "no results"),
    ("browser_click", {"element": "a"}, "- button [ref=e1]"),
    ("browser_click", {"element": "b"}, "- button [ref=e1]"),
    ("ask_user", {"question": "Which?", "options": ["red", "blue"]}, "red"),
    ("make", {"x": 1}, "?"),
]


@given(st.lists(st.lists(st.sampled_from(_CALLS), min_size=1, max_size=2), max_size=16))
@example([[call] for call in _CALLS])
@example([[call] for place in (0, 8, 4, 3, 2, 0, 8, 13, 17) for call in _CALLS[place : place + 2]])
def test_what_was_found_of_a_call_is_forgotten_with_the_next(batches: list[list[tuple[str, Any, str]]]) -> None:
    """A call is judged as if everything had been forgotten before it, which is done only where there is something."""
    session = Session().user("Go.")
    for calls in batches:
        session.batch(*calls)
    session._emit.finish()
    lazy, eager = (History(outputs.Outputs(), Natures()) for _ in range(2))
    for batch in session.events:
        if isinstance(batch, Batch):
            for call in batch.calls:
                eager._unmark()
                assert lazy.classify(call, batch.index) == eager.classify(call, batch.index)
                assert [getattr(lazy, mark) for mark in _MARKS] == [getattr(eager, mark) for mark in _MARKS]


@given(st.lists(st.sampled_from([*_CALLS, "Go on with it.", ""]), max_size=24))
@example([step for call in _CALLS for step in (call, "Once more.", "Please.", call)])
@example([step for call in _CALLS for step in (call, "Once more.", "", call, "", "", call)])
def test_what_a_request_forgets_is_forgotten_once(steps: list[tuple[str, Any, str] | str]) -> None:
    """A request behind a request has nothing to forget, and so forgets nothing."""
    session = Session().user("Go.")
    for step in steps:
        if isinstance(step, str):
            session.user(step)
        else:
            session.batch(step)
    session._emit.finish()
    lazy, eager = (History(outputs.Outputs(), Natures()) for _ in range(2))
    for event in session.events:
        if isinstance(event, Batch):
            for call in event.calls:
                assert lazy.classify(call, event.index) == eager.classify(call, event.index)
                assert [getattr(lazy, mark) for mark in _MARKS] == [getattr(eager, mark) for mark in _MARKS]
        elif isinstance(event, Turn):
            eager._called = True
            for history in (lazy, eager):
                history.asked(event.text)


@given(
    st.lists(st.sampled_from(["See report-a1.md", "in 3 s", "id a1b2c3", "the end\n", "\n", "10:11:12"]), max_size=8),
    st.lists(st.sampled_from(["See report-a2.md", "in 4 s", "id a9b8c7", "the end\n", "\n", "20:21:22"]), max_size=8),
)
@example(["See report-a1.md", "in 3 s"], ["See report-a1.md", "in 4 s"])
def test_reports_of_other_lines_are_other_reports(one: list[str], other: list[str]) -> None:
    first, second = " ".join(one), " ".join(other)
    same = answers._plain_report(first) == answers._plain_report(second)
    assert answers.same_report(first, second) is same
    assert answers.may_be_one_report(first, second) or not same


@given(
    st.sampled_from(["result\n", "", "a\n\n"]),
    st.sampled_from(["system-reminder", "environment_details", "u\u017fage", "env", "div", "Note"]),
    st.sampled_from(["\n", " ", "x", "</b>"]),
    st.booleans(),
)
def test_a_block_is_known_by_its_closing_tag(before: str, tag: str, end: str, upper: bool) -> None:
    text = f"{before}<{tag}>be brief</{tag.upper() if upper else tag}>{end}"
    match = footers._BLOCK.search(text)
    general = text if match is None or not match.start() else text[: match.start()]
    assert footers.without_block(text) == general


@given(
    st.sampled_from(["", " ", "\u2003", "cd src && ", "cd src &&", "cd  src&& ", "\n"]),
    st.sampled_from(["grep -r x", "git grep x", "git  grep", "git log", "agx", "ls", "rg", "findx", "xfd", "cdx", ""]),
)
def test_the_program_of_a_search_is_its_first_word(before: str, search: str) -> None:
    command = before + search
    first = (command.partition("&&")[2] if command.startswith("cd ") else command)[:16].split()
    program = "" if not first else "grep" if first[:2] == ["git", "grep"] else first[0]
    assert alternatives._program_of(command) == (program if program in alternatives._PROGRAMS else "")


def test_what_names_tell_is_kept_for_a_bounded_number_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Natures({"make": nature_of("make")})
    monkeypatch.setattr(classifier, "_NATURES", kept)
    assert classifier.natures(None) is kept and kept
    assert classifier.natures({"make": "search"})["make"].kind == "search"
    monkeypatch.setattr(classifier, "MAX_TOOLS", 1)
    assert not classifier.natures(None)


@given(st.lists(st.sampled_from(["(", "[", " ", "0", "1", ".", "5", "score", "a"]), max_size=8).map("".join))
def test_a_rank_in_whatever_brackets(text: str) -> None:
    brackets = [bracket + blank + digit + "." for bracket in "([" for blank in ("", " ") for digit in ("", "0", "1")]
    assert listings._may_be_ranked(text) is any(words in text for words in [*brackets, *listings._RANKED_BY])
    assert listings._may_be_ranked(text) or listings._RANK.search(text) is None


@given(
    st.sampled_from(["", "[", " \n", "a "]),
    st.sampled_from(["duplicate call", "SAME result as last", "result unchanged since the last", "See the last call",
                     "file is not changed since last", "has been unchanged since your first", "fine"]),
)  # fmt: skip
def test_a_placeholder_is_known_by_how_it_begins(before: str, text: str) -> None:
    low = wordings.content_of(before + text).lower()
    assert wordings.is_placeholder(before + text) is any(phrase.pattern.match(low) for phrase in wordings._PLACEHOLDER)


@given(
    st.sampled_from(["", "a\n", '{"a":1,"exit_code":0}\n', "exit(1)\n", "x" * 120 + "\n"]),
    st.sampled_from(["exit code: 0", "EXIT 1", "eXit 0", "Process exited with code 3", '"exit_code": 0', "exit\u00e9"]),
    st.sampled_from(["", "\n", '"}', "_", "(2)"]),
)
def test_an_exit_code_is_looked_for_at_the_end(before: str, last: str, end: str) -> None:
    text = before + last + end
    for held in (text, orjson.dumps(text), json.dumps(text).encode()):
        tail = outputs.as_letters(held[-waits._TAIL :])
        general = ("xit" in tail or "XIT" in tail) and wordings.shows_exit(text)
        assert (waits._may_show_exit(held) and wordings.shows_exit(text)) is general


talk = st.one_of(
    st.builds(Turn, st.just("s"), st.just(""), st.sampled_from(["Please look.", "continue", "And now?"]), st.just(1)),
    st.builds(
        Batch,
        st.just("s"),
        st.sampled_from(["", "", "", "sub"]),
        st.integers(0, 9),
        st.just([]),
        st.sampled_from(["I cannot do that.", "I cannot do this.", "Shall I go on?", "So be it.", ""]),
    ),
    st.builds(
        Boundary, st.just("s"), st.just(""), st.sampled_from(["compaction", "compaction", "recorded_guard", "clear"])
    ),
    st.just("call"),
)


@given(st.lists(talk, max_size=24), st.sets(st.integers(0, 24)))
@example([Batch("s", "", 1, [], "I cannot do that.")] * 4, set())
@example([Boundary("s", "", "compaction")] * 4, {1, 2, 3})
def test_mere_talk_need_not_be_looked_at(items: list[Any], cuts: set[int]) -> None:
    stream: list[Event] = []
    for number, item in enumerate(items, 1):
        if item == "call":
            call = Call(f"c{number}", number, "agent", VALUE, {"prompt": "see to it"}, call_key("agent", {}), True)
            call.result = Result("done", False, "ok", None)
            stream.append(Batch("s", "", number, [call], line=number))
        else:
            stream.append(structs.replace(item, line=number))
    short, whole = Hindsight(), Hindsight()
    with patch.object(observer, "is_mere_talk", new=lambda _: False):
        whole.events(stream)
    blocks = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    for begin, end in pairwise(blocks):
        short.events(stream[begin:end])
    one, other = short.finish(), whole.finish()
    assert one.episodes == other.episodes
    assert one.data() == other.data()
