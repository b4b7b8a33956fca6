"""A stretch without news in one agent's calls, and the verdict whether it is a loop.

A stretch holds calls that brought nothing new. They are counted by *member*: the same call,
the same tool failing the same way, the same file read again, the same answer of one tool.
Several calls of one response count once per member, because they were one decision.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import msgspec
from msgspec import Struct, field

from loopaudit.core.text import one_line
from loopaudit.hindsight.calls.failures import CURELESS, Category, category_of
from loopaudit.hindsight.calls.outputs import Held
from loopaudit.hindsight.calls.wordings import content_of, rejects
from loopaudit.hindsight.words import RE_EDIT, RE_READ, SAME_FAILURE, CallClass

POLL_BUDGET: Final = 40
"""Unchanged answers in a row that a wait may get before news come."""

STALE_BUDGET: Final = 20
"""Unchanged answers in a row that a wait may get that ends without news."""

RETRY_BUDGET: Final = 20
"""Equal results in a row before news that still make a retry or a look at something moving."""

MAX_NOVEL: Final = 7
"""Calls with news in a row after which a stretch is over."""

NEED: Final[dict[str, int]] = {
    "call": 2,
    "cureless": 2,
    "same_answer": 3,
    "failure": 3,
    "receipt": 3,
    "outage": 6,
    "edit": 2,
    "read": 4,
    "answer": 7,
    "rephrased": 5,
    "failing_answer": 3,
    "page": 4,
    "still": 4,
    "question": 3,
    "echo": 4,
    "over": 6,
    "ended": 4,
}
"""Repeats that make a loop, by what is repeated; one honest retry is always free."""

REDO: Final = 8
"""Repeats of different calls in one dense stretch that make a loop without a second lap."""

INTERLEAVED: Final = 4
"""Repeats of one call that make a loop although calls with news stand in between."""

SPARSE: Final = 6
"""Repeats of one call that make a loop however many calls with news, up to :data:`MAX_NOVEL`, stand between two."""

LAPS: Final = 3
"""Laps of known results that make a loop although each call may have changed something."""

DENSE: Final = 4
"""Known results in a row, one of them for the third time, of which a notice may be given before they are a loop."""

MAX_SEQUENCE: Final = 512

MAX_ANSWERS: Final = 16
"""Answers of a stretch by which its repeats are counted."""

UNIT_SHOWN: Final = 160
"""Characters of a call's arguments that an episode keeps."""

UNIT_READ: Final = 1024
"""Characters of a call's arguments that are kept while it is not known whether an episode will show them."""

Group = tuple[str, object]


class Member(msgspec.Struct):
    """What is repeated in a stretch: ``strong`` repeats without and ``weak`` with an excuse.

    ``arguments`` is the beginning of the argument text of its first call. ``waits`` counts the
    repeats that waited for something, ``at_once`` those of a waiting tool that did not wait,
    ``moves`` those of a look whose answer has moved by itself before, ``rephrased`` those of a question in other words.
    ``head`` is how its first answer begins, if it is no failure by its flag but may be one by its words: few are
    ever asked for that. ``failing_change`` means that it failed to change something.
    """

    index: int
    name: str
    arguments: str
    need: str = "call"
    strong: int = 0
    weak: int = 0
    batch: int = -1
    failing: int = 0
    waits: int = 0
    at_once: int = 0
    moves: int = 0
    rephrased: int = 0
    noise: int = 0
    category: Category = "other"
    empty: bool = False
    head: str = ""
    refusal: Category | None = None
    failing_change: bool = False

    @property
    def reason(self) -> Category:
        """What its first answer failed of, or refused it for."""
        if self.refusal is None:
            self.refusal = category_of(content_of(self.head)) if rejects(self.head) else self.category
        return self.refusal

    @property
    def curable(self) -> bool:
        """Whether a refusal named what would cure it."""
        return self.reason in CURELESS or self.reason in ("unmet", "no_match")

    @property
    def may_move(self) -> bool:
        """Whether the answer may change by itself (an outage, a look)."""
        return not self.curable and (self.reason == "outage" or not self.failing_change)

    @property
    def text(self) -> str:
        """The call as an episode tells it."""
        return f"{self.name} {one_line(self.arguments, UNIT_SHOWN)}".rstrip()


class Answer(msgspec.Struct):
    """An answer that a tool (in a shell, a program) gave to repeats of several calls.

    ``exact`` tells that one of these repeated an equal call, and not only a failure in other words.
    """

    scope: str
    held: Held
    times: int = 0
    exact: bool = False


class Opening(Struct, frozen=True):
    """Where calls without news begin: the call, its place, what it repeats, and when it was made, as recorded.

    ``member`` is the index of its member, ``by`` the tool that may have changed something before it.
    """

    call: int
    line: int
    evidence: int
    at: str | float | None
    member: int
    by: str


class Stretch(Struct):
    """What is known of the stretch that is going on.

    ``strong`` and ``weak`` count repeats without and with an excuse, once per response;
    ``asked`` are excused by something else than a change. ``novel`` calls with news stand
    between them and ``gap`` after the last one; ``moved`` of all these are looks that showed another
    answer than before. ``calls`` and ``numbers`` are all strong ones, ``excused`` counts the weak ones
    of a stretch without a strong one. ``answers`` are the answers of the strong ones by tool,
    whatever these asked. ``at_start`` and ``at_end`` are times as recorded: few stretches become an episode.
    """

    turn: int
    members: dict[Group, Member] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    sequence: list[int] = field(default_factory=list)
    first: int = 0
    first_weak: int = 0
    lead: Opening | None = None
    last: int = 0
    line: int = 0
    strong: int = 0
    weak: int = 0
    asked: int = 0
    excused: int = 0
    calls: int = 0
    novel: int = 0
    moved: int = 0
    gap: int = 0
    waited: int = 0
    redo: int = 0
    returned: int = 0
    kinds: dict[CallClass, int] = field(default_factory=dict)
    offsets: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    evidence: int = 0
    tokens: int | None = None
    at_start: str | float | None = None
    at_end: str | float | None = None
    answered: bool = False
    guard: bool = False
    patient: bool = False
    """Whether a person asked to keep looking."""

    def opening(self, call: int, member: int = 0, by: str = "") -> Opening:
        """What is noted as its beginning, with the number of that call."""
        return Opening(call, self.line, self.evidence, self.at_start, member, by)


class StretchVerdict(msgspec.Struct):
    """The verdict on a finished stretch."""

    kind: str
    laps: int
    unit: list[str]
    first: int


def verdict(s: Stretch, ended: str) -> StretchVerdict | None:
    """Whether a finished stretch is a loop or a wait worth telling, and which; else ``None``."""
    kind = kind_of(s, ended)
    if not kind:
        return None
    if not s.strong:
        laps, unit = _laps(s, list(s.members.values()))
        return StretchVerdict(kind, laps, unit, s.first_weak)
    _, top, main = _main(s)
    excused = [m for m in s.members.values() if not m.strong and m.weak > 1 and 3 * m.weak >= top.strong]
    laps, unit = _laps(s, main + excused)
    return StretchVerdict(kind, laps, unit, s.first)


def kind_of(s: Stretch, ended: str) -> str:
    """The kind of the :func:`verdict`; empty where there is none. Asked often, of stretches that are told seldom."""
    if s.strong == 1:
        return ""  # of nothing is one repeat enough
    return _kind_if_any(s, ended, *_main(s)) if s.strong else _kind_of_laps(s)


def _kind_if_any(s: Stretch, ended: str, members: list[Member], top: Member, main: list[Member]) -> str:
    """The kind of episode that a stretch with repeats is; empty if it is none. :func:`_main` gave its members."""
    budget = _budget(s, ended, main, top)
    if budget is not None:
        if top.strong > budget:
            return "stale_wait"
        return "waiting" if top.strong >= 2 else ""
    total = s.strong + s.weak + s.novel
    extra = 1 if s.novel or ended in ("moved_on", "answered") else 0
    dense = 2 * (s.strong + s.weak) >= total
    denser = 5 * (s.strong + s.weak) >= 4 * total
    loop = denser and any(a.exact and a.times >= NEED["same_answer"] for a in s.answers)
    for member in members:
        reworded = member.need == "answer" and 5 * member.rephrased >= 4 * member.strong
        need = NEED["rephrased" if reworded else member.need]
        enough = member.strong >= need + (extra if member.need in ("call", "failure", "cureless") else 0)
        loop = loop or (enough and dense)
        loop = loop or (member.need == "call" and member.strong >= INTERLEAVED and 4 * s.strong >= total)
        loop = loop or (member.need == "call" and member.strong >= SPARSE)
    if sum(m.failing for m in members) < s.strong and s.strong >= REDO and denser:
        loop = True
    if not loop and s.kinds.get(RE_EDIT, 0) >= NEED["edit"]:
        loop = 2 * (s.strong + s.weak) >= total
    return _kind(s, main) if loop else ""


def due(s: Stretch, kind: str) -> str:
    """The kind of loop of which a notice may be given while a stretch goes on; empty while there is none.

    ``kind`` is that of it if the agent moved on now. A loop is known a little before
    that: whoever makes several calls again, and one of them for the third time, with nothing new
    in between, goes round, however the round is ordered. Looks whose answers have moved by
    themselves before get the patience of an outage.
    """
    # Most answers cost no look at the members: this is asked again after each response while a stretch goes on.
    if not kind:
        if s.strong < DENSE or s.novel or s.gap or s.weak:
            return ""
    elif kind == "waiting":
        return ""
    elif kind == "stale_wait" or not 0 < s.strong < NEED["outage"]:
        return kind
    members, top, main = _main(s)
    if not kind:
        needs = {m.need for m in members}
        if top.strong < 2 or any(m.waits for m in members) or needs.isdisjoint(_CERTAIN) or not needs <= _KNOWN:
            return ""
    if s.strong < NEED["outage"] and all(m.may_move and 2 * m.moves >= m.strong for m in main):
        return ""
    return kind or _kind(s, main)


_CERTAIN: Final = frozenset({"call", "cureless", "failure", "edit", "receipt"})
"""What is repeated beyond doubt, by the keys of :data:`NEED`."""

_KNOWN: Final = _CERTAIN | {"answer", "failing_answer", "page", "still", "question"}
"""What may be among it: a constant answer is no accident where a question is put again in the same words."""


def _main(s: Stretch) -> tuple[list[Member], Member, list[Member]]:
    """Members repeated without an excuse, the most repeated one, and those near it."""
    members = [m for m in s.members.values() if m.strong]
    top = max(members, key=lambda m: (m.strong, -m.index))
    return members, top, [m for m in members if 3 * m.strong >= top.strong]


def _budget(s: Stretch, ended: str, main: list[Member], top: Member) -> int | None:
    """How many unchanged answers a stretch may have if it is a wait or a retry; ``None`` if it is none."""
    paused = 2 * s.waited >= top.strong > 1 and not any(m.curable for m in main)
    if (
        paused
        or all(2 * m.waits >= m.strong and m.waits for m in main)
        or (top.waits and 4 * sum(m.waits for m in main) >= 3 * sum(m.strong for m in main))
    ):
        moves = ended == "recovered" or s.patient or all(2 * m.moves >= m.strong for m in main)
        return POLL_BUDGET if moves else STALE_BUDGET
    resumed = s.moved >= top.strong - 1 and all(m.category == "outage" for m in main)
    return RETRY_BUDGET if (ended == "recovered" or resumed) and all(m.may_move for m in main) else None


def is_wait(s: Stretch, ended: str) -> bool:
    """Whether a finished stretch, however short, was a wait or a retry within its budget."""
    if not s.strong:
        return False
    _, top, main = _main(s)
    budget = _budget(s, ended, main, top)
    return budget is not None and top.strong <= budget


def _kind_of_laps(s: Stretch) -> str:
    """The kind of a stretch of excused repeats only: a loop if whole laps come back with known results."""
    if s.weak < 2 * LAPS or s.novel or s.asked or s.waited:
        return ""
    members = list(s.members.values())
    if len(members) > 8 or min(m.weak for m in members) < LAPS or all(m.waits for m in members):
        return ""
    return _kind(s, members)


def _kind(s: Stretch, main: list[Member]) -> str:
    strong = s.strong or s.weak
    failing = sum(m.failing for m in main)
    repeats = sum(m.strong or m.weak for m in main)
    if 2 * s.redo >= strong:
        return "compaction_redo"
    if 2 * s.kinds.get(RE_EDIT, 0) >= strong and not 2 * failing > repeats:
        return "edit_revert" if s.returned else "re_edit"
    if s.returned >= 2 and 4 * s.kinds.get(RE_EDIT, 0) >= strong:
        return "edit_revert"
    if 2 * failing > repeats:
        worst = max(main, key=lambda m: m.failing)
        if worst.category == "invalid_args":
            return "empty_args" if worst.empty else "invalid_args"
        return worst.category if worst.category in ("unknown_tool", "denied") else "same_error"
    if 2 * s.kinds.get(RE_READ, 0) > strong:
        return "paging_wrap" if _pages(s.offsets) else "re_read"
    if any(
        m.need in ("answer", "failing_answer", "page", "still", "echo", "question") and 2 * m.strong >= strong
        for m in main
    ):
        return "same_error" if main[0].need == "failing_answer" else "constant_answer"
    if all(2 * m.at_once > m.strong for m in main):
        return "stale_wait"
    if len(main) == 1:
        return "identical_drifting_output" if 2 * main[0].noise >= main[0].strong > 0 else "identical"
    return "ping_pong" if len(main) == 2 else "cycle"


def _pages(offsets: list[int]) -> bool:
    """Whether ranges read again come in ascending order, as in a second sweep."""
    rising = sum(a < b for a, b in pairwise(offsets))
    return len(offsets) >= 3 and 4 * rising >= 3 * (len(offsets) - 1)


def _laps(s: Stretch, main: list[Member]) -> tuple[int, list[str]]:
    """How often the unit was run again, and the unit: its calls in their order."""
    wanted = {m.index: m for m in main}
    sequence = [i for i in s.sequence if i in wanted]
    period = next((p for p in range(1, 9) if _repeats(sequence, p)), 0)
    if period:
        unit = [wanted[i].text for i in sequence[:period]]
        return max(round(len(sequence) / period), 1), unit
    ordered = sorted(main, key=lambda m: m.index)
    runs = sum(m.strong or m.weak for m in ordered)
    return max(round(runs / len(ordered)), 1), [m.text for m in ordered[:8]]


def _repeats(sequence: list[int], period: int) -> bool:
    """Whether a sequence has this period over at least one and a half laps."""
    if 2 * len(sequence) < 3 * period or len(sequence) <= period:
        return False
    return all(sequence[i] == sequence[i + period] for i in range(len(sequence) - period))


def need_of(found: CallClass, category: Category, *, failing: bool) -> str:
    """The key into :data:`NEED` for a repeat of this class."""
    if found == RE_READ:
        return "read"
    if found == RE_EDIT:
        return "edit"
    if failing and category == "outage":
        return "outage"
    if found == SAME_FAILURE:
        return "cureless" if category in CURELESS else "failure"
    return "call"
