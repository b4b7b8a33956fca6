"""The moltis guard: windows of failures, their stages, and rejected arguments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.audit.engine import Replay
from loopaudit.core.canonical import dump
from loopaudit.core.counts import Totals
from loopaudit.core.events import TOKEN_LIMIT, Batch
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import Context, Selected
from loopaudit.policies.guards.moltis.failures import spell
from loopaudit.policies.guards.moltis.guard import POLICY, MoltisParams
from tests.policies.guard_streams import USER, C, call, context_for, events, findings, said

BOOM = C("run", '{"a":1}', "", "boom")
OTHER = C("run", '{"a":2}', "", "other")
GOOD = C("ls")


def boom(arguments: str, error: str | bool = "boom", tool: str = "run") -> C:
    return C(tool, arguments, "", error)


@pytest.mark.parametrize(
    ("changed", "items", "expected"),
    [
        ({}, [BOOM] * 3, [*["."] * 3, "/nudge"]),
        ({}, [BOOM] * 2, ["."] * 2),
        ({"window": 4}, [BOOM] * 3, ["."] * 3),
        ({"window": 2}, [BOOM] * 3, [".", ".", "/nudge", ".", "/strip"]),
        ({"window": 1}, [BOOM, OTHER, BOOM], [".", "/nudge", ".", "/strip", ".", "/nudge"]),
        ({"window": 0}, [BOOM] * 9, ["."] * 9),
        ({}, [BOOM] * 4, [*["."] * 3, "/nudge", ".", "/strip"]),
        ({"strip_on_second_fire": False}, [BOOM] * 9, [*["."] * 3, "/nudge", *["."] * 6]),
        ({}, [BOOM] * 8, [*["."] * 3, "/nudge", ".", "/strip", *["."] * 3, "/nudge", ".", "/strip"]),
    ],
)
def test_thresholds(changed: dict[str, Any], items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items, MoltisParams(**changed)) == expected


NUDGE = [*["."] * 3, "/nudge"]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([boom("{}"), boom('{"b":1}'), boom("[]")], NUDGE, id="one error, any arguments"),
        pytest.param([boom("{}", "x"), boom("{}", "y"), boom("{}", True)], NUDGE, id="one call, any error"),
        pytest.param([boom("{}", "x"), boom("{}", "y"), boom("[]", "y")], ["."] * 3, id="not neighbour by neighbour"),
        pytest.param([boom("1", ""), boom("2", ""), boom("3", "")], NUDGE, id="an empty error is an error"),
        pytest.param([boom("1", True), boom("2", True), boom("3", True)], ["."] * 3, id="none is none"),
        pytest.param([boom("1", True), boom("2", ""), boom("3", "")], ["."] * 3, id="and is not the empty one"),
        pytest.param([boom("1", tool="a"), boom("1", tool="b"), boom("1", tool="a")], ["."] * 3, id="one tool only"),
        pytest.param([boom("no"), boom("{}", "x"), boom("{bad", "y")], NUDGE, id="no JSON is {}"),
        pytest.param(
            [boom('{"a":"x\\",\\"b\\":\\"y"}', "1"), boom('{"b":"y","a":"x"}', "2"), boom('{"a":"x","b":"y"}', "3")],
            NUDGE,
            id="quotes are not escaped",
        ),
        pytest.param([boom('{"a":1}', "x"), boom('{"a":1.0}', "y"), boom('{"a":1}', "z")], ["."] * 3, id="1 is no 1.0"),
        pytest.param([BOOM, BOOM, GOOD, BOOM, BOOM], ["."] * 5, id="a success of any tool"),
        pytest.param([*[BOOM] * 3, GOOD, *[BOOM] * 3], [*NUDGE, ".", *NUDGE], id="also forgets the nudge"),
        pytest.param([BOOM, BOOM, USER, BOOM], ["."] * 3, id="a person's message"),
        pytest.param([*[BOOM] * 3, USER, *[BOOM] * 3], NUDGE * 2, id="also forgets the nudge, too"),
        pytest.param(
            [BOOM, BOOM, C("ls", "{}", None), BOOM], [*["."] * 4, "/nudge"], id="unanswered calls do not count"
        ),
        pytest.param([BOOM, BOOM, "text", BOOM], NUDGE, id="nor do replies"),
        pytest.param([[*[BOOM] * 3, GOOD]], ["."] * 4, id="looked at only after the batch"),
        pytest.param([[BOOM] * 9], [*["."] * 9, "/nudge"], id="never both notices at once"),
        pytest.param(
            [[BOOM] * 4, BOOM], [*["."] * 4, "/nudge", ".", "/strip"], id="the strip comes with the next match"
        ),
        pytest.param([[*[BOOM] * 3, OTHER]], [*["."] * 4, "/nudge"], id="a stale match still counts"),
        pytest.param([*[BOOM] * 3, OTHER, OTHER], [*NUDGE, ".", "."], id="no second nudge"),
        pytest.param([*[BOOM] * 3, *[OTHER] * 3], [*NUDGE, *["."] * 3, "/strip"], id="the stage stays for others"),
        pytest.param([*[BOOM] * 4, "text", *[BOOM] * 2], [*NUDGE, ".", "/strip", ".", "."], id="a strip forgets all"),
    ],
)
def test_windows_and_stages(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items) == expected


@pytest.mark.parametrize(
    ("items", "rule", "tool"),
    [
        ([BOOM] * 3, "same_args", "run"),
        ([boom("1"), boom("2"), boom("3")], "same_error", "run"),
        ([[*[BOOM] * 3, boom("2", "x", "ls")]], "stale", "run"),
        ([[*[BOOM] * 3, *[boom("2", "x", "ls")] * 2]], "stale", "run"),
    ],
)
def test_rules_tell_what_the_window_holds(items: list[Any], rule: str, tool: str) -> None:
    (found,) = findings(POLICY, events(items))
    assert (found.rule, found.tool, found.count, found.whole_batch) == (rule, tool, 3, True)


def test_error_text_is_the_output_where_none_is_kept_apart() -> None:
    def failed(number: int, output: str) -> Batch:
        made = call(C("run", f'{{"n":{number}}}', output, True), number)
        assert made.result is not None
        made.result.has_error = True
        return Batch("s", "", number, [made])

    guard = POLICY.start(POLICY.params(), Context())
    assert [len(list(guard.judge(failed(i, "no such file")))) for i in range(3)] == [0, 0, 1]
    guard = POLICY.start(POLICY.params(), Context())
    assert [len(list(guard.judge(failed(i, f"{i}: no such file")))) for i in range(6)] == [0] * 6


def test_long_error_texts_are_told_apart() -> None:
    long = "x" * (TOKEN_LIMIT + 1)
    assert said(POLICY, [boom(str(i), long) for i in range(3)]) == NUDGE
    assert said(POLICY, [boom(str(i), long + str(i)) for i in range(3)]) == ["."] * 3


SCHEMA = {
    "exec": {"required": ["command"], "properties": {"command": {"type": "string"}, "n": {"type": ["integer", "null"]}}}
}
EMPTY = C("exec", "{}")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([EMPTY] * 2, ["reject"] * 2, id="a rejection"),
        pytest.param([EMPTY] * 4, [*["reject"] * 3, "/nudge", "reject", "/strip"], id="is a failure"),
        pytest.param([EMPTY, EMPTY, GOOD, EMPTY], ["reject", "reject", ".", "reject"], id="a success ends them, too"),
        pytest.param(
            [C("exec", '{"a":1}'), C("exec", '{"a":2}'), C("exec", '{"a":3}')],
            ["reject"] * 3,
            id="its text has arguments",
        ),
        pytest.param(
            [C("exec", '{"a":1,"b":2}'), C("exec", '{"b":2, "a":1}'), C("exec", '{"a":1,"b":2}')],
            [*["reject"] * 3, "/nudge"],
            id="in canonical spelling",
        ),
        pytest.param(
            [C("exec", "no"), C("exec", "{}"), C("exec", "{")], [*["reject"] * 3, "/nudge"], id="no JSON is {}"
        ),
        pytest.param([C("exec", '{"command":1}'), C("exec", '{"command":"ls"}')], ["reject", "."], id="a wrong type"),
        pytest.param([C("exec", '{"command":"ls","n":"x"}')], ["."], id="a list of types is not checked"),
        pytest.param([C("other", "{}"), C("exec", "{}", None)], [".", "reject"], id="tools without schema are not"),
    ],
)
def test_rejections(items: list[Any], expected: list[str]) -> None:
    assert said(POLICY, items, schemas=SCHEMA) == expected


def test_validator_versions() -> None:
    wrong = C("exec", '{"command":"ls","n":"x"}')
    spelled = C("exec", '{"command":"ls","n":"5"}')
    for validator, expected in (
        ("off", [".", ".", "."]),
        ("base", [".", ".", "reject"]),
        ("latest", ["reject", ".", "reject"]),
    ):
        params = MoltisParams(validator=validator)  # type: ignore[arg-type]
        assert said(POLICY, [wrong, spelled, EMPTY], params, schemas=SCHEMA) == expected
    with pytest.raises(ValueError, match="validator"):
        MoltisParams(validator="strict")  # type: ignore[arg-type]


def test_the_latest_rejection_repeats_arguments_as_they_were_read() -> None:
    schema = {"exec": {"required": ["a"], "properties": {"b": {"type": "integer"}}}}
    items = [C("exec", '{"b":"5"}'), C("exec", '{"b":" 5"}'), C("exec", '{"b":5}')]
    latest = said(POLICY, items, MoltisParams(validator="latest"), schemas=schema)
    assert latest == ["reject", "reject", "reject", "/nudge"]
    assert said(POLICY, items, schemas=schema) == ["reject"] * 3


def test_schemas_may_come_later_than_the_guard() -> None:
    schemas: dict[str, Any] = {}
    guard = POLICY.start(POLICY.params(), Context(schemas=schemas))
    first, second = events([EMPTY, EMPTY])
    assert isinstance(first, Batch) and isinstance(second, Batch)
    assert not list(guard.judge(first))
    schemas.update(SCHEMA)
    assert [d.own_word for d in guard.judge(second)] == ["reject"]


def test_shadow_mode_feeds_the_recorded_outcome_of_a_rejected_call() -> None:
    assert said(POLICY, [EMPTY] * 4, schemas=SCHEMA, enforced=False) == ["reject"] * 4
    failing = C("exec", "{}", "", "boom")
    assert said(POLICY, [failing] * 3, schemas=SCHEMA, enforced=False) == [*["reject"] * 3, "/nudge"]
    assert said(POLICY, [BOOM] * 8, enforced=False) == said(POLICY, [BOOM] * 8)
    assert said(POLICY, [BOOM, BOOM, C("exec", "{}"), BOOM], schemas=SCHEMA) == [".", ".", "reject", "."]
    assert said(POLICY, [BOOM, BOOM, C("exec", "{}", None), BOOM], schemas=SCHEMA, enforced=False) == [
        ".",
        ".",
        "reject",
        ".",
        "/nudge",
    ]


def test_later_variant() -> None:
    params = MoltisParams(**POLICY.variants["later"])
    wordless = [boom("1", True), boom("2", True)]
    assert said(POLICY, wordless, params) == [".", ".", "/nudge"]
    assert said(POLICY, wordless, MoltisParams(window=2)) == [".", "."]
    assert said(POLICY, [boom("1", ""), boom("2", True)], params) == [".", "."]


def test_details_and_messages() -> None:
    found = findings(POLICY, events([C("edit_file", '{"a":"[x]\\u001b"}'), C("edit_file"), *[BOOM] * 4]))
    assert [f.own_word for f in found] == ["reject", "reject", "nudge", "strip"]
    assert found[0].details == {"missing": [], "mismatches": [["a", "integer", "string"]]}
    assert "a is string, not integer" in found[0].message
    assert found[1].details == {"missing": ["a"], "mismatches": []}
    assert "missing a" in found[1].message
    assert "3 calls" in found[2].message
    assert "no tools" in found[3].message
    hostile = Decision(
        Action.REJECT, "missing_required", details={"missing": ["a\n\x1b[31m::error::"], "mismatches": []}
    )
    assert "\n" not in POLICY.message(hostile) and "\x1b" not in POLICY.message(hostile)
    assert POLICY.message(Decision(Action.REJECT, "type_mismatch"))


def test_a_recording_without_success_cannot_be_judged() -> None:
    for totals, status in (
        (Totals(calls=3, results=3, success_known=True), "partly"),
        (Totals(calls=3, results=3, success_known=True, schemas={"run": {}}), "evaluated"),
        (Totals(calls=3, results=3, schemas={"run": {}}), "cannot_evaluate"),
        (Totals(calls=3, success_known=True), "cannot_evaluate"),
    ):
        replay = Replay([Selected("moltis", POLICY, POLICY.params())])
        for event in events([BOOM] * 3):
            replay.feed(event)
        (result,) = replay.finish(totals)
        assert (result.status, len(result.findings)) == (status, 0 if status == "cannot_evaluate" else 1)


def test_names_are_taken_as_recorded() -> None:
    assert context_for(POLICY).tool(call(C("Bash"))) == "Bash"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


def plainly(value: Any) -> str:
    """The guard's spelling, told again one kind of value at a time."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ",".join(map(plainly, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f'"{k}":{plainly(value[k])}' for k in sorted(value)) + "}"
    return dump(value).decode()


@given(json_values)
def test_spelling(value: Any) -> None:
    assert spell(value).decode() == plainly(value)


def test_spelling_of_lone_surrogates_and_controls() -> None:
    assert spell({"a": 'x\n"\x01\\\ud800'}) == '{"a":"x\n"\x01\\\ud800"}'.encode("utf-8", "surrogatepass")
