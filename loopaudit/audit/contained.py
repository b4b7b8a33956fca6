"""Foreign guards at work: whatever they do stays with them.

A guard that is not built in is code that nobody here wrote. It gets copies of the events, so that what it changes is
seen by no other guard, by no report and not by hindsight. Whatever it raises, ``SystemExit`` too, becomes a
:class:`GuardError` that names the fault, and so does a decision that is none; a guard that runs longer than it may is
interrupted. Only an interrupt of the user goes through. What Python cannot contain, an end of the whole process
(``os._exit``) or a guard that nothing interrupts, is noticed by whoever waits for the process: where a process is a
worker, it says in which guard it is (:mod:`loopaudit.audit.whereabouts`).

Built-in guards are used as they are: this costs a copy of every call.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from copy import copy, deepcopy
from math import inf
from types import FrameType
from typing import Any, Final

import orjson
from msgspec.structs import replace

from loopaudit.audit.whereabouts import LABEL, Whereabouts
from loopaudit.core import interrupt
from loopaudit.core.errors import UsageError
from loopaudit.core.events import VALUE, Batch, Boundary, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import Context, Guard, Selected

REPEAT: Final = 0.1
"""Seconds after which a guard is interrupted again that went on when its time was up."""

PATIENCE: Final = 10 * REPEAT
"""Seconds for which it is interrupted; then a worker is ended that still runs it."""

_whereabouts: Whereabouts | None = None


def report_to(whereabouts: Whereabouts | None) -> None:
    """Whom this process tells from now on which foreign guard it runs: its parent, if it is a worker."""
    global _whereabouts  # noqa: PLW0603
    _whereabouts = whereabouts


class GuardError(Exception):
    """A foreign guard did what it must not do."""


class _TimeUp(BaseException):
    """Raised inside a guard; no ``except Exception`` of its own catches it."""


class TimeLimit:
    """The time that one policy has for one transcript, over all its agents.

    ``seconds`` are those of the clock on the wall. It is kept by the alarm signal of POSIX.

    Raises:
        UsageError: it cannot be kept here: there is no such signal, or this is not the main thread.
    """

    def __init__(self, seconds: float) -> None:
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            raise UsageError(
                "a time limit for policies cannot be kept here",
                hint="it needs the alarm signal, which only POSIX systems have, and only in the main thread",
            )
        self.seconds = seconds
        self.left = seconds
        self._is_running = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """The guard runs.

        Raises:
            _TimeUp: inside of the block, when no time is left.
        """
        before = signal.signal(signal.SIGALRM, self._time_up)
        self._is_running = True
        signal.setitimer(signal.ITIMER_REAL, max(self.left, 1e-6), REPEAT)
        try:
            try:
                yield
            finally:
                self._is_running = False
        finally:
            self._is_running = False
            self.left = signal.setitimer(signal.ITIMER_REAL, 0)[0]
            signal.signal(signal.SIGALRM, before)

    def _time_up(self, signum: int, frame: FrameType | None) -> None:
        # Not in what contains the guard: raised there, while an earlier alarm or the guard's return is on its way, it
        # would leave the timer at work, or go past whoever waits for it. The next alarm comes soon.
        if self._is_running and not _is_containing(frame):
            raise _TimeUp


def _is_containing(frame: FrameType | None) -> bool:
    """Whether this module's own context managers are being entered or left."""
    code = None if frame is None else frame.f_code
    return code is not None and (
        code.co_filename == contextmanager.__code__.co_filename
        or (
            code.co_filename == _is_containing.__code__.co_filename
            and code.co_name in ("running", "_running", "_contained")
        )
    )


class ContainedGuard(Guard):
    """A foreign guard of one agent.

    ``limit`` is shared with the policy's guards of the transcript's other agents.

    Raises:
        GuardError: it cannot be made; so do the methods where they fail.
    """

    def __init__(self, selected: Selected, context: Context, limit: TimeLimit | None) -> None:
        self._limit = limit
        self._label = selected.label.encode("utf-8", "replace")[:LABEL]
        self._line = 0
        private = replace(context, schemas=_PrivateSchemas(context.schemas))
        with self._contained("could not start"):
            self._guard = selected.policy.start(selected.params, private)

    def turn(self, turn: Turn) -> None:
        """Hand a copy of the turn on."""
        self._line = turn.line
        with self._contained("failed at a new turn"):
            self._guard.turn(copy(turn))

    def boundary(self, boundary: Boundary) -> None:
        """Hand a copy of the boundary on."""
        self._line = boundary.line
        with self._contained("failed at a boundary"):
            self._guard.boundary(copy(boundary))

    def judge(self, batch: Batch) -> Iterable[Decision]:
        """What the guard decides on a copy of the batch, checked."""
        self._line = batch.line
        with self._contained("failed"):
            return [plain(decision, len(batch.calls)) for decision in self._guard.judge(private_batch(batch))]

    def message(self, policy_message: Any, decision: Decision) -> str:
        """What the policy's ``message`` says of a decision."""
        with self._contained("failed to word its message"):
            message = policy_message(copy(decision))
            if not isinstance(message, str):
                raise GuardError(f"its message is no text: {_shown(message)}")
            return str.__str__(message)

    @contextmanager
    def _contained(self, what: str) -> Iterator[None]:
        try:
            with self._running():
                yield
        except GuardError:
            raise
        except _TimeUp:
            raise self._too_late() from None
        except BaseException as error:  # a guard may raise anything, SystemExit and GeneratorExit too
            if isinstance(error, KeyboardInterrupt) and interrupt.is_by_user():
                raise
            raise GuardError(f"{what}: {self._words(error)}") from None

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Foreign code runs, in the time that is left to it, and the parent knows."""
        limit, whereabouts = self._limit, _whereabouts
        if whereabouts is not None:
            whereabouts.enter(self._label, self._line, inf if limit is None else max(limit.left, 0) + PATIENCE)
        try:
            with nullcontext() if limit is None else limit.running():
                yield
        finally:
            if whereabouts is not None:
                whereabouts.leave()

    def _too_late(self) -> GuardError:
        assert self._limit is not None
        return GuardError(too_late(self._limit.seconds))

    def _words(self, error: BaseException) -> str:
        """What an error says. It may be of a class of the guard's own that cannot even say that, or never ends."""
        try:
            with self._running():
                return f"{type(error).__name__}: {str.__str__(str(error))}"
        except _TimeUp:
            raise self._too_late() from None
        except BaseException:  # noqa: BLE001 - see above
            return f"{type.__dict__['__name__'].__get__(type(error))}: (an error without words)"


def too_late(seconds: float) -> str:
    """What is reported of a guard whose time was up."""
    return f"did not return within {seconds:g} seconds of --policy-timeout"


def private_batch(batch: Batch) -> Batch:
    """A copy of a batch that shares nothing with it that can be changed."""
    mine = copy(batch)
    mine.usage = copy(batch.usage)
    mine.calls = [_private_call(call) for call in batch.calls]
    return mine


def _private_call(call: Call) -> Call:
    mine = copy(call)
    mine.identities = mine.decoded = None
    mine.result = copy(call.result)
    if call.form == VALUE:
        mine.source = deepcopy(call.source)
    return mine


class _PrivateSchemas(Mapping[str, Any]):
    """The tools' schemas as they are known so far; each look-up gives a copy."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas

    def __getitem__(self, name: str) -> Any:
        return deepcopy(self._schemas[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._schemas)

    def __len__(self) -> int:
        return len(self._schemas)


_TYPES: Final[Mapping[str, type]] = {
    "rule": str,
    "position": int,
    "count": int,
    "own_word": str,
    "tool": str,
    "skipped": int,
}


_PLAIN: Final[Mapping[type, Callable[[Any], Any]]] = {str: str.__str__, int: int.__int__}
"""From a value of a subclass to that of the type itself, by no method that the subclass may have."""


def plain(decision: object, calls: int) -> Decision:
    """What a foreign guard returned about a batch of so many calls, if it is a decision.

    It is a copy without the guard's own classes, whose methods would run later on, when nothing contains them.

    Raises:
        GuardError: it is no decision, or a value in it is of a wrong type or out of its bounds.
    """
    if not isinstance(decision, Decision):
        raise GuardError(f"returned {_shown(decision)}, which is no Decision")
    action = decision.action
    if type(action) is not Action:
        raise GuardError(f"decided on the action {_shown(action)}, which is no Action")
    values: dict[str, Any] = {}
    for name, kind in _TYPES.items():
        value = getattr(decision, name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise GuardError(f"gave its decision {name}={_shown(value)}, which is no {kind.__name__}")
        values[name] = _PLAIN[kind](value)
    found = Decision(action, **values)
    if not -1 <= found.position < max(calls, 1) or (found.position >= 0 and not calls):
        raise GuardError(f"decided on the call at position {found.position} of a batch of {calls}")
    if found.count < 0 or found.skipped < 0:
        raise GuardError(f"counted {min(found.count, found.skipped)} in its decision")
    details = decision.details
    if details is not None:
        if not isinstance(details, dict):
            raise GuardError(f"gave its decision details={_shown(details)}, which is no dict")
        try:
            found.details = orjson.loads(orjson.dumps(details))
        except (TypeError, ValueError) as error:
            raise GuardError(f"gave details that are no JSON: {error}") from error
    return found


def _shown(value: object) -> str:
    """A value as it is named in a message."""
    if type(value) in (str, int, float, bool, type(None)):
        return repr(value)[:80]
    return f"a {type(value).__name__}"
