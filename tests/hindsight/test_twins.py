"""Kinds of loops in several spellings, each beside healthy work that looks nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import pytest

from loopaudit.hindsight.observer import HindsightResult
from tests.hindsight.sessions import Session


def tried(*answers: str, tool: str = "replace_in_file", path: str = "src/App.tsx") -> Session:
    """Different edits of one file, with these answers."""
    run = Session().user()
    for number, answer in enumerate(answers):
        run.call(tool, {"path": path, "diff": f"<<<<<<< SEARCH\nline {number}\n=======\nx\n>>>>>>> REPLACE"}, answer)
    return run


def asked(tool: str, name: str, values: Sequence[Any], *answers: str, **more: Any) -> Session:
    """Calls of one tool with one argument that differs, and the answers in turn."""
    run = Session().user()
    for value, answer in zip(values, islice(cycle(answers), len(values)), strict=True):
        run.call(tool, {name: value, **more}, answer)
    return run


def loops(run: Session) -> list[str]:
    judged: HindsightResult = run.judged()
    return [episode.kind for episode in judged.loops]


NO_MATCH = (
    "[replace_in_file for 'src/App.tsx'] Result:\nThe tool execution failed with the following error:\n<error>\n"
    "The SEARCH block:\n{}\n...does not match anything in the file.\n</error>"
)
SIMILAR = (
    "[apply_diff for 'src/App.tsx'] Result:\n\n<error_details>\nNo sufficiently similar match found at line: 12 "
    "({}% similar, needs 100%)\n</error_details>"
)
SAVED = "[replace_in_file for 'src/App.tsx'] Result:\nThe content was successfully saved to src/App.tsx.\n{}"
CODE = [f"return call_tool('list_sites', limit={n})" for n in range(6)]

REFUSALS: list[Any] = [
    pytest.param(tried(*map(NO_MATCH.format, "abcde")), "same_error", id="a search block that is not there"),
    pytest.param(tried(*map(SIMILAR.format, (71, 64, 80, 55, 71)), tool="apply_diff"), "same_error", id="nothing like"),
    pytest.param(
        tried(*["[edit_file] Result:\nError: old_string not found in src/App.tsx"] * 5, tool="edit_file"),
        "same_error",
        id="an error behind the name of the tool",
    ),
    pytest.param(
        tried(*map(SAVED.format, ("", "the old line does not match", "a", "b", "c", "d"))), "", id="all are saved"
    ),
    pytest.param(tried(NO_MATCH.format("a"), SAVED, NO_MATCH.format("b"), SAVED), "", id="every second one is saved"),
    pytest.param(tried(*map(NO_MATCH.format, "ab"), SAVED).sh("npm test", "12 passed"), "", id="two tries"),
]

ERRORS: list[Any] = [
    pytest.param(
        asked("execute", "code", CODE, "Sandbox error: Exception: Unknown tool: list_sites"),
        "same_error",
        id="an unknown tool in a sandbox",
    ),
    pytest.param(
        asked("run_code", "code", CODE, "Execution error: ReferenceError: fetchRows is not defined"),
        "same_error",
        id="an unknown name in a program",
    ),
    pytest.param(
        asked("eval_script", "source", CODE, "Runtime error (line 3): module 'net' has no attribute 'sites'"),
        "same_error",
        id="an unknown attribute",
    ),
    pytest.param(
        asked("execute", "code", CODE, *(f"Sandbox error: Exception: Unknown field: f{n}" for n in "abcdef")),
        "",
        id="another error each time",
    ),
    pytest.param(
        asked("execute", "code", CODE, "Sandbox error: Exception: Unknown tool: list_sites", '[{"id": 1}]'),
        "",
        id="every second one works",
    ),
    pytest.param(
        asked("execute", "code", CODE, *(f"Runtime errors: 0 in {n} rows" for n in range(6))),
        "",
        id="a count of errors",
    ),
]


@pytest.mark.parametrize(("run", "kind"), [*REFUSALS, *ERRORS])
def test_twins(run: Session, kind: str) -> None:
    assert loops(run) == ([kind] if kind else [])
