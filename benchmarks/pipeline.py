"""A whole replay (read, recognise, four policies, no report) against decoding the same lines."""

from __future__ import annotations

import compileall
import tempfile
from pathlib import Path

import orjson

import loopaudit
from benchmarks import synth
from benchmarks.timing import Ratio, ratios
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.one import audit_input
from loopaudit.config.options import Options
from loopaudit.config.selection import MISSION, select
from loopaudit.policies.registry import policies

DATA = Path(tempfile.gettempdir()) / "loopaudit-bench"

IMITATED = [name for name in MISSION if not policies().get(name).follower]
"""The default set without the policy that works on hindsight: what a replay without hindsight is measured with."""


def floor(path: Path) -> None:
    """``orjson.loads`` of every line, read with the same large buffer."""
    with path.open("rb", buffering=1 << 20) as file:
        for line in file:
            orjson.loads(line)


def replay(path: Path, options: Options) -> None:
    """What ``loopaudit replay`` does with one file, up to the finished result."""
    result = audit_input(Input(path, named=True), options)
    assert result.failure is None, result.failure
    assert result.transcripts[0].counts.calls


def corpus(kind: str, megabytes: int) -> Path:
    """A synthetic transcript of this kind and size."""
    return synth.write(kind, megabytes * 1_000_000, DATA / f"{kind}-{megabytes}.jsonl")


def compiled() -> None:
    """Give the package its byte code, as an installed one has it.

    A checkout in which Python must not write any has none, and would be compiled by every process.
    """
    compileall.compile_dir(str(Path(loopaudit.__file__).parent), quiet=1)


def measure(*, quick: bool) -> dict[str, Ratio]:
    """Ratios per kind of transcript, four policies, without hindsight."""
    found = {}
    options = Options(policies=select(IMITATED), hindsight=False)
    for kind in ("claude", "codex", "openai", "small", "native"):
        path = corpus(kind, 5 if quick else 20)
        variants = {"floor": lambda p=path: floor(p), "replay": lambda p=path: replay(p, options)}
        found[kind] = ratios(variants, "floor", 5 if quick else 9)["replay"]
    return found
