"""Foreign guards: whatever they do is their own fault and nobody else's loss."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import loopaudit
from loopaudit.audit.contained import TimeLimit, _TimeUp
from loopaudit.audit.run import audit
from loopaudit.config.options import Options
from loopaudit.config.policy_files import policies_from
from loopaudit.config.selection import select
from loopaudit.core import interrupt
from tests.places import ROOT, SAMPLES

LOOP = SAMPLES / "invoices-same-grep.jsonl"

GUARD = """
import os, signal, sys, time
from loopaudit import Action, Context, Decision, Guard, Origin, Params, Policy


class BadGuard(Guard):
    def __init__(self, params, context):
        self.context = context
        {start}

    def turn(self, turn):
        {turn}

    def judge(self, batch):
        {judge}


def message(decision):
    {message}


POLICY = Policy(
    id="bad", title="Bad", origin=Origin("tests", "", ""), params=Params, start=BadGuard,
    rules={{"r": "a rule"}}, message=message, actions=("block",), ideas=(),
)
"""

BLOCK = "return [Decision(Action.BLOCK, 'r', 0)]"


def guard(tmp_path: Path, **parts: str) -> Path:
    """A policy file; each part is one statement in the guard's code."""
    whole = {"start": "pass", "turn": "pass", "judge": "return []", "message": "return 'stop it'"} | parts
    path = tmp_path / "bad.py"
    path.write_text(GUARD.format(**whole))
    return path


def replay(
    *arguments: object, stdin: bytes | None = None, env: dict[str, str] | None = None
) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON report and standard error of the real program."""
    command = [sys.executable, "-m", "loopaudit", "replay", *map(str, arguments), "-r", "json"]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False, env=env)
    return done.returncode, json.loads(done.stdout), done.stderr.decode()


def statuses(report: dict[str, Any]) -> dict[str, tuple[str, str]]:
    (transcript,) = report["transcripts"]
    return {p["label"]: (p["status"], " ".join(p["reasons"])) for p in transcript["policies"]}


ENDINGS = {
    "sys.exit(0)": "SystemExit: 0",
    "raise SystemExit": "SystemExit",
    "raise GeneratorExit": "GeneratorExit",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "raise BaseException('all of it')": "BaseException: all of it",
    "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})": "without words",
    "1 / 0": "ZeroDivisionError",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("place", ["start", "turn", "judge", "message"])
def test_whatever_it_raises_is_named_and_the_others_go_on(tmp_path: Path, ending: str, place: str) -> None:
    parts = {"judge": BLOCK} | {place: ending}
    interrupt.listen()
    (policy,) = policies_from([guard(tmp_path, **parts)]).values()
    report = loopaudit.replay(LOOP, policies=[policy, "atomcode"])
    bad, atomcode = report.transcripts[0].policies
    assert (bad.status, atomcode.status) == ("crashed", "evaluated")
    assert ENDINGS[ending] in bad.reasons[0]
    assert place == "start" or "at line " in bad.reasons[0]
    assert report.crashed


@pytest.mark.parametrize("place", ["start", "judge", "message"])
def test_the_program_ends_with_its_code_for_it(tmp_path: Path, place: str) -> None:
    code, report, _ = replay(LOOP, "--policy-file", guard(tmp_path, **({"judge": BLOCK} | {place: "sys.exit(0)"})))
    assert code == 5
    found = statuses(report)
    assert found["bad"][0] == "crashed" and "SystemExit: 0" in found["bad"][1]
    assert found["atomcode"][0] == "evaluated"


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()"])
@pytest.mark.parametrize("piped", [False, True], ids=["file", "stdin"])
def test_an_end_of_the_process_is_noticed(tmp_path: Path, ending: str, piped: bool) -> None:
    file = guard(tmp_path, judge=ending)
    name, stdin = ("-", LOOP.read_bytes()) if piped else (LOOP, None)
    code, report, _ = replay(name, "--policy-file", file, "-p", "atomcode", stdin=stdin)
    assert code == 5
    found = statuses(report)
    assert found["bad"] == ("crashed", "crashed at line 2: ended the process that replayed this input")
    assert found["atomcode"][0] == "evaluated"
    assert report["transcripts"][0]["path"].endswith("<stdin>" if piped else LOOP.name)


CHANGES = [
    "batch.calls.clear(); return []",
    "batch.calls.pop(); return []",
    "[setattr(c, 'name', 'x') or setattr(c, 'key', b'x' * 16) for c in batch.calls]; return []",
    "[c.arguments.clear() for c in batch.calls if isinstance(c.arguments, dict)]; return []",
    "[setattr(c.result, 'source', '') for c in batch.calls if c.result]; return []",
    "[setattr(c.result, 'failed', True) for c in batch.calls if c.result]; return []",
    "batch.session = batch.agent = 'elsewhere'; return []",
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("sample", sorted(SAMPLES.rglob("*.json*")), ids=lambda path: path.name)
def test_what_it_changes_nobody_else_sees(tmp_path: Path, change: str, sample: Path) -> None:
    (policy,) = policies_from([guard(tmp_path, judge=change)]).values()
    alone = loopaudit.replay(sample, policies=["mission"])
    beside = loopaudit.replay(sample, policies=[policy, "mission"])
    for lone, company in zip(alone.transcripts, beside.transcripts, strict=True):
        assert company.policies[1:] == lone.policies
        assert company.episodes == lone.episodes


WRONG = {
    "return [None]": "returned None, which is no Decision",
    "return 5": "TypeError",
    "return [Decision('block', 'r', 0)]": "'block', which is no Action",
    "return [Decision(Action.BLOCK, 7, 0)]": "rule=7, which is no str",
    "return [Decision(Action.BLOCK, 'r', 'first')]": "position='first', which is no int",
    "return [Decision(Action.BLOCK, 'r', 99)]": "position 99 of a batch of",
    "return [Decision(Action.BLOCK, 'r', -7)]": "position -7 of a batch of",
    "return [Decision(Action.BLOCK, 'r', 0, count='many')]": "count='many', which is no int",
    "return [Decision(Action.BLOCK, 'r', 0, count=-1)]": "counted -1",
    "return [Decision(Action.BLOCK, 'r', 0, count=True)]": "count=True, which is no int",
    "return [Decision(Action.BLOCK, 'r', 0, tool=['Bash'])]": "tool=a list, which is no str",
    "return [Decision(Action.BLOCK, 'r', 0, own_word=None)]": "own_word=None, which is no str",
    "return [Decision(Action.BLOCK, 'r', 0, details=3)]": "details=3, which is no dict",
    "return [Decision(Action.BLOCK, 'r', 0, details={'x': {1, 2}})]": "details that are no JSON",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_decision_that_is_none_is_its_fault(tmp_path: Path, wrong: str) -> None:
    (policy,) = policies_from([guard(tmp_path, judge=wrong)]).values()
    (result,) = loopaudit.replay(LOOP, policies=[policy]).transcripts[0].policies
    assert result.status == "crashed"
    assert WRONG[wrong] in result.reasons[0] and "at line " in result.reasons[0]


TEXT = "type('Text', (str,), {'__str__': lambda s: 1 / 0, '__repr__': lambda s: 1 / 0, '__format__': lambda *a: 1 / 0})"


def test_nothing_of_its_own_classes_is_left_in_what_it_decides(tmp_path: Path) -> None:
    """Their methods would run in reports, where nothing contains them."""
    own = "type('Own', (Decision,), {})"
    judge = (
        f"T = {TEXT}; N = type('N', (int,), {{'__lt__': lambda *a: 1 / 0}})\n        "
        "if not batch.calls: return []\n        "
        f"return [{own}(Action.BLOCK, T('r'), N(0), N(3), T('no'), T('t'), details={{'a': T('b')}})]"
    )
    (policy,) = policies_from([guard(tmp_path, judge=judge, message=f"return {TEXT}('stop')")]).values()
    (result,) = loopaudit.replay(LOOP, policies=[policy]).transcripts[0].policies
    assert result.status == "evaluated"
    finding = result.findings[0]
    assert [type(v) for v in (finding.rule, finding.count, finding.tool, finding.message)] == [str, int, str, str]
    assert (finding.rule, finding.count, finding.message) == ("r", 3, "stop")
    assert finding.details == {"a": "b"}
    assert finding.details is not None and type(finding.details["a"]) is str


def test_a_message_that_is_no_text_is_its_fault(tmp_path: Path) -> None:
    (policy,) = policies_from([guard(tmp_path, judge=BLOCK, message="return b'no'")]).values()
    (result,) = loopaudit.replay(LOOP, policies=[policy]).transcripts[0].policies
    assert result.status == "crashed" and "its message is no text: a bytes" in result.reasons[0]


HANGS = {
    "sleeps": "time.sleep(3600)",
    "computes": "[None for _ in iter(int, 1)]",
    "swallows": "exec('''while True:\\n    try:\\n        time.sleep(3600)\\n    except Exception:\\n        pass''')",
    "backtracks": "import re; re.match(r'(a|a)*$', 'a' * 60 + 'b')",
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs the alarm signal of POSIX")
@pytest.mark.parametrize("hang", HANGS)
@pytest.mark.parametrize("place", ["start", "judge"])
def test_one_that_never_returns_is_ended(tmp_path: Path, hang: str, place: str) -> None:
    file = guard(tmp_path, **({"judge": BLOCK} | {place: HANGS[hang]}))
    code, report, _ = replay(LOOP, "--policy-file", file, "-p", "koda", "--policy-timeout", "0.3")
    assert code == 5
    found = statuses(report)
    assert found["bad"][0] == "crashed" and "within 0.3 seconds" in found["bad"][1]
    assert found["koda"][0] == "evaluated"


STUBBORN = {
    "catches everything": "exec('while 1:\\n try: time.sleep(9)\\n except: pass')",
    "blocks the alarm": "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM}); time.sleep(3600)",
    "takes the alarm away": "signal.setitimer(signal.ITIMER_REAL, 0); time.sleep(3600)",
    "stops its process": "os.kill(os.getpid(), signal.SIGSTOP)",
    "has an error that never ends": "raise type('E', (Exception,), {'__str__': lambda self: "
    "signal.setitimer(signal.ITIMER_REAL, 0) and time.sleep(3600)})",
}


def installed(folder: Path, file: Path) -> dict[str, str]:
    """The environment in which a guard is offered by an installed package."""
    shutil.copy(file, folder / "loopaudit_bad.py")
    info = folder / "loopaudit_bad-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loopaudit-bad\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[loopaudit.policies]\nbad = loopaudit_bad:POLICY\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}


@pytest.mark.slow  # starts the program and its workers
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs the alarm signal of POSIX")
@pytest.mark.parametrize("hang", STUBBORN)
def test_one_that_nothing_interrupts_is_ended_too(tmp_path: Path, hang: str) -> None:
    number = list(STUBBORN).index(hang)
    file = guard(tmp_path, judge=STUBBORN[hang])
    named = ["-p", "bad"] if number % 2 else ["--policy-file", file]
    code, report, _ = replay(
        LOOP, *named, "-p", "atomcode", "--policy-timeout", "0.3", "--jobs", 1 + number % 2,
        env=installed(tmp_path, file) if number % 2 else None,
    )  # fmt: skip
    assert code == 5
    reason = "crashed at line 2: did not return within 0.3 seconds of --policy-timeout, and could not be interrupted"
    assert statuses(report)["bad"] == ("crashed", reason)
    (atomcode,) = [p for p in report["transcripts"][0]["policies"] if p["label"] == "atomcode"]
    assert atomcode["status"] == "evaluated" and atomcode["findings"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_it_prints_and_its_copies_of_the_process_are_not_in_the_report(tmp_path: Path) -> None:
    file = guard(tmp_path, judge="os.fork(); print('no {'); os.write(1, b'JSON'); return []")
    code, report, error = replay(LOOP, "--policy-file", file, "-p", "koda")
    assert code == 0 and statuses(report)["bad"][0] == statuses(report)["koda"][0] == "evaluated"
    assert "JSON" in error


@contextmanager
def entered() -> Iterator[FrameType | None]:
    """The frame of the standard library's that enters this."""
    frame = inspect.currentframe()
    yield None if frame is None else frame.f_back


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs the alarm signal of POSIX")
def test_an_alarm_never_comes_between_the_guard_and_what_contains_it() -> None:
    """A machine under load may take longer than the time between two alarms to get from one to the other."""
    limit = TimeLimit(60)
    own = limit.running()
    with own:
        limit._time_up(0, own.gen.gi_frame)  # type: ignore[attr-defined]
        with entered() as caller:
            limit._time_up(0, caller)
        for frame in (None, inspect.currentframe()):
            with pytest.raises(_TimeUp):
                limit._time_up(0, frame)
    limit._time_up(0, None)  # nothing runs


def test_time_is_counted_over_all_calls_of_a_transcript(tmp_path: Path) -> None:
    (policy,) = policies_from([guard(tmp_path, judge="time.sleep(0.05); return []")]).values()
    slow = select(["bad"], extra={"bad": policy})
    for seconds, status in ((0.12, "crashed"), (30.0, "evaluated")):
        report = audit([str(LOOP)], Options(policies=slow, policy_timeout=seconds))
        assert report.transcripts[0].policies[0].status == status


def test_an_interrupt_of_the_user_stays_one(tmp_path: Path) -> None:
    interrupt.listen()
    (policy,) = policies_from([guard(tmp_path, judge="import signal; signal.raise_signal(signal.SIGINT)")]).values()
    with pytest.raises(KeyboardInterrupt):
        loopaudit.replay(LOOP, policies=[policy])
    interrupt.listen()
