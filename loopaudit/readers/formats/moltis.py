"""Session files of moltis.

**Written by** moltis to ``~/.moltis/sessions/<key>.jsonl``, one message a line. Known from the program's source
only; no real file was seen.

**Turn** = a message of role user. **Batch** = one assistant message with ``tool_calls`` of the Chat Completions
API. **Results** stand there once or twice: ``tool`` as the model saw it, ``tool_result`` with success, error and
exit code. They are one result; the latter is used. A ``tool_result`` whose call is not
recorded repeats name and arguments, so the call is known from it.

**Failure.** ``success: false`` is a flag, ``result.exit_code`` an exit code. A ``notice`` about a loop is a
``recorded_guard`` boundary.

**Not carried**: sub-agents, tool schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.foreign import is_moltis
from loopaudit.readers.kit.fields import flag, items, malformed, mapping, moment, string, unknown_record
from loopaudit.readers.kit.whole import guard_notice, records, samples, tokens, tool_name
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source


def sniff(probe: Probe) -> str | None:
    """Claim messages with run_id, seq and created_at, or results with tool_name and success."""
    if any(is_moltis(record) for record in samples(probe)):
        return "messages with run_id and seq, or role tool_result with tool_name"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every message in file order."""
    reading = _Reading(emit)
    for record in records(source, emit):
        reading.take(record)
    reading.settle()


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.known: set[str] = set()
        """Ids of calls."""
        self.plain: dict[str, tuple[Any, int, Any]] = {}
        """Results as the model saw them, until the other kind has had its chance."""
        self.answered: set[str] = set()
        self.responses = 0

    def take(self, record: Mapping[str, Any]) -> None:
        """One message by its role."""
        role = string(record.get("role"))
        self.emit.at(time=moment(record.get("created_at")))
        if role == "tool":
            self._plain(record)
            return
        if role == "tool_result":
            self._result(record)
            return
        self.settle()
        text = content_text(record.get("content"))
        if role == "assistant":
            self._assistant(record, text)
        elif role == "user":
            if not text:
                malformed(self.emit, "a message of a person without text")
            self.emit.turn(text)
        elif role == "notice":
            guard = guard_notice(text)
            if guard is not None:
                self.emit.boundary("recorded_guard", guard)
        elif role != "system":
            unknown_record(self.emit, role)

    def settle(self) -> None:
        """Report results that were recorded only as the model saw them."""
        for call, (output, line, at) in self.plain.items():
            self.answered.add(call)
            self.emit.result(call, output, line=line, at=at)
        self.plain.clear()

    def _assistant(self, record: Mapping[str, Any], text: str) -> None:
        self.responses += 1
        key = f"r{self.responses}"
        model = string(record.get("model"))
        if text.strip():
            self.emit.say(text, key=key, model=model)
        calls = record.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            malformed(self.emit, "tool calls that are no list")
        for call in items(calls):
            function = mapping(mapping(call).get("function"))
            self._call(function.get("name"), function.get("arguments"), mapping(call).get("id"), key, model)
        usage = tokens(
            record.get("input_tokens", record.get("inputTokens")),
            record.get("output_tokens", record.get("outputTokens")),
        )
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)

    def _call(self, name: Any, arguments: Any, recorded: Any, key: str | None, model: str | None = None) -> None:
        if not isinstance(arguments, (str, dict)):
            malformed(self.emit, "a call without its arguments")
        given = string(recorded)
        if given is not None:
            self.known.add(given)
            self.answered.discard(given)
        self.emit.call(tool_name(self.emit, name), arguments, id=given, key=key, model=model)

    def _plain(self, record: Mapping[str, Any]) -> None:
        call = string(record.get("tool_call_id"))
        if call is None:
            malformed(self.emit, "a result without the id of its call")
            self.emit.result(None, record.get("content"))
        elif call in self.answered:
            self.emit.copied("repeated_result", "the result as the model saw it")
        else:
            self.plain[call] = (record.get("content"), self.emit.line, self.emit.time)

    def _result(self, record: Mapping[str, Any]) -> None:
        call = string(record.get("tool_call_id"))
        if call is None:
            malformed(self.emit, "a result without the id of its call")
        elif call not in self.known:
            self._call(record.get("tool_name"), record.get("arguments", {}), call, None)
        elif self.plain.pop(call, None) is not None:
            self.emit.copied("repeated_result", "the result as the model saw it")
        if call is not None:
            self.answered.add(call)
        found = record.get("result")
        streams = (
            [found[name] for name in ("stdout", "stderr") if isinstance(mapping(found).get(name), str)] if found else []
        )
        code = mapping(found).get("exit_code")
        success = flag(record.get("success"))
        if success is None:
            malformed(self.emit, "a result without success")
        error = string(record.get("error")) or ""
        self.emit.result(
            call,
            "\n".join(s for s in streams if s) if streams else error if found is None else found,
            failed=None if success is None else not success,
            exit_code=code if isinstance(code, int) and not isinstance(code, bool) else None,
            error=error,
            name=string(record.get("tool_name")) if call is None else None,
        )


READER: Final = Reader(
    id="moltis",
    title="moltis session",
    looked_for="messages with role, run_id, seq, created_at; role tool_result with tool_name and success; role notice",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id",
        "failure": "flag and exit code",
        "tokens": "per response",
        "time": "yes",
        "text": "yes",
        "batches": "one assistant message",
    },
    evidence="source",
    written_by="moltis",
    where="~/.moltis/sessions/*.jsonl",
)
