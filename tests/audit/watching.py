"""Watches files in one thread, poll by poll, and writes agents' sessions in several formats."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from hypothesis import strategies as st

from loopaudit.audit.inputs.model import Input
from loopaudit.audit.one import audit_input
from loopaudit.audit.session import FileAudit
from loopaudit.audit.watch.notices import Firing, Notice
from loopaudit.audit.watch.watch import Plan, Watch
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.findings import Finding

OPTIONS = Options(policies=select(["mission", "openhands-sdk", "crush"]), hindsight=False)


class Live:
    """A watch without waiting. ``fired`` and ``notices`` are what it told so far."""

    def __init__(self, *paths: Path | str, options: Options = OPTIONS, **plan: Any) -> None:
        self.fired: list[Firing] = []
        self.notices: list[Notice] = []
        self.watch = Watch([str(path) for path in paths], options, Plan(**plan), self._notify)
        self.code: int | None = None

    def _notify(self, told: Firing | Notice) -> None:
        if isinstance(told, Firing):
            self.fired.append(told)
        else:
            self.notices.append(told)

    def __enter__(self) -> Live:
        self.settle()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.watch.__exit__(kind, error, trace)

    def settle(self) -> int:
        """Poll until everything is read; a document needs a second look. Returns the number of firings so far."""
        for _ in range(2):
            while self.watch.poll(everywhere=True):
                pass
        return len(self.fired)

    def finish(self) -> list[Firing]:
        """End the watch; everything that it told."""
        self.code = self.watch.finish()
        return self.fired

    @property
    def messages(self) -> list[str]:
        return [notice.message for notice in self.notices]


def replayed(path: Path, options: Options = OPTIONS) -> Counter[tuple[Any, ...]]:
    """The firings of a replay of the finished file, those of recorded guards included."""
    result: FileAudit = audit_input(Input(path, named=True), options)
    found = [f for t in result.transcripts for f in t.recorded]
    return Counter(map(marks, found + [f for t in result.transcripts for p in t.policies for f in p.findings]))


def told(fired: list[Firing]) -> Counter[tuple[Any, ...]]:
    return Counter(marks(firing.finding) for firing in fired)


def marks(finding: Finding) -> tuple[Any, ...]:
    """Everything of a finding that can be compared and does not name the file."""
    names = (
        "policy action own_word rule count tool session agent turn batch call calls line arguments message key result"
    )
    return tuple(getattr(finding, name) for name in names.split())


class Step(NamedTuple):
    """A response's calls and their results, or (without calls) a person's message or a reply in prose."""

    agent: str
    calls: tuple[tuple[str, str, str, bool], ...]
    says: str = ""
    late: bool = False
    """Whether all calls stand before the first result."""


calls = st.tuples(
    st.sampled_from(["Grep", "Bash"]), st.sampled_from(["a", "b"]), st.sampled_from(["none", "one"]), st.booleans()
)
steps = st.builds(
    Step,
    st.sampled_from(["", "", "", "sub"]),
    st.lists(calls, max_size=3).map(tuple),
    st.sampled_from(["go on", "look"]),
    st.booleans(),
)
loops = st.builds(lambda step, times: [step] * times, steps, st.integers(1, 7))
sessions = st.lists(loops, min_size=1, max_size=4).map(lambda parts: [step for part in parts for step in part])
"""Sessions with loops in them."""


def grep_loop(times: int, agent: str = "", what: str = "a") -> list[Step]:
    return [Step(agent, (("Grep", what, "none", False),))] * times


class Pen:
    """Writes sessions. Ids and times go on over the calls of one pen."""

    def __init__(self, format: str, *, results: bool = True, session: str = "s1") -> None:
        self.format = format
        self.results = results
        self.session = session
        self._number = 0

    def lines(self, session: list[Step]) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = []
        for step in session:
            records += getattr(self, f"_{self.format}")(step)
        return records

    def write(self, session: list[Step], ending: str = "\n") -> bytes:
        return "".join(json.dumps(record) + ending for record in self.lines(session)).encode()

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _ordered(self, step: Step, asked: list[Any], answered: list[Any]) -> list[Any]:
        if not self.results:
            return asked
        if step.late:
            return asked + answered
        return [record for pair in zip(asked, answered, strict=True) for record in pair]

    def _native(self, step: Step) -> list[dict[str, Any]]:
        agent = {"agent": step.agent} if step.agent else {}
        if not step.calls:
            return [{"type": "user", "text": step.says, **agent}]
        response = self._next()
        asked, answered = [], []
        for name, what, output, failed in step.calls:
            call_id = f"toolu_{self._next():04}"
            head = {"type": "tool_call", "id": call_id, "name": name, "batch": f"r{response}", **agent}
            asked.append({**head, "arguments": {"pattern": what}})
            answered.append({"type": "tool_result", "id": call_id, "output": output, "is_error": failed, **agent})
        return self._ordered(step, asked, answered)

    def _claude(self, step: Step) -> list[dict[str, Any]]:
        def record(kind: str, content: Any, **message: Any) -> dict[str, Any]:
            number = self._next()
            made = {
                "parentUuid": None,
                "isSidechain": bool(step.agent),
                "sessionId": self.session,
                "type": kind,
                "uuid": f"00000000-0000-4000-8000-{number:012}",
                "timestamp": f"2026-05-04T09:{number // 60 % 60:02}:{number % 60:02}.000Z",
                "message": {"role": kind, "content": content, **message},
            }
            return {**made, "agentId": step.agent} if step.agent else made

        if not step.calls:
            return [record("user", step.says)]
        response = {"id": f"msg_{self._next():08}", "type": "message", "model": "claude-x"}
        asked, answered = [], []
        for name, what, output, failed in step.calls:
            call_id = f"toolu_{self._next():04}"
            block = {"type": "tool_use", "id": call_id, "name": name, "input": {"pattern": what}}
            asked.append(record("assistant", [block], **response))
            result = {"type": "tool_result", "tool_use_id": call_id, "content": output, "is_error": failed}
            answered.append(record("user", [result]))
        return self._ordered(step, asked, answered)

    def _codex(self, step: Step) -> list[dict[str, Any]]:
        def item(**payload: Any) -> dict[str, Any]:
            number = self._next()
            at = f"2026-06-11T14:{number // 60 % 60:02}:{number % 60:02}.000Z"
            return {"timestamp": at, "type": "response_item", "payload": payload}

        if not step.calls:
            content = [{"type": "input_text", "text": step.says}]
            return [item(type="message", role="user", content=content)]
        asked, answered = [], []
        for name, what, output, failed in step.calls:
            call_id = f"call_{self._next():06}x"
            asked.append(item(type="function_call", name=name, arguments=json.dumps({"p": what}), call_id=call_id))
            shown = json.dumps({"output": output, "metadata": {"exit_code": int(failed)}})
            answered.append(item(type="function_call_output", call_id=call_id, output=shown))
        return self._ordered(step, asked, answered)

    def _chat(self, step: Step) -> list[dict[str, Any]]:
        if not step.calls:
            return [{"role": "user", "content": step.says}]
        made, answered = [], []
        for name, what, output, _ in step.calls:
            call_id = f"call_{self._next():06}x"
            function = {"name": name, "arguments": json.dumps({"pattern": what})}
            made.append({"id": call_id, "type": "function", "function": function})
            answered.append({"role": "tool", "tool_call_id": call_id, "content": output})
        return [{"role": "assistant", "content": None, "tool_calls": made}, *(answered if self.results else [])]
