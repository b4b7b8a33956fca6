"""Claude's stream-json: runs, sub-agents, tokens, refusals, and the shared corpus."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Boundary
from loopaudit.readers.registry import readers
from tests import corpus
from tests.readers.claude_records import call, text
from tests.readers.kit import Read, claimed

ID = "claude-stream-json"
INIT = {"type": "system", "subtype": "init", "session_id": "s1", "tools": ["Bash"], "mcp_servers": [], "model": "m"}


def said(response: str | None, *blocks: Any, parent: str | None = None, **usage: int) -> dict[str, Any]:
    message = {"id": response, "role": "assistant", "model": "m", "content": list(blocks), "usage": usage}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent, "session_id": "s1"}


def user(content: Any, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "message": message, "parent_tool_use_id": parent, "session_id": "s1", **fields}


def answer(id: str, content: str = "done", error: bool | None = None) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": id, "content": content}
    return user([block if error is None else {**block, "is_error": error}])


def test_records_of_one_response_are_one_batch() -> None:
    found = Read(
        ID, [INIT, said("r", text("hm")), said("r", call("a")), answer("a"), said("r", call("b")), answer("b")]
    )
    assert found.shape == ["a+b hm"]


def test_records_without_a_response_id_are_batches_of_their_own() -> None:
    assert Read(ID, [INIT, said(None, call("a")), said(None, call("b"))]).shape == ["a?", "b?"]


def test_the_last_input_tokens_of_a_response_count_and_output_tokens_of_the_run() -> None:
    end = {"type": "result", "subtype": "success", "session_id": "s1", "usage": {"output_tokens": 90}}
    first = said("r", {"type": "thinking", "thinking": "hm"}, input_tokens=1, output_tokens=1)
    last = said("r", call("a"), input_tokens=7, output_tokens=2)
    total = Read(ID, [INIT, first, last, answer("a"), end]).total
    assert (total.input_tokens, total.output_tokens) == (7, 90)


def test_totals_of_models_grow_while_a_process_lives() -> None:
    def end(output: int) -> dict[str, Any]:
        usage = {"a": {"outputTokens": output - 1}, "b": {"outputTokens": 1}}
        return {"type": "result", "subtype": "success", "session_id": "s1", "modelUsage": usage}

    records = [INIT, said("r", call("a")), end(10), said("q", call("b")), end(25), said("p", call("c")), end(4)]
    assert Read(ID, records).total.output_tokens == 29


def test_runs_are_sessions_and_another_run_of_a_session_resumes_it() -> None:
    end = {"type": "result", "subtype": "error_max_turns", "session_id": "s1"}
    records = [INIT, said("r", call("a")), end, INIT, said("q", call("b")), {**INIT, "session_id": "s2"}]
    found = Read(ID, records)
    assert found.shape == ["a?", "-- end", "-- resume", "b?"]
    assert [e.reason for e in found.events if isinstance(e, Boundary) and e.kind == "end"] == ["error_max_turns"]
    assert len(found.totals) == 1


def test_sub_agents_are_agents() -> None:
    records = [INIT, said("r", call("t", "Task")), user("go", "t"), said("q", call("x"), parent="t"), answer("x")]
    found = Read(ID, [*records, answer("t")])
    assert sorted(found.shape) == ["t", "t| turn: go", "t| x"]
    assert found.total.turns == 0
    assert found.total.sidechain_calls == 1


@pytest.mark.parametrize(
    ("record", "shape"),
    [
        (user("hello"), ["turn: hello"]),
        (user([text("<system-reminder>x</system-reminder>hello")]), ["turn: hello"]),
        (user("hello", isSynthetic=True), []),
        (user("[Request interrupted by user]"), ["-- interrupt"]),
        (user("<local-command-stdout>x</local-command-stdout>"), []),
        ({"type": "system", "subtype": "compact_boundary", "session_id": "s1"}, ["-- compaction"]),
        ({"type": "stream_event", "event": {}, "session_id": "s1"}, []),
    ],
    ids=["typed", "reminder", "synthetic", "interrupted", "command", "compaction", "partial message"],
)
def test_who_said_it(record: dict[str, Any], shape: list[str]) -> None:
    found = Read(ID, [INIT, record])
    assert found.shape == shape
    assert not found.problems.counts


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        ("Exit code 2\nboom", "error", 2),
        ("The user doesn't want to proceed with this tool use.", "denied", None),
        ("[Request interrupted by user for tool use]", "cancelled", None),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled", None),
        ("no such file", "error", None),
    ],
)
def test_how_a_flagged_result_ended(content: str, status: str, code: int | None) -> None:
    (only,) = Read(ID, [INIT, said("r", call("a")), answer("a", content, True)]).calls
    assert (only.result.status, only.result.exit_code, only.result.level) == (status, code, "flag")


def test_odd_records_are_told_with_their_line() -> None:
    records = [INIT, {"type": "weather"}, {"type": 7}, [1], {"type": "assistant", "session_id": "s1"}]
    found = Read(ID, records).problems
    assert [(p.kind, p.line, p.damage) for p in found.kept] == [
        ("unknown_record", 2, False),
        ("no_type", 3, True),
        ("not_a_record", 4, True),
        ("malformed_record", 5, True),
    ]


@pytest.mark.parametrize(
    ("records", "is_claimed"),
    [
        ([INIT], True),
        ([user("hello")], True),
        ([{"type": "system", "subtype": "init", "session_id": "s", "apiKeySource": "login", "model": "m"}], False),
        ([{"type": "user", "message": {"role": "user", "content": "x"}, "sessionId": "s", "parentUuid": None}], False),
    ],
    ids=["init", "message", "cursor", "session file"],
)
def test_claims(records: list[Any], is_claimed: bool) -> None:
    assert (claimed(ID, records) is not None) is is_claimed


@pytest.mark.parametrize("row", corpus.params(ID))
def test_counts_of_real_files(row: dict[str, Any]) -> None:
    counts = corpus.read_counts(readers().get(ID), corpus.path_of(row))
    assert corpus.differences(row, counts) == {}
