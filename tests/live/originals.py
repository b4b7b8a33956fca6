"""Runs an original guard over streams, in a process of its own that has the package on its path.

Reads one stream a line from standard input, in the shape of the conformance vectors, and writes the
original's decisions a line, one row per batch. Needs nothing but the original.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]

SKIP: Row = {"action": "skip", "rule": "none", "count": 0}


def said(call: dict[str, Any]) -> str:
    return str(call["output"] if call["success"] else call["error"])


def silent(events: list[dict[str, Any]], reset: Callable[[], None], judge: Callable[[list[Any]], Row]) -> list[Row]:
    """Rows of all batches; after a row that ends the turn the guard is not asked until the next message."""
    rows: list[Row] = []
    stopped = False
    for event in events:
        if event["type"] == "user":
            reset()
            stopped = False
            continue
        calls = event["calls"]
        row: Row = {"batch": None, "calls": [SKIP] * len(calls)} if stopped else judge(calls)
        heads = [row["batch"] or SKIP, *row["calls"]]
        stopped = stopped or any(head["action"] in ("halt", "escalate") for head in heads)
        rows.append(row)
    return rows


def agent_loop_guard(stream: dict[str, Any]) -> list[Row]:
    from loop_guard.decision import Action
    from loop_guard.guard import LoopGuard

    guard = LoopGuard()
    words = {Action.CONTINUE: "allow", Action.WARN: "warn", Action.STOP: "halt", Action.ESCALATE: "escalate"}

    def judge(calls: list[Any]) -> Row:
        found: list[Row] = []
        for call in calls:
            if found and found[-1]["action"] in ("halt", "escalate", "skip"):
                found.append(SKIP)
                continue
            decision = guard.check(call["name"], json.loads(call["arguments"]), said(call))
            rule = decision.strategy or "none"
            row = {"action": words[decision.action], "rule": rule, "count": guard.consecutive_hits}
            found.append({**row, "confidence": round(decision.confidence, 6)})
        return {"batch": None, "calls": found}

    return silent(stream["events"], guard.reset, judge)


def exoclaw(stream: dict[str, Any]) -> list[Row]:
    from exoclaw_loop_detection import LoopDetectionPolicy

    policy = LoopDetectionPolicy()
    turn = [0]

    def reset() -> None:
        policy.reset()
        turn[0] = 0

    def judge(calls: list[Any]) -> Row:
        for call in calls:
            policy.record(call["name"], json.loads(call["arguments"]))
        turn[0] += 1
        goes_on = asyncio.run(policy.should_continue(turn[0], [call["name"] for call in calls]))
        halt = None if goes_on else {"action": "halt", "rule": "pattern", "count": 0}
        return {"batch": halt, "calls": [{"action": "allow", "rule": "none", "count": 0}] * len(calls)}

    return silent(stream["events"], reset, judge)


def hermes_agent(stream: dict[str, Any]) -> list[Row]:
    from agent.tool_guardrails import ToolCallGuardrailConfig, ToolCallGuardrailController

    guard = ToolCallGuardrailController(ToolCallGuardrailConfig(**stream["config"]))

    def row(decision: Any) -> Row:
        rule = "none" if decision.code == "allow" else decision.code
        return {"action": decision.action, "rule": rule, "count": decision.count}

    def judge(calls: list[Any]) -> Row:
        found: list[Row] = []
        for call in calls:
            arguments = json.loads(call["arguments"])
            decision = guard.before_call(call["name"], arguments)
            if decision.allows_execution:
                decision = guard.after_call(call["name"], arguments, said(call), failed=not call["success"])
            found.append(row(decision))
        halt = guard.halt_decision
        whole = None if halt is None else {**row(halt), "action": "halt", "tool": halt.tool_name}
        return {"batch": whole, "calls": found}

    return silent(stream["events"], guard.reset_for_turn, judge)


if __name__ == "__main__":
    run = {"agent-loop-guard": agent_loop_guard, "exoclaw": exoclaw, "hermes-agent": hermes_agent}[sys.argv[1]]
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))))
