"""The OpenClaw guard: verdicts, warnings, and the refusal of whole responses."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Batch, Turn
from loopaudit.policies.contract import Context
from loopaudit.policies.guards.openclaw.guard import POLICY, OpenclawParams
from tests.policies.guard_streams import USER, C, events, replayed, said

READ = C("read", '{"a":1}', "x")
LS = C("ls", "{}", "y")


def decided(items: list[Any], params: Any = None, **settings: Any) -> list[tuple[str, str, int]]:
    guard = POLICY.start(params or OpenclawParams(), Context(**settings))
    found: list[tuple[str, str, int]] = []
    for event in events(items):
        if isinstance(event, Turn):
            guard.turn(event)
        elif isinstance(event, Batch):
            found += [(d.own_word, d.rule, d.count) for d in guard.judge(event)]
    return found


@pytest.mark.parametrize(
    ("items", "last"),
    [
        pytest.param([READ] * 10, None, id="ten are not yet in the window"),
        pytest.param([READ] * 11, ("warn", "generic_repeat", 10), id="the eleventh finds ten"),
        pytest.param([READ] * 21, ("block", "generic_repeat", 20), id="twenty equal outcomes"),
        pytest.param(
            [C("read", "{}", f"{n}") for n in range(21)], ("warn", "generic_repeat", 20), id="with other outcomes"
        ),
        pytest.param([READ, LS] * 5, ("warn", "ping_pong", 10), id="alternation"),
        pytest.param([READ, LS] * 10, ("block", "ping_pong", 20), id="in vain"),
        pytest.param(
            [c for n in range(10) for c in (READ._replace(output=f"{n}"), LS)],
            ("warn", "ping_pong", 20),
            id="not in vain",
        ),
        pytest.param([C("command_status", "{}", "x")] * 11, ("warn", "known_poll_no_progress", 10), id="a poll"),
        pytest.param(
            [C("command_status", "{}", f"{n}") for n in range(25)], None, id="a poll that shows something new"
        ),
        pytest.param([C("process", '{"action":"log"}', "x")] * 21, ("block", "known_poll_no_progress", 20), id="a log"),
        pytest.param(
            [C("read", f'{{"n":{n}}}', "", "Unknown tool: x") for n in range(11)],
            ("block", "unknown_tool_repeat", 10),
            id="an unknown tool",
        ),
        pytest.param(
            [C("read", f'{{"n":{n % 3}}}', "", "no") for n in range(13)], ("warn", "argument_churn", 10), id="churn"
        ),
        pytest.param(
            [C("write", f'{{"n":{n % 3}}}', "same") for n in range(13)], ("warn", "argument_churn", 10), id="writes"
        ),
        pytest.param([C("write", f'{{"n":{n % 3}}}', "ok") for n in range(13)], None, id="writes that do something"),
        pytest.param(
            [C("exec", f'{{"n":{n}}}', "", f"failed, attempt {n}") for n in range(21)],
            ("block", "generic_repeat", 20),
            id="commands that fail alike",
        ),
        pytest.param([C("read", "{}", None)] * 25, ("warn", "generic_repeat", 20), id="calls without result"),
    ],
)
def test_verdicts(items: list[Any], last: tuple[str, str, int] | None) -> None:
    found = decided(items)
    assert (found[-1] if found else None) == last


def test_a_run_begins_with_a_persons_message() -> None:
    assert decided([*[READ] * 10, USER, *[READ] * 10]) == []
    assert decided([*[READ] * 10, USER, *[READ] * 11]) == [("warn", "generic_repeat", 10)]


def test_the_window_forgets() -> None:
    others = [C("ls", f'{{"n":{n}}}') for n in range(20)]
    assert decided([*[READ] * 10, *others, READ]) == [("warn", "generic_repeat", 10)]
    assert decided([*[READ] * 10, *others, LS, READ]) == []


def test_a_warning_is_given_once_for_each_ten() -> None:
    changing = [C("read", "{}", f"{n}") for n in range(40)]
    assert decided(changing) == [
        ("warn", "generic_repeat", 10),
        ("warn", "generic_repeat", 20),
        ("warn", "generic_repeat", 30),
    ]
    assert decided([*changing, USER, *changing]) == decided(changing) * 2


def test_the_pair_of_a_ping_pong_is_warned_of_once() -> None:
    assert decided([READ, LS] * 6) == [("warn", "ping_pong", 10)]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([READ] * 23, [*["."] * 10, "warn", *["."] * 9, "block", "halt", "."], id="the second one ends it"),
        pytest.param(
            [*[READ] * 20, [LS, READ, LS], LS],
            [*["."] * 10, "warn", *["."] * 9, "block", "block", "block", "."],
            id="the whole response is refused",
        ),
        pytest.param(
            [*[READ] * 20, [READ, LS], USER, READ, READ],
            [*["."] * 10, "warn", *["."] * 9, "block", "block", ".", "."],
            id="a new run",
        ),
    ],
)
def test_refusals(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


def test_only_the_call_at_fault_is_remembered_of_a_refused_response() -> None:
    items = [*[READ] * 20, [LS, READ]]
    guard = POLICY.start(OpenclawParams(), Context())
    for event in events(items):
        assert isinstance(event, Batch)
        guard.judge(event)
    assert decided([*items, *[LS] * 10]) == decided(items), "its ten places were free"
    found = decided([*items, READ])
    assert found[-1] == ("halt", "generic_repeat", 21), "the veto counts"


def test_calls_of_one_response_are_taken_for_vetoes_of_each_other() -> None:
    assert decided([[READ] * 11]) == [("warn", "generic_repeat", 10)]
    batch = decided([[READ] * 22])
    assert batch.count(("block", "batch", 0)) == 21
    assert ("block", "generic_repeat", 20) in batch


def test_counts_of_refused_calls() -> None:
    result = replayed(POLICY, events([*[READ] * 20, [LS, READ, LS], [READ, LS], READ]))
    assert (result.blocked_calls, result.avoided_calls) == (4, 1)
    assert [f.own_word for f in result.findings] == ["warn", "block", "block", "block", "halt", "block"]


def test_shadow_mode_runs_everything() -> None:
    words = said(POLICY, [[READ] for _ in range(24)], enforced=False)
    assert words == [*["."] * 10, "warn", *["."] * 9, "block", "halt", "halt", "halt"]
    mixed = decided([*[READ] * 20, [LS, READ], *[READ] * 2], enforced=False)
    assert mixed[-1] == ("halt", "generic_repeat", 22)


def test_the_circuit_breaker_needs_other_settings() -> None:
    params = OpenclawParams(critical_threshold=100, history_size=40)
    assert decided([READ] * 31, params)[-1] == ("block", "global_circuit_breaker", 30)


@pytest.mark.parametrize("threshold", [2, 3, 4, 5, 7])
def test_low_thresholds(threshold: int) -> None:
    params = OpenclawParams(warning_threshold=threshold)
    calls = [READ, LS] * 5
    guard = POLICY.start(params, Context())
    counts = []
    for event in events(calls):
        assert isinstance(event, Batch)
        counts += [d.count for d in guard.judge(event)]
    assert counts == [10], "a warning is still one for each ten"
    critical = OpenclawParams(critical_threshold=threshold, warning_threshold=100)
    assert decided([READ] * (threshold + 1), critical) == [("block", "generic_repeat", threshold)]
    pair = decided(calls, critical)
    assert pair[0] == ("block", "ping_pong", max(threshold, 3)) or pair[0] == ("block", "generic_repeat", threshold)


def test_the_oldest_subjects_of_warnings_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    # The longest history that may be chosen holds the calls of all subjects.
    monkeypatch.setattr("loopaudit.policies.guards.openclaw.guard.WARNINGS_KEPT", 50)
    guard = POLICY.start(OpenclawParams(history_size=1000), Context())

    def warnings(subject: int, calls: int) -> int:
        batch = events([[C("read", f'{{"n":{subject}}}', f"{n}") for n in range(calls)]])[0]
        assert isinstance(batch, Batch)
        return len(list(guard.judge(batch)))

    assert [warnings(subject, 11) for subject in range(60)] == [1] * 60
    assert warnings(59, 1) == 0
    assert warnings(0, 1) == 1


def test_a_shell_of_another_host_is_known_by_its_kind() -> None:
    failing = [C("Bash", f'{{"command":"make {n}"}}', "", f"failed, attempt {n}") for n in range(21)]
    assert said(POLICY, failing)[-1] == "block"
