"""Finds replies without calls that say the same again and again."""

from __future__ import annotations

import re
from typing import Final

from loopaudit.core import regex
from loopaudit.core.events import Batch, seconds
from loopaudit.core.findings import Episode
from loopaudit.core.text import one_line
from loopaudit.hindsight.calls.failures import category_of
from loopaudit.hindsight.episodes.likeness import Text, alike
from loopaudit.hindsight.episodes.verdict import UNIT_SHOWN

NEED: Final = 3
"""Replies that say what an earlier one said, beyond that one, that make a loop."""

NEED_OUTAGE: Final = 6
"""The same where the text reports an outage of the model's own service."""

SHORT: Final = 400
"""Longest reply in characters that may be no more than the report of an outage."""

REMEMBERED: Final = 4
"""Different replies that a new one is compared with, so that texts in turn are found."""

MAX_GAP: Final = 2
"""Replies with other words after which a stretch is over."""

_ANSWER: Final = regex.lazy(
    r"\s*(?:<(?:tool_response|observation|result|output|returncode|function_results?|execution)\b"
    r"|\[?(?:observation|(?:tool |execution |command )?(?:result|output|response))\]?\s{0,2}:)",
    re.IGNORECASE,
)
"""How a message begins that hands an agent without calls what its last action gave."""


_BEGINNINGS: Final = frozenset("<[OoRrTtEeCc")
"""The characters with which such a beginning begins; spares looking for it in most messages."""


def _is_answer(message: str) -> bool:
    """Whether a message hands over what an action gave."""
    first = message[:1]
    return (first in _BEGINNINGS or first.isspace()) and _ANSWER.match(message) is not None


MAX_NOTED: Final = 64
"""Replies and messages that wait to be looked at."""


class Replies:
    """One agent's replies since its last call.

    Most are followed by a call before they could be a loop, or answer a person one by one. Until enough of them may
    repeat another one they are only noted, with what was written between them, and never compared.
    """

    __slots__ = ("_asked", "_compared", "_may_repeat", "_noted", "_waiting", "open")

    def __init__(self) -> None:
        self.open = False
        """Whether a reply is remembered."""
        self._noted: list[tuple[Batch, int] | str | None] = []
        """Replies with the turn in which they came, messages, and ``None`` where a guard of the harness spoke."""
        self._waiting = 0
        """How many of them are replies."""
        self._may_repeat = 0
        """How many of these count if they say what an earlier one said."""
        self._asked = False
        """Whether the last one is certainly followed by a person's message."""
        self._compared: _Compared | None = None

    def reply(self, batch: Batch, turn: int) -> Episode | None:
        """The next reply without calls. Gives the episode that it ended, if it ended one."""
        text = batch.text
        if not text[:1].isalnum() and not any(map(str.isalnum, text)):
            return None  # it holds no word
        if self._compared is not None:
            return self._compared.reply(batch, turn)
        self._may_repeat += self._waiting > 0 and (not self._asked or _is_question(text))
        self._asked = False
        self._noted.append((batch, turn))
        self._waiting += 1
        self.open = True
        if self._may_repeat >= NEED or len(self._noted) > MAX_NOTED:
            self._compare()
        return None

    def _compare(self) -> None:
        """Compare what was noted, and from now on each reply as it comes."""
        self._compared = compared = _Compared()
        for noted in self._noted:
            if noted is None:
                compared.guard_spoke()
            elif isinstance(noted, str):
                compared.turn(noted)
            else:
                compared.reply(*noted)  # too few to end an episode
        self._forget()

    def _forget(self) -> None:
        self._noted.clear()
        self._waiting = self._may_repeat = 0
        self._asked = False

    def turn(self, message: str) -> None:
        """A message that is not the agent's, nor one that only says *go on*."""
        if self._compared is not None:
            self._compared.turn(message)
        elif self._waiting:
            self._asked = not _is_answer(message)
            self._noted.append(message)
            if len(self._noted) > MAX_NOTED:
                self._compare()

    def guard_spoke(self) -> None:
        """A guard of the recording harness spoke."""
        if self._compared is not None:
            self._compared.guard_spoke()
        elif not self._noted or self._noted[-1] is not None:
            self._noted.append(None)

    def close(self, ended: str, session: str, agent: str) -> Episode | None:
        """End what goes on. Gives it as an episode if it is a loop."""
        if self._compared is not None:
            episode = self._compared.close(ended, session, agent)
            self._compared = None
            self.open = False
            return episode
        if self.open:
            self.open = False
            self._forget()
        return None


def _is_question(reply: str) -> bool:
    """Whether a reply with a word in it ends as a question does."""
    return reply.rstrip()[-1:] in "?？"


class _Compared:
    """Replies that are compared, each with the last few different ones before it.

    A person's message excuses a reply: who asks again gets the same answer again. Only a question
    that comes back whatever the person writes is not excused by it.
    """

    __slots__ = (
        "_answer", "_asked", "_at_end", "_at_start", "_first_line", "_gap", "_guard", "_last_line", "_need",
        "_novel", "_questions", "_strong", "_texts", "_tokens", "_turn", "_unit",
    )  # fmt: skip

    def __init__(self) -> None:
        self._texts: list[Text] = []
        self._answer: int | None = None
        self._reset()

    def _reset(self) -> None:
        self._texts.clear()
        self._answer = None
        self._asked = self._guard = False
        self._strong = self._questions = self._novel = self._gap = 0
        self._need = NEED
        self._first_line = self._last_line = self._turn = 0
        self._tokens: int | None = None
        self._at_start: float | None = None
        self._at_end: float | None = None
        self._unit = ""

    def reply(self, batch: Batch, turn: int) -> Episode | None:
        """The next reply with a word in it. Gives the episode that it ended, if it ended one."""
        asked, self._asked = self._asked, False
        text = Text(batch.text)
        for earlier in self._texts:
            if alike(text, earlier):
                break
        else:
            return self._other(batch, text, asked=asked)
        if asked and not _is_question(batch.text) and not self._enough():
            return None
        if not self._strong and not self._questions:
            self._first_line, self._turn = batch.line, turn
            self._unit = one_line(batch.text, UNIT_SHOWN)
            self._at_start = seconds(batch.at)
            self._need = NEED_OUTAGE if len(batch.text) <= SHORT and category_of(batch.text) == "outage" else NEED
            self._novel = 0
        self._novel += self._gap
        self._gap = 0
        if asked:
            self._questions += 1
        else:
            self._strong += 1
        self._last_line = batch.line
        self._at_end = seconds(batch.at)
        spent = batch.usage.total if batch.usage is not None else None
        if spent is not None:
            self._tokens = (self._tokens or 0) + spent
        return None

    def _other(self, batch: Batch, text: Text, *, asked: bool) -> Episode | None:
        """A reply that says something else."""
        self._gap += 1
        ended = None
        if (asked or self._gap > MAX_GAP) and (self._strong or self._questions):
            ended = self.close("user_stepped_in" if asked else "moved_on", batch.session, batch.agent)
        if len(self._texts) >= REMEMBERED:
            del self._texts[0]
        self._texts.append(text)
        return ended

    def turn(self, message: str) -> None:
        """A message that is not the agent's, nor one that only says *go on*."""
        if not self._texts:
            return
        if not _is_answer(message):
            self._asked = True
            return
        answer = hash(message)
        if answer != self._answer:
            self._asked = self._answer is not None
            self._answer = answer

    def guard_spoke(self) -> None:
        """A guard of the recording harness spoke."""
        self._guard = True

    def close(self, ended: str, session: str, agent: str) -> Episode | None:
        """End what goes on. Gives it as an episode if it is a loop."""
        if not self._texts:
            return None
        episode = None
        repeats = self._strong + self._questions
        if self._enough() and repeats > self._novel:
            episode = Episode(
                kind="repeated_reply",
                session=session,
                agent=agent,
                first_call=0,
                last_call=0,
                unit=[self._unit],
                laps=repeats,
                calls=0,
                ended="recorded_guard" if self._guard and ended != "user_stepped_in" else ended,
                line=self._first_line,
                last_line=self._last_line,
                tokens=self._tokens,
                seconds=_between(self._at_start, self._at_end),
                turn=self._turn,
            )
        self._reset()
        return episode

    def _enough(self) -> bool:
        return self._strong + self._questions >= self._need


def _between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else max(end - start, 0.0)
