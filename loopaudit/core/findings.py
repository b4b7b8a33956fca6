"""What policies decide and what a report is made of.

:class:`Decision` is what a guard says about a call or a batch; :class:`Finding` is a
decision with its place in the transcript; :class:`Problem` is something wrong with the
transcript itself. All positions are 1-based; ``line`` 0 means that the format has no lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final, Literal

import msgspec

from loopaudit.core.digests import blake2b


class Action(IntEnum):
    """One ladder for all guards, weakest first. The guard's own word stays beside it."""

    ALLOW = 0
    OBSERVE = 1
    WARN = 2
    NUDGE = 3
    ASK = 4
    REJECT = 5
    BLOCK = 6
    STRIP_TOOLS = 7
    STOP = 8

    @classmethod
    def from_slug(cls, slug: str) -> Action:
        """The action of a :attr:`slug`.

        Raises:
            KeyError: there is no such action.
        """
        return cls[slug.upper()]

    @property
    def word(self) -> str:
        """The word used in reports and on the command line (``hard stop`` for STOP)."""
        return _WORDS[self]

    @property
    def slug(self) -> str:
        """The word used in machine-readable output and in options (``strip_tools``)."""
        return self.name.lower()

    @property
    def refuses(self) -> bool:
        """Whether the call does not run under a guard that says this."""
        return self in (Action.ASK, Action.REJECT, Action.BLOCK)


_WORDS: Mapping[Action, str] = {
    Action.ALLOW: "allow",
    Action.OBSERVE: "observe",
    Action.WARN: "warn",
    Action.NUDGE: "nudge",
    Action.ASK: "ask",
    Action.REJECT: "reject",
    Action.BLOCK: "block",
    Action.STRIP_TOOLS: "strip tools",
    Action.STOP: "hard stop",
}


class Decision(msgspec.Struct, gc=False):
    """What a guard decided at one call, or at a batch as a whole.

    ``position`` is the 0-based place of the call inside its batch, or -1 where the decision
    is about the batch. ``own_word`` is the guard's own name for the action (``halt``,
    ``feedback``); ``count`` is the number that the guard itself counts, by its own rule.
    ``skipped`` counts the later calls of the batch that a stop left out.
    """

    action: Action
    rule: str
    position: int = -1
    count: int = 0
    own_word: str = ""
    tool: str = ""
    skipped: int = 0
    details: dict[str, Any] | None = None


class Problem(msgspec.Struct, frozen=True, gc=False):
    """Something in the input that could not be used as it stands.

    ``damage`` is true where content was lost (a line that is no JSON), false where nothing
    was (a repeated record, an unknown record kind that carries no call).
    """

    kind: str
    message: str
    line: int = 0
    damage: bool = False


class Problems:
    """Problems of one transcript: all counted, the first few of each kind kept.

    ``counts`` maps a kind to its number; ``kept`` holds at most :attr:`LIMIT` of each.
    """

    LIMIT = 20

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.kept: list[Problem] = []
        self.damaged = 0

    def add(self, kind: str, message: str, *, line: int = 0, damage: bool = False) -> None:
        """Count a problem, and keep it if it is among the first of its kind."""
        seen = self.counts.get(kind, 0)
        self.counts[kind] = seen + 1
        if damage:
            self.damaged += 1
        if seen < self.LIMIT:
            self.kept.append(Problem(kind, message, line, damage))

    def clear(self) -> None:
        """Start counting anew."""
        self.counts = {}
        self.kept = []
        self.damaged = 0

    def __bool__(self) -> bool:
        return bool(self.counts)


BaselineState = Literal["", "unchanged", "moved", "changed", "new", "expired"]
"""How a firing or a loop stands to the baseline; empty where there is none."""

ACCEPTED: Final[frozenset[BaselineState]] = frozenset({"unchanged", "moved"})
"""States of what the baseline accepts."""


class Grade(msgspec.Struct, gc=False):
    """What hindsight says of a firing: a word of a closed list, why, and the evidence.

    ``evidence`` are numbers of calls; ``good`` is true for a justified intervention, false
    for a wrong one, ``None`` where the recording does not show it.
    """

    word: str
    why: str
    good: bool | None = None
    evidence: tuple[int, ...] = ()


class Finding(msgspec.Struct, gc=False):
    """A firing: a decision that is not ALLOW, with its place.

    ``policy`` is the label of the selected policy. ``call`` is the number of the call it is
    about; for a decision about a batch it is the batch's last call, and ``whole_batch`` is
    set. ``calls`` are the first and last call number of the batch. ``arguments`` is a short
    form for people. ``message`` is what the guard would have told the model. ``skipped``
    counts the last calls of the batch that a stop left out. ``baseline_state`` is set where a
    baseline was compared with, ``expected`` where an expectation requires the firing and is met.
    ``result`` is the beginning of the call's recorded result, safe to show, empty where none is
    recorded. ``false_rejection`` is, where a finding refuses, whether a call that it refused
    succeeded in the recording and brought something; ``None`` where it refuses nothing, or the
    recording does not show it.
    """

    policy: str
    action: Action
    own_word: str
    rule: str
    count: int
    tool: str
    session: str
    agent: str
    turn: int
    batch: int
    call: int
    calls: tuple[int, int]
    whole_batch: bool
    line: int
    arguments: str
    message: str
    key: str = ""
    details: dict[str, Any] | None = None
    grade: Grade | None = None
    skipped: int = 0
    baseline_state: BaselineState = ""
    result: str = ""
    expected: bool = False
    false_rejection: bool | None = None

    @property
    def accepted(self) -> bool:
        """Whether a check wants it to be there: an expectation requires it, or the baseline accepts it."""
        return self.expected or self.baseline_state in ACCEPTED

    @property
    def fingerprint(self) -> str:
        """Names the issue wherever it stands: 16 hex digits of policy, rule, tool and canonical key.

        Equal firings on equal calls share it, also over transcripts. It holds no position,
        time, path, session or agent.
        """
        return fingerprint_of(self.policy, self.rule, self.tool, self.key)


def fingerprint_of(*parts: str) -> str:
    """16 hex digits of these parts."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


LOOP: Final = "loop"
"""The word for a loop in options, rules and files."""

LOOPS: Final = f"{LOOP}/"
"""Stands for hindsight where findings are filed by policy; no policy can have this label."""

WAITING: Final = "waiting"
"""The one kind of an episode that is no loop."""


class Episode(msgspec.Struct, gc=False):
    """A stretch of a transcript without new information, as hindsight sees it.

    ``first_call`` is the first redundant call, ``unit`` the repeated calls in a short form,
    ``laps`` how often the unit was run again, ``calls`` the redundant calls in it. ``turn``
    is the agent's turn it began in, 0 where that is not known. Where nothing was called
    (replies, compactions), both call numbers and ``calls`` are 0, and ``line`` and ``last_line``
    tell where it begins and ends. ``baseline_state`` and ``expected``
    are as those of a :class:`Finding`; a loop is expected in a transcript that is there to hold a catch.
    ``key`` stands for the unit where that is shown otherwise than as it was found.
    """

    kind: str
    session: str
    agent: str
    first_call: int
    last_call: int
    unit: list[str]
    laps: int
    calls: int
    ended: str
    line: int = 0
    tokens: int | None = None
    seconds: float | None = None
    evidence: tuple[int, ...] = ()
    turn: int = 0
    last_line: int = 0
    baseline_state: BaselineState = ""
    expected: bool = False
    key: str = ""

    @property
    def rule(self) -> str:
        """The rule that a report files it under: ``loop/ping_pong``."""
        return f"{LOOPS}{self.kind}"

    @property
    def accepted(self) -> bool:
        """Whether a check wants it to be there: an expectation implies it, or the baseline accepts it."""
        return self.expected or self.baseline_state in ACCEPTED

    @property
    def unit_key(self) -> str:
        """Names the repeated calls in 32 hexadecimal digits."""
        unit = "\0".join(self.unit).encode("utf-8", "surrogatepass")
        return self.key or blake2b(unit, digest_size=16).hexdigest()

    @property
    def fingerprint(self) -> str:
        """Names the loop wherever it stands: 16 hex digits of its kind and the repeated calls, as of a finding."""
        return fingerprint_of(LOOPS, self.kind, "", self.unit_key)

    @property
    def is_loop(self) -> bool:
        """Whether it is a loop, and not a wait or a bounded retry within its budget."""
        return self.kind != WAITING
