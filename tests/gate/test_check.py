"""The gate: expectations, thresholds, coverage, exit codes, and what is printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from loopaudit.gate.expectations import beside, target
from tests.gate.files import HEALTHY, LOOP, Done, Folder, grep, lines
from tests.gate.files import write as transcript
from tests.places import SAMPLES

POLICIES = 'policy = ["atomcode"]\n'


@pytest.fixture
def suite(folder: Folder) -> Folder:
    folder.write("loopaudit.toml", 'paths = ["runs"]\n' + POLICIES)
    transcript(folder / "runs/loop.jsonl", LOOP)
    transcript(folder / "runs/fine.jsonl", HEALTHY)
    return folder


def row(done: Done, name: str) -> str:
    match = re.search(rf"^  {name} +(.*)$", done.out, flags=re.MULTILINE)
    return match.group(1) if match else ""


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def expect(folder: Folder, text: str, name: str = "runs/loop.expect.toml") -> None:
    folder.write(name, f"[[expect]]\n{text}\n")


# -- expectations --------------------------------------------------------------------------

EXPECTED = [
    ('policy = "atomcode"', "1 covered", ""),
    ('policy = "atomcode"\naction = "block"\nat = 4', "1 covered", ""),
    ('policy = "atomcode"\nat = "3-5"', "1 covered", ""),
    ('policy = "atomcode"\nat = 5', "1 missed", "expected a firing at call 5; the first is at call 4"),
    ('policy = "atomcode"\nat = "5..9"', "1 missed", "expected a firing at call 5-9; the first is at call 4"),
    ('policy = "atomcode"\naction = "stop"', "1 missed", "expected hard stop; it did not fire"),
    ('policy = "atomcode"\naction = "warn"', "1 missed", "expected warn; it did not fire"),
    ('policy = "atomcode"\nrule = "identical_output"', "1 covered", ""),
    (
        'policy = "atomcode"\nat = "never"',
        "1 noisy",
        "expected no firing; block by identical_output at call 4 and 1 more",
    ),
    ('policy = "atomcode"\naction = "stop"\nat = "never"', "1 quiet", ""),
    ('policy = "atomcode"\naction = "warn"\nat = "never"', "1 noisy", "expected no warn or stronger; block by"),
    ('policy = "atomcode"\nmax_redundant = 1', "1 covered", ""),
    ('policy = "atomcode"\nmax-redundant = 0', "1 missed", "it came after 1 redundant calls, at most 0 are allowed"),
    ('policy = "atomcode"\nhindsight = "justified"', "1 covered", ""),
    ('policy = "atomcode"\nhindsight = "premature"', "1 missed", "hindsight says justified, expected premature"),
    ('policy = "atomcode"\nconversation = 2', "1 missed", "it did not fire"),
    ('policy = "atomcode"\ntwin = "fine.jsonl"', "1 covered", ""),
    (
        'policy = "atomcode"\ntwin = "loop.jsonl"',
        "1 noisy",
        "the healthy twin runs/loop.jsonl must stay quiet; block by",
    ),
    ('policy = "atomcode"\nat = 9\ntwin = "loop.jsonl"', "1 missed", "the first is at call 4"),
]


@pytest.mark.parametrize(("text", "counts", "message"), EXPECTED, ids=[flat(e[0]) for e in EXPECTED])
def test_expectations(suite: Folder, text: str, counts: str, message: str) -> None:
    expect(suite, text + '\nreason = "the third equal search"')
    done = suite.check()
    assert row(done, "expectations") == counts
    assert done.code == (3 if message else 0)
    assert message in flat(done.out)
    if message:
        assert "stands in runs/loop.expect.toml:1" in flat(done.out)
        assert "reason the third equal search" in flat(done.out)
        assert "accept loopaudit expect --entry 1 runs/loop.jsonl" in flat(done.out)


WRONG = [
    ('polic = "atomcode"', ":2: expect[1].polic: unknown key"),
    ('policy = "koda"', ":1: the policy 'koda' is not replayed"),
    ('policy = "atomcode"\nrule = "identicl_output"', ":1: atomcode has no rule 'identicl_output'"),
    ('policy = "atomcode"\ntwin = "none.jsonl"', ":1: twin: runs/none.jsonl: no such file"),
    ('policy = "atomcode"\nat = 0', ":3: expect[1].at: 0 is not the number of a call"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[flat(w[0]) for w in WRONG])
def test_wrong_expectations_are_usage_errors(suite: Folder, text: str, message: str) -> None:
    expect(suite, text)
    done = suite.check()
    assert done.code == 2
    assert f"runs/loop.expect.toml{message}" in done.err


def test_expectation_in_the_configuration(suite: Folder) -> None:
    suite.write(
        "loopaudit.toml",
        POLICIES
        + '[[expect]]\ntranscript = "runs/loop.jsonl"\npolicy = "atomcode"\nat = 9\ntwin = "runs/fine.jsonl"\n',
    )
    done = suite.check()
    assert done.code == 3
    assert "accept loopaudit expect --entry 1 --file loopaudit.toml runs/loop.jsonl" in flat(done.out)
    assert row(done, "read").startswith("2 transcripts")
    assert suite.check("runs/fine.jsonl", "--max-wrong", "0").code == 0
    suite.write("loopaudit.toml", (suite / "loopaudit.toml").read_text().replace("loop.jsonl", "lop.jsonl"))
    assert "transcript: runs/lop.jsonl: no such file" in suite.check().err


def test_twin_outside_of_the_paths_is_only_a_twin(suite: Folder) -> None:
    transcript(suite / "twins/noisy.jsonl", LOOP)
    expect(suite, 'policy = "atomcode"\ntwin = "../twins/noisy.jsonl"')
    done = suite.check("--fail-on", "block", "--max-firings", "2")
    assert row(done, "expectations") == "1 noisy"
    assert "twins/noisy.jsonl must stay quiet" in flat(done.out)
    assert row(done, "thresholds") == "2 passed"


def test_policies_of_the_command_line_leave_other_expectations_out(suite: Folder) -> None:
    expect(suite, 'policy = "atomcode"\nat = 9')
    done = suite.check("-p", "koda")
    assert (done.code, row(done, "expectations")) == (2, "1 not checked")
    assert suite.check("-p", "koda", "--max-wrong", "0").code == 0


def test_expectations_must_not_get_lost(suite: Folder) -> None:
    expect(suite, 'policy = "atomcode"')
    (suite / "runs/loop.txt").write_text("notes that are no transcript")
    assert suite.check().code == 0
    (suite / "runs/loop.jsonl").write_text("no transcript any more\n")
    assert suite.check().code == 4
    (suite / "runs/loop.jsonl").unlink()
    (suite / "runs/loop.txt").unlink()
    done = suite.check()
    assert done.code == 4
    assert "their transcript is gone" in flat(done.out)


NAMES = [
    ("run.jsonl", "run.expect.toml"),
    ("run.jsonl", "run.jsonl.expect.toml"),
    ("run.jsonl.gz", "run.expect.toml"),
    ("run.v2.jsonl", "run.v2.expect.toml"),
    ("run", "run.expect.toml"),
    (".hidden.jsonl", ".hidden.expect.toml"),
]


@pytest.mark.parametrize(("name", "file"), NAMES)
def test_names_of_files_of_expectations(tmp_path: Path, name: str, file: str) -> None:
    assert beside(tmp_path / name) is None
    (tmp_path / file).write_text("")
    assert beside(tmp_path / name) == tmp_path / file
    assert beside(tmp_path / file) is None
    assert target(tmp_path / name) == tmp_path / file


# -- expect --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(p.name for p in SAMPLES.iterdir() if p.suffix in (".jsonl", ".json")))
def test_what_expect_writes_holds(folder: Folder, name: str) -> None:
    (folder / name).write_bytes((SAMPLES / name).read_bytes())
    assert folder.run("expect", name, "-p", "all").code == 0
    file = target(folder / name)
    items = tomllib.loads(file.read_text())["expect"]
    assert len({i["policy"] for i in items}) > 20
    done = folder.check(name, "-p", "all", "--allow-unevaluated", "moltis")
    assert row(done, "expectations").replace("covered", "quiet").count("quiet")
    assert "missed" not in done.out
    assert "noisy" not in done.out
    blind = "cannot evaluate" in done.out
    assert done.code == (4 if blind else 0)


def test_expect_does_not_overwrite(suite: Folder) -> None:
    assert suite.run("expect", "runs").code == 0
    assert {p.name for p in (suite / "runs").iterdir()} == {
        "loop.jsonl",
        "fine.jsonl",
        "loop.expect.toml",
        "fine.expect.toml",
    }
    before = (suite / "runs/loop.expect.toml").read_text()
    transcript(suite / "runs/loop.jsonl", [*HEALTHY, *LOOP])
    done = suite.run("expect", "runs")
    assert done.code == 2
    assert "runs/fine.expect.toml and 1 more" in done.err
    assert (suite / "runs/loop.expect.toml").read_text() == before
    assert suite.check().code == 3
    assert suite.run("expect", "--force", "runs/loop.jsonl").code == 0
    assert suite.check().code == 0
    assert suite.run("expect", "--stdout", "runs/loop.jsonl").out == (suite / "runs/loop.expect.toml").read_text()
    assert suite.run("expect").code == 2
    assert suite.run("expect", "--stdout", "runs/none.jsonl").code == 4


def test_expect_keeps_two_transcripts_of_one_stem_apart(suite: Folder) -> None:
    (suite / "runs/loop.json").write_text("[" + ",".join(lines(HEALTHY)) + "]")
    assert suite.run("expect", "runs").code == 0
    assert suite.check().code == 0
    written = {p.name for p in (suite / "runs").glob("loop*.toml")}
    assert written == {"loop.expect.toml", "loop.jsonl.expect.toml"}


# -- thresholds ----------------------------------------------------------------------------

LIMITS = [
    (("--fail-on", "block"), 1, "2 unaccepted firings of block or stronger, the first at call 4"),
    (("--fail-on", "stop"), 0, ""),
    (("--fail-on", "loop"), 1, "1 unaccepted loop line 6: loop/identical at call 3-5, 3 redundant calls"),
    (("--max-firings", "1"), 1, "2 firings; at most 1 are allowed"),
    (("--max-firings", "2"), 0, ""),
    (("--max-loops", "1"), 0, ""),
    (("--max-redundant", "2"), 1, "3 redundant calls in loops; at most 2 are allowed"),
    (("--max-wrong", "0"), 0, ""),
    (("--max-firings", "-1"), 2, ""),
    (("--fail-on", "blok"), 2, ""),
    (("--max-damaged", "2"), 2, ""),
]


@pytest.mark.parametrize(("arguments", "code", "message"), LIMITS, ids=[" ".join(a[0]) for a in LIMITS])
def test_thresholds(suite: Folder, arguments: tuple[str, ...], code: int, message: str) -> None:
    done = suite.check(*arguments)
    assert done.code == code
    assert message in flat(done.out)


def test_threshold_of_the_configuration_and_the_command_that_accepts(suite: Folder) -> None:
    suite.write("loopaudit.toml", 'paths = ["runs"]\n' + POLICIES + "[gate]\nmax-firings = 1\n")
    done = suite.check()
    assert done.code == 1
    command = re.search(r"accept +loopaudit (check .*)", done.out)
    assert command is not None
    assert command.group(1) == "check --max-firings 2"
    assert suite.run(*command.group(1).split()).code == 0


def test_accepting_command_repeats_what_was_asked(suite: Folder) -> None:
    done = suite.check("runs/loop.jsonl", "-p", "zagens", "--mode", "shadow", "--max-firings", "0")
    command = re.search(r"accept +(loopaudit check .*?)(?=\n\n)", done.out, flags=re.DOTALL)
    assert command is not None
    words = flat(command.group(1)).split()
    assert words[:2] == ["loopaudit", "check"]
    assert words[-2:] == ["--max-firings", "2"]
    assert {"runs/loop.jsonl", "--policy", "zagens", "--mode", "shadow"} <= set(words)
    assert suite.run(*words[1:]).code == 0


def test_what_is_expected_or_accepted_does_not_fail_on(suite: Folder) -> None:
    assert suite.check("--fail-on", "block").code == 1
    suite.run("baseline")
    assert suite.check("--fail-on", "block", "--baseline", "loopaudit-baseline.toml").code == 0
    expect(suite, 'policy = "atomcode"\nrule = "identical_output"')
    assert suite.check("--fail-on", "block").code == 0
    assert suite.check("--fail-on", "loop", "--max-redundant", "0").code == 0


# -- coverage ------------------------------------------------------------------------------


def test_nothing_audited_is_a_failure_unless_allowed(suite: Folder) -> None:
    (suite / "empty").mkdir()
    done = suite.check("empty")
    assert done.code == 4
    assert "nothing was audited" in done.out
    assert suite.check("empty", "--allow-empty", "--max-wrong", "0").code == 0
    assert suite.check("none").code == 4
    suite.write("loopaudit.toml", POLICIES)
    assert suite.check().code == 2


def test_policy_that_cannot_evaluate_fails_unless_allowed_by_name(suite: Folder) -> None:
    transcript(suite / "runs/mute.jsonl", LOOP, results=False)
    done = suite.check("--max-wrong", "0")
    assert done.code == 4
    assert "the policy cannot evaluate: no results are recorded" in flat(done.out)
    assert suite.check("--max-wrong", "0", "--allow-unevaluated", "koda").code == 4
    assert suite.check("--max-wrong", "0", "--allow-unevaluated", "atomcode").code == 0
    suite.write("loopaudit.toml", 'paths = ["runs"]\n' + POLICIES + '[gate]\nallow_unevaluated = ["atomcode"]\n')
    assert suite.check("--max-wrong", "0").code == 0


def test_calls_that_nobody_read_fail_unless_allowed(suite: Folder) -> None:
    said = {"role": "assistant", "content": 'Sure: {"name": "lookup", "arguments": {}}'}
    suite.write("runs/mute.json", json.dumps([{"role": "user", "content": "Look it up."}, said]))
    done = suite.check("--max-wrong", "0")
    assert done.code == 4
    assert "the responses speak of actions, but no call was read" in flat(done.out)
    command = re.search(r"accept +loopaudit (check .*)", done.out)
    assert command is not None
    assert suite.run(*command.group(1).split()).code == 0
    assert suite.check("--max-wrong", "0", "--allow-unevaluated", "atomcode").code == 4
    suite.check("-r", "json=out.json")
    written = json.loads((suite / "out.json").read_text())
    (mute,) = [t for t in written["transcripts"] if t["path"].endswith("mute.json")]
    assert [policy["status"] for policy in mute["policies"]] == ["cannot_evaluate"]
    suite.write("loopaudit.toml", 'paths = ["runs"]\n' + POLICIES + "[gate]\nallow-unread-calls = true\n")
    assert suite.check("--max-wrong", "0").code == 0


def damage(path: Path) -> None:
    path.write_text(path.read_text().replace("\n", "\n{cut off\n", 1))


def test_damaged_records(suite: Folder) -> None:
    damage(suite / "runs/loop.jsonl")
    assert suite.check("--max-wrong", "0").code == 0
    assert suite.check("--max-damaged", "0").code == 4
    assert suite.check("--max-damaged", "0.2").code == 0
    expect(suite, 'policy = "atomcode"')
    done = suite.check()
    assert done.code == 4
    # One damaged record, one message, five responses and five results.
    assert "1 damaged records, 8.333 % of all; at most 0 % are allowed" in flat(done.out)
    share = re.search(r"--max-damaged (\S+)", done.out)
    assert flat(suite.check("--max-damaged", "0").out).count("--max-damaged") == 1
    assert share is not None
    assert suite.check("--max-damaged", share.group(1)).code == 0
    suite.write("runs/loop.expect.toml", 'max-damaged = 0.1\n[[expect]]\npolicy = "atomcode"\n')
    assert suite.check().code == 0


CRASH = """
from loopaudit.policies.guards.atomcode import POLICY as ATOMCODE
from msgspec.structs import replace

class Broken:
    def turn(self, turn): pass
    def boundary(self, boundary): pass
    def judge(self, batch): raise RuntimeError("broken on purpose")

POLICY = replace(ATOMCODE, id="broken", start=lambda params, context: Broken())
"""


def test_exit_codes_in_their_order(suite: Folder) -> None:
    """5 before 4 before 3 before 1, each also alone."""
    suite.write("broken.py", CRASH)
    assert suite.check().code == 2
    assert suite.check("--max-wrong", "0").code == 0
    assert suite.check("--fail-on", "block").code == 1
    expect(suite, 'policy = "atomcode"\nat = 9')
    assert suite.check().code == 3
    expect(suite, 'policy = "atomcode"\naction = "stop"\nat = 9')
    assert suite.check("--max-firings", "0").code == 3
    damage(suite / "runs/loop.jsonl")
    assert suite.check("--fail-on", "block").code == 4
    done = suite.check("--fail-on", "block", "--policy-file", "broken.py")
    assert done.code == 5
    assert "crashed" in done.out
    assert "broken on purpose" in flat(done.out)
    done = suite.check("--allow-unevaluated", "broken", "--policy-file", "broken.py")
    assert done.code == 5


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("check",), 2),
        (("check", "--max-wrong", "0"), 0),
        (("check", "--max-firings", "0"), 1),
        (("check", "--nonsense"), 2),
        (("check", "--baseline", "b.toml"), 3),
        (("check", "none.jsonl"), 4),
        (("check", "--policy-file", "broken.py"), 5),
    ],
    ids=str,
)
@pytest.mark.slow
def test_exit_codes_of_the_program(suite: Folder, arguments: tuple[str, ...], code: int) -> None:
    """As a process of its own, with no terminal and nothing to read."""
    suite.write("broken.py", CRASH)
    suite.write("b.toml", "version = 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "loopaudit", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code
    assert b"\x1b" not in done.stdout + done.stderr


def test_standard_input_has_no_accepting_command(suite: Folder) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loopaudit", "check", "-", "--fail-on", "block"],
        input=(suite / "runs/loop.jsonl").read_bytes(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert b"<stdin>" in done.stdout
    assert b"accept" not in done.stdout.replace(b"unaccepted", b"")


# -- output --------------------------------------------------------------------------------


def test_reports_are_written_also_when_it_fails(suite: Folder) -> None:
    suite.write(
        "loopaudit.toml", 'paths = ["runs"]\nreports = ["json=out.json"]\n' + POLICIES + "[gate]\nmax-firings = 0\n"
    )
    done = suite.check()
    assert done.code == 1
    assert "failed: 1 of 1 check" in done.out
    assert len(json.loads((suite / "out.json").read_text())["transcripts"]) == 2
    done = suite.check("--report", "json")
    json.loads(done.out)
    assert "failed: 1 of 1 check" in done.err
    assert suite.check("--report", "json=none/out.json").code == 2


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(suite: Folder) -> None:
    suite.run("baseline")
    expect(suite, 'policy = "atomcode"\ntwin = "fine.jsonl"')
    transcript(suite / "runs/more.jsonl", [*LOOP, grep("beta", "nothing")])
    outputs = []
    for seed in ("1", "2"):
        arguments = ["check", "-b", "loopaudit-baseline.toml", "--fail-on", "block", "-p", "mission"]
        for name in ("json", "jsonl"):
            arguments += ["--report", f"{name}={seed}.{name}"]
        done = subprocess.run(
            [sys.executable, "-m", "loopaudit", *arguments],
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=False,
        )
        assert done.returncode == 3
        outputs.append((done.stdout, *((suite / f"{seed}.{n}").read_bytes() for n in ("json", "jsonl"))))
    assert outputs[0] == outputs[1]


def test_page_fits_its_width_and_hostile_names_are_harmless(suite: Folder) -> None:
    from rich.cells import cell_len

    name = "runs/\x1b[31m::error::\u202e" + "x" * 60 + ".jsonl"
    transcript(suite / name, LOOP)
    done = suite.check("--fail-on", "block", "--max-loops", "0")
    assert done.code == 1
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    uncut = [line for line in done.out.splitlines() if not line.lstrip().startswith("accept ")]
    assert all(cell_len(line) <= 80 for line in uncut)
    assert not [line for line in done.out.splitlines() if line.lstrip().startswith("::")]


def test_golden_page(suite: Folder, golden: object) -> None:
    suite.run("baseline", "runs/fine.jsonl", "--reason", "x")
    expect(suite, 'policy = "atomcode"\naction = "stop"\nreason = "nobody may search four times"')
    expect(suite, 'policy = "atomcode"\nat = "never"', "runs/fine.expect.toml")
    done = suite.check("-b", "loopaudit-baseline.toml", "--fail-on", "block", "--max-loops", "3")
    golden("check.txt", re.sub(r"(?m)^loopaudit \S+", "loopaudit X", done.out))  # type: ignore[operator]
