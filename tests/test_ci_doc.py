"""Every example of docs/ci.md is run in one folder, in the order of the page."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest
from msgspec import structs

from loopaudit.config.file import Document
from loopaudit.config.gate import GateSettings
from loopaudit.core.shapes import fits
from loopaudit.gate import baseline_file
from loopaudit.gate.expectations import Expect
from tests.gate.files import Folder
from tests.places import ROOT

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)


def test_examples(folder: Folder) -> None:
    (folder / "transcripts").mkdir()
    for name in ("invoices-same-grep.jsonl", "parser-healthy-long.jsonl"):
        (folder / "transcripts" / name).write_bytes((ROOT / "sample_transcripts" / name).read_bytes())
    ran = 0
    for file, language, text in BLOCK.findall(PAGE):
        if file:
            folder.write(file, text)
        elif language == "toml":
            assert fits({"version": 1, **tomllib.loads(text)}, baseline_file.Document)
        elif language == "console":
            for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, flags=re.MULTILINE):
                ran += 1
                shown(folder, command, expected)
    assert ran >= 7
    assert folder.check("--today", "2030-12-31").code == 0


def shown(folder: Folder, command: str, expected: str) -> None:
    line, tail, _ = command.partition(" ; echo $?")
    words = shlex.split(line)
    assert words[0] == "loopaudit"
    done = folder.run(*words[1:])
    if not tail:
        assert done.code == 0, f"{command}: {done.out}{done.err}"
    if expected:
        output = done.out + done.err + (f"{done.code}\n" if tail else "")
        pattern = re.escape(expected).replace(re.escape("[...]"), "(?:.|\\n)*?")
        assert re.fullmatch(pattern, output), f"{command}:\n{output}"
    elif tail:
        assert done.code == 0


@pytest.mark.parametrize(
    "key", [field.encode_name for table in (Document, GateSettings, Expect) for field in structs.fields(table)]
)
def test_every_key_is_told(key: str) -> None:
    assert re.search(rf"`{key}`|^{key} = |^\[+{key}[\].]", PAGE, flags=re.MULTILINE)
