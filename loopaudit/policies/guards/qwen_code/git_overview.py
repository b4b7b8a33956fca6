"""Tells shell commands that only look a git repository over, as qwen-code does."""

from __future__ import annotations

import re
from typing import Final

from loopaudit.core import regex
from loopaudit.policies.kit.utf16 import SPACE, trim, words

_CUT: Final = regex.lazy(r"&&|\|\||[;&|\n]")
_GIT: Final = regex.lazy(
    f"git(?:[{SPACE}]+(?:-C[{SPACE}]+[^{SPACE}]+|--no-pager))*[{SPACE}]+(status|diff|ls-files)(?![0-9A-Za-z_])",
    re.IGNORECASE,
)
_REVISION: Final = regex.lazy(r"(?:HEAD|@)(?:[~^][0-9]*)*|[0-9A-Fa-f]{7,40}|.+\.\.\.?.+", re.DOTALL)


def is_overview(command: str) -> bool:
    """Whether every segment of a command is ``git status``, ``git ls-files``, or ``git diff`` without paths.

    Segments are what stands between ``&&``, ``||``, ``;``, ``&``, ``|`` and line feeds. After ``diff`` only flags and
    revisions are allowed, and nothing after a ``--``.
    """
    if "git" not in command.lower():
        return False
    segments = [segment for segment in map(trim, _CUT.split(command)) if segment]
    return bool(segments) and all(map(_is_overview_segment, segments))


def _is_overview_segment(segment: str) -> bool:
    found = _GIT.match(segment)
    if found is None:
        return False
    if found.group(1).lower() != "diff":
        return True
    tokens = words(segment[found.end() :])
    if "--" in tokens[:-1]:
        return False
    return all(token.startswith("-") or _REVISION.fullmatch(token) for token in tokens)
