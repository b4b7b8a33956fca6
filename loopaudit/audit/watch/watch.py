"""Watches transcripts: finds files, lets those that grew be read, and reports what fired.

One thread does everything by turns. A file is looked at from outside at each poll; a thread of
its own it has only while it grows, and no more than :data:`MAX_FOLLOWED` files have one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from msgspec import Struct

from loopaudit.audit.watch.feeds import PipeFeed
from loopaudit.audit.watch.notices import Firing, Notice, Summary
from loopaudit.audit.watch.notifier import Notify
from loopaudit.audit.watch.renames import match
from loopaudit.audit.watch.scanner import STDIN, Scanner, Seen, Sighting, seen_now, shown_as
from loopaudit.audit.watch.watched import Tools, Watched
from loopaudit.config.options import Options
from loopaudit.core.errors import ExitCode
from loopaudit.core.findings import Action

MAX_FOLLOWED: Final = 64
"""Files that are followed at the same time; the one that has been quiet for longest makes room for another."""

SCAN_SHARE: Final = 50
"""A scan comes again after this many times its own duration, at least: large folders cost a fiftieth of a processor."""

STOP: Final = "stop"
"""Put into the queue ``wake``, it ends the watch. A signal handler may do that."""


class Plan(Struct, frozen=True):
    """How to watch. All times in seconds.

    ``from_start``: report also what fired before the watch began. ``recent``: files that changed within this time
    before the watch are read at once, others when they grow. ``idle``: end when nothing has grown for so long.
    """

    interval: float = 1.0
    from_start: bool = False
    recent: float = 3600.0
    idle: float | None = None
    followed: int = MAX_FOLLOWED


class Watch:
    """A watch of what a user named. Use as a context manager: it has threads and open files.

    ``notify`` is called, in this thread, with each firing and notice. ``stdin`` is the descriptor
    that ``-`` stands for.
    """

    def __init__(self, paths: Sequence[str], options: Options, plan: Plan, notify: Notify, *, stdin: int = 0) -> None:
        """Check what is to be watched; nothing is read yet.

        Raises:
            InputError: something of it does not exist, or cannot be followed.
        """
        self.wake: SimpleQueue[str] = SimpleQueue()
        self.summary = Summary()
        self.strongest = Action.ALLOW
        """The strongest action of a policy that was reported."""
        self._plan = plan
        self._sink = notify
        self._scanner = Scanner(paths)
        self._threads = ThreadPoolExecutor(plan.followed, "loopaudit-reader")
        self._tools = Tools(options, self._threads, self._notify)
        self._files: dict[str, Watched] = {}
        self._pipes: list[Watched] = []
        self._quiet: dict[Watched, None] = {}
        """Followed files, the one that has been quiet for longest first."""
        self._refused = 0
        self._exit = int(ExitCode.OK)
        self._began = False
        self._only_pipes = all(path == STDIN or Path(path).is_fifo() for path in paths)
        self._had: set[str] = set()
        """Names of pipes; one that has ended is not opened again."""
        self._scan_again = 0.0
        self._stopping = False
        self._grew = time.monotonic()
        if STDIN in paths:
            self._add_pipe("<stdin>", PipeFeed(stdin, self.wake))

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *exc: object) -> None:
        for watched in [*self._files.values(), *self._pipes]:
            watched.abandon()
        self._threads.shutdown()

    # -- running ---------------------------------------------------------------------------

    def run(self) -> int:
        """Watch until :data:`STOP` comes, nothing grows any longer, or all pipes have ended. Returns the exit code."""
        plan = self._plan
        while not self._stopping:
            busy = self.poll()
            self._note_empty()
            if self._only_pipes and self._had and not self._pipes:
                break
            if not busy and plan.idle is not None and time.monotonic() - self._grew >= plan.idle:
                break
            self._pause(0.0 if busy else self._wait())
        return self.finish()

    def _wait(self) -> float:
        """Seconds until the next poll; the end by idleness is met."""
        wait = self._plan.interval
        if self._plan.idle is not None:
            wait = min(wait, max(self._grew + self._plan.idle - time.monotonic(), 0.0))
        return wait

    def _pause(self, seconds: float) -> None:
        """Wait, but no longer than until something comes; then take all that came."""
        try:
            item = self.wake.get(timeout=seconds) if seconds > 0 else self.wake.get_nowait()
            while True:
                self._stopping = self._stopping or item == STOP
                item = self.wake.get_nowait()
        except Empty:
            return

    def poll(self, *, everywhere: bool = False) -> bool:
        """Look at everything once and let what grew be read on a step. Returns whether there is more to read at once.

        Large folders are scanned less often than files are looked at, unless ``everywhere`` asks for it.
        """
        now = time.monotonic()
        if everywhere or now >= self._scan_again:
            found = self._scanner.scan()
            self._reconcile(found)
            self._note_refused()
            self._scan_again = now + (time.monotonic() - now) * SCAN_SHARE
        else:
            self._look_at_followed()
        self._look_at_pipes()
        self._read()
        return any(w.ready for w in self._everything())

    def _everything(self) -> list[Watched]:
        return [*self._files.values(), *self._pipes]

    def _read(self) -> None:
        """One step for each file that has something to read, as many as may be followed."""
        ready = [w for w in self._everything() if w.ready]
        ready.sort(key=lambda w: w.follower is None)
        for watched in ready[: self._plan.followed]:
            if watched.follower is None and len(self._quiet) >= self._plan.followed and not self._make_room():
                continue
            watched.step()
            self._grew = time.monotonic()
            self._quiet.pop(watched, None)
            if watched.follower is not None:
                self._quiet[watched] = None
            if not self.wake.empty():
                self._pause(0.0)
                if self._stopping:
                    return

    def _make_room(self) -> bool:
        for watched in self._quiet:
            if not watched.due:
                watched.rest()
                del self._quiet[watched]
                return True
        return False

    # -- what there is ---------------------------------------------------------------------

    def _reconcile(self, found: dict[str, Sighting]) -> None:
        """Bring the table of files up to date, and let each file see what it looks like now."""
        known = self._files
        if found.keys() != known.keys() or any(found[p].seen.identity != w.seen.identity for p, w in known.items()):
            self._regroup(found)
        for path, watched in self._files.items():
            seen = found[path].seen
            if seen != watched.seen or watched.due:
                watched.observe(seen)
        self._began = True

    def _regroup(self, found: dict[str, Sighting]) -> None:
        """Take in new files, follow renamed ones, and end those that are gone."""
        files, renamed = match(found, self._files)
        for watched, path, taken_over in renamed:
            if taken_over:
                # A log that is rotated has ended.
                watched.end(rest=True)
            watched.rename(path, shown_as(path, found[path].root))
        kept = set(files.values())
        for watched in self._files.values():
            if watched not in kept:
                self._gone(watched)
        for path, sighting in found.items():
            if sighting.pipe:
                if path not in self._had:
                    self._add_pipe(path, PipeFeed(Path(path), self.wake))
            elif path not in files:
                files[path] = self._add(path, sighting)
        self._files = {path: files[path] for path in found if path in files}

    def _add(self, path: str, sighting: Sighting) -> Watched:
        seen = sighting.seen
        old = not self._began and not self._plan.from_start
        shown = shown_as(path, sighting.root)
        silent = seen.size if old else 0
        watched = Watched(path, shown, seen, self._tools, named=sighting.named, silent=silent)
        age = time.time() - seen.mtime_ns / 1e9
        watched.due = seen.size > 0 and (self._began or sighting.named or age <= self._plan.recent)
        self.summary.files += 1
        return watched

    def _add_pipe(self, name: str, feed: PipeFeed) -> None:
        self._had.add(name)
        seen = Seen(0, 0, 0, 0)
        self._pipes.append(Watched(name, name, seen, self._tools, named=True, silent=0, feed=feed))
        self.summary.files += 1

    def _gone(self, watched: Watched) -> None:
        was_followed = watched.was_followed
        self._end(watched)
        if was_followed or watched.named:
            watched.notifier.note("the file is gone")

    def _look_at_followed(self) -> None:
        """Between two scans: only those that are being followed."""
        for watched in list(self._quiet):
            seen = seen_now(watched.path)
            if seen is not None:
                watched.observe(seen)

    def _look_at_pipes(self) -> None:
        for watched in list(self._pipes):
            if not watched.observe_pipe():
                self._pipes.remove(watched)
                self._end(watched)

    def _note_empty(self) -> None:
        """After the first look: whatever comes from now on is new."""
        for pattern in self._scanner.empty:
            self._notify(Notice("note", pattern, "nothing matches this yet"))
        self._scanner.empty.clear()

    def _note_refused(self) -> None:
        for folder in self._scanner.refused[self._refused :]:
            self._notify(Notice("note", folder, "a folder that is one transcript is not followed"))
        self._refused = len(self._scanner.refused)

    # -- the end ---------------------------------------------------------------------------

    def finish(self) -> int:
        """Look at everything for the last time, report what waited, and return the exit code."""
        stopped, self._stopping = self._stopping, False
        while self.poll(everywhere=True) and not stopped and not self._stopping:
            # Whoever stops the watch does not want to wait for what is not read yet.
            self._pause(0.0)
        for watched in self._everything():
            if watched.due and watched.state in ("cold", "lines"):
                # What waits in the middle of a file has not ended.
                self.summary.unread += 1
                watched.abandon()
            self._end(watched)
        self._files.clear()
        self._pipes.clear()
        return self._exit

    def _end(self, watched: Watched) -> None:
        """End a file's last transcript and count what it was."""
        watched.end()
        watched.explain()
        self._quiet.pop(watched, None)
        summary = self.summary
        summary.followed += watched.was_followed
        summary.damaged += watched.notifier.damaged
        summary.unrecognised += watched.state in ("unknown", "ignored") and not watched.was_followed
        if watched.notifier.failed is not None:
            self._exit = max(self._exit, watched.notifier.failed.exit_code)

    # -- notices ---------------------------------------------------------------------------

    def _notify(self, item: Firing | Notice) -> None:
        summary = self.summary
        if isinstance(item, Notice):
            if item.kind == "crash":
                summary.crashes += 1
                self._exit = int(ExitCode.INTERNAL)
            elif item.kind == "failure":
                summary.failures += 1
        elif item.recorded:
            summary.recorded += 1
        else:
            action = item.finding.action
            summary.by_action[action] = summary.by_action.get(action, 0) + 1
            self.strongest = max(self.strongest, action)
        self._sink(item)
