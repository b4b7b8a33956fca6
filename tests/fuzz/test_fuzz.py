"""What `make fuzz` checks, on a few mutants of each sample, and on everything that it ever found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from loopaudit.readers.source import Source
from tests.fuzz import check
from tests.fuzz.__main__ import finds
from tests.fuzz.mutate import DAMAGE, content, material, minimised, mutant
from tests.places import DATA, SAMPLES, SHARED_CORPUS

FOUND = sorted((DATA / "fuzz").iterdir())


def made(path: Path, folder: Path, number: int) -> Iterator[tuple[Path, bytes | None]]:
    """Mutants of a file, each with what it was made of where no call may get lost."""
    for seed in range(number):
        rng = Random(f"{path.name}:{seed}")
        data = content(path)
        mutated = mutant(data, rng, is_lines=path.suffix == ".jsonl")
        target = folder / f"{seed}{path.suffix}"
        target.write_bytes(mutated.data)
        yield target, data if mutated.keeps else None


@pytest.mark.parametrize("path", FOUND, ids=lambda p: p.name)
def test_what_was_found_once_stays_mended(path: Path) -> None:
    assert finds(path, None, watched=True) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", list(material(SAMPLES)), ids=lambda p: p.name)
def test_mutants_of_samples(path: Path, tmp_path: Path, untraced: None) -> None:
    for target, before in made(path, tmp_path, 2):
        assert finds(target, before, watched=True) == [], target.name


def damaged(data: bytes, rng: Random) -> bytes:
    """A line format after damage by which nothing may get lost in silence."""
    lines = data.rstrip(b"\n").split(b"\n")
    for step in rng.choices(DAMAGE, k=rng.randint(1, 3)):
        step(lines, rng)
    return b"\n".join(lines) + b"\n"


def silent(path: Path, number: int) -> list[str]:
    """What damage of a file takes away in silence, in so many tries."""
    data = content(path)
    found = []
    for seed in range(number):
        after = damaged(data, Random(f"{path.name}:{seed}"))
        found += [f"{seed}: {find}" for find in (*check.losses(data, after), *check.unnamed(after))]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in material(SAMPLES) if p.suffix == ".jsonl"], ids=lambda p: p.name)
def test_every_line_and_every_call_is_read_or_named_by_its_line(path: Path, untraced: None) -> None:
    assert silent(path, 12) == []


@pytest.mark.slow
def test_every_line_and_every_call_of_the_corpus_is_read_or_named(untraced: None) -> None:
    if not SHARED_CORPUS.is_dir():
        pytest.skip(f"there is no {SHARED_CORPUS}")
    for path in material(SHARED_CORPUS):
        assert path.suffix != ".jsonl" or silent(path, 1) == [], path.name


@pytest.mark.slow
def test_processes_and_cache_change_no_byte(tmp_path: Path, untraced: None) -> None:
    paths = []
    for path in material(SAMPLES):
        folder = tmp_path / f"{path.name}.d"
        folder.mkdir()
        paths += [target for target, _ in made(path, folder, 1)]
    assert list(check.runs(paths, tmp_path / "cache")) == []


@pytest.mark.slow
def test_mutants_of_the_corpus(tmp_path: Path, untraced: None) -> None:
    if not SHARED_CORPUS.is_dir():
        pytest.skip(f"there is no {SHARED_CORPUS}")
    for path in list(material(SHARED_CORPUS))[::6]:  # `make fuzz` takes all of them
        for target, before in made(path, tmp_path, 1):
            assert finds(target, before, watched=False) == [], path.name


def test_a_mutant_hangs_on_its_seed_alone() -> None:
    data = content(SAMPLES / "formats" / "droid.jsonl")
    one, other = (mutant(data, Random("5"), is_lines=True) for _ in range(2))
    assert one == other
    assert len({mutant(data, Random(str(seed)), is_lines=True).data for seed in range(20)}) > 15


def test_a_find_is_made_smaller_while_it_fails() -> None:
    data = b"\n".join(b"%d" % n for n in range(100))
    assert minimised(data, lambda d: {b"17", b"60"} <= set(d.split(b"\n"))) == b"17\n60"


def test_checks_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that loses calls, or raises, is noticed."""
    whole = content(SAMPLES / "formats" / "droid.jsonl")
    without = b"\n".join(line for line in whole.split(b"\n") if b"tool_" not in line)
    assert any("lost in silence" in find for find in check.losses(whole, without))
    cut = whole.split(b"\n")
    cut[4] = cut[4][:40]
    with monkeypatch.context() as patched:
        patched.setattr(Source, "bad_line", lambda *_: None)
        assert any("line 5 is broken" in find for find in check.unnamed(b"\n".join(cut)))
        assert any("of line 5 is lost" in find for find in check.losses(whole, b"\n".join(cut)))
    assert not [*check.unnamed(b"\n".join(cut)), *check.losses(whole, b"\n".join(cut))]
    path = tmp_path / "a.jsonl"
    path.write_bytes(whole)

    def fails(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("loopaudit.audit.one.source_of", fails)
    assert any("boom" in find for find in check.outcome(path))
