"""Where keys stand in a TOML text, and what is written can be read."""

from __future__ import annotations

import tomllib
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.config.toml_text import error_place, key, locate, value

DOCUMENT = '''\
# [not.a.table]
top = 1
"quoted.key" = "# no comment"  # a comment = 3
a.b . "c" = [
  1, # one
  [2,
   3],
]

[ table ] # table
text = """
[[fake]]
x = 1 \\""" """
raw = \'\'\'
y = 2\'\'\'\'
inline = { one = 1, two.three = "}" , list = [ { deep = true } ] }

[[several]]
n = 1
[several.inner]
k = 'its'
[[several]]
n = 2
[[several.inner]]
k = 1
[[several.inner]]
k = 2
'''

PLACES: list[tuple[tuple[str | int, ...], int]] = [
    (("top",), 2),
    (("quoted.key",), 3),
    (("a", "b", "c"), 4),
    (("a", "b", "c", 0), 5),
    (("a", "b", "c", 1), 6),
    (("a", "b", "c", 1, 1), 7),
    (("table",), 10),
    (("table", "text"), 11),
    (("table", "raw"), 14),
    (("table", "inline"), 16),
    (("table", "inline", "two", "three"), 16),
    (("table", "inline", "list", 0, "deep"), 16),
    (("several", 0), 18),
    (("several", 0, "n"), 19),
    (("several", 0, "inner", "k"), 21),
    (("several", 1, "n"), 23),
    (("several", 1, "inner", 0, "k"), 25),
    (("several", 1, "inner", 1, "k"), 27),
]


@pytest.mark.parametrize(("way", "line"), PLACES, ids=str)
def test_places(way: tuple[str | int, ...], line: int) -> None:
    assert locate(DOCUMENT)[way] == line


def ways(item: Any, way: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    """Every way into a value."""
    members: list[tuple[str | int, Any]] = []
    if isinstance(item, dict):
        members = list(item.items())
    elif isinstance(item, list):
        members = list(enumerate(item))
    found = set()
    for name, member in members:
        found |= {(*way, name)} | ways(member, (*way, name))
    return found


def test_all_keys_have_a_place() -> None:
    assert ways(tomllib.loads(DOCUMENT)) == set(locate(DOCUMENT))


SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.dates(min_value=date(1000, 1, 1)),
    st.lists(st.text(max_size=8), max_size=4),
)


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=8), st.dictionaries(st.text(max_size=8), SCALARS, max_size=4), max_size=4))
def test_what_is_written_is_read_and_located(document: dict[str, dict[str, Any]]) -> None:
    text = ""
    for name, table in document.items():
        text += f"[{key(name)}]\n" + "".join(f"{key(k)} = {value(v)}\n" for k, v in table.items())
    loaded = tomllib.loads(text)
    assert loaded == document
    assert ways(loaded) == set(locate(text))


def test_lone_surrogates_cannot_be_written() -> None:
    assert tomllib.loads(f"x = {value(chr(0xD800))}") == {"x": "\ufffd"}


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = \n", 2), ("a = 1\n[x\n", 2), ("a = 'x", 1), ("a = 1\na = 2\n", 2), ('a = """\n\n', 3)],
)
def test_syntax_errors_have_a_line(text: str, line: int) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    assert error_place(caught.value, text)[0] == line
