"""A guard for harnesses in Python: asked before a call runs, told its result, it says what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from loopaudit.config.selection import select
from loopaudit.core.arguments import of_arguments
from loopaudit.core.events import Batch, Boundary, Call, Result, Turn, content_text
from loopaudit.core.findings import Action
from loopaudit.core.findings import Decision as PolicyDecision
from loopaudit.core.tools import translator
from loopaudit.policies.contract import Context, Selected


class Decision(NamedTuple):
    """What the guard says. ``message`` is for the model, empty for ``allow``; ``times`` is the policy's own count."""

    action: Action
    rule: str = ""
    message: str = ""
    times: int = 0

    @property
    def refused(self) -> bool:
        """Whether the call must not run."""
        return self.action.refuses or self.action == Action.STOP

    @property
    def stops(self) -> bool:
        """Whether the agent's turn ends."""
        return self.action == Action.STOP


ALLOWED: Final = Decision(Action.ALLOW)


class LiveGuard:
    """One policy for one agent. Ask :meth:`before` a call runs, then tell :meth:`observe` its result.

    ``policy`` is written as for ``-p``: ``atomcode``, ``moltis:later``, ``progress(stop_after=5)``. Calls are
    a pair of name and arguments, or a tool call as the OpenAI API has it; arguments are a mapping or JSON text.
    Calls of one response may be asked about one by one; each counts as a response of its own.

    Raises:
        UsageError: there is no such policy, or more than one is named.
    """

    def __init__(self, policy: str = "progress") -> None:
        self._selected = selected = chosen(policy)
        vocabulary = selected.policy.vocabulary
        context = Context(tool=translator(vocabulary, by_kind=True, kinds=None))
        self._guard = selected.policy.start(selected.params, context)
        self._number = 0
        self._batches = 0
        self._stopped: Decision | None = None

    def turn(self, text: str = "") -> None:
        """A person's new message; it also ends a stop."""
        self._stopped = None
        self._guard.turn(Turn("", "", text))

    def compacted(self) -> None:
        """The context was compacted: what was seen before may be gone."""
        self._guard.boundary(Boundary("", "", "compaction"))

    def before(self, call: Any) -> Decision:
        """What to do with a call that has not run. A refused one must not run, and nothing is told of it afterwards."""
        if self._stopped is not None:
            return self._stopped
        batch = self._batch(call)
        decision = self._strongest(self._guard.ahead(batch))
        if decision.refused:
            self._took(self._guard.judge(batch))  # the attempt counts, though nothing ran
            self._keep(batch)
        return decision

    def observe(self, call: Any, result: Any, *, failed: bool = False) -> Decision:
        """What to say about a call that ran. ``result`` is text, or a content of blocks.

        ``failed`` is the harness's own flag. A decision that is no ``allow`` comes with a message for the
        model; a stop ends the turn.
        """
        batch = self._batch(call)
        output = result if isinstance(result, str) else content_text(result)
        answer = Result(output, failed, "error" if failed else "ok", "flag" if failed else None, has_error=failed)
        batch.calls[0].result = answer
        self._keep(batch)
        return self._took(self._guard.judge(batch))

    # -- inside ----------------------------------------------------------------------------

    def _batch(self, call: Any) -> Batch:
        """A call that is not counted yet, as a response."""
        name, arguments = _named(call)
        form, source, is_json, key, _ = of_arguments(name, arguments)
        made = Call("", self._number + 1, name, form, source, key, is_json)
        return Batch("", "", self._batches + 1, [made])

    def _keep(self, batch: Batch) -> None:
        self._batches = batch.index
        self._number = batch.calls[0].number

    def _took(self, decisions: Iterable[PolicyDecision]) -> Decision:
        decision = self._strongest(decisions)
        if decision.stops:
            self._stopped = decision
        return decision

    def _strongest(self, decisions: Iterable[PolicyDecision]) -> Decision:
        strongest = max(decisions, key=lambda decision: decision.action, default=None)
        if strongest is None or strongest.action == Action.ALLOW:
            return ALLOWED
        message = self._selected.policy.message(strongest)
        return Decision(strongest.action, strongest.rule, message, strongest.count)


class ProgressGuard(LiveGuard):
    """The policy ``progress``; ``refuse_after`` and ``stop_after`` are its parameters."""

    def __init__(self, *, refuse_after: int | None = None, stop_after: int | None = None) -> None:
        given = {"refuse_after": refuse_after, "stop_after": stop_after}
        values = ",".join(f"{name}={value}" for name, value in given.items() if value is not None)
        super().__init__(f"progress({values})" if values else "progress")


def chosen(policy: str) -> Selected:
    """The one policy that is named.

    Raises:
        UsageError: there is no such policy, or more than one is named.
    """
    selected = select([policy])
    if len(selected) != 1:
        from loopaudit.core.errors import UsageError

        raise UsageError(f"{policy!r} names {len(selected)} policies", hint="a guard runs one")
    return selected[0]


def _named(call: Any) -> tuple[str, Any]:
    """Name and arguments of a call in any of its shapes."""
    if isinstance(call, tuple):
        name, arguments = call
        return str(name), arguments
    if not isinstance(call, Mapping):
        function = getattr(call, "function", call)
        return str(function.name), getattr(function, "arguments", None)
    function = call.get("function", call)
    arguments = next((function[key] for key in ("arguments", "args", "input") if key in function), None)
    return str(function.get("name", "")), arguments
