"""Finds an agent stuck on the same action and outcome, on errors, in a monologue, or between two actions.

The stuck detector of the OpenHands software agent SDK. It looks after each response at the newest events
since the last message of a person.

Watches
    At most the last 20 events since a person's message: actions, observations, messages of the
    agent (responses without calls) and the guard's own notice. An action is its tool, its
    arguments compared as Python compares them, and its thought: the response's text, carried by
    the first call only. An observation is a tool with its output, or an error text. All actions of
    a response come before all its observations. A call without result is left out.

Acts
    * ``action_error``, nudge: the newest three actions are equal and all failed, with whatever
      errors. Once per newest failure; nothing else is checked then.
    * ``action_observation``: the last four actions are equal and so are the last four observations.
    * ``action_error``, halt: the newest four actions are equal and all failed.
    * ``monologue``: three messages of the agent in a row; their texts need not be equal.
    * ``alternating_pattern``: the last six actions read A B A B A B, and so do the observations.

    All but the nudge are a ``halt``: the run is stuck and ends.

Resets
    A person's message cuts the view: nothing before it is looked at.

Blind to
    Repeats whose thought differs, since it is part of the action; cycles of three or more; a change
    in the output, such as a clock. Responses of ten calls or more push each other out of the view. The
    original's fifth scenario, errors of the context window, can never fire.

Complaints
    OpenHands/OpenHands #762 (four polls in 15 minutes; thresholds became settings), #15087 (varying thoughts evade
    it), #13942 (automatic messages with the user role cut the view); OpenHands/software-agent-sdk #4331 and PR #4332
    (nudge before stopping).

Examples
    read(a)=x x4 | . . . . /halt
    read(a)!boom x4 | . . . /nudge . /halt
    read(a)=1 read(b)=2 read(a)=1 read(b)=2 read(a)=1 read(b)=2 | . . . . . . /halt
    say(a) say(b) say(c) | /halt
    read(a)=1 read(a)=2 read(a)=3 read(a)=4 | . . . .
    read(a)=x x3 user read(a)=x | . . . .

Source
    OpenHands/software-agent-sdk, ``conversation/stuck_detector.py`` at 611629e6; run from openhands-sdk 1.58.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from loopaudit.core.events import Batch, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import py_equal_key
from loopaudit.policies.kit.openhands import Observation, alike, alike_two_apart, thought

ACTION: Final = 0
OBSERVATION: Final = 1
MESSAGE: Final = 2
NOTICE: Final = 3

VIEW: Final = 20
"""Events that are looked at."""

LEAST_EVENTS: Final = 3
"""With fewer events in view nothing is taken for stuck."""


class OpenhandsSdkParams(Params):
    """The original's ``StuckDetectionThresholds``."""

    action_observation: Annotated[
        int, param("equal actions with equal observations that are taken for stuck", 2, 10)
    ] = 4
    action_error: Annotated[
        int, param("equal failing actions at which the model is told; one more is taken for stuck", 2, 9)
    ] = 3
    monologue: Annotated[int, param("messages of the agent in a row that are taken for stuck", 1, 20)] = 3
    alternating_pattern: Annotated[int, param("actions and observations, in turn, that are taken for stuck", 3, 10)] = 6


class OpenhandsSdkGuard(Guard):
    """The view: kind and identity of the newest events since a person's message."""

    def __init__(self, params: OpenhandsSdkParams, context: Context) -> None:
        self._params = params
        self._view: deque[tuple[int, object]] = deque(maxlen=VIEW)
        self._actions: deque[tuple[int, object]] = deque(maxlen=3)
        """The newest actions once more: most checks end at a look at these."""
        self._messages = 0
        self._nudged = False
        """Whether the newest failure was answered by a nudge."""

    def turn(self, turn: Turn) -> None:
        self._view.clear()
        self._actions.clear()
        self._messages = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        if batch.calls:
            self._take(batch)
        else:
            self._view.append((MESSAGE, None))
            self._messages += 1
        decision = self._check() if self._may_be_stuck() else None
        return NOTHING if decision is None else (decision,)

    def _take(self, batch: Batch) -> None:
        """Add the events of a response: all actions, then all observations."""
        self._messages = 0
        observations: list[tuple[int, Observation]] = []
        for position, call in enumerate(batch.calls):
            result = call.result
            if result is None:
                continue
            action = (ACTION, (py_equal_key(call), thought(batch, position)))
            self._view.append(action)
            self._actions.append(action)
            observations.append((OBSERVATION, Observation(result, call.name, is_error=result.failed)))
        if observations:
            self._view.extend(observations)
            self._nudged = False

    def _may_be_stuck(self) -> bool:
        """A cheap necessary condition: every rule on actions needs an equal one among the last three."""
        if self._messages >= self._params.monologue:
            return True
        actions = self._actions
        return len(actions) > 1 and (actions[-1] == actions[-2] or actions[-1] == actions[0])

    def _check(self) -> Decision | None:
        """The nudge, or the first scenario that holds for the view as it stands."""
        params = self._params
        view = list(self._view)
        actions = [event for kind, event in view if kind == ACTION]
        observations = [event for _, event in view if isinstance(event, Observation)]
        streak = self._failing(actions, observations)
        if streak == params.action_error and not self._nudged:
            self._nudged = True
            self._view.append((NOTICE, None))
            return Decision(Action.NUDGE, "action_error", count=streak, own_word="nudge")
        if len(view) < LEAST_EVENTS:
            return None
        same = params.action_observation
        if alike(actions, same) and alike(observations, same):
            return self._stuck("action_observation")
        if streak > params.action_error:
            return self._stuck("action_error")
        if self._messages_in(view) >= params.monologue:
            return self._stuck("monologue")
        long = params.alternating_pattern
        if alike_two_apart(actions, long) and alike_two_apart(observations, long):
            return self._stuck("alternating_pattern")
        return None

    def _failing(self, actions: Sequence[object], observations: Sequence[Observation]) -> int:
        """How many of the newest actions equal the newest one and have a failure beside them."""
        streak = 0
        for action, observation in zip(reversed(actions), reversed(observations), strict=False):
            if action != actions[-1] or not observation.is_error or streak > self._params.action_error:
                break
            streak += 1
        return streak

    @staticmethod
    def _messages_in(view: Sequence[tuple[int, object]]) -> int:
        """Messages of the agent at the end of the view; notices are stepped over."""
        count = 0
        for kind, _ in reversed(view):
            if kind == MESSAGE:
                count += 1
            elif kind != NOTICE:
                break
        return count

    @staticmethod
    def _stuck(rule: str) -> Decision:
        return Decision(Action.STOP, rule, own_word="halt")


def message(decision: Decision) -> str:
    """The message for the model, in our own words."""
    if decision.action == Action.NUDGE:
        return f"The same action failed {decision.count} times in a row. Try it in another way."
    return f"The agent is stuck: {POLICY.rules[decision.rule]}. The run ends."


POLICY = Policy(
    id="openhands-sdk",
    title="OpenHands SDK",
    origin=Origin("OpenHands/software-agent-sdk", "1.58.2", "https://github.com/OpenHands/software-agent-sdk"),
    params=OpenhandsSdkParams,
    start=OpenhandsSdkGuard,
    rules={
        "action_observation": "the last four actions are equal and had equal observations",
        "action_error": "the newest actions are equal and all failed",
        "monologue": "three messages without any action stand in a row",
        "alternating_pattern": "two actions take turns three times, each with the same observation",
    },
    message=message,
    actions=("nudge", "stop"),
    ideas=(
        "identical call and identical result",
        "alternation A-B-A-B",
        "same error",
        "text without tools",
    ),
    needs={
        "results": "every rule but the monologue compares results",
        "success": "repeated failures are only seen where their texts are equal",
        "text": "the monologue is not seen, and thoughts cannot tell actions apart",
    },
    essential=frozenset({"results"}),
)
