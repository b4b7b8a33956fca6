"""What the edits of one agent did: new states, returns to known ones, edits already applied."""

from __future__ import annotations

from loopaudit.core.events import Result
from loopaudit.hindsight.calls.changes import Changes
from loopaudit.hindsight.calls.edits import Files, Move, edit_of, edited_paths, replaced_in
from loopaudit.hindsight.calls.failing import Failed
from loopaudit.hindsight.calls.outputs import KnownCall, equal, held_of
from loopaudit.hindsight.calls.subject import Subject
from loopaudit.hindsight.calls.wordings import is_evicted
from loopaudit.hindsight.words import FIRST, RE_EDIT, CallClass


class Editing:
    """Follows the edits of one agent, and notes what they change.

    After :meth:`applied`, ``evidence`` is the call that made the same state before, and
    ``returned`` means that the file went back to it.
    """

    __slots__ = ("_changes", "_files", "_move", "evidence", "returned")

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._files = Files()
        self.evidence = 0
        self.returned = False
        self._move: Move | None = None

    def forget(self) -> None:
        """A person asked for something new: going back may be what was asked for."""
        self._files = Files()

    def failed(self, subject: Subject) -> None:
        """An edit failed: a look at its files is justified."""
        self._changes.edit_failed(subject.call.number, subject.arguments())

    def applied(self, subject: Subject) -> CallClass:
        """A successful call of an edit tool: ``re_edit``, or ``first`` where it made a new state."""
        arguments = subject.arguments()
        number = subject.call.number
        self.returned = False
        self._move = None
        usual = replaced_in(arguments) if isinstance(arguments, dict) else None
        if usual is not None:
            path, edit = usual
            move, self.evidence = self._files.apply(path, edit, number)
            return self._known(move, [path], number)
        paths = edited_paths(arguments)
        what = edit_of(arguments)
        if what is not None and what.content is not None and subject.kind not in ("write", "create"):
            what = None  # an insertion, or a sketch of a change
        if not paths:
            self._changes.edited(None, number)
            return FIRST
        if what is None:
            for path in paths:
                self._changes.edited(path, number)
                self._files.forget(path)
            return FIRST
        move, self.evidence = self._files.apply("\0".join(paths), what, number)
        return self._known(move, paths, number)

    def _known(self, move: Move, paths: list[str], number: int) -> CallClass:
        """The class of an edit that made this move."""
        self._move = move
        if move == "repeated":
            self._changes.settle(self.evidence)
            if self._changes.world <= self.evidence:
                return RE_EDIT
        for path in paths:
            self._changes.edited(path, number)
        self.returned = move == "returned"
        return RE_EDIT if self.returned else FIRST

    def again(self, subject: Subject, result: Result, entry: KnownCall, failed: Failed | None) -> CallClass | None:
        """An edit that was sent before: what it did now, or ``None`` where it is like any call.

        ``failed`` is its failure, if it failed.
        """
        if failed is not None:
            refused = not entry.failed and result.status != "denied"
            if refused and failed.failure().category in ("no_match", "not_found", "other"):
                self.evidence = entry.last
                return RE_EDIT
            return None
        arguments = subject.arguments()
        if isinstance(arguments, dict) and any(isinstance(v, str) and is_evicted(v) for v in arguments.values()):
            return CallClass.UNKNOWN  # the recorder let go of what was sent
        paths = edited_paths(arguments)
        # Another place in the file may be meant, but only a changed answer or a changed file tells so.
        touched = any(self._changes.since(entry.last, path) for path in paths) or not paths
        found = self.applied(subject)
        if found != FIRST:
            return found
        self.evidence = entry.last
        if entry.failed:
            return CallClass.RECOVERED
        if not touched and self._move != "revert" and equal(entry.held, held_of(result)):
            return RE_EDIT
        return CallClass.RECHECK if equal(entry.held, held_of(result)) else CallClass.INFORMATIVE
