"""Finds a brief that is passed from agent to agent, and never worked on.

Whether the agents in between worked is known only at the end, when every call has its class. Until
then what is needed of each delegation is kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from loopaudit.core import canonical
from loopaudit.core.events import TEXT, Batch, Call, seconds
from loopaudit.core.findings import Episode
from loopaudit.core.text import one_line
from loopaudit.hindsight.calls.effects import TARGETS
from loopaudit.hindsight.episodes.likeness import Text, alike, holds, same_words
from loopaudit.hindsight.episodes.verdict import UNIT_SHOWN
from loopaudit.hindsight.record import Record

MAX_KEPT: Final = 1024
"""Delegations of one conversation that are kept."""

NEED: Final = 3
"""Times that a brief was passed on, beyond the first, that make a loop."""

NEED_CIRCLE: Final = 2
"""The same where it came back to an agent that had it already."""

NEED_BARE: Final = 4
"""The same for a mere handing over without a brief, that comes back."""

LOOKED_AT: Final = 64
"""The last delegations of a brief among which an agent is looked for."""

MAX_OPEN: Final = 8
"""Briefs that go about at the same time, of which each is looked for in a new delegation."""

MAX_LOOKS: Final = 1
"""Calls with news that an agent may make before it passes a brief on, and have passed it on all the same."""


class Delegation(msgspec.Struct):
    """A call that gives work to another agent. ``turns`` counts the messages of persons before it.

    ``brief`` is what is to be done, ``given`` all texts that go with it. ``arguments`` are the value, or the
    beginning of the text, of which an episode shows the beginning.
    """

    number: int
    agent: str
    target: str
    brief: Text
    given: Text
    name: str
    arguments: Any
    line: int
    at: float | None
    turn: int
    turns: int
    session: str


class Delegations:
    """The delegations of all agents of one conversation."""

    __slots__ = ("_kept", "turns")

    def __init__(self) -> None:
        self._kept: list[Delegation] = []
        self.turns = 0

    def note(self, call: Call, batch: Batch, turn: int, arguments: Any) -> None:
        """An agent gave work to another one."""
        if len(self._kept) >= MAX_KEPT:
            return
        target, brief, given = _parts(arguments)
        if call.form == TEXT or isinstance(arguments, str):
            arguments = call.raw_arguments[: 4 * UNIT_SHOWN]
        at = seconds(call.at if call.at is not None else batch.at)
        self._kept.append(
            Delegation(
                number=call.number,
                agent=batch.agent,
                target=target or ("" if brief else call.name),
                brief=Text(brief),
                given=Text(given),
                name=call.name,
                arguments=arguments,
                line=call.line or batch.line,
                at=at,
                turn=turn,
                turns=self.turns,
                session=batch.session,
            )
        )

    def episodes(self, record: Record) -> list[Episode]:
        """The briefs that went round, once every call has its class."""
        if len(self._kept) <= NEED_CIRCLE:
            return []
        self._kept.sort(key=lambda delegation: delegation.number)
        work = _Work(record, self._kept)
        chains: list[list[Delegation]] = []
        for delegation in self._kept:
            for chain in reversed(chains[-MAX_OPEN:]):
                if _passed_on(chain, delegation, work):
                    chain.append(delegation)
                    break
            else:
                chains.append([delegation])
        return [_episode(chain) for chain in chains if _goes_round(chain)]


class _Work:
    """What was done between delegations. To delegate is no work."""

    def __init__(self, record: Record, delegations: Sequence[Delegation]) -> None:
        self._record = record
        self._all: Sequence[int] | None = None
        effective = [one for one in delegations if record.made_progress(one.number)]
        self._numbers = [one.number for one in effective]
        self._by_agent: dict[str, list[int]] = {}
        for one in effective:
            self._by_agent.setdefault(one.agent, []).append(one.number)

    def of(self, agent: str, first: int, last: int) -> int:
        """How many calls of an agent between two call numbers were work."""
        return self._record.progress_of(agent, first, last) - _between(self._by_agent.get(agent, []), first, last)

    def of_all(self, first: int, last: int) -> int:
        """How many calls of all agents between two call numbers were work."""
        if self._all is None:
            self._all = self._record.progress()
        end = min(last - 1, len(self._all) - 1)
        return self._all[end] - self._all[min(first, end)] - _between(self._numbers, first, last)


def _between(numbers: list[int], first: int, last: int) -> int:
    return max(bisect_left(numbers, last) - bisect_right(numbers, first), 0)


_BRIEFS: Final = (
    "task", "prompt", "brief", "instructions", "instruction", "message", "request", "query", "input", "goal",
    "objective", "assignment", "work", "question",
)  # fmt: skip
"""Arguments that tell what is to be done, beside those that tell of the circumstances."""

LEAST_BRIEF: Final = 12
"""Characters of a text under such a name that can be a brief."""


def _parts(arguments: Any) -> tuple[str, str, str]:
    """To whom work is given, the brief, and all texts together. The brief is the longest of those that may be one."""
    if isinstance(arguments, str):
        return "", arguments, arguments
    if not isinstance(arguments, dict):
        return "", "", ""
    name = next((key for key in TARGETS if isinstance(arguments.get(key), str)), None)
    texts = {key: value for key, value in arguments.items() if key != name and isinstance(value, str)}
    briefs = [value for key, value in texts.items() if key in _BRIEFS and len(value) >= LEAST_BRIEF]
    brief = max(briefs or texts.values(), key=len, default="")
    return ("" if name is None else arguments[name]), brief, "\n".join(texts.values())


def _passed_on(chain: list[Delegation], now: Delegation, work: _Work) -> bool:
    """Whether a delegation hands on what the last one of a chain gave."""
    last = chain[-1]
    if now.turns != last.turns:
        return False
    if now.brief.empty or last.brief.empty:
        bare = now.brief.empty and last.brief.empty and now.target != last.target
        return bare and not work.of_all(last.number, now.number)
    if now.agent == last.agent:
        # Shares of one work are given out in nearly the same words, so here only the very words count.
        same = same_words(now.given, last.given)
        return same and work.of(now.agent, last.number, now.number) == 0
    if any(one.agent == now.agent for one in chain[-LOOKED_AT:]) and last.target != now.agent:
        return False  # it gave out one share, and now the next one
    if not (alike(now.brief, last.brief) or holds(now.brief, last.brief) or holds(last.brief, now.brief)):
        return False
    own = max((one.number for one in chain[-LOOKED_AT:] if one.agent == now.agent), default=0)
    return work.of(now.agent, own, now.number) <= MAX_LOOKS


def _goes_round(chain: list[Delegation]) -> bool:
    passed = len(chain) - 1
    if chain[0].brief.empty or all(one.agent == chain[0].agent for one in chain):
        return passed >= NEED_BARE and len({one.target for one in chain}) <= passed // 2
    had: set[str] = set()
    back = False
    for one in chain:
        had.add(one.agent)
        back = back or (one.target != "" and one.target in had)
        had.add(one.target)
    return passed >= NEED or (back and passed >= NEED_CIRCLE)


def _shown(one: Delegation) -> str:
    """The call in a short form."""
    text = one.arguments if isinstance(one.arguments, str) else canonical.compact(one.arguments)
    return f"{one.name} {one_line(text[: 4 * UNIT_SHOWN], UNIT_SHOWN)}".rstrip()


def _episode(chain: list[Delegation]) -> Episode:
    first, last = chain[1], chain[-1]
    unit: list[str] = []
    for one in chain:
        shown = _shown(one)
        if shown not in unit and len(unit) < 8:
            unit.append(shown)
    return Episode(
        kind="delegation_loop",
        session=first.session,
        agent=first.agent,
        first_call=first.number,
        last_call=last.number,
        unit=unit,
        laps=len(chain) - 1,
        calls=len(chain) - 1,
        ended="run_ended",
        line=first.line,
        seconds=None if first.at is None or last.at is None else max(last.at - first.at, 0.0),
        evidence=(chain[0].number,),
        turn=first.turn,
    )
