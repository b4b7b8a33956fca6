"""``--verbose``: what is logged, where, by which processes; and that nothing is logged, or loaded, without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT, SAMPLES


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "loopaudit", *map(str, arguments)], capture_output=True, text=True, cwd=ROOT, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(some_sample().read_bytes())
    (tmp_path / "\x1b[31mnotes.txt").write_text("no transcript")
    return tmp_path


def some_sample() -> Path:
    return next(path for path in sorted(SAMPLES.iterdir()) if path.suffix == ".jsonl")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_it_says_what_was_recognised_and_why_and_what_was_passed_over(folder: Path, jobs: int) -> None:
    done = program("replay", folder, "-v", "--jobs", jobs, "-r", "json")
    lines = done.stderr.splitlines()
    for name in ("a.jsonl", "b.jsonl"):
        (line,) = [line for line in lines if f"{name}: read as " in line]
        assert line.startswith("loopaudit.") and not line.endswith(": None")
    assert any(line.endswith("passed over: not a transcript") for line in lines)
    assert any("read and replayed in" in line for line in lines)
    assert any("json written in" in line for line in lines)
    assert "\x1b" not in done.stderr
    assert done.stdout == program("replay", folder, "--jobs", jobs, "-r", "json").stdout


@pytest.mark.slow
def test_the_cache_says_what_it_gave(folder: Path, tmp_path: Path) -> None:
    cached = ("--cache", "--cache-dir", tmp_path / "cache", "-v", "-r", "json")
    program("replay", folder / "a.jsonl", *cached)
    assert "a.jsonl: unchanged, taken from the cache" in program("replay", folder / "a.jsonl", *cached).stderr


@pytest.mark.slow
def test_convert_says_it_too(folder: Path) -> None:
    assert "a.jsonl: read as " in program("convert", folder / "a.jsonl", "--verbose", "-o", folder / "out").stderr


def test_without_it_nothing_is_logged(folder: Path) -> None:
    done = program("replay", folder, "-r", "json")
    assert done.stderr == ""
