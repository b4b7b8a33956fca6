"""A gate cannot be talked out of a failure: whatever is done to what it looks at, it does not pass.

Each case begins with a folder that passes by expectations and a baseline. The exit code is that of
what was found first in the order 5, 4, 3, 1.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable

import pytest

from tests.gate.files import HEALTHY, LOOP, Folder, grep
from tests.gate.files import write as transcript
from tests.gate.test_check import CRASH

BASELINE = "loopaudit-baseline.toml"
Change = Callable[[Folder], object]
WORSE = [*LOOP, *[grep("gamma", "none")] * 4]


@pytest.fixture
def gate(folder: Folder) -> Folder:
    """``held.jsonl`` has expectations, ``known.jsonl`` only entries in the baseline."""
    for name in ("held", "known"):
        transcript(folder / f"runs/{name}.jsonl", LOOP)
    transcript(folder / "runs/fine.jsonl", HEALTHY)
    folder.run("init", "runs")
    folder.run("expect", "runs/held.jsonl", "-p", "atomcode")
    folder.write("loopaudit.toml", (folder / "loopaudit.toml").read_text().replace('["mission"]', '["atomcode"]'))
    folder.run("baseline")
    assert folder.check().code == 0
    return folder


def baseline(change: Callable[[str], str]) -> Change:
    def made(folder: Folder) -> None:
        text = (folder / BASELINE).read_text()
        assert change(text) != text
        folder.write(BASELINE, change(text))

    return made


def emptied(name: str) -> Change:
    return lambda folder: folder.write(f"runs/{name}.jsonl", "")


def no_transcript(name: str) -> Change:
    return lambda folder: folder.write(f"runs/{name}.jsonl", "\x00\x01 nothing")


def renamed(name: str, other: str) -> Change:
    return lambda folder: (folder / f"runs/{name}.jsonl").rename(folder / other)


def truncated(name: str, share: float) -> Change:
    def made(folder: Folder) -> None:
        file = folder / f"runs/{name}.jsonl"
        data = file.read_bytes()
        file.write_bytes(data[: int(len(data) * share)])

    return made


def without_results(name: str) -> Change:
    return lambda folder: transcript(folder / f"runs/{name}.jsonl", LOOP, results=False)


def configured(text: str) -> Change:
    return lambda folder: folder.write("loopaudit.toml", (folder / "loopaudit.toml").read_text() + text)


def replaced(name: str, by: str) -> Change:
    """Something else under the name of a file: a folder, a pipe, or a link to what is named."""

    def made(folder: Folder) -> None:
        file = folder / name
        file.unlink()
        match by:
            case "folder":
                file.mkdir()
            case "pipe":
                os.mkfifo(file)
            case _:
                file.symlink_to(by)

    return made


def copied(name: str, *others: str) -> Change:
    def made(folder: Folder) -> None:
        for other in others:
            (folder / other).parent.mkdir(exist_ok=True)
            shutil.copyfile(folder / f"runs/{name}.jsonl", folder / other)

    return made


def duplicated(text: str) -> str:
    """The baseline with its last entry twice."""
    return text + "\n" + text[text.rindex("[[") :]


def with_setting(name: str, value: str) -> Change:
    def made(folder: Folder) -> None:
        text = (folder / "loopaudit.toml").read_text()
        assert f"\n{name} = " in text
        folder.write("loopaudit.toml", re.sub(rf"^{name} = .*$", f"{name} = {value}", text, flags=re.MULTILINE))

    return made


def broken_pyproject(folder: Folder) -> None:
    (folder / "loopaudit.toml").unlink()
    folder.write("pyproject.toml", "[tool.loopaudit]\n[[")


def worse_behind(change: Change) -> Change:
    """A new finding, in a transcript that is also changed otherwise."""

    def made(folder: Folder) -> None:
        transcript(folder / "runs/known.jsonl", WORSE)
        change(folder)

    return made


CASES: dict[str, tuple[Change, tuple[str, ...], int]] = {
    "emptied, with expectations": (emptied("held"), (), 4),
    "emptied, in the baseline": (emptied("known"), (), 3),
    "emptied, named by its folder": (emptied("known"), ("runs",), 3),
    "emptied, named itself": (emptied("known"), ("runs/known.jsonl",), 4),
    "no transcript any more, with expectations": (no_transcript("held"), (), 4),
    "no transcript any more, in the baseline": (no_transcript("known"), (), 3),
    "no transcript any more, named by its folder": (no_transcript("known"), ("runs",), 3),
    "renamed, with expectations": (renamed("held", "runs/other.jsonl"), (), 4),
    "renamed out of sight": (renamed("known", "known.jsonl"), (), 3),
    "renamed out of sight, named by its folder": (renamed("known", "known.jsonl"), ("runs",), 3),
    "deleted, with expectations": (lambda folder: (folder / "runs/held.jsonl").unlink(), (), 4),
    "deleted, in the baseline": (lambda folder: (folder / "runs/known.jsonl").unlink(), (), 3),
    "truncated in a record, with expectations": (truncated("held", 0.97), (), 4),
    "truncated in a record, in the baseline": (truncated("known", 0.6), (), 3),
    "results removed, with expectations": (without_results("held"), (), 4),
    "results removed, in the baseline": (without_results("known"), (), 4),
    "a parameter in the configuration": (configured("[policies.atomcode]\nthreshold = 9\n"), (), 3),
    "a parameter by --set": (lambda _: None, ("--set", "atomcode.threshold=9"), 3),
    "a parameter in the name": (lambda _: None, ("-p", "atomcode(threshold=9)"), 3),
    "a parameter in the name, without the baseline": (
        lambda _: None, ("-p", "atomcode(threshold=9)", "--no-baseline"), 3,
    ),
    "another policy alone, without the baseline": (lambda _: None, ("-p", "koda", "--no-baseline"), 2),
    "the baseline is missing": (lambda folder: (folder / BASELINE).unlink(), (), 2),
    "the baseline is empty": (baseline(lambda text: ""), (), 2),
    "the baseline has no entries": (baseline(lambda text: text.partition("[[")[0]), (), 3),
    "the baseline is cut in a table": (baseline(lambda text: text[:-30]), (), 2),
    "the baseline is cut between tables": (baseline(lambda text: text[: text.rindex("[[")]), (), 3),
    "the baseline is older": (baseline(lambda text: text.replace("version = 2", "version = 0")), (), 2),
    "the baseline is newer": (baseline(lambda text: text.replace("version = 2", "version = 3")), (), 2),
    "the baseline has what a newer one may have": (baseline(lambda text: text + "\nmood = 1\n"), (), 2),
    "the baseline has an entry twice": (baseline(duplicated), (), 2),
    "the baseline is a folder": (
        replaced(BASELINE, "folder"), (), 2,
    ),
    "the baseline is a link to nothing": (
        replaced(BASELINE, "nothing"), (), 2,
    ),
    "the baseline is no UTF-8": (lambda folder: (folder / BASELINE).write_bytes(b"\xff\xfe\x00"), (), 2),
    "the baseline names another transcript": (
        baseline(lambda text: text.replace("runs/known.jsonl", "runs/fine.jsonl")), (), 3,
    ),
    "the baseline accepts other calls": (baseline(lambda text: text.replace("calls = [4, 5]", "calls = [4]")), (), 3),
    "the baseline accepts a weaker action": (baseline(lambda text: text.replace('"block"', '"warn"')), (), 3),
    "the baseline accepts another policy": (baseline(lambda text: text.replace('"atomcode"', '"koda"')), (), 3),
    "the baseline has another fingerprint": (
        baseline(lambda text: re.sub(r'fingerprint = "\w+"', f'fingerprint = "{"0" * 16}"', text)), (), 3,
    ),
    "an entry has another rule": (
        baseline(lambda text: text.replace('rule = "identical_output"', 'rule = "hard_block"')), (), 3,
    ),
    "an entry has another tool": (baseline(lambda text: text.replace('tool = "Grep"', 'tool = "Read"')), (), 3),
    "an entry has no tool": (baseline(lambda text: text.replace('tool = "Grep"\n', "")), (), 3),
    "an entry of a loop has another kind": (
        baseline(lambda text: text.replace('kind = "identical"', 'kind = "alternating"')), (), 3,
    ),
    "the baseline has no fingerprint": (baseline(lambda text: re.sub(r'fingerprint = "\w+"', "", text)), (), 2),
    "the baseline has calls that are no numbers": (baseline(lambda text: text.replace("[4, 5]", '["all"]')), (), 2),
    "the baseline accepts every call": (baseline(lambda text: text.replace("[4, 5]", "[]")), (), 2),
    "an entry has expired": (
        baseline(lambda text: text.replace('policy = "atomcode"', 'policy = "atomcode"\nexpires = 2020-01-01')), (), 3,
    ),
    "loops in a baseline of version 1": (
        baseline(lambda text: text.replace("version = 2", "version = 1")), (), 3,
    ),
    "a worse transcript that was copied over another": (
        lambda folder: transcript(folder / "runs/fine.jsonl", WORSE), (), 3,
    ),
    "a copy of a transcript beside it": (copied("known", "runs/twice.jsonl"), (), 3),
    "a copy of a transcript in a folder of its own": (copied("known", "runs/again/known.jsonl"), (), 3),
    "a worse transcript, renamed to be a copy": (
        worse_behind(copied("known", "runs/again/known.jsonl")), (), 3,
    ),
    "a folder in the place of a transcript, with expectations": (replaced("runs/held.jsonl", "folder"), (), 4),
    "a folder in the place of a transcript": (replaced("runs/known.jsonl", "folder"), (), 3),
    "a folder in the place of a named transcript": (replaced("runs/known.jsonl", "folder"), ("runs/known.jsonl",), 4),
    "a link to nothing in the place of a transcript": (replaced("runs/known.jsonl", "nothing"), (), 3),
    "a link to itself in the place of a transcript": (replaced("runs/known.jsonl", "known.jsonl"), (), 3),
    "a link to itself that is named": (replaced("runs/known.jsonl", "known.jsonl"), ("runs/known.jsonl",), 4),
    "a link to a healthy transcript": (replaced("runs/known.jsonl", "fine.jsonl"), (), 3),
    "a device in the place of a transcript": (replaced("runs/known.jsonl", "/dev/null"), (), 3),
    "a device that is named": (replaced("runs/known.jsonl", "/dev/null"), ("runs/known.jsonl",), 4),
    "a pipe in the place of a transcript": (replaced("runs/known.jsonl", "pipe"), (), 3),
    "expectations that are no TOML": (lambda folder: folder.write("runs/held.expect.toml", "[["), (), 2),
    "expectations that are empty": (lambda folder: folder.write("runs/held.expect.toml", ""), (), 2),
    "expectations that expect nothing of a new finding": (
        lambda folder: (transcript(folder / "runs/held.jsonl", WORSE)), (), 3,
    ),
    "expectations of a policy that is not known": (
        lambda folder: folder.write("runs/held.expect.toml", '[[expect]]\npolicy = "atomcod"\nat = 4\n'), (), 2,
    ),
    "expectations that are a folder": (
        replaced("runs/held.expect.toml", "folder"), (), 2,
    ),
    "expectations that are a pipe": (
        replaced("runs/held.expect.toml", "pipe"), (), 2,
    ),
    "expectations that are a link to nothing": (
        replaced("runs/held.expect.toml", "nothing"), (), 2,
    ),
    "a configuration that is no TOML": (lambda folder: folder.write("loopaudit.toml", "[["), (), 2),
    "a configuration that is empty": (lambda folder: folder.write("loopaudit.toml", ""), (), 2),
    "a configuration with an unknown key": (configured("moood = 1\n"), (), 2),
    "a configuration that is no UTF-8": (lambda folder: (folder / "loopaudit.toml").write_bytes(b"\xff"), (), 2),
    "a configuration that is a folder": (
        replaced("loopaudit.toml", "folder"), (), 2,
    ),
    "a broken pyproject in the place of the configuration": (
        broken_pyproject,
        (), 2,
    ),
    "a configuration that finds nothing": (configured('exclude = ["runs"]\n'), (), 2),
    "a configuration without the paths": (
        with_setting("paths", '["elsewhere"]'), (), 4,
    ),
    "no policies, which is the default set": (with_setting("policy", "[]"), (), 3,
    ),
    "a policy file that is gone": (lambda _: None, ("--policy-file", "gone.py"), 4),
    "a policy that ends its process": (
        lambda folder: folder.write("broken.py", CRASH.replace("raise", "__import__('os')._exit(0) or raise")),
        ("--policy-file", "broken.py"), 5,
    ),
    "a report that cannot be written": (lambda _: None, ("-r", "json=nowhere/out.json"), 2),
    "a crash": (lambda folder: folder.write("broken.py", CRASH), ("--policy-file", "broken.py"), 5),
    "a crash in a worker": (
        lambda folder: folder.write("broken.py", CRASH), ("--policy-file", "broken.py", "--jobs", "2"), 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_does_not_pass(gate: Folder, name: str) -> None:
    change, arguments, code = CASES[name]
    change(gate)
    done = gate.check(*arguments)
    assert done.code == code, done.out + done.err


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user who may not read everything")
def test_an_unreadable_transcript_does_not_pass(gate: Folder) -> None:
    file = gate / "runs/known.jsonl"
    file.chmod(0)
    try:
        assert gate.check().code == 4
        assert gate.check("runs").code == 4
    finally:
        file.chmod(0o600)


@pytest.mark.parametrize("name", ["held", "known", "fine"])
@pytest.mark.parametrize("other", ["runs/other.jsonl", "runs/sub/{}.jsonl"])
def test_a_new_finding_stays_new_in_a_renamed_transcript(gate: Folder, name: str, other: str) -> None:
    transcript(gate / f"runs/{name}.jsonl", WORSE)
    assert gate.check().code == 3
    place = gate / other.format(name)
    place.parent.mkdir(exist_ok=True)
    (gate / f"runs/{name}.jsonl").rename(place)
    assert gate.check().code in (3, 4)


def test_an_accepted_blindness_does_not_meet_an_expectation(gate: Folder) -> None:
    without_results("held")(gate)
    assert gate.run("baseline").code == 0
    assert gate.check().code == 4
    assert gate.check("--allow-unevaluated", "atomcode").code == 0
    without_results("known")(gate)
    assert gate.run("baseline").code == 0
    (gate / "runs/held.expect.toml").unlink()
    assert gate.check().code == 0
