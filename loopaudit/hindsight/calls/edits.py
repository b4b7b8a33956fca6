"""Follows the states of edited files, to see edits that are made again or go back and forth.

Nothing of a file is known but the edits made to it. A file's state is therefore the set of
edits in effect since it was first seen: an edit from A to B adds one, the edit from B back
to A takes it away again, and writing a whole file sets the state to its content. A state
that was there before is a return; the first return after a new state is an honest revert.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from loopaudit.core import regex
from loopaudit.hindsight.calls.ranges import PATCHES, PATH_NAMES, normal_path, patched_paths, path_of
from loopaudit.hindsight.calls.wordings import is_evicted

MAX_STATES: Final = 64
"""States remembered per file; with more the oldest is forgotten."""

MAX_FILES: Final = 512
"""Files followed per agent; with more the one edited longest ago is forgotten."""

_PAIRS: Final[Mapping[str, str]] = {
    "old_string": "new_string", "old_str": "new_str", "old": "new", "oldText": "newText", "old_text": "new_text",
    "search": "replace", "oldString": "newString", "old_content": "new_content", "find": "replace",
    "original": "replacement", "target": "replacement", "SEARCH": "REPLACE",
}  # fmt: skip
_CONTENTS: Final = ("content", "contents", "file_text", "text", "new_content", "code_edit", "data", "body")
_LISTS: Final = ("edits", "changes", "replacements", "operations")

_TAKEN: Final = regex.lazy(r"\n-(?!--)([^\n]*)")
_ADDED: Final = regex.lazy(r"\n\+(?!\+\+)([^\n]*)")

Move = Literal["new", "returned", "revert", "repeated"]
"""What an edit did: a new state, a return beyond the first, a first return, or nothing."""


class Edit(msgspec.Struct, frozen=True, gc=False):
    """What an edit call asks for: pairs of hashes from old to new text, or a whole content."""

    pairs: tuple[tuple[int, int], ...] = ()
    content: int | None = None


class _File(msgspec.Struct):
    state: int = 0
    effective: set[tuple[int, int]] = msgspec.field(default_factory=set)
    visited: dict[int, int] = msgspec.field(default_factory=dict)
    returns: int = 0
    touched: int = 0


def edit_of(arguments: Any) -> Edit | None:
    """What a call of an edit or write tool asks for, or ``None`` where that is not known."""
    if isinstance(arguments, str):
        return _patch(arguments)
    if not isinstance(arguments, dict):
        return None
    pair = _pair(arguments)
    if pair is not None:
        return Edit((pair,))
    for name in _LISTS:
        items = arguments.get(name)
        if isinstance(items, list) and items and len(items) <= 200:
            pairs = [p for item in items if isinstance(item, dict) and (p := _pair(item)) is not None]
            if len(pairs) == len(items):
                return Edit(tuple(pairs))
    for name in _CONTENTS:
        text = arguments.get(name)
        if isinstance(text, str):
            return None if is_evicted(text) else Edit(content=hash(text))
    for name in PATCHES:
        text = arguments.get(name)
        if isinstance(text, list) and text and isinstance(text[-1], str):
            text = text[-1]
        if isinstance(text, str):
            return _patch(text)
    return None


def _pair(arguments: Mapping[str, Any]) -> tuple[int, int] | None:
    for old, before in arguments.items():
        new = _PAIRS.get(old)
        if new is not None and isinstance(before, str):
            after = arguments.get(new)
            if isinstance(after, str) and not is_evicted(after):
                return hash(before), hash(after)
    return None


def _patch(text: str) -> Edit | None:
    """A patch as the pair of the lines that it takes away and those that it adds."""
    if "***" not in text and "@@" not in text and "\n+" not in text:
        return None
    taken, added = _lines_of(text, "-"), _lines_of(text, "+")
    if not taken and not added:
        return None
    return Edit(((hash("\n".join(taken)), hash("\n".join(added))),))


def _lines_of(text: str, sign: str) -> list[str]:
    """The lines of a patch that begin with one sign, without it; no heads (``---``, ``+++``)."""
    return (_TAKEN if sign == "-" else _ADDED).findall(f"\n{text}")


def edited_paths(arguments: Any) -> list[str]:
    """The files that the arguments of an edit tool name; several in a patch."""
    if isinstance(arguments, dict):
        path = path_of(arguments)
        if path is not None:
            return [path]
        for name in PATCHES:
            text = arguments.get(name)
            if isinstance(text, list) and text and isinstance(text[-1], str):
                text = text[-1]
            if isinstance(text, str):
                return patched_paths(text)
        return []
    return patched_paths(arguments) if isinstance(arguments, str) else []


def replaced_in(arguments: dict[str, Any]) -> tuple[str, Edit] | None:
    """The file and the :func:`edit_of` of the usual edit: one text for another in one file."""
    path: str | None = None
    pair: tuple[int, int] | None = None
    for name, value in arguments.items():
        new = _PAIRS.get(name)
        if new is None:
            if path is None and name in PATH_NAMES and isinstance(value, str) and value:
                path = normal_path(value)
        elif pair is None and isinstance(value, str):
            after = arguments.get(new)
            if isinstance(after, str) and not is_evicted(after):
                pair = hash(value), hash(after)
    return None if path is None or pair is None else (path, Edit((pair,)))


class Files:
    """The states of the files that one agent edited."""

    __slots__ = ("_files",)

    def __init__(self) -> None:
        self._files: dict[str, _File | tuple[Edit, int]] = {}
        """Of a file that was edited once, the edit and its call."""

    def apply(self, path: str, edit: Edit, number: int) -> tuple[Move, int]:
        """Record a successful edit; tell what it did, and the call that made that state before."""
        file = self._files.pop(path, None)
        if file is None:
            if len(self._files) >= MAX_FILES:
                del self._files[next(iter(self._files))]
            if edit.content is not None or len(edit.pairs) == 1:
                self._files[path] = (edit, number)  # a new state for sure; most files are edited once
                return "new", number
            file = _file(edit, number)
        elif isinstance(file, tuple):
            first, at = file
            file = _file(first, at)
            self._apply(file, first, at)
        self._files[path] = file
        return self._apply(file, edit, number)

    def _apply(self, file: _File, edit: Edit, number: int) -> tuple[Move, int]:
        before = file.state
        if edit.content is not None:
            file.effective.clear()
            file.state = hash(("content", edit.content))
        else:
            for pair in edit.pairs:
                self._change(file, pair)
        file.touched = number
        if file.state == before and (edit.content is not None or edit.pairs):
            if edit.content is not None or any(old == new for old, new in edit.pairs):
                return "repeated", file.visited.get(before, number)
            return "new", number  # several pairs that cancel each other
        earlier = file.visited.get(file.state)
        if earlier is None:
            if len(file.visited) >= MAX_STATES:
                del file.visited[next(iter(file.visited))]
            file.visited[file.state] = number
            file.returns = 0
            return "new", number
        file.returns += 1
        return ("revert" if file.returns == 1 else "returned"), earlier

    @staticmethod
    def _change(file: _File, pair: tuple[int, int]) -> None:
        old, new = pair
        back = (new, old)
        if back in file.effective:
            file.effective.discard(back)
            file.state ^= _mixed(back)
        elif pair in file.effective:
            # The same replacement once more: another place in the file, so another state.
            file.state ^= _mixed((file.state, hash(pair)))
        else:
            if len(file.effective) >= 1024:
                file.effective.clear()
            file.effective.add(pair)
            file.state ^= _mixed(pair)

    def forget(self, path: str) -> None:
        """A file was changed by other means: its states are no longer known."""
        self._files.pop(path, None)


def _file(edit: Edit, number: int) -> _File:
    """A file of which this is the first edit."""
    return _File() if edit.content is not None else _File(visited={0: number})


def _mixed(pair: tuple[int, int]) -> int:
    return hash(("edit", *pair))
