"""Ends the turn when it took too many model responses, or too many calls: all that many frameworks have.

No single original: a cap as most agent frameworks have one, with their numbers as variants. It
knows nothing of loops, so it measures how long a loop would run where nothing else stops it, and how
often honest work is cut off.

Watches
    A counter of one unit: ``responses`` (model responses, with calls or without), ``calls`` (tool
    calls), or ``supersteps`` (a response is one, its calls together are another, as LangGraph counts). It
    starts anew with each message of a person, or with ``per`` ``session`` never.

Acts
    * ``cap``: the limit is reached and the agent would go on. Counting responses, that is the
      last allowed response if it made calls: they run, then the turn ends. Counting calls,
      it is the first call over the limit; it and all later ones do not run. Counting supersteps,
      the calls of a response do not run if they would be the first step over the limit. What
      the host then does (an error, a forced final answer) is not distinguished.

    It speaks once until the counter starts anew.

Resets
    A person's message, unless ``per`` is ``session``. A reply without calls ends no count, but
    is never the end: the agent had finished by itself.

Blind to
    Everything but the number.

Complaints
    A cap low enough to stop a loop soon also stops honest work, and one high enough for honest
    work (10,007 in LangGraph, 1,000 in kimi-cli) lets a loop run for hours.

Examples
    ls(a)=x x25 | . . . . . . . . . . . . . . . . . . . . . . . . . /stop
    ls(a)=x x24 say(done) user ls(a)=x | . . . . . . . . . . . . . . . . . . . . . . . . .
    [ls(a)=x ls(b)=x ls(c)=x] | . . .

Source
    Limits as verified in the packages: openai-agents 0.24 ``max_turns`` 10 · smolagents 1.26
    ``max_steps`` 20 · llama-index-core 0.14 20 · crewAI ``max_iter`` 25 · pydantic-ai 2.68
    ``request_limit`` 50 · hermes-agent 90, its sub-agents 50 · gemini-cli 100 · qwen-code
    100 calls (there adaptive, see the policy qwen-code) · nanobot 200 · OpenHands 500 · kimi-cli
    1,000 · LangGraph recursion limit 10,007, formerly 25 · deepagents 9,999 · autogen-agentchat 0.7
    ``max_tool_iterations`` 1 · LangChain's ``AgentExecutor`` 15 · Vercel AI SDK's agents 20 steps · moltis 25 ·
    koda 200, where the person may go on for 50 or 200 more · Google ADK ``max_llm_calls`` 500 · mini-swe-agent
    2.4 ``step_limit`` 250 in its benchmark file. The default is crewAI's. Limits that count corrections (aider,
    SWE-agent) are not of this kind. Read, not run: LangChain's is ``AgentExecutor.max_iterations`` in the reference of
    langchain-classic, Vercel's the default ``stepCountIs(20)`` of ``ToolLoopAgent`` in the page on loop control of
    version 6 (one step in version 5), Google's ``_DEFAULT_MAX_LLM_CALLS`` in ``run_config.py`` of adk-python, koda's
    ``MAX_ITERATIONS_DEFAULT`` in its loop guard, goose's ``GOOSE_MAX_TURNS`` 1,000 in its page on configuration,
    moltis' ``default_agent_max_iterations`` in ``crates/config/src/schema/tools.rs``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from loopaudit.core.events import Batch, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param

Unit = Literal["responses", "calls", "supersteps"]
Scope = Literal["turn", "session"]


class IterationCapParams(Params):
    """The default is crewAI's; see the variants for others."""

    cap: Annotated[int, param("how many are allowed", 1, 10_000_000)] = 25
    unit: Annotated[Unit, param("what is counted: responses, calls or supersteps")] = "responses"
    per: Annotated[Scope, param("when the count starts anew: with each turn, or never (session)")] = "turn"


class IterationCapGuard(Guard):
    """One counter."""

    def __init__(self, params: IterationCapParams, context: Context) -> None:
        self._cap = params.cap
        self._unit = params.unit
        self._per_turn = params.per == "turn"
        self._enforced = context.enforced
        self._count = 0
        self._spoken = False

    def turn(self, turn: Turn) -> None:
        if self._per_turn:
            self._count = 0
        self._spoken = False

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        before = self._count
        if self._unit == "calls":
            self._count += len(calls)
            reached = self._count > self._cap
        else:
            self._count += 2 if calls and self._unit == "supersteps" else 1
            reached = self._count >= self._cap and bool(calls)
        if not reached or self._spoken:
            return NOTHING
        self._spoken = True
        if self._unit == "calls":
            # Over a session the limit may long be reached when a turn begins.
            position = max(self._cap - before, 0)
            stop = Decision(Action.STOP, "cap", position, count=before + position + 1, own_word="stop")
            stop.tool = calls[position].name
            stop.skipped = len(calls) - position - 1
        else:
            stop = Decision(Action.STOP, "cap", count=self._count, own_word="stop")
            if self._unit == "supersteps" and self._count > self._cap:
                stop.skipped = len(calls)
        if not self._enforced:
            stop.skipped = 0
        return (stop,)


def message(decision: Decision) -> str:
    """The message for the user, in our own words."""
    return f"The limit is reached ({decision.count}); the turn ends."


POLICY = Policy(
    id="iteration-cap",
    title="iteration cap",
    origin=Origin("agent frameworks", "", ""),
    params=IterationCapParams,
    start=IterationCapGuard,
    rules={"cap": "the turn reached its limit and the agent would have gone on"},
    message=message,
    actions=("stop",),
    ideas=("caps",),
    variants={
        "autogen-agentchat": {"cap": 1},
        "openai-agents": {"cap": 10},
        "langchain": {"cap": 15},
        "vercel-ai-sdk": {"cap": 20},
        "smolagents": {"cap": 20},
        "llama-index": {"cap": 20},
        "pydantic-ai": {"cap": 50},
        "hermes-sub-agent": {"cap": 50},
        "hermes": {"cap": 90},
        "gemini-cli": {"cap": 100},
        "qwen-code": {"cap": 100, "unit": "calls"},
        "koda": {"cap": 200},
        "nanobot": {"cap": 200},
        "mini-swe-agent": {"cap": 250, "per": "session"},
        "google-adk": {"cap": 500},
        "openhands": {"cap": 500},
        "goose": {"cap": 1000},
        "kimi-cli": {"cap": 1000},
        "deepagents": {"cap": 9_999, "unit": "supersteps"},
        "langgraph": {"cap": 10_007, "unit": "supersteps"},
        "langgraph-before": {"cap": 25, "unit": "supersteps"},
    },
)
