"""Writes records as Claude Code does, and tells in short what the reader makes of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from loopaudit.core.events import Batch, Boundary, Event, Turn
from loopaudit.readers.formats.claude_code.reader import READER
from tests import corpus

Json = dict[str, Any]

SESSION = "5d0c1c6e-0000-4000-8000-000000000001"


class Log:
    """Writes records as Claude Code does, with uuids, parents and times of its own."""

    def __init__(self) -> None:
        self.records: list[Json] = []
        self.parent: str | None = None

    def add(self, kind: str, **fields: Any) -> Json:
        number = len(self.records) + 1
        record = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/user/project",
            "sessionId": SESSION,
            "version": "2.1.37",
            "gitBranch": "main",
            "type": kind,
            "uuid": f"{number:08x}-0000-4000-8000-000000000000",
            "timestamp": f"2026-02-07T03:{number // 60:02d}:{number % 60:02d}.000Z",
        } | fields
        self.records.append(record)
        self.parent = record["uuid"]
        return record

    def person(self, content: Any, **fields: Any) -> Json:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def model(self, response: str | None, *blocks: Json, usage: Json | None = None, **fields: Any) -> Json:
        message: Json = {"model": "model-large", "type": "message", "role": "assistant", "content": list(blocks)}
        if response is not None:
            message["id"] = response
        if usage is not None:
            message["usage"] = usage
        return self.add("assistant", message=message, **fields)

    def result(self, call: str, content: Any = "done", *, error: bool | None = None, **fields: Any) -> Json:
        block: Json = {"tool_use_id": call, "type": "tool_result", "content": content}
        if error is not None:
            block["is_error"] = error
        text = content if isinstance(content, str) else ""
        fields.setdefault("toolUseResult", f"Error: {text}" if error else {"stdout": text, "stderr": ""})
        return self.add("user", message={"role": "user", "content": [block]}, **fields)

    def progress(self, agent: str, nested: Json) -> Json:
        inner = {k: nested[k] for k in ("type", "message", "uuid", "timestamp")}
        data = {"message": inner, "normalizedMessages": [], "type": "agent_progress", "prompt": "", "agentId": agent}
        return self.add("progress", data=data, toolUseID="agent_msg_1", parentToolUseID="toolu_task")

    def bytes(self) -> bytes:
        return lines(self.records)


def lines(records: Iterable[Any]) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def call(id: str, name: str = "Bash", **arguments: Any) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments or {"command": f"run {id}"}}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def read(content: bytes | Log) -> tuple[list[Event], Any, Any]:
    """Events, problems and the totals of the only conversation."""
    events, problems, totals = corpus.read_events(READER, content.bytes() if isinstance(content, Log) else content)
    assert len(totals) <= 1
    return events, problems, totals[0] if totals else None


def shape(events: Iterable[Event]) -> list[str]:
    """Events in short: ``turn: text``, ``agent| a+b! text`` (``!`` failed, ``?`` unanswered), ``-- kind``."""
    told = []
    for event in events:
        agent = f"{event.agent}| " if event.agent else ""
        if isinstance(event, Turn):
            told.append(f"{agent}turn: {event.text}")
        elif isinstance(event, Boundary):
            told.append(f"{agent}-- {event.kind}")
        else:
            calls = "+".join(
                c.id.removeprefix("toolu_") + ("?" if c.result is None else "!" if c.result.failed else "")
                for c in event.calls
            )
            told.append(f"{agent}{calls or '.'} {event.text}".rstrip())
    return told


def batches(events: Iterable[Event]) -> list[Batch]:
    return [e for e in events if isinstance(e, Batch)]


IDE = "<ide_opened_file>The user opened a.py in the IDE.</ide_opened_file>"
REMINDER = "<system-reminder>Remember the list.</system-reminder>"


def little_session() -> Log:
    log = Log()
    log.person("go")
    log.model("m1", text("I look."), usage={"output_tokens": 1})
    log.model("m1", call("toolu_01a"), usage={"output_tokens": 9})
    log.result("toolu_01a")
    log.model("m2", text("done"), usage={"output_tokens": 2})
    log.person("go")
    return log


def every_kind() -> list[Json]:
    """A short session with everything in it that can be damaged."""
    inner = Log()
    task = inner.person("look")
    look = inner.model("s1", call("toolu_0n"), usage={"output_tokens": 3})
    seen = inner.result("toolu_0n")
    for nested in inner.records:
        nested["uuid"] = "2" + nested["uuid"][1:]
    log = Log()
    log.add("summary", summary="a title", leafUuid="x")
    log.person([text(IDE), text("go")])
    log.model("m1", text("I look."), usage={"output_tokens": 1})
    log.model("m1", call("toolu_01"), usage={"output_tokens": 2})
    log.result("toolu_01", "Exit code 1\nno", error=True)
    log.model("m1", call("toolu_02", name="Task"))
    for record in (task, look, seen):
        log.progress("abc", record)
    log.result("toolu_02", [text("found"), {"type": "image", "source": {"data": "AA"}}])
    side = log.person("task", isSidechain=True, parentUuid=None)["uuid"]
    log.model("s2", call("toolu_03"), isSidechain=True, parentUuid=side)
    log.result("toolu_03", isSidechain=True)
    log.person("[Request interrupted by user]")
    log.add("system", subtype="compact_boundary", compactMetadata={"trigger": "manual"})
    log.person("what was", isCompactSummary=True)
    log.model("m3", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "search", "input": {"q": 1}})
    log.model("m3", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []})
    return log.records
