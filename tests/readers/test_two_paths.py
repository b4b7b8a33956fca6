"""The fast path of a reader and the general path behind it tell the same.

Several readers decode the usual spelling of a line straight into typed records and read every other line as
plain JSON first. Here each transcript is read twice, the second time with the fast decoder refusing every
line, and both readings must give the same events, problems and counts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core.errors import InputError
from loopaudit.core.events import Batch, Event
from loopaudit.readers.contract import Reader
from loopaudit.readers.formats import anthropic_messages, claude_stream_json, openai_chat, pi
from loopaudit.readers.formats.claude_code import reader as claude_code
from loopaudit.readers.formats.codex import reader as codex
from loopaudit.readers.formats.native import reader as native
from loopaudit.readers.kit.chat import message as chat_message
from loopaudit.readers.kit.chat import read as chat_reading
from loopaudit.readers.registry import readers
from tests.corpus import CORPUS, all_rows, path_of, read_events
from tests.places import ROOT
from tests.readers.damage import VALUES, changed, paths

MAX_BYTES = 1 << 20
"""Largest real file that is read twice; larger ones only take longer."""

FAST = {
    "claude-code": (claude_code, "line_decoder"),
    "claude-stream-json": (claude_stream_json, "line_decoder"),
    "codex": (codex, "line_decoder"),
    "native": (native, "line_decoder"),
    "openai-chat": (chat_reading, "message_decoder"),
    "anthropic-messages": (chat_reading, "message_decoder"),
    "pi": (pi, "line_decoder"),
}
"""Formats with a fast path, and where its decoder is made."""

_MODULES = (anthropic_messages, claude_code, claude_stream_json, codex, native, openai_chat, pi)
assert {m.READER.id for m in _MODULES} == set(FAST)


class Refusing:
    """Stands for a fast decoder that can read nothing."""

    def __init__(self, *_: Any) -> None:
        pass

    def decode(self, line: bytes) -> Any:
        raise ValueError("not here")


def refuse(value: Any) -> Any:
    """Stands for the typed conversion of a decoded value."""
    raise ValueError("not here")


def reading(reader: Reader, content: bytes | Path) -> Any:
    """Everything that a reading tells; where it refuses the file (a later version of a format), the words of that."""
    try:
        events, problems, totals = read_events(reader, content)
    except InputError as error:
        return error.message, error.hint
    listed = [(p.kind, p.line) for p in problems.kept]
    return [shown(event) for event in events], {"counts": problems.counts, "kept": listed}, totals


def shown(event: Event) -> Any:
    """An event with everything that a policy can ask of it."""
    if not isinstance(event, Batch):
        return event
    calls = []
    for call in event.calls:
        result = call.result
        told: tuple[Any, ...] | None = None
        if result is not None:
            told = (result.output, result.failed, result.status, result.level, result.exit_code, result.error)
            told = (*told, result.line, result.at)
        # Text of equal values: so that 1, 1.0 and True differ, and NaN equals itself.
        arguments = json.dumps(call.arguments, ensure_ascii=True)
        calls.append((call.id, call.number, call.name, arguments, call.raw_arguments, call.key, call.is_json, told))
    return (event.session, event.agent, event.index, event.text, event.usage, event.model, event.line, event.at, calls)


def assert_both_agree(name: str, content: bytes | Path) -> None:
    reader = readers().get(name)
    module, maker = FAST[name]
    fast = reading(reader, content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, maker, Refusing)
        if module is chat_reading:
            patch.setattr(chat_message, "usual_message", refuse)
            patch.setattr(chat_reading, "usual_messages", refuse)
        general = reading(reader, content)
    assert fast == general


def samples() -> Iterator[tuple[str, Path]]:
    """Our own transcripts in the formats with a fast path."""
    from loopaudit.readers.recognise import claim
    from loopaudit.readers.source import Source

    for path in sorted([*ROOT.glob("sample_transcripts/*.json*"), *ROOT.glob("sample_transcripts/formats/*.json*")]):
        with Source(path) as source:
            reader = claim(source.probe())
        if reader is not None and reader.id in FAST:
            yield reader.id, path


SAMPLES = list(samples())


def real() -> list[Any]:
    rows = [r for r in all_rows() if r["format"] in FAST and path_of(r).is_file()]
    found = [
        pytest.param(row["format"], path_of(row), id=Path(row["file"]).name)
        for row in rows
        if path_of(row).stat().st_size <= MAX_BYTES
    ]
    return found or [pytest.param("", ROOT, id="none", marks=pytest.mark.skip(reason=f"no files in {CORPUS}"))]


def test_every_format_with_a_fast_path_has_a_sample() -> None:
    assert {name for name, _ in SAMPLES} == set(FAST)


@pytest.mark.parametrize(("name", "path"), SAMPLES, ids=[path.name for _, path in SAMPLES])
def test_samples(name: str, path: Path) -> None:
    assert_both_agree(name, path)


@pytest.mark.parametrize(("name", "path"), real())
def test_real_files_and_damaged_ones(name: str, path: Path) -> None:
    data = path.read_bytes()
    assert_both_agree(name, data)
    for seed in range(3):
        assert_both_agree(name, damaged(data[: 1 << 17], random.Random(f"{path.name} {seed}")))


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The same bytes with some lost, doubled, overwritten or cut."""
    found = bytearray(data)
    for _ in range(1 + len(found) // 20_000):
        at = chance.randrange(len(found) or 1)
        width = chance.choice((1, 1, 2, 40))
        kind = chance.randrange(4)
        if kind == 0:
            del found[at : at + width]
        elif kind == 1:
            found[at:at] = found[at : at + width]
        elif kind == 2:
            found[at : at + 1] = bytes([chance.randrange(256)])
        else:
            found[at:at] = chance.choice((b"\\ud83d", b"NaN", b"\xff", b"\0", b"null", b"-0", b"\n", b"[", b'"'))
    return bytes(found)


@pytest.mark.parametrize("indent", [None, 1], ids=["a row a line", "a document"])
def test_chats_in_a_document(indent: int | None) -> None:
    """Whose messages are decoded before they are made typed records."""
    for name, path in SAMPLES:
        if FAST[name][0] is chat_reading:
            messages = [found for line in path.read_bytes().splitlines() if (found := record_of(line)) is not None]
            if messages and all("role" in message for message in messages):
                rows = [{"messages": messages[:length]} for length in (3, 5, len(messages))]
                assert_both_agree(name, json.dumps(rows, indent=indent).encode())
                assert_both_agree(name, b"\n".join(map(orjson.dumps, rows)))


lines_of = st.sampled_from(SAMPLES).flatmap(
    lambda sample: st.tuples(st.just(sample), st.integers(0, max(0, len(sample[1].read_bytes().splitlines()) - 1)))
)


@given(lines_of, st.randoms(use_true_random=False), st.sampled_from(VALUES))
def test_any_member_may_be_of_any_type(drawn: tuple[tuple[str, Path], int], chance: random.Random, value: Any) -> None:
    (name, path), number = drawn
    lines = path.read_bytes().splitlines()
    if path.suffix == ".json":
        lines, number = [path.read_bytes()], 0
    record = record_of(lines[number])
    places = list(paths(record))
    if places:
        lines[number] = orjson.dumps(changed(record, chance.choice(places), value))
    assert_both_agree(name, b"\n".join(lines) + b"\n")


def test_codex_lines_of_two_generations() -> None:
    item = {"type": "function_call", "name": "shell", "arguments": "{}"}
    bare: list[dict[str, Any]] = [{"id": "t", "timestamp": "2025-07-01T00:00:00.000Z"}, {"record_type": "state"}]
    bare += [{"type": "function_call_output", "call_id": "b", "output": "x"}, {**item, "call_id": "a", "role": 5}]
    envelopes: list[dict[str, Any]] = [{"timestamp": "t", "type": "session_meta", "payload": {"id": "t"}}]
    envelopes += [{"timestamp": "t", "type": "response_item", "payload": {**item, "call_id": "b"}, "role": 5}]
    for records in (envelopes + bare, bare + envelopes, [*envelopes, *bare, *envelopes]):
        content = b"".join(orjson.dumps(record) + b"\n" for record in records)
        assert_both_agree("codex", content)
        events = read_events(readers().get("codex"), content)[0]
        assert [call.id for event in events if isinstance(event, Batch) for call in event.calls][:2] in (
            ["b", "a"],
            ["a", "b"],
        )


def test_a_later_version_is_refused_on_both_paths() -> None:
    content = b'{"type": "header", "format": "loopaudit", "version": 7}\n{"type": "user", "text": "hello"}\n'
    refused = reading(readers().get("native"), content)
    assert "version 7" in refused[0]
    assert_both_agree("native", content)


def record_of(line: bytes) -> Any:
    """A decoded line; nothing for the broken lines that one of the samples has on purpose."""
    try:
        return orjson.loads(line)
    except ValueError:
        return None


HOSTILE = {
    "lone surrogate": b'"\\ud83d"',
    "not a number": b"NaN",
    "infinite": b"-Infinity",
    "too large for 64 bits": b"18446744073709551617",
    "too large for a double": b"1e999",
    "negative zero": b"-0",
    "deep": b"[" * 30_000 + b"]" * 30_000,
    "keys twice": b'{"a": 1, "a": 2}',
    "broken UTF-8": b'"\xff\xfe"',
    "a control character": b'"a\x01b"',
    "another escape": b'"\\u0041"',
}


@pytest.mark.slow
@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(("name", "path"), SAMPLES, ids=[path.name for _, path in SAMPLES])
def test_hostile_values(name: str, path: Path, value: bytes) -> None:
    """The value stands in the place of each of the first strings of each line in turn."""
    lines = path.read_bytes().splitlines()[:12]
    if path.suffix == ".json":
        return
    for place in range(0, 24, 3):
        spoiled = [replaced(line, place, value) for line in lines]
        assert_both_agree(name, b"\n".join(spoiled) + b"\n")


def replaced(line: bytes, place: int, value: bytes) -> bytes:
    """A line whose value number ``place`` is another one; the line itself where it has fewer."""
    record = record_of(line)
    values = [path for path in paths(record) if isinstance(path[-1], str)]
    if place >= len(values):
        return line
    return orjson.dumps(changed(record, values[place], "@@here@@")).replace(b'"@@here@@"', value)
