"""Help, completion, explanations, samples, schemas, quiet runs, interrupts, full disks."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.main import get_command

from docs.man import man_page
from loopaudit.__main__ import main
from loopaudit.cli.app import COMMANDS, build
from loopaudit.cli.commands.demo import samples
from loopaudit.cli.help import EXAMPLES, PANELS
from loopaudit.cli.meanings import LISTS, find, meanings
from loopaudit.core.errors import EXIT_CODES, UsageError
from loopaudit.core.findings import Action
from loopaudit.hindsight.words import CLASSES, ENDINGS, GRADES, KINDS
from loopaudit.policies.registry import policies
from loopaudit.readers.registry import readers
from loopaudit.reports.registry import reports
from tests.cli.test_program import CATCH, run
from tests.places import ROOT, SAMPLES

slow = pytest.mark.slow  # starts the program


# -- help ----------------------------------------------------------------------------------


def test_every_command_is_in_one_panel() -> None:
    listed = [name for names in PANELS.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS) and len(set(listed)) == len(listed)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_is_a_command_line_that_the_command_takes(name: str) -> None:
    command = get_command(build(name)).commands[name]  # type: ignore[attr-defined]
    assert EXAMPLES[name]
    for line, meaning in EXAMPLES[name]:
        program, own, *arguments = shlex.split(line)
        assert (program, own) == ("loopaudit", name) and meaning
        # Parses options and arguments, and raises for those that are not there; nothing is run.
        command.make_context(name, arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_choices_panels_and_examples(name: str) -> None:
    command = get_command(build(name)).commands[name]  # type: ignore[attr-defined]
    context = command.make_context(f"loopaudit {name}", [], resilient_parsing=True, terminal_width=100)
    text = command.get_help(context)
    assert "<str>" not in text
    assert text.rstrip().endswith(EXAMPLES[name][-1][1]) and "Examples:" in text
    if "--mode" in text:
        assert "--mode enforced|shadow" in text
        assert text.index("How it is replayed:") < text.index("--mode") < text.index("Configuration and log:")


# -- completion ----------------------------------------------------------------------------


@slow
@pytest.mark.parametrize(
    "line, offered",
    [
        ("loopaudit comp", {"compare"}),
        ("loopaudit replay -p atom", {"atomcode"}),
        ("loopaudit replay -p moltis:", {"moltis:later"}),
        ("loopaudit replay -p fie", {"field"}),
        ("loopaudit replay --report sar", {"sarif"}),
        ("loopaudit compare -r mark", {"markdown"}),
        ("loopaudit replay --format claude-c", {"claude-code"}),
        ("loopaudit replay --mode sh", {"shadow"}),
        ("loopaudit tune zag", {"zagens"}),
        ("loopaudit explain hid", {"hid_information"}),
        ("loopaudit schema comp", {"comparison"}),
    ],
)
def test_a_shell_completes(line: str, offered: set[str]) -> None:
    words = line.split()
    bash = run(_LOOPAUDIT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    assert offered <= set(bash.stdout.decode().split())
    assert all(word.startswith(words[-1].partition(":")[0]) for word in bash.stdout.decode().split())
    zsh = run(_LOOPAUDIT_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line).stdout.decode()
    fish = run(
        _LOOPAUDIT_COMPLETE="complete_fish", _TYPER_COMPLETE_FISH_ACTION="get-args", _TYPER_COMPLETE_ARGS=line
    ).stdout.decode()
    for word in offered:
        assert word.replace(":", "\\\\:") in zsh and word in fish


@slow
def test_completion_can_be_installed(tmp_path: Path) -> None:
    assert b"--install-completion" in run("--help").stdout
    done = run("--show-completion", HOME=str(tmp_path), _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert b"Traceback" not in done.stderr


# -- explanations --------------------------------------------------------------------------


def test_every_word_of_every_list_is_explained() -> None:
    known = meanings()
    words = {*GRADES, *(c.word for c in CLASSES), *KINDS, *ENDINGS, *(a.slug for a in Action if a)}
    words |= {str(code) for code in EXIT_CODES} | {r.id for r in readers().all()} | {r.id for r in reports().all()}
    words |= {f"{policy.id}/{rule}" for policy in policies().all() for rule in policy.rules}
    assert words <= set(known)
    assert all(meaning.text for several in known.values() for meaning in several)
    for name, kind in LISTS.items():
        assert {meaning.kind for _, meaning in find(name)} == {kind}, name


def test_a_word_may_be_written_as_reports_show_it() -> None:
    assert find("hid information") == find("hid_information") == find("HID-INFORMATION")
    assert [word for word, _ in find("identical_output")] == ["atomcode/identical_output"]
    (_, meaning), *_ = find("hid_information")
    assert meaning.text.startswith(GRADES["hid_information"][1])
    with pytest.raises(UsageError) as wrong:
        find("hid_informatoin")
    assert "hid_information" in str(wrong.value.hint)


@slow
def test_explain_prints_text_and_no_markup() -> None:
    for words in (["hid_information"], ["broke", "a", "wait"], ["atomcode/identical_output"], ["grades"], ["4"]):
        done = run("explain", *words, COLUMNS="70")
        text = done.stdout.decode()
        assert done.returncode == 0 and text.strip()
        assert "[bold]" not in text and "`" not in text and "**" not in text
        assert max(map(len, text.splitlines())) <= 70
    assert b"Watches" in run("explain", "atomcode").stdout
    wrong = run("explain", "atomkode")
    assert wrong.returncode == 2 and b"did you mean" in wrong.stderr


# -- samples and schemas -------------------------------------------------------------------


@slow
def test_demo_replays_the_samples(tmp_path: Path) -> None:
    done = run("demo", "-r", "json")
    assert done.returncode == 0, done.stderr.decode()
    value = json.loads(done.stdout)
    assert [Path(t["path"]).name for t in value["transcripts"]] == [path.name for path in samples()]
    assert {path.parent for path in samples()} == {SAMPLES}
    assert b"looped" in run("demo").stdout


def test_a_built_package_has_the_samples() -> None:
    import tomllib

    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"sample_transcripts": "loopaudit/samples"}


@slow
def test_schemas_are_printed() -> None:
    names = run("schema").stdout.decode().split()
    assert names == ["report", "comparison", "transcript"]
    for name in names:
        Draft202012Validator.check_schema(json.loads(run("schema", name).stdout))
    report = Draft202012Validator(json.loads(run("schema", "report").stdout))
    assert list(report.iter_errors(json.loads(run("replay", CATCH, "-r", "json").stdout))) == []
    assert run("schema", "reprot").returncode == 2


# -- quiet, interrupted, full --------------------------------------------------------------


@slow
def test_quiet_leaves_out_remarks_and_keeps_errors(tmp_path: Path) -> None:
    cached = ("replay", CATCH, "-r", "json", "--cache", "--cache-dir", tmp_path / "cache")
    assert run(*cached).returncode == 0
    assert b"taken from the cache" in run(*cached).stderr
    assert run(*cached, "-q").stderr == b""
    missing = run("replay", "missing.jsonl", "-q")
    assert missing.returncode == 4 and b"no such file" in missing.stderr


def opened_for_writing(pipe: Path) -> int:
    """A descriptor of a named pipe, as soon as somebody has opened it for reading."""
    end = time.monotonic() + 60
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            assert error.errno == errno.ENXIO and time.monotonic() < end
            time.sleep(0.02)


def test_the_process_ends_with_its_code_after_threads_and_what_is_registered() -> None:
    for thread in ("", "threading.Timer(0.2, print, ['thread']).start()"):
        code = (
            "import atexit, sys, threading\n"
            "from loopaudit.__main__ import program\n"
            f"atexit.register(print, 'registered'); {thread}\n"
            "sys.argv = ['loopaudit', 'replay', 'missing.jsonl', '--no-config']; program()\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.split()) == (4, ["thread"] * bool(thread) + ["registered"])
        assert "no such file" in done.stderr


def test_an_interrupt_before_the_command_line_is_loaded_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("loopaudit.__main__._collect_seldom", interrupted)
    monkeypatch.setattr(sys, "argv", ["loopaudit", "policies"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "interrupted\n")


@slow
@pytest.mark.parametrize(("cache", "kept"), [(True, "kept in the cache"), (False, "nothing is kept")])
def test_an_interrupt_says_what_is_kept_and_how_to_go_on(cache: bool, kept: str, tmp_path: Path) -> None:
    # A named pipe to which nothing is written: the run waits for as long as it must.
    pipe = tmp_path / "session.jsonl"
    os.mkfifo(pipe)
    where = ["--cache", "--cache-dir", str(tmp_path / "cache")] if cache else ["--no-cache"]
    command = [sys.executable, "-m", "loopaudit", "replay", str(pipe), "--jobs", "1", *where]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        writer = opened_for_writing(pipe)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        os.close(writer)
    assert process.returncode == 130
    assert kept in errors.decode() and "Traceback" not in errors.decode()


@slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_no_internal_error() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "loopaudit", "replay", str(CATCH), "-r", "json"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            check=False,
        )
    assert done.returncode == 2
    assert b"no space left" in done.stderr and b"internal error" not in done.stderr
    target = run("replay", CATCH, "-r", "json=/dev/full")
    assert target.returncode == 2 and b"no space left" in target.stderr


@slow
def test_an_unknown_format_is_refused_with_the_nearest_or_where_names_are() -> None:
    assert b"did you mean 'claude-code'" in run("replay", CATCH, "--format", "claude-cod").stderr
    assert b"loopaudit explain formats" in run("replay", CATCH, "--format", "nope").stderr


# -- the man page --------------------------------------------------------------------------


def test_the_man_page_has_every_command_option_and_exit_code() -> None:
    page = man_page()
    assert page.startswith(".TH LOOPAUDIT 1 ")
    for name in COMMANDS:
        assert f'.SH "LOOPAUDIT {name.upper()}"'.replace("-", "\\-") in page
    assert ".B \\-p, \\-\\-policy NAME" in page and "enforced|shadow" in page
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests <= {".TH", ".SH", ".TP", ".PP", ".B", ".I"}


@slow
@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_takes_the_man_page() -> None:
    done = subprocess.run(["groff", "-man", "-ww", "-z"], input=man_page().encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
