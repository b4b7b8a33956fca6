"""OpenClaw telemetry: pairing by agent and name, sub-agents, what it does not carry."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.readers.formats.openclaw import READER
from tests import corpus
from tests.readers.shown import read

MAIN = "agent:main:main"
SUB = "agent:main:subagent:1"


def start(name: str, n: int, session: str = MAIN) -> dict[str, Any]:
    return {"type": "tool.start", "toolName": name, "params": {"n": n}, "sessionKey": session}


def end(name: str, session: str = MAIN, *, success: bool = True, **more: Any) -> dict[str, Any]:
    return {"type": "tool.end", "toolName": name, "success": success, "sessionKey": session, **more}


def test_calls_are_paired_by_agent_name_and_order() -> None:
    records = [start("a", 1), start("b", 2), start("a", 3, SUB), end("b", success=False), end("a", SUB), end("a")]
    events, problems, totals = read(READER, records)
    assert events == [[("a", {"n": 1}, "ok"), ("b", {"n": 2}, "error flag")], (SUB, [("a", {"n": 3}, "ok")])]
    assert totals[0].sidechain_calls == 1
    assert not problems


def test_keys_of_channels_are_the_main_agent() -> None:
    records = [start("a", 1, "agent:main:telegram:default"), end("a", "agent:main:telegram:default"), start("a", 2)]
    assert len(read(READER, records)[0]) == 2


def test_messages() -> None:
    asked = {"type": "message.in", "channel": "c", "content": "hi", "timestamp": 1782238951000}
    sent = [{"type": f"message.{kind}", "channel": "c", "content": "yes"} for kind in ("sending", "out")]
    assert read(READER, [asked, *sent])[0] == ["turn hi", ["yes"]]


@pytest.mark.parametrize(
    ("more", "outcome"), [({"error": "gone"}, "error flag gone"), ({"result": "x"}, "error flag x"), ({}, "error flag")]
)
def test_words_of_a_failure(more: dict[str, Any], outcome: str) -> None:
    assert read(READER, [start("a", 1), end("a", success=False, **more)])[0][0][0][2] == outcome


@pytest.mark.parametrize("row", corpus.params("openclaw"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    differences = corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row)))
    # The manifest takes all calls for one batch, as nothing marks responses; a result ends one here.
    assert differences.pop("batches")[0] == 1
    assert differences.pop("max_parallel")[0] == row["counts"]["calls"]
    assert differences == {}
