"""A converted transcript is the original again: same events, same decisions, stable bytes."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given, settings

from loopaudit.audit.convert import Converted, Transform, convert
from loopaudit.audit.session import audit_source
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.counts import Totals
from loopaudit.core.errors import InputError
from loopaudit.core.events import Batch, Event, Level, Usage
from loopaudit.policies.contract import Mode
from loopaudit.policies.registry import policies
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.formats.native.reader import READER as NATIVE
from loopaudit.readers.formats.openai_chat import READER as CHAT
from loopaudit.readers.recognise import claim
from loopaudit.readers.source import Source
from tests.readers.chat_messages import as_lines, call, say, tool, user
from tests.shared_files import transcripts
from tests.streams import Step, levels, streams, tell, transcribed, view


def events_of(stream: list[Step] | bytes, level: Level) -> tuple[list[Event], list[Totals]]:
    events: list[Event] = []
    totals: list[Totals] = []

    def emitter(problems: Any = None) -> Emitter:
        return Emitter(events.append, problems, failure_level=level, on_session=lambda _, t: totals.append(t))

    if isinstance(stream, bytes):
        with Source(None, stream=io.BytesIO(stream)) as source:
            emit = emitter(source.problems)
            NATIVE.read(source, emit)
            emit.finish()
            assert not source.problems.damaged, source.problems.kept
    else:
        tell(emitter(), stream)
    return events, totals


SAME_TOTALS = (
    "turns batches text_replies calls results unanswered orphan_results errors errors_by_level denied cancelled "
    "sidechain_calls max_parallel compactions models tools input_tokens output_tokens cache_read_tokens "
    "cache_write_tokens success_known schemas"
).split()


@settings(max_examples=100, deadline=None)
@given(streams, levels)
def test_reading_what_was_transcribed_gives_the_same_events(stream: list[Step], level: Level) -> None:
    original, totals = events_of(stream, level)
    copied, copied_totals = events_of(transcribed(stream), level)
    assert [view(e) for e in copied] == [view(e) for e in original]
    for one, other in zip(totals, copied_totals, strict=True):
        assert {n: getattr(one, n) for n in SAME_TOTALS} == {n: getattr(other, n) for n in SAME_TOTALS}


def everything(path: Path, mode: Mode) -> Any:
    """What a replay under all policies gives, as plain data, without what tells the place in the file."""
    options = Options(policies=select(policies().ids()), mode=mode, hindsight=False)
    with Source(path) as source:
        found = msgspec.to_builtins(audit_source(source, options, name="transcript"))
    return [_placeless(transcript) for transcript in found]


def _placeless(value: Any) -> Any:
    gone = ("line", "format", "problems", "problem_counts", "damaged", "repeated_ids", "repeated_records", "duration")
    if isinstance(value, dict):
        return {name: _placeless(inner) for name, inner in value.items() if name not in gone}
    return [_placeless(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.slow
@pytest.mark.parametrize("path", transcripts())
def test_a_converted_transcript_gets_the_same_decisions(path: Path, tmp_path: Path, untraced: None) -> None:
    copy = tmp_path / "copy.jsonl"
    with Source(path) as source:
        reader = claim(source.probe())
        if reader is None:
            pytest.skip("no reader for it yet")
        with copy.open("wb") as out:
            try:
                convert(source, reader, out)
            except InputError as error:
                pytest.skip(error.message)
    modes: tuple[Mode, ...] = ("enforced", "shadow")
    for mode in modes:
        assert everything(copy, mode) == everything(path, mode)


# -- what is written -----------------------------------------------------------------------

CHAT_RUN = as_lines(
    [
        user("go"),
        user("go"),
        say("So.", call("ls", '{"p": 1}', "c1"), call("ls", {"p": 2})),
        tool("c1", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], is_error=False),
        tool(None, "Error: no", error="boom"),
        say("So.", call("ls", '{"p": 1}', "c1")),
        tool("c9", "whose?"),
        user("[context was compacted] So far."),
        user("go"),
        say("", call("ls", "{}", "c3")),
    ]
)

CHAT_LINES = [
    '{"type":"header","format":"loopaudit","version":1,"source":{"format":"openai-chat"}}',
    '{"type":"user","text":"go","id":"u1","line":1}',
    '{"type":"tool_call","id":"c1","name":"ls","arguments":"{\\"p\\": 1}","batch":"m1","line":3}',
    '{"type":"tool_call","id":"#2","name":"ls","arguments":{"p":2},"batch":"m1","line":3}',
    '{"type":"assistant","text":"So.","batch":"m1","line":3}',
    '{"type":"tool_result","id":"c1","output":"a\\nb","is_error":false,"line":4}',
    '{"type":"tool_result","id":"#2","output":"Error: no","error":"boom","is_error":true,"line":5}',
    '{"type":"tool_result","id":"c9","output":"whose?","line":7}',
    '{"type":"boundary","kind":"compaction","line":8}',
    '{"type":"user","text":"go","id":"u2","line":9}',
    '{"type":"tool_call","id":"c3","name":"ls","arguments":"{}","batch":"m3","line":10}',
]


def converted(data: bytes, reader: Reader = CHAT, transform: Transform | None = None) -> tuple[bytes, Converted]:
    out = io.BytesIO()
    with Source(None, stream=io.BytesIO(data)) as source:
        done = convert(source, reader, out, transform)
    return out.getvalue(), done


def test_the_lines_that_are_written_and_their_counts() -> None:
    data, done = converted(CHAT_RUN)
    assert data.decode().splitlines() == CHAT_LINES
    assert done == Converted(
        {"header": 1, "user": 2, "tool_call": 3, "assistant": 1, "tool_result": 3, "boundary": 1}, 1, len(data)
    )


def test_converting_again_gives_the_same_bytes_but_for_the_lines_they_came_from() -> None:
    once = converted(CHAT_RUN)[0]
    assert once == converted(CHAT_RUN)[0]
    again = converted(once, NATIVE)[0]
    without = re.compile(rb',"line":\d+|"openai-chat"|"native"')
    assert without.sub(b"", again) == without.sub(b"", once)


def test_equal_lines_that_are_no_copies_are_told_apart() -> None:
    stream: list[Step] = [("usage", (Usage(1),), {})] * 3 + [("say", ("ha",), {"key": "r"})] * 2
    lines = [orjson.loads(line) for line in transcribed(stream).splitlines()[1:]]
    assert [line.get("x_again") for line in lines] == [None, 1, 2, None, 1]


def test_facts_go_into_the_header_or_behind_it() -> None:
    stream: list[Step] = [
        ("tools", ({"ls": {}},), {}),
        ("session", ("one",), {}),
        ("knows_success", (), {}),
        ("turn", ("go",), {}),
        ("tools", ({"ls": {}, "cat": {}},), {}),
        ("knows_success", (), {}),
        ("session", ("two",), {}),
        ("turn", ("go",), {}),
        ("knows_success", (), {}),
    ]
    first, _, late, second, _, known = (orjson.loads(line) for line in transcribed(stream).splitlines())
    assert (first["session"], first["tools"], first["knows_success"]) == ("one", {"ls": {}}, True)
    assert late == {"type": "declare", "tools": {"cat": {}}}
    assert second == {
        "type": "header",
        "format": "loopaudit",
        "version": 1,
        "session": "two",
        "source": first["source"],
    }
    assert known == {"type": "declare", "knows_success": True}


def test_a_transformation_may_change_lines_and_leave_them_out() -> None:
    def redacted(record: dict[str, Any]) -> dict[str, Any] | None:
        if record["type"] == "assistant":
            return None
        return {k: "-" if k in ("text", "output", "arguments", "error") else v for k, v in record.items()}

    data, done = converted(CHAT_RUN, transform=redacted)
    assert b"boom" not in data
    assert b"So." not in data
    assert "assistant" not in done.lines
    assert len(data.splitlines()) == len(CHAT_LINES) - 1


def test_lines_are_written_while_the_transcript_is_still_being_read() -> None:
    class Watched(io.BytesIO):
        read_at_first_write = 0

        def write(self, data: Any) -> int:
            self.read_at_first_write = self.read_at_first_write or read
            return super().write(data)

    read = 0

    def progress(size: int) -> None:
        nonlocal read
        read = size

    out = Watched()
    log = as_lines([user("go"), *[say(f"{n}" + "x" * 5000) for n in range(1000)]])
    with Source(None, stream=io.BytesIO(log)) as source:
        source.on_progress = progress
        convert(source, CHAT, out)
    assert 0 <= out.read_at_first_write < len(log) / 2
    assert read == len(log)


@pytest.mark.parametrize("data", [b'{"role":"ghost","content":"x"}\n', b"[]\n", b"17\n"])
def test_nothing_to_convert_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError, match="no conversation"):
        converted(data)


def test_damage_is_left_out_and_told_with_its_line() -> None:
    with Source(None, stream=io.BytesIO(CHAT_RUN + b'{"role":"assist')) as source:
        convert(source, CHAT, io.BytesIO())
        assert [(p.kind, p.line) for p in source.problems.kept if p.damage] == [("cut_last_line", 11)]


@pytest.mark.parametrize("depth", [200, 300, 990, 1015])
def test_arguments_nested_deeply_are_carried(depth: int) -> None:
    deep = b"[" * depth + b'"\\ud83d"' * (depth == 300) + b"]" * depth
    line = b'{"type":"tool_call","name":"f","arguments":{"a":%s}}\n' % deep
    original, _ = events_of(line, "flag")
    copied, _ = events_of(converted(line, NATIVE)[0], "flag")
    assert [view(e) for e in copied] == [view(e) for e in original]
    assert isinstance(original[0], Batch)
    assert original[0].calls[0].raw_arguments.count("[") == depth
