"""What holds for every report format: two runs give the same bytes, and nothing found is no error."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import loopaudit
from loopaudit.audit.engine import RESULT_SHOWN
from loopaudit.reports.contract import Rendering
from loopaudit.reports.registry import reports
from tests.places import ROOT
from tests.reports import sample

IDS = reports().ids()

SCRIPT = """
import hashlib, sys, loopaudit
from loopaudit.reports.contract import Rendering
from loopaudit.reports.registry import reports
from tests.places import ROOT
report = loopaudit.replay(["sample_transcripts"], policies=["all"])
for name in reports().ids():
    print(name, hashlib.sha256(reports().get(name).render(report, Rendering())).hexdigest())
"""


def test_all_formats_are_there() -> None:
    assert set(IDS) >= set("csv github gitlab html json jsonl junit markdown parquet sarif terminal".split())
    for name in IDS:
        reporter = reports().get(name)
        assert reporter.id == name and reporter.title and reporter.suffix.startswith(".")


@pytest.mark.slow
def test_two_runs_give_the_same_bytes_in_every_format() -> None:
    runs = [
        subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True,
                       env=os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"}).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    ]  # fmt: skip
    assert runs[0] == runs[1]
    assert len(runs[0].splitlines()) == len(IDS)


@pytest.mark.parametrize("name", IDS)
def test_rendering_changes_nothing(name: str) -> None:
    report = sample.several()
    document = reports().get("json").render(report, Rendering())
    first = reports().get(name).render(report, Rendering())
    assert hashlib.sha256(reports().get(name).render(report, Rendering())).digest() == hashlib.sha256(first).digest()
    assert reports().get("json").render(report, Rendering()) == document


@pytest.mark.parametrize("name", IDS)
def test_nothing_audited_is_a_report_too(name: str) -> None:
    assert isinstance(reports().get(name).render(sample.report(), Rendering()), bytes)


@pytest.mark.parametrize("name", [name for name in IDS if not reports().get(name).binary])
def test_what_is_shown_moves_no_terminal(name: str) -> None:
    shown = reports().get(name).render(sample.hostile(), Rendering()).decode()
    assert not set(shown) & set("\x00\x07\x1b\x7f\x9b\u202e\u202c\u200b\u2028\u061c")


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("short", "short"),
        ("x" * (RESULT_SHOWN + 1), "x" * RESULT_SHOWN + "…"),
        ("\x1b[31mred\u202e", "red\ufffd"),
        ("", ""),
    ],
)
def test_findings_keep_the_beginning_of_the_result(tmp_path: Path, output: str, shown: str) -> None:
    messages: list[object] = [{"role": "user", "content": "look"}]
    for number in range(12):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "grep", "arguments": '{"pattern": "x"}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"messages": messages}))
    report = loopaudit.replay(file, policies=["deepseek-tui", "atomcode"])
    findings = [f for t in report.transcripts for p in t.policies for f in p.findings]
    assert len(findings) > 3
    assert {finding.result for finding in findings} == {shown}
    # Loops repeat their results: one text in memory serves them all.
    assert len({id(finding.result) for finding in findings}) == 1
