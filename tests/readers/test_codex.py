"""Codex rollouts of three generations: turns, batches, kinds of calls, boundaries."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest

from loopaudit.core.events import Batch, decode_text
from loopaudit.readers.formats.codex.reader import MAX_WAITING, READER
from loopaudit.readers.formats.codex_exec import READER as EXEC_READER
from loopaudit.readers.source import Source
from tests import corpus
from tests.readers.codex_records import (
    BASES,
    GENERATIONS,
    HEADER,
    JSON_OUTPUT,
    Record,
    Writer,
    bare,
    early,
    encode,
    late,
    read,
    tell,
)


@pytest.mark.parametrize("name", GENERATIONS)
def test_generation(name: str) -> None:
    records, expected, session = GENERATIONS[name]
    events, problems, totals = read(records)
    assert events == expected
    assert not problems
    raw, _, _ = corpus.read_events(READER, encode(records))
    assert {event.session for event in raw} == {session}
    assert totals[0].success_known


@pytest.mark.parametrize("name", GENERATIONS)
def test_recognised_by_its_records(name: str) -> None:
    path_free = Source(None, stream=io.BytesIO(encode(BASES[name])))
    assert READER.sniff(path_free.probe()) is not None
    assert EXEC_READER.sniff(path_free.probe()) is None


def test_bare_items_are_recognised_without_state_lines() -> None:
    records = [record for record in bare() if "record_type" not in record]
    assert READER.sniff(Source(None, stream=io.BytesIO(encode(records))).probe()) is not None
    assert read(records)[0] == GENERATIONS["bare"][1]


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "session", "id": "1", "cwd": "/x", "timestamp": "t"}, {"type": "message", "role": "user"}],
        [{"role": "user", "content": "x"}],
        [{"type": "function_call", "name": "x", "call_id": "1", "arguments": "{}"}],
        [{"id": "1", "timestamp": "t"}, {"role": "user", "content": "x"}],
        [{"type": "thread.started", "thread_id": "1"}],
        [{"type": ["session_meta"], "payload": {}}],
        ["text", 1],
    ],
)
def test_other_formats_are_not_claimed(records: list[Any]) -> None:
    assert READER.sniff(Source(None, stream=io.BytesIO(encode(records))).probe()) is None


def test_calls_carry_what_was_recorded() -> None:
    events, _, _ = corpus.read_events(READER, encode(late()))
    batches = [event for event in events if isinstance(event, Batch)]
    first, second = batches[0].calls
    assert first.raw_arguments == '{"cmd":"ls"}'
    assert first.arguments == {"cmd": "ls"}
    assert first.result is not None and first.result.output == HEADER.format(0)
    assert first.result.at == "2026-06-26T22:00:13.000Z"
    assert first.key != second.key
    patch = batches[1].calls[0]
    assert (patch.raw_arguments, patch.is_json) == ("*** Begin Patch", False)
    assert {batch.model for batch in batches} == {"gpt-5.5"}


# -- turns ---------------------------------------------------------------------------------


def _turns() -> Iterator[Any]:
    w = Writer()
    say = w.message("assistant", "ok")
    yield pytest.param([*w.typed("a"), say, *w.typed("a"), say], ["a", "a"], {}, id="said twice")
    yield pytest.param([*w.typed("a"), *w.typed("a"), say], ["a", "a"], {}, id="said twice in a row")
    first = w.typed("a")
    yield pytest.param([*first, first[1], say], ["a"], {"repeated_record": 1}, id="repeated event")
    yield pytest.param([first[0], *first, say], ["a"], {"repeated_record": 1}, id="repeated item")
    yield pytest.param([first[1], first[0], say], ["a"], {}, id="event before item")
    yield pytest.param([w.message("user", "a"), say, w.message("user", "b")], ["a", "b"], {}, id="no events")
    yield pytest.param(
        [w.message("user", "x"), *w.typed("a"), say], ["a"], {"unannounced_message": 1}, id="unannounced"
    )
    late_item = [*w.typed("a"), say, w.message("user", "<new_kind_of_notice>"), say]
    yield pytest.param(late_item, ["a"], {"unannounced_message": 1}, id="unannounced later")
    kinds = [w.event("user_message", message=k, kind=k) for k in ("environment_context", "user_instructions", "plain")]
    yield pytest.param([*kinds, say], ["plain"], {}, id="announced context")
    images = w.event("user_message", message="", images=["data:image/png;base64,AA"])
    yield pytest.param([images, say], [""], {}, id="only an image")
    agent = w.line("inter_agent_communication", author="/root", recipient="/root/a", content="x", trigger_turn=True)
    yield pytest.param([*w.typed("a"), agent, say], ["a"], {"other_agent": 1}, id="another agent")


@pytest.mark.parametrize(("records", "expected", "counts"), list(_turns()))
def test_turns(records: list[Record], expected: list[str], counts: dict[str, int]) -> None:
    events, problems, _ = read([Writer().meta(), *records])
    assert [event[5:] for event in events if event.startswith("turn ")] == expected
    assert problems.counts == counts


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n",
        "\n<user_instructions>",
        "# AGENTS.md instructions for /x",
        "<permissions instructions>",
        "<turn_aborted>\n",
        "<user_shell_command>ls",
        "<skill>\n<name>x",
        "<subagent_notification>",
    ],
)
def test_injected_items_are_no_turns(text: str) -> None:
    records = [bare()[0], {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]
    events, problems, _ = read([*records, bare()[6]])
    assert events == ["[] I look."]
    assert not problems


def test_many_waiting_items_are_not_held() -> None:
    w = Writer()
    texts = [f"message {n}" for n in range(3 * MAX_WAITING)]
    events, _, _ = read([w.meta(), *(w.message("user", text) for text in texts)])
    assert events == [f"turn {text}" for text in texts]


# -- batches -------------------------------------------------------------------------------


def _batches() -> Iterator[Any]:
    w = Writer()
    a, b, c = (f"call_{letter * 6}" for letter in "abc")
    yield pytest.param([w.call(a), w.output(a), w.call(b), w.output(b)], [1, 1], id="one after the other")
    yield pytest.param([w.call(a), w.call(b), w.output(b), w.output(a)], [2], id="parallel, answered in another order")
    yield pytest.param(
        [w.call(a), w.tokens(1, 1, (1, 1)), w.output(a), w.call(b), w.tokens(1, 1, (2, 2)), w.output(b)],
        [1, 1],
        id="tokens before outputs",
    )
    yield pytest.param([w.call(a), w.tokens(1, 1, (1, 1)), w.call(b)], [1, 1], id="tokens between unanswered calls")
    yield pytest.param(
        [w.tokens(1, 1, (5, 5)), w.call(a), w.tokens(1, 1, (5, 5)), w.call(b), w.output(a), w.output(b)],
        [2],
        id="stale tokens between calls",
    )
    yield pytest.param(
        [
            w.item("reasoning", summary=[]),
            w.call(a),
            w.item("reasoning", summary=[]),
            w.call(b),
            w.output(a),
            w.output(b),
        ],
        [2],
        id="reasoning inside a response",
    )
    yield pytest.param(
        [w.message("assistant", "x"), w.call(a), w.message("assistant", "y"), w.call(b), w.output(a), w.output(b)],
        [2],
        id="prose inside a response",
    )
    yield pytest.param(
        [w.call(a), w.event("turn_aborted", reason="interrupted"), *w.typed("go on"), w.call(b), w.call(c)],
        [1, 2],
        id="interrupted",
    )


@pytest.mark.parametrize(("records", "expected"), list(_batches()))
def test_batches(records: list[Record], expected: list[int]) -> None:
    w = Writer()
    events, _, totals = corpus.read_events(READER, encode([w.meta(), *w.typed("go"), *records]))
    assert [len(event.calls) for event in events if isinstance(event, Batch)] == expected
    assert totals[0].max_parallel == max(expected)


# -- kinds of calls ------------------------------------------------------------------------


def _calls() -> Iterator[Any]:
    w = Writer()
    one = "call_abcdef"
    action = {"type": "exec", "command": ["ls"], "timeout_ms": 10}
    yield pytest.param(
        [
            w.item("local_shell_call", call_id=one, status="completed", action=action),
            w.output(one, JSON_OUTPUT.format(0)),
        ],
        "[local_shell:ok0]",
        action,
        id="local shell",
    )
    yield pytest.param(
        [w.item("local_shell_call", id=one, call_id=None, action=action), w.output(one, "x")],
        "[local_shell:ok]",
        action,
        id="local shell with an item id",
    )
    search = w.item("tool_search_call", call_id=one, execution="client", arguments={"query": "x", "limit": 1})
    found = w.item("tool_search_output", call_id=one, execution="client", tools=[{"name": "a"}])
    yield pytest.param([search, found], "[tool_search:ok]", {"query": "x", "limit": 1}, id="tool search")
    yield pytest.param(
        [w.call(one, "{}", "pull_request", namespace="mcp__github__"), w.output(one)],
        "[mcp__github__pull_request:ok]",
        {},
        id="namespace",
    )
    yield pytest.param([w.call(one, {"cmd": "ls"}), w.output(one)], "[exec_command:ok]", {"cmd": "ls"}, id="object")
    yield pytest.param(
        [w.call(one, '{"cmd": "ls'), w.output(one)], "[exec_command:ok]", '{"cmd": "ls', id="broken text"
    )
    yield pytest.param([w.call(one, None), w.output(one)], "[exec_command:ok]", None, id="no arguments")
    yield pytest.param(
        [w.item("function_call", name="a", arguments="{}"), w.item("function_call_output", output="x")],
        "[a:ok]",
        {},
        id="no id",
    )
    yield pytest.param(
        [
            w.item("function_call", name="a", arguments="{}", call_id=7),
            w.item("function_call_output", call_id=7, output="x"),
        ],
        "[a:ok]",
        {},
        id="number as id",
    )


@pytest.mark.parametrize(("records", "expected", "arguments"), list(_calls()))
def test_kinds_of_calls(records: list[Record], expected: str, arguments: Any) -> None:
    events, problems, _ = corpus.read_events(READER, encode(records))
    batch = events[0]
    assert isinstance(batch, Batch)
    assert tell(batch) == expected
    assert batch.calls[0].arguments == arguments
    assert not problems


@pytest.mark.parametrize(
    "item",
    [
        {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"},
        {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {}},
        {"type": "tool_search_output", "call_id": None, "execution": "server", "tools": []},
    ],
    ids=lambda item: item["type"],
)
def test_the_providers_own_calls_are_noted(item: Record) -> None:
    events, problems, totals = read([Writer().line("response_item", **item), *Writer().typed("x")])
    assert events == ["turn x"]
    assert totals[0].calls == 0
    assert problems.counts == {"not_a_call": 1}
    assert problems.damaged == 0


CONTENTS = [
    '[{"type":"output_text","text":"a\\n\\u00e9"}]',
    '[{"text":"a"},{"text":"b"},{"type":"input_image","image_url":"data:x"}]',
    '[{"type":"odd","number":18446744073709551616,"zero":-0}]',
    '[{"text":["a",{"text":"b"}]},"c",[1],null]',
    '[{"content":"\\ud800"}]',
    '{"text":"a"}',
    '"text"',
    "[]",
    "null",
    "7",
    "123456789012345678901234567890",
]


@pytest.mark.parametrize("content", CONTENTS)
def test_the_text_of_a_message_is_that_of_its_content(content: str) -> None:
    w = Writer()
    line = encode([w.message("assistant", "?")]).replace(b'[{"type":"output_text","text":"?"}]', content.encode())
    events, _, _ = corpus.read_events(READER, encode([w.meta()]) + line)
    assert [event.text for event in events if isinstance(event, Batch)] == [decode_text(content.encode())]


def test_dynamic_tools_declare_schemas() -> None:
    w = Writer()
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    grouped = {"type": "namespace", "name": "app", "tools": [{"name": "fork", "inputSchema": schema}]}
    tools = [{"name": "plain", "inputSchema": schema}, grouped, 7]
    records = [w.meta(dynamic_tools=tools), w.call("call_abcdef", "{}", "fork", namespace="app")]
    _, problems, totals = read([*records, w.meta(dynamic_tools=tools)])
    assert totals[0].schemas == {"plain": schema, "app__fork": schema}
    assert totals[0].tools == {"app__fork": 1}
    assert not problems


# -- boundaries and conversations ----------------------------------------------------------


def _boundaries() -> Iterator[Any]:
    w = Writer()
    say = w.message("assistant", "ok")
    go = w.typed("go")
    compacted = w.line("compacted", message="", replacement_history=[w.call("call_abcdef")["payload"]])
    both = [compacted, w.event("context_compacted")]
    yield pytest.param([*go, say, *both, say], ["turn go", "[] ok", "compaction compacted", "[] ok"], id="compaction")
    item = w.item("compaction", encrypted_content="x")
    yield pytest.param([*go, say, item, *both], ["turn go", "[] ok", "compaction compacted"], id="compaction item")
    aborted = w.event("turn_aborted", reason="replaced")
    yield pytest.param([*go, aborted, aborted, say], ["turn go", "interrupt replaced", "[] ok"], id="interrupt")
    yield pytest.param([*go, w.event("turn_aborted")], ["turn go", "interrupt turn_aborted"], id="interrupt, no reason")
    back = w.event("thread_rolled_back", num_turns=2)
    yield pytest.param([*go, say, back], ["turn go", "[] ok", "clear thread_rolled_back 2"], id="rolled back")
    yield pytest.param([w.meta(), *go, w.meta(), say], ["turn go", "resume session_meta", "[] ok"], id="resume")
    fork = [w.meta("F", forked_from_id="P"), w.meta("P"), *go, say, w.meta("P"), say]
    yield pytest.param(fork, ["turn go", "[] ok", "resume session_meta", "[] ok"], id="fork")
    yield pytest.param([*go, w.meta(), say], ["turn go", "resume session_meta", "[] ok"], id="cut at the beginning")
    unanswered = [*go, w.call("call_abcdef"), aborted, *w.typed("stop")]
    expected = ["turn go", "[exec_command:-]", "interrupt replaced", "turn stop"]
    yield pytest.param(unanswered, expected, id="unanswered call")


@pytest.mark.parametrize(("records", "expected"), list(_boundaries()))
def test_boundaries(records: list[Record], expected: list[str]) -> None:
    events, _, totals = read(records)
    assert events == expected
    assert len(totals) == 1


def test_a_fork_is_named_by_its_own_meta() -> None:
    w = Writer()
    events, _, _ = corpus.read_events(READER, encode([w.meta("F"), w.meta("P"), *w.typed("x"), w.meta("P")]))
    assert {event.session for event in events} == {"F"}


def test_a_forks_copied_messages_count_although_their_times_are_equal() -> None:
    w = Writer()
    copied = [{**r, "timestamp": "2026-06-26T22:00:00.000Z"} for r in [*w.typed("go on"), w.message("assistant", "ok")]]
    events, _, _ = read([w.meta("F"), w.meta("P"), *copied, *copied])
    assert events.count("turn go on") == 2


def test_concatenated_rollouts_are_conversations_of_their_own() -> None:
    content = encode(early()) + encode(bare()) + encode(late())
    events, _, totals = corpus.read_events(READER, content)
    assert list(dict.fromkeys(event.session for event in events)) == ["B1", "A1", "C1"]
    assert [t.calls for t in totals] == [1, 2, 3]
    assert [t.turns for t in totals] == [1, 2, 1]


@pytest.mark.parametrize("name", GENERATIONS)
def test_a_repeated_file_changes_nothing(name: str) -> None:
    # Without ids and times, a repeated message is known for a copy only by the call that follows.
    records = BASES[name][: -1 if name == "bare" else None]
    once, twice = read(records)[2][0], read([*records, *records])[2][0]
    assert (twice.turns, twice.calls, twice.results) == (once.turns, once.calls, once.results)
    assert twice.input_tokens == once.input_tokens


@pytest.mark.parametrize("name", GENERATIONS)
def test_a_repeated_record_changes_nothing(name: str) -> None:
    records = BASES[name]
    expected = read(records)[0]
    for n in range(len(records)):
        assert read([*records[: n + 1], *records[n:]])[0] == expected, records[n]


# -- the copy of a parent's thread ---------------------------------------------------------------


def spawned(parent: str = "P", copied: int = 3) -> list[Record]:
    """A sub-agent's rollout that begins with its parent's records, all written at once."""
    child, other = Writer(), Writer()
    source = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    own = [child.meta("C", source=source)]
    copy = [other.meta(parent, source="cli"), *other.typed("Roll it out.")]
    for number in range(copied):
        copy += [other.call(f"p{number}"), other.output(f"p{number}")]
    at = own[0]["timestamp"]
    records = [*own, *({**record, "timestamp": at} for record in copy)]
    return [*records, *child.typed("Look at the log."), child.call("c1"), child.output("c1"), child.call("c2")]


def test_the_copy_of_a_parents_thread_is_left_out() -> None:
    records = spawned()
    events, problems, (totals,) = read(records)
    assert (totals.turns, totals.calls, totals.results) == (1, 2, 1)
    assert [event for event in events if "Look" in event]
    assert problems.counts == {"parents_copy": 1}
    assert "8 records" in problems.kept[0].message
    calls = [r for r in records if r["payload"].get("type") == "function_call"]
    assert len(calls) - totals.calls == 3


def test_a_fork_of_a_persons_own_thread_keeps_its_history() -> None:
    records = spawned()
    del records[0]["payload"]["source"]
    _, problems, (totals,) = read(records)
    assert (totals.turns, totals.calls) == (2, 5)
    assert "parents_copy" not in problems.counts


def test_a_sub_agents_thread_without_a_copy_is_whole() -> None:
    records = spawned(copied=0)
    _, problems, (totals,) = read([records[0], *records[4:]])
    assert (totals.turns, totals.calls) == (1, 2)
    assert not problems
