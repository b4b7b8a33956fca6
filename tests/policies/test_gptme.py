"""The gptme guard: runs of equal responses, nudges counted from the log, likely causes."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.findings import Decision
from loopaudit.policies.guards.gptme import POLICY, GptmeParams, likely_cause
from tests.policies.guard_streams import USER, C, call, events, replayed, said

A, B = C("read", '{"a":1}'), C("read", '{"a":2}')


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([A] * 5, [".", ".", ".", "/nudge", ".", "/nudge", ".", "/halt"], id="nudges and the end"),
        pytest.param([A, A, B, A], ["."] * 4, id="another call"),
        pytest.param([A, A, "hm", A], ["."] * 3, id="a reply"),
        pytest.param([A, A, USER, A], [".", ".", ".", "/nudge"], id="a person's message does not interrupt"),
        pytest.param(
            [*[A] * 4, USER, *[A] * 3],
            [".", ".", ".", "/nudge", ".", "/nudge", ".", "/nudge", ".", "/nudge", ".", "/halt"],
            id="but forgets the nudges",
        ),
        pytest.param([[A, B], [B, A], [A, B]], ["."] * 6 + ["/nudge"], id="order does not matter"),
        pytest.param([[A, A], [A], [A, A]], ["."] * 5, id="number does"),
        pytest.param([A, A._replace(arguments=' {"a":1}\n'), A], [".", ".", ".", "/nudge"], id="outer white space"),
        pytest.param([A, A._replace(arguments='{"a": 1}'), A], ["."] * 3, id="inner white space"),
        pytest.param([C("run", " ls -l"), C("run", "ls -l "), C("run", "ls -l")], ["."] * 3 + ["/nudge"], id="no JSON"),
        pytest.param([A._replace(output=None)] * 3, [".", ".", ".", "/nudge"], id="results do not matter"),
    ],
)
def test_runs(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


def test_the_tool_format_ignores_arguments() -> None:
    params = GptmeParams(**POLICY.variants["tool-format"])
    assert said(POLICY, [A, B, C("read", "x")], params) == [".", ".", ".", "/nudge"]
    assert said(POLICY, [A, B, C("ls")], params) == ["."] * 3


def test_a_nudge_just_before_a_new_run_counts_for_it() -> None:
    """The walk back through the log meets the last nudge before it meets the other responses."""
    then = [*[A] * 3, *[B] * 4]
    assert said(POLICY, then) == [".", ".", ".", "/nudge", ".", ".", ".", "/nudge", ".", "/halt"]
    assert said(POLICY, [*[A] * 3, USER, *[B] * 4])[-2:] == [".", "/nudge"]
    assert said(POLICY, [*[A] * 3, "hm", *[B] * 4])[-2:] == [".", "/nudge"]


def test_an_interactive_session_is_never_ended() -> None:
    expected = [".", ".", ".", "/nudge", ".", "/nudge", ".", "."]
    assert said(POLICY, [A] * 6, GptmeParams(interactive=True)) == expected


def test_parameters() -> None:
    assert said(POLICY, [A] * 3, GptmeParams(repeat_threshold=2, escalate_max=1)) == [".", ".", "/nudge", ".", "/halt"]
    with pytest.raises(ValueError, match="tool_format: 'xml' is none of"):
        GptmeParams(tool_format="xml")  # type: ignore[arg-type]


def test_shadow_mode_goes_on_ending() -> None:
    assert said(POLICY, [A] * 6, enforced=False)[-4:] == [".", "/halt", ".", "/halt"]


@pytest.mark.parametrize(
    ("outputs", "cause"),
    [
        (["Permission denied"], "permission-denied"),
        (["Error: not authorized"], "permission-denied"),
        (["permission Denied"], "unknown"),
        (["exit code: 2"], "tool-error"),
        (["exit code 0"], "unknown"),
        (["exit status", "1"], "unknown"),
        (["1", "exit status"], "tool-error"),
        (["ModuleNotFoundError : no module named x"], "tool-error"),
        (["a ValueErrors b"], "tool-error"),
        ([" abcd "], "empty-result"),
        (["abcde"], "unknown"),
        (["ab", "cd"], "unknown"),
        (["found 10 matches"], "empty-result"),
        (["no match found"], "unknown"),
        (["No matches found"], "empty-result"),
        (["", "Traceback (most recent call last):"], "tool-error"),
        ([], "unknown"),
        ([None, None], "unknown"),
    ],
)
def test_likely_causes(outputs: list[str | None], cause: str) -> None:
    """The results are read newest first, as one text."""
    assert likely_cause([call(C("run", "{}", output)) for output in outputs]) == cause


def test_the_error_text_of_a_failure_is_read() -> None:
    assert likely_cause([call(C("run", "{}", "all is well", "EACCES"))]) == "permission-denied"
    assert likely_cause([call(C("run", "{}", "EACCES", True))]) == "permission-denied"


def test_a_nudge_names_the_cause() -> None:
    failing = [C("run", "{}", "", "boom: command not found")] * 3
    (finding,) = replayed(POLICY, events(failing)).findings
    assert finding.details == {"reason": "tool-error"}
    assert "tool-error" in finding.message
    assert "cause:" not in POLICY.message(Decision(finding.action, "stuck", -1, 3, "nudge"))
