"""Rewound Claude Code sessions: every branch is read, and an abandoned one is kept apart from what survives."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import orjson
import pytest

import loopaudit
from loopaudit.core.events import Batch, Boundary, Event, Turn
from loopaudit.readers import source as source_module
from loopaudit.readers.emit import Emitter
from loopaudit.readers.formats.claude_code import branches
from loopaudit.readers.formats.claude_code.reader import READER
from loopaudit.readers.source import Source
from tests.readers.claude_records import Log, call, read, shape


@pytest.fixture(autouse=True, params=["decoded ahead", "searched in blocks"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short files are decoded ahead, of long ones the lines that may begin a branch are searched for."""
    if request.param == "searched in blocks":
        monkeypatch.setattr(source_module, "MAX_AHEAD", 0)
        monkeypatch.setattr(branches, "BLOCK", 1500)


def turn(log: Log, text: str, own: str, **arguments: Any) -> str:
    """A turn with one call. Returns its last record."""
    log.person(text)
    log.model(f"m{own}", call(own, **arguments))
    log.result(own)
    assert log.parent is not None
    return log.parent


def rewound(back_to: int) -> Log:
    """Three turns, then a fourth that goes on from the end of an earlier one (0 for none)."""
    log = Log()
    ends = [turn(log, f"turn {number}", f"c{number}") for number in range(1, 4)]
    if back_to:
        log.parent = ends[back_to - 1]
    turn(log, "another way", "c4")
    return log


def agents(events: list[Event]) -> dict[str, list[str]]:
    """The ids of each agent's calls."""
    found: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, Batch):
            found.setdefault(event.agent, []).extend(c.id for c in event.calls)
    return found


def boundaries(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(e.agent, e.kind, e.reason) for e in events if isinstance(e, Boundary)]


@pytest.mark.parametrize(("back_to", "left"), [(1, ["c2", "c3"]), (2, ["c3"])])
def test_a_branch_that_was_abandoned_is_an_agent_of_its_own(back_to: int, left: list[str]) -> None:
    events, problems, totals = read(rewound(back_to))
    kept = [f"c{number}" for number in (1, 2, 3, 4) if f"c{number}" not in left]
    assert agents(events) == {"": kept, "abandoned 1": left}
    assert boundaries(events) == [("", "clear", f"rewound: {len(left)} abandoned")]
    assert (totals.turns, totals.calls, totals.results) == (len(kept), 4, 4)
    assert len([e for e in events if isinstance(e, Turn)]) == 4
    main = [event for event in events if not event.agent]
    assert shape(main)[-3:] == ["-- clear", "turn: another way", "c4"]
    assert not problems


def test_what_can_be_read_once_has_the_boundary_alone() -> None:
    class Once(io.RawIOBase):
        def __init__(self, content: bytes) -> None:
            self._inner = io.BytesIO(content)

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1, /) -> bytes:
            return self._inner.read(size)

    events: list[Event] = []
    with Source(None, stream=Once(rewound(1).bytes())) as source:  # type: ignore[arg-type]
        emit = Emitter(events.append)
        READER.read(source, emit)
        emit.finish()
    assert agents(events) == {"": ["c1", "c2", "c3", "c4"]}
    assert boundaries(events) == [("", "clear", "rewound: 2 abandoned")]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_files_are_read_like_bytes(tmp_path: Path, pack: Any) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(pack(rewound(1).bytes()))
    by_agent: dict[str, int] = {}
    for event in loopaudit.read(path):
        if isinstance(event, Batch):
            by_agent[event.agent] = by_agent.get(event.agent, 0) + len(event.calls)
    assert by_agent == {"": 2, "abandoned 1": 2}


def test_two_branches_of_one_record_and_a_branch_of_a_branch() -> None:
    log = Log()
    start = turn(log, "begin", "a")
    turn(log, "first try", "b")
    log.parent = start
    middle = turn(log, "second try", "c")
    turn(log, "on with it", "d")
    log.parent = middle
    turn(log, "otherwise", "e")
    log.parent = start
    turn(log, "third try", "f")
    turn(log, "good", "g")
    events, problems, totals = read(log)
    assert agents(events) == {
        "": ["a", "f", "g"],
        "abandoned 1": ["b"],
        "abandoned 2": ["c", "d"],
        "abandoned 3": ["e"],
    }
    assert (totals.calls, totals.turns, len(problems.counts)) == (7, 3, 0)


def test_who_comes_back_to_a_branch_has_abandoned_the_other_one() -> None:
    log = Log()
    start = turn(log, "begin", "a")
    first = turn(log, "first try", "b")
    log.parent = start
    turn(log, "second try", "c")
    log.parent = first
    turn(log, "the first was better", "d")
    assert agents(read(log)[0]) == {"": ["a", "b", "d"], "abandoned 1": ["c"]}


def test_what_was_compacted_is_not_abandoned() -> None:
    log = Log()
    start = turn(log, "begin", "a")
    turn(log, "first try", "b")
    log.parent = start
    turn(log, "second try", "c")
    log.parent = None
    log.add("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    log.person("what was", isCompactSummary=True)
    turn(log, "on", "d")
    assert agents(read(log)[0]) == {"": ["a", "c", "d"], "abandoned 1": ["b"]}


def test_a_session_that_goes_straight_on_has_no_branch() -> None:
    for back_to in (0, 3):
        events, _, _ = read(rewound(back_to))
        assert not boundaries(events)
        assert list(agents(events)) == [""]


def test_results_of_parallel_calls_are_no_branches() -> None:
    log = Log()
    log.person("go")
    first = log.model("m", call("a"))
    log.model("m", call("b"))
    log.parent = first["uuid"]
    log.result("a")
    log.result("b")
    log.person("on")
    log.model("n", call("c"))
    events = read(log)[0]
    assert not boundaries(events)
    assert agents(events) == {"": ["a", "b", "c"]}


def test_blanked_uuids_tell_nothing() -> None:
    log = rewound(1)
    for record in log.records:
        record["uuid"] = "[trimmed]"
        record["parentUuid"] = "[trimmed]"
    events = read(log)[0]
    assert not boundaries(events)
    assert list(agents(events)) == [""]


def test_sorted_keys_and_spaces_hide_no_branch() -> None:
    options = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    spaced = b"".join(orjson.dumps(record, option=options) for record in rewound(1).records)
    spaced = spaced.replace(b'":', b'" : ')
    assert agents(read(spaced)[0]) == {"": ["c1", "c4"], "abandoned 1": ["c2", "c3"]}


def repeating(log: Log, name: str, times: int) -> None:
    for number in range(times):
        log.model(f"m{name}{number}", call(f"{name}{number}", command="make test"))
        log.result(f"{name}{number}", "2 failed", error=False)


def test_calls_of_an_abandoned_branch_are_no_repeats_for_what_survives(tmp_path: Path) -> None:
    """Two tries on each branch: four in a row would be a loop, and for most guards too many."""

    def report(back: bool) -> Any:
        log = Log()
        start = turn(log, "begin", "a")
        log.person("test it")
        repeating(log, "b", 2)
        if back:
            log.parent = start
            log.person("test it again")
        repeating(log, "c", 2)
        path = tmp_path / f"{back}.jsonl"
        path.write_bytes(log.bytes())
        return loopaudit.replay(path, policies=["all"]).transcripts[0]

    straight, rewound = report(back=False), report(back=True)
    assert straight.counts.calls == rewound.counts.calls == 5
    assert rewound.agents == ["abandoned 1"]
    assert [episode.is_loop for episode in straight.episodes] == [True]
    assert not rewound.episodes

    def firings(found: Any) -> set[str]:
        return {result.label for result in found.policies if result.findings}

    assert firings(rewound) < firings(straight)
