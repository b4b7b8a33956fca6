"""Builds event streams for guards from plain values, by hand and with Hypothesis, and runs guards on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from hypothesis import strategies as st

from loopaudit.audit.engine import Replay
from loopaudit.core.canonical import NOT_JSON, call_key, parse, text_key
from loopaudit.core.counts import Totals
from loopaudit.core.events import TEXT, Batch, Call, Event, Result, Turn
from loopaudit.core.findings import Finding
from loopaudit.core.report import PolicyResult
from loopaudit.core.tools import translator
from loopaudit.policies.contract import Context, Mode, Policy, Selected
from loopaudit.testing import words

SCHEMAS: dict[str, Any] = {
    "read": {"type": "object", "required": ["a"], "properties": {"a": {"type": ["string", "integer"]}}},
    "edit_file": {"required": ["a"], "properties": {"a": {"type": "integer"}}},
}


class C(NamedTuple):
    """A call: ``output`` is ``None`` for a call without a result; a non-null ``error`` marks a
    failure, with that text or, where it is ``True``, without any."""

    name: str
    arguments: str = "{}"
    output: str | None = "ok"
    error: str | bool | None = None


USER = "user"
"""A person's message in the items of :func:`events`."""


def call(given: C, number: int = 1) -> Call:
    value = parse(given.arguments)
    key = text_key(given.name, given.arguments) if value is NOT_JSON else call_key(given.name, value)
    made = Call(f"c{number}", number, given.name, TEXT, given.arguments, key, value is not NOT_JSON)
    if given.output is not None:
        failed = given.error is not None
        made.result = Result(given.output, failed, "error" if failed else "ok", "flag" if failed else None)
        made.result.has_error = isinstance(given.error, str)
        made.result.error_source = given.error if isinstance(given.error, str) else None
    return made


def events(items: Iterable[Any], agent: str = "") -> list[Event]:
    """Events of one agent. An item is a call (a batch of its own), a list of calls, the text of a
    reply without calls, or :data:`USER`."""
    made: list[Event] = []
    number = batches = 0
    for line, item in enumerate(items, 1):
        if item == USER:
            made.append(Turn("s", agent, f"message {line}", line))
            continue
        batches += 1
        calls = []
        text = item if isinstance(item, str) else ""
        for given in [item] if isinstance(item, C) else ([] if text else item):
            number += 1
            calls.append(call(given, number))
        made.append(Batch("s", agent, batches, calls, text, line=line))
    return made


def batches(items: Iterable[Any], agent: str = "") -> list[Batch]:
    """The batches among :func:`events`."""
    return [event for event in events(items, agent) if isinstance(event, Batch)]


def context_for(policy: Policy, **settings: Any) -> Context:
    """A context with the policy's own vocabulary, as in a normal run."""
    return Context(tool=translator(policy.vocabulary, by_kind=True), **settings)


def said(policy: Policy, items: Iterable[Any], params: Any = None, **settings: Any) -> list[str]:
    """What the guard says about a stream, see :func:`loopaudit.testing.words`. ``settings`` are those of a context."""
    return words(policy, events(items), params or policy.params(), context_for(policy, **settings))


def replayed(policy: Policy, stream: Iterable[Event], mode: Mode = "enforced", params: Any = None) -> PolicyResult:
    """A policy's result on a recording that lacks nothing."""
    selected = Selected(policy.id, policy, params or policy.params())
    replay = Replay([selected], mode=mode, schemas=SCHEMAS)
    for event in stream:
        replay.feed(event)
    return replay.finish(Totals(calls=1, results=1, success_known=True, schemas=SCHEMAS))[0]


def findings(policy: Policy, stream: Iterable[Event], mode: Mode = "enforced") -> list[Finding]:
    result = replayed(policy, stream, mode)
    assert result.status == "evaluated", result.reasons
    return result.findings


NAMES = ("read", "edit_file", "Bash", "TodoWrite", "mcp:fs")
ARGUMENTS = ('{"a":1}', '{"a":"x"}', '{"a":1.0,"b":[null]}', "{}", "not json", '{"a":"x\\",\\"b\\":\\"y"}')

calls = st.builds(
    C,
    st.sampled_from(NAMES),
    st.sampled_from(ARGUMENTS),
    st.sampled_from(("ok", "ok", "other", "", None)),
    st.sampled_from((None, None, "boom", "", True)),
)

repeated = st.tuples(calls, st.integers(1, 9)).map(lambda pair: [pair[0]] * pair[1])
"""The same call several times: streams that never repeat would never make a guard speak."""

stretches = st.one_of(
    repeated,
    repeated.map(lambda run: [[c] for c in run]),
    st.lists(calls, max_size=4).map(lambda batch: [batch]),
    st.just([USER]),
    st.sampled_from([["thinking"], ["a longer reply without calls"]]),
)

streams = st.lists(stretches, max_size=14).map(lambda parts: [item for part in parts for item in part])
"""Items for :func:`events`."""
