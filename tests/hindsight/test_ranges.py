"""Lines that a call asks for, and the arithmetic of lines that were shown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.hindsight.calls.ranges import (
    END,
    MAX_PIECES,
    Coverage,
    ReadRange,
    glimpse_of,
    is_cut,
    normal_path,
    patched_paths,
    read_range,
)
from loopaudit.hindsight.calls.shell_ranges import may_show_lines, shell_range


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "a"}, ("a", 1, END)),
        ({"file_path": "a", "offset": 41, "limit": 40}, ("a", 41, 80)),
        ({"filePath": "a", "offset": 0, "limit": 100}, ("a", 0, 99)),
        ({"path": "a", "offset": 41}, ("a", 41, END)),
        ({"path": "a", "limit": 40}, ("a", 1, 40)),
        ({"path": "a", "start_line": 5, "end_line": 9}, ("a", 5, 9)),
        ({"target_file": "a", "start_line_one_indexed": 5, "end_line_one_indexed_inclusive": 9}, ("a", 5, 9)),
        ({"path": "a", "start_line": 5, "end_line": -1}, ("a", 5, END)),
        ({"path": "a", "view_range": [5, 9]}, ("a", 5, 9)),
        ({"path": "a", "view_range": [5, -1]}, ("a", 5, END)),
        ({"path": "a", "view_range": "[5, 9]"}, ("a", 5, 9)),
        ({"path": "a", "lines": "5-9"}, ("a", 5, 9)),
        ({"path": "a", "lines": 9}, ("a", 1, 9)),
        ({"path": "a", "offset": "41", "limit": "40"}, ("a", 41, 80)),
        ({"path": "a", "offset": 41.0, "limit": 40.0}, ("a", 41, 80)),
        ({"path": "a", "offset": None, "limit": None}, ("a", 1, END)),
        ({"path": "a", "offset": -10}, ("a", -10, -1)),
        ({"path": ".\\src\\\\a", "reason": "x"}, ("src/a", 1, END)),
        ({"path": "a", "start_line": 9, "end_line": 5}, None),
        ({"query": "a"}, None),
        ({"path": 7}, None),
        ("a", None),
        (None, None),
    ],
)
def test_read_tools(arguments: Any, expected: tuple[str, int, int] | None) -> None:
    found = read_range(arguments)
    assert found == (None if expected is None else ReadRange(*expected))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("sed -n '10,20p' a.py", ("a.py", 10, 20)),
        ('sed -n "10,20p" a.py', ("a.py", 10, 20)),
        ("sed -n 10,20p a.py", ("a.py", 10, 20)),
        ("sed -n '10p' a.py", ("a.py", 10, 10)),
        ("sed -n '10,$p' a.py", ("a.py", 10, END)),
        ("sed -n '10,+5p' a.py", ("a.py", 10, 15)),
        ("cat a.py", ("a.py", 1, END)),
        ("cat 'my file'", ("my file", 1, END)),
        ("head -n 20 a.py", ("a.py", 1, 20)),
        ("head -20 a.py", ("a.py", 1, 20)),
        ("head a.py", ("a.py", 1, 10)),
        ("tail -n 5 a.py", ("a.py", -5, -1)),
        ("tail -n +30 a.py", ("a.py", 30, END)),
        ("cat a.py | head -20", ("a.py", 1, 20)),
        ("cat a.py | head -20 | tail -n +5", ("a.py", 5, 20)),
        ("cat a.py | sed -n '3,4p'", ("a.py", 3, 4)),
        ("cd src && cat a.py", ("src/a.py", 1, END)),
        ("cd /w && cd src && sed -n '1,2p' ./a.py", ("/w/src/a.py", 1, 2)),
        ("nl -ba a.py | sed -n '3,9p'", ("a.py", 3, 9, True)),
        ("cat -n a.py", ("a.py", 1, END, True)),
        ("sed -n '10,20p' a b", None),
        ("cat a b", None),
        ("cat *.py", None),
        ("cat $F", None),
        ("cat a > b", None),
        ("cat a; rm b", None),
        ("cat a | grep x", None),
        ("sed 's/a/b/' a", None),
        ("sed -i 1,2p a", None),
        ("tail -f a", None),
        ("head -c 100 a", None),
        ("ls", None),
    ],
)
def test_shell_forms(command: str, expected: tuple[Any, ...] | None) -> None:
    found = shell_range(command) if may_show_lines(command) else None
    assert found == (None if expected is None else ReadRange(*expected))


@given(st.text(st.sampled_from("cat sednheil'\"0123,p|$+-.a/ "), max_size=30))
def test_any_command_is_read(command: str) -> None:
    shell_range(command)


ranges = st.tuples(st.integers(0, 200), st.integers(0, 40)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(ranges, max_size=MAX_PIECES), ranges)
def test_coverage_is_a_set_of_lines(shown: list[tuple[int, int]], asked: tuple[int, int]) -> None:
    coverage = Coverage()
    lines: set[int] = set()
    for first, last in shown:
        coverage.add(first, last)
        lines.update(range(first, last + 1))
    assert coverage.covers(*asked) == (set(range(asked[0], asked[1] + 1)) <= lines)
    assert coverage.starts == sorted(coverage.starts)
    pairs = zip(coverage.ends, coverage.starts[1:], strict=False)
    assert all(end + 1 < start for end, start in pairs)


@given(st.lists(ranges, max_size=30), st.randoms())
def test_order_of_reading_does_not_matter(shown: list[tuple[int, int]], random: Any) -> None:
    one, other = Coverage(), Coverage()
    for first, last in shown:
        one.add(first, last)
    random.shuffle(shown)
    for first, last in shown:
        other.add(first, last)
    assert (one.starts, one.ends) == (other.starts, other.ends)


def test_coverage_is_bounded_and_forgets_the_smallest() -> None:
    coverage = Coverage()
    coverage.add(1, 5)
    for i in range(2 * MAX_PIECES):
        coverage.add(100 + 20 * i, 109 + 20 * i)
    assert len(coverage.starts) == MAX_PIECES
    assert not coverage.covers(1, 5)


def shown(asked: ReadRange, output: str) -> Coverage:
    coverage = Coverage()
    coverage.show(asked, glimpse_of(output))
    return coverage


def test_a_whole_read_shows_everything_that_follows() -> None:
    assert shown(ReadRange("a"), "x\ny").covers(50, END)
    assert not shown(ReadRange("a"), "[truncated, use offset]\nx").covers(3, 4)
    assert not shown(ReadRange("a"), "x\n" * 2000).covers(2500, 2600)
    assert not shown(ReadRange("a"), "Error: no such file").covers(1, 1)


def test_lines_behind_the_end_of_the_file_need_not_be_shown() -> None:
    assert shown(ReadRange("a", 721, 760), "[lines 721-740 of 740]\nx").covers(730, 790)
    assert not shown(ReadRange("a", 1, 40), "1: x").covers(41, 80)


def test_lines_from_the_end_are_lines_of_their_own() -> None:
    coverage = shown(ReadRange("a", -20, -1), "x")
    assert coverage.covers(-10, -1)
    assert not coverage.covers(1, 5)


def test_without_an_output_only_closed_ranges_count() -> None:
    coverage = Coverage()
    coverage.show(ReadRange("a"), None)
    coverage.show(ReadRange("a", 5, 9), None)
    assert coverage.covers(5, 9)
    assert not coverage.covers(1, 5)


@pytest.mark.parametrize(
    ("output", "cut"),
    [
        ("plain", False),
        ("x\n(showing lines 1-50)", True),
        ("[lines 1-4 of 90 lines]\n", True),
        ("a <response clipped>", True),
    ],
)
def test_cut_outputs(output: str, cut: bool) -> None:
    assert is_cut(glimpse_of(output)) == cut


def test_json_bytes_are_not_decoded() -> None:
    seen = glimpse_of(b'"a\\nb\\n12\\tc"')
    assert (seen.line_feeds, seen.tail) == (2, '"a\nb\n12\tc')


@pytest.mark.parametrize(
    ("path", "normal"),
    [("./a", "a"), ("a//b", "a/b"), ("/a/./b", "/a/b"), ("a\\b", "a/b"), ("file:///a", "/a"), ("/a/../b", "/a/../b"),
     (".github/x", ".github/x"), ("a/.env", "a/.env"), ("/.a/b/", "/.a/b"), ("a/.", "a"), ("/.a/./b", "/.a/b")],
)  # fmt: skip
def test_paths(path: str, normal: str) -> None:
    assert normal_path(path) == normal


def test_paths_of_a_patch() -> None:
    patch = "*** Begin Patch\n*** Update File: ./a.py\n-x\n+y\n*** Add File: b.py\n+z\n--- a/c\n+++ b/c\n"
    assert patched_paths(patch) == ["a.py", "b.py", "c"]
