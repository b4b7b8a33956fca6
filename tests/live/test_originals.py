"""Guards against their originals from PyPI, installed for the test, on fresh random streams.

Not in the default run: ``pytest -m live tests/live`` needs the network. ``LOOPAUDIT_LIVE_SEED`` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loopaudit.policies.registry import policies
from tests.policies import vectors

pytestmark = pytest.mark.live

PACKAGES = {
    "agent-loop-guard": "agent-loop-guard==0.1.1",
    "exoclaw": "exoclaw-loop-detection==0.1.0",
    "hermes-agent": "hermes-agent==0.19.0",
}

STREAMS = 300

NAMES = ("read_file", "web_search", "write_file", "terminal")
ARGUMENTS = (
    '{"path":"a.py"}', '{"path": "b.py"}', '{"offset": 0, "path": "a.py"}', '{"path":"a.py","offset":0}', "{}",
    '{"n":1}', '{"n":1.0}', '{"n":true}', '{"n":[1,{"b":null,"a":"\\u00e9"}]}', '{"s":"café"}',
)  # fmt: skip
WORDS = "the quick brown fox jumps over a lazy dog while seven wizards boil toxic jam in Q4 2026".split()


def output(chance: random.Random) -> str:
    """An empty, short, long or very long text; JSON in two spellings; or words that resemble other outputs."""
    kind = chance.randrange(8)
    if kind < 2:
        return chance.choice(("", "ok", "no results", '{"a": 1, "b": [2]}', '{"b":[2],"a":1}', "[1]", "[1.0]"))
    words = WORDS * chance.choice((1, 1, 1, 3, 40))
    for _ in range(chance.randrange(6)):
        words[chance.randrange(len(words))] = f"word{chance.randrange(4)}"
    if kind == 7:
        words = [f"{word}{number}" for number, word in enumerate(words)]
    return " ".join(words)


def call(chance: random.Random) -> dict[str, Any]:
    arguments = chance.choice(ARGUMENTS)
    if chance.random() < 0.2:
        arguments = json.dumps({"query": output(chance)})
    failed = chance.random() < 0.3
    said = chance.choice(("Error: not found", "timeout")) if failed else output(chance)
    return {
        "name": chance.choice(NAMES),
        "arguments": arguments,
        "output": "" if failed else said,
        "success": not failed,
        "error": said if failed else None,
    }


def stream(chance: random.Random) -> dict[str, Any]:
    """Messages and batches; calls come from a small pool, so that they repeat, alternate and go round."""
    events: list[dict[str, Any]] = [{"type": "user", "text": "go"}]
    for _ in range(chance.randint(1, 6)):
        pool = [call(chance) for _ in range(chance.randint(1, 4))]
        length = chance.choice((3, 8, 25, 45))
        in_turn = chance.random() < 0.6
        for number in range(length):
            size = 1 if chance.random() < 0.8 else chance.randint(0, 3)
            picked = [pool[(number + n) % len(pool)] if in_turn else chance.choice(pool) for n in range(size)]
            if chance.random() < 0.1:
                picked.append(call(chance))
            events.append({"type": "batch", "calls": picked})
        if chance.random() < 0.3:
            events.append({"type": "user", "text": "go on"})
    return {"events": events}


@pytest.mark.parametrize("name", PACKAGES)
def test_live(name: str, tmp_path: Path) -> None:
    installed = tmp_path / "original"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target"]
    subprocess.run([*pip, installed, PACKAGES[name]], check=True)
    seed = int(os.environ.get("LOOPAUDIT_LIVE_SEED", random.randrange(1 << 32)))
    chance = random.Random(seed)
    streams = [stream(chance) for _ in range(STREAMS)]
    if name == "hermes-agent":
        streams = [{**s, "config": {"hard_stop_enabled": chance.random() < 0.5}} for s in streams]
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("originals.py"), name],
        input="".join(json.dumps(s) + "\n" for s in streams),
        env={**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    policy = policies().get(name)
    spoke = 0
    for number, (given, expected) in enumerate(zip(streams, rows, strict=True)):
        got = vectors.decisions(policy, given, silent_after_stop=True)
        assert got == expected, f"seed {seed}, stream {number}"
        said = [one for row in expected for one in [row["batch"], *row["calls"]] if one is not None]
        spoke += any(one["action"] not in ("allow", "skip") for one in said)
    assert spoke > STREAMS / 10
