"""ForgeCode dumps: which user messages a person wrote, pairing, the doom-loop reminder."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.readers.formats.forgecode import READER
from tests import corpus
from tests.readers.shown import read


def dump(*messages: Any) -> bytes:
    return orjson.dumps({"id": "c", "context": {"messages": list(messages)}}, option=orjson.OPT_INDENT_2)


def user(content: str, **more: Any) -> dict[str, Any]:
    return {"text": {"role": "User", "content": content, **more}}


def model(*ids: str | None) -> dict[str, Any]:
    calls = [{"name": "read", "call_id": i, "arguments": {"n": n}} for n, i in enumerate(ids)]
    return {"text": {"role": "Assistant", "content": "", "tool_calls": calls}}


def result(id: str | None, value: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"tool": {"name": "read", "call_id": id, "output": {"is_error": is_error, "values": [{"text": value}]}}}


def test_the_raw_content_is_what_the_person_wrote() -> None:
    messages = [user("<task>go</task>", raw_content={"Text": "go"}), user("a file"), user("another", droppable=True)]
    assert read(READER, dump(*messages))[0] == ["turn go"]
    assert read(READER, dump(user("go"), user("a file", droppable=True)))[0] == ["turn go"]


def test_calls_and_results() -> None:
    events, problems, _ = read(READER, dump(model("a", "b"), result("b", "2", is_error=True), result("a", "1")))
    assert events == [[("read", {"n": 0}, "ok 1"), ("read", {"n": 1}, "error flag 2")]]
    assert not problems
    events, _, _ = read(READER, dump(model(None, None), result(None, "1"), result(None, "2")))
    assert [c[2] for c in events[0]] == ["ok 1", "ok 2"]


def test_the_reminder_of_a_doom_loop_is_a_guard_and_a_file_is_not() -> None:
    reminder = user("<system_reminder>This is a doom loop.</system_reminder>", droppable=True)
    file = user("<file_content>class DoomLoop: ...</file_content>", droppable=True)
    asked = user("x", raw_content={"Text": "x"})
    assert read(READER, dump(asked, reminder, file))[0] == ["turn x", "recorded_guard doom_loop"]


@pytest.mark.parametrize("row", corpus.params("forgecode"))
def test_corpus_counts(row: dict[str, Any]) -> None:
    assert corpus.differences(row, corpus.read_counts(READER, corpus.path_of(row))) == {}
