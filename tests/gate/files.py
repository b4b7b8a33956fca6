"""Small transcripts in a folder of their own, and the program run there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from loopaudit.cli.app import run

Step = tuple[str, dict[str, object], str]


def grep(word: str, found: str = "") -> Step:
    return ("Grep", {"pattern": word}, found)


LOOP = [grep("alpha", "a.py:1"), *[grep("beta", "nothing")] * 4]
"""atomcode blocks at calls 4 and 5, zagens at calls 4 and 5."""

HEALTHY = [grep(word, f"{word}.py:1") for word in ("alpha", "beta", "gamma", "delta")]


def lines(steps: Iterable[Step], *, ask: str = "Look into it.", results: bool = True) -> list[str]:
    """Messages of an OpenAI chat, one a line."""
    messages: list[dict[str, object]] = [{"role": "user", "content": ask}]
    for number, (name, arguments, output) in enumerate(steps):
        call = {"id": f"call_x{number:03}", "type": "function"}
        function = {"name": name, "arguments": json.dumps(arguments)}
        messages.append({"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]})
        if results:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": output, "is_error": False})
    return [json.dumps(message) for message in messages]


def write(path: Path, steps: Iterable[Step], **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines(steps, **options)) + "\n")  # type: ignore[arg-type]
    return path


@dataclass
class Done:
    code: int
    out: str
    err: str


class Folder:
    """A folder with the program run in it."""

    def __init__(self, path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self._capfd = capfd

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def run(self, *arguments: object) -> Done:
        self._capfd.readouterr()
        code = run([str(a) for a in arguments])
        out, err = self._capfd.readouterr()
        assert "Traceback" not in err
        return Done(code, out, err)

    def check(self, *arguments: object) -> Done:
        return self.run("check", *arguments)

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path
