"""Ends the run when five responses in a row ask for exactly the same list of calls.

The tool-loop detector of Docker's agent (``docker agent``, formerly cagent). It looks once per
response.

Watches
    The ordered list of calls of a whole response: tool name and arguments as Go reads and writes
    them (all numbers doubles, key order ignored; text that is no JSON as it stands).

Acts
    * ``consecutive_identical_batch``: the list equals those of the four responses before. The
      run ends (``halt``), and the detector forgets what it saw.

Resets
    A person's message, and a response with another list. Responses without calls are not looked at.

Blind to
    Results. The same calls in another order, or with one more beside them. Two lists in turn
    and longer cycles, changing arguments. A call without result counts like any other.

Complaints
    Polling a background job looks like a loop: a later version leaves out the viewers of
    background agents and jobs.

Examples
    read(a)=x x5 | . . . . . /halt
    read(a)=x x4 read(b)=x read(a)=x | . . . . . .
    [read(a)=x read(b)=x] read(a)=x x4 | . . . . . .
    read(a)=x x4 say(hm) read(a)=x | . . . . . /halt
    read(a)=x x4 user read(a)=x | . . . . .

Source
    docker/docker-agent, the runtime's tool-loop detector (PR #2123), run with Go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from loopaudit.core.events import Batch, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.kit.arguments import go_key
from loopaudit.policies.kit.cycles import Streak


class DockerAgentParams(Params):
    """The original's default."""

    max_consecutive_tool_calls: Annotated[
        int, param("the equal response in a row that ends the run; 0 means 5", 0, 100_000)
    ] = 5


class DockerAgentGuard(Guard):
    """The run of responses with equal calls."""

    calls_only = True

    def __init__(self, params: DockerAgentParams, context: Context) -> None:
        self._limit = params.max_consecutive_tool_calls or 5
        self._run: Streak[bytes | tuple[bytes, ...]] = Streak()

    def turn(self, turn: Turn) -> None:
        self._run.clear()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        if not calls:
            return NOTHING
        count = self._run.push(go_key(calls[0]) if len(calls) == 1 else tuple(map(go_key, calls)))
        if count < self._limit:
            return NOTHING
        self._run.clear()
        tool = calls[0].name
        return (Decision(Action.STOP, "consecutive_identical_batch", count=count, own_word="halt", tool=tool),)


def message(decision: Decision) -> str:
    """The message for the user, in our own words."""
    return f"The agent ends: {decision.count} responses in a row asked for the same calls."


POLICY = Policy(
    id="docker-agent",
    title="Docker Agent",
    origin=Origin("docker/docker-agent", "PR #2123", "https://github.com/docker/docker-agent"),
    params=DockerAgentParams,
    start=DockerAgentGuard,
    rules={"consecutive_identical_batch": "five responses in a row ask for the same calls in the same order"},
    message=message,
    actions=("stop",),
    ideas=("identical call, consecutive",),
)
