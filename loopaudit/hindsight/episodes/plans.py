"""Finds plans and to-do lists that are rewritten again and again, with no work between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from loopaudit.core import canonical, regex
from loopaudit.core.events import Batch, seconds
from loopaudit.core.findings import Episode
from loopaudit.core.text import one_line
from loopaudit.hindsight.calls.changes import decoded
from loopaudit.hindsight.calls.effects import EDITING_KINDS
from loopaudit.hindsight.calls.history import History
from loopaudit.hindsight.calls.ranges import normal_path, recorded_path
from loopaudit.hindsight.calls.subject import Subject
from loopaudit.hindsight.episodes.verdict import MAX_SEQUENCE, UNIT_SHOWN
from loopaudit.hindsight.words import FIRST, UNKNOWN, CallClass

NEED: Final = 4
"""Rewritings in a row, beyond the first plan, that make a loop."""

NEED_GROWN: Final = 12
"""The same where the plan only grew: to write a long one step by step is fair."""

MAX_ITEMS: Final = 200

_LISTS: Final = (
    "todos", "todo", "plan", "items", "tasks", "steps", "todo_list", "todoList", "newTodos", "new_todos", "list",
    "goals", "hypotheses", "entries", "checklist", "content", "file_text", "contents", "markdown", "text", "thoughts",
    "new_string", "new_str",
)  # fmt: skip
"""The arguments in which a whole plan stands, in the order in which they are looked for."""

_LIST_NAMES: Final = frozenset(_LISTS)
_BEFORE: Final = ("old_string", "old_str")
_TEXTS: Final = ("content", "step", "title", "text", "description", "subject", "task", "name", "label", "activeForm")
_STATES: Final = ("status", "state", "completed", "done", "checked")
_NAMES: Final = ("todo", "plan", "task", "roadmap", "checklist", "progress")
_ENDINGS: Final = (".md", ".txt", ".json", ".yaml", ".yml", ".org", ".rst")
_FILE: Final = regex.lazy(
    r"[.\w-]*(?:todo|plan|tasks?|roadmap|checklist|progress)[\w-]*\.(?:md|txt|json|ya?ml|org|rst)\Z"
)
_ITEM: Final = regex.lazy(r"[-*+•\s]*(?:\d{1,3}[.)]\s*)?(?:\[(.)\]\s*)?(.*?)\s*\Z", re.DOTALL)
_DONE: Final = frozenset({"completed", "complete", "done", "finished", "x", "true", "cancelled", "canceled", "✓", "✔"})
_BEGUN: Final = frozenset(
    {"in_progress", "in-progress", "inprogress", "in progress", "active", "doing", "started", "~"}
)

Items = dict[str, int]
"""The steps of a plan in their order, each with how far it is: 0 not begun, 1 begun, 2 done."""


def is_plan_file(arguments: Any) -> bool:
    """Whether a call that writes a file writes a plan, by the name of the file."""
    path = recorded_path(arguments) if isinstance(arguments, dict) else None
    if path is None:
        return False
    low = path.lower()
    if not low.rstrip("/\\.").endswith(_ENDINGS):
        return False  # as of most files
    for word in _NAMES:
        if word in low:
            break
    else:
        return False  # as of nearly all files, whose names need not be cut out of their paths
    name = normal_path(path).replace("\\", "/").rpartition("/")[2].lower()
    return any(word in name for word in _NAMES) and _FILE.match(name) is not None


def items_of(arguments: Any, names: tuple[str, ...] = _LISTS) -> Items:
    """The steps of the plan that the arguments of a call hold; none if they hold no whole plan."""
    if isinstance(arguments, str):
        return _of_text(arguments)
    if isinstance(arguments, list):
        return _of_list(arguments)
    if not isinstance(arguments, dict):
        return {}
    if names is _LISTS and _LIST_NAMES.isdisjoint(arguments):
        return {}  # a tool that notes one step at a time
    for name in names:
        value = arguments.get(name)
        found: Items = {}
        if isinstance(value, list):
            found = _of_list(value)
        elif isinstance(value, str):
            found = _of_text(value)
        if len(found) > 1 or (found and isinstance(value, list)):
            return found
    return {}


def _of_list(values: list[Any]) -> Items:
    found: Items = {}
    for value in values[:MAX_ITEMS]:
        if isinstance(value, str):
            found.update(_of_text(value))
        elif isinstance(value, dict):
            text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), "")
            state = next((str(value[name]) for name in _STATES if name in value), "")
            if text:
                found[_plain(text)] = _rank(state)
    return found


def _of_text(text: str) -> Items:
    if text.lstrip()[:1] in ("[", "{") and len(text) <= 65_536:
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            pass
        else:
            return items_of(value) if isinstance(value, dict) else _of_list(value if isinstance(value, list) else [])
    found: Items = {}
    for state, line in _lines(text):
        found[line] = _rank(state)
    return found


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text[:65_536].splitlines()[:MAX_ITEMS]:
        match = _ITEM.match(line)
        if match is not None and match.group(2):
            yield match.group(1) or "", _plain(match.group(2))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _rank(state: str) -> int:
    low = state.strip().lower().replace(" ", "_")
    return 2 if low in _DONE else 1 if low in _BEGUN else 0


class _Plan(msgspec.Struct):
    """A plan since it was first written, by the call ``origin`` with these ``arguments``.

    ``rewritten`` counts the calls that wrote another one, ``grown`` those that only added to it; ``first`` and
    ``last`` are of these, as are ``line``, ``turn``, ``numbers`` and the times. ``batch`` is the response that wrote
    it last, ``items`` are its steps since then.
    """

    origin: int
    name: str
    arguments: Any
    batch: int
    items: Items
    rewritten: int = 0
    grown: int = 0
    first: int = 0
    last: int = 0
    line: int = 0
    turn: int = 0
    numbers: list[int] = msgspec.field(default_factory=list)
    at_start: float | None = None
    at_end: float | None = None

    @property
    def enough(self) -> bool:
        """Whether it is a loop."""
        return self.rewritten >= NEED or self.rewritten + self.grown >= NEED_GROWN


class Plans:
    """One agent's plan, and how often it was rewritten since something else was done."""

    __slots__ = ("_plan", "_unread", "open")

    def __init__(self) -> None:
        self.open = False
        """Whether a plan was written since the last work."""
        self._plan: _Plan | None = None
        self._unread: tuple[int, int, str, int, Any, bool] | None = None
        """What may be the first plan: number, response, tool, and the arguments of its call as they are recorded.

        It is read when another one follows, for after most there is work.
        """

    @property
    def rewritten(self) -> tuple[int, ...]:
        """The calls that have rewritten the plan, as far as they are a loop; none while they are not."""
        plan = self._plan
        return tuple(plan.numbers) if plan is not None and plan.enough else ()

    @property
    def origin(self) -> int:
        """The call that wrote the plan first, 0 for none."""
        return 0 if self._plan is None else self._plan.origin

    def call(self, history: History, found: CallClass, batch: Batch) -> bool:
        """The next call with its class, of which the history still tells; whether it was work.

        Work is what may bring something. A thought, a pause, a failure and what was known already are none.
        """
        subject = history.subject
        kind = subject.kind
        if kind == "think" or history.failed or (found not in (FIRST, UNKNOWN) and found.idle):
            return False
        if kind == "plan" or (kind in EDITING_KINDS and is_plan_file(subject.arguments())):
            self.write(subject, batch, history.turn)
            return False
        return not (subject.brings_nothing() or (kind == "poll" and subject.effect().only_waits))

    def write(self, subject: Subject, batch: Batch, turn: int) -> None:
        """The agent wrote a plan, and nothing says that it failed."""
        call = subject.call
        if self._unread is not None:
            number, index, name, form, source, is_json = self._unread
            self._unread = None
            earlier = decoded(form, source, is_json=is_json)
            self._begin(number, index, name, earlier, items_of(earlier))
        elif self._plan is None:
            self._unread = call.number, batch.index, call.name, call.form, call.source, call.is_json
            self.open = True
            return
        arguments = subject.arguments()
        items = items_of(arguments)
        if not items:
            return
        plan = self._plan
        if plan is None:
            self._begin(call.number, batch.index, call.name, arguments, items)
            return
        if batch.index != plan.batch:
            before = items_of(arguments, _BEFORE) or plan.items
            grown = _grew(before, items)
            went_on = not grown and _went_on(before, items)
            plan.rewritten += not (grown or went_on)
            plan.grown += grown
            at = call.at if call.at is not None else batch.at
            if not went_on:
                if not plan.first:
                    plan.first, plan.turn = call.number, turn
                    plan.line = call.line or batch.line
                    plan.at_start = seconds(at)
                if len(plan.numbers) < MAX_SEQUENCE:
                    plan.numbers.append(call.number)
            if plan.first:
                plan.last = call.number
                plan.at_end = seconds(at)
        plan.batch = batch.index
        plan.items = items

    def _begin(self, number: int, index: int, name: str, arguments: Any, items: Items) -> None:
        """Remember the first plan, if it is one."""
        self.open = bool(items)
        if items:
            self._plan = _Plan(number, name, arguments, index, items)

    def close(self, ended: str, session: str, agent: str) -> Episode | None:
        """Work began, or what goes on ends otherwise. Gives it as an episode if it is a loop."""
        plan = self._plan
        self._plan = self._unread = None
        self.open = False
        if plan is None or not plan.enough:
            return None
        repeats = plan.rewritten + plan.grown
        times = plan.at_start, plan.at_end
        return Episode(
            kind="plan_rewrite",
            session=session,
            agent=agent,
            first_call=plan.first,
            last_call=plan.last,
            unit=[_shown(plan.name, plan.arguments)],
            laps=repeats,
            calls=repeats,
            ended=ended,
            line=plan.line,
            seconds=None if times[0] is None or times[1] is None else max(times[1] - times[0], 0.0),
            evidence=(plan.origin,),
            turn=plan.turn,
        )


def _shown(name: str, arguments: Any) -> str:
    text = arguments if isinstance(arguments, str) else canonical.compact(arguments)
    return f"{name} {one_line(text[: 4 * UNIT_SHOWN], UNIT_SHOWN)}".rstrip()


def _went_on(before: Items, now: Items) -> bool:
    """Whether a plan has the same steps as before, and at least one is further and none is back."""
    if before.keys() != now.keys() or before == now:
        return False
    return all(now[step] >= rank for step, rank in before.items())


def _grew(before: Items, now: Items) -> bool:
    """Whether a plan holds all that stood in it before, and more."""
    return len(now) > len(before) and all(now.get(step, -1) >= rank for step, rank in before.items())
