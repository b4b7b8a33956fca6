"""One watched file: what was read of it, what was reported, and what to do when it changes.

A file is *cold* until it grows: nothing of it is read. Then it is followed by lines, or, if it is one document,
read anew whenever it was written. A followed file may be put to rest: when it grows again it is read again from its
beginning, silently up to where it was, because the guards need their state.

The module is long because the ways in which a file may change share one state: how far it was read and reported.
"""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from loopaudit.audit.session import FileAudit, guarded
from loopaudit.audit.watch.feeds import AHEAD, Feed, FileFeed, PipeFeed
from loopaudit.audit.watch.follower import Follower, read_document
from loopaudit.audit.watch.look import Look, look
from loopaudit.audit.watch.marks import Marks, marks_of, still_there
from loopaudit.audit.watch.notices import Firing
from loopaudit.audit.watch.notifier import Notifier, Notify
from loopaudit.audit.watch.scanner import Seen
from loopaudit.config.options import Options
from loopaudit.core.errors import LoopauditError, reason_of
from loopaudit.core.report import FileProblem
from loopaudit.readers.probe import Probe
from loopaudit.readers.recognise import recognise
from loopaudit.readers.source import MAX_WHOLE, Source

STEP: Final = 1 << 20
"""Bytes of a file that are read before the others have their turn."""

State = Literal["cold", "lines", "document", "unknown", "ignored"]


class Tools(Struct, frozen=True):
    """What all watched files share."""

    options: Options
    threads: Executor
    notify: Notify


class Watched:
    """A file, or a pipe (``feed``), under watch. ``silent`` are the first bytes whose firings are not reported."""

    def __init__(
        self, path: str, shown: str, seen: Seen, tools: Tools, *, named: bool, silent: int, feed: PipeFeed | None = None
    ) -> None:
        self.path = path
        self.shown = shown
        self.named = named
        self.seen = seen
        self.state: State = "cold"
        self.due = False
        """Whether there is something to read, be it now or when it is written to its end."""
        self.follower: Follower | None = None
        self.was_followed = False
        self.notifier = Notifier(shown, tools.notify)
        self._tools = tools
        self._pipe = feed
        self._feed: Feed | None = feed
        self._silent = silent
        self._reported = silent
        """Bytes whose firings were reported, or are not to be."""
        self._look: Look | None = None
        self._marks: Marks | None = None
        self._settled = True
        self._is_partial = False
        """Whether the document, as it was last read, was half written or damaged, and nothing of it reported."""
        self._last: list[Firing] = []
        """Firings that come out if the file ends here."""
        self._calls = 0

    # -- changes from outside --------------------------------------------------------------

    def observe(self, seen: Seen) -> None:
        """Take what the file looks like now."""
        before, self.seen = self.seen, seen
        if seen == before:
            self._settled = True
            return
        self._settled = False
        if self.state == "document":
            self.due = True
        elif seen.identity != before.identity:
            self._replace("another file has taken its place", rest=True)
        elif self.state in ("cold", "lines") and seen.size < max(self._position(), self._silent):
            self._replace("it was truncated")
        elif self._marks is not None:
            kept = still_there(Path(self.path), self._marks)
            if kept == "none":
                self._replace("its content was replaced")
            elif kept == "head":
                self._replace("it was rewritten", same=True)
        elif self.state in ("unknown", "ignored") and seen.size < before.size:
            self._replace("")
        self.due = self.due or (self.state != "ignored" and seen.size != self._position())

    def rename(self, path: str, shown: str) -> None:
        """The same file has another name."""
        self.path, self.shown, self.notifier.shown = path, shown, shown
        if self.follower is not None:
            self.follower.rename(path, shown)

    def _position(self) -> int:
        if self.follower is not None:
            return self.follower.offset
        return self._marks.offset if self._marks is not None else self._silent

    def _replace(self, why: str, *, same: bool = False, rest: bool = False) -> None:
        """The content is another one.

        ``same``: of the same session, so that nothing is reported twice. ``rest``: what was not read of the old one
        can still be read.
        """
        self.end(rest=rest)
        if why and self.was_followed:
            self.notifier.note(f"{why}: read from its beginning", once=same)
        self.state = "cold"
        self._silent = self._reported = 0
        self._look = self._marks = None
        self._is_partial = False
        if same:
            self.notifier.written_anew()
        else:
            self.notifier.replaced()
        self.due = self.seen.size > 0

    # -- reading ---------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether :meth:`step` has something to do now. A document that just changed may still be being written."""
        return self.due and (self.state != "document" or self._settled)

    def step(self) -> None:
        """Read on, at most :data:`STEP` bytes; ``due`` is whether more is to be read."""
        if self._pipe is not None:
            self._pipe.take()
        size = self.size
        if self._look is None or (self._look.size != size and not self._look.full) or self.state == "document":
            self._look_again(size)
        if self.state == "document":
            self.due = False
            self._read_document(at_end=False)
        elif self.state != "lines":
            self.due = False
        elif self.follower is not None or self._begin():
            self._read_on(size)

    @property
    def size(self) -> int:
        """Bytes there are."""
        return self._pipe.total if self._pipe is not None else self.seen.size

    def _look_again(self, size: int) -> None:
        """Recognise the file by what is there, and begin anew: readers decide by the same first lines."""
        feed = self._open()
        if feed is None:
            return
        # Of a pipe nothing can be read again, so that it is held up to there.
        limit = MAX_WHOLE if self._pipe is None else AHEAD // 2
        now: Look | None = None

        def work() -> FileAudit:
            nonlocal now
            now = look(feed, size, limit=limit, format_id=self._tools.options.format_id)
            return FileAudit()

        failure = guarded(self.shown, work).failure
        self._look = now
        if self.follower is not None:
            self.follower.stop()
            self.follower = None
        if now is None:
            self.state = "ignored"
            self._close()
            if failure is not None:
                self.notifier.fail(failure)
            return
        if self.state == "document":
            self.notifier.keep()
        if now.compression is not None:
            self.state = "ignored"
            self._give_up(f"a {now.compression} file is not followed", "replay it when it is finished")
        elif now.whole and self._pipe is None:
            self.state = "document"
            self._close()
        elif now.reader is not None:
            self.state = "lines"
        else:
            self.state = "ignored" if now.full else "unknown"
            self._close()
        if self.state != "lines":
            # Thousands of files may be watched: what was seen of each is not kept.
            self._look = replace(now, probe=Probe(now.probe.shape))

    def _open(self) -> Feed | None:
        if self._feed is None:
            try:
                self._feed = FileFeed(Path(self.path))
            except OSError as error:
                self.due = False
                self.state = "ignored"
                self._give_up(f"cannot be read: {reason_of(error)}", None)
        return self._feed

    def _close(self) -> None:
        if self._feed is not None and self._pipe is None:
            self._feed.close()
            self._feed = None

    def _begin(self) -> bool:
        feed = self._open()
        if feed is None or self._look is None or self._look.reader is None:
            return False
        tools = self._tools
        self.follower = Follower(
            feed, self._look.reader, self._look.probe, tools.options, self.path, self.shown, tools.threads
        )
        self.was_followed = True
        self._last = []
        self.notifier.goes_on()
        return True

    def _read_on(self, size: int) -> None:
        follower = self.follower
        if follower is None:
            return
        begin = follower.offset
        target = min(size, begin + STEP)
        if begin < self._reported:
            target = min(target, self._reported)
        follower.advance(target)
        self._collect(silent=follower.offset <= self._reported)
        self._reported = max(self._reported, follower.offset)
        if self._pipe is None and self._feed is not None:
            self._marks = marks_of(self._feed, self._marks, follower.offset)
        elif self._pipe is not None and self._look is not None and self._look.full:
            self._pipe.forget(follower.offset)
        self.due = begin < follower.offset < size
        if follower.over:
            self._ended_itself(follower)

    def _ended_itself(self, follower: Follower) -> None:
        """The reader gave up, or wants no more."""
        self.state = "ignored"
        self.due = False
        self.follower = None
        self._close()
        if follower.failure is not None:
            self.notifier.fail(follower.failure)

    def _collect(self, *, silent: bool) -> None:
        if self.follower is not None:
            fired, notices, problems, damaged = self.follower.take()
            self.notifier.firings(fired, silent=silent)
            if not silent:
                self.notifier.rest(notices, problems, damaged)

    def _read_document(self, *, at_end: bool) -> None:
        """Read a document that was written anew, and report what is new in it."""
        path = Path(self.path)
        document, failure = read_document(path, self.path, self.shown, self._tools.options)
        self._is_partial = failure is None and not (document.complete or at_end)
        if failure is not None or self._is_partial:
            # No transcript (yet), or one that may be read as a whole when it is written to its end.
            return
        silent = self._silent > 0
        self._silent = 0
        self.was_followed = True
        if document.calls < self._calls:
            self.notifier.note("another conversation has taken its place")
            self.notifier.replaced()
        else:
            self.notifier.written_anew()
        self._calls = document.calls
        self.notifier.firings(document.fired, silent=silent)
        self._last = [] if silent else document.last
        self.notifier.rest(document.notices, document.problems, document.damaged)

    # -- the end ---------------------------------------------------------------------------

    def rest(self) -> None:
        """Give the thread back; what waits for a next record is kept, and reported if there is none."""
        if self.follower is not None:
            changed = self.follower.offset > self._silent or not self._silent
            self._finish()
            fired, _, _, _ = self.follower.take()
            self._last = fired if changed else []
            self.follower = None
            self._look = None
            self._close()

    def end(self, *, rest: bool = False) -> None:
        """The transcript has ended; report what waited for a next record. ``rest``: read the rest of an open file."""
        follower = self.follower
        if follower is not None:
            if rest and isinstance(self._feed, FileFeed):
                self._read_rest(follower, self._feed)
            changed = follower.offset > self._silent or not self._silent
            self._finish()
            self._collect(silent=not changed)
            if follower.failure is not None:
                self.notifier.fail(follower.failure)
            self.follower = None
        elif self.state == "document" and (self.due or self._is_partial):
            self._read_document(at_end=True)
        self._close()
        last, self._last = self._last, []
        self.notifier.firings(last, silent=False)
        self.notifier.keep()
        self.due = False

    def abandon(self) -> None:
        """Stop without reporting anything more."""
        if self.follower is not None:
            self.follower.stop()
            self.follower = None
        self._close()

    def explain(self) -> None:
        """At the end of the watch: say of a file that the user named why nothing of it was read."""
        # What begins like a document may be none: a TOML file begins with a bracket too.
        is_unread = self.state in ("unknown", "ignored") or (self.state == "document" and not self.was_followed)
        if not is_unread or self.notifier.failed is not None or not self.size:
            return
        if self.named and self._pipe is None:
            try:
                with Source(self.path) as source:
                    recognise(source, self._tools.options.format_id)
            except LoopauditError as error:
                self.notifier.fail(FileProblem(self.shown, error.message, error.hint, error.exit_code))
        elif self.named:
            self._give_up("not a transcript in any known format", "`loopaudit formats` lists what can be read")

    def observe_pipe(self) -> bool:
        """Take what came through a pipe. False when it was read to its end."""
        pipe = self._pipe
        if pipe is None:
            return True
        pipe.take()
        looked_at = self._look.size if self._look is not None else 0
        if self.state == "ignored":
            pipe.forget(pipe.total)
        self.due = self.state != "ignored" and pipe.total > (self._position() if self.follower else looked_at)
        return self.due or not pipe.ended

    def _finish(self) -> None:
        if self.follower is not None:
            self.follower.finish()

    @staticmethod
    def _read_rest(follower: Follower, feed: FileFeed) -> None:
        """Read what was written before the file lost its name; of a truncated one nothing is left."""
        while follower.offset < feed.end() and not follower.over:
            before = follower.offset
            follower.advance(before + STEP)
            if follower.offset == before:
                return

    # -- notices ---------------------------------------------------------------------------

    def _give_up(self, message: str, hint: str | None) -> None:
        """Say why a file is not followed, if the user asked for it by name."""
        if self.named:
            self.notifier.fail(FileProblem(self.shown, f"{self.shown}: {message}", hint))
