"""Every labelled case is read whole: its calls are those that were labelled, and nothing is amiss."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.readers.formats.openai_chat import READER
from loopaudit.readers.recognise import claims
from loopaudit.readers.source import Source
from tests.corpus import read_events
from tests.shared_files import CASES

DUPLICATED = {"repeated_call": 16, "repeated_result": 8}
"""Problems of the case that writes each call three times and each result twice."""


def cases() -> list[Any]:
    index = CASES / "index.json"
    if not index.is_file():
        return [pytest.param({}, id="none", marks=pytest.mark.skip(reason=f"no cases in {CASES}"))]
    return [pytest.param(case, id=case["file"]) for case in orjson.loads(index.read_bytes())]


@pytest.mark.parametrize("case", cases())
def test_a_case_is_read_whole(case: dict[str, Any]) -> None:
    path = CASES / case["file"]
    with Source(path) as source:
        assert [reader.id for reader, _ in claims(source.probe())] == [READER.id]
    _, problems, totals = read_events(READER, path)
    assert [t.calls for t in totals] == [case["calls"]]
    assert totals[0].success_known
    assert totals[0].orphan_results == 0
    assert problems.counts == (DUPLICATED if "duplicated" in case["file"] else {})
