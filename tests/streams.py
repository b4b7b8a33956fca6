"""Hypothesis strategies for what readers tell an emitter, and a plain view of what it makes of it."""

from __future__ import annotations

import io
from typing import Any

from hypothesis import strategies as st

from loopaudit.audit.convert import Transcriber, Writer
from loopaudit.core.canonical import compact
from loopaudit.core.events import LEVELS, TEXT, Batch, Call, Event, Turn, Usage
from loopaudit.readers.emit import Emitter

Step = tuple[str, tuple[Any, ...], dict[str, Any]]

texts = st.text(st.characters(exclude_categories=()), max_size=6)
"""Any text at all, lone surrogates included."""

numbers = st.integers() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=True) | st.just(-0.0)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
slices = st.sampled_from(
    [
        b"{}",
        b"null",
        b"17",
        b"[1, 2]",
        b"[-0, -0.0]",
        b'"text"',
        b'"\\u00e9"',
        b'"{\\"a\\":1}"',
        b'{"b":-0}',
        b'{"a":1e5,"a":2}',
        b'{"a": 1.0, "b": [true]}',
        b'{"big": 123456789012345678901234567890}',
        b'{"a":' * 200 + b"1" + b"}" * 200,
    ]
)
sent = st.sampled_from(["", "{}", '{"a": 1}', '{"a":1}', "not json", "\ud83d", '{"a":\n 1}', "{bad"])
arguments = values | slices | sent
outputs = (
    texts
    | st.sampled_from(
        ["ok", "Error: no", "permission denied", b'"ok"', b'"Error: no"', b"null", b'[{"text":"ok"}]', b"3"]
    )
    | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=2)
)
agents = st.sampled_from(["", "", "", "sub", "\ud83dx"])
keys = st.none() | st.sampled_from(["r1", "r2", "r3"])
ids = st.none() | st.sampled_from(["toolu_01", "toolu_02", "toolu_03", "call_0", "call_1", "#1", ""])
times = st.none() | st.sampled_from(
    ["2026-02-07T03:49:23.388Z", "2026-02-07T03:49:23+01:00", "then", 1.5, 17, 1770436163000]
)
words = st.sampled_from(["go on", "yes", "", "stop"])
counts = st.none() | st.integers(0, 5000)
usages = st.builds(Usage, counts, counts, counts, counts)
schemas = st.dictionaries(st.sampled_from(["ls", "cat"]), st.just({}) | st.just({"type": "object"}), max_size=2)

lines = st.integers(0, 3)


def _step(method: str, /, *given: st.SearchStrategy[Any], **named: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(st.just(method), st.tuples(*given), st.fixed_dictionaries({}, optional=named))


steps = st.one_of(
    _step("turn", words | texts, agent=agents, at=times, line=lines, id=st.none() | st.sampled_from(["m1", "m2"])),
    _step("turn", words),
    _step("say", words | texts, agent=agents, key=keys, at=times, line=lines, model=st.sampled_from(["big", None])),
    _step("usage", usages, agent=agents, key=keys, model=st.sampled_from(["big", None])),
    _step("call", st.sampled_from(["ls", "cat", ""]), arguments, id=ids, key=keys, agent=agents, at=times, line=lines),
    _step("call", st.sampled_from(["ls", "cat"]), st.sampled_from(["{}", b'{"a":1}']), id=ids, key=keys, agent=agents),
    _step(
        "result",
        ids,
        outputs,
        failed=st.sampled_from([None, True, False]),
        status=st.sampled_from([None, "ok", "error", "denied", "cancelled"]),
        exit_code=st.sampled_from([None, 0, 1, -9]),
        error=st.sampled_from(["", None, "boom"]),
        agent=agents,
        name=st.sampled_from([None, "ls"]),
        at=times,
        line=lines,
    ),
    _step("result", ids, outputs),
    _step("boundary", st.sampled_from(["compaction", "interrupt", "end", "resume"]), words, agent=agents, at=times),
    _step("boundary", st.just("compaction")),
    _step("session", st.sampled_from(["a", "b", ""])),
    _step("tools", schemas),
    _step("knows_success"),
)
"""One thing that a reader may report, as the emitter's method and its arguments."""


def _named(stream: list[Step]) -> list[Step]:
    """Gives each conversation a name of its own; a file cannot hold two of one name in a row."""
    return [(m, (f"{g[0]}{n}",), named) if m == "session" else (m, g, named) for n, (m, g, named) in enumerate(stream)]


streams = st.lists(steps, max_size=30).map(_named)
levels = st.sampled_from(LEVELS)


def tell(emit: Emitter, stream: list[Step]) -> None:
    """Report a stream to an emitter, and finish."""
    for name, given, named in stream:
        getattr(emit, name)(*given, **named)
    emit.finish()


def transcribed(stream: list[Step]) -> bytes:
    """A stream in the native format."""
    out = io.BytesIO()
    tap = Transcriber(Writer(out), "test")
    tell(Emitter(lambda event: None, failure_level="flag", tap=tap), stream)
    return out.getvalue()


def _call(call: Call) -> dict[str, Any]:
    result = call.result
    return {
        "id": call.id,
        "number": call.number,
        "name": call.name,
        "raw": call.raw_arguments,
        "arguments": compact(call.arguments) if call.is_json else call.arguments,
        "key": call.key,
        "sent as text": call.form == TEXT,
        "is_json": call.is_json,
        "at": call.at,
        "result": None
        if result is None
        else (result.output, result.failed, result.status, result.level, result.exit_code, result.error, result.at),
    }


def view(event: Event) -> dict[str, Any]:
    """Everything of an event that a policy may look at. Lines are left out: they are places."""
    seen: dict[str, Any] = {
        "kind": type(event).__name__,
        "session": event.session,
        "agent": event.agent,
        "at": event.at,
    }
    if isinstance(event, Turn):
        return seen | {"text": event.text}
    if isinstance(event, Batch):
        usage = None if event.usage is None else repr(event.usage)
        calls = [_call(call) for call in event.calls]
        told = {"index": event.index, "text": event.text, "model": event.model, "key": event.response_id}
        return seen | told | {"usage": usage, "calls": calls}
    return seen | {"boundary": event.kind, "reason": event.reason}
