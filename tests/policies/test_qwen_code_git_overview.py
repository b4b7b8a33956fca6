"""Which shell commands only look a repository over."""

from __future__ import annotations

import pytest

from loopaudit.policies.guards.qwen_code.git_overview import is_overview


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "  git  status -s  ",
        "GIT STATUS",
        "git status anything at all",
        "git --no-pager diff",
        "git -C /some/dir --no-pager -C x status",
        "git ls-files",
        "git -c color.ui=never status",  # the pattern ignores case throughout
        "git diff HEAD",
        "git diff HEAD~3^2 @ @~",
        "git diff --stat -w --cached",
        "git diff 0123abc",
        "git diff a..b",
        "git diff main...feature",
        "git diff HEAD --",
        "git status && git diff || git ls-files; git status | git diff & git status\ngit diff",
        ";;git status;",
    ],
)
def test_looks_over(command: str) -> None:
    assert is_overview(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        " ; | ",
        "status",
        "git",
        "git log",
        "git statusx",
        "git status_x",
        "gitstatus",
        "cd x && git status",
        "git status; make",
        "git diff file.py",
        "git diff main",
        "git diff 012345",
        "git diff " + "a" * 41,
        "git diff head",
        "git diff HEAD -- file",
        "git diff -- HEAD",
        "git diff ..b",
        "echo git status",
        "git -C",
    ],
)
def test_does_more(command: str) -> None:
    assert not is_overview(command)
