"""The samples show what their README says."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from loopaudit.audit.run import audit
from loopaudit.config.options import Options
from loopaudit.config.selection import MISSION, select
from loopaudit.core.report import TranscriptResult
from loopaudit.readers.registry import readers
from tests.places import SAMPLES

FILES = sorted(p for p in SAMPLES.iterdir() if p.suffix in (".json", ".jsonl"))
FORMATS = sorted((SAMPLES / "formats").iterdir())


@cache
def replayed(name: str) -> TranscriptResult:
    report = audit([str(SAMPLES / name)], Options(policies=select(["mission"])))
    assert not report.failures
    (transcript,) = report.transcripts
    return transcript


def actions(name: str, policy: str) -> list[tuple[str, int]]:
    """What a policy did: action and call number."""
    result = next(p for p in replayed(name).policies if p.label == policy)
    return [(f.action.slug, f.call) for f in result.findings]


def grades(name: str, policy: str) -> set[str]:
    result = next(p for p in replayed(name).policies if p.label == policy)
    return {f.grade.word for f in result.findings if f.grade}


def loops(name: str) -> list[str]:
    return [e.kind for e in replayed(name).episodes if e.is_loop]


def rows() -> list[tuple[str, str]]:
    """File and format of each row of the tables in the README."""
    return re.findall(r"^\| `([\w.-]+\.jsonl?)` \| ([^|]+) \|", (SAMPLES / "README.md").read_text(), re.MULTILINE)


def test_the_readme_names_every_sample() -> None:
    assert sorted(name for name, _ in rows()) == sorted(p.name for p in (*FILES, *FORMATS))


@pytest.mark.parametrize("path", FORMATS, ids=lambda path: path.name)
def test_the_readme_tells_format_and_calls(path: Path) -> None:
    assert (path.name, readers().get(path.name.partition(".")[0]).title) in rows()
    transcripts = audit([str(path)], Options(policies=select(["atomcode"]))).transcripts
    told = re.search(rf"`{re.escape(path.name)}` \|.*\| (\d+) calls", (SAMPLES / "README.md").read_text())
    assert told is not None
    assert int(told[1]) == sum(t.counts.calls for t in transcripts)


CATCHES = [
    ("invoices-same-grep.jsonl", "atomcode", ("block", 6)),
    ("helpdesk-drifting-search.jsonl", "zagens", ("block", 6)),
    ("firmware-failing-build.jsonl", "zagens", ("warn", 3)),
    ("firmware-failing-build.jsonl", "zagens", ("stop", 8)),
    ("search-index-identical-status.jsonl", "koda", ("nudge", 6)),
    ("search-index-identical-status.jsonl", "koda", ("stop", 11)),
    ("calendar-missing-argument.jsonl", "moltis", ("nudge", 4)),
    ("calendar-missing-argument.jsonl", "moltis", ("strip_tools", 5)),
]


@pytest.mark.parametrize(("name", "policy", "firing"), CATCHES)
def test_characteristic_catches(name: str, policy: str, firing: tuple[str, int]) -> None:
    assert firing in actions(name, policy)
    assert loops(name)


FALSE_ALARMS = [
    ("website-deploy-status.jsonl", "atomcode"),
    ("booking-wizard-next.json", "zagens"),
    ("simulation-polling.jsonl", "koda"),
    ("localisation-long-prefix.jsonl", "koda"),
    ("weather-rate-limit.jsonl", "moltis"),
]


@pytest.mark.parametrize(("name", "policy"), FALSE_ALARMS)
def test_characteristic_false_alarms(name: str, policy: str) -> None:
    assert actions(name, policy)
    assert not loops(name)
    assert not grades(name, policy) & {"justified", "in_loop", "good_stop"}


def test_the_healthy_session_is_left_alone_but_for_one_warning() -> None:
    name = "parser-healthy-long.jsonl"
    assert not loops(name)
    assert {p: actions(name, p) for p in MISSION if actions(name, p)} == {"zagens": [("warn", 13)]}


def test_the_loop_of_the_sub_agent_is_told_apart() -> None:
    (episode,) = [e for e in replayed("docs-subagent-pingpong.jsonl").episodes if e.is_loop]
    assert episode.agent != ""
    assert len(episode.unit) == 2


def test_every_damage_is_counted_and_located() -> None:
    transcript = replayed("warehouse-damaged.jsonl")
    counts = transcript.problem_counts
    assert counts["bad_line"] == counts["not_json"] == counts["cut_last_line"] == counts["orphan_result"] == 1
    assert transcript.counts.unanswered == 1
    lines = (SAMPLES / "warehouse-damaged.jsonl").read_bytes().count(b"\n") + 1
    assert all(1 <= p.line <= lines for p in transcript.problems)
