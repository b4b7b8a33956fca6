"""What holds for every policy, whatever it imitates."""

from __future__ import annotations

import sys
import time
from collections import deque
from contextlib import ExitStack
from statistics import median
from typing import Any, cast, get_args
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopaudit.audit.engine import Replay
from loopaudit.config.selection import make_params, select
from loopaudit.core.bounded import Recent
from loopaudit.core.counts import Totals
from loopaudit.core.events import (
    SLICE,
    TEXT,
    TOKEN_LIMIT,
    VALUE,
    Batch,
    Boundary,
    BoundaryKind,
    Call,
    Event,
    Result,
    Turn,
)
from loopaudit.core.findings import Action, Decision, Finding
from loopaudit.core.report import PolicyResult
from loopaudit.policies.contract import Context, Guard, Mode, Params, Policy, Selected
from loopaudit.policies.registry import policies
from tests.policies.guard_streams import USER, C, call, context_for, events, findings, replayed, streams

pytestmark = pytest.mark.usefixtures("untraced")

MODULES = policies().module_names()
CANONICAL = ("atomcode", "zagens", "moltis")
"""Policies that compare arguments as JSON values, number for number."""

every_policy = pytest.mark.parametrize("name", MODULES)
few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@every_policy
@few
@given(items=streams, cut=st.integers(0, 60))
def test_what_comes_later_changes_nothing(name: str, items: list[Any], cut: int) -> None:
    policy = policies().load(name)
    whole = findings(policy, events(items))
    prefix = findings(policy, events(items[:cut]))
    assert whole[: len(prefix)] == prefix


@every_policy
@few
@given(ours=streams, theirs=streams, data=st.data())
def test_agents_do_not_see_each_other(name: str, ours: list[Any], theirs: list[Any], data: st.DataObject) -> None:
    policy = policies().load(name)
    alone = {"": findings(policy, events(ours)), "sub": findings(policy, events(theirs, "sub"))}
    left, right = deque(events(ours)), deque(events(theirs, "sub"))
    mixed: list[Event] = []
    while left or right:
        take_left = bool(left) and (not right or data.draw(st.booleans()))
        mixed.append((left if take_left else right).popleft())
    together = findings(policy, mixed)
    for agent, expected in alone.items():
        assert [f for f in together if f.agent == agent] == expected


@every_policy
@few
@given(items=streams)
def test_modes_agree_until_something_is_refused(name: str, items: list[Any]) -> None:
    policy = policies().load(name)
    enforced = findings(policy, events(items))
    shadow = findings(policy, events(items), "shadow")
    assert bool(enforced) == bool(shadow)

    def acts(finding: Finding) -> bool:
        return finding.action.refuses or finding.action == Action.STOP

    def plain(found: list[Finding]) -> list[tuple[int, Action, str]]:
        # Not the count: some guards count a refused call at once, as what they made of it.
        return [(f.call, f.action, f.rule) for f in found]

    first = next((f for f in enforced if acts(f)), None)
    until = first.batch if first is not None else 1 << 30
    assert plain([f for f in enforced if f.batch < until]) == plain([f for f in shadow if f.batch < until])
    if first is not None:
        # In the batch itself the refusal may be followed, or led, by what the guard makes of it: to some,
        # among them DeepSeek-TUI, a refused attempt is a failure, which may be the one that is warned of.
        assert (first.call, first.action, first.rule) in plain([f for f in shadow if f.batch == until])


@every_policy
@few
@given(items=streams)
def test_shadow_mode_avoids_nothing(name: str, items: list[Any]) -> None:
    result = replayed(policies().load(name), events(items), "shadow")
    assert (result.blocked_calls, result.avoided_calls) == (0, 0)
    assert result.judged_calls == sum(len(e.calls) for e in events(items) if isinstance(e, Batch))


@every_policy
@few
@given(items=streams)
def test_findings_name_their_place(name: str, items: list[Any]) -> None:
    policy = policies().load(name)
    stream = events(items)
    numbers = {c.number for e in stream if isinstance(e, Batch) for c in e.calls}
    result = replayed(policy, stream)
    assert result.judged_calls <= len(numbers) <= result.judged_calls + result.avoided_calls
    for finding in result.findings:
        assert finding.rule in policy.rules
        assert finding.own_word
        assert finding.message.strip()
        assert finding.call in numbers or finding.calls == (0, 0)


def in_blocks(policy: Policy, stream: list[Event], mode: Mode, cuts: set[int], params: Params) -> PolicyResult:
    replay = Replay([Selected(policy.id, policy, params)], mode=mode)
    for place, event in enumerate(stream):
        replay.feed(event)
        if place in cuts:
            replay.flush()
    return replay.finish(Totals(calls=1, results=1, success_known=True))[0]


@every_policy
@few
@given(items=streams, cuts=st.sets(st.integers(0, 60), max_size=5), mode=st.sampled_from(["enforced", "shadow"]))
def test_who_reads_only_calls_may_be_spared_all_else(name: str, items: list[Any], cuts: set[int], mode: Mode) -> None:
    policy = policies().load(name)
    if not getattr(policy.start, "calls_only", False):
        return
    stream = events(items)
    for values in ({}, *policy.variants.values()):
        params = policy.params(**values)
        spared = in_blocks(policy, stream, mode, cuts, params)
        with patch.object(policy.start, "calls_only", new=False):
            assert spared == in_blocks(policy, stream, mode, cuts, params)


quiet = st.lists(
    st.one_of(
        st.builds(Turn, st.just("s"), st.just(""), st.text(max_size=9), st.just(1)),
        st.builds(Batch, st.just("s"), st.just(""), st.just(0), st.just([]), st.sampled_from(("", "so", "so so"))),
        st.builds(Boundary, st.just("s"), st.just(""), st.sampled_from(get_args(BoundaryKind))),
    ),
    max_size=40,
)
"""What may stand before an agent's first call."""


@pytest.mark.parametrize("name", [one.policy.id for one in select(["all"]) if one.waits])
@settings(max_examples=15, deadline=None)
@given(before=quiet, items=streams, data=st.data())
def test_who_waits_for_a_call_needs_nothing_before_it(
    name: str, before: list[Event], items: list[Any], data: st.DataObject
) -> None:
    policy = policies().get(name)
    params = make_params(policy, data.draw(st.sampled_from([{}, *policy.variants.values()])))
    stream = [*before, *events(items)]
    late = in_blocks(policy, stream, "enforced", set(range(len(stream))), params)
    early = Replay([Selected(policy.id, policy, params)])
    early.guards("")  # starts it
    for event in stream:
        early.feed(event)
    assert late == early.finish(Totals(calls=1, results=1, success_known=True))[0]


@pytest.mark.parametrize("name", ["atomcode", "moltis"])
def test_a_policy_that_extends_a_guard_sees_what_that_is_spared(name: str) -> None:
    built_in = policies().load(name)
    assert isinstance(built_in.start, type)
    seen: list[str] = []

    def judge(guard: Guard, batch: Batch) -> list[Decision]:
        if not batch.calls:
            seen.append(batch.text)
        return []

    own = msgspec.structs.replace(
        built_in, id="talkative", start=type("Talkative", (built_in.start,), {"judge": judge})
    )
    reply = Batch("s", "", 0, [], "All done.")
    replay = Replay([Selected("talkative", own, own.params())])
    replay.feed(reply)
    replay.finish(Totals())
    assert seen == ["All done."]


def test_a_guard_is_started_when_it_may_have_something_to_say() -> None:
    started: list[str] = []

    def noting(start: type[Guard]) -> Any:
        def init(guard: Guard, params: Any, context: Context, real: Any = start.__init__) -> None:
            started.append(start.__name__)
            real(guard, params, context)

        return patch.object(start, "__init__", init)

    selected = select(["atomcode", "iteration-cap", "moltis"])
    replay = Replay(selected)
    with ExitStack() as stack:
        for one in selected:
            stack.enter_context(noting(cast("type[Guard]", one.policy.start)))
        for event in events([USER, "hello"]):
            replay.feed(event)
        replay.flush()
        assert started == ["IterationCapGuard"]
        for event in events([USER, C("read")]):
            replay.feed(event)
        replay.flush()
    assert started == ["IterationCapGuard", "AtomcodeGuard", "MoltisGuard"]
    assert [type(guard).__name__ for guard, _ in replay.guards("")] == [
        "AtomcodeGuard",
        "IterationCapGuard",
        "MoltisGuard",
    ]


# -- spellings -----------------------------------------------------------------------------


def spelled(value: Any, style: int) -> str:
    """JSON text of a value in one of many spellings; ``style`` picks key order, space and escapes."""
    if isinstance(value, dict):
        items = sorted(value.items(), reverse=bool(style & 1))
        comma, colon = (" ,\n", "\t: ") if style & 2 else (",", ":")
        return "{" + comma.join(spelled(k, style) + colon + spelled(v, style) for k, v in items) + "}"
    if isinstance(value, list):
        return "[" + (", " if style & 2 else ",").join(spelled(v, style) for v in value) + "]"
    if isinstance(value, str) and style & 4:
        return '"' + "".join(f"\\u{ord(c):04x}" for c in value) + '"'
    return msgspec.json.encode(value).decode()


values = st.recursive(
    st.sampled_from([None, True, 1, 1.5, "", "x", "é/"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=4,
)
objects = st.dictionaries(st.sampled_from("abc"), values, min_size=1, max_size=3)


def restyled(parts: list[Any], styles: list[int]) -> list[Any]:
    style = iter(styles * 200)
    out: list[Any] = []
    for name, value, failed, times in parts:
        out += [C(name, spelled(value, next(style)), "out", "boom" if failed else None) for _ in range(times)]
    return out


spelling_parts = st.lists(
    st.tuples(st.sampled_from(["read", "edit_file"]), objects, st.booleans(), st.integers(1, 4)), max_size=6
)


@pytest.mark.parametrize("name", CANONICAL)
@settings(max_examples=100, deadline=None)
@given(parts=spelling_parts, styles=st.lists(st.integers(0, 7), min_size=1, max_size=9))
def test_spelling_of_arguments_does_not_matter(name: str, parts: list[Any], styles: list[int]) -> None:
    policy = policies().load(name)

    def decided(items: list[Any]) -> list[Any]:
        return [(f.action, f.rule, f.count, f.call) for f in findings(policy, events(items))]

    assert decided(restyled(parts, styles)) == decided(restyled(parts, [0]))


def test_spelling_matters_where_text_is_compared() -> None:
    policy = policies().get("koda")
    same = [C("read", '{"a":1,"b":2}')] * 5
    spaced = [C("read", spelled({"a": 1, "b": 2}, style)) for style in (0, 1, 2, 3, 0)]
    assert findings(policy, events(same))
    assert not findings(policy, events(spaced))


# -- hostile streams -----------------------------------------------------------------------


def recorded(form: int, source: Any, result: Result | None) -> Call:
    made = call(C("read"), 1)
    made.form, made.source, made.result = form, source, result
    return made


def failure(**fields: Any) -> Result:
    return Result("no", True, "error", "flag", **fields)


LONG = "x" * (TOKEN_LIMIT + 10)
DEEP = "[" * 127 + "]" * 127
WEIRD: list[tuple[Any, ...]] = [
    (C("read", "", None),),
    (C("", "\x00", ""),),
    (C("bad \ud800 name", '{"a":"\\ud800"}', "out \udfff"),),
    (C("bad \ud800 name", "lone \ud83d", "out", "lone \udfff"),),
    (C("read", DEEP), C("read", "[" + DEEP + "]"), C("read", DEEP.replace("[", '{"a":').replace("]", "}"))),
    (C("read", "null"), C("read", "5"), C("read", '"text"'), C("read", "[]"), C("read", "NaN")),
    (C("edit_file", '{"a":1e308}', "", ""), C("edit_file", '{"a":-0}', "", True)),
    (C("x" * 5000, '{"a":"' + LONG + '"}', LONG), C("x" * 5000, LONG, LONG, LONG)),
    (C("mcp__a:b__c/d", '{"":{"":[]}}', "\x1b[31m\r\n::error::"),),
    (),
]
FORMS: list[tuple[int, Any, Result | None]] = [
    (SLICE, b'{"a":"\\ud800"}', Result(b'"\\ud800"')),
    (SLICE, b"{broken", Result(b"[broken")),
    (SLICE, b'{"a":1}', failure(error_source=LONG, has_error=True)),
    (VALUE, None, failure(has_error=False)),
    (VALUE, {"a": float("nan"), "b": "\ud800"}, failure(has_error=True)),
    (VALUE, {"a": {"b": [LONG]}}, Result(b'[{"type":"image","data":"AAAA"}]')),
    (VALUE, 10**30, Result(b'"' + LONG.encode() + b'"')),
    (VALUE, [[]], None),
    (TEXT, '{"command":"view"}', Result("", False, "cancelled")),
]


@every_policy
@pytest.mark.parametrize("mode", ["enforced", "shadow"])
@few
@given(picks=st.lists(st.tuples(st.integers(0, len(WEIRD) + len(FORMS)), st.integers(1, 7)), max_size=8))
def test_nothing_recorded_crashes_a_guard(name: str, mode: Mode, picks: list[tuple[int, int]]) -> None:
    stream: list[Event] = []
    for pick, times in picks:
        for _ in range(times):
            if pick == len(WEIRD) + len(FORMS):
                stream.append(Turn("s", "", "\ud800", 1))
            elif pick < len(WEIRD):
                stream += events([list(WEIRD[pick])])
            else:
                stream.append(Batch("s", "", 1, [recorded(*FORMS[pick - len(WEIRD)])], "said \ud800"))
    result = replayed(policies().load(name), stream, mode)
    assert result.status == "evaluated", result.reasons


@every_policy
def test_every_weird_call_alone(name: str) -> None:
    policy = policies().load(name)
    for weird in WEIRD:
        assert replayed(policy, events([list(weird)] * 12)).status == "evaluated", weird
    for form in FORMS:
        stream = [Batch("s", "", i, [recorded(*form)], LONG) for i in range(12)]
        assert replayed(policy, stream).status == "evaluated", form


# -- memory and time -----------------------------------------------------------------------

STRETCHES = 10
SMALL_CAP = 1_024
"""Keys per generation in this test, so that rare events, too, have filled every map by half-time."""


def footprint(root: Any) -> int:
    """Bytes of everything that an object holds, shared parts once."""
    seen: set[int] = set()
    waiting = [root]
    total = 0
    while waiting:
        item = waiting.pop()
        if (
            id(item) in seen
            or isinstance(item, (type, Context, Params))
            or (callable(item) and not hasattr(item, "mapped"))
        ):
            continue
        seen.add(id(item))
        total += sys.getsizeof(item)
        if isinstance(item, dict):
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, (list, tuple, set, frozenset, deque)):
            waiting += item
        elif not isinstance(item, (str, bytes, int, float, type(None))):
            waiting += [getattr(item, field) for field in getattr(item, "__struct_fields__", ())]
            waiting += getattr(item, "__dict__", {}).values()
            slots = [s for kind in type(item).__mro__ for s in getattr(kind, "__slots__", ())]
            waiting += [getattr(item, slot) for slot in slots if hasattr(item, slot)]
    return total


def endless(start: int, calls: int, busy: bool) -> list[Batch]:
    """A stretch of a turn in which nothing repeats: new calls, some new tools, new outputs.

    A *busy* turn also runs commands and edits, and a fifth of it fails.
    """
    made = []
    for i in range(start, start + calls):
        tool = f"tool_{i}" if i % 5 == 0 else ("read", "Bash", "edit_file")[i % 3 if busy else 0]
        result = Result(f"output {i}", busy and i % 5 == 1)
        result.has_error = result.failed
        fresh = Call(f"c{i}", i, tool, TEXT, f'{{"a":{i}}}', i.to_bytes(16, "big"), True, result)
        made.append(Batch("s", "", i, [fresh], f"step {i}"))
    return made


@pytest.mark.slow
@every_policy
@pytest.mark.parametrize(("busy", "calls"), [(False, 200_000), (True, 40_000)], ids=["quiet", "busy"])
def test_an_endless_turn_costs_bounded_memory_and_steady_time(
    name: str, busy: bool, calls: int, monkeypatch: pytest.MonkeyPatch, untraced: None
) -> None:
    make = Recent.__init__
    monkeypatch.setattr(Recent, "__init__", lambda self, cap=None: make(self, SMALL_CAP))
    monkeypatch.setattr("loopaudit.core.tools.NAMES_KEPT", SMALL_CAP)
    policy = policies().load(name)
    guard = policy.start(policy.params(), context_for(policy))
    sizes = []
    seconds = []
    for start in range(0, calls, calls // STRETCHES):
        batches = endless(start + 1, calls // STRETCHES, busy)
        before = time.process_time()
        for batch in batches:
            for decision in guard.judge(batch):
                if decision.action == Action.STOP:
                    guard.turn(Turn("s", "", "go on"))
        seconds.append(time.process_time() - before)
        sizes.append(footprint(guard))
    half = len(seconds) // 2
    assert max(sizes[half:]) <= 1.5 * max(sizes[:half]) + 50_000, sizes
    assert median(seconds[half:]) <= 4 * median(seconds[:half]) + 0.05, seconds
