"""Finds the stretches without news in the calls of one agent, as they go by.

A stretch begins with the first call that brings nothing new. It goes on over a few calls
with news, and ends when the agent changes something, when a repeated call brings news after
all, after :data:`~loopaudit.hindsight.episodes.verdict.MAX_NOVEL` calls with news in a row, when a
person writes, or with the recording. Waiting (``sleep``) and thinking neither extend nor
end it. What became of it is judged at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from loopaudit.core import regex
from loopaudit.core.events import Batch, Call, seconds
from loopaudit.core.failure_words import says_failure
from loopaudit.core.findings import Episode
from loopaudit.hindsight.calls.effects import EDITING_KINDS, Nature, only_echoes
from loopaudit.hindsight.calls.failing import behind_header, says_error
from loopaudit.hindsight.calls.failures import CURELESS, Category, category_of
from loopaudit.hindsight.calls.history import MAX_ACKNOWLEDGEMENT, RECEIPT, History
from loopaudit.hindsight.calls.outputs import Held, equal, head_of, held_of
from loopaudit.hindsight.calls.subject import TAKES_OUTPUT
from loopaudit.hindsight.calls.wordings import shows_all_done, shows_end, shows_finish, shows_no_wait, shows_prompt
from loopaudit.hindsight.episodes.verdict import (
    MAX_ANSWERS,
    MAX_NOVEL,
    MAX_SEQUENCE,
    STALE_BUDGET,
    UNIT_READ,
    Answer,
    Group,
    Member,
    Opening,
    Stretch,
    is_wait,
    kind_of,
    need_of,
    verdict,
)
from loopaudit.hindsight.shell.programs import EFFECT_CHANGES, EFFECT_LOOKS, CommandEffect
from loopaudit.hindsight.words import FIRST, RECHECK, UNKNOWN, CallClass

MAX_MEMBERS: Final = 256

ANSWERED: Final = frozenset({"call", "cureless", "failure", "edit", "receipt"})
"""Needs of which the repeats of several calls of one tool count together where they had one answer."""

MAX_BETWEEN: Final = 2
"""Calls with news between two stretches of which the second goes on with the first."""

_WORK: Final = EDITING_KINDS | {"shell"}
"""Kinds of tools of which a call that changes something is work, whatever other calls of them bring."""

STRAY: Final = 5
"""Calls behind one repeat after which another repeated call begins a stretch of its own."""

AT_ONCE: Final = 1.0
"""Seconds within which a tool that should wait has not waited."""


class Tracker:
    """Watches one agent.

    ``found`` gets each episode with the call that ended it (0: none), ``waited`` the numbers
    of calls without news that turned out to be a wait or a retry.
    """

    __slots__ = (
        "_before", "_ended_by", "_history", "_in_batch", "_over", "_suspended", "_waited", "agent",
        "found", "open", "session",
    )  # fmt: skip

    def __init__(
        self,
        history: History,
        session: str,
        agent: str,
        found: list[tuple[Episode, int]],
        waited: Callable[[list[int]], None],
    ) -> None:
        self._history = history
        self.open: Stretch | None = None
        """The stretch that is going on."""
        self._in_batch = False
        self._suspended = False
        self._before: _Before | None = None
        """The last stretch, if it was too short for an episode."""
        self._ended_by: tuple[int, str] = (0, "")
        """The call that last brought news to a stretch, and its tool; empty for a shell and for file tools."""
        self._over = False
        """A look has shown that what is waited for is over, and nothing has changed since."""
        self._waited = waited
        self.session = session
        self.agent = agent
        self.found = found

    def shared(self, found: list[tuple[Episode, int]], waited: Callable[[list[int]], None]) -> dict[int, object]:
        """What a copy has in the place of what belongs to the observer, by the identity of the original."""
        return {id(self.found): found, id(self._waited): waited}

    # -- what happens ----------------------------------------------------------------------

    def call(self, call: Call, found: CallClass, batch: Batch) -> None:
        """The next call with its class; the history still tells about it."""
        history = self._history
        repeated = found >= RECHECK or history.constant > 0
        if self._suspended and found != UNKNOWN:
            self._suspended = False
            if not (repeated and self._group(call, found) in self._open_members()):
                self.close("user_stepped_in")
        if self.open is None:
            if not repeated:
                return
            self.open = Stretch(history.turn)
        if repeated:
            self._repeat(self.open, call, found, batch)
        elif found != UNKNOWN:
            self._news(self.open, call, found)

    def after_batch(self, batch: Batch) -> None:
        """A response is complete: count what it cost, or note that it was a mere reply."""
        stretch = self.open
        if stretch is None:
            return
        if not batch.calls and batch.text:
            stretch.answered = True
        if not self._in_batch:
            return
        self._in_batch = False
        spent = batch.usage.total if batch.usage is not None else None
        if spent is not None:
            stretch.tokens = (stretch.tokens or 0) + spent

    def turn(self) -> None:
        """A person wrote. A loop that goes on as if nothing was said is still one loop."""
        self._over = False
        stretch = self.open
        if stretch is None or self._suspended:
            return
        kind = kind_of(stretch, "user_stepped_in") if stretch.strong and not stretch.gap else ""
        if kind in ("", "waiting"):
            self.close("user_stepped_in")
        else:
            self._suspended = True

    def interrupted(self) -> None:
        """A person interrupted the run."""
        self.close("interrupted")

    def guard_spoke(self) -> None:
        """A guard of the recording harness spoke."""
        if self.open is not None:
            self.open.guard = True

    def close(self, ended: str, by: int = 0) -> None:
        """End the stretch that is going on, and report it if it is worth it."""
        stretch = self.open
        if stretch is None:
            return
        self.open = None
        if self._suspended:
            self._suspended = False
            ended = "user_stepped_in"
        if ended in ("user_stepped_in", "interrupted", "run_ended"):
            if stretch.guard and (stretch.gap or ended == "run_ended"):
                ended = "recorded_guard"
            elif stretch.gap:
                ended = "moved_on"
            elif stretch.answered and ended != "interrupted":
                ended = "answered"
        elif ended == "moved_on" and stretch.guard:
            ended = "recorded_guard"
        self._waited_if_wait(stretch, ended)
        outcome = verdict(stretch, ended)
        before, self._before = self._before, None
        if outcome is None:
            if stretch.strong and ended in ("moved_on", "recovered") and stretch.gap <= MAX_BETWEEN:
                short = _begun(stretch, before)
                self._before = _Before(short, set(_repeated(stretch)), self._ended_by, stretch.turn)
            return
        if outcome.kind == "stale_wait":
            self._waited(stretch.numbers[:STALE_BUDGET])  # a wait that went stale was one at first
        if stretch.strong and outcome.kind != "waiting":
            begun = _begun(stretch, before)
        else:
            begun = _Begun(stretch.opening(outcome.first), stretch.calls or stretch.excused, stretch.tokens)
        episode = Episode(
            kind=outcome.kind,
            session=self.session,
            agent=self.agent,
            first_call=begun.at.call,
            last_call=stretch.last,
            unit=outcome.unit,
            laps=outcome.laps,
            calls=begun.calls,
            ended=ended,
            line=begun.at.line,
            tokens=begun.tokens,
            seconds=_between(seconds(begun.at.at), seconds(stretch.at_end)),
            evidence=(begun.at.evidence,) if begun.at.evidence else (),
            turn=stretch.turn,
        )
        self.found.append((episode, by))

    def _waited_if_wait(self, stretch: Stretch, ended: str = "moved_on") -> None:
        if is_wait(stretch, ended):
            self._waited(stretch.numbers)

    # -- calls without news ----------------------------------------------------------------

    def _repeat(self, stretch: Stretch, call: Call, found: CallClass, batch: Batch) -> None:
        history = self._history
        effect = history.subject.effect()
        at_once = effect.waits and returned_at_once(call, history.subject.nature)
        if effect.only_waits and not at_once and not shows_more(call):
            stretch.waited += 1
            self._waited([call.number])  # a pause brings nothing and is not there to bring anything
            return
        strong = found.idle or (history.constant > 0 and found != RECHECK)
        member = self._member(stretch, call, found)
        if member is None:
            return
        if found == CallClass.RE_EDIT and history.failed and not stretch.strong:
            # Sending an applied edit again once is an honest mistake.
            strong = False
        if history.choice and stretch.gap:
            strong = False  # the question may be about what has been seen since
        sibling = history.sibling or member.batch == batch.index
        member.batch = batch.index
        if strong and stretch.strong and not member.strong and not sibling and is_stray(stretch):
            self._waited_if_wait(stretch)
            turn = stretch.turn
            self.open = stretch = Stretch(turn)
            member = self._member(stretch, call, found)
            assert member is not None  # the first of its stretch
            member.batch = batch.index
        if strong:
            self._strong(stretch, call, found, member, batch, sibling=sibling)
        elif not sibling:
            member.weak += 1
            stretch.weak += 1
            stretch.asked += not history.changed
            stretch.excused += not stretch.strong
            if not stretch.first_weak:
                stretch.first_weak = call.number
                if not stretch.strong:
                    stretch.line = call.line or batch.line
                    stretch.evidence = history.evidence
                    stretch.at_start = call.at if call.at is not None else batch.at
                    if history.changed:
                        stretch.lead = stretch.opening(call.number, member.index, history.changes.latest)
            if not stretch.strong:
                result = call.result
                end = result.at if result is not None and result.at is not None else call.at
                stretch.at_end = end if end is not None else batch.at
                self._in_batch = True
            if not stretch.gap:
                stretch.last = call.number
        if strong:  # a stretch without such a repeat is no wait, whatever was asked for
            stretch.patient = stretch.patient or history.patient
        if not sibling:
            over = history.over or (self._over and member.need == "over")
            member.at_once += at_once or over
            follows = strong and not effect.waits and history.follows()
            waits = (effect.waits or follows) and not at_once and not over
            waits = waits and not self._in_vain(call, effect, follows=follows)
            member.waits += waits or (strong and history.patient)
            member.moves += strong and history.moves
            member.rephrased += strong and history.rephrased
            if len(stretch.sequence) < MAX_SEQUENCE:
                stretch.sequence.append(member.index)

    def _strong(
        self, stretch: Stretch, call: Call, found: CallClass, member: Member, batch: Batch, *, sibling: bool
    ) -> None:
        history = self._history
        if not stretch.strong:
            stretch.first = call.number
            stretch.line = call.line or batch.line
            stretch.evidence = history.evidence
            stretch.at_start = call.at if call.at is not None else batch.at
            stretch.novel = stretch.weak = stretch.waited = 0
            stretch.tokens = None
            stretch.sequence.clear()
        elif not sibling:
            stretch.novel += stretch.gap
        stretch.gap = 0
        stretch.answered = stretch.guard = False
        stretch.last = call.number
        stretch.calls += 1
        if len(stretch.numbers) < MAX_SEQUENCE:
            stretch.numbers.append(call.number)
        self._in_batch = True
        result = call.result
        end = result.at if result is not None and result.at is not None else call.at
        stretch.at_end = end if end is not None else batch.at
        if sibling:
            return
        if not member.strong:
            self._note_answer(member, call)
        stretch.strong += 1
        member.strong += 1
        stretch.kinds[found] = stretch.kinds.get(found, 0) + 1
        stretch.redo += history.redo
        stretch.returned += history.returned
        member.noise += found == CallClass.REDUNDANT_NOISE
        failure = history.failure()
        member.failing += failure is not None and bool(failure.plain)
        if member.need in ANSWERED and result is not None:
            # Receipts differ in their numbers, and tell the same.
            held = "" if history.noise == RECEIPT else held_of(result)
            self._count_answer(stretch, held, exact=found != CallClass.SAME_FAILURE)

    def _count_answer(self, stretch: Stretch, held: Held, *, exact: bool) -> None:
        """Count a repeat by its tool and answer: in other words one question may be asked again and again."""
        scope = self._history.subject.scope()
        for answer in stretch.answers:
            if answer.scope == scope and equal(answer.held, held):
                break
        else:
            if len(stretch.answers) >= MAX_ANSWERS:
                return
            answer = Answer(scope, held)
            stretch.answers.append(answer)
        answer.times += 1
        answer.exact = answer.exact or exact

    def _note_answer(self, member: Member, call: Call) -> None:
        """Note what tells whether the answer of a repeated call may change by itself, or names what would cure it."""
        history = self._history
        if history.failed:
            member.failing_change = history.subject.effect().effect == EFFECT_CHANGES
        elif call.result is not None:
            member.head = head_of(call.result.source)

    def _open_members(self) -> dict[Group, Member]:
        return {} if self.open is None else self.open.members

    def _group(self, call: Call, found: CallClass) -> Group:
        """What is repeated: the failure, the file, the answer, or the call itself."""
        history = self._history
        failure = history.failure() if found.idle else None
        if found == CallClass.SAME_FAILURE and history.obstacle:
            return ("failing", history.obstacle)
        if failure is not None and (found == CallClass.SAME_FAILURE or failure.category in CURELESS):
            return ("failing", failure.plain)
        if history.choice:
            return ("answer", call.name)
        if found == CallClass.RE_READ:
            asked = history.asked_range
            return ("read", asked.path if asked is not None else call.name)
        if history.over:
            return ("over", call.name)
        # Commands that do nothing are one kind of thing, however often one was run before.
        if history.constant and (not found.idle or only_echoes(history.subject.command or "")):
            return ("page" if history.paging else "answer", call.name)
        return ("call", history.subject.identity)

    def _member(self, stretch: Stretch, call: Call, found: CallClass) -> Member | None:
        history = self._history
        group = self._group(call, found)
        if group[0] == "read" and history.asked_range is not None and len(stretch.offsets) < MAX_SEQUENCE:
            stretch.offsets.append(history.asked_range.first)
        member = stretch.members.get(group)
        if member is None:
            if len(stretch.members) >= MAX_MEMBERS:
                return None
            arguments = call.raw_arguments
            member = Member(len(stretch.members), call.name, arguments[:UNIT_READ])
            stretch.members[group] = member
            failure = history.failure() if found.idle else None
            category: Category = "other" if failure is None else failure.category
            member.category = category
            if category == "invalid_args":
                member.empty = not arguments.strip() or not history.subject.arguments()
            member.need = need_of(found, category, failing=history.failed)
            if history.noise == RECEIPT:
                member.need = "receipt"
            if self._over and not history.failed and history.subject.effect().waits:
                member.need = "over"
            if history.over:
                member.need = "ended"
            if group[0] in ("answer", "page"):
                failing = history.erring or (call.result is not None and says_failure(call.result.output))
                echoes = history.subject.kind == "shell" and only_echoes(history.subject.command or "")
                member.need = (
                    "echo" if echoes else "page" if history.paging else "failing_answer" if failing else "answer"
                )
                if history.still:
                    member.need = "still"
                if history.noise == RECEIPT:
                    member.need = "receipt"
                if history.failed:
                    member.need = "answer"  # of things that are not there, one after another
        if history.choice and found.idle:
            member.need = "question"  # of the very words; in other words it may be one about something else
        return member

    def _shows_all_over(self, stretch: Stretch, call: Call, effect: CommandEffect) -> bool:
        """Whether a look between the polls of a wait shows that what is waited for is over."""
        if effect.effect == EFFECT_CHANGES or effect.waits or call.result is None:
            return False
        members = [m for m in stretch.members.values() if m.strong]
        return all(m.waits for m in members) and shows_finish(call.result.output)

    def _in_vain(self, call: Call, effect: CommandEffect, *, follows: bool) -> bool:
        """Whether a waiting call waits for something that cannot come.

        That is so where what it looks at is over, or where it fails itself: unless of an outage, or
        while it only looks for what is not there yet, which a bare exit code tells as well.
        """
        history = self._history
        result = call.result
        if history.failed:
            failure = history.failure()
            if failure is None or failure.category == "outage":
                return False  # an outage ends by itself: to ask again is all that one can do
            probes = may_probe(history.subject.command or "")
            if not failure.plain:
                # ``pg_isready`` and ``test -f`` have no other word for *not yet*; of what acts it is a failure as any.
                return not (probes or effect.effect == EFFECT_LOOKS)
            # A server that answers *not found* is there; a file that is not may come.
            return probes or effect.effect != EFFECT_LOOKS or failure.category != "not_found"
        if result is not None:
            head = head_of(behind_header(result.source))
            # What stands at a prompt goes on when somebody answers it, and to look again is no answer. An error that
            # nothing flags is looked at only for what no time cures: a log may begin with another one and go on.
            if (
                shows_prompt(result.output)
                or shows_all_done(head)
                or (says_error(head) and category_of(head) in CURELESS)
            ):
                return True
        # The result of a shell tells how its command ended (``exited with code 0``), which says nothing of what the
        # command looked at. Without a command, or with a log of something in the background, it is the look itself.
        shell = history.subject.nature.kind == "shell" and effect is not TAKES_OUTPUT and not follows
        return not shell and result is not None and shows_end(head_of(result.source))

    # -- calls with news -------------------------------------------------------------------

    def _news(self, stretch: Stretch, call: Call, found: CallClass) -> None:
        history = self._history
        self._ended_by = (call.number, "" if history.subject.kind in _WORK else call.name)
        if history.subject.kind in ("think", "plan") and found == FIRST:
            return
        if not (stretch.strong or self._over or history.subject.may_only_wait()):
            self.close("moved_on")  # whatever it does
            return
        effect = history.subject.effect()
        if effect.waits or effect.effect == EFFECT_CHANGES:
            self._over = False
        if effect.only_waits:
            stretch.waited += 1
            return
        if not stretch.strong:
            self.close("moved_on")
            return
        if found != FIRST:
            member = stretch.members.get(("call", history.subject.identity))
            waited = member is not None and member.waits > 0
            if member is not None and 2 * member.strong >= stretch.strong and (waited or not history.kept_kind()):
                self.close("recovered", call.number)  # the old answer with more behind it, or another failure, does not
                return
        if self._shows_all_over(stretch, call, effect):
            self.close("moved_on", call.number)
            self._over = True
            return
        effective = not history.failed and not history.fruitless and not history.changes.harmless(call.name)
        if effect.effect == EFFECT_CHANGES and effective and not history.writes_on(stretch.first):
            self.close("moved_on", call.number)
            return
        stretch.moved += found == CallClass.INFORMATIVE
        stretch.gap += 1
        if stretch.gap > MAX_NOVEL:
            self.close("moved_on")


def shows_more(call: Call) -> bool:
    """Whether a pause shows what has become of the world meanwhile, and not only that it is over."""
    return call.result is not None and len(call.result.source) > MAX_ACKNOWLEDGEMENT


_PROBES: Final = regex.lazy(
    r"\b(?:curl|wget|nc|ncat|ping6?|pg_isready|telnet|redis-cli|mysqladmin|grpcurl|ssh-keyscan|nmap)\b"
)


def may_probe(command: str) -> bool:
    """Whether a command asks something whether it is there yet; to fail without a word is its answer then."""
    return _PROBES.search(command) is not None


class _Begun(Struct, frozen=True):
    """Where a stretch begins if what stands right before it is a part of it, with all its calls and tokens."""

    at: Opening
    calls: int
    tokens: int | None


class _Before(Struct, frozen=True):
    """What is kept of a stretch that was too short for an episode: if it goes on, it began there."""

    begun: _Begun
    repeated: set[Group]
    ended_by: tuple[int, str]
    turn: int


def _repeated(stretch: Stretch) -> list[Group]:
    """What a stretch repeats without an excuse."""
    return [group for group, member in stretch.members.items() if member.strong]


def _begun(stretch: Stretch, before: _Before | None) -> _Begun:
    """Where a stretch of repeats really begins.

    A repeat that only calls of its own tools excuse is part of it, and so is the stretch before, if
    such a call ended it: what the tools of a loop change did not change what the loop gets.
    """
    members = list(stretch.members.values())
    tools = {member.name for member in members}
    at, calls, tokens = stretch.opening(stretch.first), stretch.calls, stretch.tokens
    lead = stretch.lead
    # A shell and file tools have no name as what excuses or ends (:data:`_WORK`): their changes are work, and a repeat
    # behind them was in order. The excused call has to come again without an excuse: else it is not what goes round.
    if lead is not None and lead.by in tools and members[lead.member].strong:
        at = lead
    # The stretch before was too short for an episode of its own. It belongs to this one if nothing but a call of the
    # same tools stands between, and the same is repeated on both sides; a person's word makes it another matter.
    if before is not None and before.turn == stretch.turn and before.ended_by[1] in tools:
        near = at.call - before.ended_by[0] <= MAX_BETWEEN
        if near and not before.repeated.isdisjoint(_repeated(stretch)):
            at, spent = before.begun.at, before.begun.tokens
            calls += before.begun.calls
            # Recorded on one side only, it is the least that was spent; on neither, it is not known.
            tokens = spent if tokens is None else tokens if spent is None else tokens + spent
    return _Begun(at, calls, tokens)


def is_stray(stretch: Stretch) -> bool:
    """Whether a stretch is so far one repeat, with so much behind it that another loop begins with another call."""
    return stretch.strong == 1 and stretch.gap + stretch.weak >= STRAY


_BLOCKS: Final = frozenset({"wait", "sleep", "await", "pause", "delay"})
"""Words in the names of tools that return when something has happened, or after a time."""

_WORD: Final = regex.lazy(r"[a-z]+")


def returned_at_once(call: Call, nature: Nature) -> bool:
    """Whether a waiting tool did not wait: its answer says so, or it came within a second."""
    result = call.result
    if result is None or nature.kind == "shell":
        return False
    if shows_no_wait(head_of(result.source)):
        return True
    if _BLOCKS.isdisjoint(_WORD.findall(call.name.lower())):
        return False
    start, end = seconds(call.at), seconds(result.at)
    return start is not None and end is not None and 0 <= end - start < AT_ONCE


def _between(start: float | None, end: float | None) -> float | None:
    """Seconds between two recorded times, or ``None`` where one is not recorded."""
    if start is None or end is None:
        return None
    return max(end - start, 0.0)
