"""Loops of one agent that are no repeated calls: the same reply, plans without work, compactions without work."""

from __future__ import annotations

from loopaudit.core.events import Batch, Boundary, Call
from loopaudit.core.findings import Episode
from loopaudit.hindsight.calls.history import History
from loopaudit.hindsight.episodes.compactions import Compactions
from loopaudit.hindsight.episodes.plans import Plans
from loopaudit.hindsight.episodes.replies import Replies
from loopaudit.hindsight.words import CallClass


class Rounds:
    """Watches one agent. ``found`` gets each episode with 0, for no call ends it.

    ``open`` is whether anything is remembered that a call might end; while it is not, only the
    calls of tools that plan need to be handed over.
    """

    __slots__ = ("_compactions", "_found", "_history", "_replies", "agent", "open", "plans", "session")

    def __init__(self, history: History, session: str, agent: str, found: list[tuple[Episode, int]]) -> None:
        self._history = history
        self._found = found
        self._replies = Replies()
        self.plans = Plans()
        self._compactions = Compactions()
        self.open = False
        self.session = session
        self.agent = agent

    def call(self, call: Call, found: CallClass, batch: Batch) -> None:
        """The next call with its class; the history still tells about it."""
        plans = self.plans
        if self._replies.open:
            self._keep(self._replies.close("moved_on", self.session, self.agent))
            self.open = plans.open or self._compactions.open
        if plans.call(self._history, found, batch):
            if self.open:
                self._close_work("moved_on")
                self.open = False
        elif plans.open:
            self.open = True

    def reply(self, batch: Batch) -> None:
        """The next response without calls."""
        if batch.text:
            episode = self._replies.reply(batch, self._history.turn)
            if episode is not None:
                self._found.append((episode, 0))
            self.open = self.open or self._replies.open

    def turn(self, message: str) -> None:
        """A person wrote something new."""
        if self.open:
            self._replies.turn(message)
            if self.plans.open or self._compactions.open:
                self._close_work("user_stepped_in")
            self.open = self._replies.open

    def compacted(self, boundary: Boundary) -> None:
        """The context was compacted."""
        self._compactions.compacted(boundary, self._history.turn)
        self.open = True

    def guard_spoke(self) -> None:
        """A guard of the recording harness spoke."""
        self._replies.guard_spoke()

    def close(self, ended: str) -> None:
        """The recording ends, or the agent is forgotten, or a person interrupted it."""
        if self.open:
            if self._replies.open:
                self._keep(self._replies.close(ended, self.session, self.agent))
            self._close_work(ended)
            self.open = False

    def _close_work(self, ended: str) -> None:
        """End what only work or a person ends."""
        for watched in (self.plans, self._compactions):
            if watched.open:
                self._keep(watched.close(ended, self.session, self.agent))

    def _keep(self, episode: Episode | None) -> None:
        if episode is not None:
            self._found.append((episode, 0))
