"""The argument check of moltis gives the original's verdict on every recorded pair."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.canonical import NOT_JSON, dump, parse
from loopaudit.policies.guards.moltis.arguments import check, coerce, type_name
from tests.policies import vectors


def check_vector(vector: dict[str, Any]) -> None:
    schema = vector["schema"]
    arguments = parse(vector["arguments"])
    if arguments is NOT_JSON:
        arguments = {}
    before = dump(arguments)
    for version, expected in vector["result"].items():
        latest = version == "latest"
        read = coerce(schema, arguments) if latest else arguments
        rejection = check(schema, read, unions=latest)
        assert expected["ok"] == (rejection is None), version
        if rejection is not None:
            assert list(rejection.missing) == expected["missing"], version
            assert [list(m) for m in rejection.mismatches] == expected["mismatches"], version
        if "coerced" in expected:
            # As text, because 5 and 5.0 are one to Python.
            assert dump(read) == dump(expected["coerced"])
    assert dump(arguments) == before, "the arguments given are left alone"


@pytest.mark.parametrize("vector", [pytest.param(v, id=str(v["id"])) for v in vectors.committed("moltis_validator")])
def test_committed_vectors(vector: dict[str, Any]) -> None:
    check_vector(vector)


SHARED = [path for path in vectors.shared_files() if path.stem == "moltis_validator"]


@pytest.mark.skipif(not SHARED, reason="the conformance folder is not here")
@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in SHARED] or [None])
def test_whole_conformance_folder(path: Any) -> None:
    loaded = vectors.load(path)
    assert loaded
    for vector in loaded:
        check_vector(vector)


@pytest.mark.parametrize(
    ("schema", "arguments", "base", "latest"),
    [
        (None, {}, True, True),
        ({}, 5, True, True),
        ({"type": "object"}, {"a": 1}, True, True),
        ({"required": "a"}, {}, True, True),
        ({"required": [1, None]}, {}, True, True),
        ({"required": ["a"]}, {}, False, False),
        ({"required": ["a"]}, {"a": None}, False, False),
        ({"required": ["a"]}, {"a": False}, True, True),
        ({"required": ["a"]}, "text", False, False),
        ({"properties": {"a": {"type": "string"}}}, [1], True, True),
        ({"properties": {"a": {"type": "string"}}}, {"a": None}, True, True),
        ({"properties": {"a": {"type": "string"}}}, {"b": 1}, True, True),
        ({"properties": {"a": {"type": "string"}}}, {"a": 1}, False, False),
        ({"properties": {"a": {"type": "integer"}}}, {"a": True}, False, False),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 1.5}, False, False),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 30.0}, True, True),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "30"}, False, True),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "5.0"}, False, False),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "1" * 5000}, False, False),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "9223372036854775808"}, False, True),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "18446744073709551616"}, False, False),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "-9223372036854775809"}, False, False),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "0" * 5000 + "7"}, False, True),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "1_0"}, False, False),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "١"}, False, False),
        ({"properties": {"a": {"type": "number"}}}, {"a": True}, False, False),
        ({"properties": {"a": {"type": "number"}}}, {"a": "nan"}, False, False),
        ({"properties": {"a": {"type": "number"}}}, {"a": "1e999"}, False, False),
        ({"properties": {"a": {"type": "number"}}}, {"a": "\u2003-1.5E3\n"}, False, True),
        ({"properties": {"a": {"type": "number"}}}, {"a": "\x1f1"}, False, False),
        ({"properties": {"a": {"type": "boolean"}}}, {"a": " TRUE "}, False, True),
        ({"properties": {"a": {"type": "boolean"}}}, {"a": "yes"}, False, False),
        ({"properties": {"a": {"type": "boolean"}}}, {"a": ""}, False, False),
        ({"properties": {"a": {"type": "boolean"}}}, {"a": 1}, False, False),
        ({"properties": {"a": {"type": "null"}}}, {"a": 0}, False, False),
        ({"properties": {"a": {"type": "any"}}}, {"a": 0}, True, True),
        ({"properties": {"a": {"type": ["string", "integer"]}}}, {"a": 1.5}, True, False),
        ({"properties": {"a": {"type": ["string", "integer"]}}}, {"a": "1"}, True, True),
        ({"properties": {"a": {"type": [None]}}}, {"a": "1"}, True, False),
        ({"properties": {"a": {"type": []}}}, {"a": None}, True, True),
        ({"properties": {"a": {"type": {"no": "type"}}}}, {"a": 1}, True, True),
        ({"properties": {"a": "string"}}, {"a": 1}, True, True),
        ({"properties": ["a"], "required": ["a"]}, {"a": 1}, True, True),
    ],
)
def test_verdicts(schema: Any, arguments: Any, base: bool, latest: bool) -> None:
    assert (check(schema, arguments) is None) is base
    assert (check(schema, coerce(schema, arguments), unions=True) is None) is latest


@pytest.mark.parametrize(
    ("types", "text", "expected"),
    [
        (["integer", "number"], "5", 5),
        (["number", "integer"], "5", 5.0),
        (["boolean", "integer"], "007", 7),
        (["integer"], "-0", 0),
        ("number", "-0", -0.0),
        (["string", "integer"], "5", "5"),
        (["null", "object"], "5", "5"),
        ("integer", " ", " "),
        ("boolean", "falſe", "falſe"),
    ],
)
def test_the_first_type_that_fits_wins(types: Any, text: str, expected: Any) -> None:
    schema = {"properties": {"a": {"type": types}}}
    assert dump(coerce(schema, {"a": text, "b": text})) == dump({"a": expected, "b": text})


def test_rejections_name_their_kind_and_order() -> None:
    schema = {"required": ["z", "a"], "properties": {"q": {"type": "string"}, "b": {"type": ["integer", "null"]}}}
    both = check(schema, {"q": 1, "b": "x"}, unions=True)
    assert both is not None
    assert both.kind == "missing_and_type"
    assert both.missing == ("z", "a")
    assert both.mismatches == (("b", "integer | null", "string"), ("q", "string", "number"))
    missing, wrong = check(schema, {}), check(schema, {"z": 1, "a": 1, "q": []})
    assert missing is not None and wrong is not None
    assert (missing.kind, wrong.kind) == ("missing_required", "type_mismatch")


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "null"), (True, "boolean"), (1, "number"), (1.5, "number"), ("", "string"), ([], "array"), ({}, "object")],
)
def test_type_names(value: Any, name: str) -> None:
    assert type_name(value) == name
