"""The event stream of ``codex exec --json``."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopaudit.core.counts import Totals
from loopaudit.core.events import Batch
from loopaudit.core.findings import Problems
from loopaudit.core.tools import kind_of_name
from loopaudit.readers.formats.codex.reader import READER as ROLLOUT_READER
from loopaudit.readers.formats.codex_exec import READER
from loopaudit.readers.source import Source
from tests import corpus
from tests.readers.codex_records import Record, encode, tell


def started(id: str | None, type: str, **fields: Any) -> Record:
    return {"type": "item.started", "item": {"id": id, "type": type, "status": "in_progress", **fields}}


def completed(id: str | None, type: str, **fields: Any) -> Record:
    return {"type": "item.completed", "item": {"id": id, "type": type, **fields}}


def ran(id: str | None, command: str, code: int | None = 0, status: str = "completed") -> Record:
    output = f"{command} says"
    return completed(id, "command_execution", command=command, aggregated_output=output, exit_code=code, status=status)


def begun(id: str | None, command: str) -> Record:
    return started(id, "command_execution", command=command, aggregated_output="", exit_code=None)


def thread(id: str = "T1") -> list[Record]:
    return [{"type": "thread.started", "thread_id": id}, {"type": "turn.started"}]


def said(text: str) -> Record:
    return completed("item_9", "agent_message", text=text)


def ended(input: int, output: int, cached: int = 0) -> Record:
    usage = {"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output}
    return {"type": "turn.completed", "usage": usage}


def read(records: Sequence[Any] | bytes) -> tuple[list[str], Problems, list[Totals]]:
    content = records if isinstance(records, bytes) else encode(records)
    events, problems, totals = corpus.read_events(READER, content)
    return [tell(event) for event in events], problems, totals


STREAM = [
    *thread(),
    completed("item_0", "reasoning", text="**Looking**"),
    said("I look."),
    begun("item_1", "ls"),
    begun("item_2", "pwd"),
    ran("item_2", "pwd"),
    ran("item_1", "ls", 2, "failed"),
    completed("item_3", "reasoning", text="**Again**"),
    begun("item_4", "ls"),
    ran("item_4", "ls"),
    said("Done."),
    ended(100, 10, 40),
]


def test_a_stream() -> None:
    events, problems, totals = read(STREAM)
    run = "command_execution"
    assert events == [
        f"[{run}:error2 {run}:ok0] I look.",
        f"[{run}:ok0]",
        "[] Done.",
        "end turn.completed",
    ]
    assert not problems
    found = totals[0]
    assert (found.turns, found.calls, found.results, found.max_parallel) == (0, 3, 3, 2)
    assert (found.input_tokens, found.output_tokens, found.cache_read_tokens) == (100, 10, 40)
    assert found.success_known


def test_equal_commands_are_equal_calls() -> None:
    raw, _, _ = corpus.read_events(READER, encode(STREAM))
    calls = [call for event in raw if isinstance(event, Batch) for call in event.calls]
    assert calls[0].key == calls[2].key != calls[1].key
    assert calls[0].arguments == {"command": "ls"}
    assert calls[0].result is not None and calls[0].result.output == "ls says"


def test_recognised_by_its_events() -> None:
    probe = Source(None, stream=io.BytesIO(encode(STREAM))).probe()
    assert READER.sniff(probe) is not None
    assert ROLLOUT_READER.sniff(probe) is None


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "session_meta", "payload": {}}],
        [{"type": "system", "subtype": "init", "session_id": "1"}],
        [{"type": ["item.completed"]}],
        ["item.completed"],
    ],
)
def test_other_formats_are_not_claimed(records: list[Any]) -> None:
    assert READER.sniff(Source(None, stream=io.BytesIO(encode(records))).probe()) is None


def _items() -> Iterator[Any]:
    yield pytest.param([ran("a", "ls", 0)], "[command_execution:ok0]", {"command": "ls"}, id="command")
    yield pytest.param([ran("a", "ls", 1, "failed")], "[command_execution:error1]", {"command": "ls"}, id="failure")
    yield pytest.param(
        [ran("a", "ls", 1, "completed")], "[command_execution:error1]", {"command": "ls"}, id="exit code"
    )
    yield pytest.param([ran("a", "ls", None, "failed")], "[command_execution:error]", {"command": "ls"}, id="flag")
    yield pytest.param(
        [ran("a", "ls", None, "declined")], "[command_execution:denied]", {"command": "ls"}, id="declined"
    )
    yield pytest.param([ran("a", "ls", None, "in_progress")], "[command_execution:ok]", {"command": "ls"}, id="unknown")
    yield pytest.param([begun("a", "ls")], "[command_execution:-]", {"command": "ls"}, id="never completed")
    yield pytest.param([begun(None, "ls"), ran(None, "ls")], "[command_execution:ok0]", {"command": "ls"}, id="no id")
    call = {"server": "git", "tool": "log", "arguments": {"n": 1}}
    result = {"content": [{"type": "text", "text": "x"}], "structured_content": None}
    done = completed("a", "mcp_tool_call", **call, result=result, error=None, status="completed")
    yield pytest.param([started("a", "mcp_tool_call", **call), done], "[mcp__git__log:ok]", {"n": 1}, id="MCP")
    failed = completed("a", "mcp_tool_call", **call, result=result, error=None, status="failed")
    yield pytest.param([failed], "[mcp__git__log:error]", {"n": 1}, id="MCP failure")
    error = completed("a", "mcp_tool_call", **call, result=None, error={"message": "gone"}, status="failed")
    yield pytest.param([error], "[mcp__git__log:error]", {"n": 1}, id="MCP error")
    refused = {"message": "user rejected MCP tool call"}
    denied = completed("a", "mcp_tool_call", **call, result=None, error=refused, status="failed")
    yield pytest.param([denied], "[mcp__git__log:denied]", {"n": 1}, id="MCP refused")
    changes = [{"path": "/x", "kind": "update", "diff": "@@"}]
    change = completed("a", "file_change", changes=changes, status="completed")
    yield pytest.param([change], "[file_change:ok]", {"changes": changes}, id="file change")
    lost = completed("a", "file_change", changes=changes, status="failed")
    yield pytest.param([lost], "[file_change:error]", {"changes": changes}, id="file change failure")
    spawn = {"tool": "spawn_agent", "sender_thread_id": "1", "receiver_thread_ids": ["2"], "prompt": "x"}
    agent = completed("a", "collab_tool_call", **spawn, agents_states={"2": {"status": "running"}}, status="completed")
    yield pytest.param([agent], "[spawn_agent:ok]", {"receiver_thread_ids": ["2"], "prompt": "x"}, id="agent")


@pytest.mark.parametrize(("records", "expected", "arguments"), list(_items()))
def test_items(records: list[Record], expected: str, arguments: Any) -> None:
    events, problems, _ = corpus.read_events(READER, encode([*thread(), *records]))
    batch = events[0]
    assert isinstance(batch, Batch)
    assert tell(batch) == expected
    assert batch.calls[0].arguments == arguments
    assert len(events) == 1
    assert not problems


def test_the_text_of_an_MCP_result_and_error() -> None:
    call = {"server": "git", "tool": "log", "arguments": {}}
    good = completed(
        "a", "mcp_tool_call", **call, result={"content": [{"type": "text", "text": "x"}]}, status="completed"
    )
    bad = completed("b", "mcp_tool_call", **call, result=None, error={"message": "gone"}, status="failed")
    events, _, _ = corpus.read_events(READER, encode([good, bad]))
    results = [event.calls[0].result for event in events if isinstance(event, Batch)]
    assert [r.output for r in results if r is not None] == ["x", "gone"]


def test_tools_have_a_kind() -> None:
    assert kind_of_name("command_execution") == "shell"
    assert kind_of_name("file_change") == "edit"


@pytest.mark.parametrize(
    ("record", "counts", "damaged"),
    [
        (completed("a", "web_search", query="x"), {"not_a_call": 1}, 0),
        (completed("a", "todo_list", items=[]), {"not_a_call": 1}, 0),
        (completed("a", "error", message="slow"), {"recorded_error": 1}, 0),
        ({"type": "error", "message": "Reconnecting... 1/5"}, {"recorded_error": 1}, 0),
        (completed("a", "file_change", changes=[{"path": "x", "kind": "add"}]), {"patch_not_recorded": 1}, 0),
        (completed("a", "new_kind"), {"unknown_item": 1}, 0),
        (completed("a", "mcp_tool_call", server="git"), {"nameless_call": 1}, 1),
        ({"type": "item.completed"}, {"unknown_item": 1}, 1),
        ({"type": "item.completed", "item": {"id": "a"}}, {"unknown_item": 1}, 1),
        ({"type": "turn.paused"}, {"unknown_record": 1}, 0),
        ({"kind": 1}, {"unknown_record": 1}, 1),
        ([1], {"not_a_record": 1}, 1),
        (started("a", "todo_list", items=[]), {}, 0),
        ({"type": "item.updated", "item": {"id": "a", "type": "todo_list"}}, {}, 0),
    ],
)
def test_what_is_no_call_is_told(record: Any, counts: dict[str, int], damaged: int) -> None:
    _, problems, _ = read([*thread(), record])
    assert problems.counts == counts
    assert problems.damaged == damaged


def _runs() -> Iterator[Any]:
    one, two = [ran("item_0", "ls"), ended(100, 10)], [ran("item_0", "ls"), ended(160, 15)]
    call, end = "[command_execution:ok0]", "end turn.completed"
    both = [call, end, "resume thread.started", call, end]
    yield pytest.param([*thread(), *one, *thread(), *two], both, 1, 160, id="resumed in another process")
    again = [call, end, "resume turn.started", call, end]
    more = [ran("item_1", "ls"), ended(160, 15)]
    yield pytest.param([*thread(), *one, {"type": "turn.started"}, *more], again, 1, 160, id="another turn")
    other = [*thread(), *one, *thread("T2"), *two]
    yield pytest.param(other, [call, end, call, end], 2, 260, id="another thread")
    fresh = [*thread(), *two, *thread(), *one]
    yield pytest.param(fresh, both, 1, 260, id="totals began anew")
    failed = [*thread(), {"type": "turn.failed", "error": {"message": "usage limit"}}]
    yield pytest.param(failed, ["end turn.failed: usage limit"], 1, None, id="failed")
    yield pytest.param([*thread(), {"type": "turn.failed"}], ["end turn.failed"], 1, None, id="failed without words")
    yield pytest.param([*thread(), *thread(), *one], [call, end], 1, 100, id="begun twice")


@pytest.mark.parametrize(("records", "expected", "conversations", "tokens"), list(_runs()))
def test_runs(records: list[Record], expected: list[str], conversations: int, tokens: int | None) -> None:
    events, problems, totals = read(records)
    assert events == expected
    assert len(totals) == conversations
    counted = [t.input_tokens for t in totals if t.input_tokens is not None]
    assert (sum(counted) if counted else None) == tokens
    assert not problems


@pytest.mark.parametrize("at", range(len(STREAM)))
def test_a_repeated_record_changes_nothing(at: int) -> None:
    def counts(records: list[Record]) -> tuple[int | None, ...]:
        found = read(records)[2][0]
        return found.calls, found.results, found.batches, found.text_replies, found.input_tokens

    assert counts([*STREAM[: at + 1], *STREAM[at:]]) == counts(STREAM)


# -- damage --------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, 7, "zzz", [], {}, True], ids=str)
def test_a_changed_field_is_never_a_silent_loss(value: Any) -> None:
    expected = read(STREAM)[2][0]
    for n, record in enumerate(STREAM):
        for path in _paths(record):
            copy = json.loads(json.dumps(record))
            inner = copy
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = value
            _, problems, totals = read([*STREAM[:n], copy, *STREAM[n + 1 :]])
            calls, results = sum(t.calls for t in totals), sum(t.results for t in totals)
            assert problems or (calls >= expected.calls and results >= expected.results), (record, path)


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for step, inner in value.items() if isinstance(value, dict) else ():
        yield (*at, step)
        yield from _paths(inner, (*at, step))


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_damage_ends_with_events_and_problems(data: st.DataObject) -> None:
    lines = [orjson.dumps(record) for record in STREAM]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["cut", "swap", "copy", "noise"])):
            case "cut":
                lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
            case "swap":
                other = data.draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case "copy":
                lines.insert(at, lines[data.draw(st.integers(0, len(lines) - 1))])
            case "noise":
                lines.insert(
                    at, data.draw(st.sampled_from([b"null", b"[]", b"{}", b"\xff", b"\0", b'{"type":"item.started"}']))
                )
    _, problems, totals = read(b"\n".join(lines))
    done = sum(b'"item.completed"' in line and b"command_execution" in line and line.endswith(b"}}") for line in lines)
    assert sum(t.results for t in totals) + sum(problems.counts.values()) >= done
    cut = sum(not line.endswith(b"}") and not line.startswith((b"null", b"[]")) and bool(line) for line in lines)
    assert problems.damaged >= cut


# -- the shared corpus ---------------------------------------------------------------------


def claimed() -> list[Any]:
    """The corpus files of this format, told from rollouts by their content."""
    found = [p for p in corpus.params("codex") if not p.values[0] or _sniffed(p.values[0])]
    return found or [pytest.param({}, id="none", marks=pytest.mark.skip(reason="no exec streams in the corpus"))]


def _sniffed(row: Record) -> bool:
    with Source(corpus.path_of(row)) as source:
        return READER.sniff(source.probe()) is not None


@pytest.mark.parametrize("row", claimed())
def test_corpus_counts(row: Record) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
