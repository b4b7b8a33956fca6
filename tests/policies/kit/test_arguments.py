"""The ways to compare arguments tell apart, and take for the same, what their hosts do."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.core import canonical
from loopaudit.core.events import SLICE, TEXT, VALUE, Call
from loopaudit.policies.kit import arguments
from loopaudit.policies.kit.json_dialects import js_number, parse_go, parse_js, parse_py

KEYS = {
    "js": arguments.js_key,
    "js_sorted": arguments.js_sorted_key,
    "py_dump": arguments.py_dump_key,
    "py_equal": arguments.py_equal_key,
    "go": arguments.go_key,
}


def text_call(text: str, name: str = "tool") -> Call:
    value = canonical.parse(text)
    is_json = value is not canonical.NOT_JSON
    key = canonical.call_key(name, value) if is_json else canonical.text_key(name, text)
    return Call("c", 1, name, TEXT, text, key, is_json)


def value_call(value: Any, name: str = "tool") -> Call:
    return Call("c", 1, name, VALUE, value, canonical.call_key(name, value))


def slice_call(text: str, name: str = "tool") -> Call:
    return Call("c", 1, name, SLICE, text.encode(), canonical.call_key(name, json.loads(text)))


ALL = frozenset(KEYS)
NONE: frozenset[str] = frozenset()
JS = frozenset({"js", "js_sorted"})
PY = frozenset({"py_dump", "py_equal"})


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ('{"a":1,"b":2}', '{ "a" : 1, "b" : 2 }', ALL),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', ALL - {"js"}),
        ('{"2":1,"1":2}', '{"1":2,"2":1}', ALL),
        ('{"x":1,"1":2}', '{"1":2,"x":1}', ALL),
        ('{"01":1,"1":2}', '{"1":2,"01":1}', ALL),
        ('{"4294967295":1,"x":2}', '{"x":2,"4294967295":1}', ALL - {"js"}),
        ('{"4294967294":1,"x":2}', '{"x":2,"4294967294":1}', ALL),
        ('{"o":{"y":1,"x":2}}', '{"o":{"x":2,"y":1}}', ALL - {"js"}),
        ('{"n":1}', '{"n":1.0}', ALL - {"py_dump"}),
        ('{"n":10}', '{"n":1e1}', ALL - {"py_dump"}),
        ('{"n":1.0}', '{"n":1e0}', ALL),
        ('{"n":1}', '{"n":true}', frozenset({"py_equal"})),
        ('{"n":0.0}', '{"n":false}', frozenset({"py_equal"})),
        ('{"s":"NaN","n":1}', '{"s":"NaN","n":1.0}', ALL - {"py_dump"}),
        ('{"n":0}', '{"n":-0}', JS | PY),
        ('{"n":0}', '{"n":-0.0}', JS | {"py_equal"}),
        ('{"n":9007199254740992}', '{"n":9007199254740993}', JS | {"go"}),
        ('{"n":9007199254740992}', '{"n":9007199254740992.0}', ALL - {"py_dump"}),
        ('{"n":9007199254740993}', '{"n":9007199254740993.0}', JS | {"go"}),
        ('{"n":18446744073709551616}', '{"n":18446744073709551617}', JS | {"go"}),
        ('{"n":18446744073709551616}', '{"n":18446744073709551616.0}', ALL - {"py_dump"}),
        ('{"n":1e400}', '{"n":null}', JS),
        ('{"n":1e400}', '{"n":1e401}', JS | PY),
        ('{"n":NaN}', '{"n": NaN}', PY),
        ('{"n":Infinity}', '{"n":1e400}', PY),
        ('{"n":Infinity}', '{"n":null}', NONE),
        ('{"s":"\\ud800"}', '{"s":"\\uD800"}', ALL),
        ('{"s":"\\ud800"}', '{"s":"\\ufffd"}', frozenset({"go"})),
        ('{"s":"\\u00e9"}', '{"s":"é"}', ALL),
        ('{"s":"é"}', '{"s":"e\u0301"}', NONE),
        ('{"a":1,"a":2}', '{"a":2}', ALL),
        ('{"a":1,"b":0,"a":2}', '{"a":2,"b":0}', ALL),
        ("not json", "not json", ALL),
        ("not json", "not  json", NONE),
        ("not json", '"not json"', NONE),
        ("{'a':1}", '{"a":1}', NONE),
        ('\ufeff{"a":1}', '{"a":1}', NONE),
        ("[1,2]", "[2,1]", NONE),
        ('{"s":"1"}', '{"s":1}', NONE),
        ("null", "{}", NONE),
    ],
)
def test_which_ways_take_two_texts_for_the_same(a: str, b: str, same: frozenset[str]) -> None:
    assert {way for way, key in KEYS.items() if key(text_call(a)) == key(text_call(b))} == same
    assert all(key(text_call(a)) == key(text_call(a)) for key in KEYS.values())


def test_the_name_is_part_of_every_key() -> None:
    for text in ('{"a":1}', '{"a":1.5}', '{"a":true}', "not json"):
        for key in KEYS.values():
            assert key(text_call(text, "x")) != key(text_call(text, "y"))


def test_calls_without_odd_numbers_keep_their_canonical_key() -> None:
    call = text_call('{"path":"a","line":3}')
    assert [key(call) for name, key in KEYS.items() if name != "js"] == [call.key] * 4


@pytest.mark.parametrize(
    ("text", "js", "js_sorted", "py_dump", "go"),
    [
        (
            '{"b": 1.0, "a": "\\u00e9\\/"}',
            '{"b":1,"a":"é/"}',
            '{"a":"é/","b":1}',
            '{"a":"\\u00e9/","b":1.0}',
            '{"a":"é/","b":1}',
        ),
        ("[1e21,-0]", "[1e+21,0]", "[1e+21,0]", "[1e+21,0]", "[1e+21,-0]"),
        ('{"é":1,"z":2}', '{"é":1,"z":2}', '{"z":2,"é":1}', '{"z":2,"\\u00e9":1}', '{"z":2,"é":1}'),
        ('{"b":1,"0":2}', '{"0":2,"b":1}', '{"0":2,"b":1}', '{"0":2,"b":1}', '{"0":2,"b":1}'),
        ("oops", "oops", "oops", "oops", "oops"),
        ('"\\ud83d"', '"\\ud83d"', '"\\ud83d"', '"\\ud83d"', '"\ufffd"'),
        (
            '"\\u001f\\n\\u2028"',
            '"\\u001f\\n\u2028"',
            '"\\u001f\\n\u2028"',
            '"\\u001f\\n\\u2028"',
            '"\\u001f\\n\u2028"',
        ),
    ],
)
def test_texts(text: str, js: str, js_sorted: str, py_dump: str, go: str) -> None:
    call = text_call(text)
    assert arguments.js(call) == js
    assert arguments.js_sorted(call) == js_sorted
    assert arguments.py_dump(call) == py_dump
    assert arguments.go(call) == go


def test_sorted_keys_follow_utf16_units() -> None:
    # U+1F600 is a surrogate pair in UTF-16, which sorts before U+FFFF.
    assert arguments.js_sorted(text_call('{"\uffff":1,"\U0001f600":2}')) == '{"\U0001f600":2,"\uffff":1}'


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (-1.5, "-1.5"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (2.0**60, "1152921504606847000"),
        (1.5e300, "1.5e+300"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (5e-324, "5e-324"),
        (123.456, "123.456"),
        (9007199254740993, "9007199254740992"),
        (10**400, "null"),
        (math.inf, "null"),
        (math.nan, "null"),
    ],
)
def test_javascript_numbers(number: float, text: str) -> None:
    assert js_number(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_javascript_numbers_read_back(number: float) -> None:
    assert float(js_number(number)) == number


def test_python_values() -> None:
    assert arguments.py_value(text_call('{"n":18446744073709551617}')) == {"n": 18446744073709551617}
    assert arguments.py_value(text_call("no")) == "no"
    assert arguments.py_equal({"a": [1, True]}, {"a": [1.0, 1]})
    assert not arguments.py_equal({"a": 1}, {"a": "1"})
    deep: Any = 0
    other: Any = 0
    for _ in range(200_000):
        deep, other = [deep], [other]
    assert not arguments.py_equal(deep, other)


@pytest.mark.parametrize("depth", [126, 127, 128, 199, 200, 201, 500, 5000, 100_000])
def test_deep_nesting_is_compared_and_never_raises(depth: int) -> None:
    text = "[" * depth + "1" + "]" * depth
    other = "[" * depth + "1.0" + "]" * depth
    for way, key in KEYS.items():
        assert key(text_call(text)) == key(text_call(text))
        read = depth <= 200 and way != "py_dump"
        assert (key(text_call(text)) == key(text_call(other))) == read
    call = text_call(text)
    for writer in (arguments.js, arguments.js_sorted, arguments.py_dump, arguments.go):
        assert writer(call) == text


def test_deep_values_never_raise() -> None:
    for depth in (100, 300):
        value: Any = 1.0
        for _ in range(depth):
            value = [value]
        for key in KEYS.values():
            assert key(value_call(value)) == key(value_call(value))


def test_huge_integers_do_not_raise() -> None:
    text = '{"n":' + "9" * 5000 + "}"
    for key in KEYS.values():
        assert key(text_call(text)) == key(text_call(text))
    assert arguments.js(text_call(text)) == '{"n":null}'


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0, 1, 0.0, 1.0, -0.0, 2**53, 2.0**53, 2**53 + 1])
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(JSON, JSON)
def test_keys_agree_with_the_texts(a: Any, b: Any) -> None:
    first, second = text_call(json.dumps(a)), text_call(json.dumps(b))
    for key, text in (
        (arguments.js_key, arguments.js),
        (arguments.js_sorted_key, arguments.js_sorted),
        (arguments.py_dump_key, arguments.py_dump),
        (arguments.go_key, arguments.go),
    ):
        assert (key(first) == key(second)) == (text(first) == text(second))
    assert (arguments.py_equal_key(first) == arguments.py_equal_key(second)) == (a == b)


@given(JSON)
def test_text_slice_and_value_give_the_same_keys(value: Any) -> None:
    value = canonical.keep_decoded(value)
    text = json.dumps(value)
    for name, key in KEYS.items():
        expected = key(text_call(text))
        assert key(value_call(json.loads(text))) == expected, name
        assert key(slice_call(text)) == expected, name


@pytest.mark.parametrize("text", ["", " ", "01", ".5", "+1", "[1,]", '{"a":1} x', "'a'", "nul", '"\t"', "\x00", "True"])
def test_what_no_host_reads(text: str) -> None:
    assert parse_js(text) is parse_go(text) is parse_py(text) is canonical.NOT_JSON


_PIECES = ("true", "false", "null", "NaN", "Infinity", "-Infinity", "tru", "-", "1", "0.5", '"', "{", "}", "[", "]")


@given(st.lists(st.sampled_from([*_PIECES, " ", "\n", "\ufeff", "\xa0", "\x0b", "x", "n"]), max_size=5).map("".join))
def test_python_takes_what_its_decoder_takes(text: str) -> None:
    try:
        expected = json.dumps(json.loads(text))
    except ValueError:
        expected = "refused"
    value = parse_py(text)
    assert expected == ("refused" if value is canonical.NOT_JSON else json.dumps(value))


def test_lenient_python_reads_control_characters() -> None:
    assert parse_py('{"a":"x\ty"}', lenient=True) == {"a": "x\ty"}
