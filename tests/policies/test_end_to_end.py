"""Every vector of every guard as a file of each format, replayed by the command line: the original's decisions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from loopaudit.audit.engine import Replay
from loopaudit.cli.app import run
from loopaudit.config.selection import select
from loopaudit.core.counts import Totals
from loopaudit.core.events import Batch
from loopaudit.policies.contract import Policy, Selected
from loopaudit.policies.registry import policies
from tests.places import DATA
from tests.policies import edges, vectors
from tests.policies.written import FORMS, Form

Json = dict[str, Any]
Row = tuple[int, int, str, str, int]
"""A decision: batch from 1, position in it or -1 for the whole, the guard's own word, rule, count."""

NAMES = sorted(
    {path.name.partition(".")[0] for path in (DATA / "conformance").glob("*.jsonl.gz")} - {"moltis_validator"}
)

IDS = [form.id for form in FORMS]


def decided(findings: list[Json]) -> list[Json]:
    """What of findings is a guard's decision."""
    kept = ("action", "own_word", "rule", "count", "response", "call", "first_call", "last_call", "whole_batch", "tool")
    return [{name: finding[name] for name in kept} | {"details": finding["details"] or {}} for finding in findings]


def in_memory(vector: Json, *selected: Selected) -> list[list[Json]]:
    """What the replay of a stream finds that no reader has touched, by policy, in the report's words."""
    schemas = vector.get("tools") or {}
    replay = Replay(selected, schemas=schemas, map_names=False)
    responses = 0
    for event in vectors.batches(vector["events"]):
        if isinstance(event, Batch):
            responses = event.index = responses + 1
        replay.feed(event)
    results = replay.finish(Totals(calls=1, results=1, success_known=True, schemas=schemas))
    assert not any(result.dropped for result in results)
    return [
        decided(
            [
                {"action": f.action.slug, "own_word": f.own_word, "rule": f.rule, "count": f.count,
                 "response": f.batch, "call": f.call or None, "first_call": f.calls[0] or None,
                 "last_call": f.calls[1] or None, "whole_batch": f.whole_batch, "tool": f.tool, "details": f.details}
                for f in result.findings
            ]
        )
        for result in results
    ]  # fmt: skip


def options(*policy: str) -> list[str]:
    """The words of a command line that replays through a policy."""
    return ["-r", "json", "--no-cache", "-j", "1", "--tool-names", "literal", "--show-content", "-p", *policy]


def from_files(paths: list[Path], capfd: pytest.CaptureFixture[str], *policy: str) -> list[Json]:
    """What one run of the program makes of each of several files."""
    capfd.readouterr()
    code = run(["replay", *map(str, paths), *options(*policy)])
    out, err = capfd.readouterr()
    assert code == 0, err
    report = json.loads(out)
    found = {transcript["path"]: transcript for transcript in report["transcripts"]}
    assert len(found) == len(paths) == len(report["transcripts"])
    for transcript in found.values():
        assert transcript["problems"]["counts"] == {}, transcript["path"]
        assert not any(result["findings_not_kept"] for result in transcript["policies"])
    return [found[str(path)] for path in paths]


def recorded(policy: Policy, vector: Json) -> list[Row]:
    """The decisions of the original, up to each stop: a replay ends the turn there, some vectors go on."""
    rows: list[Row] = []
    number = 0
    stopped = False
    decided = iter(vectors.expected(policy, vector))
    for event in vector["events"]:
        if event["type"] == "user":
            stopped = False
            continue
        number += 1
        row = next(decided)
        if stopped:
            continue
        # What openclaw says of a response as a whole is what it says of the call at fault.
        whole = None if policy.id == "openclaw" else row["batch"]
        # A warning that deepseek-tui gives of a refused call stands beside the refusal.
        warned = [(at, one.get("outcome")) for at, one in enumerate(row["calls"])]
        warned = [(at, one) for at, one in warned if one is not None and one["action"] == "warn"]
        for position, one in [*enumerate(row["calls"]), *warned, (-1, whole)]:
            if one is not None and one["action"] not in ("allow", "skip"):
                rows.append((number, position, one["action"], one["rule"], one["count"]))
                stopped = stopped or one["action"] in ("halt", "stop", "hard_stop")
    return sorted(rows)


def rows_of(findings: list[Json]) -> list[Row]:
    """Findings in the words of the vectors."""
    return sorted(
        (
            f["response"],
            -1 if f["whole_batch"] else f["call"] - f["first_call"],
            f["own_word"],
            f["rule"],
            f["count"],
        )
        for f in findings
    )


def needed(policy: Policy, form: Form) -> set[str]:
    """The kinds of what a format loses that the guard looks at: it decides otherwise on an odd stream without them."""
    schemas = {"schemas"} if "schemas" in policy.needs and not form.has_schemas else set()
    plain = Selected(policy.id, policy, policy.params())
    return schemas | {
        kind
        for odd in edges.streams()
        for kind in form.lost(odd)
        if in_memory(odd, plain) != in_memory(form.carried(odd), plain)
    }


def write(policy: str, streams: list[Json], folder: Path) -> list[tuple[Json, Form, Path]]:
    """Write each stream in each format."""
    written = []
    for number, vector in enumerate(streams):
        for form in FORMS:
            path = folder / f"{number}-{form.id}{form.suffix}"
            path.write_bytes(form.write({"policy": policy, **vector}))
            written.append((vector, form, path))
    return written


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_vectors_as_transcripts(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    policy = policies().get(name)
    needs = {form.id: needed(policy, form) for form in FORMS}
    assert not needs["native"]
    groups: dict[tuple[str, str], list[tuple[Json, Form, Path]]] = defaultdict(list)
    for vector, form, path in write(name, vectors.committed(name), tmp_path):
        # Which of the formats made of messages a file is only calls can tell.
        has_calls = any(event.get("calls") for event in vector["events"])
        settings = json.dumps(vector.get("config"), sort_keys=True)
        groups[settings, "" if has_calls else form.id].append((vector, form, path))
    held = 0
    for (_, spoken), some in groups.items():
        selected = Selected(name, policy, vectors.params_for(policy, some[0][0]))
        chosen = [name, *(f"--set={name}.{parameter}={value}" for parameter, value in selected.values.items())]
        found = from_files([path for _, _, path in some], capfd, *chosen, *(("--format", spoken) if spoken else ()))
        for (vector, form, _), transcript in zip(some, found, strict=True):
            where = f"{name} stream {vector['id']} as {form.id}"
            assert transcript["format"] == form.id, where
            findings = transcript["policies"][0]["findings"]
            assert [decided(findings)] == in_memory(form.carried(vector), selected), where
            if not form.lost(vector) & needs[form.id]:
                assert rows_of(findings) == recorded(policy, vector), where
                held += 1
    assert held > len(vectors.committed(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["koda", "moltis"])
def test_the_program_itself_decides_the_same(name: str, tmp_path: Path) -> None:
    policy = policies().get(name)
    plainly = Selected(name, policy, policy.params())
    plain = [vector for vector in vectors.committed(name) if vectors.params_for(policy, vector) == policy.params()]
    written = write(name, plain[:10], tmp_path)
    command = [sys.executable, "-m", "loopaudit", "replay", *(str(path) for *_, path in written), *options(name)]
    report = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=120).stdout)
    found = {transcript["path"]: transcript["policies"][0]["findings"] for transcript in report["transcripts"]}
    assert sum(map(len, found.values())) > 10
    for vector, form, path in written:
        assert [decided(found[str(path)])] == in_memory(form.carried(vector), plainly)


@pytest.mark.slow
def test_odd_streams_as_transcripts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    everything = select([*policies().ids(), *(f"{p.id}:{name}" for p in policies().all() for name in p.variants)])
    written = write("odd", edges.streams(), tmp_path)
    names = [word for selected in everything for word in ("-p", selected.label)]
    replayed = from_files([path for *_, path in written], capfd, *names[1:])
    for (odd, form, _), transcript in zip(written, replayed, strict=True):
        assert transcript["format"] == form.id
        expected = in_memory(form.carried(odd), *everything)
        for selected, result, findings in zip(everything, transcript["policies"], expected, strict=True):
            assert result["label"] == selected.label
            assert decided(result["findings"]) == findings, f"{selected.label} stream {odd['id']} as {form.id}"
