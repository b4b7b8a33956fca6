"""Audits one opened transcript: reads it, and replays each conversation in it.

A :class:`Session` puts together what shares state while a conversation is read, each in bounds and
in one thread: the emitter's ``sink`` is the replay's for as long as a conversation lasts;
``totals.schemas`` is one mapping that the reader fills and guards look into; the replay sets
``cached_kind`` of calls and shrinks long results that all guards have seen; translators keep what
they found in the call; a watch empties the findings of a replay that goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct, field

from loopaudit.audit.engine import MAX_AGENTS, Observer, Replay
from loopaudit.audit.observers import Bookkeeper, RecordedGuards
from loopaudit.audit.whereabouts import Inside
from loopaudit.config.options import Options
from loopaudit.core import log, text
from loopaudit.core.counts import Totals
from loopaudit.core.errors import ExitCode, InputError, LoopauditError, reason_of
from loopaudit.core.events import Event
from loopaudit.core.findings import Problem, Problems
from loopaudit.core.report import FileProblem, TranscriptResult
from loopaudit.hindsight.classifier import Handover
from loopaudit.hindsight.observer import Hindsight, HindsightResult
from loopaudit.policies.contract import Mode, Selected
from loopaudit.policies.registry import is_built_in
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.recognise import log_recognised, recognise
from loopaudit.readers.source import Source


class FileAudit(Struct):
    """What one input gave: its conversations, or why it gave none.

    ``ignored`` is set for a file of a directory that is no transcript, ``ignored_rows`` counts
    such rows of a table in a directory. ``killed`` is set where its process ended on the way, ``inside`` a guard.
    """

    transcripts: list[TranscriptResult] = field(default_factory=list)
    failure: FileProblem | None = None
    ignored: str | None = None
    ignored_rows: int = 0
    killed: bool = False
    inside: Inside | None = None


CROWDED: Final = (
    f"more than {MAX_AGENTS} agents: where one acts again after so many others, its guards have started anew"
)


class NoConversationError(InputError):
    """A file of a known format in which nobody says or does anything."""


class Session(ABC):
    """The conversations of one file, each replayed as its reader reports it to the ``emitter``.

    What is made of a conversation is the subclass's: :meth:`_observers` begin with it, and
    :meth:`_ended` takes its replay when it has ended. ``recorded`` has the firings of the recording
    harness's own guard.
    """

    def __init__(self, options: Options, problems: Problems) -> None:
        self.options = options
        self.problems = problems
        self.recorded = RecordedGuards()
        self.emitter = Emitter(self._first, problems, failure_level=options.failure_level, on_session=self._finished)
        self.replay: Replay | None = None
        """The replay of the conversation that is being read."""

    def _first(self, event: Event) -> None:
        """The first event of a conversation; the others go to its replay without a detour."""
        self._begin().feed(event)

    def _begin(self) -> Replay:
        """The replay of a conversation, with the tools' schemas that the user gave and those that it declares."""
        options, totals = self.options, self.emitter.totals
        totals.schemas.update(options.schemas)
        self.recorded = RecordedGuards()
        observers = self._observers()
        self.replay = Replay(
            options.policies,
            mode=options.mode,
            map_names=options.map_names,
            schemas=totals.schemas,
            observers=[*observers, self.recorded],
            kinds=options.tool_kinds,
            policy_timeout=options.policy_timeout,
            handovers=self._handovers(),
        )
        self.emitter.sink = self.replay.feed
        return self.replay

    def _finished(self, session: str, totals: Totals) -> None:
        self._ended(session, totals, self.replay or self._begin())
        self.replay = None
        self.emitter.sink = self._first

    @abstractmethod
    def _observers(self) -> Sequence[Observer]:
        """New observers of a conversation that begins."""

    def _handovers(self) -> Sequence[Handover | None]:
        """For each policy where its guards follow an observer of the conversation that begins; empty: none does."""
        return ()

    @abstractmethod
    def _ended(self, session: str, totals: Totals, replay: Replay) -> None:
        """A conversation of this id has ended; its replay has still to be finished."""


def handovers(selected: Iterable[Selected], mode: Mode) -> list[Handover | None]:
    """For each policy where its guards follow hindsight, if they do; one that is not built in never does."""
    return [
        None
        if (follower := one.policy.follower) is None or not is_built_in(one.policy)
        else Handover(follower, one.params, enforced=mode == "enforced")
        for one in selected
    ]


class _Audit(Session):
    """Collects the results of the conversations of one file."""

    def __init__(self, name: str, format: str, options: Options, problems: Problems, continues: str = "") -> None:
        super().__init__(options, problems)
        self.name = name
        self._continues = continues
        self.format = format
        self.done: list[TranscriptResult] = []
        self._hindsight: Hindsight | None = None
        self._followed: Sequence[Handover | None] = ()
        self._books: Bookkeeper | None = None

    def _observers(self) -> Sequence[Observer]:
        options = self.options
        self._hindsight = None
        self._followed = ()
        if options.hindsight:
            self._followed = handovers(options.policies, options.mode)
            followed = [handover for handover in self._followed if handover is not None]
            self._hindsight = Hindsight(options.tool_kinds, self._knows_success, followed)
        self._books = Bookkeeper() if options.ledger else None
        return [o for o in (self._hindsight, self._books) if o is not None]

    def _knows_success(self) -> bool:
        return self.emitter.totals.success_known

    def _handovers(self) -> Sequence[Handover | None]:
        return self._followed

    def _ended(self, session: str, totals: Totals, replay: Replay) -> None:
        result = TranscriptResult(
            path=self.name,
            session=session,
            format=self.format,
            counts=totals.counts(),
            agents=sorted(filter(None, totals.agents)),
            models=sorted(totals.models),
            tools=dict(sorted(totals.tools.items())),
            policies=replay.finish(totals),
            recorded=self.recorded.findings,
            ledger=None if self._books is None else self._books.ledger,
        )
        if self._continues and not self.done:
            copies = "1 call is a copy" if totals.copied_calls == 1 else f"{totals.copied_calls} calls are copies"
            result.notes.append(f"continues {self._continues}; {copies} of it, and counted there")
        if replay.crowded:
            result.notes.append(CROWDED)
        if self._hindsight is not None:
            self._opinion(self._hindsight.finish(), totals, session, result).apply(result)
            self._hindsight = None
        if self.problems:
            self._take_problems(result)
        self.done.append(result)

    def _opinion(
        self, found: HindsightResult, totals: Totals, session: str, result: TranscriptResult
    ) -> HindsightResult:
        """What hindsight found, or what the marks say that it found before the transcript lost its words."""
        marks = totals.marks
        if marks is None:
            return found
        from loopaudit.hindsight.marks import MarksError, marked  # only redacted transcripts have any

        if marks.failure_level != self.options.failure_level:
            level = marks.failure_level.replace("_", "-")
            result.notes.append(
                f"hindsight was marked with failures by {level} when the transcript lost its words; "
                f"the failures chosen now count for the policies only"
            )
        try:
            return marked(found, marks, session)
        except MarksError as error:
            result.notes.append(f"the transcript's marks of hindsight are not used: {text.one_line(str(error), 160)}")
            return found

    def _take_problems(self, result: TranscriptResult) -> None:
        """Give the problems found so far to a conversation, and start counting anew."""
        problems = self.problems
        result.problems.extend(problems.kept)
        for kind, count in problems.counts.items():
            result.problem_counts[kind] = result.problem_counts.get(kind, 0) + count
        result.damaged += problems.damaged
        problems.clear()

    def close(self) -> None:
        """Finish the last conversation and attach problems that came after it."""
        self.emitter.finish()
        if self.problems and self.done:
            self._take_problems(self.done[-1])
        del self.emitter  # refers to this session: without the cycle, the collector has nothing to find


def audit_source(
    source: Source,
    options: Options,
    *,
    name: str | None = None,
    reader: Reader | None = None,
    continues: str = "",
) -> list[TranscriptResult]:
    """Read one opened transcript and replay it; one result per conversation in it.

    It is recognised unless its ``reader`` is given. ``continues`` names the transcript of which it repeats records.

    Raises:
        InputError: it is empty, unrecognised, or holds no conversation.
    """
    reader = reader or recognise(source, options.format_id)
    log_recognised(source, reader, options.format_id)
    session = _Audit(name or source.name, reader.id, options, source.problems, continues)
    reader.report(source, session.emitter)
    session.close()
    if not session.done:
        kept: list[Problem] = source.problems.kept
        first = f"; first problem: line {kept[0].line}: {kept[0].message}" if kept else ""
        raise NoConversationError(f"{source.name}: read as {reader.id}, but it holds no conversation{first}")
    return session.done


def passed_over(name: str, reason: str) -> FileAudit:
    """What a file of a directory gives that is no transcript."""
    log.info(__name__, "%s: passed over: %s", name, reason)
    return FileAudit(ignored=reason)


def guarded(name: str, work: Callable[[], FileAudit], *, named: bool = True) -> FileAudit:
    """Do the work on one input. Whatever goes wrong becomes the result, so that the run goes on.

    ``named`` is as in :class:`~loopaudit.audit.inputs.discover.Input`.
    """
    try:
        return work()
    except LoopauditError as error:
        if isinstance(error, NoConversationError) and not named:
            return passed_over(name, "no conversation in it")
        return FileAudit(failure=FileProblem(name, error.message, error.hint, error.exit_code))
    except OSError as error:  # it was taken away, or its folder closed, in the middle of it
        return FileAudit(failure=FileProblem(name, f"{name}: cannot be read: {reason_of(error)}", None, ExitCode.INPUT))
    except Exception as error:  # noqa: BLE001 - one transcript must not end the run; reported, exit code 5
        message = f"{name}: the reader failed: {type(error).__name__}: {error}"
        return FileAudit(failure=FileProblem(name, message, "please report this", ExitCode.INTERNAL))
