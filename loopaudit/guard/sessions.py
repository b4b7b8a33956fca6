"""The conversations that a guard at work watches: by their growing transcripts, or by the hooks alone."""

from __future__ import annotations

import time
from concurrent.futures import Executor
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Final, Protocol

import orjson

from loopaudit.audit.watch.feeds import FileFeed
from loopaudit.audit.watch.follower import Follower
from loopaudit.config.options import Options
from loopaudit.core.arguments import of_arguments
from loopaudit.core.digests import blake2b
from loopaudit.core.events import Batch, Call
from loopaudit.core.files import replace_file
from loopaudit.core.findings import Action
from loopaudit.core.hooks import FORMATS, Answer, Asked, Harness
from loopaudit.guard.library import LiveGuard
from loopaudit.policies.contract import Guard, Selected
from loopaudit.readers.probe import Probe
from loopaudit.readers.registry import readers

TRIES: Final = 4
"""Looks for a call in the transcript, which the harness may write a moment after it runs the hook."""

PAUSE: Final = 0.015
"""Seconds between them."""

EXPIRES: Final = 7 * 86_400
"""Seconds after which the state of a conversation that nobody goes on with is removed."""


class Conversation(Protocol):
    """One conversation under guard."""

    def answer(self, asked: Asked) -> Answer:
        """What to tell the harness now."""

    def close(self) -> None:
        """Let go of it."""


class Followed:
    """A conversation whose transcript is read as it grows; each byte of it once.

    The decisions are those of a replay of the transcript, by the same engine. What a restarted
    server has to know beyond the transcript is how many of them were handed on: the state.
    """

    def __init__(self, harness: Harness, path: str, selected: Selected, threads: Executor, states: Path) -> None:
        """``states`` is the private folder of the states.

        Raises:
            OSError: there is no such transcript (yet).
        """
        self._path = path
        self._selected = selected
        self._feed = FileFeed(Path(path))
        options = Options(policies=[selected], hindsight=False)
        reader = readers().get(FORMATS[harness])
        self._follower = Follower(self._feed, reader, Probe("records"), options, path, path, threads)
        name = blake2b(f"{harness}\0{path}\0{selected.label}".encode("utf-8", "surrogateescape"), digest_size=16)
        self._state = states / f"state-{name.hexdigest()}.json"
        self._behind = self._load()
        self._found = 0
        self._stop = ""

    def answer(self, asked: Asked) -> Answer:
        """Read what is new, hand on what the policy found in it, and look ahead at a call that has not run."""
        notices = self._read_on()
        listener = self._follower.listener
        if asked.event != "before" or listener is None or listener.replay is None:
            return self._handed_on(notices, "")
        found = self._place(asked)
        for _ in range(TRIES - 1):
            if found is not None or not asked.call:
                break
            time.sleep(PAUSE)
            notices += self._read_on()
            found = self._place(asked)
        agent = found[0].agent if found is not None else ""
        guards = listener.replay.guards(agent)
        guard, stopped = guards[0]
        if guard is None:
            return self._handed_on(notices, "")
        if stopped:
            return self._handed_on(notices, "", stopped=True)
        if found is not None:
            batch, position = found
        else:
            guard, batch = self._after_waiting(guard, asked)
            position = 0
        decisions = [
            decision
            for decision in guard.ahead(batch)
            if decision.position in (position, -1) or (decision.action == Action.STOP and decision.position < position)
        ]
        strongest = max(decisions, key=lambda decision: decision.action, default=None)
        refused = "" if strongest is None else self._selected.policy.message(strongest)
        if strongest is not None and strongest.action == Action.STOP:
            self._stop = refused
            return self._handed_on(notices, refused, stopped=True)
        return self._handed_on(notices, refused)

    def close(self) -> None:
        """End the reader."""
        self._follower.stop()
        self._feed.close()

    @property
    def rewritten(self) -> bool:
        """Whether the transcript is another one, or shorter, than what was read of it."""
        try:
            now = Path(self._path).stat()
        except OSError:
            return True
        return self._follower.over or now.st_size < self._follower.offset or not self._feed.is_at(Path(self._path))

    # -- inside ----------------------------------------------------------------------------

    def _read_on(self) -> list[str]:
        """Read what is new; the words for the model of what was found in it."""
        self._follower.advance(self._feed.end())
        fired, _, _, _ = self._follower.take()
        words = []
        for firing in fired:
            finding = firing.finding
            if firing.recorded:
                continue
            self._found += 1
            if finding.action == Action.STOP:
                self._stop = finding.message
            if self._found <= self._behind or finding.action.refuses:
                continue  # a refusal was said when the call was about to run
            if finding.action > Action.OBSERVE:
                words.append(finding.message)
        return words

    def _handed_on(self, notices: list[str], refused: str, *, stopped: bool = False) -> Answer:
        if self._found > self._behind:
            self._behind = self._found
            self._save()
        words = "\n".join(dict.fromkeys(words for words in notices if words != self._stop))
        if stopped:
            return Answer(refused or self._stop, words, self._stop)
        return Answer(refused, words)

    def _place(self, asked: Asked) -> tuple[Batch, int] | None:
        """The response that holds the call, and its position; ``None`` while the transcript does not have it."""
        listener = self._follower.listener
        if listener is None or not asked.call:
            return None
        for agent in dict.fromkeys((asked.agent, *listener.emitter.totals.agents)):
            for batch in listener.emitter.waiting(agent):
                for position, call in enumerate(batch.calls):
                    if call.id == asked.call:
                        return batch, position
        return None

    def _after_waiting(self, guard: Guard, asked: Asked) -> tuple[Guard, Batch]:
        """A guard that has seen the responses that wait for their end, and the call as a response behind them."""
        listener = self._follower.listener
        waiting = [] if listener is None else listener.emitter.waiting("")
        copied = deepcopy(guard)
        for batch in waiting:
            list(copied.judge(batch))  # what it decides on them is handed on once the transcript goes on
        last = waiting[-1].calls[-1].number if waiting and waiting[-1].calls else 0
        form, source, is_json, key, _ = of_arguments(asked.tool, asked.arguments)
        call = Call(asked.call, last + 1, asked.tool, form, source, key, is_json)
        return copied, Batch("", "", waiting[-1].index + 1 if waiting else 1, [call])

    def _load(self) -> int:
        try:
            known = orjson.loads(self._state.read_bytes())
            return int(known["handed_on"]) if known.get("path") == self._path else 0
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    def _save(self) -> None:
        state = {"path": self._path, "policy": self._selected.label, "handed_on": self._behind}
        replace_file(self._state, orjson.dumps(state), 0o600)


class Listened:
    """A conversation of which only the hooks tell. It begins anew where the server does."""

    def __init__(self, selected: Selected) -> None:
        self._selected = selected
        self._guard = LiveGuard(selected.label)

    def answer(self, asked: Asked) -> Answer:
        """Pass a hook call on to the guard."""
        if asked.event == "turn":
            self._guard.turn(asked.text)
        elif asked.event == "compaction":
            self._guard.compacted()
        elif asked.event == "before":
            decision = self._guard.before((asked.tool, asked.arguments))
            if decision.refused:
                return Answer(decision.message, "", decision.message if decision.stops else "")
        elif asked.event == "after":
            decision = self._guard.observe((asked.tool, asked.arguments), asked.output, failed=asked.failed)
            if decision.stops:
                return Answer("", decision.message, decision.message)
            return Answer("", decision.message)
        return Answer()

    def close(self) -> None:
        """There is nothing to let go of."""


def expire(states: Path, now: float) -> None:
    """Remove states that nobody has written for :data:`EXPIRES` seconds, and what a killed server left of one."""
    for path in states.glob("*state-*"):
        with suppress(OSError):  # the server of another version has just removed it
            if now - path.stat().st_mtime > EXPIRES:
                path.unlink()
