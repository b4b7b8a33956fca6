"""OpenHands SDK events: streams and conversation directories, exit codes, the stuck detection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from loopaudit.core.errors import InputError
from loopaudit.readers.formats.openhands_v1 import READER
from loopaudit.readers.source import Source
from tests import corpus
from tests.readers.shown import read, shown


def event(n: int, kind: str, source: str = "environment", **more: Any) -> dict[str, Any]:
    return {"id": f"e{n}", "kind": kind, "source": source, **more}


def action(n: int, response: str = "r", arguments: Any = '{"command": "ls"}') -> dict[str, Any]:
    call = {"id": f"t{n}", "name": "terminal", "arguments": arguments}
    more = {"thought": [], "tool_call": call, "tool_call_id": f"t{n}", "tool_name": "terminal"}
    return event(n, "ActionEvent", "agent", llm_response_id=response, action={"kind": "A", "command": "pwd"}, **more)


def seen(n: int, of: int, **more: Any) -> dict[str, Any]:
    observation = {"content": [{"type": "text", "text": "x"}], "is_error": False, **more}
    return event(n, "ObservationEvent", tool_call_id=f"t{of}", action_id=f"e{of}", observation=observation)


USER = event(0, "MessageEvent", "user", llm_message={"role": "user", "content": [{"type": "text", "text": "go"}]})


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (seen(2, 1), "ok x"),
        (seen(2, 1, is_error=True), "error flag x"),
        (seen(2, 1, exit_code=2), "error exit_code 2 x"),
        (seen(2, 1, exit_code=None, metadata={"exit_code": 3}), "error exit_code 3 x"),
        (seen(2, 1, exit_code=-1), "ok x"),
        (event(2, "AgentErrorEvent", tool_call_id="t1", error="bad"), "error flag bad"),
        (event(2, "UserRejectObservation", tool_call_id="t1", rejection_reason="no"), "denied flag no"),
    ],
)
def test_how_a_call_ended(answer: dict[str, Any], outcome: str) -> None:
    events, problems, _ = read(READER, [USER, action(1), answer])
    assert events == ["turn go", [("terminal", {"command": "ls"}, outcome)]]
    assert not problems


def test_a_response_is_a_batch_whatever_stands_between_its_calls() -> None:
    events, _, _ = read(READER, [action(1, "r"), seen(2, 1), action(3, "r"), seen(4, 3), action(5, "s")])
    assert [len(e) for e in events] == [2, 1]


def test_arguments_that_are_not_recorded_as_sent_are_those_of_the_action() -> None:
    assert read(READER, [action(1, arguments=None)])[0][0][0][1] == {"command": "pwd"}


def test_boundaries() -> None:
    status = event(3, "ConversationStateUpdateEvent", key="execution_status", value="stuck")
    records = [event(1, "Condensation"), event(2, "PauseEvent", "user"), status, status]
    assert read(READER, records)[0] == ["compaction", "interrupt PauseEvent", "recorded_guard stuck"]
    limit = event(1, "ConversationErrorEvent", code="MaxIterationsReached", detail="100")
    other = event(1, "ConversationErrorEvent", code="AuthError", detail="key")
    assert read(READER, [limit])[0] == ["recorded_guard MaxIterationsReached: 100"]
    assert read(READER, [other])[0] == ["end AuthError: key"]


def directory(root: Path, files: dict[str, bytes], state: dict[str, Any] | None = None) -> Path:
    (root / "events").mkdir(parents=True)
    (root / "base_state.json").write_bytes(orjson.dumps(state or {"id": "c1"}))
    for name, data in files.items():
        (root / "events" / name).write_bytes(data)
    return root


def test_a_directory_is_read_in_the_order_of_its_event_numbers(tmp_path: Path) -> None:
    records = [USER, action(1), seen(2, 1)]
    files = {f"event-{n:05d}-x{9 - n}.json": orjson.dumps(record) for n, record in enumerate(records)}
    state = {"id": "c1", "agent": {"llm": {"model": "big"}}, "execution_status": "stuck"}
    path = directory(tmp_path / "c", {**files, "notes.txt": b"no event"}, state)
    with Source(path) as source:
        assert READER.sniff(source.probe()) is not None
    events, problems, totals = corpus.read_events(READER, path)
    assert shown(events) == ["turn go", [("terminal", {"command": "ls"}, "ok x")], "recorded_guard stuck"]
    assert [e.line for e in events] == [1, 2, 0]
    assert {e.session for e in events} == {"c1"}
    assert totals[0].models == {"big": 1}
    assert not problems


def test_a_damaged_event_file_is_told_at_its_place(tmp_path: Path) -> None:
    files = {"event-00000-a.json": orjson.dumps(USER), "event-00001-b.json": b"nothing", "event-00002-c.json": b"[]"}
    cut = orjson.dumps(action(1))[:-30]
    events, problems, _ = corpus.read_events(READER, directory(tmp_path / "c", {**files, "event-00003-d.json": cut}))
    assert shown(events)[0] == "turn go"
    assert {(p.kind, p.line) for p in problems.kept} >= {("bad_file", 2), ("not_a_record", 3), ("cut_document", 4)}


def test_links_out_of_the_directory_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_bytes(orjson.dumps(USER))
    path = directory(tmp_path / "c", {})
    (path / "events" / "event-00000-a.json").symlink_to(secret)
    assert corpus.read_events(READER, path)[0] == []


def test_a_directory_without_events_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="events cannot be read"):
        corpus.read_events(READER, tmp_path)


@pytest.mark.parametrize("row", corpus.params("openhands-v1"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    found = corpus.read_counts(READER, corpus.path_of(row))
    # The manifest counts the error of a result whose call is not in the file; this reader only counts the orphan.
    found["errors"] += found["orphan_results"]
    assert corpus.differences(row, found) == {}
