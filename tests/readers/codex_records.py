"""Writes Codex rollouts for tests, and tells in short what the reader makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from loopaudit.core.counts import Totals
from loopaudit.core.events import Boundary, Event, Level, Result, Turn
from loopaudit.core.findings import Problems
from loopaudit.readers.formats.codex.reader import READER
from tests import corpus

Record = dict[str, Any]


class Writer:
    """Makes records of a rollout, each a second after the one before."""

    def __init__(self) -> None:
        self.second = 0

    def line(self, kind: str, /, **payload: Any) -> Record:
        self.second += 1
        minute, second = divmod(self.second, 60)
        return {"timestamp": f"2026-06-26T22:{minute:02}:{second:02}.000Z", "type": kind, "payload": payload}

    def item(self, kind: str, /, **fields: Any) -> Record:
        return self.line("response_item", type=kind, **fields)

    def event(self, kind: str, /, **fields: Any) -> Record:
        return self.line("event_msg", type=kind, **fields)

    def meta(self, id: str = "T1", **fields: Any) -> Record:
        return self.line("session_meta", id=id, timestamp="2026-06-26T22:00:00.000Z", **fields)

    def message(self, role: str, text: str) -> Record:
        kind = "output_text" if role == "assistant" else "input_text"
        return self.item("message", role=role, content=[{"type": kind, "text": text}])

    def typed(self, text: str) -> list[Record]:
        return [self.message("user", text), self.event("user_message", message=text, images=[])]

    def call(self, id: str, arguments: Any = '{"cmd":"ls"}', name: str = "exec_command", **more: Any) -> Record:
        return self.item("function_call", name=name, arguments=arguments, call_id=id, **more)

    def output(self, id: str, output: Any = "done", kind: str = "function_call_output") -> Record:
        return self.item(kind, call_id=id, output=output)

    def tokens(self, input: int, output: int, so_far: tuple[int, int], cached: int = 0) -> Record:
        last = {"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output}
        totals = {"input_tokens": so_far[0], "output_tokens": so_far[1], "total_tokens": sum(so_far)}
        return self.event("token_count", info={"total_token_usage": totals, "last_token_usage": last})


def encode(records: Sequence[Any]) -> bytes:
    return b"".join(orjson.dumps(r) + b"\n" for r in records)


def read(records: Sequence[Any] | bytes, level: Level = "exit_code") -> tuple[list[str], Problems, list[Totals]]:
    content = records if isinstance(records, bytes) else encode(records)
    events, problems, totals = corpus.read_events(READER, content, failure_level=level)
    return [tell(event) for event in events], problems, totals


def tell(event: Event) -> str:
    """One event in short: ``turn hello``, ``[shell:ok0 shell:-] prose``, ``interrupt reason``."""
    if isinstance(event, Turn):
        return f"turn {event.text}"
    if isinstance(event, Boundary):
        return f"{event.kind} {event.reason}"
    calls = " ".join(f"{call.name}:{ending(call.result)}" for call in event.calls)
    return f"[{calls}] {event.text}".rstrip()


def ending(result: Result | None) -> str:
    if result is None:
        return "-"
    return result.status + ("" if result.exit_code is None else str(result.exit_code))


HEADER = "Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code {}\nOriginal token count: 3\nOutput:\nx"
JSON_OUTPUT = '{{"output":"x\\n","metadata":{{"exit_code":{},"duration_seconds":0.1}}}}'


def bare() -> list[Record]:
    """A rollout without envelopes."""
    state = {"record_type": "state"}
    return [
        {"id": "A1", "timestamp": "2025-09-10T18:58:38.331Z", "instructions": None, "git": {"branch": "main"}},
        state,
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<user_instructions>x"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look around"}]},
        state,
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": None},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "call_a1b2c3"},
        {"type": "function_call_output", "call_id": "call_a1b2c3", "output": JSON_OUTPUT.format(2)},
        state,
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["pwd"]}', "call_id": "call_d4e5f6"},
        {"type": "function_call_output", "call_id": "call_d4e5f6", "output": JSON_OUTPUT.format(0)},
        state,
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "thanks"}]},
    ]


def early() -> list[Record]:
    """A rollout with envelopes that reports tokens before the items of a response."""
    w = Writer()
    return [
        w.meta("B1", cli_version="0.40.0"),
        w.message("user", "<environment_context>\n  <cwd>/x</cwd>"),
        *w.typed("look around"),
        w.line("turn_context", model="gpt-5-codex", effort="high"),
        w.event("agent_reasoning", text="thinking"),
        w.tokens(100, 10, (100, 10)),
        w.item("reasoning", summary=[], content=None, encrypted_content="gAAA"),
        w.call("call_a1b2c3", '{"command":["ls"]}', "shell"),
        w.output("call_a1b2c3", JSON_OUTPUT.format(2)),
        w.line("turn_context", model="gpt-5-codex", effort="high"),
        w.tokens(130, 20, (230, 30)),
        w.event("agent_message", message="Done."),
        w.message("assistant", "Done."),
    ]


def late() -> list[Record]:
    """A rollout with parallel calls that reports tokens behind the items of a response."""
    w = Writer()
    return [
        w.meta("C1", cli_version="0.142.0", source="cli"),
        w.event("task_started", turn_id="1"),
        w.message("developer", "<permissions instructions>"),
        w.message("user", "# AGENTS.md instructions for /x"),
        w.line("turn_context", model="gpt-5.5"),
        *w.typed("look around"),
        w.item("reasoning", id="rs_1", summary=[]),
        w.event("agent_message", message="I look.", phase="commentary"),
        w.message("assistant", "I look."),
        w.call("call_a1b2c3", '{"cmd":"ls"}'),
        w.call("call_d4e5f6", '{"cmd":"pwd"}'),
        w.output("call_a1b2c3", HEADER.format(0)),
        w.output("call_d4e5f6", HEADER.format(1)),
        w.tokens(100, 10, (100, 10), cached=40),
        w.item(
            "custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="call_g7h8i9", status="completed"
        ),
        w.event("patch_apply_end", call_id="call_g7h8i9", success=True, status="completed"),
        w.output("call_g7h8i9", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", "custom_tool_call_output"),
        w.tokens(130, 20, (230, 30)),
        w.tokens(130, 20, (230, 30)),
        w.message("assistant", "Done."),
        w.tokens(150, 30, (380, 60)),
        w.event("task_complete", turn_id="1", last_agent_message="Done."),
    ]


GENERATIONS = {
    "bare": (
        bare(),
        ["turn look around", "[shell:error2] I look.", "[shell:ok0]", "[] Done.", "turn thanks"],
        "A1",
    ),
    "early": (early(), ["turn look around", "[shell:error2]", "[] Done."], "B1"),
    "late": (
        late(),
        ["turn look around", "[exec_command:ok0 exec_command:error1] I look.", "[apply_patch:ok0]", "[] Done."],
        "C1",
    ),
}
BASES = {name: records for name, (records, _, _) in GENERATIONS.items()}
