"""When two argument texts are the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core import canonical
from loopaudit.core.arguments import of_arguments, of_slice
from loopaudit.core.canonical import NOT_JSON, call_key, dump, has_negative_zero, parse, text_key
from loopaudit.core.events import Call


def key(text: str) -> bytes:
    value = parse(text)
    return text_key("t", text) if value is NOT_JSON else call_key("t", value)


SAME = [
    ('{"a":1,"b":2}', '{ "b": 2, "a": 1 }'),
    ('"\\u00e9"', '"é"'),
    ('"\\/"', '"/"'),
    ('"\\ud83d\\ude00"', '"😀"'),
    ("1.0", "1.00"),
    ("1.0", "1e0"),
    ("100.0", "1e2"),
    ("-0", "-0.0"),
    ('{"a":-0}', '{"a":-0.0}'),
    ("18446744073709551616", "18446744073709551617"),
    ("18446744073709551616", "18446744073709551616.0"),
    ('{"a":1,"a":2}', '{"a":2}'),
    ("0.1", "0.10"),
    ("1e-400", "0.0"),
]

DIFFERENT = [
    ("1", "1.0"),
    ("1", "true"),
    ("1", '"1"'),
    ("0", "-0"),
    ("0", "0.0"),
    ("0.0", "-0.0"),
    ("18446744073709551615", "18446744073709551616"),
    ("18446744073709551614", "18446744073709551615"),
    ("[1,2]", "[2,1]"),
    ('"é"', '"e\u0301"'),
    ('"A"', '"a"'),
    ("null", "{}"),
    ("", "{}"),
    ("{}", "{} x"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_value_share_a_key(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_values_have_different_keys(one: str, other: str) -> None:
    assert key(one) != key(other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "NaN",
        "Infinity",
        "-Infinity",
        "01",
        "+1",
        ".5",
        "1.",
        "[1,]",
        "{'a':1}",
        "{} //",
        "\ufeff{}",
        '"\t"',
        '"\\ud800"',
        "1e400",
        "\u00a0{}",
        "{}\f",
        "[" * 128 + "]" * 128,
        '{"a":' * 128 + "1" + "}" * 128,
        '"\ud800"',
    ],
)
def test_what_is_no_json(text: str) -> None:
    assert parse(text) is NOT_JSON


def test_nesting_up_to_the_limit_is_json() -> None:
    assert parse("[" * 127 + "]" * 127) is not NOT_JSON


def test_brackets_inside_strings_do_not_nest() -> None:
    assert parse(json.dumps("[" * 500)) == "[" * 500


def test_text_never_equals_the_value_that_spells_it() -> None:
    assert text_key("t", "{} x") != call_key("t", "{} x")


def test_name_and_arguments_cannot_run_into_each_other() -> None:
    assert call_key("ab", "c") != call_key("a", "bc")
    assert text_key("a\0b", "c") != text_key("a", "c") != call_key("a", "c")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.integers(0, 3), st.booleans())
def test_spelling_never_changes_the_key(value: Any, indent: int, ascii_only: bool) -> None:
    plain = json.dumps(value)
    other = json.dumps(value, indent=indent, ensure_ascii=ascii_only, sort_keys=True)
    assert key(plain) == key(other)


@given(json_values)
def test_writing_and_reading_again_gives_the_same_value(value: Any) -> None:
    assert dump(parse(dump(value))) == dump(value)


ZEROS = [
    '{"a":-0}',
    '{"a":"-0","b":[-0]}',
    '{"a":["x",-0]}',
    '{"a":-0,"a":"x"}',
    '{"a":"x","a":-0}',
    '{"a":[-0],"a":["-0"]}',
    '{"a":{"b":-0}}',
    '{"a":"-0","b":1,"c":[],"d":false,"e":null,"f":-0.0}',
    '{"a":' + "[" * 200 + "-0" + "]" * 200 + "}",
    '{"a":' + "[" * 200 + "]" * 200 + ',"a":["-0"]}',
]


@given(
    st.one_of(
        json_values.map(dump),
        json_values.map(lambda value: dump(value).replace(b":0", b":-0").replace(b"[0", b"[-0")),
        st.sampled_from([text.encode() for pair in [*DIFFERENT, ZEROS] for text in pair]),
    )
)
def test_the_value_that_the_key_was_made_of_is_what_the_arguments_say(written: bytes) -> None:
    for recorded in (of_arguments("t", written.decode()), of_slice("t", written)):
        form, source, is_json, made_of, value = recorded
        keeps, decodes = (Call("c", 1, "t", form, source, made_of, is_json, decoded=v) for v in (value, None))
        assert dump(keeps.arguments) == dump(decodes.arguments)
        assert (keeps.form, keeps.raw_arguments) == (decodes.form, decodes.raw_arguments)
        assert parse(written) is NOT_JSON or made_of == call_key("t", keeps.arguments) == key(written.decode())


_LEAVES = [
    "-0",
    "0",
    "-0.0",
    "1",
    "1e2",
    "18446744073709551616",
    "null",
    "true",
    "false",
    '"x"',
    '": -0,"',
    "{}",
    "[-0]",
]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(_LEAVES)), max_size=5))
def test_an_object_is_parsed_alike_whatever_is_seen_of_it_first(members: list[tuple[str, str]]) -> None:
    written = "{" + ", ".join(f'"{name}": {leaf}' for name, leaf in members) + "}"
    slowly = canonical._parse_slowly(written.encode())
    # Text of equal values: so that 0, -0.0 and False differ.
    assert repr(parse(written)) == repr(parse(written.encode())) == repr(slowly)


@given(st.binary(max_size=60))
def test_parse_never_raises(data: bytes) -> None:
    parse(data)
    parse(data.decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize("value", ["\ud800", 2**200, {1: 2}, [float("nan")], {"a": "\udfff"}])
def test_values_that_the_fast_writer_refuses_still_have_a_key(value: Any) -> None:
    assert len(call_key("t", value)) == canonical.KEY_BYTES
    assert call_key("t", value) == call_key("t", value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"-0", True),
        (b"[-0]", True),
        (b'{"a": -0,"b":1}', True),
        (b'{"a":\n\t -0\r\n}', True),
        (b"[" + b" " * 300 + b"-0 ]", True),
        (b"[1,-0]", True),
        (b"[-0.5, -0e1, -01]", False),
        (b'["2026-02-07", "1f-0a", "@@ -0,0 +1,2 @@", "x-0 "]', False),
        (b'["-1", 0]', False),
    ],
)
def test_a_negative_zero_is_found_where_a_value_may_stand(text: bytes, found: bool) -> None:
    assert has_negative_zero(text) is found
