"""The baseline: what counts as the same firing, what is rewritten, and what is refused."""

from __future__ import annotations

import re
import shutil
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.core.findings import Action, Finding
from loopaudit.gate.baseline_file import AcceptedIssue, Baseline, read, relative_name, write
from loopaudit.gate.baseline_match import Scope, Seen, compare, update
from tests.gate.files import HEALTHY, LOOP, Folder, grep
from tests.gate.files import write as transcript

TODAY = date(2026, 3, 1)


def finding(key: str, call: int, action: str = "block", policy: str = "p", rule: str = "r") -> Finding:
    return Finding(
        policy=policy, action=Action[action.upper()], own_word=action, rule=rule, count=3, tool="Grep", session="s",
        agent="", turn=1, batch=call, call=call, calls=(call, call), whole_batch=False, line=call, arguments="",
        message="", key=key,
    )  # fmt: skip


def seen(
    key: str, call: int, action: str = "block", where: str = "a.jsonl", policy: str = "p", conversation: int = 1
) -> Seen:
    return Seen(where, conversation, finding(key, call, action, policy))


def scope(*transcripts: str, missing: tuple[str, ...] = (), policies: tuple[str, ...] = ("p",)) -> Scope:
    return Scope(frozenset((t, p) for t in transcripts or ("a.jsonl",) for p in policies), frozenset(missing))


def accepted(*items: Seen) -> list[AcceptedIssue]:
    return update([], items, scope(*{i.transcript for i in items}), TODAY)


def told(
    entries: list[AcceptedIssue], items: list[Seen], reach: Scope | None = None, today: date = TODAY
) -> list[tuple[str, list[int]]]:
    outcomes = compare(entries, items, reach or scope(*({i.transcript for i in items} or {"a.jsonl"})), today)
    return sorted((o.state, sorted(o.calls)) for o in outcomes)


A = [seen("k", 7), seen("k", 8)]

ESCALATING = [seen("k", 7, "warn"), seen("k", 8, "block"), seen("k", 10, "warn")]


def shifted(calls: int) -> list[Seen]:
    """The escalating firings with calls added before them."""
    return [seen("k", item.finding.call + calls, item.finding.action.slug) for item in ESCALATING]


STATES: list[tuple[str, list[Seen], list[Seen], list[tuple[str, list[int]]]]] = [
    ("same", A, A, [("unchanged", [7, 8])]),
    ("third copy", A, [*A, seen("k", 9)], [("new", [9]), ("unchanged", [7, 8])]),
    ("second copy gone", A, A[:1], [("unchanged", [7]), ("vanished", [8])]),
    ("all gone", A, [], [("vanished", [7, 8])]),
    ("lines added before", A, [seen("k", 17), seen("k", 18)], [("moved", [17, 18])]),
    ("third copy and moved", A, [seen("k", c) for c in (17, 18, 19)], [("moved", [17, 18]), ("new", [19])]),
    ("inserted between", A, [seen("k", 7), seen("k", 9)], [("moved", [9]), ("unchanged", [7])]),
    ("stronger action", A, [seen("k", 7, "stop"), seen("k", 8)], [("changed", [7]), ("unchanged", [8])]),
    ("weaker and moved", A[:1], [seen("k", 9, "warn")], [("changed", [9])]),
    ("another issue", A, [*A, seen("other", 9)], [("new", [9]), ("unchanged", [7, 8])]),
    ("swapped issue", A[:1], [seen("other", 7)], [("new", [7]), ("vanished", [7])]),
    ("other policy", A[:1], [*A[:1], seen("k", 7, policy="q")], [("new", [7]), ("unchanged", [7])]),
    ("replies without calls", [seen("", 0)], [seen("", 0), seen("", 0)], [("new", [0]), ("unchanged", [0])]),
    ("actions shifted by one", ESCALATING, shifted(1), [("moved", [8, 11]), ("moved", [9])]),
    ("actions shifted onto each other", ESCALATING, shifted(3), [("moved", [10, 13]), ("moved", [11])]),
    (
        "actions swapped",
        ESCALATING[:2],
        [seen("k", 7, "block"), seen("k", 8, "warn")],
        [("changed", [7]), ("changed", [8])],
    ),
    ("another conversation", A[:1], [seen("k", 7, conversation=2)], [("moved", [7])]),
]


@pytest.mark.parametrize(("name", "before", "after", "expected"), STATES, ids=[s[0] for s in STATES])
def test_states(name: str, before: list[Seen], after: list[Seen], expected: list[tuple[str, list[int]]]) -> None:
    reach = scope("a.jsonl", policies=("p", "q"))
    assert told(accepted(*before), after, reach) == expected


def test_fingerprint_knows_the_issue_and_nothing_else() -> None:
    one = finding("k", 7)
    other = finding("k", 99, "stop")
    other.session, other.agent, other.line, other.turn, other.arguments, other.count = "z", "sub", 5, 9, "/home/x", 8
    assert one.fingerprint == other.fingerprint
    assert re.fullmatch("[0-9a-f]{16}", one.fingerprint)
    assert (
        len(
            {
                one.fingerprint,
                finding("k2", 7).fingerprint,
                finding("k", 7, policy="q").fingerprint,
                finding("k", 7, rule="s").fingerprint,
            }
        )
        == 4
    )


def test_what_is_out_of_reach_is_neither_vanished_nor_dropped() -> None:
    entries = accepted(*A, seen("k", 3, where="b.jsonl"))
    assert told(entries, [], scope("b.jsonl", policies=("q",))) == []
    assert update(entries, [], scope("b.jsonl", policies=("q",)), TODAY) == entries
    after = update(entries, [], scope("b.jsonl"), TODAY)
    assert {e.transcript for e in after} == {"a.jsonl"}


def test_expiry() -> None:
    entries = update([], A, scope(), TODAY, reason="later", expires=date(2026, 4, 1))
    assert told(entries, A, today=date(2026, 4, 1)) == [("unchanged", [7, 8])]
    assert told(entries, A, today=date(2026, 4, 2)) == [("expired", [7, 8])]
    renewed = update(entries, A, scope(), date(2026, 4, 2))
    assert [(e.reason, e.expires) for e in renewed] == [("later", None)]
    again = update(entries, A, scope(), date(2026, 4, 2), expires=date(2026, 5, 1))
    assert [(e.reason, e.expires) for e in again] == [("later", date(2026, 5, 1))]


def test_reason_stays_with_what_moved_and_goes_to_what_is_new() -> None:
    entries = update([], A, scope(), TODAY, reason="old")
    after = update(entries, [seen("k", 17), seen("k", 18), seen("n", 20)], scope(), TODAY, reason="new")
    assert {e.calls: e.reason for e in after} == {(17, 18): "old", (20,): "new"}


RENAMES = [
    ("folder", "old/a.jsonl", {"new/a.jsonl": A}, "new/a.jsonl"),
    ("file", "old/a.jsonl", {"old/b.jsonl": A}, "old/b.jsonl"),
    ("nearest folder", "x/s/a.jsonl", {"y/a.jsonl": A, "y/s/a.jsonl": A}, "y/s/a.jsonl"),
    ("other name and other firings", "old/a.jsonl", {"old/b.jsonl": [seen("n", c) for c in range(9)] + A}, None),
    ("same name and nothing in common", "old/a.jsonl", {"new/a.jsonl": [seen("n", 7)]}, None),
]


@pytest.mark.parametrize(("name", "old", "now", "expected"), RENAMES, ids=[r[0] for r in RENAMES])
def test_renames(name: str, old: str, now: dict[str, list[Seen]], expected: str | None) -> None:
    entries = accepted(*[Seen(old, 1, s.finding) for s in A])
    items = [Seen(new, 1, s.finding) for new, found in now.items() for s in found]
    reach = scope(*now, missing=(old,))
    moved = {o.transcript for o in compare(entries, items, reach, TODAY) if o.state == "moved"}
    assert moved == ({expected} if expected else set())
    after = update(entries, items, reach, TODAY)
    assert (old in {e.transcript for e in after}) == (expected is None)
    # The old file is still there: the new one is a copy, whose firings count.
    assert not [o for o in compare(entries, items, scope(*now), TODAY) if o.state == "moved"]


KEYS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.sampled_from(["warn", "block"]), st.integers(1, 2)),
    max_size=12,
)


@given(KEYS, KEYS)
def test_every_firing_comes_out_once_and_an_update_settles_all(before: list[Any], after: list[Any]) -> None:
    old = [seen(k, call, action, conversation=c) for k, call, action, c in before]
    new = [seen(k, call, action, conversation=c) for k, call, action, c in after]
    entries = accepted(*old)
    assert sum(len(e.calls) for e in entries) == len(old)
    outcomes = compare(entries, new, scope("a.jsonl"), TODAY)
    out = [id(f) for o in outcomes for f in o.findings]
    assert sorted(out) == sorted(id(s.finding) for s in new)
    gone = sum(len(o.calls) for o in outcomes if o.state == "vanished")
    fresh = sum(len(o.calls) for o in outcomes if o.state == "new")
    assert len(old) - gone == len(new) - fresh
    settled = update(entries, new, scope("a.jsonl"), TODAY)
    assert {o.state for o in compare(settled, new, scope("a.jsonl"), TODAY)} <= {"unchanged"}
    assert len({e.key for e in settled}) == len(settled)


TEXTS = st.text(max_size=12)


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            AcceptedIssue,
            transcript=TEXTS.filter(bool),
            policy=TEXTS.filter(bool),
            rule=TEXTS,
            action=st.sampled_from([a.slug for a in Action if a]),
            tool=TEXTS,
            calls=st.lists(st.integers(0, 10**6), min_size=1, max_size=30).map(lambda c: tuple(sorted(c))),
            fingerprint=st.from_regex("[0-9a-f]{16}", fullmatch=True),
            conversation=st.integers(1, 3),
            reason=TEXTS,
            expires=st.none() | st.dates(min_value=date(1000, 1, 1)),
        ),
        unique_by=lambda e: e.key,
        max_size=5,
    )
)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, entries: list[AcceptedIssue]) -> None:
    path = tmp_path_factory.mktemp("b") / "b.toml"
    path.write_bytes(write(Baseline(path), entries).encode())
    from msgspec.structs import replace

    found = read(path)
    assert [replace(e, line=0) for e in found.entries] == sorted(entries, key=lambda e: e.key)
    assert write(found, found.entries) == found.text


PATHS = [
    ("runs/a.jsonl", ".", "runs/a.jsonl"),
    ("a.jsonl", "sub/deep", "../../a.jsonl"),
    ("./x/../a.jsonl", ".", "a.jsonl"),
    ("<stdin>", ".", "<stdin>"),
    ("/nowhere-at-all/a.jsonl", ".", "a.jsonl"),
]


@pytest.mark.parametrize(("path", "folder", "name"), PATHS)
def test_names_hold_no_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, folder: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert relative_name(path, Path(folder)) == name


# -- the commands --------------------------------------------------------------------------

FILE = "loopaudit-baseline.toml"


@pytest.fixture
def suite(folder: Folder) -> Folder:
    folder.write("loopaudit.toml", f'paths = ["runs"]\npolicy = ["atomcode", "zagens"]\nbaseline = "{FILE}"\n')
    transcript(folder / "runs/loop.jsonl", LOOP)
    transcript(folder / "runs/fine.jsonl", HEALTHY)
    return folder


def states(done: Any) -> str:
    match = re.search(r"^  baseline +(.*(?:\n {16}.*)*)$", done.out, flags=re.MULTILINE)
    return re.sub(r"\s+", " ", match.group(1)) if match else ""


def test_accept_and_check(suite: Folder) -> None:
    assert suite.run("baseline").code == 0
    text = (suite / FILE).read_text()
    assert str(suite.path) not in text
    assert not re.search(r"20\d\d-(?!12-31)|session", text)
    entries = tomllib.loads(text)["firing"]
    assert {(e["transcript"], e["policy"]) for e in entries} == {
        ("runs/loop.jsonl", "atomcode"),
        ("runs/loop.jsonl", "zagens"),
    }
    done = suite.check()
    assert (done.code, states(done)) == (0, f"{len(entries) + 1} unchanged")
    before = (suite / FILE).stat().st_mtime_ns
    assert "unchanged" in suite.run("baseline").out
    assert (suite / FILE).stat().st_mtime_ns == before


def test_an_entry_that_was_edited_accepts_neither_issue(suite: Folder) -> None:
    suite.run("baseline", "-p", "atomcode")
    text = (suite / FILE).read_text()
    for old, new in (
        ('rule = "identical_output"', 'rule = "hard_block"'),
        ('tool = "Grep"', 'tool = "Write"'),
        ('kind = "identical"', 'kind = "cycle"'),
    ):
        suite.write(FILE, text.replace(old, new))
        done = suite.check("-p", "atomcode")
        assert (done.code, states(done)) == (3, "1 unchanged, 1 new, 1 vanished")
        assert "is in the baseline, but with the fingerprint of" in " ".join(done.out.split())
        assert suite.run("baseline", "-p", "atomcode").code == 0
        assert (suite / FILE).read_text() == text, "what is accepted anew stands there as it is"


def test_names_that_toml_cannot_hold_are_no_change(suite: Folder) -> None:
    """Tools and files whose names are no Unicode."""
    (suite / "runs/loop.jsonl").unlink()
    calls = [grep("alpha", "none")] * 5
    file = suite / "runs/odd\udcff.jsonl"
    try:
        file.touch()
    except (OSError, UnicodeError):
        pytest.skip("file names are Unicode here")
    transcript(file, calls)
    file.write_bytes(file.read_bytes().replace(b'"Grep"', b'"Gr\\ud83d\\u202eep"'))
    for _ in range(2):
        assert suite.run("baseline").code == 0
        done = suite.check()
        assert (done.code, re.findall("new|moved|vanished", states(done))) == (0, [])


def test_only_the_command_writes(suite: Folder) -> None:
    done = suite.check()
    assert done.code == 2
    assert f"there is no baseline {FILE}" in done.err
    assert not (suite / FILE).exists()
    suite.run("baseline")
    text = (suite / FILE).read_text()
    transcript(suite / "runs/loop.jsonl", [*LOOP, *LOOP])
    assert suite.check().code == 3
    assert (suite / FILE).read_text() == text


MALFORMED = {
    "empty": ("", "the key 'version' is missing"),
    "no TOML": ("version = 1\n[[firing", "not TOML"),
    "conflict": ("version = 1\n<<<<<<< HEAD\n=======\n>>>>>>> b\n", ":2: an unsettled merge conflict"),
    "version": ("version = 3\n", ":1: version: 3 is none of 1, 2"),
    "field": ('version = 1\n[[firing]]\ntranscript = "a"\n', "the key 'policy' is missing"),
    "unknown key": ("version = 1\nfirings = 1\n", ":2: firings: unknown key"),
    "json": ('{"version": 1}', "not TOML"),
    "binary": ("version = 1\n\x00", "not TOML"),
}
ENTRY = (
    '[[firing]]\ntranscript = "a"\npolicy = "p"\nrule = "r"\naction = "block"\ncalls = [1]\n'
    'fingerprint = "0123456789abcdef"\n'
)
MALFORMED["twice"] = (f"version = 1\n{ENTRY}\n{ENTRY}", ":10: firing[2]: the same firing stands in line 2")
MALFORMED["date"] = (
    f'version = 1\n{ENTRY}expires = "2026-02-30"\n',
    ":9: firing[1].expires: '2026-02-30' is not a date",
)
MALFORMED["calls"] = (
    f"version = 1\n{ENTRY.replace('[1]', '[]')}",
    ":7: firing[1].calls: an empty list is not a list of call numbers",
)


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_baseline_is_an_error_for_both_commands(suite: Folder, name: str) -> None:
    text, message = MALFORMED[name]
    suite.write(FILE, text)
    for done in (suite.check(), suite.run("baseline"), suite.run("baseline", "--prune")):
        assert done.code == 2
        assert message in done.err
    assert (suite / FILE).read_text() == text


def test_third_copy_fails_and_tells_the_command_that_accepts_it(suite: Folder) -> None:
    suite.run("baseline", "--reason", "known since spring")
    transcript(suite / "runs/loop.jsonl", [*LOOP, grep("beta", "nothing")])
    done = suite.check()
    assert done.code == 3
    assert "at call 6 is not in the baseline" in re.sub(r"\s+", " ", done.out)
    assert re.search("accept +loopaudit baseline --fingerprint [0-9a-f]{16} runs/loop.jsonl\n", done.out)
    assert suite.run("baseline", "runs/loop.jsonl").code == 0
    assert suite.check().code == 0
    entries = tomllib.loads((suite / FILE).read_text())["firing"]
    assert {e["reason"] for e in entries if 6 in e["calls"]} == {"known since spring"}


def test_only_changed_entries_are_rewritten(suite: Folder) -> None:
    suite.run("baseline")
    text = (suite / FILE).read_text()
    text = text.replace("# Only", "# by hand\n# Only")
    text = text.replace(
        '[[firing]]\ntranscript = "runs/loop.jsonl"\npolicy = "atomcode"',
        "# why: see the wiki\n[[ firing ]] # first\npolicy   = \"atomcode\"\ntranscript = 'runs/loop.jsonl'",
        1,
    )
    text = text.rstrip("\n") + '\nreason = """\n[[firing]] in a text\n"""\n'
    (suite / FILE).write_text(text)
    assert suite.check().code == 0
    transcript(suite / "runs/late.jsonl", [grep("zeta", "z")] * 4)
    assert suite.check().code == 3
    # The trap in the reason makes the old text unusable, so all is written anew, with the reason.
    suite.run("baseline")
    assert tomllib.loads((suite / FILE).read_text())["firing"][-1]["reason"] == "[[firing]] in a text\n"
    text = text.replace("[[firing]] in a text", "a text")
    (suite / FILE).write_text(text)
    suite.run("baseline")
    after = (suite / FILE).read_text()
    assert after != text
    blocks = text.rstrip("\n").split("\n\n")
    assert [b for b in after.rstrip("\n").split("\n\n") if b in blocks] == blocks
    assert suite.check().code == 0


def test_windows_line_ends_stay(suite: Folder) -> None:
    suite.run("baseline")
    (suite / FILE).write_bytes((suite / FILE).read_bytes().replace(b"\n", b"\r\n"))
    assert suite.check().code == 0
    transcript(suite / "runs/late.jsonl", LOOP)
    suite.run("baseline")
    data = (suite / FILE).read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n")
    assert suite.check().code == 0


def test_added_lines_renamed_folders_and_other_machines(
    suite: Folder, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.run("baseline", "--reason", "known")
    transcript(suite / "runs/loop.jsonl", [*[grep(w, w) for w in "xyzw"], *LOOP, grep("after", "c")])
    done = suite.check()
    assert (done.code, states(done)) == (0, "3 moved")
    (suite / "runs").rename(suite / "recordings")
    suite.write("loopaudit.toml", (suite / "loopaudit.toml").read_text().replace("runs", "recordings"))
    done = suite.check()
    assert (done.code, states(done)) == (0, "3 moved")
    other = tmp_path_factory.mktemp("machine") / "elsewhere"
    shutil.copytree(suite.path, other)
    monkeypatch.chdir(other)
    assert suite.check().code == 0
    assert suite.run("baseline").code == 0
    text = (other / FILE).read_text()
    assert 'transcript = "recordings/loop.jsonl"' in text
    assert "runs/" not in text
    assert text.count('reason = "known"') == 3
    assert states(suite.check()) == "3 unchanged"


def test_vanished_firing_and_deleted_transcript(suite: Folder) -> None:
    suite.run("baseline")
    transcript(suite / "runs/loop.jsonl", HEALTHY)
    done = suite.check()
    assert (done.code, states(done)) == (3, "3 vanished")
    assert "did not fire" in done.out
    (suite / "runs/loop.jsonl").unlink()
    done = suite.check()
    assert done.code == 3
    assert "the transcript is gone" in done.out
    assert "loopaudit baseline --prune" in done.out
    assert suite.run("baseline").code == 0
    assert suite.check().code == 3
    assert suite.run("baseline", "--prune").code == 0
    assert suite.check().code == 0
    assert "firing" not in tomllib.loads((suite / FILE).read_text())


def test_checking_less_than_before_fails(suite: Folder) -> None:
    suite.run("baseline")
    suite.write("loopaudit.toml", (suite / "loopaudit.toml").read_text().replace(', "zagens"', ""))
    done = suite.check()
    assert (done.code, states(done)) == (3, "2 unchanged, 1 not checked")
    assert suite.check("-p", "atomcode").code == 0
    assert suite.run("baseline", "--prune").code == 0
    assert suite.check().code == 0
    suite.write("loopaudit.toml", (suite / "loopaudit.toml").read_text().replace('"runs"', '"runs/fine.jsonl"'))
    assert suite.check().code == 3
    assert suite.check("runs/fine.jsonl").code == 0


def test_expiry_at_a_given_day(suite: Folder) -> None:
    suite.run("baseline", "--expires", "2026-06-30", "--today", "2026-01-01")
    assert suite.check("--today", "2026-06-30").code == 0
    done = suite.check("--today", "2026-07-01")
    assert (done.code, states(done)) == (3, "3 expired")
    assert "was accepted until 2026-06-30" in re.sub(r"\s+", " ", done.out)
    assert suite.check("--today", "tomorrow").code == 2
    suite.run("baseline", "--today", "2026-07-01", "--expires", "2026-12-31")
    assert suite.check("--today", "2026-12-31").code == 0


def test_nothing_is_written_of_a_run_that_did_not_see_everything(suite: Folder) -> None:
    (suite / "runs/broken.jsonl").write_bytes(b"\x00\x01\x02 no transcript")
    done = suite.run("baseline", "runs/loop.jsonl", "runs/broken.jsonl")
    assert done.code == 4
    assert "was not written" in done.err
    assert not (suite / FILE).exists()
    (suite / "empty").mkdir()
    assert suite.run("baseline", "empty").code == 4
    assert suite.run("baseline", "--no-config").code == 2


def test_part_of_the_transcripts_leaves_the_others(suite: Folder) -> None:
    suite.run("baseline")
    text = (suite / FILE).read_text()
    transcript(suite / "runs/late.jsonl", [grep("zeta", "z")] * 4)
    suite.run("baseline", "runs/late.jsonl", "-p", "atomcode")
    assert {e["transcript"] for e in tomllib.loads((suite / FILE).read_text())["firing"]} == {
        "runs/loop.jsonl",
        "runs/late.jsonl",
    }
    (suite / "runs/late.jsonl").unlink()
    suite.run("baseline", "--prune")
    assert (suite / FILE).read_text() == text


def test_a_baseline_of_version_1_says_nothing_about_loops_until_it_is_renewed(suite: Folder) -> None:
    assert suite.run("baseline").code == 0
    text = (suite / FILE).read_text()
    assert "version = 2" in text and "[[loop]]" in text
    firings = [block for block in text.split("\n\n") if not block.startswith("[[loop]]")]
    suite.write(FILE, "\n\n".join(firings).replace("version = 2", "version = 1"))
    assert suite.check().code == 0
    assert suite.run("baseline").code == 0
    assert (suite / FILE).read_text() == text
    suite.write(FILE, "\n\n".join(firings))
    assert suite.check().code == 3
